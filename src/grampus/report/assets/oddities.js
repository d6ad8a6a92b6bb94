// Near-copies in groups, and documents that stand out from their cluster.
const FEW_COPIES = 3; // of a group that are shown at first

// A list whose rest comes when it is asked for.
function listed(items, few, attributes) {
  const body = el("ol", { class: "documents", ...attributes }, items.slice(0, few));
  const more = (event) => {
    body.append(...items.slice(few));
    event.target.remove();
    items[few].querySelector("button")?.focus();
  };
  return [body, items.length > few ? buttonOf(`Show ${whole.format(items.length - few)} more`, more, { class: "more" }) : null];
}

function copiesItem([members, similarity]) {
  const clusters = new Set(members.map((i) => groupOfDocument(i)));
  const apart = clusters.size > 1 ? `, in ${clusters.size} clusters` : "";
  const all = members.map((i) => el("li", {}, documentLine(i)));
  return el(
    "li",
    { class: "copies" },
    el("p", { class: "copies-head" }, el("strong", {}, count(members.length, "document")), ` similarity ${similarity?.toFixed(3) ?? "–"} or more${apart}`),
    listed(all, FEW_COPIES, {}),
    buttonOf("Show on the map", () => selectCopies(members), { class: "copies-select" }),
  );
}

function selectCopies(members) {
  const chosen = new Set(members);
  select((i) => chosen.has(i), `${count(members.length, "near-copy").replace("copys", "copies")}`);
  openTab("documents");
  goToMap();
}

function oddItem([i, score]) {
  const words = `resembles “${shorten(groupOfDocument(i).name, 40)}” ${percent(1 - (score ?? 0))} as much as most there`;
  return el("li", {}, documentLine(i, el("span", { class: "tag" }, words)));
}

const ofAll = (shown, found) => (found > shown ? ` (${whole.format(shown)} of ${whole.format(found)})` : "");

function showOddities() {
  const part = (title, items, found, few, id, none) =>
    el("div", {}, el("h3", {}, `${title}${ofAll(items.length, found)}`), items.length ? listed(items, few, { id }) : el("p", { class: "quiet" }, none));
  byId("oddity-lists").replaceChildren(
    part("Near-copies", data.copies.map(copiesItem), data.copiesFound, 6, "copies", "No two documents are nearly the same."),
    part("Outliers", data.odd.map(oddItem), data.oddFound, 12, "odd", "No document stands out from its cluster."),
  );
}

function startOddities() {
  listen("groups texts", showOddities);
}
