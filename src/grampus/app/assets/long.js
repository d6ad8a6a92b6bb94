// Actions that take a while: clustering inside a cluster, seed words, new documents. The server does them in a thread; the
// bar at the lower edge shows how far they are, and ends them.
async function begin(action, more) {
  const { reply, answer } = await ask("work", { revision: live.revision, action, ...more });
  if (reply?.status === 409) takeElsewhere(answer);
  else if (answer.problem) trouble(answer.problem);
  else follow(answer.work);
}

function follow(work) {
  live.work = work;
  trouble("");
  look();
}

// What the server says of its work; false while it is under way.
function followed(work) {
  live.work = work.done ? null : work;
  if (work.done) trouble(work.problem);
  if (work.done && !work.problem) announce(`${work.what}: done`);
  showLiveBar();
  return work.done;
}

// A request whose answer may take a while; the reader can end it.
async function waitFor(what, place, options = {}) {
  const stop = new AbortController();
  live.work = { what, stop };
  showLiveBar();
  try {
    return await fetch(place, { ...options, signal: stop.signal });
  } finally {
    live.work = null;
    showLiveBar();
  }
}

function cancel() {
  if (live.work?.stop) live.work.stop.abort();
  else ask("cancel", {}).then(look);
}

function workBar() {
  const { what, step, units, total } = live.work;
  const bar = el("progress", total > 1 ? { max: total, value: units } : {});
  return [
    el("strong", {}, what),
    el("span", { class: "quiet hint", id: "live-note" }, [step, total > 1 ? `${whole.format(units)} of ${whole.format(total)}` : ""].filter(Boolean).join(": ")),
    bar,
    el("span", { class: "gap" }),
    el("button", { type: "button", id: "cancel", onclick: cancel }, "Cancel"),
  ];
}

cardButtons.push((group) => {
  if (group.none || !isOwnLevel() || group.size < 4) return null;
  const title = "Cluster the documents of this cluster again, by words of their own";
  return el("button", { type: "button", id: `within-${group.first}`, title, onclick: () => begin("within", { cluster: group.first }) }, "Look inside");
});

// A line for each topic, "Sea: whale, ocean" → {Sea: [whale, ocean]}; a line without a name has that of its first word.
function seedsOf(text) {
  const seeds = {};
  for (const line of text.split("\n").filter((one) => one.trim())) {
    const [, name, words] = /^(?:([^:]*):)?(.*)$/s.exec(line.trim());
    const listed = words.split(/[,;]/).map((word) => word.trim()).filter(Boolean); // prettier-ignore
    if (listed.length) seeds[(name?.trim() || listed[0]).slice(0, 80)] = listed;
  }
  return seeds;
}

starts.push(() => {
  const field = el("textarea", { id: "seeds", rows: 5, spellcheck: "false", placeholder: "Sea: whale, ocean\nGarden: rose, seed" });
  const press = () => {
    const seeds = seedsOf(field.value);
    if (!Object.keys(seeds).length) return field.focus();
    byId("topics").open = false;
    return begin("guide", { seeds });
  };
  document.querySelector("header nav").after(
    el(
      "details",
      { id: "topics", class: "export" },
      el("summary", {}, "Topics"),
      el(
        "div",
        { class: "menu topics" },
        el("label", { for: "seeds" }, "Topics you expect, one a line, each with a few words:"),
        field,
        el("p", { class: "quiet" }, "All documents are clustered again around these words; other clusters are found as before. Undo brings the clusters back."),
        el("button", { type: "button", class: "strong", id: "guide", onclick: press }, "Cluster with these words"),
      ),
    ),
  );
});
