// What the reader changed: a log of operations, each on one level (or on all, level null), and what they make of it.
// The data are never changed, so that operations can be undone, saved and applied again.
const LONGEST_NAME = 200;
const asFound = () => ({ names: {}, merges: [] });
const copyOf = ({ names, merges }) => ({ names: { ...names }, merges: merges.map((merge) => [...merge]) });
// The edits that the page was made with, level by level: {names: {cluster: name}, merges: [[cluster, …], …]}.
const givenEdits = levels.map(({ name }, place) => (place === data.level ? data.edits : (data.edits.levels[name] ?? asFound())));
const log = []; // [{action, level, clusters, name}], oldest first
let edited = givenEdits.map(copyOf);

// action → what it does to the edits of a level, and how it is announced. A merged cluster goes by its lowest number.
const OPERATIONS = {
  rename: {
    apply({ names }, { clusters: [first], name }) {
      if (name) names[first] = name;
      else delete names[first];
    },
    words: ({ name }) => (name ? `Renamed to ${name}` : "First name again"),
  },
  merge: {
    apply(edits, { clusters }) {
      const gone = new Set(clusters);
      edits.merges = [...edits.merges.filter((merge) => !gone.has(merge[0])), clusters];
      for (const c of clusters.slice(1)) delete edits.names[c];
    },
    words: ({ clusters }) => `${clusters.length} clusters merged`,
  },
  unmerge: {
    apply(edits, { clusters: [first] }) {
      edits.merges = edits.merges.filter((merge) => merge[0] !== first);
      delete edits.names[first];
    },
    words: () => "Merge undone",
  },
  clear: { apply: (edits) => Object.assign(edits, asFound()), words: () => "All changes undone" },
};

function replay() {
  edited = givenEdits.map(copyOf);
  for (const operation of log)
    for (const place of operation.level === null ? edited.keys() : [operation.level])
      OPERATIONS[operation.action].apply(edited[place], operation);
  regroup();
}

function edit(operation) {
  log.push(operation);
  replay();
  announce(OPERATIONS[operation.action].words(operation));
}

// Takes the last operation back, and shows the level that it was made on.
function undo() {
  const last = log.pop();
  if (!last) return;
  if (last.level !== null && last.level !== state.level) setLevel(last.level);
  replay();
  announce("Last change undone");
}

function rename(group, name) {
  const given = name.trim().slice(0, LONGEST_NAME);
  const before = groupOfClusters(group.clusters, {}).name;
  edit({ action: "rename", level: state.level, clusters: [group.first], name: given === before ? "" : given });
}

const merge = (groups) =>
  edit({ action: "merge", level: state.level, clusters: groups.flatMap(({ clusters }) => clusters).sort((a, b) => a - b) });
const splitAgain = (group) => edit({ action: "unmerge", level: state.level, clusters: [group.first] });
const undoAll = () => edit({ action: "clear", level: null, clusters: [] });

const editCount = () => edited.reduce((sum, { names, merges }) => sum + Object.keys(names).length + merges.length, 0);
const isEdited = (place) => Object.keys(edited[place].names).length + edited[place].merges.length > 0;

function editsAsFile() {
  const others = levels.flatMap(({ name }, place) => (place !== data.level && isEdited(place) ? [[name, edited[place]]] : []));
  const more = others.length ? { levels: Object.fromEntries(others) } : {};
  return JSON.stringify({ format: "grampus-edits", version: 1, run: data.run, ...edited[data.level], ...more }, null, 2);
}

// The clusters of a level after its edits: [{clusters, first, name, none}], and the group of every cluster.
function groupsAt(place) {
  const { clusters } = levels[place];
  const { names, merges } = edited[place];
  const merged = new Set(merges.flat());
  const alone = clusters.map((_, c) => [c]).filter(([c]) => !merged.has(c));
  const groupOf = new Uint32Array(clusters.length);
  const groups = [...merges, ...alone].sort((a, b) => a[0] - b[0]).map((members, number) => {
    for (const c of members) groupOf[c] = number;
    const name = names[members[0]] ?? members.map((c) => clusters[c].name).join(" + ");
    return { clusters: members, first: members[0], name, none: clusters[members[0]].none === true };
  });
  return { groups, groupOf };
}

function regroup() {
  const { groups, groupOf } = groupsAt(state.level);
  state.groups = groups.map(({ clusters }) => groupOfClusters(clusters, edited[state.level].names));
  state.groupOf = groupOf;
  tell("groups");
  recolour();
}
