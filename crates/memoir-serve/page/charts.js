// Small charts, each with its numbers in words for those who do not see it.

import { draw } from "./dom.js";

const WIDTH = 480,
  HEIGHT = 260,
  LEFT = 40,
  RIGHT = 20,
  TOP = 20,
  BOTTOM = 36;

/** @param {number} share */
const x = (share) => LEFT + share * (WIDTH - LEFT - RIGHT);
/** @param {number} share */
const y = (share) => HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP);

/** @param {string} label @param {string} across @param {string} up */
function frame(label, across, up) {
  const chart = draw("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "chart",
    role: "img",
    "aria-label": label,
  });
  for (const share of [0, 0.5, 1]) {
    chart.append(
      draw("line", { class: "axis", x1: x(0), x2: x(1), y1: y(share), y2: y(share) }),
      draw("text", { x: 2, y: y(share) + 4 }, `${100 * share}%`),
      draw("text", { x: x(share), y: HEIGHT - 20, "text-anchor": "middle" }, `${100 * share}%`),
    );
  }
  chart.append(
    draw("text", { x: x(0.5), y: HEIGHT - 3, "text-anchor": "middle" }, across),
    draw("text", { x: 2, y: 11 }, up),
  );
  return chart;
}

/**
 * Coverage across, accuracy up.
 * @param {{threshold: number, coverage: number, accuracy: number}[]} curve
 */
export function coverage(curve) {
  const chart = frame(
    "Accuracy of the answers that are taken, by the share of rows answered",
    "answered",
    "right",
  );
  const line = curve
    .map((point, index) => `${index ? "L" : "M"}${x(point.coverage)} ${y(point.accuracy)}`)
    .join("");
  const now = draw("line", { class: "now", y1: y(0), y2: y(1), x1: x(0), x2: x(0) });
  chart.append(draw("path", { d: line }), now);
  return {
    chart,
    /** @param {number} share */
    mark(share) {
      now.setAttribute("x1", String(x(share)));
      now.setAttribute("x2", String(x(share)));
    },
  };
}

/** @param {{confidence: number, accuracy: number, rows: number}[]} bins */
export function reliability(bins) {
  const chart = frame(
    "Share of right answers by probability; a good model lies on the diagonal",
    "probability",
    "right",
  );
  chart.append(draw("line", { class: "axis", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }));
  const most = Math.max(...bins.map((bin) => bin.rows));
  for (const bin of bins) {
    const size = 2 + 6 * Math.sqrt(bin.rows / most);
    chart.append(draw("circle", { cx: x(bin.confidence), cy: y(bin.accuracy), r: size }));
  }
  return chart;
}

/** @param {number[]} counts rows in ranges of equal width from 0 to 1 */
export function histogram(counts) {
  const most = Math.max(1, ...counts);
  const chart = frame(
    `Answers by probability, in ten ranges: ${counts.join(", ")}`,
    "probability",
    "of the most frequent",
  );
  counts.forEach((count, bin) => {
    const at = x((bin + 0.5) / counts.length);
    const bar = draw("line", { x1: at, x2: at, y1: y(0), y2: y(count / most) });
    bar.style.strokeWidth = "24";
    chart.append(bar);
  });
  return chart;
}
