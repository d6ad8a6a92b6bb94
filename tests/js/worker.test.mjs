import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import { load } from "./assets.mjs";

const pack = (bytes) => deflateSync(Buffer.from(bytes)).toString("base64");
const varint = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)]);

// words.py's layout: length of the words, the words, the size of each list, the lists as gaps.
function indexOf(postings) {
  const words = Buffer.from(Object.keys(postings).join("\n"));
  const head = Buffer.alloc(4);
  head.writeUInt32LE(words.length);
  const lists = Object.values(postings).map((places) => places.flatMap((p, i) => varint(i ? p - places[i - 1] : p)));
  return pack([...head, ...words, ...lists.flatMap((list) => varint(list.length)), ...lists.flat()]);
}

async function search(start, ...questions) {
  const answers = [];
  const { context } = load(["worker.js"], ["given"], { postMessage: (answer) => answers.push(answer) });
  await context.onmessage({ data: { start } });
  for (const [number, question] of questions.entries()) await context.onmessage({ data: { number, ...question } });
  return answers.map((answer) => (answer.found ? [...answer.found] : answer));
}

const N = 300;
const START = {
  n: N,
  texts: pack(JSON.stringify({ ids: Array.from({ length: N }, (_, i) => `d${i}`), titles: ["A Whale"], texts: ["of the sea"] })),
  index: indexOf({ sea: [0, 3], seal: [3, 299], whale: [0, 150, 299], 鯨海: [5] }),
};
const places = (mask) => mask.flatMap((one, i) => (one ? [i] : []));

test("words are found by their beginnings, all of them, quoted ones whole", async () => {
  const [, begin, whole, both, none, empty, inside] = await search(
    START,
    { query: "SEA" },
    { query: '"sea"' },
    { query: "whale sea" },
    { query: "walrus" },
    { query: " " },
    { query: "海" },
  );
  assert.deepEqual(places(begin), [0, 3, 299]);
  assert.deepEqual(places(whole), [0, 3]);
  assert.deepEqual(places(both), [0, 299]);
  assert.deepEqual(places(none), []);
  assert.deepEqual(places(empty), []);
  assert.deepEqual(places(inside), [5]);
});

test("a pattern is searched in what the page holds; a wrong one is reported", async () => {
  const [, begun, found, wrong] = await search(START, { query: "wh.le", pattern: true }, { query: "(", pattern: true });
  assert.equal(begun.begun, true);
  assert.deepEqual(places(found), [0]);
  assert.match(wrong.problem, /Unterminated group|Invalid regular/);
});

test("without an index words are searched in the texts", async () => {
  const [, , found] = await search({ ...START, index: "" }, { query: "sea whale" });
  assert.deepEqual(places(found), [0]);
});
