// Where the documents of a category are dense: contours on a grid over the map, as closed paths in units of the map.
const RISES = [0.16, 0.4, 0.7]; // of the highest density of a category
const FIELD = clamp(Math.round(4 * Math.sqrt(data.n)), 32, 128); // cells across the map
const PASSES = 3; // of the blur, each of one cell
const ALONE = (924 / 4096) ** 2; // the height of a single document after them
const MARGIN = 2 * PASSES + 1;
let cellsOf = null; // the cell of every document, across and down
let contours = null; // of every category: paths from the outermost to the innermost

// The segments of a contour in a cell, from side to side (top, right, bottom, left), by the corners that lie above it.
const SEGMENTS = [[], [[3, 0]], [[0, 1]], [[3, 1]], [[1, 2]], [[3, 0], [1, 2]], [[0, 2]], [[3, 2]], [[2, 3]], [[2, 0]], [[0, 1], [2, 3]], [[2, 1]], [[1, 3]], [[1, 0]], [[0, 3]], []]; // prettier-ignore

// The margin is empty and wider than the blur, so that nothing reaches the next row.
function blur(field, wide) {
  for (let pass = 0; pass < PASSES; pass += 1) {
    for (const step of [1, wide]) {
      const old = field.slice();
      for (let i = 2 * step; i < field.length - 2 * step; i += 1) {
        field[i] = (old[i - 2 * step] + old[i + 2 * step] + 4 * (old[i - step] + old[i + step]) + 6 * old[i]) / 16;
      }
    }
  }
}

// Closed lines around what lies above a level.
function ringsOf(field, wide, high, level) {
  const next = new Map();
  const is = (corner) => (field[corner] > level ? 1 : 0);
  const crossing = (i, j) => (level - field[i]) / (field[j] - field[i]);
  for (let y = 0; y + 1 < high; y += 1) {
    for (let x = 0; x + 1 < wide; x += 1) {
      const at = y * wide + x;
      const above = is(at) | (is(at + 1) << 1) | (is(at + wide + 1) << 2) | (is(at + wide) << 3);
      if (!SEGMENTS[above].length) continue;
      const sides = [2 * at, 2 * (at + 1) + 1, 2 * (at + wide), 2 * at + 1];
      const points = [
        () => [x + crossing(at, at + 1), y],
        () => [x + 1, y + crossing(at + 1, at + wide + 1)],
        () => [x + crossing(at + wide, at + wide + 1), y + 1],
        () => [x, y + crossing(at, at + wide)],
      ];
      for (const [from, to] of SEGMENTS[above]) next.set(sides[from], [sides[to], points[from]()]);
    }
  }
  const rings = [];
  while (next.size) {
    const ring = [];
    let [side] = next.keys();
    while (next.has(side)) {
      const [to, point] = next.get(side);
      next.delete(side);
      ring.push(point);
      side = to;
    }
    if (ring.length > 3) rings.push(ring);
  }
  return rings;
}

function contourPath(rings, place) {
  const middle = ([ax, ay], [bx, by]) => place((ax + bx) / 2, (ay + by) / 2);
  return rings
    .map((ring) => {
      const ahead = (i) => ring[(i + 1) % ring.length];
      return `M${middle(ring.at(-1), ring[0])}${ring.map((point, i) => `Q${place(...point)} ${middle(point, ahead(i))}`).join("")}Z`;
    })
    .join("");
}

function findContours() {
  const side = GRID / FIELD;
  const { styles } = state;
  const bounds = state.categories.map(() => [FIELD, FIELD, -1, -1]);
  const cells = (cellsOf ??= places.map((place) => Math.floor(place / side)));
  for (let i = 0; i < data.n; i += 1) {
    const bound = bounds[styles[i]];
    const x = cells[2 * i];
    const y = cells[2 * i + 1];
    if (x < bound[0]) bound[0] = x;
    if (y < bound[1]) bound[1] = y;
    if (x > bound[2]) bound[2] = x;
    if (y > bound[3]) bound[3] = y;
  }
  const fields = bounds.map(([left, top, right, bottom], style) => {
    const [wide, high] = [right - left + 1 + 2 * MARGIN, bottom - top + 1 + 2 * MARGIN];
    return right < 0 ? null : { left: left - MARGIN, top: top - MARGIN, wide, high, mark: state.categories[style].mark, field: new Float32Array(wide * high) };
  });
  for (let i = 0; i < data.n; i += 1) {
    const one = fields[styles[i]];
    one.field[(cells[2 * i + 1] - one.top) * one.wide + cells[2 * i] - one.left] += 1;
  }
  contours = fields.map((one) => {
    if (!one || one.mark.name) return [];
    const { left, top, wide, high, field } = one;
    blur(field, wide);
    const most = field.reduce((a, b) => Math.max(a, b), 0);
    const place = (x, y) => `${Math.round((x + left + 0.5) * side)} ${Math.round((y + top + 0.5) * side)}`;
    return RISES.map((rise) => {
      const path = contourPath(ringsOf(field, wide, high, Math.max(rise * most, 1.05 * ALONE)), place);
      return { path, drawn: new Path2D(path) };
    });
  });
}

// One category has none: in documents without groups they would show some.
const hasContours = () => state.colourBy !== "certainty" && state.categories.length > 1;

function inMapUnits(into, paint) {
  into.save();
  into.setTransform(view.scale, 0, 0, view.scale, view.x, view.y);
  into.lineJoin = "round";
  paint();
  into.restore();
}

function paintContours(into) {
  if (!hasContours()) return;
  if (!contours) findContours();
  inMapUnits(into, () => {
    into.lineWidth = view.ratio / view.scale;
    contours.forEach((paths, style) => {
      const colour = colourOf(paintOf(state.categories[style].mark));
      into.fillStyle = css(colour, 0.07);
      into.strokeStyle = css(colour, 0.3);
      for (const { drawn } of paths) {
        into.fill(drawn);
        into.stroke(drawn);
      }
    });
  });
}

// Around the category of the document that is pointed at.
function paintOutline(into, style) {
  if (!hasContours() || !contours?.[style]?.length) return;
  inMapUnits(into, () => {
    into.lineWidth = (2 * view.ratio) / view.scale;
    into.strokeStyle = css(colourOf(paintOf(state.categories[style].mark)));
    into.stroke(contours[style][0].drawn);
  });
}
