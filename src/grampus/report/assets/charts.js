// The chart of k: mean score with one standard error to each side.
function ticks(low, high, most = 5) {
  const rough = (high - low || 1) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + 1e-9; value += step)
    found.push(Number(value.toFixed(6)));
  return found;
}

function choiceChart() {
  const { ks, mean, error, best, plausible, expected, splits, verdict } = data.choice;
  const known = ks.map((k, i) => ({ k, mean: mean[i], error: error[i] ?? 0 })).filter((point) => point.mean !== null);
  byId("choice-note").textContent =
    `How well a clustering of one half of the documents predicts that of the other, from 0 (chance) to 1; mean of ${splits} halvings, bars are one standard error.${expected.length ? " Dashed: data without groups." : ""}`;
  if (!known.length) return;
  const [width, height, left, right, top, bottom] = [460, 262, 44, 14, 16, 46];
  const low = Math.min(0, ...known.map((point) => point.mean - point.error));
  const high = Math.max(1, ...known.map((point) => point.mean + point.error));
  const pad = (high - low) * 0.04;
  const [kLow, kHigh] = [known[0].k, known[known.length - 1].k];
  const x = (k) => left + ((k - kLow + 0.5) / (kHigh - kLow + 1)) * (width - left - right);
  const y = (value) => top + ((high + pad - value) / (high - low + 2 * pad)) * (height - top - bottom);
  const step = (width - left - right) / (kHigh - kLow + 1);
  const every = Math.ceil((kHigh - kLow + 1) / 14);
  const parts = plausible.map((k) =>
    draw("rect", { class: "plausible", x: x(k) - step / 2, y: top, width: step, height: height - top - bottom }),
  );
  for (const value of ticks(low - pad, high + pad)) {
    parts.push(
      draw("line", { class: "rule", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      draw("text", { class: "tick", x: left - 8, y: y(value) + 4, "text-anchor": "end" }, String(value)),
    );
  }
  const clear = (k) => k === best || ((k - kLow) % every === 0 && Math.abs(x(k) - x(best)) > 9 * String(best).length + 8);
  for (const { k } of known) {
    if (clear(k))
      parts.push(
        draw(
          "text",
          { class: k === best ? "tick best" : "tick", x: x(k), y: height - bottom + 18, "text-anchor": "middle" },
          String(k),
        ),
      );
  }
  parts.push(
    draw("path", {
      class: "curve",
      d: known.map((point, i) => `${i ? "L" : "M"}${x(point.k).toFixed(1)} ${y(point.mean).toFixed(1)}`).join(""),
    }),
  );
  const without = ks.map((k, i) => [k, expected[i]]).filter(([, value]) => typeof value === "number");
  if (without.length > 1)
    parts.push(
      draw("path", {
        class: "curve without",
        d: without.map(([k, value], i) => `${i ? "L" : "M"}${x(k).toFixed(1)} ${y(value).toFixed(1)}`).join(""),
      }),
    );
  for (const point of known) {
    parts.push(
      draw("line", {
        class: "error",
        x1: x(point.k),
        x2: x(point.k),
        y1: y(point.mean - point.error),
        y2: y(point.mean + point.error),
      }),
    );
    parts.push(
      draw(
        "circle",
        {
          class: point.k === best ? "dot best" : "dot",
          cx: x(point.k),
          cy: y(point.mean),
          r: point.k === best ? 6 : 3.5,
        },
        draw("title", {}, `${point.k} clusters: ${point.mean.toFixed(3)}${point.error ? ` ± ${point.error.toFixed(3)}` : ""}`),
      ),
    );
  }
  parts.push(
    draw("text", { class: "tick", x: (left + width - right) / 2, y: height - 2, "text-anchor": "middle" }, "clusters"),
  );
  const words = `Chart: ${best} clusters score best, ${known.find((point) => point.k === best)?.mean.toFixed(3) ?? ""}. Not ruled out: ${plausible.join(", ")}.`;
  byId("choice-chart").replaceChildren(
    draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words }, parts),
    el("p", { class: "quiet" }, "Shaded: the numbers that are not ruled out. ", verdict),
  );
}
