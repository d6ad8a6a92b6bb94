// Mouse, touch and keyboard on the map.
const tip = byId("tip");
const held = new Map(); // pointer id → [x, y] in device pixels
let tool = "pan";
let mode = "pan"; // what the gesture under way does: pan, box or lasso
let travelled = 0;

function at(event) {
  const box = points.getBoundingClientRect();
  return [(event.clientX - box.left) * view.ratio, (event.clientY - box.top) * view.ratio];
}

function within(corners, x, y) {
  let found = false;
  for (let i = 0, j = corners.length - 1; i < corners.length; j = i, i += 1) {
    const [xi, yi] = corners[i];
    const [xj, yj] = corners[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) found = !found;
  }
  return found;
}

function selectInside(corners, words) {
  const xs = corners.map((corner) => corner[0]);
  const ys = corners.map((corner) => corner[1]);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  select(
    (i) => {
      const [x, y] = toScreen(i);
      return x >= left && x <= right && y >= top && y <= bottom && (words === "box" || within(corners, x, y));
    },
    words === "box" ? "inside the box" : "inside the loop",
  );
  openTab("documents");
}

function selectInView() {
  select((i) => {
    const [x, y] = toScreen(i);
    return x >= 0 && y >= 0 && x <= view.width && y <= view.height;
  }, "in view on the map");
  openTab("documents");
}

function showTip(i, x, y) {
  tip.hidden = i < 0;
  if (i < 0) return;
  const [call, rest] = callAndRest(documentWords(i));
  const group = groupOfDocument(i);
  tip.replaceChildren(
    el("strong", { dir: "auto" }, shorten(call, 90)),
    rest ? el("span", { dir: "auto" }, excerptOf(rest)) : null,
    el(
      "span",
      { class: "quiet" },
      glyph(group.mark, 9),
      ` ${shorten(group.name, 40)}, ${sureWords(i)}`,
    ),
  );
  const [left, top] = [x / view.ratio, y / view.ratio];
  const [width, height] = [view.width / view.ratio, view.height / view.ratio];
  tip.style.left = `${clamp(left + 14, 8, Math.max(8, width - tip.offsetWidth - 8))}px`;
  tip.style.top = `${top + 18 + tip.offsetHeight > height ? Math.max(8, top - tip.offsetHeight - 12) : top + 18}px`;
}

function down(event) {
  if (event.button > 0) return;
  points.setPointerCapture(event.pointerId);
  held.set(event.pointerId, at(event));
  travelled = 0;
  mode = tool === "pan" && event.shiftKey ? "box" : tool;
  if (mode !== "pan" && held.size === 1) pointer.trail = [at(event)];
  if (held.size > 1) pointer.trail = null;
  showTip(-1);
}

function moved(event) {
  const now = at(event);
  if (!held.has(event.pointerId)) {
    const found = nearest(...now, 10 * view.ratio);
    ring(found);
    showTip(found, ...now);
    return;
  }
  const before = held.get(event.pointerId);
  travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
  if (held.size === 2) pinch(event.pointerId, before, now);
  else if (mode === "pan") {
    if (event.pointerType !== "touch") move(now[0] - before[0], now[1] - before[1]);
  } else if (mode === "box" && pointer.trail) {
    const [x, y] = pointer.trail[0];
    pointer.trail = [[x, y], [now[0], y], now, [x, now[1]]];
    refresh();
  } else if (pointer.trail) {
    pointer.trail.push(now);
    refresh();
  }
  held.set(event.pointerId, now);
}

function pinch(id, before, now) {
  const other = [...held].find(([key]) => key !== id)[1];
  const gap = (place) => Math.max(10, Math.hypot(place[0] - other[0], place[1] - other[1]));
  zoom(gap(now) / gap(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  move((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
}

function up(event) {
  if (!held.delete(event.pointerId)) return;
  const trail = pointer.trail;
  pointer.trail = null;
  if (trail && trail.length > 2 && travelled > 6 * view.ratio) selectInside(trail, mode);
  else if (travelled <= 6 * view.ratio && event.type === "pointerup") {
    const found = nearest(...at(event), 12 * view.ratio);
    if (found >= 0) openDocument(found);
    else if (state.selected) select(null);
  }
  refresh();
}

const STEP = 60;
const keys = {
  ArrowLeft: () => move(STEP * view.ratio, 0),
  ArrowRight: () => move(-STEP * view.ratio, 0),
  ArrowUp: () => move(0, STEP * view.ratio),
  ArrowDown: () => move(0, -STEP * view.ratio),
  "+": () => zoom(1.4),
  "=": () => zoom(1.4),
  "-": () => zoom(1 / 1.4),
  0: () => {
    showAll();
    refresh();
  },
  Enter: selectInView,
  Escape: () => {
    if (state.selected) select(null);
    else if (byId("map").classList.contains("full")) setFull(false);
    else points.blur();
  },
};

function setTool(name) {
  tool = name;
  points.dataset.mode = name;
  for (const button of document.querySelectorAll("[data-tool]")) {
    button.setAttribute("aria-pressed", String(button.dataset.tool === name));
  }
}

function startGestures() {
  points.addEventListener("pointerdown", down);
  points.addEventListener("pointermove", moved);
  points.addEventListener("pointerup", up);
  points.addEventListener("pointercancel", up);
  points.addEventListener("pointerleave", () => {
    showTip(-1);
    if (!held.size) ring(-1);
  });
  points.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
  points.addEventListener("focus", () => {
    byId("wheel-hint").textContent = "The wheel zooms the map. Esc or a click elsewhere gives it back to the page.";
  });
  points.addEventListener("blur", () => {
    byId("wheel-hint").textContent = "Click the map, then the wheel zooms.";
    byId("wheel-hint").hidden = false;
  });
  // The wheel belongs to the page until the map is focused (a click does it) or Ctrl is held.
  points.addEventListener(
    "wheel",
    (event) => {
      if (document.activeElement !== points && !event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      byId("wheel-hint").hidden = true;
      zoom(Math.exp(-clamp(event.deltaY, -120, 120) / 300), ...at(event));
    },
    { passive: false },
  );
  for (const button of document.querySelectorAll("button[data-tool]"))
    button.addEventListener("click", () => setTool(button.dataset.tool));
  setTool("pan");
}
