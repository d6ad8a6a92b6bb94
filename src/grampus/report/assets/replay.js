// What the reader changed: a log of operations on the run's own clusters, and names of those of other levels. The data
// as found are kept, so that operations can be undone, saved and applied again; the command applies them by the same rules.
// A cluster is split where the tree of the run divides it, as long as its documents are those below its branch.
const log = []; // [{action, level, clusters, documents, name, parts}], oldest first; keys of clusters, places of documents
const asFound = { ...levels[data.level] };
const asSecond = second;
const foundCount = asFound.clusters.filter((cluster) => !cluster.none).length;
const NOTHING = 0xffffffff;
const NO_CLUSTER = {
  name: "No cluster", none: true, words: [], terms: [], phrases: [], central: [], borderline: [], stability: null, cohesion: null,
  separation: null, nearest: -1,
}; // prettier-ignore
let levelNames = levels.map(() => ({})); // names given to clusters of other levels
let marksAsFound = null;
let nowOf = (cluster) => cluster; // the number that a cluster as found has now; −1 if it is gone
const homesAsFound = () => new Map(branches.filter(({ cluster }) => cluster >= 0).map((branch) => [branch.cluster, branch]));
let homes = homesAsFound(); // key of a cluster whose documents are those below a branch → the branch

const effective = () => log.slice(log.findLastIndex(({ action }) => action === "clear") + 1);
const editCount = () => effective().length;
const isEdited = (place) => (place === data.level ? editCount() > 0 : Object.keys(levelNames[place]).length > 0);

function firstState() {
  const keys = Int32Array.from(asFound.labels, (label) => (label < foundCount ? label : -1));
  const names = new Map(asFound.clusters.slice(0, foundCount).map(({ name }, c) => [c, name]));
  return { keys, names, fresh: foundCount, went: new Map(), words: new Map(), from: new Map(), homes: homesAsFound() };
}

const freeName = (name, taken) => {
  let [text, number] = [name, 2];
  while (taken.has(text)) text = `${name} (${number++})`;
  return text;
};

// Put documents elsewhere; what they leave and where they come is no longer a branch of the tree.
function put({ keys, homes: at }, some, key) {
  for (const i of some) {
    if (keys[i] === key) continue;
    at.delete(keys[i]);
    at.delete(key);
    keys[i] = key;
  }
}

// action → what it does to a state.
const OPERATIONS = {
  rename: ({ names }, { clusters: [key], name }) => names.set(key, name),
  merge({ keys, names, went, words, homes: at }, { clusters }) {
    const [first, ...rest] = [...clusters].sort((a, b) => a - b);
    const gone = new Set(rest);
    names.set(first, [first, ...rest].map((key) => names.get(key)).join(" + "));
    for (let i = 0; i < data.n; i += 1) if (gone.has(keys[i])) keys[i] = first;
    words.delete(first);
    at.delete(first);
    for (const key of rest) {
      names.delete(key);
      went.set(key, first);
    }
  },
  split(now, { clusters: [key] }) {
    const parts = [...now.homes.get(key).children].sort((a, b) => b.size - a.size || a.index - b.index);
    const taken = new Set(now.names.values());
    taken.delete(now.names.get(key));
    const made = parts.map((_, number) => (number ? now.fresh + number - 1 : key));
    const partOf = partOfLeaves(parts);
    for (let i = 0; i < data.n; i += 1) if (now.keys[i] === key) now.keys[i] = made[partOf[leafOf[i]]];
    parts.forEach((part, number) => {
      now.words.set(made[number], [part.name, ...part.words]);
      now.names.set(made[number], freeName(part.name, taken));
      now.homes.set(made[number], part);
      if (number) now.from.set(made[number], key);
      taken.add(now.names.get(made[number]));
    });
    now.fresh += parts.length - 1;
  },
  move: (now, { clusters: [key], documents: some }) => put(now, some, key),
  noise: (now, { documents: some }) => put(now, some, -1),
};

// Clusters without documents are gone; false if none is left.
function settle(now) {
  const left = new Set(now.keys);
  for (const key of [...now.names.keys()]) if (!left.has(key)) now.names.delete(key);
  return now.names.size > 0;
}

// A cluster as found where its documents are the same, else what is known of those they come from.
function describe(now, key, members) {
  const held = new Map();
  for (const i of members) if (asFound.labels[i] < foundCount) held.set(asFound.labels[i], (held.get(asFound.labels[i]) ?? 0) + 1);
  const total = [...held.values()].reduce((sum, one) => sum + one, 0);
  const [only] = held.keys();
  const same = held.size === 1 && total === members.length && total === sizesAt(asFound)[only];
  if (same) return { ...asFound.clusters[only], key, name: now.names.get(key) };
  const told = now.words.get(key) ?? [];
  const scores = new Map(told.map((word) => [word, 1]));
  for (const [cluster, size] of held)
    for (const [term, score] of asFound.clusters[cluster].terms) scores.set(term, (scores.get(term) ?? 0) + (score * size) / total);
  const order = [...members].sort((a, b) => certainty[b] - certainty[a] || a - b);
  const rest = { phrases: [], stability: null, cohesion: null, separation: null, nearest: -1, changed: true };
  const terms = [...scores].sort((a, b) => b[1] - a[1]).slice(0, 12);
  const borderline = order.length > 5 ? order.slice(-5).reverse() : [];
  return { ...rest, key, name: now.names.get(key), words: told.slice(1), terms, central: order.slice(0, 5), borderline };
}

// A name of a cluster of another level; it may be a cluster of the run's own level, too.
function renameOn({ names }, { level, clusters: [place], name }) {
  levelNames[level][place] = name;
  const key = branches[levels[level].branches[place]]?.cluster ?? -1;
  if (names.has(key)) names.set(key, name);
}

// Apply the log: clusters, labels and marks of the run's own level. The tree stays as found, with the names as they are.
function replay() {
  const now = firstState();
  levelNames = levels.map(() => ({}));
  for (const operation of effective()) {
    if (operation.level !== data.level) renameOn(now, operation);
    else OPERATIONS[operation.action](now, operation);
    if (!settle(now)) return false;
  }
  marksAsFound ??= marksAt(asFound);
  const keys = [...now.names.keys()].sort((a, b) => a - b);
  const number = new Map(keys.map((key, c) => [key, c]));
  const members = keys.map(() => []);
  const own = new Uint32Array(data.n).fill(keys.length);
  for (let i = 0; i < data.n; i += 1) {
    if (now.keys[i] < 0) continue;
    own[i] = number.get(now.keys[i]);
    members[own[i]].push(i);
  }
  nowOf = (cluster) => {
    let key = cluster;
    while (!number.has(key) && now.went.has(key)) key = now.went.get(key);
    return number.get(key) ?? -1;
  };
  ({ homes } = now);
  for (const branch of branches) if (branch.cluster >= 0) branch.now = now.names.get(branch.cluster);
  const clusters = keys.map((key, c) => describe(now, key, members[c]));
  for (const cluster of clusters) if (cluster.nearest >= 0) cluster.nearest = nowOf(cluster.nearest);
  if (own.some((label) => label === keys.length)) clusters.push(NO_CLUSTER);
  second = asSecond.map((cluster, i) => {
    const taken = own[i] === keys.length && asFound.labels[i] < foundCount;
    const at = nowOf(taken ? asFound.labels[i] : cluster);
    return at < 0 || at === own[i] ? NOTHING : at;
  });
  Object.assign(levels[data.level], editCount() ? { labels: own, clusters } : asFound);
  ownLabels = levels[data.level].labels;
  marksOfLevels[data.level] = levels[data.level].clusters.map((cluster, c) => marksAsFound[cluster.key ?? c] ?? markOfPart(cluster, now));
  tell("edits");
  showLevel(state.level);
  return true;
}

// A part of a cluster has its hue, in another shade.
function markOfPart({ key, none }, { from }) {
  if (none) return OTHER;
  let [origin, steps] = [key, 0];
  while (from.has(origin)) [origin, steps] = [from.get(origin), steps + 1];
  const mark = marksAsFound[origin] ?? markOf(key);
  return reshaded(mark, steps + key - foundCount);
}

function edit(operation) {
  log.push(operation);
  if (!replay()) {
    log.pop();
    replay();
    announce("A document must be left in a cluster");
    return;
  }
  if (operation.action !== "clear") announce(SAID[operation.action](operation));
}

// Takes the last operation back, and shows the level that it was made on.
function undo() {
  const last = log.pop();
  if (!last) return;
  if (last.level !== null && last.level !== state.level) setLevel(last.level);
  replay();
  announce("Last change undone");
}

function undoAll() {
  edit({ action: "clear", level: null, clusters: [] });
  announce("All changes undone");
}

function editsAsFile() {
  const edits = effective().map(({ action, level, clusters, documents: some, name, parts }) => ({
    action,
    ...(clusters.length ? { clusters } : {}),
    ...(some ? { documents: some.map((i) => documents.ids[i]) } : {}),
    ...(name ? { name } : {}),
    ...(parts ? { parts } : {}),
    ...(level === data.level ? {} : { level: levels[level].name }),
  }));
  return JSON.stringify({ format: "grampus-edits", version: 2, run: data.run, answer: data.answer, edits }, null, 2);
}

// Into how many parts a cluster of the run's own level is divided first.
const partsIn = (group) => homes.get(keyOf(group))?.children.length ?? 0;
