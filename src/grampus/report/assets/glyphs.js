// A round mark, as a vector drawing (legend, cards) and as a stamp of pixels (map).
const glyphs = new Map(); // to be copied: a page has hundreds of a few kinds

function glyph(mark, size = 12) {
  const key = `${size} ${paintOf(mark)}`;
  if (!glyphs.has(key)) {
    const dot = draw("circle", { r: 0.95 });
    dot.style.fill = paintOf(mark);
    glyphs.set(key, draw("svg", { viewBox: "-1.2 -1.2 2.4 2.4", width: size, height: size, class: "glyph", "aria-hidden": "true" }, dot));
  }
  return glyphs.get(key).cloneNode(true);
}

// A stamp: for every pixel that it touches, where that is in a picture of this width, what it keeps of the ground (in
// 256ths) and the colour it gets, as blue-green-red bytes. The rim has the colour of the page.
function stampOf(mark, radius, rim, ground, strength, width) {
  const whole = colourOf(paintOf(mark));
  const colour = whole.map((value, c) => ground[c] + (value - ground[c]) * strength);
  const reach = Math.ceil(radius + rim + 0.5);
  const [offset, keep, add] = [[], [], []];
  for (let row = -reach; row <= reach; row += 1) {
    for (let col = -reach; col <= reach; col += 1) {
      const far = Math.hypot(row, col);
      const on = clamp(radius + 0.5 - far, 0, 1);
      const halo = rim && strength > 0.3 ? clamp(radius + rim + 0.5 - far, 0, 1) : 0;
      if (!on && !halo) continue;
      const rest = halo * 0.85 * (1 - on);
      const given = [0, 1, 2].map((c) => Math.floor(ground[c] * rest + colour[c] * on));
      offset.push(row * width + col);
      keep.push(Math.floor(256 * (1 - on - rest)));
      add.push((given[2] << 16) | (given[1] << 8) | given[0]);
    }
  }
  return { reach, offset: Int32Array.from(offset), keep: Int32Array.from(keep), add: Int32Array.from(add) };
}
