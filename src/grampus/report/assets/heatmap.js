// The Gram matrix with its documents in the order of the clusters: blocks on the diagonal are clusters that hold together.
const heat = { paint() {}, name() {} };

function startHeatmap() {
  listen("theme", () => heat.paint());
  listen("groups", () => heat.name());
  showHeatmap();
}

function showHeatmap() {
  byId("similarity").hidden = byId("similarity-link").hidden = !data.heatmap;
  if (!data.heatmap) return;
  const { size, bounds, order, low, high, sampled } = data.heatmap;
  const values = unpack(data.heatmap.values, "u8");
  byId("heatmap-note").textContent =
    `Similarity of ${sampled < data.n ? `${whole.format(sampled)} of ${whole.format(data.n)} documents` : "all documents"}, in the order of their clusters. A block that stands out on the diagonal is a cluster that holds together; a block off the diagonal, two similar clusters.`;
  const canvas = el("canvas", {
    width: size,
    height: size,
    id: "heatmap-canvas",
    role: "img",
    "aria-label": "Heatmap of similarities; the table below says the same in numbers",
  });
  const pen = canvas.getContext("2d");
  const readout = el("p", { class: "quiet readout", id: "heatmap-readout" }, "Point at a block to read it.");
  const lines = draw(
    "svg",
    { viewBox: `0 0 ${size} ${size}`, preserveAspectRatio: "none", class: "bounds", "aria-hidden": "true" },
    bounds
      .slice(1, -1)
      .flatMap((at) => [
        draw("line", { x1: at, x2: at, y1: 0, y2: size }),
        draw("line", { y1: at, y2: at, x1: 0, x2: size }),
      ]),
  );
  const paint = () => {
    const image = pen.createImageData(size, size);
    const scale = Array.from({ length: STEPS }, (_, step) => colourOf(`s${step}`));
    for (let i = 0; i < values.length; i += 1) {
      const place = (values[i] / 255) * (STEPS - 1);
      const [a, b] = [scale[Math.floor(place)], scale[Math.ceil(place)]];
      const share = place % 1;
      for (let c = 0; c < 3; c += 1) image.data[4 * i + c] = a[c] + (b[c] - a[c]) * share;
      image.data[4 * i + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
  };
  const blockOf = (at) => bounds.findIndex((start, i) => i < order.length && at >= start && at < bounds[i + 1]);
  const sumOf = (a, b) => {
    let [sum, cells] = [0, 0];
    for (let row = bounds[a]; row < bounds[a + 1]; row += 1) {
      for (let col = bounds[b]; col < bounds[b + 1]; col += 1) {
        if (row === col) continue;
        sum += values[row * size + col];
        cells += 1;
      }
    }
    return [sum, cells];
  };
  const sums = order.map((_, a) => order.map((__, b) => sumOf(a, b)));
  const say = (value) => (value === null ? "–" : digits(value, 3));
  let blocks = []; // groups of the run's own level, as edited, in the order of the blocks
  let shown = []; // the groups, each once
  let pooled = new Map(); // group → group → [sum, cells] of their blocks
  const pool = () => {
    pooled = new Map(shown.map((one) => [one, new Map(shown.map((other) => [other, [0, 0]]))]));
    blocks.forEach((one, i) =>
      blocks.forEach((other, j) => {
        const into = pooled.get(one).get(other);
        into[0] += sums[i][j][0];
        into[1] += sums[i][j][1];
      }),
    );
  };
  const mean = (one, other) => {
    const [sum, cells] = pooled.get(one).get(other);
    return cells ? low + (sum / cells / 255) * (high - low) : null;
  };
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const [a, b] = [
      blockOf(((event.clientY - box.top) / box.height) * size),
      blockOf(((event.clientX - box.left) / box.width) * size),
    ];
    if (a < 0 || b < 0) return;
    const [one, other] = [blocks[a], blocks[b]];
    const both = one === other ? `inside ${one.name}` : `${one.name} and ${other.name}`;
    readout.textContent = `Mean similarity, ${both}: ${say(mean(one, other))}`;
  });
  const sides = el("div", { class: "block-names" });
  const means = el("details");
  const name = () => {
    const { groups } = groupsAt(data.level);
    const marks = marksOf(data.level);
    for (const group of groups) group.mark = group.none ? OTHER : (marks[group.first] ?? markOf(group.first));
    blocks = order.map((cluster) => groups[cluster < foundCount ? nowOf(cluster) : groups.length - 1] ?? { name: "(gone)", none: true, mark: OTHER });
    shown = [...new Set(blocks)];
    pool();
    sides.replaceChildren(
      ...blocks.map(({ mark, name: words }, block) => {
        const line = el("span", {}, glyph(mark, 10), el("span", { class: "block-name", dir: "auto" }, words));
        line.style.flexGrow = bounds[block + 1] - bounds[block];
        return line;
      }),
    );
    const titles = ["cluster", ...shown.map((other) => shorten(other.name, 18))].map((words, i) => el("th", { scope: "col", class: i ? "number" : null }, words));
    const row = (one) => el("tr", {}, el("th", { scope: "row" }, one.name), shown.map((other) => el("td", { class: "number" }, say(mean(one, other)))));
    const caption = el("caption", {}, "Mean similarity of the documents shown, by cluster");
    means.replaceChildren(el("summary", {}, "The means as a table"), tableIn("Mean similarities of the clusters", titles, shown.map(row), {}, caption));
  };
  const scale = el(
    "div",
    { class: "scale" },
    el("span", {}, digits(low, 2)),
    el("span", { class: "ramp", "aria-hidden": "true" }),
    el("span", {}, `${digits(high, 2)} and more`),
  );
  byId("heatmap").replaceChildren(
    el("div", { class: "heat" }, sides, el("div", { class: "heat-canvas" }, canvas, lines), el("div", { class: "heat-foot" }, scale, readout, means)),
  );
  paint();
  Object.assign(heat, { paint, name });
}
