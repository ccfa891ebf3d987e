// Shared by the scripts of the page's figures: axes, ticks, markers and legends drawn as SVG. Inlined before each of them.
const NS = "http://www.w3.org/2000/svg";
const DASH = { measured: ["", "", "", "", "", ""], bound: ["7 4", "2 3.5", "11 4 2 4", "15 5"], truth: ["", "2 3", "6 3", "9 3 2 3"] };
const plain = (v) => String(+v.toPrecision(3));

function element(tag, attributes, parent) {
  const made = document.createElementNS(NS, tag);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (parent) parent.append(made);
  return made;
}
// Ticks [value, label] of an axis with room for about n labels.
function ticks(axis, n) {
  const [low, high] = axis.range, out = [];
  if (!axis.log) {
    const rough = (high - low) / n, unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [1, 2, 5, 10].find((s) => s * unit >= rough);
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-12); i++) out.push([i * step, String(+(i * step).toPrecision(6))]);
    return out;
  }
  const short = high / low < 100, simple = short || (low >= 0.005 && high <= 20000);
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
// Axes, grid and ticks; gives the box inside them and the places of a value along x and y.
function axes(svg, [X, Y], width, height) {
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
  const toX = place(X, box.left, box.right);
  const toY = place(Y, box.bottom, box.top);
  const grid = element("path", { class: "dx-grid" }, svg), axis = element("path", { class: "dx-axis" }, svg);
  let lines = "", edge = `M${box.left} ${box.top}V${box.bottom}H${box.right}`;
  for (const [v, text] of down) {
    lines += `M${box.left} ${toY(v)}H${box.right}`;
    label(text, { x: box.left - 7, y: toY(v) + 4.5, "text-anchor": "end" }, svg);
  }
  // Where there is no room for all labels, those at 2 and 5 give way to the powers of ten.
  const across = ticks(X, Math.max(3, width / 75)), taken = [], power = ([v]) => X.log && Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9;
  for (const [v, text] of [...across.filter(power), ...across.filter((tick) => !power(tick))]) {
    const half = (typeof text === "string" ? text.length * 7.2 : 26) / 2, x = Math.min(toX(v), width - half);
    lines += `M${toX(v)} ${box.top}V${box.bottom}`;
    edge += `M${toX(v)} ${box.bottom}v5`;
    if (taken.some(([middle, room]) => Math.abs(x - middle) < room + half + 6)) continue;
    taken.push([x, half]);
    label(text, { x, y: box.bottom + 19, "text-anchor": "middle" }, svg);
  }
  for (const v of marks(X)) edge += `M${toX(v)} ${box.bottom}v3`;
  for (const v of marks(Y)) edge += `M${box.left} ${toY(v)}h-3`;
  grid.setAttribute("d", lines);
  axis.setAttribute("d", edge);
  label(Y.label, { x: 0, y: 13 }, svg);
  label(X.label, { x: box.right, y: height - 4, "text-anchor": "end" }, svg);
  return { box, toX, toY };
}
// Colour, dash and marker of each curve, by its order among its kind.
function looks(curves) {
  const seen = { measured: 0, bound: 0, truth: 0 };
  return curves.map((curve) => {
    const order = seen[curve.kind]++;
    const colour = curve.kind === "measured" ? `var(--dx-${order % 6 + 1})` : curve.kind === "truth" ? "var(--dx-grey)" : "currentColor";
    return { ...curve, colour, dash: DASH[curve.kind][order % DASH[curve.kind].length], shape: curve.kind === "measured" ? order % 6 : -1 };
  });
}
// Legend: the same stroke beside each name, whose power stands after a caret; lines wrap at phone width.
function legend(curves) {
  const list = document.createElement("ul");
  list.className = "dx-legend";
  for (const curve of curves) {
    const item = document.createElement("li");
    const key = element("svg", { width: 34, height: 14, viewBox: "0 0 34 14", "aria-hidden": "true", style: `--dx:${curve.colour}` }, item);
    if (curve.band) element("path", { class: "dx-band", d: "M0 2H34V12H0Z" }, key);
    element("path", { class: "dx-line", d: curve.apart ? "" : "M0 7H34", "stroke-dasharray": curve.dash }, key);
    if (curve.shape >= 0) element("path", { class: "dx-dots", d: marker(curve.shape, 17, 7, 3.5) }, key);
    const [name, power] = curve.name.split("^"), words = document.createElement("span");
    words.append(name);
    if (power) words.appendChild(document.createElement("sup")).append(power);
    item.append(words);
    list.append(item);
  }
  return list;
}
