// Where a name finds room on the map: what the marks cover, and the best place that is free.
const FARTHEST = 300; // pixels between a name and the middle of its cluster
const LONGEST = 0.12; // of the shorter side: the line from a name to its marks
const ACROSS_MARKS = 4; // radii of it on marks of other clusters
const TURNS = 24;

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

// What the marks cover, in cells of 3 pixels: whether a box is free, and of which category a place is (0 is none).
function* crowd(of) {
  const side = 3 * view.ratio;
  const reach = radius() + view.ratio;
  const [wide, high] = [Math.ceil(view.width / side), Math.ceil(view.height / side)];
  const owners = new Uint32Array(wide * high);
  for (let i = 0; i < data.n; i += 1) {
    if (i % EACH === 0) yield;
    const [x, y] = toScreen(i);
    if (x < -reach || y < -reach || x > view.width + reach || y > view.height + reach) continue;
    const [right, bottom] = [Math.min(wide - 1, Math.floor((x + reach) / side)), Math.min(high - 1, Math.floor((y + reach) / side))];
    for (let row = Math.max(0, Math.floor((y - reach) / side)); row <= bottom; row += 1) {
      for (let col = Math.max(0, Math.floor((x - reach) / side)); col <= right; col += 1) owners[row * wide + col] = of[i] + 1;
    }
  }
  const sums = new Uint32Array((wide + 1) * (high + 1)); // from the corner, so that a box is looked up at once
  for (let row = 1; row <= high; row += 1) {
    for (let col = 1, sum = 0; col <= wide; col += 1) {
      sum += owners[(row - 1) * wide + col - 1] ? 1 : 0;
      sums[row * (wide + 1) + col] = sum + sums[(row - 1) * (wide + 1) + col];
    }
  }
  const cell = (value, most) => clamp(value, 0, most);
  const free = (box) => {
    const [left, right] = [cell(Math.floor(box[0] / side), wide), cell(Math.ceil(box[2] / side), wide)];
    const [top, bottom] = [cell(Math.floor(box[1] / side), high), cell(Math.ceil(box[3] / side), high)];
    const sum = (row, col) => sums[row * (wide + 1) + col];
    return sum(bottom, right) - sum(top, right) - sum(bottom, left) + sum(top, left) === 0;
  };
  const ownerAt = (x, y) => (x < 0 || y < 0 || x >= view.width || y >= view.height ? 0 : owners[Math.floor(y / side) * wide + Math.floor(x / side)]);
  // How much of a line lies on marks of other categories.
  const foreign = ([[ax, ay], [bx, by]], category) => {
    const steps = Math.ceil(Math.hypot(bx - ax, by - ay) / side);
    let seen = 0;
    for (let t = 0; t < steps; t += 1) {
      const owner = ownerAt(ax + ((bx - ax) * t) / steps, ay + ((by - ay) * t) / steps);
      if (owner && owner !== category + 1) seen += 1;
    }
    return seen * side;
  };
  return { free, foreign };
}

const crosses = ([a, b], [c, d]) => {
  const turn = (p, q, r) => Math.sign((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]));
  return turn(a, b, c) !== turn(a, b, d) && turn(c, d, a) !== turn(c, d, b);
};

const meets = (line, [left, top, right, bottom]) =>
  crosses(line, [[left, top], [right, bottom]]) || crosses(line, [[left, bottom], [right, top]]); // prettier-ignore

// The lines around a box, a little away from it.
function hem([left, top, right, bottom], away) {
  const corners = [[left - away, top - away], [right + away, top - away], [right + away, bottom + away], [left - away, bottom + away]]; // prettier-ignore
  return corners.map((corner, i) => [corner, corners[(i + 1) % 4]]);
}

// The place for a box of this size that hides no mark, name or line, nearest to the marks it names and not next to
// others, and the line to the marks where they are not next to it: {box, line}, or null if there is none.
function freePlace({ category, small }, { at, lists }, width, height, { free, foreign }, found) {
  const { ratio } = view;
  const longest = LONGEST * Math.min(view.width, view.height);
  const [x, y] = [at[0] * view.scale + view.x, at[1] * view.scale + view.y];
  const ends = (values, from) => [Math.min, Math.max].map((end) => values.reduce((a, b) => end(a, b), values[0]) * view.scale + from);
  const [[left, right], [top, bottom]] = [ends(lists[0], view.x), ends(lists[1], view.y)];
  let [best, cost] = [null, Infinity];
  for (let far = 4 * ratio; far < Math.min(4 * cost, FARTHEST * ratio); far += 7 * ratio) {
    for (let turn = 0; turn < TURNS; turn += 1) {
      const angle = (turn * 2 * Math.PI) / TURNS;
      const [cx, cy] = [x + Math.cos(angle) * (width / 2 + far), y + Math.sin(angle) * (height / 2 + far)];
      const box = [cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2];
      if (box[0] < 2 || box[2] > view.width - 2 || box[1] < view.top + 4 * ratio || box[3] > view.height - view.bottom - 4) continue;
      const gap = Math.hypot(Math.max(left - box[2], box[0] - right, 0), Math.max(top - box[3], box[1] - bottom, 0)); // no mark is nearer
      if (gap > longest || 0.25 * far + gap > cost) continue;
      if (!free(box) || found.some((other) => overlap(box, other.box) || (other.line && meets(other.line, box)))) continue;
      const beside = hem(box, 9 * ratio).reduce((sum, side) => sum + foreign(side, category), 0);
      const total = 0.25 * far + 0.15 * beside;
      if (total > cost) continue;
      const [near, nearest] = nearestOf(box, lists);
      const line = near > radius() + (small ? 1 : 12) * ratio ? nearest : null;
      const over = line ? foreign(line, category) : 0;
      if (total + near + 3 * over > cost || near > longest || over > ACROSS_MARKS * radius()) continue;
      if (line && found.some((other) => meets(line, other.box) || (other.line && crosses(line, other.line)))) continue;
      [best, cost] = [{ box, line }, total + near + 3 * over];
    }
  }
  return best;
}

// How far the nearest of these marks is from a box, and the line between them.
function nearestOf([left, top, right, bottom], [xs, ys]) {
  const { scale, x: dx, y: dy } = view;
  let [near, best] = [Infinity, 0];
  for (let i = 0; i < xs.length; i += 1) {
    const [x, y] = [xs[i] * scale + dx, ys[i] * scale + dy];
    const [across, down] = [Math.max(left - x, x - right, 0), Math.max(top - y, y - bottom, 0)];
    const far = across * across + down * down;
    if (far < near) [near, best] = [far, i];
  }
  const [x, y] = [xs[best] * scale + dx, ys[best] * scale + dy];
  return [Math.sqrt(near), [[clamp(x, left, right), clamp(y, top, bottom)], [x, y]]];
}
