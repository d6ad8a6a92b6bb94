// Colours of groups: twenty hues that people with any kind of colour vision can tell apart, each in several shades.
const HUES = 20;
const SHADES = [0, -40, 38, -22, 20, -50, 50, -31, 29]; // percent of ink (negative) or ground in a hue
const STEPS = 8; // of the scale from unsure to sure
const OTHER = { name: "other" };

const markOf = (i) => ({ hue: i % HUES, shade: SHADES[Math.floor(i / HUES) % SHADES.length] });
// The same hue in a later shade, for a part of a group.
const reshaded = (mark, places) => ({ ...mark, shade: SHADES[(SHADES.indexOf(mark.shade) + places) % SHADES.length] });

// A mark as a colour of the style sheet.
const paintOf = ({ name, hue, shade }) =>
  name || !shade
    ? `var(--${name ?? `c${hue}`})`
    : `color-mix(in oklab, var(--c${hue}) ${100 - Math.abs(shade)}%, var(--${shade < 0 ? "ink" : "stage"}))`;

const marksOfLevels = [];
const marksAt = (level) => (level.marks ?? []).map(([hue, shade]) => ({ hue, shade }));

const marksOf = (place) => (marksOfLevels[place] ??= marksAt(levels[place]));
const familyMark = (cluster) => marksOf(state.level)[cluster] ?? markOf(cluster);

const probe = el("span", { hidden: true });
const dab = el("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
const colours = new Map();

// [red, green, blue] of a colour of the style sheet in the theme that is on, mixtures included: painted, and read back.
function colourOf(paint) {
  if (!colours.has(paint)) {
    probe.style.color = paint.includes("(") ? paint : `var(--${paint})`;
    dab.fillStyle = getComputedStyle(probe).color;
    dab.fillRect(0, 0, 1, 1);
    colours.set(paint, [...dab.getImageData(0, 0, 1, 1).data.subarray(0, 3)]);
  }
  return colours.get(paint);
}

const css = ([red, green, blue], share = 1) => `rgb(${red} ${green} ${blue}${share < 1 ? ` / ${share}` : ""})`;

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").setAttribute("aria-pressed", String(dark));
  colours.clear();
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
    colours.clear();
    tell("theme");
  });
}
