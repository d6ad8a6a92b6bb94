// What is known and what is chosen. `data` never changes; `state` does, and says so through topics.
const data = JSON.parse(byId("data").textContent);
const levels = data.levels.map((level) => ({ ...level, labels: unpack(level.labels, "u32") }));
let { labels } = levels[data.level];
data.clusters = levels[data.level].clusters; // of the level that is shown
let ownLabels = labels; // of the run's own level, to which tree, heatmap and edits belong
const certainty = Float32Array.from(unpack(data.certainty, "u16"), (value) => value / 65535);
const days = unpack(data.days, "i32");
let second = unpack(data.second, "u32"); // the next nearest cluster of the run's own level
const UNKNOWN_DAY = -2147483648;
const column = data.column && { ...data.column, codes: unpack(data.column.codes, "u32") };

// Documents in no cluster, if there are any, come as one more, the last: counted and shown, never renamed or merged.
let clusterCount = data.clusters.filter((cluster) => !cluster.none).length;

const state = {
  level: data.level, // which partition is shown
  groups: [], // [{clusters, first, name, size, mark, terms, …}], as edited
  groupOf: new Uint32Array(data.clusters.length), // cluster → group
  colourBy: "cluster", // cluster | cut | label | certainty
  cut: clusterCount,
  styles: new Uint8Array(data.n), // document → category
  categories: [], // [{name, mark, size}]
  query: "", // words that were searched, to be marked in texts
  matches: null, // Uint8Array of the documents that the search found, or null
  filtered: null, // Uint8Array of the documents that pass the filters, or null
  selected: null, // Uint8Array of the documents that are selected, or null
  selectedAs: "", // what the selection is, in words
  selectedBy: null, // and for a link: "c3", the cluster 3, or "b7", the branch 7 of the tree
};

let sizesOf = sizesAt(levels[data.level]);

function sizesAt(level) {
  const sizes = new Uint32Array(level.clusters.length);
  for (const label of level.labels) sizes[label] += 1;
  return sizes;
}

const isOwnLevel = () => state.level === data.level;

// Take over what is known of a level, after a choice of the reader or an edit.
function showLevel(place) {
  state.level = place;
  ({ labels } = levels[place]);
  data.clusters = levels[place].clusters;
  clusterCount = data.clusters.filter((cluster) => !cluster.none).length;
  sizesOf = sizesAt(levels[place]);
  state.groupOf = new Uint32Array(data.clusters.length);
  if (state.colourBy === "cut") state.colourBy = "cluster";
  regroup();
}

function setLevel(place) {
  state.selected = null;
  state.selectedAs = "";
  state.selectedBy = null;
  showLevel(place);
  tell("level");
  tell("selection");
}

// Texts come compressed; the page is drawn before they are there. The worker of the search unpacks them for itself.
const packedTexts = byId("texts").textContent;
const documents = { ids: null, titles: null, dates: null, texts: null, ready: false, failed: false };

async function loadTexts() {
  try {
    Object.assign(documents, JSON.parse(await inflate(packedTexts)), { ready: true });
  } catch {
    documents.failed = true;
  }
  byId("texts").remove();
  tell("texts");
}

function documentWords(i) {
  if (!documents.ready) return { id: `${i + 1}`, title: "", text: documents.failed ? "" : "…" };
  return { id: documents.ids[i], title: documents.titles?.[i] ?? "", text: documents.texts?.[i] ?? "" };
}

// What a document is called, and what else it says: its title and text, or else its first words and the rest.
function callAndRest({ id, title, text }) {
  if (title || !text || !documents.ready) return [title || id, text];
  const line = text.trim().split("\n", 1)[0];
  const cut = line.length > 75 ? Math.max(40, line.lastIndexOf(" ", 75)) : line.length;
  return [line.slice(0, cut) || id, text.trim().slice(cut).trim()];
}

const callOf = (words) => callAndRest(words)[0];

// Terms of clusters taken together, each weighted by its cluster's share of the documents.
function mergedTerms(clusters) {
  const total = clusters.reduce((sum, c) => sum + sizesOf[c], 0) || 1;
  const scores = new Map();
  for (const c of clusters) {
    for (const [term, score] of data.clusters[c].terms) {
      scores.set(term, (scores.get(term) ?? 0) + (score * sizesOf[c]) / total);
    }
  }
  return [...scores].sort((a, b) => b[1] - a[1]).slice(0, 12);
}

const alternate = (lists) => {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) =>
    lists.filter((list) => i < list.length).map((list) => list[i]),
  ).flat();
};

function groupOfClusters(clusters, names) {
  const parts = clusters.map((c) => data.clusters[c]);
  const single = parts.length === 1 ? parts[0] : null;
  const first = clusters[0];
  return {
    clusters,
    first,
    name: names[first] ?? parts.map((part) => part.name).join(" + "),
    words: single?.words ?? [],
    size: clusters.reduce((sum, c) => sum + sizesOf[c], 0),
    none: parts[0].none === true,
    mark: parts[0].none ? OTHER : familyMark(first),
    terms: mergedTerms(clusters),
    phrases: alternate(parts.map((part) => part.phrases)).slice(0, 4),
    sentences: parts.map((part) => part.sentence).filter(Boolean).slice(0, 2),
    central: alternate(parts.map((part) => part.central)),
    borderline: alternate(parts.map((part) => part.borderline)),
    stability: single?.stability ?? null,
    alike: single?.alike ?? null,
    mixed: single?.mixed === true,
    said: names[first] === undefined ? (single?.said ?? null) : null,
    sayable: single?.sayable ?? null,
    weak: single?.weak === true,
    cohesion: single?.cohesion ?? null,
    separation: single?.separation ?? null,
    nearest: single?.nearest ?? -1,
  };
}

const realGroups = () => state.groups.filter((group) => !group.none);
const groupOfDocument = (i) => state.groups[state.groupOf[labels[i]]];

// The documents that are found, selected and not filtered out; null when nothing is searched, selected or filtered.
function active() {
  const masks = [state.matches, state.filtered, state.selected].filter(Boolean);
  if (masks.length < 2) return masks[0] ?? null;
  return masks[0].map((one, i) => (one && masks.every((mask) => mask[i]) ? 1 : 0));
}

function select(test, words, by = null) {
  state.selected = test && new Uint8Array(data.n);
  if (test) for (let i = 0; i < data.n; i += 1) state.selected[i] = test(i) ? 1 : 0;
  state.selectedAs = words ?? "";
  state.selectedBy = by;
  tell("selection");
  const chosen = state.selected?.reduce((sum, one) => sum + one, 0);
  announce(test ? `${count(chosen, "document")} selected: ${words}` : "Selection cleared");
}

// Margins of texts are small numbers; the scale ends where all but one in a hundred lie.
const surest = (() => {
  const sorted = Float32Array.from(certainty).sort();
  return sorted[Math.floor(0.99 * (sorted.length - 1))] || 1;
})();
const sureness = (i) => Math.min(STEPS - 1, Math.floor((certainty[i] / surest) * STEPS));
const MOST = 40; // categories of a label column; the rest is "other"

// What colours the marks: name of the choice → function that returns [document → category, categories].
const colourings = {
  cluster: () => [(i) => state.groupOf[labels[i]], state.groups.map(({ name, mark, words }) => ({ name, mark, words }))],
  label: () => {
    const sizes = new Uint32Array(column.values.length);
    for (const code of column.codes) sizes[code] += 1;
    const order = [...sizes.keys()].sort((a, b) => sizes[b] - sizes[a] || a - b);
    const rank = new Uint32Array(order.length);
    order.forEach((code, place) => {
      rank[code] = Math.min(place, MOST);
    });
    const categories = order
      .slice(0, MOST)
      .map((code, place) => ({ name: column.values[code] || "(none)", mark: markOf(place) }));
    if (order.length > MOST) categories.push({ name: "other", mark: OTHER });
    return [(i) => rank[column.codes[i]], categories];
  },
  certainty: () => [
    sureness,
    Array.from({ length: STEPS }, (_, step) => ({
      name: `${((step * surest) / STEPS).toFixed(3)} ${step < STEPS - 1 ? `– ${(((step + 1) * surest) / STEPS).toFixed(3)}` : "and more"}`,
      mark: { name: `s${step}` },
    })),
  ],
};

function recolour() {
  const [categoryOf, categories] = colourings[state.colourBy]();
  const sizes = new Uint32Array(categories.length);
  const styles = categories.length < 256 ? new Uint8Array(data.n) : new Uint32Array(data.n);
  for (let i = 0; i < data.n; i += 1) {
    styles[i] = categoryOf(i);
    sizes[styles[i]] += 1;
  }
  state.styles = styles;
  state.categories = categories.map((category, i) => ({ ...category, size: sizes[i] }));
  tell("colour");
}
