// Searches apart from the page, which can end it: a regular expression may take for ever.
let given = null; // {n, texts, index}: texts and index are packed
let texts = null; // a promise of what a regular expression looks at, once one was asked for
let ready = null; // a promise of the index: {words, starts, lists}
const plain = (text) => text.normalize("NFKC").toLowerCase();
const wordsOf = (text) => (plain(text).match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => [...word].slice(0, 64).join(""));

async function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Title, text and id of every document, as far as the page holds them.
async function unpackTexts(text) {
  const columns = JSON.parse(new TextDecoder().decode(await bytesOf(text)));
  return columns.ids.map((id, i) => `${columns.titles?.[i] ?? ""}\n${columns.texts?.[i] ?? ""}\n${id}`);
}

// The layout of the index is described in words.py.
async function unpackIndex(text) {
  if (!text) return null;
  const bytes = await bytesOf(text);
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const words = length ? new TextDecoder().decode(bytes.subarray(4, 4 + length)).split("\n") : [];
  const starts = new Uint32Array(words.length + 1);
  let at = 4 + length;
  for (let w = 0; w < words.length; w += 1) {
    let [size, shift, byte] = [0, 0, 0];
    do {
      byte = bytes[at++];
      size |= (byte & 127) << shift;
      shift += 7;
    } while (byte & 128);
    starts[w + 1] = starts[w] + size;
  }
  return { words, starts, lists: bytes.subarray(at) };
}

function addDocuments({ starts, lists }, w, found) {
  let document = 0;
  for (let at = starts[w]; at < starts[w + 1]; ) {
    let [gap, shift, byte] = [0, 0, 0];
    do {
      byte = lists[at++];
      gap |= (byte & 127) << shift;
      shift += 7;
    } while (byte & 128);
    document += gap;
    found[document] = 1;
  }
}

// Words of scripts without spaces are looked for inside longer ones.
const anywhere = (word) => /[\u2e80-\u9fff\uf900-\ufaff\u0e00-\u0eff]/.test(word);

function inIndex(index, query) {
  const asked = [];
  plain(query).split(/"([^"]*)"/).forEach((part, i) => {
    for (const word of wordsOf(part)) asked.push({ word, exact: i % 2 === 1 });
  });
  const masks = asked.map(({ word, exact }) => {
    const found = new Uint8Array(given.n);
    const inside = anywhere(word);
    index.words.forEach((candidate, w) => {
      const fits = exact ? candidate === word : inside ? candidate.includes(word) : candidate.startsWith(word);
      if (fits) addDocuments(index, w, found);
    });
    return found;
  });
  const all = new Uint8Array(given.n).fill(masks.length ? 1 : 0);
  for (const mask of masks) for (let i = 0; i < all.length; i += 1) all[i] &= mask[i];
  return all;
}

function inTexts(haystack, query) {
  const words = plain(query).split(/\s+/).filter(Boolean);
  return Uint8Array.from(haystack, (text) => (words.every((word) => plain(text).includes(word)) ? 1 : 0));
}

function byPattern(haystack, query) {
  const pattern = new RegExp(query, "iu");
  return Uint8Array.from(haystack, (text) => (pattern.test(text) ? 1 : 0));
}

onmessage = async ({ data: { start, number, query, pattern } }) => {
  if (start) {
    given = start;
    ready = unpackIndex(start.index);
    await ready;
    postMessage({ unpacked: true });
    return;
  }
  try {
    const words = await ready;
    if (words && !pattern) {
      postMessage({ number, found: inIndex(words, query) });
      return;
    }
    if (pattern) new RegExp(query, "iu"); // before anything is unpacked
    texts ??= unpackTexts(given.texts);
    const haystack = await texts;
    postMessage({ number, begun: true }); // from now on the time counts
    postMessage({ number, found: (pattern ? byPattern : inTexts)(haystack, query) });
  } catch (error) {
    postMessage({ number, problem: String(error.message) });
  }
};
