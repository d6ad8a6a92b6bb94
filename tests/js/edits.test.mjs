import assert from "node:assert/strict";
import { test } from "node:test";

import { plain } from "./assets.mjs";
import { open } from "./page.mjs";

const NAMES = ["rename", "merge", "splitCluster", "moveTo", "takeOut", "undo", "undoAll", "editCount", "editsAsFile", "documents", "partsIn"];
const show = ({ state, levels }) => [plain(state.groups.map(({ name, size }) => [name, size])), [...levels[0].labels]];
const FOUND = [[["whales", 2], ["fish", 2], ["birds", 2], ["bats", 2]], [0, 0, 1, 1, 2, 2, 3, 3]]; // prettier-ignore

test("a merge joins names, sizes and labels, and is undone", () => {
  const page = open(NAMES);
  page.merge([page.state.groups[3], page.state.groups[1]]);
  assert.deepEqual(show(page), [[["whales", 2], ["fish + bats", 4], ["birds", 2]], [0, 0, 1, 1, 2, 2, 1, 1]]); // prettier-ignore
  assert.equal(page.said.at(-1), "2 clusters merged");
  page.undo();
  assert.deepEqual(show(page), FOUND);
  assert.equal(page.editCount(), 0);
});

test("a split follows the tree; parts are named after their branches", () => {
  const page = open(NAMES);
  page.splitCluster(page.state.groups[0], 2);
  const [groups, labels] = show(page);
  assert.deepEqual(groups, [["blue whales", 1], ["fish", 2], ["birds", 2], ["bats", 2], ["grey whales", 1]]); // prettier-ignore
  assert.equal(`${page.state.groups[0].words}/${page.state.groups[4].words}`, "song/");
  assert.deepEqual(labels, [0, 4, 1, 1, 2, 2, 3, 3]);
});

test("moved documents change their cluster, others do not", () => {
  const page = open(NAMES);
  page.moveTo([2, 4], page.state.groups[3]);
  assert.deepEqual(show(page)[1], [0, 0, 3, 1, 3, 2, 3, 3]);
  assert.deepEqual(show(page)[0].map(([, size]) => size), [2, 1, 1, 4]); // prettier-ignore
});

test("documents can be taken out of all clusters, but not all of them", () => {
  const page = open(NAMES);
  page.takeOut([0, 1]);
  assert.deepEqual(show(page)[0], [["fish", 2], ["birds", 2], ["bats", 2], ["No cluster", 2]]); // prettier-ignore
  page.takeOut([2, 3, 4, 5, 6, 7]);
  assert.equal(page.said.at(-1), "A document must be left in a cluster");
  assert.equal(page.editCount(), 1);
  assert.equal(show(page)[0].length, 4);
});

test("names are trimmed and cut; an empty name changes nothing", () => {
  const page = open(NAMES);
  page.rename(page.state.groups[2], "  gulls ");
  assert.equal(page.state.groups[2].name, "gulls");
  page.rename(page.state.groups[2], " ");
  page.rename(page.state.groups[2], "gulls");
  assert.equal(page.editCount(), 1);
  page.rename(page.state.groups[2], "x".repeat(300));
  assert.equal(page.state.groups[2].name.length, 200);
});

test("the file of edits names documents by id, and what was cleared is not in it", () => {
  const page = open(NAMES);
  Object.assign(page.documents, { ids: [..."abcdefgh"], ready: true });
  page.rename(page.state.groups[0], "gone");
  page.undoAll();
  page.splitCluster(page.state.groups[0], 2);
  page.moveTo([7], page.state.groups[0]);
  const { format, version, edits } = JSON.parse(page.editsAsFile());
  assert.deepEqual([format, version], ["grampus-edits", 2]);
  assert.deepEqual(edits, [
    { action: "split", clusters: [0], parts: 2 },
    { action: "move", clusters: [0], documents: ["h"] },
  ]);
});

test("only clusters whose documents are those of a branch can be split; the tree stays as found, with new names", () => {
  const page = open(NAMES);
  const parts = () => plain(page.state.groups.map((group) => page.partsIn(group)));
  assert.deepEqual(parts(), [2, 0, 0, 0]);
  page.rename(page.state.groups[0], "cetaceans");
  assert.deepEqual(parts(), [2, 0, 0, 0]);
  page.moveTo([2], page.state.groups[0]);
  assert.deepEqual(parts(), [0, 0, 0, 0]);
  page.undo();
  page.merge([page.state.groups[0], page.state.groups[1]]);
  assert.deepEqual(parts(), [0, 0, 0]);
  const branches = page.run("branches.map(({ name, now, size, cluster }) => [now ?? name, size, cluster])");
  assert.deepEqual(plain(branches).slice(0, 4), [["everything", 8, -1], ["sea", 4, -1], ["cetaceans + fish", 2, 0], ["blue whales", 1, -1]]); // prettier-ignore
});
