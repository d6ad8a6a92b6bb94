// The map around its marks: names of the clusters, the ring around a document, and when to draw.
const overlay = byId("overlay");
const over = overlay.getContext("2d");
const pointer = { ringed: -1, trail: null }; // trail: corners of the box or loop being drawn, in device pixels
let waiting = false;
let centres = [];

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

const median = (values) => values.sort()[values.length >> 1];

// The middle of every category of the colours, from at most 2000 of its documents.
function findCentres() {
  const named = state.colourBy === "certainty" ? [] : state.categories;
  const lists = named.map(() => [[], []]);
  if (named.length) {
    for (let i = 0; i < data.n; i += 1) {
      const list = lists[state.styles[i]];
      if (list[0].length >= 2000) continue;
      list[0].push(places[2 * i]);
      list[1].push(places[2 * i + 1]);
    }
  }
  centres = named
    .map(({ name, size }, k) => ({
      name: shorten(name, 30),
      size,
      empty: lists[k][0].length === 0,
      at: lists[k].map((axis) => (axis.length ? median(Uint16Array.from(axis)) : 0)),
    }))
    .filter(({ empty, name }) => !empty && name !== "other")
    .sort((a, b) => b.size - a.size);
}

function paintNames() {
  const size = 12.5 * view.ratio;
  over.font = `600 ${size}px ${getComputedStyle(document.body).fontFamily}`;
  over.textAlign = "center";
  over.textBaseline = "middle";
  over.lineJoin = "round";
  const taken = [];
  for (const { name, at } of centres) {
    const half = over.measureText(name).width / 2 + 6 * view.ratio;
    const x = at[0] * view.scale + view.x;
    const y = at[1] * view.scale + view.y;
    if (x < 0 || y < 0 || x > view.width || y > view.height) continue;
    const inside = clamp(x, half, Math.max(half, view.width - half));
    const box = [inside - half, y - size * 0.8, inside + half, y + size * 0.8];
    if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]))
      continue;
    taken.push(box);
    over.strokeStyle = css(colourOf("stage"));
    over.lineWidth = 4 * view.ratio;
    over.strokeText(name, inside, y);
    over.fillStyle = css(colourOf("ink"));
    over.fillText(name, inside, y);
  }
}

function paintTrail() {
  if (!pointer.trail) return;
  over.beginPath();
  pointer.trail.forEach(([x, y], i) => (i ? over.lineTo(x, y) : over.moveTo(x, y)));
  over.closePath();
  over.fillStyle = css(colourOf("accent")).replace(")", " / 12%)");
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
    over.beginPath();
    over.arc(...toScreen(pointer.ringed), radius() + 4 * view.ratio, 0, 2 * Math.PI);
    over.strokeStyle = css(colourOf("ink"));
    over.lineWidth = 2 * view.ratio;
    over.stroke();
  }
  paintTrail();
}

function zoom(factor, sx = view.width / 2, sy = view.height / 2) {
  const scale = clamp(view.scale * factor, fitScale() * 0.4, fitScale() * 400);
  const ratio = scale / view.scale;
  view.x = sx - (sx - view.x) * ratio;
  view.y = sy - (sy - view.y) * ratio;
  view.scale = scale;
  refresh();
}

function move(dx, dy) {
  const slack = GRID * view.scale;
  view.x = clamp(view.x + dx, -slack, view.width);
  view.y = clamp(view.y + dy, -slack, view.height);
  refresh();
}

function ring(i) {
  if (pointer.ringed === i) return;
  pointer.ringed = i;
  refresh();
}

// Bring a document into view and ring it.
function goTo(i) {
  const [x, y] = toScreen(i);
  const margin = 60 * view.ratio;
  if (x < margin || y < margin || x > view.width - margin || y > view.height - margin) {
    view.x += view.width / 2 - x;
    view.y += view.height / 2 - y;
  }
  pointer.ringed = i;
  refresh();
}

function startMap() {
  listen("theme", () => {
    stamps = null;
    refresh();
  });
  listen("colour", () => {
    stamps = null;
    findCentres();
    refresh();
  });
  listen("selection matches", () => {
    shownNow = active();
    refresh();
  });
  new ResizeObserver(() => {
    if (resize()) paint();
  }).observe(points); // paints at once, for a resized canvas is blank
  for (const [id, action] of [
    ["zoom-in", () => zoom(1.6)],
    ["zoom-out", () => zoom(1 / 1.6)],
    [
      "zoom-all",
      () => {
        showAll();
        refresh();
      },
    ],
  ]) {
    byId(id).addEventListener("click", action);
  }
}
