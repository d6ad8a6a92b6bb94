// Loads scripts of the page, which share one scope in the browser, into a scope of their own.
import { readFileSync } from "node:fs";
import vm from "node:vm";

const ASSETS = new URL("../../src/grampus/report/assets/", import.meta.url);
const BUILD = new URL("../../src/grampus/report/build.py", import.meta.url);

export const source = (name) => readFileSync(new URL(name, ASSETS), "utf8");

// The scripts in the order in which build.py joins them.
export function pageScripts() {
  const [, list] = /\nSCRIPTS? = \(([^)]*)\)/.exec(readFileSync(BUILD, "utf8")) ?? [];
  if (!list) throw new Error("build.py must list the scripts of the page in SCRIPTS");
  return [...list.matchAll(/"([a-z_]+\.js)"/g)].map(([, name]) => name);
}

// Run scripts with these globals; returns the values of the names asked for.
export function load(names, wanted, globals = {}) {
  const common = { atob, Blob, DecompressionStream, Intl, Response, TextDecoder, URLSearchParams };
  const context = vm.createContext({ ...common, ...globals });
  const code = names.map(source).join("\n");
  const found = vm.runInContext(`${code}\n;({ ${wanted.join(", ")} })`, context, { filename: names.join("+") });
  return { ...found, context, run: (text) => vm.runInContext(text, context) };
}

// Values of another scope have other prototypes; compare them as data.
export const plain = (value) =>
  JSON.parse(JSON.stringify(value, (_, one) => (ArrayBuffer.isView(one) ? [...one] : one instanceof Map ? [...one] : one)));
