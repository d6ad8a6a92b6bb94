// Small helpers. Text goes into the page through textContent alone.
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// el("p", {class: "quiet"}, "text", otherElement): strings become text nodes.
function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

const buttonOf = (words, onclick, attributes = {}) => el("button", { type: "button", ...attributes, onclick }, words);

// A bar as long as a share of the whole.
function barOf(share, mark, kind = "meter") {
  const bar = el("span", { class: kind, "aria-hidden": "true" });
  bar.style.setProperty("--share", share);
  if (mark) bar.style.setProperty("--tint", paintOf(mark));
  return bar;
}

const rowName = ({ mark, name }) => el("span", { class: "row-name" }, glyph(mark, 11), el("span", { dir: "auto" }, name));

// A table that scrolls by itself; heads are elements, as are the rows.
function tableIn(words, heads, rows, attributes = { class: "counts" }, ...before) {
  const table = el("table", attributes, before, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows));
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": words }, table);
}

// How often each of so many codes occurs, and the codes from the most frequent on.
function frequencies(codes, many) {
  const sizes = new Uint32Array(many);
  for (const code of codes) sizes[code] += 1;
  return { sizes, order: [...sizes.keys()].sort((a, b) => sizes[b] - sizes[a] || a - b) };
}

// The place of every code among the most frequent; the others share the last.
function ranks(order, most) {
  const rank = new Uint32Array(order.length);
  order.forEach((code, place) => (rank[code] = Math.min(place, most)));
  return rank;
}

// Say for a moment on a button what came of it.
function sayOn(button, words, milliseconds) {
  const before = button.textContent;
  button.textContent = words;
  setTimeout(() => (button.textContent = before), milliseconds);
}

const whole = new Intl.NumberFormat("en-GB");
const count = (value, word) => `${whole.format(value)} ${word}${value === 1 ? "" : "s"}`;
const percent = (value) => `${Math.round(value * 100)}%`;
// A number with so many digits after the point; never −0.00.
const digits = (value, places) => (Math.abs(value) < 0.5 * 10 ** -places ? 0 : value).toFixed(places).replace("-", "−");
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

const KINDS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array };

// Without a kind: a number for each document, of as many bytes as the largest needs.
function unpack(text, kind) {
  const bytes = text === null ? null : bytesOf(text);
  return bytes && new KINDS[kind ?? `u${(8 * bytes.length) / data.n}`](bytes.buffer);
}

async function inflate(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

// Topics: who wants to know listens, who changes something tells.
const listeners = new Map();

function listen(topics, action) {
  for (const topic of topics.split(" ")) {
    if (!listeners.has(topic)) listeners.set(topic, []);
    listeners.get(topic).push(action);
  }
}

function tell(topic) {
  for (const action of listeners.get(topic) ?? []) action();
}

const starts = []; // what the app does before the page is drawn

function announce(text) {
  byId("announce").textContent = text;
}

function save(name, text, kind) {
  const address = URL.createObjectURL(new Blob([text], { type: kind }));
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
