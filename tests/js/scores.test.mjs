import assert from "node:assert/strict";
import { test } from "node:test";

import { plain } from "./assets.mjs";
import { DATA, open } from "./page.mjs";

test("Wilson's interval is that of the textbook", () => {
  const { wilson } = open(["wilson"], { scripts: ["trends.js"] });
  const [low, high] = wilson(3, 10); // Wilson (1927): 0.1078 to 0.6032
  assert.ok(Math.abs(low - 0.10779) < 1e-5 && Math.abs(high - 0.60322) < 1e-5);
  assert.deepEqual(plain(wilson(0, 0)), [0, 1]);
  assert.equal(wilson(0, 5)[0], 0);
  assert.equal(wilson(5, 5)[1], 1);
});

test("periods are days, weeks, months, quarters or years", () => {
  const { periods } = open(["periods"], { scripts: ["counts.js"] });
  const day = (text) => Date.parse(text) / 864e5;
  const made = (from, to, at) => {
    const { word, index, name } = periods(day(from), day(to));
    return [word, index(day(at)), name(index(day(at)))];
  };
  assert.deepEqual(made("2024-01-01", "2024-01-20", "2024-01-05"), ["day", 4, "2024-01-05"]);
  assert.deepEqual(made("2024-01-01", "2024-05-01", "2024-01-16"), ["week", 2, "2024-01-15"]);
  assert.deepEqual(made("2023-11-01", "2024-12-31", "2024-02-29"), ["month", 3, "2024-02"]);
  assert.deepEqual(made("2010-01-01", "2018-12-31", "2012-05-05"), ["quarter", 9, "2012-04"]);
  assert.deepEqual(made("1990-01-01", "2010-12-31", "1999-12-31"), ["year", 9, "1999"]);
  assert.deepEqual(made("1800-01-01", "2000-12-31", "1807-01-01"), ["4 years", 1, "1804"]);
});

test("cells of the table are harmless in a spreadsheet, like those of the command", () => {
  const { harmless, csvCell } = open(["harmless", "csvCell"], { scripts: ["results.js"] });
  const hidden = ["", " ", "\u200b", "\ufeff", "\u00ad", "\u2060", "\u180e", "\u0001", "\u007f", "\u061c", " \u200b ", "\u{e0041}"];
  for (const before of hidden) {
    for (const trigger of "=+-@＝＋－＠") assert.equal(harmless(`${before}${trigger}1`)[0], "'", escape(before));
    assert.equal(harmless(`${before}whale`), `${before}whale`);
  }
  assert.equal(harmless("\twhale\n"), "' whale ");
  assert.equal(harmless(""), "");
  assert.equal(csvCell('say "=1"'), '"say ""=1"""');
  assert.equal(csvCell(null), '""');
  assert.equal(csvCell(3), "3");
});

test("the saved table has the columns of the command", () => {
  const { tableOf, documents } = open(["tableOf", "documents"], { scripts: ["results.js"] });
  const figures = { margin: Array(DATA.n).fill(0.5), oddness: Array(DATA.n).fill(1), stability: null };
  Object.assign(documents, { ids: [..."abcdefgh"], texts: [..."ABCDEFGH"], ready: true, ...figures });
  const [head, first, second] = tableOf([6, 0]).split("\n");
  assert.equal(head, '"id","cluster","name","words","margin","second","oddness","stability","label","excerpt"');
  assert.equal(first, '"g",3,"bats","cave",0.5,2,1.0,"","dry","G"');
  assert.equal(second, '"a",0,"whales","",0.5,1,1.0,"","wet","A"');
});
