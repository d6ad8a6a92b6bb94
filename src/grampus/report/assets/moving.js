// Moving documents: those that are selected or found go to another cluster, or to none.
function chosenDocuments() {
  const chosen = active();
  const found = [];
  if (chosen) for (let i = 0; i < data.n; i += 1) if (chosen[i]) found.push(i);
  return found;
}

function movingBar() {
  const some = chosenDocuments();
  if (!some.length || !isOwnLevel()) return null;
  const targets = el(
    "select",
    { id: "move-to", "aria-label": "Cluster to move the documents to" },
    realGroups().map((group) => el("option", { value: group.first }, shorten(group.name, 40))),
  );
  return el(
    "div",
    { class: "moving", id: "moving" },
    el("span", { class: "quiet" }, `${count(some.length, "document")}:`),
    targets,
    el("button", { type: "button", id: "move", onclick: () => moveTo(some, state.groups[Number(targets.value)]) }, "Move here"),
    el("button", { type: "button", id: "take-out", onclick: () => takeOut(some) }, "No cluster"),
  );
}
