// Working with the tree: keys, folding, the cut, and the switch between map and tree.
function selectBranch(branch) {
  select((i) => leafOf[i] >= branch.from && leafOf[i] < branch.to, branchWords(branch), `b${branch.index}`);
  openTab("documents");
}

function fold(branch, shut) {
  if (shut) closed.add(branch.index);
  else closed.delete(branch.index);
  showBranches();
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
    ArrowLeft: () => (opened(branch) ? fold(branch, true) : go(branches[branch.parent])),
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
  byId("cut").value = value;
  byId("cut-value").textContent = String(partsOf(value).length);
  // Open what the cut divides, so that every part is seen.
  for (const branch of splits.slice(0, value - 1)) closed.delete(branch.index);
  setColour("cut");
}

function showView(tree) {
  byId("tree-view").hidden = !tree;
  byId("stage").classList.toggle("shows-tree", tree);
  byId("view-map").setAttribute("aria-pressed", String(!tree));
  byId("view-tree").setAttribute("aria-pressed", String(tree));
  if (tree) showBranches();
  else refresh();
}

function startTree() {
  if (!branches.length) {
    byId("view-tree").hidden = true;
    return;
  }
  plantTree();
  const { cut } = state;
  byId("tree-view").append(
    el(
      "div",
      { class: "cut" },
      el("label", { for: "cut" }, "Cut into ", el("output", { id: "cut-value", for: "cut" }, String(cut)), " parts"),
      el("input", {
        type: "range",
        id: "cut",
        min: 1,
        max: leafCount,
        step: 1,
        value: cut,
        "aria-label": "Number of parts to cut the tree into",
        oninput: (event) => setCut(Number(event.target.value)),
      }),
      el(
        "p",
        { class: "quiet" },
        "Drag the line. The further left a branch divides, the more its parts differ. Click a branch for its documents; double-click opens or closes it.",
      ),
    ),
    el("div", { id: "tree-canvas", class: "tree-canvas" }),
  );
  listen("edits level", () => {
    plantTree();
    Object.assign(byId("cut"), { max: leafCount, value: state.cut });
    byId("cut-value").textContent = String(state.cut);
  });
  byId("view-map").addEventListener("click", () => showView(false));
  byId("view-tree").addEventListener("click", () => showView(true));
  new ResizeObserver(showBranches).observe(byId("tree-view"));
  listen("groups", findGivenNames);
  listen("groups colour selection theme", showBranches);
}
