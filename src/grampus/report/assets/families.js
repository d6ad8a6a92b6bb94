// Marks by families: clusters of one branch of the tree share a colour, in three tints and six shapes; branches differ.
// Up to eight clusters have eight colours, the one of their branch where it is free.
const TINTS = 3;

const FAMILY_SHAPES = [0, 1, 2, 3, 4, 5, 1, 2]; // of each colour; the two violets differ
const FAMILY_COLOURS = [0, 4, 5, 1, 2, 6, 3, 7]; // neighbours in the tree look least alike

// Eight branches that hold about as many clusters each: the one with the most is divided, again and again.
function familiesOf(level) {
  const held = new Float64Array(leafCount + 1); // clusters, each shared out over its leaves
  const sizes = sizesAt(level);
  for (let i = 0; i < data.n; i += 1) held[leafOf[i]] += 1 / sizes[level.labels[i]];
  const weight = ({ from, to }) => held.subarray(from, to).reduce((sum, one) => sum + one, 0);
  let parts = [{ branch: branches[0], clusters: weight(branches[0]) }];
  while (parts.length < COLOURS) {
    const open = parts.filter(({ branch }) => branch.children.length && branch.cluster < 0);
    if (!open.length) break;
    const most = open.reduce((a, b) => (b.clusters > a.clusters ? b : a));
    const below = most.branch.children.map((branch) => ({ branch, clusters: weight(branch) }));
    parts = parts.flatMap((part) => (part === most ? below : [part]));
  }
  return parts.slice(0, COLOURS).map(({ branch }) => branch);
}

// How many documents of each cluster of a level lie in each part of a cut, and how far to the left the cluster lies.
function spreadOver(level, parts) {
  const partOf = partOfLeaves(parts);
  const shares = level.clusters.map(() => new Uint32Array(parts.length + 1));
  const sums = new Float64Array(level.clusters.length);
  for (let i = 0; i < data.n; i += 1) {
    const c = level.labels[i];
    shares[c][partOf[leafOf[i]]] += 1;
    sums[c] += leafOf[i];
  }
  const total = (share) => share.reduce((sum, one) => sum + one, 0) || 1;
  return shares.map((share, c) => ({ share, left: sums[c] / total(share) }));
}

function marksAt(level) {
  const real = level.clusters.filter((cluster) => !cluster.none).length;
  if (!branches.length || real < 2) return level.clusters.map((_, c) => markOf(c));
  const parts = familiesOf(level);
  const spread = spreadOver(level, parts);
  const order = [...level.clusters.keys()].filter((c) => !level.clusters[c].none);
  order.sort((a, b) => spread[a].left - spread[b].left || a - b);
  const familyOf = (c) => spread[c].share.indexOf(Math.max(...spread[c].share.subarray(0, parts.length)));
  const marks = [];
  if (real <= COLOURS) {
    const free = new Set(Array.from({ length: COLOURS }, (_, colour) => colour));
    for (const c of order) {
      const wanted = FAMILY_COLOURS[familyOf(c)];
      const colour = free.has(wanted) ? wanted : FAMILY_COLOURS.find((one) => free.has(one));
      free.delete(colour);
      marks[c] = { colour, shape: FAMILY_SHAPES[colour], tint: 0 };
    }
    return marks;
  }
  const members = new Map();
  for (const c of order) {
    const colour = FAMILY_COLOURS[familyOf(c)];
    const place = members.get(colour) ?? 0;
    members.set(colour, place + 1);
    marks[c] = { colour, shape: (FAMILY_SHAPES[colour] + place) % SHAPES.length, tint: place % TINTS };
  }
  return marks;
}

const marksOfLevels = [];

function familyMark(cluster) {
  marksOfLevels[state.level] ??= marksAt(levels[state.level]);
  return marksOfLevels[state.level][cluster] ?? markOf(cluster);
}
