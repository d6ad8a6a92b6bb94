// The tree as a dendrogram: where a branch divides tells how much that division explains. A line cuts it into parts.
const closed = new Set();
let current = 0; // the branch that takes the keyboard
let currentParts = [];
let currentMarks = [];
const ROW = 27;

// How many documents of each cluster a leaf holds.
let leafClusters = [];

function countLeaves() {
  leafClusters = Array.from({ length: leafCount }, () => new Map());
  for (let i = 0; leafOf && i < data.n; i += 1) {
    const held = leafClusters[leafOf[i]];
    held?.set(ownLabels[i], (held.get(ownLabels[i]) ?? 0) + 1); // a document in no cluster is in no leaf
  }
}

function largestCluster(part) {
  const sizes = new Map();
  for (let leaf = part.from; leaf < part.to; leaf += 1) {
    for (const [cluster, size] of leafClusters[leaf]) sizes.set(cluster, (sizes.get(cluster) ?? 0) + size);
  }
  return [...sizes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}

// A part takes the mark of its largest cluster; where two want the same, the smaller takes another shade.
function partMarks(parts) {
  const { branches: at } = levels[state.level];
  const shown = isOwnLevel() ? [] : marksOf(state.level);
  if (shown.length && parts.every(({ base }) => at.includes(base))) return parts.map(({ base }) => shown[at.indexOf(base)]);
  const own = marksOf(data.level);
  const taken = new Map();
  const marks = [];
  for (const place of [...parts.keys()].sort((a, b) => parts[b].size - parts[a].size)) {
    const wanted = largestCluster(parts[place]);
    const times = taken.get(wanted) ?? 0;
    const mark = own[wanted] ?? markOf(wanted);
    marks[place] = reshaded(mark, times);
    taken.set(wanted, times + 1);
  }
  return marks;
}

// Names that the reader gave to clusters of a level are those of their branches, too.
const givenNames = new Map();

function findGivenNames() {
  givenNames.clear();
  levels.forEach(({ branches: at }, place) => {
    for (const [cluster, name] of Object.entries(levelNames[place])) if (at[cluster] >= 0) givenNames.set(at[cluster], name);
  });
}

function branchName(branch) {
  if (branch.cluster >= 0) return branch.now ?? branch.name;
  return givenNames.get(branch.index) ?? (branch.name || count(branch.size, "document"));
}

colourings.cut = () => {
  currentParts = partsOf(state.cut);
  currentMarks = partMarks(currentParts);
  const partOf = partOfLeaves(currentParts);
  return [
    (i) => partOf[leafOf[i]],
    [
      ...currentParts.map((part, place) => ({ name: branchName(part), mark: currentMarks[place] })),
      ...data.clusters.filter((cluster) => cluster.none).map(({ name }) => ({ name, mark: OTHER })),
    ],
  ];
};

// Where a division stands, from 0 (all documents) to 1 (nothing left to divide): never before an earlier one.
const depthOf = new Map();

function findDepths() {
  depthOf.clear();
  let least = 1;
  for (const branch of splits) {
    least = Math.min(least, Math.max(0, branch.gain ?? 0));
    depthOf.set(branch.index, 1 - Math.sqrt(least));
  }
}

// After an edit the tree is another one: its clusters are closed, and the cut is at the clusters.
function plantTree() {
  countLeaves();
  findDepths();
  closed.clear();
  for (const branch of branches) if (branch.cluster >= 0 && branch.children.length) closed.add(branch.index);
  current = 0;
  state.cut = Math.min(data.clusters.filter((cluster) => !cluster.none).length, Math.max(1, leafCount));
  if (!branches.length) return;
  currentParts = partsOf(state.cut);
  currentMarks = partMarks(currentParts);
}

const cutDepth = (cut) => {
  const at = (place) => (place < 0 ? -0.06 : place < splits.length ? depthOf.get(splits[place].index) : 1.04);
  return (at(cut - 2) + at(cut - 1)) / 2;
};

function visibleBranches() {
  const found = [];
  (function walk(branch) {
    found.push(branch);
    if (!closed.has(branch.index)) branch.children.forEach(walk);
  })(branches[0]);
  return found;
}

const opened = (branch) => branch.children.length > 0 && !closed.has(branch.index);
const branchWords = (branch) => `branch “${shorten(branchName(branch), 60)}” (${branch.index})`;

function treeShape(width) {
  const names = clamp(width * 0.42, 120, 420);
  const [left, right, top] = [26, width - names, 26];
  const seen = visibleBranches();
  const ends = seen.filter((branch) => !opened(branch)).length;
  const space = clamp((byId("tree-canvas").clientHeight - top - 16) / ends, ROW, 2 * ROW);
  // What is seen fills the width: divisions below closed branches need no room.
  const deepest = Math.max(0.05, ...seen.filter(opened).map((branch) => depthOf.get(branch.index)));
  const xOf = (depth) => left + Math.min(1, (0.9 * depth) / deepest) * (right - left);
  const at = new Map();
  let row = 0;
  for (const branch of seen) if (!opened(branch)) at.set(branch.index, [right, top + space * (row++ + 0.5)]);
  for (const branch of [...seen].reverse()) {
    if (!opened(branch)) continue;
    const ys = branch.children.map((child) => at.get(child.index)[1]);
    at.set(branch.index, [xOf(depthOf.get(branch.index)), (ys[0] + ys[ys.length - 1]) / 2]);
  }
  return { seen, at, left, right, deepest, xOf, height: top + space * row + 12, names };
}

function branchDrawing(branch, { at, left, names }) {
  const [x, y] = at.get(branch.index);
  const part = currentParts.findIndex((one) => branch.from >= one.from && branch.to <= one.to);
  const colour = part < 0 ? "var(--strong-line)" : paintOf(currentMarks[part]);
  const from = branch.parent < 0 ? left - 12 : at.get(branch.parent)[0];
  const line = (d) => {
    const path = draw("path", { class: "limb", d });
    path.style.stroke = colour;
    return path;
  };
  const parts = [draw("rect", { class: "hit", x: from, y: y - ROW / 2, width: Math.max(24, x - from), height: ROW })];
  parts.push(line(`M${from} ${y}H${x}`));
  if (opened(branch)) {
    const ys = branch.children.map((child) => at.get(child.index)[1]);
    parts.push(line(`M${x} ${ys[0]}V${ys[ys.length - 1]}`));
    const room = Math.floor((x - from) / 6.4);
    if (room > 7) parts.push(draw("text", { class: "limb-name", x: x - 5, y: y - 5 }, shorten(branchName(branch), room)));
  } else {
    const text = `${branch.children.length ? "▸ " : ""}${shorten(branchName(branch), Math.floor((names - 60) / 6.7))}`;
    parts.push(
      draw("text", { class: "leaf-name", x: x + 8, y: y + 4.5 }, text, draw("tspan", { class: "leaf-size", dx: 7 }, whole.format(branch.size))),
    );
  }
  const chosen = state.selected !== null && state.selectedAs === branchWords(branch);
  const item = draw(
    "g",
    {
      role: "treeitem",
      id: `branch-${branch.index}`,
      class: "limb-item",
      tabindex: branch.index === current ? 0 : -1,
      "aria-level": branch.depth + 1,
      "aria-selected": String(chosen),
      "aria-expanded": branch.children.length ? String(opened(branch)) : null,
      "aria-label": `${branchName(branch)}, ${count(branch.size, "document")}`,
      onclick: () => {
        current = branch.index;
        selectBranch(branch);
      },
      ondblclick: () => branch.children.length && fold(branch, opened(branch)),
    },
    draw("title", {}, `${branchName(branch)}, ${count(branch.size, "document")}`),
    parts,
  );
  return item;
}

function showBranches() {
  const view = byId("tree-view");
  if (!branches.length || view.hidden) return;
  const focused = byId("branches")?.contains(document.activeElement);
  const width = Math.max(300, view.clientWidth - 4);
  const shape = treeShape(width);
  const { left, right, height, deepest, xOf } = shape;
  const x = xOf(cutDepth(state.cut));
  const handle = draw(
    "g",
    { class: "cut-line", onpointerdown: (event) => startCutting(event, left, right, deepest) },
    draw("rect", { x: x - 9, y: 0, width: 18, height, class: "cut-hit" }),
    draw("line", { x1: x, x2: x, y1: 4, y2: height - 4 }),
    draw("circle", { cx: x, cy: 9, r: 6 }),
  );
  const drawing = draw(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, id: "dendrogram" },
    draw("g", { id: "branches", role: "tree", "aria-label": "Tree of the clusters", onkeydown: treeKeys }, shape.seen.map((branch) => branchDrawing(branch, shape))),
    handle,
  );
  byId("tree-canvas").replaceChildren(drawing);
  if (focused) byId(`branch-${current}`)?.focus({ preventScroll: true });
}

function startCutting(event, left, right, deepest) {
  event.preventDefault();
  const box = byId("dendrogram").getBoundingClientRect();
  const dragged = (moved) => {
    const depth = ((moved.clientX - box.left - left) / (right - left) / 0.9) * deepest;
    const parts = 1 + splits.filter((branch) => depthOf.get(branch.index) < depth).length;
    if (parts !== state.cut) setCut(clamp(parts, 1, leafCount));
  };
  const done = () => {
    removeEventListener("pointermove", dragged);
    removeEventListener("pointerup", done);
  };
  addEventListener("pointermove", dragged);
  addEventListener("pointerup", done);
}
