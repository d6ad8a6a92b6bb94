// What is known and what is chosen. `data` never changes; `state` does, and says so through topics.
const data = JSON.parse(byId("data").textContent);
const levels = data.levels.map((level) => ({ ...level, labels: unpack(level.labels) }));
let { labels } = levels[data.level];
data.clusters = levels[data.level].clusters; // of the level that is shown
let ownLabels = labels; // of the run's own level, to which tree, heatmap and edits belong
const fractions = (text) => new Float32Array(unpack(text, "u16")).map((value) => value / 65535);
const certainty = fractions(data.certainty);
const days = unpack(data.days, "i32");
let second = new Uint32Array(unpack(data.second)); // the next nearest cluster of the run's own level
const UNKNOWN_DAY = -2147483648;
const column = data.column && { ...data.column, codes: unpack(data.column.codes) };

// Documents in no cluster, if there are any, come as one more, the last: counted and shown, never renamed or merged.
let clusterCount = data.clusters.filter((cluster) => !cluster.none).length;

const state = {
  level: data.level, // which partition is shown
  groups: [], // [{first, name, size, mark, terms, …}], as edited
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

// What is not known of a cluster that the reader made.
const UNKNOWN = {
  sentence: "", stability: null, alike: null, mixed: false, said: null, sayable: null, weak: false, cohesion: null,
  separation: null, nearest: -1, none: false,
}; // prettier-ignore

function groupOfCluster(first, name) {
  const cluster = { ...UNKNOWN, ...data.clusters[first] };
  const mark = cluster.none ? OTHER : familyMark(first);
  const given = name === undefined ? {} : { name, said: null };
  return { ...cluster, ...given, first, size: sizesOf[first], mark };
}

const realGroups = () => state.groups.filter((group) => !group.none);
const groupOfDocument = (i) => state.groups[labels[i]];

// The documents that are found, selected and not filtered out; null when nothing is searched, selected or filtered.
function active() {
  const masks = [state.matches, state.filtered, state.selected].filter(Boolean);
  if (masks.length < 2) return masks[0] ?? null;
  return masks[0].map((one, i) => (one && masks.every((mask) => mask[i]) ? 1 : 0));
}

// The same as a list.
function chosenDocuments() {
  const chosen = active();
  const found = [];
  if (chosen) for (let i = 0; i < data.n; i += 1) if (chosen[i]) found.push(i);
  return found;
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
  cluster: () => [(i) => labels[i], state.groups.map(({ name, mark, words }) => ({ name, mark, words }))],
  label: () => {
    const { order } = frequencies(column.codes, column.values.length);
    const rank = ranks(order, MOST);
    const categories = order.slice(0, MOST).map((code, place) => ({ name: column.values[code] || "(none)", mark: markOf(place) }));
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
