// Names on the map: beside the marks they name and never on any, larger for larger clusters, with a line where it is far.
let centres = [];
const DEEP = 3; // times the scale at which the names of a level are shown, from which those of the next finer one are
const FARTHEST = 300; // pixels between a name and its cluster
const TURNS = 24;
const ROOM = 24000; // square pixels of the map for each name; the others appear as one zooms
const FULL = 12; // up to so many names have their words below them

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
    .map((one, k) => ({ ...one, lists: lists[k], at: lists[k][0].length ? denseMiddle(...lists[k]) : null }))
    .filter(({ at, name }) => at && name !== "other")
    .sort((a, b) => b.size - a.size);
}

const finer = new Map(); // level → names of its clusters

function namesNow() {
  const deeper = Math.max(0, Math.floor(Math.log(view.scale / view.first) / Math.log(DEEP)));
  const place = Math.min(state.level + deeper, levels.length - 1);
  if (state.colourBy !== "cluster" || place <= state.level) return centres;
  if (!finer.has(place)) {
    const { groups } = groupsAt(place);
    const sizes = sizesAt(levels[place]);
    const named = groups.map(({ name, words, none, first }) => ({ name: none ? "other" : name, words, size: sizes[first] }));
    finer.set(place, middles(named, (i) => levels[place].labels[i]));
  }
  return finer.get(place);
}

function findCentres() {
  const named = state.colourBy !== "certainty" && state.categories.length > 1; // one name for all says nothing here
  centres = named ? middles(state.categories, (i) => state.styles[i]) : [];
}

// A name in lines of about the same length, whole.
function wrapped(name, most) {
  const limit = Math.ceil(name.length / Math.ceil(name.length / most)) + 3;
  const lines = [];
  for (const word of name.split(" ")) {
    const last = lines.length - 1;
    if (last >= 0 && lines[last].length + word.length < limit) lines[last] += ` ${word}`;
    else lines.push(word);
  }
  return lines;
}

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

// Which cells of 3 pixels the marks cover, summed from the corner, so that a box is looked up at once.
function crowd() {
  const side = 3 * view.ratio;
  const reach = radius() + view.ratio;
  const [wide, high] = [Math.ceil(view.width / side), Math.ceil(view.height / side)];
  const sums = new Uint32Array((wide + 1) * (high + 1));
  for (let i = 0; i < data.n; i += 1) {
    const [x, y] = [places[2 * i] * view.scale + view.x, places[2 * i + 1] * view.scale + view.y];
    if (x < -reach || y < -reach || x > view.width + reach || y > view.height + reach) continue;
    const [right, bottom] = [Math.min(wide - 1, Math.floor((x + reach) / side)), Math.min(high - 1, Math.floor((y + reach) / side))];
    for (let row = Math.max(0, Math.floor((y - reach) / side)); row <= bottom; row += 1) {
      for (let col = Math.max(0, Math.floor((x - reach) / side)); col <= right; col += 1) sums[(row + 1) * (wide + 1) + col + 1] = 1;
    }
  }
  for (let row = 1; row <= high; row += 1) {
    for (let col = 1, sum = 0; col <= wide; col += 1) {
      sum += sums[row * (wide + 1) + col];
      sums[row * (wide + 1) + col] = sum + sums[(row - 1) * (wide + 1) + col];
    }
  }
  const cell = (value, most) => clamp(value, 0, most);
  return (box) => {
    const [left, right] = [cell(Math.floor(box[0] / side), wide), cell(Math.ceil(box[2] / side), wide)];
    const [top, bottom] = [cell(Math.floor(box[1] / side), high), cell(Math.ceil(box[3] / side), high)];
    const sum = (row, col) => sums[row * (wide + 1) + col];
    return sum(bottom, right) - sum(top, right) - sum(bottom, left) + sum(top, left) === 0;
  };
}

const crosses = ([a, b], [c, d]) => {
  const turn = (p, q, r) => Math.sign((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]));
  return turn(a, b, c) !== turn(a, b, d) && turn(c, d, a) !== turn(c, d, b);
};

// The place for a box of this size around (x, y) that hides no mark and no other name, nearest to the marks it names;
// null if there is none.
function freePlace(x, y, width, height, free, found, lists) {
  const { ratio, hint } = view;
  let [best, cost] = [null, Infinity];
  for (let far = 4 * ratio; far < Math.min(4 * cost, FARTHEST * ratio); far += 7 * ratio) {
    for (let turn = 0; turn < TURNS; turn += 1) {
      const angle = (turn * 2 * Math.PI) / TURNS;
      const [cx, cy] = [x + Math.cos(angle) * (width / 2 + far), y + Math.sin(angle) * (height / 2 + far)];
      const box = [cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2];
      if (box[0] < 2 || box[2] > view.width - 2 || box[1] < view.top + 4 * ratio || box[3] > view.height - view.bottom - 4) continue;
      if (!free(box) || overlap(box, hint) || found.some((other) => overlap(box, other.box))) continue;
      const line = [[clamp(x, box[0], box[2]), clamp(y, box[1], box[3])], [x, y]]; // prettier-ignore
      const crossed = found.filter((other) => other.line && crosses(line, other.line)).length;
      const total = 0.25 * far + 90 * crossed * ratio;
      if (total < cost) {
        const [near] = nearestOf(box, lists, Math.ceil(lists[0].length / 80));
        if (total + near < cost) [best, cost] = [box, total + near];
      }
    }
  }
  return best;
}

// How far the nearest of these marks is from a box, and the line between them.
function nearestOf(box, [xs, ys], every) {
  let [near, line] = [Infinity, null];
  for (let i = 0; i < xs.length; i += every) {
    const [x, y] = [xs[i] * view.scale + view.x, ys[i] * view.scale + view.y];
    const from = [clamp(x, box[0], box[2]), clamp(y, box[1], box[3])];
    const far = Math.hypot(x - from[0], y - from[1]);
    if (far < near) [near, line] = [far, [from, [x, y]]];
  }
  return [near, line];
}

// From a name to the nearest mark of its cluster; null where that is next to it.
function leader(box, lists, least) {
  const [near, line] = nearestOf(box, lists, 1);
  return near > radius() + least * view.ratio ? line : null;
}

const farNotes = (data.islets ?? []).map(([x, y, times]) => ({ name: `drawn ${times}× nearer`, at: [x, y], lists: [[x], [y]], small: true }));

// Lays out the names for the view: [{parts: [{text, font, y, quiet}], box, line}] in device pixels.
function placedNames() {
  const named = namesNow();
  const most = Math.max(1, ...named.map(({ size }) => size));
  const { ratio } = view;
  const narrow = view.width / ratio < 600;
  const family = getComputedStyle(document.body).fontFamily;
  const free = crowd();
  const found = [];
  const enough = Math.max(8, (view.width * view.height) / ratio ** 2 / ROOM);
  let tried = 0;
  for (const { name, words, at, lists, size, small } of [...named, ...farNotes]) {
    if (found.length >= enough || tried > 1.5 * enough) break;
    const [x, y] = [at[0] * view.scale + view.x, at[1] * view.scale + view.y];
    if (x < 0 || y < 0 || x > view.width || y > view.height) continue;
    tried += 1;
    const points = small ? 11 : (narrow ? 10.5 : 12) + (narrow ? 3 : named.length > 30 ? 3 : 6) * Math.sqrt(Math.min(1, size / most));
    const title = wrapped(name, narrow ? 14 : 26).map((text) => ({ text, size: points, weight: small ? 400 : 600, quiet: small }));
    const below = words?.length && !narrow && named.length <= FULL ? [{ text: words.join(", "), size: Math.max(10.5, 0.7 * points), weight: 400, quiet: true }] : [];
    for (const lines of below.length ? [[...title, ...below], title] : [title]) {
      let [width, height] = [0, 4 * ratio];
      const parts = lines.map(({ text, size: high, weight, quiet }) => {
        const font = `${weight} ${high * ratio}px ${family}`;
        over.font = font;
        width = Math.max(width, over.measureText(text).width + 8 * ratio);
        height += 1.22 * high * ratio;
        return { text, font, size: high * ratio, weight, quiet, y: height - 2 * ratio - 0.61 * high * ratio };
      });
      const box = freePlace(x, y, width, height, free, found, lists);
      const line = box && leader(box, lists, small ? 1 : 12);
      if (!box || (line && lines !== title)) continue; // a short name near by rather than a long one far away
      found.push({ parts, box, line });
      break;
    }
  }
  return found;
}

function paintNames() {
  const found = rests() ? placedNames() : kept.names;
  kept.names = found;
  over.save();
  if (!rests()) over.translate(view.x - kept.x, view.y - kept.y);
  Object.assign(over, { textAlign: "center", textBaseline: "middle", lineJoin: "round" });
  over.strokeStyle = css(colourOf("quiet"));
  over.lineWidth = view.ratio;
  for (const { line } of found) {
    if (!line) continue;
    over.beginPath();
    over.moveTo(...line[0]);
    over.lineTo(...line[1]);
    over.stroke();
  }
  over.strokeStyle = css(colourOf("stage"), 0.85);
  over.lineWidth = 3 * view.ratio;
  for (const { parts, box } of found) {
    for (const { text, font, y, quiet } of parts) {
      over.font = font;
      over.fillStyle = css(colourOf(quiet ? "quiet" : "ink"));
      over.strokeText(text, (box[0] + box[2]) / 2, box[1] + y);
      over.fillText(text, (box[0] + box[2]) / 2, box[1] + y);
    }
  }
  over.restore();
}
