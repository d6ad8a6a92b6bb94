// Moving documents: those that are selected or found go to another cluster, or to none.
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
    buttonOf("Move here", () => moveTo(some, state.groups[Number(targets.value)]), { id: "move" }),
    buttonOf("No cluster", () => takeOut(some), { id: "take-out" }),
  );
}
