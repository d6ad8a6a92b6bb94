// The page inside a notebook: the map alone, and the documents that are selected, found or filtered go to the cell around it.
const tellRows = () => parent.postMessage({ grampus: "selection", rows: chosenDocuments() }, "*");

starts.push(() => {
  byId("workbench").classList.add("full");
  document.body.classList.add("filled");
  byId("full").hidden = true;
  const stay = (event) => event.key === "Escape" && document.activeElement !== points && event.stopImmediatePropagation();
  addEventListener("keydown", stay, true); // the map fills the frame, always
  listen("selection matches unfiltered", tellRows);
  addEventListener("message", ({ source, data: told }) => {
    if (source !== parent || told?.grampus !== "select" || !Array.isArray(told.rows)) return;
    const chosen = new Set(told.rows);
    select(chosen.size ? (i) => chosen.has(i) : null, "chosen in the notebook");
  });
});
