// The Gram matrix with its documents in the order of the clusters: blocks on the diagonal are clusters that hold together.
function startHeatmap() {
  if (!data.heatmap) {
    byId("similarity").hidden = true;
    byId("similarity-link").hidden = true;
    return;
  }
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
  const mean = (a, b) => {
    let [sum, cells] = [0, 0];
    for (let row = bounds[a]; row < bounds[a + 1]; row += 1) {
      for (let col = bounds[b]; col < bounds[b + 1]; col += 1) {
        if (row === col) continue;
        sum += values[row * size + col];
        cells += 1;
      }
    }
    return cells ? low + (sum / cells / 255) * (high - low) : null;
  };
  const say = (value) => (value === null ? "–" : digits(value, 3));
  let blocks = []; // groups of the run's own level, in the order of the blocks
  const nameOfBlock = (block) => blocks[block]?.name;
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const [a, b] = [
      blockOf(((event.clientY - box.top) / box.height) * size),
      blockOf(((event.clientX - box.left) / box.width) * size),
    ];
    if (a < 0 || b < 0) return;
    const both = a === b ? `inside ${nameOfBlock(a)}` : `${nameOfBlock(a)} and ${nameOfBlock(b)}`;
    readout.textContent = `Mean similarity, ${both}: ${say(mean(a, b))}`;
  });
  const sides = el("div", { class: "block-names" });
  const table = el("div", {
    class: "scroll",
    tabindex: 0,
    role: "region",
    "aria-label": "Mean similarities of the clusters",
  });
  const means = order.map((_, a) => order.map((__, b) => mean(a, b)));
  const name = () => {
    if (!isOwnLevel()) return;
    blocks = order.map((cluster) => state.groups[state.groupOf[cluster]]);
    sides.replaceChildren(
      ...blocks.map(({ mark }, block) => {
        const line = el(
          "span",
          {},
          glyph(mark, 10),
          el("span", { class: "block-name", dir: "auto" }, nameOfBlock(block)),
        );
        line.style.flexGrow = bounds[block + 1] - bounds[block];
        return line;
      }),
    );
    table.replaceChildren(
      el(
        "table",
        {},
        el("caption", {}, "Mean similarity of the documents shown, by cluster"),
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th", { scope: "col" }, "cluster"),
            order.map((_, b) => el("th", { scope: "col", class: "number" }, shorten(nameOfBlock(b), 18))),
          ),
        ),
        el(
          "tbody",
          {},
          order.map((_, a) =>
            el(
              "tr",
              {},
              el("th", { scope: "row" }, nameOfBlock(a)),
              order.map((__, b) => el("td", { class: "number" }, say(means[a][b]))),
            ),
          ),
        ),
      ),
    );
  };
  const scale = el(
    "div",
    { class: "scale" },
    el("span", {}, digits(low, 2)),
    el("span", { class: "ramp", "aria-hidden": "true" }),
    el("span", {}, `${digits(high, 2)} and more`),
  );
  byId("heatmap").append(
    el(
      "div",
      { class: "heat" },
      sides,
      el("div", { class: "heat-canvas" }, canvas, lines),
      el(
        "div",
        { class: "heat-foot" },
        scale,
        readout,
        el("details", {}, el("summary", {}, "The means as a table"), table),
      ),
    ),
  );
  paint();
  listen("theme", paint);
  listen("groups", name);
}
