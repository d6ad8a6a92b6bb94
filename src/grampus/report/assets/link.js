// The view as an address: what is shown, searched, coloured and filtered, after the # of the page.
function viewNow() {
  const middle = [view.width / 2, view.height / 2];
  const parts = {
    level: state.level === data.level ? null : state.level,
    colour: state.colourBy === "cluster" ? null : state.colourBy,
    cut: state.colourBy === "cut" ? state.cut : null,
    tree: showsTree() ? 1 : null,
    query: byId("query").value || null,
    pattern: byId("pattern").checked ? 1 : null,
    label: filters.label >= 0 ? filters.label : null,
    from: byId("filter-from")?.value || null,
    to: byId("filter-to")?.value || null,
    x: view.whole ? null : ((middle[0] - view.x) / view.scale).toPrecision(12),
    y: view.whole ? null : ((middle[1] - view.y) / view.scale).toPrecision(12),
    zoom: view.whole ? null : (view.scale / view.first).toPrecision(12),
    chosen: state.selectedBy,
    document: listing.open >= 0 ? listing.open : null,
  };
  return new URLSearchParams(Object.entries(parts).filter(([, value]) => value !== null)).toString();
}

const numberIn = (parts, name, low, high) => {
  const value = Number(parts.get(name));
  return parts.has(name) && Number.isFinite(value) && value >= low && value <= high ? value : null;
};

function restore(text) {
  const parts = new URLSearchParams(text);
  const level = numberIn(parts, "level", 0, levels.length - 1);
  if (level !== null && Number.isInteger(level)) setLevel(level);
  const [, kind, at] = /^([cb])(\d+)$/.exec(parts.get("chosen") ?? "") ?? [];
  const group = kind === "c" ? state.groups.find(({ first }) => first === Number(at)) : null;
  if (group) selectGroup(group);
  if (kind === "b" && branches[at]) selectBranch(branches[at]);
  const cut = numberIn(parts, "cut", 1, leafCount);
  if (cut !== null && branches.length) setCut(Math.round(cut));
  else if ([...byId("colour").options].some((option) => option.value === parts.get("colour"))) setColour(parts.get("colour"));
  if (parts.get("tree") === "1" && branches.length) showView(true);
  for (const name of ["from", "to"]) {
    const field = byId(`filter-${name}`);
    if (field && /^\d{4}-\d\d-\d\d$/.test(parts.get(name) ?? "")) {
      field.value = parts.get(name);
      filters[name] = dayOf(field.value);
    }
  }
  const label = column ? numberIn(parts, "label", 0, column.values.length - 1) : null;
  if (label !== null) {
    filters.label = Math.round(label);
    byId("filter-label").value = String(filters.label);
  }
  if (label !== null || filters.from !== null || filters.to !== null) applyFilters();
  byId("pattern").checked = parts.get("pattern") === "1";
  byId("query").value = (parts.get("query") ?? "").slice(0, LONGEST_QUERY);
  const [x, y, near] = [numberIn(parts, "x", 0, GRID), numberIn(parts, "y", 0, GRID), numberIn(parts, "zoom", 0.1, 1000)];
  if (x !== null && y !== null && near !== null) {
    if (view.width === 0) resize();
    view.scale = view.first * near;
    [view.x, view.y] = [view.width / 2 - x * view.scale, view.height / 2 - y * view.scale];
    view.whole = false;
  }
  const document = numberIn(parts, "document", 0, data.n - 1);
  if (document !== null) openDocument(Math.round(document));
  refresh();
}

let shownAddress = ""; // what the address bar says of the view that is on the screen

function startLink() {
  byId("copy-link").addEventListener("click", async () => {
    shownAddress = `#view?${viewNow()}`;
    location.replace(shownAddress);
    const copied = await navigator.clipboard.writeText(location.href).then(() => true, () => false);
    sayOn(byId("copy-link"), copied ? "Copied" : "It is in the address bar", 2500);
  });
  const open = () => {
    if (!location.hash.startsWith("#view?") || location.hash === shownAddress) return;
    shownAddress = location.hash;
    restore(location.hash.slice("#view?".length));
    byId("map").scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
}
