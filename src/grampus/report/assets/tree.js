// The tree: branches that open and close, and a cut that colours the map. Branches come in preorder.
const branches = (data.tree?.nodes ?? []).map(([parent, order, size, cluster, name], index) => ({
  index,
  parent,
  order,
  size,
  cluster,
  name,
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

// How many documents of each cluster a leaf holds.
const leafClusters = Array.from({ length: leafCount }, () => new Map());
if (leafOf) {
  for (let i = 0; i < data.n; i += 1) {
    const held = leafClusters[leafOf[i]];
    held?.set(labels[i], (held.get(labels[i]) ?? 0) + 1); // a document in no cluster is in no leaf
  }
}

function largestCluster(part) {
  const sizes = new Map();
  for (let leaf = part.from; leaf < part.to; leaf += 1) {
    for (const [cluster, size] of leafClusters[leaf]) sizes.set(cluster, (sizes.get(cluster) ?? 0) + size);
  }
  return [...sizes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}

// A part takes the mark of its largest cluster; where two want the same, the smaller takes one that is free.
function partMarks(parts) {
  const taken = new Set();
  let free = data.clusters.length;
  const marks = [];
  for (const place of [...parts.keys()].sort((a, b) => parts[b].size - parts[a].size)) {
    const wanted = largestCluster(parts[place]);
    marks[place] = markOf(taken.has(wanted) ? free++ : wanted);
    taken.add(wanted);
  }
  return marks;
}

function branchName(branch) {
  if (branch.cluster >= 0) {
    const group = state.groups[state.groupOf[branch.cluster]];
    if (group.clusters.length === 1) return group.name;
  }
  return branch.name || count(branch.size, "document");
}

let currentParts = [];
let currentMarks = [];

colourings.cut = () => {
  currentParts = partsOf(state.cut);
  currentMarks = partMarks(currentParts);
  const partOfLeaf = new Uint32Array(leafCount + 1).fill(currentParts.length); // beyond the leaves: in no cluster
  currentParts.forEach((part, place) => partOfLeaf.fill(place, part.from, part.to));
  return [
    (i) => partOfLeaf[leafOf[i]],
    [
      ...currentParts.map((part, place) => ({ name: branchName(part), mark: currentMarks[place] })),
      ...data.clusters.filter((cluster) => cluster.none).map(({ name }) => ({ name, mark: OTHER })),
    ],
  ];
};

const closed = new Set();
let current = 0; // the branch that takes the keyboard

function visibleBranches() {
  const found = [];
  (function walk(branch) {
    found.push(branch);
    if (!closed.has(branch.index)) branch.children.forEach(walk);
  })(branches[0]);
  return found;
}

function branchLine(branch) {
  const place = currentParts.indexOf(branch);
  const below = currentParts.some((part) => branch.from >= part.from && branch.to <= part.to && part !== branch);
  const line = el(
    "div",
    { class: `branch${below ? " below" : ""}` },
    branch.children.length
      ? el("span", { class: "twisty", "aria-hidden": "true" }, closed.has(branch.index) ? "▸" : "▾")
      : el("span", { class: "twisty" }),
    place >= 0 ? glyph(currentMarks[place], 12) : null,
    el("span", { class: "branch-name", dir: "auto" }, branchName(branch)),
    el("span", { class: "number quiet" }, whole.format(branch.size)),
  );
  const open = branch.children.length && !closed.has(branch.index);
  const item = el(
    "li",
    {
      role: "treeitem",
      id: `branch-${branch.index}`,
      tabindex: branch.index === current ? 0 : -1,
      "aria-level": branch.depth + 1,
      "aria-selected": String(state.selected !== null && state.selectedAs === branchWords(branch)),
      "aria-expanded": branch.children.length ? String(!closed.has(branch.index)) : null,
      "aria-label": `${branchName(branch)}, ${count(branch.size, "document")}`,
    },
    line,
  );
  line.querySelector(".twisty").addEventListener("click", (event) => {
    event.stopPropagation();
    fold(branch, !closed.has(branch.index));
  });
  line.addEventListener("click", () => {
    current = branch.index;
    selectBranch(branch);
  });
  if (open) item.append(el("ul", { role: "group" }, branch.children.map(branchLine)));
  return item;
}

const branchWords = (branch) => `branch “${shorten(branchName(branch), 60)}” (${branch.index})`;

function selectBranch(branch) {
  select((i) => leafOf[i] >= branch.from && leafOf[i] < branch.to, branchWords(branch));
}

function fold(branch, shut) {
  if (shut) closed.add(branch.index);
  else closed.delete(branch.index);
  showBranches();
}

function showBranches() {
  if (!branches.length) return;
  const focused =
    document.activeElement?.closest?.("[role=treeitem]") !== null && byId("branches").contains(document.activeElement);
  byId("branches").replaceChildren(branchLine(branches[0]));
  if (focused) byId(`branch-${current}`)?.focus({ preventScroll: true });
}

function treeKeys(event) {
  const branch = branches[current];
  const seen = visibleBranches();
  const place = seen.indexOf(branch);
  const go = (target) => {
    if (!target) return;
    current = target.index;
    showBranches();
    byId(`branch-${current}`).focus();
  };
  const actions = {
    ArrowDown: () => go(seen[place + 1]),
    ArrowUp: () => go(seen[place - 1]),
    ArrowRight: () => (closed.has(current) ? fold(branch, false) : go(branch.children[0])),
    ArrowLeft: () =>
      branch.children.length && !closed.has(current) ? fold(branch, true) : go(branches[branch.parent]),
    Home: () => go(seen[0]),
    End: () => go(seen[seen.length - 1]),
    Enter: () => selectBranch(branch),
    " ": () => selectBranch(branch),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
}

function setCut(value) {
  state.cut = value;
  byId("cut-value").textContent = String(partsOf(value).length);
  setColour("cut");
}

// Close what lies below the clusters to begin with: the tree is first read from the top.
function foldBelowClusters() {
  for (const branch of branches) if (branch.cluster >= 0 && branch.children.length) closed.add(branch.index);
}

function startTree() {
  if (!branches.length) {
    byId("tab-tree").hidden = true;
    return;
  }
  foldBelowClusters();
  const slider = el("input", {
    type: "range",
    id: "cut",
    min: 1,
    max: leafCount,
    step: 1,
    value: Math.min(clusterCount, leafCount),
    "aria-label": "Number of parts to cut the tree into",
    oninput: (event) => setCut(Number(event.target.value)),
  });
  byId("panel-tree").append(
    el(
      "div",
      { class: "cut" },
      el(
        "label",
        { for: "cut" },
        "Cut into ",
        el("output", { id: "cut-value", for: "cut" }, String(Math.min(clusterCount, leafCount))),
        " parts",
      ),
      slider,
    ),
    el(
      "p",
      { class: "quiet" },
      "The slider colours the map. Branches above the clusters are merges, branches below are parts; select a branch to see its documents.",
    ),
    el("ul", { id: "branches", role: "tree", "aria-label": "Tree of the clusters", onkeydown: treeKeys }),
  );
  currentParts = partsOf(state.cut);
  currentMarks = partMarks(currentParts);
  listen("groups colour selection", showBranches);
}
