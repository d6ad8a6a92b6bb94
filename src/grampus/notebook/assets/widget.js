// The cell of a notebook: the page in a frame that can reach nothing, and the selection between it and Python.
const same = (a, b) => a.length === b.length && a.every((row, place) => row === b[place]);

function render({ model, el }) {
  const frame = Object.assign(document.createElement("iframe"), { srcdoc: model.get("page"), title: "Map of the documents" });
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.style.cssText = `width:100%;height:${model.get("height")}px;border:0`;
  let shown = [];
  const heard = ({ source, data: told }) => {
    if (source !== frame.contentWindow || told?.grampus !== "selection") return;
    shown = told.rows;
    model.set("selection", shown);
    model.save_changes();
  };
  const show = () => {
    if (same(model.get("selection"), shown)) return;
    shown = model.get("selection");
    frame.contentWindow?.postMessage({ grampus: "select", rows: shown }, "*");
  };
  addEventListener("message", heard);
  frame.addEventListener("load", show);
  model.on("change:selection", show);
  el.append(frame);
  return () => {
    removeEventListener("message", heard);
    model.off("change:selection", show);
  };
}

export default { render };
