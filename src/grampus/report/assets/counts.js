// Clusters by label, and clusters over time.
const MOST_VALUES = 14;

function labelCounts() {
  if (!column) return;
  const { order } = frequencies(column.codes, column.values.length);
  const shown = order.slice(0, MOST_VALUES);
  const place = ranks(order, MOST_VALUES);
  const wide = shown.length + (order.length > shown.length ? 1 : 0);
  const table = state.groups.map(() => new Uint32Array(wide));
  for (let i = 0; i < data.n; i += 1) table[labels[i]][place[column.codes[i]]] += 1;
  const heads = [...shown.map((code) => column.values[code] || "(none)"), ...(wide > shown.length ? ["other"] : [])];
  const cell = (value, row) => {
    const share = row ? value / row : 0;
    const box = el("td", { class: value ? "number cell" : "number cell none" }, value ? whole.format(value) : "·");
    box.style.setProperty("--share", share.toFixed(3));
    if (share > 0.55) box.classList.add("full");
    return box;
  };
  const rows = state.groups.map((group, g) => {
    const most = table[g].indexOf(Math.max(...table[g]));
    const share = group.size ? table[g][most] / group.size : 0;
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, rowName(group)),
      [...table[g]].map((value) => cell(value, group.size)),
      el("td", { class: "reading", dir: "auto" }, group.size ? `${percent(share)} ${heads[most]}` : "empty"),
    );
  });
  const titles = [
    el("th", { scope: "col" }, "cluster"),
    ...heads.map((head) => el("th", { scope: "col", class: "number", dir: "auto" }, shorten(head, 22))),
    el("th", { scope: "col" }, "mostly"),
  ];
  const rest = order.length > shown.length ? ` The ${shown.length} most frequent of ${order.length} values; the others are counted together.` : "";
  byId("label-counts").replaceChildren(
    tableIn(`Documents by cluster and ${column.name}`, titles, rows),
    el("p", { class: "quiet" }, `Darker cells hold a larger share of their row.${rest}`),
  );
}

// Periods that give between about 6 and 60 bars.
function periods(low, high) {
  const span = high - low + 1;
  const day = (value) => new Date(value * 864e5);
  if (span > 365 * 16) {
    const step = Math.max(1, Math.ceil(span / 365.25 / 60));
    const first = Math.floor(day(low).getUTCFullYear() / step) * step;
    return {
      word: step === 1 ? "year" : `${step} years`,
      index: (d) => Math.floor((day(d).getUTCFullYear() - first) / step),
      name: (i) => String(first + i * step),
    };
  }
  if (span > 31 * 6) {
    const step = span > 365 * 5 ? 3 : 1;
    const month = (d) => Math.floor((day(d).getUTCFullYear() * 12 + day(d).getUTCMonth()) / step);
    const first = month(low);
    const name = (i) =>
      `${Math.floor(((first + i) * step) / 12)}-${String((((first + i) * step) % 12) + 1).padStart(2, "0")}`;
    return { word: step === 1 ? "month" : "quarter", index: (d) => month(d) - first, name };
  }
  const step = span > 60 ? 7 : 1;
  return {
    word: step === 7 ? "week" : "day",
    index: (d) => Math.floor((d - low) / step),
    name: (i) => day(low + i * step).toISOString().slice(0, 10),
  };
}

const rowDrawing = (wide, words, parts) =>
  draw("svg", { viewBox: `0 0 ${wide} 1`, preserveAspectRatio: "none", role: "img", "aria-label": words }, parts);

function timeRows() {
  if (!days) return;
  let [low, high, unknown] = [Infinity, -Infinity, 0];
  for (const d of days) {
    if (d === UNKNOWN_DAY) {
      unknown += 1;
      continue;
    }
    low = Math.min(low, d);
    high = Math.max(high, d);
  }
  const { word, index, name } = periods(low, high);
  const wide = index(high) + 1;
  const table = state.groups.map(() => new Uint32Array(wide));
  for (let i = 0; i < data.n; i += 1) if (days[i] !== UNKNOWN_DAY) table[labels[i]][index(days[i])] += 1;
  const most = Math.max(1, ...table.map((row) => Math.max(...row)));
  byId("time-note").textContent =
    `Documents per ${word}, all rows on one scale (highest bar: ${whole.format(most)}).${unknown ? ` ${count(unknown, "document")} without a date that can be read.` : ""}`;
  const rows = state.groups.map((group, g) => {
    const bars = [...table[g]].map((value, i) => {
      if (!value) return null;
      const bar = draw(
        "rect",
        { x: i + 0.08, width: 0.84, y: 1 - Math.max(value / most, 0.015), height: Math.max(value / most, 0.015) },
        draw("title", {}, `${group.name}, ${name(i)}: ${count(value, "document")}`),
      );
      bar.style.fill = paintOf(group.mark);
      return bar;
    });
    const peak = table[g].indexOf(Math.max(...table[g]));
    return el(
      "div",
      { class: "time-row" },
      rowName(group),
      rowDrawing(wide, `${group.name}: most documents in ${name(peak)}, ${table[g][peak]}`, bars),
    );
  });
  byId("time-rows").replaceChildren(
    ...rows,
    ...shareRows(table, name),
    el(
      "div",
      { class: "time-row axis" },
      el("span"),
      el("span", { class: "time-axis" }, [name(0), wide > 2 ? name(Math.floor(wide / 2)) : "", wide > 1 ? name(wide - 1) : ""].map((words) => el("span", {}, words))),
    ),
  );
}

function startCounts() {
  listen("groups", () => {
    labelCounts();
    timeRows();
  });
}
