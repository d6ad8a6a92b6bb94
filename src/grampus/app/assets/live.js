// The store of edits in the app: a change is sent to the server, which saves it in the run and answers with what became of
// it. Other tabs, and commands that change the run, are noticed by asking now and then.
const POLL = 1000; // milliseconds between two looks
const asFound = { clusters: [] }; // sentences come from the server, with the names as they are
const nowOf = (cluster) => cluster;
let levelNames = levels.map(() => ({}));
let foundCount = clusterCount;
const live = { ...data.live, done: new Set(data.live.done), busy: false, asked: 0, problem: "", work: null };
const ENDED = "grampus open does not answer: it may have been ended. ";

const editCount = () => live.edits;
const isEdited = (place) => place === data.level && live.edits > 0;

// A cluster can be split where its branch divides.
const partsIn = (group) => branches.find(({ cluster }) => cluster === group.first)?.children.length ?? 0;

// A change in the words of the run: clusters and rows are those that are shown; other levels are named.
const asSent = ({ action, level, clusters, documents: rows, name, parts }) => ({
  action,
  ...(clusters?.length ? { clusters } : {}),
  ...(rows ? { documents: rows } : {}),
  ...(name ? { name } : {}),
  ...(parts ? { parts } : {}),
  ...(action === "level" || level !== data.level ? { level: levels[level].name } : {}),
});

function trouble(words) {
  live.problem = words;
  if (words) announce(words);
  showLiveBar();
}

// Post to the server: {reply, answer}; where it does not answer, the answer is a problem.
async function ask(name, body) {
  try {
    const reply = await fetch(name, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    return { reply, answer: await reply.json() };
  } catch {
    return { answer: { problem: `${ENDED}What was saved is saved; this last change was not.` } };
  }
}

function takeElsewhere(answer) {
  take(answer);
  trouble("The run was changed elsewhere meanwhile, and is shown as it is now. Your last change was not made.");
}

async function send(body, words) {
  if (live.busy) {
    announce("The last change is still being saved");
    regroup();
    return false;
  }
  live.busy = true;
  showLiveBar();
  const { reply, answer } = await ask("edit", { revision: live.revision, ...body });
  live.busy = false;
  if (answer.problem) {
    trouble(answer.problem);
    regroup();
  } else if (reply.status === 409) takeElsewhere(answer);
  else {
    take(answer);
    trouble("");
    announce(words);
  }
  return reply?.ok === true;
}

const edit = (operation) => send({ edits: [asSent(operation)] }, SAID[operation.action](operation));
const undo = () => send({ undo: true }, "Last change undone");

// Colours stay with the documents: a cluster keeps the mark of the one that most of its documents were in.
function marksAfter(labelsBefore, marksBefore, level) {
  const real = level.clusters.filter((cluster) => !cluster.none).length;
  const shares = Array.from({ length: real }, () => new Uint32Array(marksBefore.length));
  for (let i = 0; i < data.n; i += 1) if (level.labels[i] < real) shares[level.labels[i]][labelsBefore[i]] += 1;
  const times = new Map();
  const marks = [];
  const sizes = sizesAt(level);
  for (const c of [...shares.keys()].sort((a, b) => sizes[b] - sizes[a] || a - b)) {
    const most = Math.max(0, ...shares[c]);
    const from = most ? shares[c].indexOf(most) : -1;
    const mark = marksBefore[from] ?? markOf(c);
    const again = times.get(from) ?? 0;
    times.set(from, again + 1);
    marks[c] = reshaded(mark, again);
  }
  return marks;
}

// Show what the server answered.
function take(answer) {
  if (answer.documents !== live.documents) {
    location.reload(); // other documents: another page
    return;
  }
  Object.assign(live, { revision: answer.revision, documents: answer.documents, edits: answer.edits, back: answer.back, done: new Set(answer.done) });
  if (answer.marked) {
    regroup();
    return;
  }
  const shown = levels[state.level].name;
  const wasOwn = isOwnLevel();
  const [labelsBefore, marksBefore] = [ownLabels, marksOf(data.level)];
  const labelsOf = (level, place) => (level.labels ? unpack(level.labels) : levels[place].labels);
  levels.splice(0, levels.length, ...answer.levels.map((level, place) => ({ ...level, labels: labelsOf(level, place) })));
  for (const name of ["level", "heatmap", "copies", "copiesFound", "odd", "oddFound", "tree"]) if (name in answer) data[name] = answer[name];
  if (answer.certainty) certainty.set(fractions(answer.certainty));
  strengths.set(certainty.map(strengthOf));
  if (answer.second) second = unpack(answer.second);
  ownLabels = levels[data.level].labels;
  levelNames = levels.map(() => ({}));
  growBranches(data.tree?.nodes ?? [], data.tree?.leaf ? unpack(data.tree.leaf) : data.tree && leafOf);
  marksOfLevels.length = 0;
  marksOfLevels[data.level] = marksAfter(labelsBefore, marksBefore, levels[data.level]);
  foundCount = levels[data.level].clusters.filter((cluster) => !cluster.none).length;
  const place = wasOwn ? data.level : levels.findIndex(({ name }) => name === shown);
  takeSentences(answer);
  if ("heatmap" in answer) showHeatmap();
  tell("edits");
  showLevel(place < 0 ? data.level : place);
}

function takeSentences({ lead: [kind, words], statements }) {
  byId("lead").className = `lead ${kind}`;
  byId("lead").textContent = words;
  sentences.length = 0;
  const line = ([tone, mark, before, text]) => {
    const span = el("span", {}, before ? el("span", { class: "unseen" }, before) : null, text);
    sentences.push({ node: span.lastChild, text });
    return el("li", { class: tone }, el("span", { class: "mark", "aria-hidden": "true" }, mark), span);
  };
  [...document.querySelectorAll(".statements")].forEach((list, part) => list.replaceChildren(...statements[part].map(line)));
}

// Ask what is new; a tab that is not seen asks when it is seen again.
async function look() {
  if (!live.busy && document.visibilityState !== "hidden") {
    try {
      const reply = await fetch(`state?since=${live.revision}&work=${live.work?.number ?? 0}`);
      if (live.problem.startsWith(ENDED)) trouble("");
      if (reply.status === 200) {
        const answer = await reply.json();
        if (answer.problem) trouble(answer.problem);
        else if (answer.work) followed(answer.work);
        if (answer.revision && !live.busy && answer.since === live.revision) take(answer);
      }
    } catch {
      if (!live.problem) trouble(`${ENDED}Everything shown here is saved.`);
    }
  }
  clearTimeout(live.asked);
  live.asked = setTimeout(look, live.work ? POLL / 4 : POLL);
}

// At the lower edge of the window: how many changes, that they are saved, and back.
function showLiveBar() {
  const bar = byId("edit-bar");
  const focused = document.activeElement?.id === "undo";
  const made = live.edits + live.back;
  bar.hidden = made === 0 && !live.problem && !live.busy && !live.work;
  document.body.classList.toggle("edited", !bar.hidden);
  if (live.work) {
    bar.replaceChildren(...workBar());
    return;
  }
  const back = el("button", { type: "button", id: "undo", onclick: undo, disabled: made === 0 || live.busy }, "Undo");
  const words = live.problem || (live.busy ? "Saving …" : "Saved in the run.");
  bar.replaceChildren(
    el("strong", {}, count(made, "change")),
    el("span", { class: live.problem ? "wrong" : "quiet hint", id: "live-note" }, words),
    el("span", { class: "gap" }),
    back,
  );
  if (focused && !back.disabled) back.focus();
}

function startEdits() {
  listen("groups", showLiveBar);
}

// A tick on clusters that are done, and how many are.
cardButtons.push((group) => {
  if (group.none || !isOwnLevel()) return null;
  const done = live.done.has(group.first);
  const action = done ? "reopen" : "done";
  const press = () => edit({ action, level: data.level, clusters: [group.first] });
  return el("button", { type: "button", id: `done-${group.first}`, "aria-pressed": String(done), onclick: press }, done ? "✓ Done" : "Done");
});

function showDone() {
  const lines = [...document.querySelectorAll("#found-list > li")];
  const marked = (group) => isOwnLevel() && !group.none && live.done.has(group.first);
  state.groups.forEach((group, place) => lines[place]?.classList.toggle("done", marked(group)));
  for (const card of document.querySelectorAll("#cards [data-cluster]"))
    card.classList.toggle("done", isOwnLevel() && live.done.has(Number(card.dataset.cluster)));
  const all = realGroups().length;
  byId("done-note").textContent = isOwnLevel() && live.done.size ? `${live.done.size} of ${count(all, "cluster")} done` : "";
}

// The level that is shown can become the run's own.
function showTakeLevel() {
  const button = byId("take-level");
  button.hidden = isOwnLevel();
  button.textContent = `Work with ${levels[state.level].name}`;
}

starts.push(() => {
  byId("levels").after(
    el("button", { type: "button", id: "take-level", hidden: true, onclick: () => edit({ action: "level", level: state.level }) }),
    el("span", { id: "done-note", class: "quiet", role: "status" }),
  );
  listen("groups level cards", () => {
    showDone();
    showTakeLevel();
  });
  listen("opened", readWhole);
  document.addEventListener("visibilitychange", look);
  live.asked = setTimeout(look, live.work ? POLL / 4 : POLL);
});

// The whole text of the document that was opened.
async function readWhole() {
  const row = listing.open;
  if (row < 0 || fullTexts.has(row)) return;
  try {
    const { text } = await (await fetch(`document?row=${row}`)).json();
    if (text === undefined) return;
    if (fullTexts.size > 200) fullTexts.clear();
    fullTexts.set(row, text);
  } catch {
    return; // the excerpt stays
  }
  if (listing.open === row) showDocuments();
}
