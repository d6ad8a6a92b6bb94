// Filters by label and by date: only documents that pass them are bright on the map and in the list.
const filters = { label: -1, from: null, to: null, also: null }; // also: a mask by other columns

function applyFilters() {
  const { label, from, to, also } = filters;
  const byDate = days !== null && (from !== null || to !== null);
  const on = label >= 0 || byDate || also !== null;
  state.filtered = on ? new Uint8Array(data.n) : null;
  for (let i = 0; on && i < data.n; i += 1) {
    const known = !byDate || days[i] !== UNKNOWN_DAY;
    const inTime = !byDate || ((from === null || days[i] >= from) && (to === null || days[i] <= to));
    state.filtered[i] = known && inTime && (label < 0 || column.codes[i] === label) && (!also || also[i]) ? 1 : 0;
  }
  tell("matches");
  if (on) openTab("documents");
}

const dayOf = (text) => (text ? Math.round(Date.parse(`${text}T00:00:00Z`) / 864e5) : null);

function labelFilter() {
  const { order } = frequencies(column.codes, column.values.length);
  const options = order.slice(0, 200).map((code) => el("option", { value: code }, shorten(column.values[code] || "(none)", 40)));
  return el(
    "label",
    { class: "choose" },
    el("span", {}, "Only"),
    el(
      "select",
      {
        id: "filter-label",
        "aria-label": `Only documents with this ${column.name}`,
        onchange: (event) => {
          filters.label = Number(event.target.value);
          applyFilters();
        },
      },
      el("option", { value: -1 }, `any ${shorten(column.name, 20)}`),
      options,
    ),
  );
}

function dateFilter(name, words) {
  return el(
    "label",
    { class: "choose" },
    el("span", {}, words),
    el("input", {
      type: "date",
      id: `filter-${name}`,
      onchange: (event) => {
        filters[name] = dayOf(event.target.value);
        applyFilters();
      },
    }),
  );
}

function startFilters() {
  byId("filters").append(
    ...[column && labelFilter(), days && dateFilter("from", "From"), days && dateFilter("to", "to")].filter(Boolean),
  );
}

function clearFilters() {
  Object.assign(filters, { label: -1, from: null, to: null, also: null });
  if (byId("filter-label")) byId("filter-label").value = "-1";
  for (const name of ["from", "to"]) if (byId(`filter-${name}`)) byId(`filter-${name}`).value = "";
  state.filtered = null;
  tell("unfiltered");
}
