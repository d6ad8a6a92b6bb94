// Filters by every column, as linked histograms: each shows the documents that pass all the others.
const BINS = 24;
const MOST_BARS = 40;
const facets = []; // [{name, bin: document → bin, bins: [{name}], chosen: Set of bins, spans}]
let tableNote = ""; // why columns of the table are missing

function categoryFacet(name, values, codes) {
  const { order } = frequencies(codes, values.length);
  const rank = ranks(order, MOST_BARS);
  const bins = order.slice(0, MOST_BARS).map((code) => values[code] || "(none)");
  if (order.length > MOST_BARS) bins.push(`${order.length - MOST_BARS} others`);
  return { name, bin: Uint32Array.from(codes, (code) => rank[code]), bins, chosen: new Set(), wide: false };
}

// Numbers in bins of equal width between the first and the last hundredth; unknown ones are in a bin of their own.
function numberFacet(name, numbers, words, known = () => true) {
  const sorted = Float64Array.from(numbers.filter((value, i) => known(value, i))).sort();
  if (sorted.length < 2 || sorted[0] === sorted[sorted.length - 1]) return null;
  const [low, high] = [sorted[Math.floor(0.005 * sorted.length)], sorted[Math.ceil(0.995 * sorted.length) - 1]];
  const width = (high - low) / BINS || 1;
  const place = (value, i) => (known(value, i) ? clamp(Math.floor((value - low) / width), 0, BINS - 1) : BINS);
  const bins = Array.from({ length: BINS }, (_, b) => `${words(low + b * width)} – ${words(low + (b + 1) * width)}`);
  const bin = Uint32Array.from(numbers, place);
  return { name, bin, bins: bin.includes(BINS) ? [...bins, "unknown"] : bins, chosen: new Set(), wide: true };
}

const passes = (facet, i) => facet.chosen.size === 0 || facet.chosen.has(facet.bin[i]);

function applyFacets() {
  const on = facets.filter(({ chosen }) => chosen.size);
  filters.also = on.length ? Uint8Array.from({ length: data.n }, (_, i) => (on.every((facet) => passes(facet, i)) ? 1 : 0)) : null;
  const tab = document.activeElement?.id;
  applyFilters();
  openTab("filters");
  byId(tab)?.focus({ preventScroll: true });
}

// How many documents each bin has among those that pass the other filters, the search and the selection.
function facetCounts(facet) {
  const others = facets.filter((other) => other !== facet && other.chosen.size);
  const masks = [state.matches, state.selected].filter(Boolean);
  const counts = new Uint32Array(facet.bins.length);
  for (let i = 0; i < data.n; i += 1)
    if (masks.every((mask) => mask[i]) && others.every((other) => passes(other, i))) counts[facet.bin[i]] += 1;
  return counts;
}

function facetBar(facet, place, number, value, most) {
  const chosen = facet.chosen.has(place);
  const words = `${facet.name} ${facet.bins[place]}: ${count(value, "document")}`;
  const press = (event) => {
    if (event.shiftKey && facet.last !== undefined)
      for (let b = Math.min(facet.last, place); b <= Math.max(facet.last, place); b += 1) facet.chosen.add(b);
    else if (chosen) facet.chosen.delete(place);
    else facet.chosen.add(place);
    facet.last = place;
    applyFacets();
  };
  const bar = barOf(most ? value / most : 0, null, "facet-bar");
  const inside = facet.wide ? [] : [el("span", { class: "facet-name", dir: "auto" }, facet.bins[place]), el("span", { class: "number" }, whole.format(value))];
  return buttonOf([bar, ...inside], press, { id: `facet-${number}-${place}`, "aria-pressed": String(chosen), "aria-label": words, title: words });
}

function facetBox(facet, number) {
  const counts = facetCounts(facet);
  const most = Math.max(...counts);
  const clear = () => {
    facet.chosen.clear();
    applyFacets();
  };
  const edges = facet.wide ? [facet.bins[0].split(" – ")[0], facet.bins[BINS - 1].split(" – ")[1]] : null;
  return el(
    "section",
    { class: facet.wide ? "facet wide" : "facet", "aria-label": facet.name },
    el("h3", {}, facet.name, facet.chosen.size ? buttonOf("All", clear, { id: `facet-${number}-all` }) : null),
    el("div", { class: "facet-bars" }, facet.bins.map((_, place) => facetBar(facet, place, number, counts[place], most))),
    edges ? el("p", { class: "facet-edges quiet", "aria-hidden": "true" }, edges.map((text) => el("span", {}, text))) : null,
  );
}

function showFacets() {
  const panel = byId("panel-filters");
  if (panel.hidden) return;
  const chosen = active();
  const passing = chosen ? chosen.reduce((sum, one) => sum + one, 0) : data.n;
  const focused = document.activeElement?.id;
  panel.replaceChildren(
    el("p", { class: "quiet" }, el("strong", { id: "passing" }, `${whole.format(passing)} of ${count(data.n, "document")}`), ". Press bars to see their documents alone; with Shift, all in between."),
    ...facets.map(facetBox),
    el("p", { class: "quiet", id: "table-note", hidden: !tableNote }, tableNote),
  );
  if (focused?.startsWith("facet-")) byId(focused)?.focus({ preventScroll: true });
}

const dayWords = (value) => new Date(value * 864e5).toISOString().slice(0, 10);

const figures = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 5, useGrouping: "min2" });
const dateFacet = (name, dates) => numberFacet(name, dates, dayWords, (day) => day !== UNKNOWN_DAY);

function figureFacet(name, numbers) {
  const isWhole = numbers.every((value) => !(value % 1)); // what is unknown is NaN
  const words = (value) => figures.format(isWhole ? Math.round(value) : value);
  return numberFacet(name, numbers, words, (value) => !Number.isNaN(value));
}

function facetOf({ name, kind, numbers, values, codes }) {
  if (kind === "category") return categoryFacet(name, values, unpack(codes));
  return kind === "date" ? dateFacet(name, unpack(numbers, "i32")) : figureFacet(name, new Float64Array(bytesOf(numbers).buffer));
}

function addFacets(found) {
  facets.push(...found.filter(Boolean));
  byId("tab-filters").hidden = !facets.length;
  showFacets();
}

async function loadFacets() {
  addFacets([
    column && categoryFacet(column.name, column.values, column.codes),
    days && dateFacet("date", days),
    numberFacet("certainty", certainty, (value) => digits(value, 2)),
  ]);
  try {
    const { columns, note } = await (await fetch("columns")).json();
    tableNote = note;
    addFacets(columns.map(facetOf));
  } catch {
    announce("Further columns could not be loaded");
  }
}

starts.push(() => {
  byId("tab-documents").after(
    el("button", { type: "button", role: "tab", id: "tab-filters", "aria-controls": "panel-filters", "aria-selected": "false", tabindex: -1, hidden: true }, "Filters"),
  );
  byId("panel-documents").after(el("div", { role: "tabpanel", id: "panel-filters", "aria-labelledby": "tab-filters", tabindex: 0, hidden: true }));
  tabs.push("filters");
  listenToTab("filters");
  byId("tab-filters").addEventListener("click", showFacets);
  listen("matches selection", showFacets);
  listen("unfiltered", () => {
    for (const facet of facets) facet.chosen.clear();
    showFacets();
  });
  byId("filters").hidden = true; // label and date are among the histograms
  setTimeout(loadFacets, 0);
});
