// The reading pane: a document, the words that were searched or that tell its cluster, and why it is here.
const fullTexts = new Map(); // document → its whole text, where the page was given it later
const foldWord = (text) => text.normalize("NFKC").toLowerCase();
const searched = () => (foldWord(state.query).match(/[\p{L}\p{N}]+/gu) ?? []);

// A text with marks around the words for which `kind` gives a class.
function marked(text, kind) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    const name = kind(foldWord(found[0]));
    if (!name) continue;
    parts.push(text.slice(from, found.index), el("mark", { class: name }, found[0]));
    from = found.index + found[0].length;
  }
  parts.push(text.slice(from));
  return parts;
}

function markedText(text, group) {
  const asked = searched();
  const telling = new Set(group.terms.flatMap(([term]) => foldWord(term).split(/\s+/)).filter((word) => word.length > 2));
  return marked(text, (word) =>
    asked.some((one) => word.startsWith(one)) ? "asked" : telling.has(word) ? "telling" : null,
  );
}

const sureWords = (i) => {
  const share = certainty[i] / surest;
  return share > 0.6 ? "clearly here" : share > 0.3 ? "here" : share > 0.12 ? "more here than elsewhere" : "on the border";
};

function whyHere(i, group, text) {
  const seen = new Set((foldWord(text).match(/[\p{L}\p{N}]+/gu) ?? []));
  const shared = group.terms.map(([term]) => term).filter((term) => foldWord(term).split(/\s+/).every((word) => seen.has(word)));
  const other = isOwnLevel() && second[i] < clusterCount ? state.groups[second[i]] : null;
  const copies = (data.copies.find(([members]) => members.includes(i))?.[0] ?? []).filter((j) => j !== i);
  return [
    ["Cluster", [glyph(group.mark, 10), ` ${group.name}, ${sureWords(i)} (${certainty[i].toFixed(2)})`]],
    other && other !== group ? ["Next nearest", [glyph(other.mark, 10), ` ${other.name}`]] : null,
    shared.length ? ["Its words here", [shared.join(", ")]] : null,
    copies.length ? ["Near-copies", [`${copies.slice(0, 5).map((j) => documentWords(j).id).join(", ")}${copies.length > 5 ? ` and ${copies.length - 5} more` : ""}`]] : null,
  ];
}

function wholeDocument(i) {
  const words = documentWords(i);
  const group = groupOfDocument(i);
  const text = fullTexts.get(i) ?? (data.whole ? words.text : excerptOf(words.text));
  const facts = [
    ...whyHere(i, group, text),
    column ? [column.name, [column.values[column.codes[i]] || "(none)"]] : null,
    documents.dates?.[i] ? ["Date", [documents.dates[i]]] : null,
    ["Id", [words.id]],
  ];
  const close = () => {
    listing.open = -1;
    showDocuments();
    ring(-1);
  };
  return el(
    "article",
    { class: "opened", "aria-label": "Document", tabindex: -1, id: "opened" },
    el("button", { type: "button", class: "close", "aria-label": "Close the document", onclick: close }, "×"),
    el("h3", { dir: "auto" }, callOf(words)),
    text
      ? el("p", { dir: "auto", class: "opened-text" }, markedText(text, group))
      : el("p", { class: "quiet" }, "This page holds no texts."),
    el(
      "dl",
      {},
      facts.filter(Boolean).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", { dir: "auto" }, value))),
    ),
  );
}
