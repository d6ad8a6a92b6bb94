import assert from "node:assert/strict";
import { test } from "node:test";

import { plain } from "./assets.mjs";
import { DATA, open } from "./page.mjs";

test("numbers are written without a negative zero", () => {
  const { digits, count, shorten, percent, clamp } = open(["digits", "count", "shorten", "percent", "clamp"]);
  assert.equal(digits(-0.004, 2), "0.00");
  assert.equal(digits(-0.005, 2), "−0.01");
  assert.equal(digits(1.005, 1), "1.0");
  assert.equal(count(1, "document"), "1 document");
  assert.equal(count(1234, "document"), "1,234 documents");
  assert.equal(shorten("whales", 6), "whales");
  assert.equal(shorten("whales", 5), "whal…");
  assert.equal(percent(0.125), "13%");
  assert.deepEqual([clamp(-1, 0, 2), clamp(1, 0, 2), clamp(3, 0, 2)], [0, 1, 2]);
});

test("packed arrays come back", () => {
  const { unpack } = open(["unpack"]);
  const packed = Buffer.from(Int32Array.from([-1, 7, 2 ** 30]).buffer).toString("base64");
  assert.deepEqual([...unpack(packed, "i32")], [-1, 7, 2 ** 30]);
  assert.equal(unpack(null, "u8"), null);
});

test("a group is a cluster under the name that it was given, which no figure is about", () => {
  const { groupOfCluster } = open(["groupOfCluster"]);
  const found = plain(groupOfCluster(0));
  assert.deepEqual([found.name, found.size, found.stability, found.weak], ["whales", 2, 0.9, false]);
  assert.deepEqual(found.terms, [["whale", 2], ["sea", 1]]); // prettier-ignore
  const named = groupOfCluster(0, "sea");
  assert.deepEqual([named.name, named.said], ["sea", null]);
});

test("documents must pass search, filters and selection", () => {
  const { active, select, state, said } = open(["active", "select"]);
  assert.equal(active(), null);
  select((i) => i < 4, "the first half");
  assert.equal(said.at(-1), "4 documents selected: the first half");
  state.matches = Uint8Array.from([0, 1, 1, 0, 1, 1, 1, 1]);
  assert.deepEqual([...active()], [0, 1, 1, 0, 0, 0, 0, 0]);
  state.filtered = Uint8Array.from([1, 0, 1, 1, 1, 1, 1, 1]);
  assert.deepEqual([...active()], [0, 0, 1, 0, 0, 0, 0, 0]);
  select(null);
  assert.equal(said.at(-1), "Selection cleared");
  assert.deepEqual([...active()], [0, 0, 1, 0, 1, 1, 1, 1]);
});

test("colours by cluster, label and certainty count every document once", () => {
  const { recolour, state } = open(["recolour"]);
  for (const [by, sizes] of [["cluster", [2, 2, 2, 2]], ["label", [5, 3]], ["certainty", null]]) {
    state.colourBy = by;
    recolour();
    const found = plain(state.categories.map(({ size }) => size));
    if (sizes) assert.deepEqual(found, sizes);
    assert.equal(found.reduce((sum, one) => sum + one, 0), DATA.n);
  } // prettier-ignore
});

test("a cut follows the order of the splits", () => {
  const { partsOf, partOfLeaves } = open(["partsOf", "partOfLeaves"]);
  const names = (cut) => plain(partsOf(cut).map(({ name }) => name));
  assert.deepEqual(names(1), ["everything"]);
  assert.deepEqual(names(2), ["sea", "air"]);
  assert.deepEqual(names(3), ["whales", "fish", "air"]);
  assert.deepEqual(names(5), ["blue whales", "grey whales", "fish", "birds", "bats"]);
  assert.deepEqual([...partOfLeaves(partsOf(2))], [0, 0, 0, 1, 1, 2]);
});

test("up to eight clusters have different colours", () => {
  const { familyMark } = open(["familyMark"]);
  const colours = [0, 1, 2, 3].map((c) => familyMark(c).hue);
  assert.equal(new Set(colours).size, 4);
});

test("agreement with the labels is that of the formulas", () => {
  const { agreement } = open(["agreement"], { scripts: ["statements.js"] });
  const { nmi, ari } = agreement();
  // contingency table [[2, 0], [2, 0], [0, 2], [1, 1]], computed by scikit-learn
  assert.ok(Math.abs(nmi - 0.509861667130386) < 1e-12, String(nmi));
  assert.ok(Math.abs(ari - 0.172043010752688) < 1e-12, String(ari));
});
