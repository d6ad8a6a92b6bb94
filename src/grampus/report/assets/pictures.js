// Pictures of the map and the tree: PNG as on the screen, SVG to be printed or edited.
const MOST_SHAPES = 60000; // marks of an SVG; of more documents, a part is drawn

const escaped = (text) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
const showsTree = () => !byId("tree-view").hidden;

function mapPicture() {
  const canvas = el("canvas", { width: view.width, height: view.height });
  const into = canvas.getContext("2d");
  into.drawImage(points, 0, 0);
  into.drawImage(overlay, 0, 0);
  return canvas;
}

function mapDrawing() {
  const { width, height, ratio } = view;
  const r = radius();
  const every = Math.max(1, Math.ceil(data.n / MOST_SHAPES));
  const parts = [`<rect width="${width}" height="${height}" fill="${css(colourOf("stage"))}"/>`];
  for (let i = 0; i < data.n; i += every) {
    const [x, y] = toScreen(i);
    if (x < 0 || y < 0 || x > width || y > height) continue;
    const { mark } = state.categories[state.styles[i]];
    const bright = shownNow === null || shownNow[i];
    const opacity = bright ? STRENGTHS[strengths[i]] : STRENGTHS[0];
    const paint = `fill="${css(colourOf(colourName(mark)))}" fill-opacity="${opacity}"`;
    const name = SHAPES[mark.shape];
    const corners = OUTLINES[name]?.map(([a, b]) => `${(x + a * r).toFixed(1)},${(y + b * r).toFixed(1)}`).join(" ");
    parts.push(
      corners
        ? `<polygon points="${corners}" ${paint}/>`
        : `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${(0.95 * r).toFixed(1)}" ${paint}/>`,
    );
  }
  const ink = css(colourOf("ink"));
  for (const { lines, line, box, from } of placedNames()) {
    const [x, y] = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2 - ((lines.length - 1) * line) / 2];
    const outside = from[0] < box[0] || from[0] > box[2] || from[1] < box[1] || from[1] > box[3];
    if (outside)
      parts.push(
        `<path d="M${clamp(from[0], box[0], box[2]).toFixed(1)} ${clamp(from[1], box[1], box[3]).toFixed(1)}L${from[0].toFixed(1)} ${from[1].toFixed(1)}" stroke="${ink}" stroke-width="${ratio}"/>`,
      );
    lines.forEach((text, i) =>
      parts.push(
        `<text x="${x.toFixed(1)}" y="${(y + i * line).toFixed(1)}" font-family="sans-serif" font-weight="600" font-size="${(line / 1.2).toFixed(1)}" text-anchor="middle" dominant-baseline="central" fill="${ink}" stroke="${css(colourOf("stage"))}" stroke-width="${3 * ratio}" paint-order="stroke">${escaped(text)}</text>`,
      ),
    );
  }
  return `<svg xmlns="${SVG}" width="${width / ratio}" height="${height / ratio}" viewBox="0 0 ${width} ${height}">${parts.join("")}</svg>`;
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

function treePicture(done) {
  const image = new Image();
  const source = byId("dendrogram");
  image.onload = () => {
    const canvas = el("canvas", { width: 2 * source.clientWidth, height: 2 * source.clientHeight });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    done(canvas);
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(treeDrawing())}`;
}

const saveCanvas = (canvas, name) => canvas.toBlob((blob) => save(name, blob, "image/png"), "image/png");

function startPictures() {
  byId("save-png").addEventListener("click", () => {
    if (showsTree()) treePicture((canvas) => saveCanvas(canvas, "grampus-tree.png"));
    else saveCanvas(mapPicture(), "grampus-map.png");
  });
  byId("save-svg").addEventListener("click", () => {
    if (showsTree()) save("grampus-tree.svg", treeDrawing(), "image/svg+xml");
    else save("grampus-map.svg", mapDrawing(), "image/svg+xml");
  });
}
