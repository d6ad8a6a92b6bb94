// The tree of the run: branches in preorder, the documents below each, and cuts into parts.
const branches = (data.tree?.nodes ?? []).map(([parent, order, size, cluster, name, gain], index) => ({
  index,
  parent,
  order,
  size,
  cluster,
  name,
  gain,
  children: [],
  depth: 0,
  from: 0,
  to: 0,
}));
const leafOf = data.tree ? unpack(data.tree.leaf, "u32") : null;
let leafCount = 0;
for (const branch of branches) {
  if (branch.parent < 0) continue;
  branches[branch.parent].children.push(branch);
  branch.depth = branches[branch.parent].depth + 1;
}
(function number(branch) {
  if (!branch) return;
  branch.from = leafCount;
  if (branch.children.length) branch.children.forEach(number);
  else leafCount += 1;
  branch.to = leafCount; // its leaves are from … to − 1
})(branches[0]);
const splits = branches.filter((branch) => branch.order >= 0).sort((a, b) => a.order - b.order);

// The branches that are whole after a cut into (at least) so many parts, from left to right.
function partsOf(cut) {
  const open = new Set();
  let parts = 1;
  for (const branch of splits) {
    if (parts >= cut) break;
    open.add(branch.index);
    parts += branch.children.length - 1;
  }
  return branches.filter((branch) => !open.has(branch.index) && (branch.parent < 0 || open.has(branch.parent)));
}

// The part of every leaf; one more for documents in no leaf.
function partOfLeaves(parts) {
  const found = new Uint32Array(leafCount + 1).fill(parts.length);
  parts.forEach((part, place) => found.fill(place, part.from, part.to));
  return found;
}
