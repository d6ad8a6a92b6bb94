// Searches apart from the page, which can end it: a regular expression may take for ever.
let haystack = [];
let ready = null; // the index, once it is unpacked: {words, starts, lists}
const plain = (text) => text.normalize("NFKC").toLowerCase();
const wordsOf = (text) => (plain(text).match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => [...word].slice(0, 64).join(""));

async function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The layout of the index is told in words.py.
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
    const found = new Uint8Array(haystack.length);
    const inside = anywhere(word);
    index.words.forEach((candidate, w) => {
      const fits = exact ? candidate === word : inside ? candidate.includes(word) : candidate.startsWith(word);
      if (fits) addDocuments(index, w, found);
    });
    return found;
  });
  const all = Uint8Array.from(haystack, () => (masks.length ? 1 : 0));
  for (const mask of masks) for (let i = 0; i < all.length; i += 1) all[i] &= mask[i];
  return all;
}

function inTexts(query) {
  const words = plain(query).split(/\s+/).filter(Boolean);
  return Uint8Array.from(haystack, (text) => (words.every((word) => plain(text).includes(word)) ? 1 : 0));
}

function byPattern(query) {
  const pattern = new RegExp(query, "iu");
  return Uint8Array.from(haystack, (text) => (pattern.test(text) ? 1 : 0));
}

onmessage = async ({ data: { texts, index, number, query, pattern } }) => {
  if (texts) {
    haystack = texts;
    ready = unpackIndex(index);
    return;
  }
  try {
    const words = await ready;
    postMessage({ number, found: pattern ? byPattern(query) : words ? inIndex(words, query) : inTexts(query) });
  } catch (error) {
    postMessage({ number, problem: String(error.message) });
  }
};
