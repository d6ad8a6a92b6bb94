// Lint the scripts of the page as the browser sees them: joined in one scope, so that unused and undefined names show.
import { Linter } from "eslint";
import globals from "globals";

import { pageScripts, source } from "./assets.mjs";

const RULES = {
  "array-callback-return": "error", "default-case-last": "error", eqeqeq: "error",
  "for-direction": "error", "getter-return": "error", "no-async-promise-executor": "error", "no-class-assign": "error",
  "no-compare-neg-zero": "error", "no-cond-assign": "error", "no-const-assign": "error",
  "no-constant-binary-expression": "error", "no-debugger": "error", "no-dupe-args": "error", "no-dupe-class-members": "error",
  "no-dupe-else-if": "error", "no-dupe-keys": "error", "no-duplicate-case": "error", "no-empty": "error",
  "no-empty-pattern": "error", "no-eval": "error", "no-ex-assign": "error", "no-fallthrough": "error",
  "no-func-assign": "error", "no-global-assign": "error", "no-implied-eval": "error", "no-import-assign": "error",
  "no-invalid-regexp": "error", "no-irregular-whitespace": "error", "no-loss-of-precision": "error",
  "no-misleading-character-class": "error", "no-new-func": "error", "no-obj-calls": "error", "no-redeclare": "error",
  "no-self-assign": "error", "no-self-compare": "error", "no-shadow-restricted-names": "error",
  "no-sparse-arrays": "error", "no-this-before-super": "error", "no-undef": "error", "no-unreachable": "error",
  "no-unsafe-finally": "error", "no-unsafe-negation": "error", "no-unsafe-optional-chaining": "error",
  "no-unused-vars": "error", "no-use-before-define": ["error", { functions: false, variables: false }],
  "no-useless-backreference": "error", "no-useless-catch": "error", "no-var": "error", "prefer-const": "error",
  "require-yield": "error", "use-isnan": "error", "valid-typeof": "error",
  // Text from documents must never become markup.
  "no-restricted-properties": ["error",
    ...["innerHTML", "outerHTML", "insertAdjacentHTML", "write", "writeln"].map((property) => ({ property }))],
}; // prettier-ignore

function problemsIn(names, known) {
  const parts = names.map((name) => ({ name, text: source(name).trimEnd() }));
  const config = {
    languageOptions: { ecmaVersion: 2024, sourceType: "script", globals: known },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: RULES,
  };
  // A block gives the joined script a scope of its own, in which a name that nobody uses is an error.
  const found = new Linter().verify(`{ ${parts.map(({ text }) => text).join("\n")}\n}`, config);
  return found.map(({ line, message, ruleId }) => {
    let rest = line;
    const part = parts.find(({ text }) => {
      const lines = text.split("\n").length;
      if (rest <= lines) return true;
      rest -= lines;
      return false;
    });
    return `${part?.name ?? names.at(-1)}:${rest}: ${message} (${ruleId})`;
  });
}

const scripts = pageScripts();
const problems = [
  ...problemsIn(scripts, globals.browser),
  ...problemsIn(["mark.js"], globals.browser),
  ...problemsIn(["worker.js"], { ...globals.worker, onmessage: "writable" }),
];
for (const problem of problems) console.error(problem);
console.log(`${scripts.length + 2} scripts, ${problems.length} problems`);
process.exitCode = problems.length ? 1 : 0;
