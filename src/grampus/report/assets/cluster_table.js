// The clusters in an order of the reader's choice, and as a table.
const ORDERS = {
  size: (a, b) => a.none - b.none || b.size - a.size,
  sure: (a, b) => a.none - b.none || (b.stability ?? -2) - (a.stability ?? -2),
  name: (a, b) => a.none - b.none || a.name.localeCompare(b.name),
};

function clusterTable(groups) {
  const heads = ["cluster", "documents", "stability", "cohesion", "words"];
  const row = (group) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, rowName(group)),
      el("td", { class: "number" }, whole.format(group.size)),
      el("td", { class: "number" }, group.stability === null ? "–" : percent(group.stability)),
      el("td", { class: "number" }, group.cohesion === null ? "–" : digits(group.cohesion, 2)),
      el("td", { dir: "auto" }, group.terms.slice(0, 8).map(([term]) => term).join(", ")),
    );
  const titles = heads.map((head, i) => el("th", { scope: "col", class: i > 0 && i < 4 ? "number" : "" }, head));
  return tableIn("Table of the clusters", titles, groups.map(row));
}
