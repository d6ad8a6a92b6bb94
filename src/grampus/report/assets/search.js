// Search by words (all must occur, each as the beginning of a word; "in quotes" whole) in the index of all words, or by
// a regular expression in what the page holds. The worker is ended when it takes too long.
const LONGEST_WAIT = 2000; // milliseconds
const LONGEST_QUERY = 500; // characters
const packedIndex = byId("index").textContent;
byId("index").remove();
const finder = { worker: null, number: 0, timer: 0, busy: false };

function startWorker() {
  const address = URL.createObjectURL(new Blob([byId("worker").textContent], { type: "text/javascript" }));
  finder.worker = new Worker(address);
  URL.revokeObjectURL(address);
  finder.worker.onmessage = ({ data: answer }) => {
    if (answer.unpacked) byId("query").dataset.ready = "true";
    else if (answer.begun) limitTime(answer.number);
    else found(answer);
  };
  finder.worker.postMessage({ start: { n: data.n, texts: packedTexts, index: packedIndex } });
}

function prepareSearch() {
  if (finder.worker || !documents.ready) return;
  try {
    startWorker();
  } catch {
    // said when something is searched
  }
}

function stopWorker() {
  finder.worker?.terminate();
  finder.worker = null;
  finder.busy = false;
}

function note(text, wrong = false) {
  byId("search-note").textContent = text;
  byId("search-note").classList.toggle("wrong", wrong);
  byId("query").setAttribute("aria-invalid", String(wrong));
}

function found({ number, found: matches, problem }) {
  if (number !== finder.number) return;
  clearTimeout(finder.timer);
  finder.busy = false;
  if (problem) {
    note(`Not a regular expression: ${problem.replace(/^Invalid regular expression: /, "")}`, true);
    return;
  }
  state.matches = matches;
  state.query = byId("pattern").checked ? "" : byId("query").value;
  const total = matches.reduce((sum, one) => sum + one, 0);
  const cut = data.hasTexts
    ? " (searched in titles, ids and the first 160 characters)"
    : " (searched in ids: the page holds no texts)";
  const inAll = data.hasTexts && (data.whole || (data.hasIndex && !byId("pattern").checked));
  const where = inAll ? "" : cut;
  note(`${count(total, "document")} found${where}.`);
  tell("matches");
  if (total) openTab("documents");
}

function search() {
  const query = byId("query").value.trim().slice(0, LONGEST_QUERY);
  finder.number += 1;
  clearTimeout(finder.timer);
  if (finder.busy) stopWorker(); // it is still at an older question
  if (!query) {
    note("");
    state.query = "";
    if (state.matches) {
      state.matches = null;
      tell("matches");
    }
    return;
  }
  if (!documents.ready) {
    note(
      documents.failed
        ? "This browser could not unpack the texts; search is off."
        : "The texts are still being unpacked …",
      documents.failed,
    );
    return;
  }
  try {
    if (!finder.worker) startWorker();
  } catch {
    note("This browser gives the page no worker; search is off.", true);
    return;
  }
  note("Searching …");
  finder.busy = true;
  finder.worker.postMessage({ number: finder.number, query, pattern: byId("pattern").checked });
}

// A search that has begun may take so long; unpacking does not count.
function limitTime(number) {
  if (number !== finder.number) return;
  finder.timer = setTimeout(() => {
    stopWorker();
    note("That took longer than two seconds and was stopped. Try a simpler expression.", true);
  }, LONGEST_WAIT);
}

function startSearch() {
  let pause = 0;
  const soon = () => {
    clearTimeout(pause);
    pause = setTimeout(search, 160);
  };
  byId("query").addEventListener("input", soon);
  byId("pattern").addEventListener("change", search);
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(pause);
    search();
  });
  // The index is unpacked when the page is at rest or the field is entered, so that the first search is as quick as others.
  byId("query").addEventListener("focus", prepareSearch);
  listen("texts", () => {
    if (byId("query").value) search();
    else setTimeout(prepareSearch, 300);
  });
}
