// The sentences about how sure one can be: names and agreement follow what is shown, the rest says what it is about.
const sentences = [...document.querySelectorAll(".statements li > span:last-child")].map((span) => ({ node: span.lastChild, text: span.lastChild.data }));
const AGREEMENT = /NMI \d\.\d+, ARI \S?\d\.\d+/;
const pairsOf = (size) => (size * (size - 1)) / 2;
const entropyOf = (sizes, n) => -sizes.reduce((sum, size) => sum + (size ? (size / n) * Math.log(size / n) : 0), 0);

// NMI (geometric mean) and ARI of the clusters that are shown and the labels, of documents that have both.
function agreement() {
  const [wide, high] = [column.values.length, state.groups.length];
  const cells = new Map();
  const [rows, columns] = [Array(high).fill(0), Array(wide).fill(0)];
  let n = 0;
  for (let i = 0; i < data.n; i += 1) {
    const [g, c] = [labels[i], column.codes[i]];
    if (state.groups[g].none || !column.values[c]) continue;
    cells.set(g * wide + c, (cells.get(g * wide + c) ?? 0) + 1);
    rows[g] += 1;
    columns[c] += 1;
    n += 1;
  }
  let [information, together] = [0, 0];
  for (const [key, size] of cells) {
    information += (size / n) * Math.log((size * n) / (rows[Math.floor(key / wide)] * columns[key % wide]));
    together += pairsOf(size);
  }
  const [alike, same] = [rows, columns].map((sizes) => sizes.reduce((sum, size) => sum + pairsOf(size), 0));
  const expected = (alike * same) / (pairsOf(n) || 1);
  const span = (alike + same) / 2 - expected;
  const scale = Math.sqrt(entropyOf(rows, n) * entropyOf(columns, n));
  return { nmi: scale ? clamp(information / scale, 0, 1) : 0, ari: span ? (together - expected) / span : 1 };
}

// Sentences quote clusters by the names they were given: the reader's names take their place.
function namedAnew(text) {
  const { groups } = groupsAt(data.level);
  return asFound.clusters.reduce((said, { name, none }, c) => {
    const now = none ? name : groups[nowOf(c)]?.name;
    return now === undefined || now === name ? said : said.replaceAll(`“${name}”`, `“${now}”`);
  }, text);
}

function showStatements() {
  const asShown = !isOwnLevel() || isEdited(state.level);
  for (const { node, text } of sentences) {
    if (column && AGREEMENT.test(text) && asShown) {
      const { nmi, ari } = agreement();
      node.data = text.replace(AGREEMENT, `NMI ${digits(nmi, 2)}, ARI ${digits(ari, 2)}`);
    } else node.data = namedAnew(text);
  }
  const level = levels[data.level].name;
  const about = isOwnLevel() ? "These were measured before your changes." : `These are about the ${level} level${column ? ", agreement with the labels apart" : ""}.`;
  byId("as-found").textContent = asShown ? about : "";
  byId("as-found").hidden = !asShown;
}

function startStatements() {
  const list = document.querySelector(".statements");
  list.before(el("p", { id: "as-found", class: "quiet as-found", hidden: true }));
  listen("groups", showStatements);
}
