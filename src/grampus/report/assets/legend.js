// What the colours and shapes mean; pressing a line selects its documents.
const NAMES = { cluster: "cluster", cut: "cut of the tree", label: "label", certainty: "certainty" };

function startColours() {
  const usable = ["cluster", data.tree && "cut", column && "label", clusterCount > 1 && "certainty"].filter(Boolean);
  const chooser = byId("colour");
  const wordsOf = (name) => (name === "label" ? `label: ${shorten(column.name, 30)}` : NAMES[name]);
  chooser.replaceChildren(...usable.map((name) => el("option", { value: name }, wordsOf(name))));
  chooser.addEventListener("change", () => setColour(chooser.value));
}

function setColour(name) {
  state.colourBy = name;
  byId("colour").value = name;
  recolour();
}

function showLegend() {
  const most = Math.max(1, ...state.categories.map((category) => category.size));
  const lines = state.categories.map((category, place) => {
    const chosen = state.selectedAs === legendWords(category) && state.selected !== null;
    const parts = [
      glyph(category.mark, 13),
      el("span", { class: "legend-name", dir: "auto" }, category.name),
      el("span", { class: "number" }, whole.format(category.size)),
      barOf(category.size / most, category.mark),
    ];
    return el("li", {}, buttonOf(parts, () => toggle(place, category), { class: "legend-line", "aria-pressed": String(chosen) }));
  });
  const intro =
    state.colourBy === "certainty"
      ? "0 lies between two clusters, 1 on the centre of its own."
      : "Click a name to see only its documents.";
  byId("panel-legend").replaceChildren(el("p", { class: "quiet" }, intro), el("ul", { class: "legend" }, lines));
}

const legendWords = (category) => `${NAMES[state.colourBy]} “${shorten(category.name, 60)}”`;

function toggle(place, category) {
  const words = legendWords(category);
  const styles = state.styles;
  const again = state.selectedAs === words && state.selected !== null;
  const by = !again && state.colourBy === "cluster" ? `c${state.groups[place].first}` : null;
  select(again ? null : (i) => styles[i] === place, again ? "" : words, by);
  document.querySelectorAll(".legend-line")[place]?.focus();
}

function startLegend() {
  startColours();
  listen("colour selection", showLegend);
}
