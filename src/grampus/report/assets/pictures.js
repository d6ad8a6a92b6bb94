// Pictures of the map and the tree: PNG as on the screen, SVG to be printed or edited.
const MOST_SHAPES = 60000; // marks of an SVG; of more documents, a part is drawn

const escaped = (text) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
const showsTree = () => !byId("tree-view").hidden;

function mapPicture() {
  const canvas = el("canvas", { width: view.width, height: view.height });
  const into = penOf(canvas);
  atOnce(drawAll(into)); // the one on the screen need not be whole
  if (!isView(kept.named)) atOnce(layNames());
  paintOverlay();
  into.drawImage(overlay, 0, 0);
  return canvas;
}

const svgText = (text, x, y, size, { weight = 400, anchor = "middle", paint = "ink", halo = false } = {}) =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-family="sans-serif" font-weight="${weight}" font-size="${size.toFixed(1)}" text-anchor="${anchor}" dominant-baseline="central" fill="${css(colourOf(paint))}"${halo ? ` stroke="${css(colourOf("stage"))}" stroke-width="${3 * view.ratio}" paint-order="stroke" stroke-linejoin="round"` : ""}>${escaped(text)}</text>`;

const svgDot = (x, y, r, mark, opacity = 1) =>
  `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${r.toFixed(1)}" fill="${css(colourOf(paintOf(mark)))}" fill-opacity="${opacity}"/>`;

// What is on the map as elements of a drawing.
function mapParts() {
  const { width, height, ratio } = view;
  const r = radius();
  const every = Math.max(1, Math.ceil(data.n / MOST_SHAPES));
  const parts = [`<rect width="${width}" height="${height}" fill="${css(colourOf("stage"))}"/>`];
  if (hasContours()) {
    const paths = contours.flatMap((rises, style) => rises.map(({ path }) => [path, css(colourOf(paintOf(state.categories[style].mark)))]));
    parts.push(
      `<g transform="translate(${view.x} ${view.y}) scale(${view.scale})" fill-opacity="0.07" stroke-opacity="0.3" stroke-width="${ratio / view.scale}">`,
      ...paths.map(([path, colour]) => `<path d="${path}" fill="${colour}" stroke="${colour}"/>`),
      "</g>",
    );
  }
  for (let i = 0; i < data.n; i += every) {
    const [x, y] = toScreen(i);
    if (x < 0 || y < 0 || x > width || y > height) continue;
    const bright = shownNow === null || shownNow[i];
    parts.push(svgDot(x, y, r, state.categories[state.styles[i]].mark, bright ? STRENGTHS[strengths[i]] : STRENGTHS[0]));
  }
  for (const placed of atOnce(placedNames())) {
    const { parts: lines, box, line, mark } = placed;
    const [x, y, wide, high] = ruleOf(placed) ?? [];
    if (wide) parts.push(`<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${wide.toFixed(1)}" height="${high}" fill="${css(colourOf(paintOf(mark)))}"/>`);
    if (line) parts.push(`<path d="M${line[0].map((v) => v.toFixed(1)).join(" ")}L${line[1].map((v) => v.toFixed(1)).join(" ")}" stroke="${css(colourOf("quiet"))}" stroke-width="${ratio}"/>`);
    for (const { text, size, weight, quiet, y: down } of lines)
      parts.push(svgText(text, (box[0] + box[2]) / 2, box[1] + down, size, { weight, paint: quiet ? "quiet" : "ink", halo: true }));
  }
  return parts.join("");
}

const drawing = (width, height, inside) =>
  `<svg xmlns="${SVG}" width="${width / view.ratio}" height="${height / view.ratio}" viewBox="0 0 ${width} ${height}">${inside}</svg>`;

const mapDrawing = () => drawing(view.width, view.height, mapParts());

// The map with a title, what its colours mean, and the date, to be printed.
function posterDrawing() {
  const { ratio } = view;
  const [edge, head, step] = [36 * ratio, 96 * ratio, 25 * ratio];
  over.font = `400 ${14 * ratio}px sans-serif`;
  const shown = state.categories.filter(({ size }) => size);
  const label = ({ name, size }) => `${name} (${whole.format(size)})`;
  const longest = Math.max(...shown.map((one) => over.measureText(label(one)).width)) + 44 * ratio;
  const columns = clamp(Math.floor(view.width / longest), 1, shown.length);
  const rows = Math.ceil(shown.length / columns);
  const width = view.width + 2 * edge;
  const foot = head + view.height + 34 * ratio + rows * step;
  const height = foot + 52 * ratio;
  const legend = shown.map((one, i) => {
    const [x, y] = [edge + Math.floor(i / rows) * (view.width / columns) + 8 * ratio, head + view.height + 30 * ratio + (i % rows) * step];
    return svgDot(x, y, 6 * ratio, one.mark) + svgText(label(one), x + 16 * ratio, y, 14 * ratio, { anchor: "start" });
  });
  const [title, said] = [".eyebrow", "#headline"].map((place) => document.querySelector(place).textContent);
  return drawing(
    width,
    height,
    `<rect width="${width}" height="${height}" fill="${css(colourOf("stage"))}"/>
${svgText(title, edge, 38 * ratio, 26 * ratio, { weight: 600, anchor: "start" })}${svgText(said, edge, 70 * ratio, 16 * ratio, { anchor: "start", paint: "quiet" })}
<svg x="${edge}" y="${head}" width="${view.width}" height="${view.height}" viewBox="0 0 ${view.width} ${view.height}">${mapParts()}</svg>
${legend.join("")}${svgText(`Grampus, ${data.created}`, edge, foot + 22 * ratio, 12 * ratio, { anchor: "start", paint: "quiet" })}`,
  );
}

// The dendrogram with its styles written into it.
function treeDrawing() {
  const source = byId("dendrogram");
  const copy = source.cloneNode(true);
  const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "font-weight", "text-anchor"];
  const [from, to] = [source, copy].map((root) => [...root.querySelectorAll("*")]);
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of kept) to[i].setAttribute(name, style.getPropertyValue(name).replaceAll('"', "'"));
    for (const name of ["role", "tabindex", "style"]) to[i].removeAttribute(name);
  });
  copy.prepend(draw("rect", { width: "100%", height: "100%", fill: css(colourOf("stage")) }));
  copy.setAttribute("xmlns", SVG);
  return new XMLSerializer().serializeToString(copy);
}

// A drawing as pixels, twice as fine as it says.
function rasterised(source, done) {
  const image = new Image();
  image.onload = () => {
    const canvas = el("canvas", { width: 2 * image.width, height: 2 * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    done(canvas);
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
}

const saveCanvas = (canvas, name) => canvas.toBlob((blob) => save(name, blob, "image/png"), "image/png");

function startPictures() {
  const vector = (name, text) => save(`grampus-${name}.svg`, text, "image/svg+xml");
  const raster = (name, text) => rasterised(text, (canvas) => saveCanvas(canvas, `grampus-${name}.png`));
  const actions = {
    "save-png": () => (showsTree() ? raster("tree", treeDrawing()) : saveCanvas(mapPicture(), "grampus-map.png")),
    "save-svg": () => (showsTree() ? vector("tree", treeDrawing()) : vector("map", mapDrawing())),
    "poster-png": () => raster("poster", posterDrawing()),
    "poster-svg": () => vector("poster", posterDrawing()),
  };
  for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
}
