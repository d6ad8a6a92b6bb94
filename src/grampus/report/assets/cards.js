// One card for each cluster: words, documents, how stable it is; renaming and merging.
const chosenToMerge = new Set(); // lowest cluster of each chosen group
const cardButtons = []; // further buttons of a card: functions of its group
let renaming = -1;

function meter(name, value, words) {
  const bar = barOf(clamp(value, 0, 1), null, "meter wide");
  return el("div", { class: "measure" }, el("dt", {}, name), el("dd", {}, el("span", {}, words), bar));
}

const stabilityWords = (value) => (value >= 0.75 ? "stable" : value >= 0.5 ? "fairly stable" : "not stable");
const stayWords = (group) => (group.mixed ? "but mixed" : stabilityWords(group.stability));

function measures(group) {
  const found = [];
  if (group.stability !== null)
    found.push(meter("Stability", group.stability, `${percent(group.stability)} stay together, ${stayWords(group)}`));
  if (group.alike !== null)
    found.push(meter("How similar", group.alike, `${digits(group.alike, 2)} (0 = random, 1 = copies)${group.mixed ? ": left over" : ""}`));
  else if (group.cohesion !== null) found.push(meter("How similar", group.cohesion, `${digits(group.cohesion, 2)} (1 = copies)`));
  if (group.separation !== null && group.nearest >= 0) {
    const other = state.groups[group.nearest] ?? group;
    found.push(meter("Apart from", group.separation, `${shorten(other.name, 24)}: ${digits(group.separation, 2)}`));
  }
  if (group.said !== null) {
    const words = `finds ${percent(group.said)} of the documents, the centre ${percent(group.sayable)}`;
    found.push(meter("Name alone", group.said, `${words}${group.weak ? ": weak name" : ""}`));
  }
  if (data.clusters[group.first].changed)
    found.push(
      el("div", { class: "measure" }, el("dt", {}, "Edited"), el("dd", {}, "figures were measured before, for other documents")),
    );
  return found.length ? el("dl", { class: "measures" }, found) : null;
}

function termList(group) {
  if (group.none) return el("p", { class: "quiet" }, "These documents belong to no cluster.");
  if (!group.terms.length)
    return el("p", { class: "quiet" }, group.size ? "No word sets this cluster apart." : "No document is left in this cluster.");
  const top = group.terms[0][1] || 1;
  return el(
    "ul",
    { class: "terms", "aria-label": "Distinguishing words" },
    group.terms.slice(0, 10).map(([term, score]) => {
      const word = el("li", { class: "term", dir: "auto" }, term);
      word.style.setProperty("--weight", clamp(score / top, 0.04, 1).toFixed(2));
      return word;
    }),
  );
}

function nameOf(group) {
  if (renaming !== group.first) return el("h3", { dir: "auto", id: `name-${group.first}` }, group.name);
  const field = el("input", {
    type: "text",
    value: group.name,
    maxlength: LONGEST_NAME,
    "aria-label": "New name of the cluster",
    class: "rename-field",
    onkeydown: (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault(); // or Enter would press the button that gets the focus
      finish(event.key === "Enter");
    },
  });
  const finish = (keep) => {
    if (renaming !== group.first) return;
    renaming = -1;
    if (keep) rename(group, field.value);
    if (cardsWait || !keep) showCards(); // the button that gets the focus is there
    byId(`rename-${group.first}`)?.focus();
  };
  return el(
    "form",
    { class: "rename", onsubmit: (event) => event.preventDefault() },
    field,
    buttonOf("Save", () => finish(true), { class: "strong" }),
    buttonOf("Cancel", () => finish(false)),
  );
}

function startRenaming(group) {
  renaming = group.first;
  showCards();
  const field = document.querySelector(".rename-field");
  field.focus();
  field.select();
}

function documentList(title, places, open) {
  if (!places.length) return null;
  return el("details", { open }, el("summary", {}, title), documentLines(places.slice(0, 5)));
}

function card(group) {
  const share = data.n ? group.size / data.n : 0;
  const pick = el("input", {
    type: "checkbox",
    onchange: (event) => {
      if (event.target.checked) chosenToMerge.add(group.first);
      else chosenToMerge.delete(group.first);
      showMergeBar();
    },
  });
  pick.checked = chosenToMerge.has(group.first);
  const body = el(
    "article",
    { class: "card", "data-cluster": group.first, "aria-labelledby": renaming === group.first ? null : `name-${group.first}` },
    el("header", {}, glyph(group.mark, 18), nameOf(group)),
    group.words.length ? el("p", { class: "card-words", dir: "auto" }, group.words.join(", ")) : null,
    el("p", { class: "card-size" }, el("b", {}, whole.format(group.size)), ` ${group.size === 1 ? "document" : "documents"} · ${percent(share)}`),
    termList(group),
    group.phrases.length ? el("p", { class: "phrases quiet", dir: "auto" }, group.phrases.map((phrase) => `“${phrase}”`).join(" · ")) : null,
    group.sentence ? el("blockquote", { class: "sentence", dir: "auto" }, group.sentence) : null,
    measures(group),
    documentList("Central documents", group.central, true),
    documentList("Borderline documents", group.borderline, false),
    el(
      "footer",
      {},
      buttonOf("Show on the map", () => showGroup(group)),
      group.none ? null : buttonOf("Rename", () => startRenaming(group), { id: `rename-${group.first}` }),
      !group.none && isOwnLevel() && partsIn(group) > 1 ? buttonOf("Split", () => splitCluster(group, 2), { id: `split-${group.first}` }) : null,
      cardButtons.map((make) => make(group)),
      realGroups().length > 1 && !group.none && isOwnLevel() ? el("label", { class: "check" }, pick, el("span", {}, "merge")) : null,
    ),
  );
  body.style.setProperty("--tint", paintOf(group.mark));
  return body;
}

function selectGroup(group) {
  select((i) => labels[i] === group.first, `cluster “${shorten(group.name, 60)}”`, `c${group.first}`);
  openTab("documents");
}

function showGroup(group) {
  selectGroup(group);
  goToMap();
}

function showMergeBar() {
  const chosen = state.groups.filter((group) => chosenToMerge.has(group.first));
  const bar = byId("merge-bar");
  if (chosen.length === 0) {
    bar.replaceChildren();
    return;
  }
  const words = chosen.map((group) => shorten(group.name, 30)).join(" + ");
  const clear = (then) => () => {
    chosenToMerge.clear();
    then();
  };
  bar.replaceChildren(
    el("span", {}, chosen.length === 1 ? `Choose one more cluster to merge with ${words}.` : `Merge ${words}?`),
    chosen.length > 1 ? buttonOf(`Merge ${chosen.length} clusters`, clear(() => merge(chosen)), { class: "strong", id: "merge" }) : "",
    buttonOf("Cancel", clear(showCards)),
  );
}

function showCards() {
  cardsWait = false;
  const groups = [...state.groups].sort(ORDERS[byId("card-order").value]);
  const asTable = byId("card-table").checked;
  byId("cards").classList.toggle("as-table", asTable);
  byId("cards").replaceChildren(...(asTable ? [clusterTable(groups)] : groups.map(card)));
  showMergeBar();
  tell("cards");
}

// After an edit, cards that are out of sight wait until the map is drawn. Those in sight do not: whoever presses a button
// between the two would press one that is gone.
let cardsWait = false;

function cardsSoon() {
  const { top, bottom } = byId("cards").getBoundingClientRect();
  cardsWait = bottom < 0 || top > innerHeight;
  if (!cardsWait) showCards();
  else requestAnimationFrame(() => setTimeout(() => cardsWait && showCards()));
}

// "4,000 documents in 12 clusters, 31 in no cluster"
function headline() {
  const none = state.groups.find((group) => group.none);
  return `${count(data.n, "document")} in ${count(realGroups().length, "cluster")}${none ? `, ${whole.format(none.size)} in no cluster` : ""}`;
}

function showHeadline() {
  byId("headline").textContent = headline();
}

function startCards() {
  listen("level", () => {
    chosenToMerge.clear();
    renaming = -1;
    showCards();
  });
  listen("groups", cardsSoon);
  listen("groups", showHeadline);
  listen("texts", () => renaming < 0 && showCards()); // what is being written stays
  for (const id of ["card-order", "card-table"]) byId(id).addEventListener("change", showCards);
}
