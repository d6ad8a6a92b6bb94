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
      el("th", { scope: "row" }, el("span", { class: "row-name" }, glyph(group.mark, 11), el("span", { dir: "auto" }, group.name))),
      el("td", { class: "number" }, whole.format(group.size)),
      el("td", { class: "number" }, group.stability === null ? "–" : percent(group.stability)),
      el("td", { class: "number" }, group.cohesion === null ? "–" : digits(group.cohesion, 2)),
      el("td", { dir: "auto" }, group.terms.slice(0, 8).map(([term]) => term).join(", ")),
    );
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of the clusters" },
    el(
      "table",
      { class: "counts" },
      el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: i > 0 && i < 4 ? "number" : "" }, head)))),
      el("tbody", {}, groups.map(row)),
    ),
  );
}
