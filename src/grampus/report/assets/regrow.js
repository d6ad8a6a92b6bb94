// The tree around clusters as edited, by the rules of the command: a cluster grows where most of its documents are; below
// it, branches without documents of the cluster are left out, and documents without a place are in its largest leaf.
const asGrown = branches; // as found
const leafBranches = asGrown.filter((branch) => !branch.children.length).map(({ index }) => index);
const leavesAsFound = Int32Array.from({ length: data.n }, (_, i) => (leafOf ? (leafBranches[leafOf[i]] ?? -1) : -1));

// How many of the members are below each branch.
function membersBelow(members, leaves) {
  const counts = new Uint32Array(asGrown.length);
  for (const i of members) if (leaves[i] >= 0) counts[leaves[i]] += 1;
  for (let b = asGrown.length - 1; b > 0; b -= 1) counts[asGrown[b].parent] += counts[b];
  return counts;
}

// The first branch below that divides the documents, or holds them as a leaf.
function divided(branch, below) {
  let found = branch;
  for (;;) {
    const inside = found.children.filter(({ index }) => below[index]);
    if (inside.length !== 1) return found;
    [found] = inside;
  }
}

// The branches into which the documents below are divided first: so many, or a few more.
function partsBelow(below, number) {
  if (!asGrown.length || !below[0]) return [];
  let parts = [divided(asGrown[0], below)];
  while (parts.length < number) {
    const open = parts.filter((part) => part.children.length);
    if (!open.length) break;
    const first = open.reduce((a, b) => (b.order < a.order || (b.order === a.order && b.index < a.index) ? b : a));
    const inside = first.children.filter(({ index }) => below[index]).map((child) => divided(child, below));
    parts = [...parts.filter((part) => part !== first), ...inside];
  }
  return parts;
}

function homeOf(below) {
  let home = asGrown[0];
  for (;;) {
    const inside = home.children.find(({ index }) => 2 * below[index] > below[0]);
    if (!inside) return home.index;
    home = inside;
  }
}

const twig = (source, twigs, { name, words }) => ({ source, twigs, name, words, cluster: -1 });

// The branches of one cluster, and its leaves by the branch they come from.
function twigsInside(below) {
  const made = new Map();
  const ends = new Map();
  for (let b = asGrown.length - 1; b >= 0; b -= 1) {
    if (!below[b]) continue;
    const twigs = asGrown[b].children.map(({ index }) => made.get(index)).filter(Boolean);
    made.set(b, twigs.length === 1 ? twigs[0] : twig(b, twigs, asGrown[b]));
    if (!twigs.length) ends.set(b, made.get(b));
  }
  return [made.get(0) ?? twig(0, [], { name: "", words: [] }), ends];
}

function twigsAbove(atHome) {
  const made = new Map();
  for (let b = asGrown.length - 1; b >= 0; b -= 1) {
    const twigs = [...(atHome.get(b) ?? []), ...asGrown[b].children.map(({ index }) => made.get(index)).filter(Boolean)];
    if (twigs.length) made.set(b, twigs.length === 1 ? twigs[0] : twig(b, twigs, asGrown[b]));
  }
  return made.get(0);
}

function flatTwigs(root) {
  const order = [];
  const waiting = [root];
  while (waiting.length) {
    const one = waiting.pop();
    order.push(one);
    waiting.push(...[...one.twigs].reverse());
  }
  return order;
}

// members: documents of each cluster; named: its name and words; leaves: branch as found of every document, −1 for none. Returns what
// growBranches takes.
function regrown(members, named, leaves) {
  const atHome = new Map();
  const placeOf = members.map((some, c) => {
    const below = membersBelow(some, leaves);
    const [top, ends] = twigsInside(below);
    Object.assign(top, { cluster: c, name: named[c].name, words: named[c].words });
    const home = homeOf(below);
    atHome.set(home, [...(atHome.get(home) ?? []), top]);
    const largest = [...ends.keys()].sort((a, b) => below[b] - below[a] || a - b)[0];
    return (i) => ends.get(leaves[i] >= 0 ? leaves[i] : largest) ?? top;
  });
  const order = flatTwigs(twigsAbove(atHome));
  const index = new Map(order.map((one, place) => [one, place]));
  const parent = new Int32Array(order.length).fill(-1);
  const inside = order.map(({ cluster }) => cluster >= 0);
  order.forEach((one, place) => {
    for (const other of one.twigs) {
      parent[index.get(other)] = place;
      if (inside[place]) inside[index.get(other)] = true;
    }
  });
  const sizes = new Uint32Array(order.length);
  const ends = new Map();
  for (const [place, { twigs }] of order.entries()) if (!twigs.length) ends.set(place, ends.size);
  const leaf = new Uint32Array(data.n).fill(ends.size);
  members.forEach((some, c) => {
    for (const i of some) {
      const place = index.get(placeOf[c](i));
      sizes[place] += 1;
      leaf[i] = ends.get(place);
    }
  });
  for (let place = order.length - 1; place > 0; place -= 1) sizes[parent[place]] += sizes[place];
  const splitting = [...order.keys()].filter((place) => order[place].twigs.length);
  const key = (place) => asGrown[order[place].source].order;
  splitting.sort((a, b) => inside[a] - inside[b] || key(a) - key(b) || a - b);
  const rank = new Map(splitting.map((place, number) => [place, number]));
  const nodes = order.map(({ source, twigs, cluster, name, words }, place) => [
    parent[place], rank.get(place) ?? -1, sizes[place], cluster, name, twigs.length ? asGrown[source].gain : 0, words, source,
  ]); // prettier-ignore
  return [nodes.length > 1 ? nodes : [], leaf];
}
