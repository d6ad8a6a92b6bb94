// What a reader can change: each change is an operation on the run's own clusters, or the name of one of another level.
// `edit` makes it: in a page that is one file a log of the reader's, in the app the server.
const LONGEST_NAME = 200;
const keyOf = (group) => levels[data.level].clusters[group.first].key ?? group.first;

// How a change is announced.
const SAID = {
  rename: ({ name }) => `Renamed to ${name}`,
  merge: ({ clusters }) => `${clusters.length} clusters merged`,
  split: () => "Cluster split",
  move: ({ documents: some }) => `${count(some.length, "document")} moved`,
  noise: ({ documents: some }) => `${count(some.length, "document")} in no cluster`,
  done: () => "Marked as done",
  reopen: () => "Marked as open",
  level: ({ level }) => `The clusters are those of the ${levels[level].name} level`,
};

function rename(group, name) {
  const given = name.trim().slice(0, LONGEST_NAME);
  if (!given || given === group.name) {
    regroup();
    return;
  }
  edit({ action: "rename", level: state.level, clusters: [isOwnLevel() ? keyOf(group) : group.first], name: given });
}

const merge = (groups) => edit({ action: "merge", level: data.level, clusters: groups.map(keyOf) });
const splitCluster = (group, parts) => edit({ action: "split", level: data.level, clusters: [keyOf(group)], parts });
const moveTo = (some, group) => edit({ action: "move", level: data.level, clusters: [keyOf(group)], documents: some });
const takeOut = (some) => edit({ action: "noise", level: data.level, clusters: [], documents: some });

// The clusters of a level after its edits: [{first, name, words, none}].
function groupsAt(place) {
  const groups = levels[place].clusters.map(({ name, words, none }, c) => ({ first: c, name: levelNames[place][c] ?? name, words, none: none === true }));
  return { groups };
}

function regroup() {
  state.groups = data.clusters.map((_, c) => groupOfCluster(c, levelNames[state.level][c]));
  tell("groups");
  recolour();
}
