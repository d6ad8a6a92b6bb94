// Near-duplicates and odd documents.
function showOddities() {
  const list = (items, id, few) => {
    const body = el("ol", { class: "documents", id }, items.slice(0, few));
    const rest =
      items.length > few
        ? el(
            "button",
            {
              type: "button",
              class: "more",
              onclick: (event) => {
                body.append(...items.slice(few));
                event.target.remove();
              },
            },
            `Show ${items.length - few} more`,
          )
        : null;
    return [body, rest];
  };
  const pairs = data.pairs.map(([a, b, similarity]) =>
    el(
      "li",
      { class: "pair" },
      documentLine(a),
      documentLine(b, el("span", { class: "tag" }, `similarity ${similarity?.toFixed(3) ?? "–"}`)),
    ),
  );
  const odd = data.odd.map(([i, score]) =>
    el(
      "li",
      {},
      documentLine(
        i,
        el("span", { class: "tag" }, `oddness ${score?.toFixed(2) ?? "–"} in ${shorten(groupOfDocument(i).name, 40)}`),
      ),
    ),
  );
  const more =
    data.pairsFound > data.pairs.length
      ? ` (the ${data.pairs.length} most similar of ${whole.format(data.pairsFound)})`
      : "";
  byId("oddity-lists").replaceChildren(
    el(
      "div",
      {},
      el("h3", {}, `Near-duplicates${more}`),
      pairs.length ? list(pairs, "pairs", 6) : el("p", { class: "quiet" }, "No two documents are nearly the same."),
    ),
    el(
      "div",
      {},
      el("h3", {}, "Odd documents"),
      odd.length ? list(odd, "odd", 12) : el("p", { class: "quiet" }, "No document stands out."),
    ),
  );
}

function startOddities() {
  listen("groups texts", showOddities);
}
