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
  const words = el(
    "span",
    { class: "document-words" },
    el("span", { class: "document-title", dir: "auto" }, shorten(call, 140)),
    rest ? el("span", { class: "document-text", dir: "auto" }, excerptOf(rest)) : null,
    extra,
  );
  const line = buttonOf([glyph(group.mark, 11), words], () => openDocument(i), { class: "document", "data-document": i });
  line.addEventListener("pointerenter", () => ring(i));
  line.addEventListener("pointerleave", () => ring(-1));
  return line;
}

const documentLines = (some) => el("ol", { class: "documents" }, some.map((i) => el("li", {}, documentLine(i))));

function openDocument(i) {
  listing.open = i;
  openTab("documents");
  goTo(i);
  tell("opened");
  byId("opened").focus({ preventScroll: true });
  byId("panel-documents").scrollTop = 0;
}

function breakdown(chosen) {
  const { sizes, order: all } = frequencies(chosen.map((i) => labels[i]), state.groups.length);
  const order = all.filter((g) => sizes[g]);
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
  const words = order.slice(0, 4).map((g) => {
    const { mark, name } = state.groups[g];
    return el("li", {}, glyph(mark, 9), ` ${shorten(name, 32)} `, el("b", {}, whole.format(sizes[g])));
  });
  const more = order.length > 4 ? el("li", {}, `and ${order.length - 4} more`) : null;
  return [bar, el("ul", { class: "breakdown" }, words, more)];
}

function showDocuments() {
  const panel = byId("panel-documents");
  const chosen = active();
  const parts = [];
  if (listing.open >= 0) parts.push(wholeDocument(listing.open));
  listing.order = chosenDocuments().sort((a, b) => certainty[b] - certainty[a] || a - b);
  if (!chosen) parts.push(el("p", { class: "empty" }, "Search, click a cluster, or draw a box or a loop on the map: the documents come here."));
  else {
    const what = [state.matches ? "found" : "", state.filtered ? "filtered" : "", state.selected ? state.selectedAs : ""].filter(Boolean).join(", ");
    parts.push(
      el(
        "div",
        { class: "listed" },
        el("p", {}, el("strong", { id: "listed-count" }, count(listing.order.length, "document")), what ? ` ${what}` : ""),
        buttonOf("CSV", () => saveTable(listing.order), { id: "list-csv" }),
        buttonOf("Clear", clearAll, { id: "clear" }),
      ),
      ...breakdown(listing.order),
      ...[movingBar()].filter(Boolean),
      documentLines(listing.order.slice(0, listing.shown)),
    );
    const more = () => {
      listing.shown += PAGEFUL;
      showDocuments();
    };
    const left = listing.order.length - listing.shown;
    if (left > 0) parts.push(buttonOf(`Show ${Math.min(PAGEFUL, left)} more`, more, { class: "more" }));
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
