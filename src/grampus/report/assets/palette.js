// Eight colours that people with any kind of colour vision can tell apart, times six shapes: 48 marks that differ.
const COLOURS = 8;
const SHAPES = ["circle", "square", "triangle", "diamond", "plus", "wedge"];
const STEPS = 8; // of the scale from unsure to sure

// The mark of the i-th category: neighbours differ in colour and in shape.
const markOf = (i) => ({ colour: i % COLOURS, shape: (i + Math.floor(i / COLOURS)) % SHAPES.length, tint: 0 });
const OTHER = { colour: "other", shape: 0, tint: 0 };

const probe = el("span", { hidden: true });
const dab = el("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });

// What the style sheet makes of a colour, mixtures included: painted, and read back.
function resolved(name) {
  probe.style.color = `var(--${name})`;
  dab.fillStyle = getComputedStyle(probe).color;
  dab.fillRect(0, 0, 1, 1);
  return [...dab.getImageData(0, 0, 1, 1).data.subarray(0, 3)];
}

const colours = new Map();

// [red, green, blue] of a colour of the style sheet, in the theme that is on.
function colourOf(name) {
  if (!colours.has(name)) colours.set(name, resolved(name));
  return colours.get(name);
}

const colourName = (mark) =>
  typeof mark.colour === "number" ? `c${mark.colour}${mark.tint ? `-${mark.tint}` : ""}` : mark.colour;
const css = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;

function forgetColours() {
  colours.clear();
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").setAttribute("aria-pressed", String(dark));
  forgetColours();
  tell("theme");
}

function startTheme() {
  document.body.append(probe);
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  byId("theme").setAttribute("aria-pressed", String(isDark()));
  byId("theme").addEventListener("click", () => setTheme(!isDark()));
  system.addEventListener("change", () => {
    if (document.documentElement.dataset.theme) return;
    byId("theme").setAttribute("aria-pressed", String(system.matches));
    forgetColours();
    tell("theme");
  });
}
