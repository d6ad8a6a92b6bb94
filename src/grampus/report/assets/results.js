// The table of results, as the command writes it: same columns, same order, same figures, harmless in a spreadsheet.
const TRIGGERS = "=+-@\t\r\n\u0000＝＋－＠";
// Spreadsheets skip these before a formula: blanks, controls, and characters without width.
const SKIPPED =
  /^(?:[\s\u0000-\u0020\u007f-\u00a0\u00ad\u061c\u115f\u1160\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|[\u034f\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\u{e0000}-\u{e0fff}])*/u;

function harmless(text) {
  const folded = text.replace(/[\u0000\t\r\n\v\f\u0085\u2028\u2029]/g, " ");
  const risky = (char) => char !== undefined && TRIGGERS.includes(char);
  return risky(text[0]) || risky(text[SKIPPED.exec(text)[0].length]) ? `'${folded}` : folded;
}

const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
const decimal = (value) => (Number.isInteger(value) ? value.toFixed(1) : String(value));
const csvCell = (value) => (value === null || value === undefined ? '""' : typeof value === "string" ? quoted(harmless(value)) : String(value));
const excerptForTable = (text) => (data.whole ? [...text.slice(0, 1280).split(/\s+/).filter(Boolean).join(" ")].slice(0, 160).join("") : text);

// Header and rows of these documents; clusters and names are those of the levels, as edited.
function tableOf(order) {
  const own = groupsAt(data.level);
  const real = levels[data.level].clusters.filter((cluster) => !cluster.none).length;
  const extra = [
    ["title", documents.titles],
    ["label", column && { at: (i) => column.values[column.codes[i]] }],
    ["date", documents.dates],
    ["excerpt", documents.texts && { at: (i) => excerptForTable(documents.texts[i]) }],
  ].filter(([, values]) => values);
  const figure = (name, i) => {
    const value = documents[name]?.[i];
    return value === null || value === undefined ? '""' : decimal(value);
  };
  const others = [...levels.keys()]
    .filter((place) => place !== data.level)
    .map((place) => ({ name: levels[place].name, labels: levels[place].labels, ...groupsAt(place) }));
  const placed = (level, i) => {
    const { none, first, name } = level.groups[level.labels[i]];
    return none ? ['""', csvCell("no cluster")] : [first, csvCell(name)];
  };
  // The next nearest group; none where a merge has put both together.
  const nextOf = (i) => {
    const group = second[i] < real ? own.groups[second[i]] : null;
    return group && group !== own.groups[ownLabels[i]] ? group.first : '""';
  };
  const more = others.flatMap(({ name }) => [`cluster_${name}`, `name_${name}`]);
  const head = ["id", "cluster", "name", "words", "margin", "second", "oddness", "stability", ...more, ...extra.map(([name]) => name)];
  const lines = [head.map(quoted).join(",")];
  for (const i of order) {
    const group = own.groups[ownLabels[i]];
    lines.push(
      [
        csvCell(documents.ids[i]),
        group.none ? '""' : group.first,
        csvCell(group.none ? "no cluster" : group.name),
        csvCell(group.words.join(", ")),
        figure("margin", i),
        nextOf(i),
        figure("oddness", i),
        figure("stability", i),
        ...others.flatMap((level) => placed(level, i)),
        ...extra.map(([, values]) => csvCell(values.at(i))),
      ].join(","),
    );
  }
  return `${lines.join("\n")}\n`;
}

function saveTable(order) {
  if (!documents.ready) {
    announce("The texts are still being unpacked");
    return;
  }
  save("grampus.csv", tableOf(order), "text/csv");
}

function startResults() {
  byId("save-csv").addEventListener("click", () => saveTable(active() ? chosenDocuments() : Array.from({ length: data.n }, (_, i) => i)));
}
