// Marks as vector drawings (legend, cards) and as stamps of pixels (map), from the same outlines in a 2 × 2 square.
const OUTLINES = {
  square: [
    [-0.8, -0.8],
    [0.8, -0.8],
    [0.8, 0.8],
    [-0.8, 0.8],
  ],
  triangle: [
    [0, -1.05],
    [1.0, 0.75],
    [-1.0, 0.75],
  ],
  diamond: [
    [0, -1.1],
    [1.1, 0],
    [0, 1.1],
    [-1.1, 0],
  ],
  plus: [
    [-0.35, -1],
    [0.35, -1],
    [0.35, -0.35],
    [1, -0.35],
    [1, 0.35],
    [0.35, 0.35],
    [0.35, 1],
    [-0.35, 1],
    [-0.35, 0.35],
    [-1, 0.35],
    [-1, -0.35],
    [-0.35, -0.35],
  ],
  wedge: [
    [0, 1.05],
    [1.0, -0.75],
    [-1.0, -0.75],
  ],
};

function glyph(mark, size = 12) {
  const name = SHAPES[mark.shape];
  const shape =
    name === "circle"
      ? draw("circle", { r: 0.95 })
      : draw("polygon", { points: OUTLINES[name].map((point) => point.join(",")).join(" ") });
  shape.style.fill = `var(--${colourName(mark)})`;
  return draw(
    "svg",
    { viewBox: "-1.2 -1.2 2.4 2.4", width: size, height: size, class: "glyph", "aria-hidden": "true" },
    shape,
  );
}

function inside(name, x, y) {
  if (name === "circle") return x * x + y * y <= 0.9;
  const outline = OUTLINES[name];
  let within = false;
  for (let i = 0, j = outline.length - 1; i < outline.length; j = i, i += 1) {
    const [xi, yi] = outline[i];
    const [xj, yj] = outline[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) within = !within;
  }
  return within;
}

const FINE = 4; // samples across a pixel

// Share of each pixel that a shape of this radius covers, in a square of side 2 * reach + 1.
function coverage(name, radius, reach) {
  const side = 2 * reach + 1;
  const covered = new Float32Array(side * side);
  for (let row = 0; row < side; row += 1) {
    for (let col = 0; col < side; col += 1) {
      let hits = 0;
      for (let a = 0; a < FINE; a += 1) {
        for (let b = 0; b < FINE; b += 1) {
          hits += inside(
            name,
            (col - reach + (a + 0.5) / FINE - 0.5) / radius,
            (row - reach + (b + 0.5) / FINE - 0.5) / radius,
          );
        }
      }
      covered[row * side + col] = hits / (FINE * FINE);
    }
  }
  return covered;
}

// A stamp: for every pixel that it touches, where that is in a picture of this width, what it keeps of the ground (in
// 256ths) and the colour it gets, as blue-green-red bytes. The rim has the colour of the page.
function stampOf(mark, radius, rim, ground, strength, width) {
  const whole = colourOf(colourName(mark));
  const colour = whole.map((value, c) => ground[c] + (value - ground[c]) * strength);
  const reach = Math.ceil(radius * 1.1 + rim);
  const side = 2 * reach + 1;
  const name = SHAPES[mark.shape];
  const body = coverage(name, radius, reach);
  const halo = rim && strength > 0.3 ? coverage(name, radius + rim, reach) : new Float32Array(body.length);
  const touched = [...body.keys()].filter((i) => body[i] > 0 || halo[i] > 0);
  const stamp = {
    reach,
    offset: new Int32Array(touched.length),
    keep: new Int32Array(touched.length),
    add: new Int32Array(touched.length),
  };
  touched.forEach((i, place) => {
    const on = body[i];
    const rest = halo[i] * 0.85 * (1 - on);
    const given = [0, 1, 2].map((c) => Math.floor(ground[c] * rest + colour[c] * on));
    stamp.offset[place] = (Math.floor(i / side) - reach) * width + (i % side) - reach;
    stamp.keep[place] = Math.floor(256 * (1 - on - rest));
    stamp.add[place] = (given[2] << 16) | (given[1] << 8) | given[0];
  });
  return stamp;
}
