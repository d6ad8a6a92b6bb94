// A page of eight documents in four clusters and a tree, with as little of a browser as the model needs.
import { load } from "./assets.mjs";

const packed = (Kind, values) => Buffer.from(Kind.from(values).buffer).toString("base64");

const cluster = (name, terms, central, words = []) => ({
  name, words, terms, central, phrases: [], borderline: [], stability: 0.9, alike: 0.5, cohesion: 0.4, separation: 0.2, nearest: -1,
}); // prettier-ignore

// parent, order, size, cluster, name, gain, words
const NODES = [
  [-1, 0, 8, -1, "everything", 5, []],
  [0, 1, 4, -1, "sea", 3, []],
  [1, 2, 2, 0, "whales", 1, []],
  [2, -1, 1, -1, "blue whales", 0, ["song"]],
  [2, -1, 1, -1, "grey whales", 0, []],
  [1, -1, 2, 1, "fish", 0, []],
  [0, 3, 4, -1, "air", 2, []],
  [6, -1, 2, 2, "birds", 0, []],
  [6, -1, 2, 3, "bats", 0, []],
];

export const DATA = {
  n: 8,
  level: 0,
  levels: [
    {
      name: "middle",
      labels: packed(Uint32Array, [0, 0, 1, 1, 2, 2, 3, 3]),
      branches: [2, 5, 7, 8],
      clusters: [
        cluster("whales", [["whale", 2], ["sea", 1]], [0, 1]),
        cluster("fish", [["fish", 3], ["sea", 1]], [2, 3]),
        cluster("birds", [["bird", 2]], [4, 5]),
        cluster("bats", [["bat", 2]], [6, 7], ["cave"]),
      ], // prettier-ignore
    },
  ],
  certainty: packed(Uint16Array, [100, 200, 300, 400, 500, 600, 700, 800]),
  second: packed(Uint32Array, [1, 1, 0, 0, 3, 3, 2, 2]),
  days: null,
  column: { name: "kind", values: ["wet", "dry"], codes: packed(Uint32Array, [0, 0, 0, 0, 1, 1, 1, 0]) },
  tree: { nodes: NODES, leaf: packed(Uint32Array, [0, 1, 2, 2, 3, 3, 4, 4]) },
  whole: false,
};

class Element {
  constructor(text = "") {
    Object.assign(this, { textContent: text, dataset: {}, style: { setProperty() {} }, children: [], attributes: {} });
    this.classList = { add() {}, toggle() {} };
  }
  append(...children) {
    this.children.push(...children);
  }
  replaceChildren(...children) {
    this.children = children;
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  addEventListener() {}
  remove() {}
  getContext() {
    return {};
  }
}

export const MODEL = ["base.js", "palette.js", "model.js", "branches.js", "replay.js", "edits.js"];

// Load the model and further scripts over this data; `said` holds what was announced.
export function open(wanted, { scripts = [], data = DATA } = {}) {
  const said = [];
  const elements = new Map([["data", new Element(JSON.stringify(data))]]);
  const announce = new Element();
  Object.defineProperty(announce, "textContent", { set: (text) => said.push(text) });
  elements.set("announce", announce);
  const document = {
    getElementById(id) {
      if (!elements.has(id)) elements.set(id, new Element());
      return elements.get(id);
    },
    createElement: () => new Element(),
    createElementNS: () => new Element(),
    querySelectorAll: () => [],
  };
  const page = load([...MODEL, ...scripts], [...wanted, "state", "levels"], { document });
  page.run("regroup()");
  return { ...page, said, element: (id) => document.getElementById(id) };
}
