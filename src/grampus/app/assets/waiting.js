// Progress while a run is made; then the page takes this one's place.
const byId = (id) => document.getElementById(id);

async function look() {
  try {
    const { work, revision } = await (await fetch("state")).json();
    if (revision) {
      location.reload();
      return;
    }
    const { what, step, units, total, problem } = work;
    byId("what").textContent = what;
    byId("step").textContent = problem || (total > 1 ? `${step}: ${units} of ${total}` : step);
    byId("step").className = problem ? "wrong" : "";
    byId("bar").hidden = Boolean(problem);
    if (total > 1) Object.assign(byId("bar"), { max: total, value: units });
    else byId("bar").removeAttribute("value");
    if (problem) return;
  } catch {
    byId("step").textContent = "grampus open does not answer: it may have been ended.";
  }
  setTimeout(look, 250);
}

look();
