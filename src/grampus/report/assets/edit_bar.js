// The changes that were made, at the lower edge of the window: how many, back, and out as a file.
function showEditBar() {
  const bar = byId("edit-bar");
  const focused = document.activeElement?.id;
  bar.hidden = editCount() === 0 && !log.length;
  document.body.classList.toggle("edited", !bar.hidden);
  const download = el(
    "button",
    {
      type: "button",
      id: "download",
      class: "strong",
      onclick: () => save("edits.json", editsAsFile(), "application/json"),
    },
    "Download edits.json",
  );
  const back = el("button", { type: "button", id: "undo", onclick: undo, disabled: log.length === 0 }, "Undo");
  const all = el("button", { type: "button", id: "undo-all", onclick: undoAll, disabled: editCount() === 0 }, "Undo all");
  const hint = el(
    "span",
    { class: "quiet hint" },
    "To keep them: ",
    el("code", {}, "grampus edit RUN edits.json"),
  );
  bar.replaceChildren(el("strong", {}, count(editCount(), "change")), hint, el("span", { class: "gap" }), back, all, download);
  if (["undo", "undo-all", "download"].includes(focused)) (byId(focused).disabled ? download : byId(focused)).focus();
}

function startEdits() {
  listen("groups", showEditBar);
}
