// The slider figure of a built page: reads the grid that dplib.explore wrote and draws one point of it as SVG.
// Nothing is fetched; one name, dplibExplore, is added to the page however many figures it has.
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const VALUE = Object.fromEntries([...DIGITS].map((c, i) => [c, i]));
  const DASH = { measured: ["", "", "", "", "", ""], bound: ["7 4", "2 3.5", "11 4 2 4", "15 5"], truth: ["", "6 3", "2 3", "9 3 2 3"] };

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
  function element(tag, attributes, parent) {
    const made = document.createElementNS(NS, tag);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (parent) parent.append(made);
    return made;
  }
  const plain = (v) => String(+v.toPrecision(3));

  // Ticks [value, label] of an axis with room for about n labels.
  function ticks(axis, n) {
    const [low, high] = axis.range, out = [];
    if (!axis.log) {
      const rough = (high - low) / n, unit = 10 ** Math.floor(Math.log10(rough));
      const step = unit * [1, 2, 5, 10].find((s) => s * unit >= rough);
      for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-12); i++) out.push([i * step, String(+(i * step).toPrecision(6))]);
      return out;
    }
    const short = high / low < 30, simple = short || (low >= 0.005 && high <= 20000);
    const from = Math.floor(Math.log10(low)), to = Math.floor(Math.log10(high)), skip = short ? 1 : Math.ceil((to - from) / n);
    for (let k = from; k <= to; k++) for (const lead of short ? [1, 2, 5] : [1]) {
      const value = lead * 10 ** k;
      if (value >= low && value <= high && k % skip === 0) out.push([value, simple ? plain(value) : k]);
    }
    return out;
  }
  // The small marks between the powers of ten.
  function between(axis) {
    const out = [];
    if (axis.log && axis.range[1] / axis.range[0] < 1e7)
      for (let k = Math.floor(Math.log10(axis.range[0])); 10 ** k < axis.range[1]; k++)
        for (let lead = 2; lead < 10; lead++) if (lead * 10 ** k > axis.range[0] && lead * 10 ** k < axis.range[1]) out.push(lead * 10 ** k);
    return out;
  }
  // A power of ten is written with a raised exponent.
  function label(text, attributes, parent) {
    const made = element("text", attributes, parent);
    if (typeof text === "string") { made.textContent = text; return; }
    made.textContent = "10";
    const raised = element("tspan", { class: "dx-sup", dy: "-5" }, made);
    raised.textContent = String(text).replace("-", "\u2212");
  }
  // Marker shapes by the order of the measured curves.
  function marker(shape, x, y, r) {
    const p = (dx, dy) => (x + dx * r).toFixed(1) + " " + (y + dy * r).toFixed(1);
    if (shape === 0) return `M${p(-1, 0)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
    const corners = [[], [[-.9, -.9], [.9, -.9], [.9, .9], [-.9, .9]], [[0, -1.2], [1.1, .9], [-1.1, .9]], [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]],
      [[0, 1.2], [1.1, -.9], [-1.1, -.9]], [[-1.3, -.4], [1.3, -.4], [1.3, .4], [-1.3, .4]]][shape];
    return "M" + corners.map((c) => p(...c)).join("L") + "Z";
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

    // Colour, dash and marker of each curve, by its order among its kind.
    const seen = { measured: 0, bound: 0, truth: 0 };
    const curves = data.curves.map((curve) => {
      const order = seen[curve.kind]++;
      const colour = curve.kind === "measured" ? `var(--dx-${order % 6 + 1})` : curve.kind === "truth" ? "var(--dx-grey)" : "currentColor";
      return { ...curve, colour, dash: DASH[curve.kind][order % DASH[curve.kind].length], shape: curve.kind === "measured" ? order % 6 : -1 };
    });

    // Legend: the same stroke beside each name; lines wrap at phone width.
    const legend = document.createElement("ul");
    legend.className = "dx-legend";
    for (const curve of curves) {
      const item = document.createElement("li");
      const key = element("svg", { width: 34, height: 14, viewBox: "0 0 34 14", "aria-hidden": "true", style: `--dx:${curve.colour}` }, item);
      if (curve.band) element("path", { class: "dx-band", d: "M0 2H34V12H0Z" }, key);
      element("path", { class: "dx-line", d: "M0 7H34", "stroke-dasharray": curve.dash }, key);
      if (curve.shape >= 0) element("path", { class: "dx-dots", d: marker(curve.shape, 17, 7, 3.5) }, key);
      item.append(curve.name);
      legend.append(item);
    }
    const svg = element("svg", { role: "img", "aria-label": host.dataset.alt });
    host.append(legend, svg);
    let parts, toX, toY;

    // Axes, grid and empty paths for the width there is; moves only rewrite the paths.
    function layout() {
      const width = Math.max(240, Math.round(host.clientWidth)), height = Math.round(Math.min(390, Math.max(270, width * 0.54)));
      svg.replaceChildren();
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("height", height);
      const marks = Y.log || X.log ? between : () => [];
      const down = ticks(Y, Math.max(3, height / 60));
      const left = Math.max(...down.map(([, t]) => typeof t === "string" ? t.length * 7.2 : 26), 14) + 10;
      const box = { left, right: width - 14, top: 26, bottom: height - 40 };
      const place = (axis, a, b) => {
        const f = axis.log ? Math.log : (v) => v, low = f(axis.range[0]), slope = (b - a) / (f(axis.range[1]) - low);
        return (v) => a + (f(v) - low) * slope;
      };
      toX = place(X, box.left, box.right);
      toY = place(Y, box.bottom, box.top);
      const grid = element("path", { class: "dx-grid" }, svg), axis = element("path", { class: "dx-axis" }, svg);
      let lines = "", edge = `M${box.left} ${box.top}V${box.bottom}H${box.right}`;
      for (const [v, text] of down) {
        lines += `M${box.left} ${toY(v)}H${box.right}`;
        label(text, { x: box.left - 7, y: toY(v) + 4.5, "text-anchor": "end" }, svg);
      }
      let last = -99;
      for (const [v, text] of ticks(X, Math.max(3, width / 75))) {
        const x = toX(v), half = (typeof text === "string" ? text.length * 7.2 : 26) / 2;
        lines += `M${x} ${box.top}V${box.bottom}`;
        edge += `M${x} ${box.bottom}v5`;
        if (x - half < last + 6) continue;
        last = x + half;
        label(text, { x: Math.min(x, width - half), y: box.bottom + 19, "text-anchor": "middle" }, svg);
      }
      for (const v of marks(X)) edge += `M${toX(v)} ${box.bottom}v3`;
      for (const v of marks(Y)) edge += `M${box.left} ${toY(v)}h-3`;
      grid.setAttribute("d", lines);
      axis.setAttribute("d", edge);
      label(Y.label, { x: 0, y: 13 }, svg);
      label(X.label, { x: box.right, y: height - 4, "text-anchor": "end" }, svg);
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
        part.line.setAttribute("d", line(xs, y));
        if (part.dots) {
          const every = Math.ceil(xs.length / 12);
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
})();
