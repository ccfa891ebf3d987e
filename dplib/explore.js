// The slider figure of a built page: reads the grid that dplib.explore wrote and draws one point of it as SVG.
// Nothing is fetched; one name, dplibExplore, is added to the page however many figures it has.
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUE = Object.fromEntries([...DIGITS].map((c, i) => [c, i]));

// Variable-length base 64 back to integers.
function integers(text, from) {
  const out = [];
  let value = 0, shift = 0;
  for (let i = from; i < text.length; i++) {
    const digit = VALUE[text[i]];
    value |= (digit & 31) << shift;
    if (digit & 32) { shift += 5; continue; }
    out.push(value & 1 ? -(value >>> 1) : value >>> 1);
    value = shift = 0;
  }
  return out;
}
function sums(row) {
  for (let i = 1; i < row.length; i++) row[i] += row[i - 1];
  return row;
}

function start(figure) {
  figure.dataset.ready = "";
  const data = JSON.parse(figure.querySelector(".dx-data").textContent);
  const host = figure.querySelector(".dx-plot"), says = figure.querySelector(".dx-says");
  const inputs = [...figure.querySelectorAll(".dx-control input, .dx-control select")];
  const at = sums(integers(data.at, 0)), said = sums(integers(data.said, 0)), cache = new Map();
  const [X, Y] = data.axes, per = at.length / data.broken.length, told = said.length / data.broken.length;

  // One stored row as numbers, decoded when first shown.
  function row(index, scale) {
    const key = index + "/" + scale;
    if (!cache.has(key)) {
      const text = data.rows[index];
      let levels = sums(integers(text, 1));
      if (text[0] === "2") levels = sums(levels);
      cache.set(key, levels.map((q) => Math.sinh(q / data.resolution) * scale));
    }
    return cache.get(key);
  }

  const curves = looks(data.curves);
  const svg = element("svg", { role: "img", "aria-label": host.dataset.alt });
  host.append(legend(curves), svg);
  let parts, toX, toY;

  // Axes, grid and empty paths for the width there is; moves only rewrite the paths.
  function layout() {
    const width = Math.max(240, Math.round(host.clientWidth)), height = Math.round(Math.min(390, Math.max(270, width * 0.54)));
    const { box, ...places } = axes(svg, data.axes, width, height);
    ({ toX, toY } = places);
    const clip = figure.id + "-clip";
    element("rect", { x: box.left - 5, y: box.top - 5, width: box.right - box.left + 10, height: box.bottom - box.top + 6 }, element("clipPath", { id: clip }, element("defs", {}, svg)));
    const layer = element("g", { "clip-path": `url(#${clip})` }, svg);
    const path = (name, curve) => element("path", { class: name, style: `--dx:${curve.colour}`, "stroke-dasharray": name === "dx-line" ? curve.dash : "" }, layer);
    parts = { box, marks: [], curves: curves.map((c) => ({ band: c.band && path("dx-band", c) })) };
    curves.forEach((c, i) => { parts.curves[i].draws = c.draws && path("dx-draw", c); });
    curves.forEach((c, i) => { parts.curves[i].line = path("dx-line", c); parts.curves[i].dots = c.shape >= 0 && path("dx-dots", c); });
    for (let i = 0; i < data.marks; i++) parts.marks.push([element("path", { class: "dx-mark" }, svg), element("text", {}, svg)]);
    show();
  }

  function line(xs, ys) {
    let d = "";
    for (let i = 0; i < ys.length; i++) d += (i ? "L" : "M") + xs[i] + " " + toY(ys[i]).toFixed(1);
    return d;
  }

  // One grid point: paths, marks, sentence and what the controls say.
  function show() {
    const choice = data.parameters.map((p, i) => p.control === "check" ? +(p.values[0] === "yes") ^ +inputs[i].checked :
      p.control === "select" ? inputs[i].selectedIndex : +inputs[i].value);
    const point = data.parameters.reduce((sum, p, i) => sum * p.values.length + choice[i], 0);
    let next = point * per;
    const xs = row(at[next++], X.scale).map((v) => toX(v).toFixed(1));
    curves.forEach((curve, i) => {
      const part = parts.curves[i], y = row(at[next++], Y.scale);
      part.line.setAttribute("d", curve.apart ? "" : line(xs, y));
      if (part.dots) {
        const every = curve.apart ? 1 : Math.ceil(xs.length / 12);
        let d = "";
        for (let j = 0; j < y.length; j += every) d += marker(curve.shape, +xs[j], toY(y[j]), 3.5);
        part.dots.setAttribute("d", d);
      }
      if (curve.band) {
        const low = row(at[next++], Y.scale), high = row(at[next++], Y.scale);
        part.band.setAttribute("d", line(xs, low) + line([...xs].reverse(), [...high].reverse()).replace("M", "L") + "Z");
      }
      let d = "";
      for (let j = 0; j < curve.draws; j++) d += line(xs, row(at[next++], Y.scale));
      if (curve.draws) part.draws.setAttribute("d", d);
    });
    const words = said.slice(point * told, (point + 1) * told).map((i) => data.words[i]);
    if (data.marks) row(at[next], X.scale).forEach((v, i) => {
      const x = toX(v), [rule, text] = parts.marks[i], middle = (parts.box.left + parts.box.right) / 2;
      rule.setAttribute("d", `M${x} ${parts.box.top}V${parts.box.bottom}`);
      text.setAttribute("x", x + (x > middle ? -5 : 5));
      text.setAttribute("y", parts.box.top + 11 + 15 * i);
      text.setAttribute("text-anchor", x > middle ? "end" : "start");
      text.textContent = words[2 + i];
    });
    data.parameters.forEach((p, i) => {
      if (p.control !== "slider") return;
      inputs[i].setAttribute("aria-valuetext", p.values[choice[i]]);
      inputs[i].parentNode.querySelector(".dx-value").textContent = p.values[choice[i]];
    });
    says.toggleAttribute("data-broken", data.broken[point] === "1");
    says.querySelector(".dx-check").textContent = words[0];
    says.querySelector(".dx-what").textContent = words[1];
    says.querySelector(".dx-where").textContent = data.parameters.map((p, i) => `${p.label} = ${p.values[choice[i]]}`).join(", ");
  }

  let width = 0;
  const fit = () => { if (host.clientWidth && host.clientWidth !== width) { width = host.clientWidth; layout(); } };
  width = host.clientWidth;
  layout();
  if (window.ResizeObserver) new ResizeObserver(fit).observe(host);
  for (const input of inputs) input.addEventListener("input", show);
}

if (!window.dplibExplore) window.dplibExplore = { start };
document.querySelectorAll("figure.dplib-explore:not([data-ready])").forEach(window.dplibExplore.start);
