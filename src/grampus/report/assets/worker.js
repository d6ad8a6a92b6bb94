// Searches apart from the page, which can end it: a regular expression may take for ever.
let haystack = [];
const plain = (text) => text.normalize("NFKC").toLowerCase();
let folded = null;

function wordTest(query) {
  folded ??= haystack.map(plain);
  const words = plain(query).split(/\s+/).filter(Boolean);
  return (i) => words.every((word) => folded[i].includes(word));
}

function patternTest(query) {
  const pattern = new RegExp(query, "iu");
  return (i) => pattern.test(haystack[i]);
}

onmessage = ({ data: { texts, number, query, pattern } }) => {
  if (texts) {
    haystack = texts;
    return;
  }
  try {
    const test = pattern ? patternTest(query) : wordTest(query);
    postMessage({ number, found: Uint8Array.from(haystack, (_, i) => (test(i) ? 1 : 0)) });
  } catch (error) {
    postMessage({ number, problem: String(error.message) });
  }
};
