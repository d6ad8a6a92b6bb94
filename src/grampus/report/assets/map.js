// The map around its marks: names of the clusters, the ring around a document, and when to draw.
const overlay = byId("overlay");
const over = overlay.getContext("2d");
const pointer = { ringed: -1, trail: null }; // trail: corners of the box or loop being drawn, in device pixels
let waiting = false;

function refresh() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (view.width > 0 || resize()) paint();
  });
}

function paint() {
  paintPoints();
  paintOverlay();
  if (!points.dataset.drawn) performance.mark("map drawn");
  points.dataset.drawn = String(Number(points.dataset.drawn ?? 0) + 1);
}

function paintTrail() {
  if (!pointer.trail) return;
  over.beginPath();
  pointer.trail.forEach(([x, y], i) => (i ? over.lineTo(x, y) : over.moveTo(x, y)));
  over.closePath();
  over.fillStyle = css(colourOf("accent"), 0.12);
  over.fill();
  over.setLineDash([5 * view.ratio, 4 * view.ratio]);
  over.strokeStyle = css(colourOf("accent"));
  over.lineWidth = 1.5 * view.ratio;
  over.stroke();
  over.setLineDash([]);
}

function paintOverlay() {
  over.clearRect(0, 0, view.width, view.height);
  paintNames();
  if (pointer.ringed >= 0) {
    paintOutline(over, state.styles[pointer.ringed]);
    over.beginPath();
    over.arc(...toScreen(pointer.ringed), radius() + 4 * view.ratio, 0, 2 * Math.PI);
    over.strokeStyle = css(colourOf("ink"));
    over.lineWidth = 2 * view.ratio;
    over.stroke();
  }
  paintTrail();
  points.dataset.rests = String(!kept.timer && !kept.stamping && !kept.naming);
}

function zoom(factor, sx = view.width / 2, sy = view.height / 2) {
  const scale = clamp(view.scale * factor, fitScale() * 0.4, fitScale() * 400);
  const ratio = scale / view.scale;
  view.x = sx - (sx - view.x) * ratio;
  view.y = sy - (sy - view.y) * ratio;
  view.scale = scale;
  view.whole = false;
  refresh();
}

function move(dx, dy) {
  const slack = GRID * view.scale;
  view.x = clamp(view.x + dx, -slack, view.width);
  view.y = clamp(view.y + dy, -slack, view.height);
  view.whole = false;
  if (data.n > LARGE) {
    clearTimeout(kept.timer);
    kept.timer = setTimeout(() => {
      kept.timer = 0;
      refresh();
    }, 140);
  }
  refresh();
}

function ring(i) {
  if (pointer.ringed === i) return;
  pointer.ringed = i;
  requestAnimationFrame(paintOverlay); // the marks stay as they are
}

// Bring a document into view and ring it.
function goTo(i) {
  const [x, y] = toScreen(i);
  const margin = 60 * view.ratio;
  if (x < margin || y < margin || x > view.width - margin || y > view.height - margin) {
    view.x += view.width / 2 - x;
    view.y += view.height / 2 - y;
    view.whole = false;
  }
  pointer.ringed = i;
  refresh();
}

function goToMap() {
  byId("map").scrollIntoView({ behavior: still() ? "auto" : "smooth" });
  points.focus({ preventScroll: true });
}

// The map with its search over the whole window, and back.
function setFull(on) {
  if (byId("map").classList.contains("full") === on) return;
  byId("map").classList.toggle("full", on);
  document.documentElement.classList.toggle("filled", on);
  byId("full").setAttribute("aria-pressed", String(on));
  byId("full").textContent = on ? "Smaller" : "Full screen";
}

function startMap() {
  listen("theme colour selection matches", forgetPicture);
  listen("theme", refresh);
  listen("colour", () => {
    contours = null;
    findCentres();
    refresh();
  });
  listen("groups", () => finer.clear());
  listen("selection matches", () => {
    shownNow = active();
    refresh();
  });
  byId("full").addEventListener("click", () => setFull(!byId("map").classList.contains("full")));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.activeElement !== points) setFull(false);
  });
  new ResizeObserver(() => {
    if (resize()) paint();
  }).observe(points); // paints at once, for a resized canvas is blank
  byId("zoom-in").addEventListener("click", () => zoom(1.6));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 1.6));
  byId("zoom-all").addEventListener("click", keys[0]);
}
