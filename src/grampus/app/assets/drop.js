// Files dropped on the page: where their documents belong. And the run as a file to take away.
const dropped = { files: [] };

const FILES = [
  ["csv", "Table (CSV)"], ["xlsx", "Table (Excel)"], ["parquet", "Table (Parquet)"], ["json", "Table (JSON)"],
  ["html", "Page (one file)"], ["png", "Picture (PNG)"], ["svg", "Picture (SVG)"],
]; // prettier-ignore

function droppedLine([id, text, cluster, margin, known, unlike]) {
  const group = cluster < 0 ? null : groupsAt(data.level).groups[cluster];
  const mark = marksOfLevels[data.level]?.[cluster] ?? OTHER;
  const doubt = !known ? "no word that the run knows" : unlike ? "unlike anything here" : margin === null ? "" : `certainty ${digits(margin, 2)}`;
  return el(
    "li",
    { class: "dropped" },
    glyph(mark, 11),
    el("span", { class: "document-title", dir: "auto" }, id),
    el("span", { class: "document-text", dir: "auto" }, text),
    el("span", { class: "tag" }, `${group ? shorten(group.name, 40) : "no cluster"}${doubt ? `, ${doubt}` : ""}`),
  );
}

// The documents of all files that could be read can become a part of the run.
function addButton() {
  const read = dropped.files.filter(({ count: total }) => total);
  const total = read.reduce((sum, file) => sum + file.count, 0);
  const press = () => {
    forgetDropped();
    begin("add", { dropped: read.map((file) => file.dropped) });
  };
  return total ? el("button", { type: "button", class: "strong", id: "add-dropped", onclick: press }, `Add ${count(total, "document")} to the run`) : "";
}

function showDropped() {
  const box = byId("dropped");
  box.hidden = dropped.files.length === 0;
  box.replaceChildren(
    ...dropped.files.map(({ name, problem, documents: some = [], count: total = 0, notes = [] }) =>
      el(
        "section",
        { "aria-label": name },
        el("h3", { dir: "auto" }, name),
        problem
          ? el("p", { class: "wrong" }, problem)
          : el("p", { class: "quiet" }, `${count(total, "document")}; each is in the cluster it resembles most. The run was not changed.`),
        notes.map((note_) => el("p", { class: "quiet" }, note_)),
        el("ol", { class: "documents" }, some.slice(0, 200).map(droppedLine)),
        total > 200 ? el("p", { class: "quiet" }, `and ${whole.format(total - 200)} more`) : null,
      ),
    ),
    addButton(),
    el("button", { type: "button", id: "forget-dropped", onclick: forgetDropped }, "Close"),
  );
}

function forgetDropped() {
  dropped.files = [];
  showDropped();
}

async function assignFile(file) {
  announce(`Reading ${file.name}`);
  let answer;
  try {
    const reply = await waitFor(`Reading ${file.name}`, `assign?name=${encodeURIComponent(file.name.slice(-80))}`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: file,
    });
    answer = await reply.json();
  } catch (error) {
    const ended = error.name === "AbortError";
    answer = { problem: ended ? "Cancelled." : "The file could not be sent: it may be too large, or grampus open has ended." };
  }
  dropped.files.unshift({ name: file.name, ...answer });
  showDropped();
  announce(answer.problem ?? `${count(answer.count, "document")} of ${file.name} assigned`);
  byId("dropped").scrollIntoView({ behavior: still() ? "auto" : "smooth", block: "start" });
}

async function assignFiles(files) {
  for (const file of files) await assignFile(file);
}

async function takeAway(kind) {
  byId("export").open = false;
  if (byId(`save-${kind}`) && kind !== "csv") {
    byId(`save-${kind}`).click(); // a picture of what is shown
    return;
  }
  try {
    const reply = await waitFor("Preparing the file", `export?as=${kind}`);
    if (reply.ok) save(`grampus.${kind}`, await reply.blob(), reply.headers.get("Content-Type"));
    else trouble((await reply.json()).problem);
  } catch (error) {
    trouble(error.name === "AbortError" ? "" : `${ENDED}Everything shown here is saved.`);
  }
}

starts.push(() => {
  byId("map").before(el("section", { id: "dropped", class: "dropped-box", "aria-label": "Dropped files", hidden: true }));
  const chooser = el("input", { type: "file", id: "choose-files", multiple: true, hidden: true, onchange: () => assignFiles([...chooser.files]) });
  document.querySelector("header nav").after(
    el("button", { type: "button", id: "add-files", onclick: () => chooser.click() }, "Assign files"),
    el(
      "details",
      { id: "export", class: "export" },
      el("summary", {}, "Export"),
      el("div", { class: "menu" }, FILES.map(([kind, words]) => el("button", { type: "button", id: `export-${kind}`, onclick: () => takeAway(kind) }, words))),
    ),
    chooser,
  );
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    assignFiles([...(event.dataTransfer?.files ?? [])]);
  });
  listen("groups", showDropped);
});
