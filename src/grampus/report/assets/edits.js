// What a reader can change: each change is an operation on the run's own clusters, or the name of one of another level.
// `edit` makes it: in a page that is one file a log of the reader's, in the app the server.
const LONGEST_NAME = 200;
const keyOf = (group) => levels[data.level].clusters[group.first].key ?? group.first;

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

// The clusters of a level after its edits: [{clusters, first, name, none}], and the group of every cluster.
function groupsAt(place) {
  const { clusters } = levels[place];
  const groups = clusters.map(({ name, words, none }, c) => ({ clusters: [c], first: c, name: levelNames[place][c] ?? name, words, none: none === true }));
  return { groups, groupOf: Uint32Array.from(clusters.keys()) };
}

function regroup() {
  const { groups, groupOf } = groupsAt(state.level);
  state.groups = groups.map(({ clusters }) => groupOfClusters(clusters, levelNames[state.level]));
  state.groupOf = groupOf;
  tell("groups");
  recolour();
}
