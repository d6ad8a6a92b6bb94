// Shares of the clusters in each period, with Wilson's interval (95 %): what share of the documents of the period it has.
const Z95 = 1.959963984540054;

function wilson(count_, total) {
  if (!total) return [0, 1];
  const [share, z2] = [count_ / total, Z95 * Z95];
  const middle = (share + z2 / (2 * total)) / (1 + z2 / total);
  const half = (Z95 / (1 + z2 / total)) * Math.sqrt((share * (1 - share)) / total + z2 / (4 * total * total));
  return [clamp(middle - half, 0, 1), clamp(middle + half, 0, 1)];
}

// table: documents of each group in each period; totals: documents of each period.
function shareBand(row, totals, most) {
  const y = (value) => 1 - value / most;
  const known = [...totals.keys()].filter((i) => totals[i]);
  const points = known.map((i) => [i + 0.5, row[i] / totals[i], ...wilson(row[i], totals[i])]);
  const line = points.map(([x, share], i) => `${i ? "L" : "M"}${x} ${y(share).toFixed(4)}`).join("");
  const upper = points.map(([x, , , high], i) => `${i ? "L" : "M"}${x} ${y(Math.min(high, most)).toFixed(4)}`).join("");
  const lower = [...points].reverse().map(([x, , low]) => `L${x} ${y(low).toFixed(4)}`).join("");
  return [draw("path", { class: "band", d: `${upper}${lower}Z` }), draw("path", { class: "share", d: line })];
}

function shareRows(table, name) {
  const wide = table[0]?.length ?? 0;
  const totals = new Uint32Array(wide);
  for (const row of table) row.forEach((value, i) => (totals[i] += value));
  const share = (row, i) => (totals[i] ? row[i] / totals[i] : 0);
  const most = Math.max(0.01, ...table.map((row) => Math.max(...[...row.keys()].map((i) => share(row, i))))) * 1.15;
  const rows = state.groups.map((group, g) => {
    const lines = shareBand(table[g], totals, most);
    for (const path of lines) path.style.setProperty("--tint", paintOf(group.mark));
    const peak = [...table[g].keys()].reduce((a, b) => (share(table[g], b) > share(table[g], a) ? b : a), 0);
    const [low, high] = wilson(table[g][peak], totals[peak]);
    const words = `${group.name}: largest share in ${name(peak)}, ${percent(share(table[g], peak))} (${percent(low)} to ${percent(high)})`;
    return el(
      "div",
      { class: "share-row" },
      rowName(group),
      rowDrawing(wide, words, [draw("title", {}, words), ...lines]),
    );
  });
  return [
    el("p", { class: "quiet", id: "trends-note" }, `Share of the documents of each period, with Wilson’s 95 % interval; highest line: ${percent(most)}.`),
    ...rows,
  ];
}
