// Tabs beside the map, and the list of the documents that are found or selected.
const PAGEFUL = 40;
const tabs = ["legend", "documents"];
const listing = { order: [], shown: PAGEFUL, open: -1 };

function openTab(name, focus = false) {
  for (const tab of tabs) {
    const button = byId(`tab-${tab}`);
    const chosen = tab === name;
    button.setAttribute("aria-selected", String(chosen));
    button.tabIndex = chosen ? 0 : -1;
    byId(`panel-${tab}`).hidden = !chosen;
    if (chosen && focus) button.focus();
  }
  if (name === "documents") showDocuments();
}

function listenToTab(tab) {
  byId(`tab-${tab}`).addEventListener("click", () => openTab(tab));
  byId(`tab-${tab}`).addEventListener("keydown", (event) => {
    const usable = tabs.filter((name) => !byId(`tab-${name}`).hidden);
    const place = usable.indexOf(tab);
    const ends = { ArrowRight: (place + 1) % usable.length, ArrowLeft: (place - 1 + usable.length) % usable.length, Home: 0, End: usable.length - 1 }; // prettier-ignore
    if (!(event.key in ends)) return;
    event.preventDefault();
    openTab(usable[ends[event.key]], true);
  });
}

// Texts that were cut when the page was made end in dots.
const excerptOf = (text) =>
  text.length > 160 || (text.length === 160 && !data.whole) ? `${text.slice(0, 160)}…` : text;

// One document as a line that can be pressed; it rings the mark on the map.
function documentLine(i, extra = null) {
  const [call, rest] = callAndRest(documentWords(i));
  const group = groupOfDocument(i);
  const line = el(
    "button",
    {
      type: "button",
      class: "document",
      "data-document": i,
      onclick: () => {
        openDocument(i);
      },
    },
    glyph(group.mark, 11),
    el(
      "span",
      { class: "document-words" },
      el("span", { class: "document-title", dir: "auto" }, shorten(call, 140)),
      rest ? el("span", { class: "document-text", dir: "auto" }, excerptOf(rest)) : null,
      extra,
    ),
  );
  line.addEventListener("pointerenter", () => ring(i));
  line.addEventListener("pointerleave", () => ring(-1));
  return line;
}

function openDocument(i) {
  listing.open = i;
  openTab("documents");
  goTo(i);
  tell("opened");
  byId("opened").focus({ preventScroll: true });
  byId("panel-documents").scrollTop = 0;
}

function breakdown(chosen) {
  const sizes = new Uint32Array(state.groups.length);
  for (const i of chosen) sizes[labels[i]] += 1;
  const order = [...sizes.keys()].filter((g) => sizes[g]).sort((a, b) => sizes[b] - sizes[a]);
  const bar = el(
    "div",
    { class: "stack", "aria-hidden": "true" },
    order.map((g) => {
      const part = el("span", { title: `${state.groups[g].name}: ${sizes[g]}` });
      part.style.flexGrow = sizes[g];
      part.style.background = paintOf(state.groups[g].mark);
      return part;
    }),
  );
  const words = order
    .slice(0, 4)
    .map((g) =>
      el(
        "li",
        {},
        glyph(state.groups[g].mark, 9),
        ` ${shorten(state.groups[g].name, 32)} `,
        el("b", {}, whole.format(sizes[g])),
      ),
    );
  const more = order.length > 4 ? el("li", {}, `and ${order.length - 4} more`) : null;
  return [bar, el("ul", { class: "breakdown" }, words, more)];
}

function showDocuments() {
  const panel = byId("panel-documents");
  const chosen = active();
  const parts = [];
  if (listing.open >= 0) parts.push(wholeDocument(listing.open));
  if (!chosen) {
    listing.order = [];
    parts.push(
      el(
        "p",
        { class: "empty" },
        "Search, click a cluster, or draw a box or a loop on the map: the documents come here.",
      ),
    );
  } else {
    listing.order = [];
    for (let i = 0; i < data.n; i += 1) if (chosen[i]) listing.order.push(i);
    listing.order.sort((a, b) => certainty[b] - certainty[a] || a - b);
    const what = [state.matches ? "found" : "", state.filtered ? "filtered" : "", state.selected ? state.selectedAs : ""].filter(Boolean).join(", ");
    parts.push(
      el(
        "div",
        { class: "listed" },
        el(
          "p",
          {},
          el("strong", { id: "listed-count" }, count(listing.order.length, "document")),
          what ? ` ${what}` : "",
        ),
        el("button", { type: "button", id: "list-csv", onclick: () => saveTable(listing.order) }, "CSV"),
        el("button", { type: "button", id: "clear", onclick: clearAll }, "Clear"),
      ),
      ...breakdown(listing.order),
      ...[movingBar()].filter(Boolean),
      el(
        "ol",
        { class: "documents" },
        listing.order.slice(0, listing.shown).map((i) => el("li", {}, documentLine(i))),
      ),
    );
    if (listing.order.length > listing.shown) {
      parts.push(
        el(
          "button",
          {
            type: "button",
            class: "more",
            onclick: () => {
              listing.shown += PAGEFUL;
              showDocuments();
            },
          },
          `Show ${Math.min(PAGEFUL, listing.order.length - listing.shown)} more`,
        ),
      );
    }
  }
  panel.replaceChildren(...parts);
  const tab = byId("tab-documents");
  tab.textContent = chosen ? `Documents ${whole.format(listing.order.length)}` : "Documents";
}

function clearAll() {
  listing.open = -1;
  ring(-1);
  byId("query").value = "";
  clearFilters();
  search();
  tell("matches");
  select(null);
}

function startDocuments() {
  tabs.forEach(listenToTab);
  listen("selection matches", () => {
    listing.shown = PAGEFUL;
    showDocuments();
  });
  listen("groups texts", showDocuments);
}
