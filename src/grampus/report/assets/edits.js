// Renaming and merging. Edits are kept apart from the data, so that they can be undone, saved and applied again.
const edits = { names: { ...data.edits.names }, merges: data.edits.merges.map((merge) => [...merge]) };
const LONGEST_NAME = 200;

function editsAsFile() {
  const names = Object.fromEntries(Object.entries(edits.names));
  return JSON.stringify({ format: "grampus-edits", version: 1, run: data.run, names, merges: edits.merges }, null, 2);
}

const editCount = () => Object.keys(edits.names).length + edits.merges.length;
const originally = JSON.stringify(edits);
const editsChanged = () => JSON.stringify(edits) !== originally;

// The clusters of a level, merged and named; edits belong to the run's own level, the others are shown as they are.
function groupsOf(clusters, { names, merges }) {
  const merged = new Set(merges.flat());
  const alone = clusters.map((_, c) => c).filter((c) => !merged.has(c)).map((c) => [c]); // prettier-ignore
  return [...merges, ...alone].sort((a, b) => a[0] - b[0]).map((members) => [members, names]);
}

function regroup() {
  const groups = groupsOf(data.clusters, isOwnLevel() ? edits : { names: {}, merges: [] });
  state.groups = groups.map(([clusters, names]) => groupOfClusters(clusters, names));
  state.groups.forEach((group, place) =>
    group.clusters.forEach((c) => {
      state.groupOf[c] = place;
    }),
  );
  tell("groups");
  recolour();
}

// Names and numbers of the run's own level, whatever level is shown.
function ownGroups() {
  const { clusters } = levels[data.level];
  const groupOf = new Uint32Array(clusters.length);
  const groups = groupsOf(clusters, edits).map(([members, names], place) => {
    for (const c of members) groupOf[c] = place;
    const name = names[members[0]] ?? members.map((c) => clusters[c].name).join(" + ");
    return { first: members[0], name, none: clusters[members[0]].none === true };
  });
  return { groups, groupOf };
}

// "4,000 documents in 12 clusters, 31 in no cluster"
function headline() {
  const none = state.groups.find((group) => group.none);
  return `${count(data.n, "document")} in ${count(realGroups().length, "cluster")}${none ? `, ${whole.format(none.size)} in no cluster` : ""}`;
}

const past = []; // earlier edits, newest last

function remember() {
  past.push(JSON.stringify(edits));
}

function undo() {
  if (!past.length) return;
  Object.assign(edits, JSON.parse(past.pop()));
  regroup();
  announce("Last change undone");
}

function rename(group, name) {
  remember();
  const given = name.trim().slice(0, LONGEST_NAME);
  const before = groupOfClusters(group.clusters, {}).name;
  if (!given || given === before) delete edits.names[group.first];
  else edits.names[group.first] = given;
  regroup();
  announce(`Renamed to ${given || before}`);
}

function merge(groups) {
  remember();
  const clusters = groups.flatMap((group) => group.clusters).sort((a, b) => a - b);
  const gone = new Set(clusters);
  edits.merges = edits.merges.filter((merge) => !gone.has(merge[0]));
  edits.merges.push(clusters);
  for (const c of clusters.slice(1)) delete edits.names[c];
  regroup();
  announce(`Merged ${count(groups.length, "cluster")}`);
}

function splitAgain(group) {
  remember();
  edits.merges = edits.merges.filter((merge) => merge[0] !== group.first);
  delete edits.names[group.first];
  regroup();
  announce("Merge undone");
}

function undoAll() {
  remember();
  edits.names = {};
  edits.merges = [];
  regroup();
  announce("All changes undone");
}

function showEditBar() {
  const bar = byId("edit-bar");
  const number = editCount();
  bar.hidden = number === 0 && !editsChanged() && !past.length;
  document.body.classList.toggle("edited", !bar.hidden);
  const download = el(
    "button",
    {
      type: "button",
      id: "download",
      class: "strong",
      onclick: () => save("edits.json", editsAsFile(), "application/json"),
    },
    "Download edits.json",
  );
  const back = el("button", { type: "button", id: "undo", onclick: undo, disabled: past.length === 0 }, "Undo");
  const all = el("button", { type: "button", id: "undo-all", onclick: undoAll }, "Undo all");
  const hint = el(
    "span",
    { class: "quiet hint" },
    "To keep them: ",
    el("code", {}, "grampus report RUN --edits edits.json"),
  );
  bar.replaceChildren(el("strong", {}, count(number, "change")), hint, el("span", { class: "gap" }), back, all, download);
}

function startEdits() {
  listen("groups", showEditBar);
}
