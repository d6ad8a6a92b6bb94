// The first screen: the clusters by name, with size and stability, and the choice of the level.
const SURE = [
  [0.75, "sure", "stable"],
  [0.5, "fair", "fairly stable"],
  [-1, "weak", "not stable"],
];

const MIXED = [0, "weak", "mixed"];

function foundLine(group) {
  const most = Math.max(1, ...state.groups.map(({ size }) => size));
  const sure = group.mixed ? MIXED : group.stability === null ? null : SURE.find(([least]) => group.stability >= least);
  const words = group.words.join(", ");
  const parts = [
    glyph(group.mark, 13),
    el("span", { dir: "auto" }, el("span", { class: "found-name" }, group.name), el("span", { class: "found-words", title: words }, words)),
    el("span", { class: "number" }, whole.format(group.size)),
    el("span", { class: `found-sure ${sure?.[1] ?? ""}`, title: sure?.[2] }, el("span", {}, sure ? sure[2] : "")),
    barOf(group.size / most, group.mark),
  ];
  return el("li", { class: "found-line" }, buttonOf(parts, () => showGroup(group), { class: "found-button" }));
}

function showFound() {
  byId("found-list").replaceChildren(...state.groups.map(foundLine));
  byId("found-list").classList.toggle("many", state.groups.length > 10);
}

function levelButton(level, place) {
  const real = level.clusters.filter((cluster) => !cluster.none).length;
  const attributes = { "data-level": place, "aria-pressed": String(place === state.level) };
  return buttonOf(`${level.name} ${whole.format(real)}`, () => setLevel(place), attributes);
}

function showLevels() {
  const box = byId("levels");
  box.hidden = levels.length < 2;
  if (box.hidden) return;
  const focused = box.contains(document.activeElement);
  box.replaceChildren(...levels.map(levelButton));
  if (focused) box.querySelector(`[data-level="${state.level}"]`).focus();
}

function startFound() {
  listen("groups", showFound);
  listen("groups level", showLevels);
}
