// Names on the map: beside the marks they name and never on any, larger for larger clusters, with a line where it is far.
let centres = [];
const DEEP = 3; // times the scale at which the names of a level are shown, from which those of the next finer one are
const ROOM = 24000; // square pixels of the map for each name; the others appear as one zooms
const FULL = 12; // up to so many names have their words below them
const ACROSS = clamp(Math.round(Math.sqrt(data.n) / 1.5), 6, 32); // cells of the map in which documents are counted
const MOST_IN = 200; // marks of a dense part to which a name can be tied
const CORE = 0.4; // of the documents around the fullest cell

// Where documents lie densely, the most of them first: the middle, and the marks around it. A name is tied to these and
// not to a stray mark among those of another cluster.
function denseParts(xs, ys) {
  const [side, row] = [(GRID + 1) / ACROSS, ACROSS + 2];
  const at = xs.map((x, i) => Math.floor(x / side) * row + Math.floor(ys[i] / side));
  const counts = new Uint32Array(row * row);
  for (const cell of at) counts[cell] += 1;
  const around = [-row - 1, -row, 1 - row, -1, 0, 1, row - 1, row, row + 1]; // steps to the cells next to one
  const heights = [...new Set(at)].map((cell) => [cell, around.reduce((sum, step) => sum + (counts[cell + step] ?? 0), 0)]);
  const dense = new Map(heights.sort((a, b) => b[1] - a[1]));
  const parts = [];
  for (const [mode, most] of dense) {
    if (most < CORE * heights[0][1]) break;
    if (parts.some(({ core }) => core.has(mode))) continue;
    const core = new Set([mode]);
    for (const cell of core) for (const step of around) if (dense.get(cell + step) >= CORE * most) core.add(cell + step);
    const all = [...xs.keys()].filter((i) => core.has(at[i]));
    const inside = all.filter((_, place) => place % Math.ceil(all.length / MOST_IN) === 0);
    const middle = inside.filter((i) => around.includes(at[i] - mode));
    const mean = (values) => middle.reduce((sum, i) => sum + values[i], 0) / middle.length;
    parts.push({ core, at: [mean(xs), mean(ys)], lists: [xs, ys].map((values) => inside.map((i) => values[i])) });
  }
  return parts;
}

// From at most 1500 documents of each category.
function middles(named, of) {
  const lists = named.map(() => [[], []]);
  const left = Uint32Array.from(named, ({ size }) => size);
  const every = named.map(({ size }) => Math.max(1, Math.floor(size / 1500)));
  for (let i = 0; i < data.n; i += 1) {
    const c = of[i];
    if (!lists[c] || left[c]-- % every[c]) continue;
    lists[c][0].push(places[2 * i]);
    lists[c][1].push(places[2 * i + 1]);
  }
  return named
    .map((one, category) => ({ ...one, category, parts: denseParts(...lists[category]) }))
    .filter(({ parts, name }) => parts.length && name !== "other")
    .sort((a, b) => b.size - a.size);
}

const finer = new Map(); // level → names of its clusters

// The names to be shown, and of which of them a document is.
function namesNow() {
  const deeper = Math.max(0, Math.floor(Math.log(view.scale / view.first) / Math.log(DEEP)));
  const place = Math.min(state.level + deeper, levels.length - 1);
  if (state.colourBy !== "cluster" || place <= state.level) return [centres, state.styles];
  const of = levels[place].labels;
  if (!finer.has(place)) {
    const { groups } = groupsAt(place);
    const sizes = sizesAt(levels[place]);
    const named = groups.map(({ name, words, none, first }) => ({ name: none ? "other" : name, words, size: sizes[first], mark: marksOf(place)[first] }));
    finer.set(place, middles(named, of));
  }
  return [finer.get(place), of];
}

function findCentres() {
  kept.named = {};
  const named = state.colourBy !== "certainty" && state.categories.length > 1; // one name for all says nothing here
  centres = named ? middles(state.categories, state.styles) : [];
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

const farNotes = (data.islets ?? []).map(([x, y, times]) => {
  const around = [...Array(data.n).keys()].filter((i) => Math.hypot(places[2 * i] - x, places[2 * i + 1] - y) < 0.04 * GRID);
  const lists = [0, 1].map((axis) => around.map((i) => places[2 * i + axis]));
  return { name: `drawn ${times}× nearer`, parts: [{ at: [x, y], lists }], small: true };
});

// A rule below a name in the colour of its cluster, as in the legend: [x, y, width, height].
function ruleOf({ parts, box, mark }) {
  const title = parts.findLast(({ quiet }) => !quiet);
  return mark && title ? [(box[0] + box[2] - title.wide) / 2, box[1] + title.y + 0.54 * title.size, title.wide, 2 * view.ratio] : null;
}

// Lays out the names for the view: [{parts: [{text, font, wide, y, quiet}], box, line, mark}] in device pixels.
function* placedNames() {
  const [named, of] = namesNow();
  const most = Math.max(1, ...named.map(({ size }) => size));
  const { ratio } = view;
  const narrow = view.width / ratio < 600;
  const family = getComputedStyle(document.body).fontFamily;
  const marks = yield* crowd(of);
  const found = [];
  const enough = Math.max(8, (view.width * view.height) / ratio ** 2 / ROOM);
  let tried = 0;
  for (const one of [...named, ...farNotes]) {
    if (found.length >= enough || tried > 1.5 * enough) break;
    yield;
    const { name, words, size, small } = one;
    const seen = one.parts.filter(({ at }) => at.every((value, axis) => Math.abs(2 * (value * view.scale + [view.x, view.y][axis]) - [view.width, view.height][axis]) < [view.width, view.height][axis]));
    if (!seen.length) continue;
    tried += 1;
    const points = small ? 11 : (narrow ? 10.5 : 12) + (narrow ? 3 : named.length > 30 ? 3 : 6) * Math.sqrt(Math.min(1, size / most));
    const titles = (narrow ? [14] : [26, 14]).map((wide) => wrapped(name, wide).map((text) => ({ text, size: points, weight: small ? 400 : 600, quiet: small })));
    const below = words?.length && !narrow && named.length <= FULL ? [{ text: words.join(", "), size: Math.max(10.5, 0.7 * points), weight: 400, quiet: true }] : [];
    const forms = below.length ? [[...titles[0], ...below], ...titles] : titles;
    for (const [lines, part] of seen.flatMap((part) => forms.map((lines) => [lines, part]))) {
      let [width, height] = [0, 4 * ratio];
      const parts = lines.map(({ text, size: high, weight, quiet }) => {
        const font = `${weight} ${high * ratio}px ${family}`;
        over.font = font;
        const wide = over.measureText(text).width;
        width = Math.max(width, wide + 8 * ratio);
        height += (1.22 * high + (quiet && !small ? 3 : 0)) * ratio; // below the rule
        return { text, font, wide, size: high * ratio, weight, quiet, y: height - 2 * ratio - 0.61 * high * ratio };
      });
      const place = freePlace(one, part, width, height, marks, found);
      if (!place || (place.line && lines !== titles.at(-1))) continue; // a short name near by rather than a long one far away
      found.push({ parts, ...place, mark: one.mark });
      break;
    }
  }
  return found;
}

function* layNames() {
  const named = { x: view.x, y: view.y, scale: view.scale };
  const steps = placedNames();
  for (let step = steps.next(); isView(named); step = steps.next()) {
    if (step.done) return Object.assign(kept, { names: step.value, named });
    yield;
  }
}

function paintNames() {
  if (!isView(kept.named)) {
    if (data.n <= LARGE) atOnce(layNames());
    else if (!kept.timer && !kept.naming && kept.scale === view.scale) soon("naming", layNames(), paintOverlay);
  }
  const { names: found, named } = kept;
  if (named.scale !== view.scale) return;
  over.save();
  over.translate(view.x - named.x, view.y - named.y);
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
  for (const name of found) {
    const { parts, box, mark } = name;
    const rule = ruleOf(name);
    if (rule) {
      over.fillStyle = css(colourOf(paintOf(mark)));
      over.fillRect(...rule);
    }
    for (const { text, font, y, quiet } of parts) {
      over.font = font;
      over.fillStyle = css(colourOf(quiet ? "quiet" : "ink"));
      over.strokeText(text, (box[0] + box[2]) / 2, box[1] + y);
      over.fillText(text, (box[0] + box[2]) / 2, box[1] + y);
    }
  }
  over.restore();
}
