// The tree of the run: branches in preorder, the documents below each, and cuts into parts.
let branches = [];
let leafOf = null; // the leaf of every document; leafCount for a document in none
let leafCount = 0;
let splits = [];

// nodes: [parent, order, size, cluster, name, gain, words]; leaves: the leaf of every document.
function growBranches(nodes, leaves) {
  branches = nodes.map(([parent, order, size, cluster, name, gain, words], index) => ({
    index, parent, order, size, cluster, name, words, gain, children: [], depth: 0, from: 0, to: 0,
  })); // prettier-ignore
  leafCount = 0;
  leafOf = leaves;
  for (const branch of branches) {
    if (branch.parent < 0) continue;
    branches[branch.parent].children.push(branch);
    branch.depth = branches[branch.parent].depth + 1;
  }
  for (const branch of branches) {
    branch.from = leafCount;
    if (!branch.children.length) leafCount += 1;
  }
  for (let i = branches.length - 1; i >= 0; i -= 1) {
    const { children } = branches[i];
    branches[i].to = children.length ? children[children.length - 1].to : branches[i].from + 1; // its leaves are from … to − 1
  }
  splits = branches.filter((branch) => branch.order >= 0).sort((a, b) => a.order - b.order);
}

growBranches(data.tree?.nodes ?? [], data.tree ? unpack(data.tree.leaf) : null);

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
