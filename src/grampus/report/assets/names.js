// Names on the map: larger for larger clusters, none over another, beside its cluster with a line where it is crowded.
let centres = [];
const DEEP = 3.5; // times the first scale from which the names of the next finer level are shown
const PLACES = [0.3, 1.1, 1.9, 2.9, 4.2, 5.8, 8]; // distances of a name from its cluster, in heights of a line
const TURNS = 16;
const ROOM = 32000; // square pixels of the map for each name; the others appear as one zooms
const ALL = 12; // so many names are placed whatever they cover
const MOST_COVERED = 0.5; // of a name's box by marks, where there are more

const median = (values) => values.sort()[values.length >> 1];

// Where most of these documents lie: from the middle, a few steps to the mean of those near by.
function denseMiddle(xs, ys) {
  let [x, y] = [median(Float64Array.from(xs)), median(Float64Array.from(ys))];
  const reach = (0.08 * GRID) ** 2;
  for (let step = 0; step < 8; step += 1) {
    let [sumX, sumY, seen, best, near] = [0, 0, 0, -1, Infinity];
    for (let i = 0; i < xs.length; i += 1) {
      const d = (xs[i] - x) ** 2 + (ys[i] - y) ** 2;
      if (d < near) [best, near] = [i, d];
      if (d > reach) continue;
      sumX += xs[i];
      sumY += ys[i];
      seen += 1;
    }
    [x, y] = seen ? [sumX / seen, sumY / seen] : [xs[best], ys[best]];
  }
  return [x, y];
}

// From at most 1500 documents of each category.
function middles(named, categoryOf) {
  const lists = named.map(() => [[], []]);
  const left = Uint32Array.from(named, ({ size }) => size);
  const every = named.map(({ size }) => Math.max(1, Math.floor(size / 1500)));
  for (let i = 0; i < data.n; i += 1) {
    const c = categoryOf(i);
    if (!lists[c] || left[c]-- % every[c]) continue;
    lists[c][0].push(places[2 * i]);
    lists[c][1].push(places[2 * i + 1]);
  }
  return named
    .map(({ name, size, mark }, k) => ({ name, size, mark, at: lists[k][0].length ? denseMiddle(...lists[k]) : null }))
    .filter(({ at, name }) => at && name !== "other")
    .sort((a, b) => b.size - a.size);
}

const finer = new Map(); // level → names of its clusters

function finerNames() {
  const place = state.level + 1;
  if (state.colourBy !== "cluster" || place >= levels.length) return [];
  if (!finer.has(place)) {
    const { groups, groupOf } = groupsAt(place);
    const sizes = sizesAt(levels[place]);
    const sizeOf = (clusters) => clusters.reduce((sum, c) => sum + sizes[c], 0);
    const named = groups.map(({ name, none, clusters }) => ({ name: none ? "other" : name, size: sizeOf(clusters), mark: OTHER }));
    finer.set(place, middles(named, (i) => groupOf[levels[place].labels[i]]));
  }
  return finer.get(place);
}

function findCentres() {
  const named = state.colourBy !== "certainty" && state.categories.length > 1; // one name for all says nothing here
  centres = named ? middles(state.categories, (i) => state.styles[i]) : [];
}

function splitName(name, most) {
  const text = shorten(name, 44);
  if (text.length <= most) return [text];
  const breaks = [...text.matchAll(/ /g)].map(({ index }) => [text.slice(0, index), text.slice(index + 1)]);
  const longer = ([a, b]) => Math.max(a.length, b.length);
  return breaks.length ? breaks.reduce((best, one) => (longer(one) < longer(best) ? one : best)) : [text];
}

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

// How many marks lie in cells of 12 pixels, so that names find room beside them.
const CELL = 12;

function crowd() {
  const side = CELL * view.ratio;
  const [wide, high] = [Math.ceil(view.width / side), Math.ceil(view.height / side)];
  const counts = new Uint32Array(wide * high);
  for (let i = 0; i < data.n; i += 1) {
    const [x, y] = [Math.floor((places[2 * i] * view.scale + view.x) / side), Math.floor((places[2 * i + 1] * view.scale + view.y) / side)];
    if (x >= 0 && y >= 0 && x < wide && y < high) counts[y * wide + x] += 1;
  }
  return { counts, wide, high, side };
}

// The share of a box that marks cover.
function covered({ counts, wide, high, side }, box) {
  let [full, all] = [0, 0];
  for (let y = Math.max(0, Math.floor(box[1] / side)); y <= Math.min(high - 1, Math.floor(box[3] / side)); y += 1) {
    for (let x = Math.max(0, Math.floor(box[0] / side)); x <= Math.min(wide - 1, Math.floor(box[2] / side)); x += 1) {
      all += 1;
      if (counts[y * wide + x]) full += 1;
    }
  }
  return all ? full / all : 0;
}

// The best free place for a box of this size near (x, y): little covered, not far away; null if there is none.
function freePlace(x, y, width, height, line, taken, marks, most) {
  const { ratio } = view;
  const boxAt = (cx, cy) => [cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2];
  const free = (box) =>
    box[0] >= 2 && box[2] <= view.width - 2 && box[1] >= view.top + 4 * ratio && box[3] <= view.height - view.bottom - 4 &&
    !taken.some((other) => overlap(box, other)); // prettier-ignore
  let [best, cost] = [null, Infinity];
  const attempt = (box, far) => {
    if (far >= cost || !free(box)) return;
    const hidden = covered(marks, box);
    const total = far + 3 * hidden;
    if (hidden <= most && total < cost) [best, cost] = [box, total];
  };
  const edge = width / 2 + 2;
  attempt(boxAt(clamp(x, edge, Math.max(edge, view.width - edge)), y), 0.4);
  for (const far of PLACES) {
    for (let turn = 0; turn < TURNS; turn += 1) {
      const angle = (turn * 2 * Math.PI) / TURNS - Math.PI / 2;
      const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
      const box = boxAt(x + dx * (width / 2 + far * line), y + dy * (height / 2 + far * line));
      attempt(box, 0.35 * far);
    }
  }
  return best;
}

// Lays out the names for the view; [{lines, size, box, from}] in device pixels.
function placedNames() {
  const most = Math.max(1, ...centres.map(({ size }) => size));
  const deep = view.scale > DEEP * view.first;
  const named = deep && finerNames().length ? finerNames() : centres;
  const narrow = view.width / view.ratio < 600;
  const family = getComputedStyle(document.body).fontFamily;
  const marks = crowd();
  const taken = [];
  const found = [];
  const enough = Math.max(8, (view.width * view.height) / view.ratio ** 2 / ROOM);
  for (const { name, at, size, mark } of named) {
    if (found.length >= enough) break;
    const [x, y] = [at[0] * view.scale + view.x, at[1] * view.scale + view.y];
    if (x < 0 || y < 0 || x > view.width || y > view.height) continue;
    const points = (narrow ? 10.5 : 12) + (narrow ? 3 : named.length > 30 ? 3 : 6) * Math.sqrt(Math.min(1, size / most));
    const font = `600 ${points * view.ratio}px ${family}`;
    over.font = font;
    const lines = splitName(name, narrow ? 14 : 30);
    const line = points * 1.2 * view.ratio;
    const width = Math.max(...lines.map((text) => over.measureText(text).width)) + 10 * view.ratio;
    const height = line * lines.length + 4 * view.ratio;
    const box = freePlace(x, y, width, height, line, taken, marks, found.length < ALL ? 1 : MOST_COVERED);
    if (!box) continue;
    taken.push(box);
    found.push({ lines, font, line, box, from: [x, y], mark });
  }
  return found;
}

function paintNames() {
  const found = placedNames();
  over.textAlign = "center";
  over.textBaseline = "middle";
  const ink = css(colourOf("ink"));
  for (const { box, from } of found) {
    if (from[0] >= box[0] && from[0] <= box[2] && from[1] >= box[1] && from[1] <= box[3]) continue;
    over.beginPath();
    over.moveTo(clamp(from[0], box[0], box[2]), clamp(from[1], box[1], box[3]));
    over.lineTo(...from);
    over.strokeStyle = ink;
    over.lineWidth = 1.1 * view.ratio;
    over.stroke();
    over.beginPath();
    over.arc(...from, 2.6 * view.ratio, 0, 2 * Math.PI);
    over.fillStyle = ink;
    over.fill();
  }
  for (const { lines, font, line, box } of found) {
    over.fillStyle = css(colourOf("stage")).replace(")", " / 84%)");
    over.beginPath();
    over.roundRect(box[0], box[1], box[2] - box[0], box[3] - box[1], 4 * view.ratio);
    over.fill();
    over.font = font;
    over.fillStyle = ink;
    const middle = (box[0] + box[2]) / 2;
    const top = (box[1] + box[3]) / 2 - ((lines.length - 1) * line) / 2;
    lines.forEach((text, i) => over.fillText(text, middle, top + i * line));
  }
}
