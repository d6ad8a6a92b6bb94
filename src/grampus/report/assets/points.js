// The marks on the map, stamped into a buffer of pixels: a hundred thousand take a few dozen milliseconds.
const GRID = 65535;
const places = unpack(data.positions, "u16");
const points = byId("points");
// It is written as pixels, so it is kept where pixels are.
const penOf = (canvas) => canvas.getContext("2d", { alpha: false, willReadFrequently: true });
const pen = penOf(points);
const view = { scale: 1, x: 0, y: 0, width: 0, height: 0, ratio: 1, top: 0, bottom: 0 };
let stamps = null;

// How much of its colour a mark keeps: what is not active, then unsure to sure.
const STRENGTHS = [0.2, 0.42, 0.68, 1];
const strengthOf = (sure) => (clusterCount < 2 || sure > 0.3 * surest ? 3 : sure > 0.12 * surest ? 2 : 1);
const strengths = new Uint8Array(certainty.map(strengthOf));

const toScreen = (i) => [places[2 * i] * view.scale + view.x, places[2 * i + 1] * view.scale + view.y];
const fitScale = () => (Math.min(view.width, view.height) * 0.9) / GRID;

// The extent of the marks need not be square; fill the stage with it.
const extent = (() => {
  const low = [GRID, GRID];
  const high = [0, 0];
  for (let i = 0; i < places.length; i += 1) {
    low[i & 1] = Math.min(low[i & 1], places[i]);
    high[i & 1] = Math.max(high[i & 1], places[i]);
  }
  return { low, high };
})();

function showAll() {
  const [width, height] = [0, 1].map((axis) => Math.max(1, extent.high[axis] - extent.low[axis]));
  const margin = 30 * view.ratio;
  const high = view.height - view.top - view.bottom; // between the buttons
  view.scale = Math.min((view.width - 2 * margin) / width, (high - 2 * margin) / height);
  if (!(view.scale > 0) || data.n < 2) view.scale = fitScale();
  view.x = view.width / 2 - (extent.low[0] + width / 2) * view.scale;
  view.y = view.top + high / 2 - (extent.low[1] + height / 2) * view.scale;
  view.first = view.scale;
  view.whole = true; // until it is moved
}

// What the buttons and the hint cover, above and below, in device pixels.
function findEdges() {
  const stage = byId("stage").getBoundingClientRect();
  const [tools, ...low] = [".stage-tools", ".stage-out", "#wheel-hint"].map((name) => document.querySelector(name).getBoundingClientRect());
  const below = low.filter(({ top, height }) => height && top - stage.top > stage.height / 2).map(({ top }) => stage.bottom - top);
  view.top = (tools.bottom - stage.top) * view.ratio;
  view.bottom = Math.max(0, ...below) * view.ratio;
}

function radius() {
  const zoom = view.scale / fitScale();
  const base = data.n < 400 ? 5 : data.n < 3000 ? 4 : data.n < 12000 ? 3.2 : data.n < 40000 ? 2.5 : 1.8;
  const room = data.room ? Math.max(2, (0.48 * data.room * view.scale) / view.ratio) : Infinity; // none hides another
  return Math.min(clamp(base * Math.pow(zoom, 0.3), base * 0.8, 8), room) * view.ratio;
}

function resize() {
  const box = points.getBoundingClientRect();
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const [width, height] = [Math.max(1, Math.round(box.width * ratio)), Math.max(1, Math.round(box.height * ratio))];
  if (width === view.width && height === view.height) return false;
  const first = view.width === 0;
  const middle = [(view.width / 2 - view.x) / view.scale, (view.height / 2 - view.y) / view.scale];
  Object.assign(view, { width, height, ratio });
  for (const canvas of [points, byId("overlay"), kept.pen.canvas, kept.next.canvas]) Object.assign(canvas, { width, height });
  forgetPicture();
  kept.named = {};
  findEdges();
  if (first || view.whole) showAll();
  else [view.x, view.y] = [width / 2 - middle[0] * view.scale, height / 2 - middle[1] * view.scale];
  return true;
}

function stampsNow() {
  const size = Math.round(radius() * 4) / 4;
  if (stamps?.size !== size) stamps = { size, kept: STRENGTHS.map(() => []) };
  return stamps;
}

function stampFor({ size, kept }, style, strength) {
  const made = kept[strength];
  if (!made[style]) {
    const rim = size > 2.2 * view.ratio ? 0.9 * view.ratio : 0;
    const { mark } = state.categories[style];
    made[style] = stampOf(mark, size, rim, colourOf("stage"), STRENGTHS[strength], view.width);
  }
  return made[style];
}

// Blend a stamp into the pixels around a place; red and blue are done in one multiplication.
function press(pixels, { offset, keep, add }, centre) {
  for (let i = 0; i < offset.length; i += 1) {
    const to = centre + offset[i];
    const old = pixels[to];
    const redBlue = (Math.imul(old & 0xff00ff, keep[i]) >>> 8) & 0xff00ff;
    const green = Math.imul((old >>> 8) & 0xff, keep[i]) & 0xff00;
    pixels[to] = (0xff000000 | (redBlue + green + add[i])) >>> 0;
  }
}

// Stamp marks; those that were inside before all moved by (dx, dy) are there.
function pressSome(pixels, { stamps: own, scale, x, y, dx, dy }, want, from) {
  const { width, height } = view;
  const even = state.colourBy === "certainty";
  const edge = stampFor(own, 0, 3).reach + 1; // marks that the edge would cut are left out
  const [right, bottom] = [width - edge, height - edge];
  for (let i = from; i < Math.min(from + EACH, data.n); i += 1) {
    if (shownNow !== null && Boolean(shownNow[i]) !== want) continue;
    const px = Math.round(places[2 * i] * scale + x);
    const py = Math.round(places[2 * i + 1] * scale + y);
    if (px < edge || py < edge || px >= right || py >= bottom) continue;
    if (px - dx >= edge && py - dy >= edge && px - dx < right && py - dy < bottom) continue;
    press(pixels, stampFor(own, state.styles[i], want ? (even ? 3 : strengths[i]) : 0), py * width + px);
  }
}

function* pressAll(into, { x, y } = view, dx = view.width, dy = view.height) {
  const buffer = into.getImageData(0, 0, view.width, view.height);
  const pixels = new Uint32Array(buffer.data.buffer);
  const how = { stamps: stampsNow(), scale: view.scale, x, y, dx, dy };
  for (const want of shownNow === null ? [true] : [false, true]) {
    for (let i = 0; i < data.n; i += EACH) {
      pressSome(pixels, how, want, i);
      yield;
    }
  }
  into.putImageData(buffer, 0, 0);
}

function* drawAll(into) {
  into.fillStyle = css(colourOf("stage"));
  into.fillRect(0, 0, view.width, view.height);
  paintContours(into);
  yield* pressAll(into);
}

// Of a large map a picture is kept. It moves and grows with the view, and the marks that come in are added to it; when
// the map rests or is zoomed, another is drawn beside it. The names move with it and are laid out anew when it rests.
const LARGE = 5000;
const SLICE = 12; // milliseconds
const EACH = 4096; // documents between looks at the clock
const kept = { pen: penOf(el("canvas")), next: penOf(el("canvas")), x: 0, y: 0, scale: 0, whole: false, stamping: 0, names: [], named: {}, naming: 0, timer: 0 };
const isView = (at) => ["x", "y", "scale"].every((name) => at[name] === view[name]);

// For when there are other marks, colours or sizes.
function forgetPicture() {
  stamps = null;
  for (const name of ["stamping", "naming"]) clearTimeout(kept[name]);
  Object.assign(kept, { scale: 0, stamping: 0, naming: 0 });
}

function* keepPicture() {
  const { x, y, scale } = view;
  yield* drawAll(kept.next);
  Object.assign(kept, { pen: kept.next, next: kept.pen, x, y, scale, whole: true });
}

function atOnce(steps) {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

// Take steps in tasks so short that nothing waits for them; the next of these is kept by its name.
function soon(name, steps, then) {
  kept[name] = setTimeout(() => {
    const end = performance.now() + SLICE;
    let { done } = steps.next();
    while (!done && performance.now() < end) ({ done } = steps.next());
    kept[name] = 0;
    if (done) then();
    else soon(name, steps, then);
  });
}

let shownNow = null; // what is active, worked out when it changes and not for every frame

function paintPoints() {
  if (data.n <= LARGE) return atOnce(drawAll(pen));
  if (!kept.scale) atOnce(keepPicture());
  const grown = view.scale / kept.scale;
  const [dx, dy] = ["x", "y"].map((name) => Math.round(view[name] - kept[name] * grown));
  pen.fillStyle = css(colourOf("stage"));
  pen.fillRect(0, 0, view.width, view.height);
  pen.drawImage(kept.pen.canvas, dx, dy, view.width * grown, view.height * grown);
  if (grown === 1 && (dx || dy)) {
    Object.assign(kept, { x: kept.x + dx, y: kept.y + dy, whole: false });
    atOnce(pressAll(pen, kept, dx, dy));
    kept.pen.drawImage(points, 0, 0);
  }
  const ready = kept.stamping || (kept.whole && isView(kept));
  if (!ready && (!kept.timer || grown !== 1)) soon("stamping", keepPicture(), refresh);
}

// Documents by cells of 512 grid units, to find the one under the pointer.
const CELLS = 128;
const cellOf = (i) => (places[2 * i + 1] >> 9) * CELLS + (places[2 * i] >> 9);
const cells = (() => {
  const ends = new Uint32Array(CELLS * CELLS + 1);
  for (let i = 0; i < data.n; i += 1) ends[cellOf(i) + 1] += 1;
  for (let c = 0; c < CELLS * CELLS; c += 1) ends[c + 1] += ends[c];
  const next = ends.slice();
  const members = new Uint32Array(data.n);
  for (let i = 0; i < data.n; i += 1) members[next[cellOf(i)]++] = i;
  return { ends, members };
})();

// The nearest document within `reach` device pixels of a place on the screen, or -1; faded ones are not found.
function nearest(sx, sy, reach) {
  const [gx, gy, r] = [(sx - view.x) / view.scale, (sy - view.y) / view.scale, reach / view.scale];
  const cell = (value) => clamp(Math.floor(value / 512), 0, CELLS - 1);
  let [best, distance] = [-1, r * r];
  for (let row = cell(gy - r); row <= cell(gy + r); row += 1) {
    for (let col = cell(gx - r); col <= cell(gx + r); col += 1) {
      const c = row * CELLS + col;
      for (let m = cells.ends[c]; m < cells.ends[c + 1]; m += 1) {
        const i = cells.members[m];
        const d = (places[2 * i] - gx) ** 2 + (places[2 * i + 1] - gy) ** 2;
        if (d <= distance && (shownNow === null || shownNow[i])) [best, distance] = [i, d];
      }
    }
  }
  return best;
}
