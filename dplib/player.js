// The prediction game of a page, round by round. The script adds, compares and counts: what a formula gives, the powers of
// the penalty, the bound and the two envelopes, was written into the page by dplib.player. One name, dplibPlayer, is added.
const letter = (up) => up ? "U" : "D";
const list = (names) => names.length < 2 ? names.join("") : names.slice(0, -1).join(", ") + " and " + names[names.length - 1];
const mistakes = (count) => count + (count === 1 ? " mistake" : " mistakes");
const times = (count) => count === 1 ? "once" : `${count} times`;

// A tag of the page with attributes; strings and tags go inside.
function tag(name, attributes, ...inside) {
  const made = document.createElement(name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  made.append(...inside);
  return made;
}
// Weights are whole numbers of any size, so sums are exact and a tie is a tie; it goes to D.
function vote(advice, weights) {
  const sides = { up: 0n, down: 0n };
  advice.forEach((up, i) => { sides[up ? "up" : "down"] += weights[i]; });
  return { ...sides, says: sides.up > sides.down };
}
// The shortest heaviest-first row of experts with half of the weight or more says D, the others U.
function heaviestFirst(weights) {
  const total = weights.reduce((sum, w) => sum + w, 0n), advice = weights.map(() => true);
  const order = [...weights.keys()].sort((i, j) => weights[j] > weights[i] ? 1 : weights[j] < weights[i] ? -1 : i - j);
  let carried = 0n;
  for (const i of order) {
    if (2n * carried >= total) break;
    carried += weights[i];
    advice[i] = false;
  }
  return advice;
}
// What dplib.plot.Check prints, with the printer's signs.
function inequality(left, right, text) {
  const slack = left && right / left;
  return `${left} ≤ ${text}` + (slack ? ` (${slack < 99.95 ? slack.toFixed(1) : plain(slack)}× slack)` : "");
}

function start(figure) {
  figure.dataset.ready = "";
  const data = JSON.parse(figure.querySelector(".dx-data").textContent);
  const adversary = data.role === "adversary", key = `${figure.id}-${window.dplibPlayer.started++}`;
  const board = figure.querySelector(".pl-board"), host = figure.querySelector(".dx-plot"), says = figure.querySelector(".dx-says");
  const tables = data.natures.map((one) => one.tables.map((table) => ({ ...table, weights: table.weights.map(BigInt) })));
  let world, game, table, advice, moves = [], rows = [], past, turn = 0;

  // ---- the rules: the whole game follows from its moves

  function replay() {
    table = tables[data.natures.indexOf(world)][penalty.selectedIndex];
    const wrong = Array(world.experts).fill(0), weights = () => wrong.map((k) => table.weights[k]);
    past = [];
    const note = (round) => past.push({ ...round, wrong: [...wrong], weights: weights(), opt: Math.min(...wrong) });
    note({ majority: 0, reader: 0 });
    moves.forEach((move, t) => {
      const spoken = adversary ? move.advice : [...game.advice[t]].map((c) => c === "U"), last = past[t];
      const { says } = vote(spoken, last.weights);
      const outcome = adversary ? move.outcome : game.outcomes ? game.outcomes[t] === "U" : !move.says;
      const erred = spoken.map((up) => up !== outcome);
      erred.forEach((bad, i) => { wrong[i] += bad; });
      note({ says, outcome, erred, said: move.says, majority: last.majority + (says !== outcome), reader: last.reader + (move.says !== outcome) });
    });
  }
  const over = () => moves.length >= data.rounds;
  // Makes a move unless the game is over.
  function move(made) {
    if (over()) return;
    moves.push(made);
    show();
  }
  function restart() {
    world = data.natures[nature ? nature.selectedIndex : 0];
    game = world.games[turn % world.games.length];
    moves = [];
    advice = [...world.opening].map((c) => c === "U");
    if (rows.length !== world.experts) experts();
    show();
  }

  // ---- what is on the board

  function select(label, options, at) {
    const made = tag("select", { id: `${key}-${label[0]}`, ...own }, ...options.map((text) => tag("option", {}, text)));
    made.selectedIndex = at;
    settings.append(tag("div", { class: "dx-control" }, tag("label", { for: made.id }, label), made));
    return made;
  }
  function button(text, parent, press) {
    const made = tag("button", { type: "button", class: "pl-button" }, text);
    made.addEventListener("click", press);
    parent.append(made);
    return made;
  }
  // The keys of these controls are theirs: JupyterLab would take the arrows for its own.
  const own = { autocomplete: "off", "data-lm-suppress-shortcuts": "" };
  const settings = tag("div", { class: "pl-settings" });
  const nature = adversary ? null : select("nature", data.natures.map((g) => g.label), 0);
  const penalty = select("penalty η", data.penalties, data.start);
  let hints;
  if (!adversary) {
    hints = tag("input", { type: "checkbox", id: `${key}-hints`, ...own });
    settings.append(tag("div", { class: "dx-control dx-tick pl-hands" }, hints, tag("label", { for: hints.id }, "show weights and past mistakes")));
  }
  const step = (n, text) => tag("p", { class: "pl-step" }, tag("b", {}, n), text);
  const body = tag("tbody");
  const heads = ["expert", "says", "weight", "mistakes", "last time"].map((text, i) => tag("th", { scope: "col", class: `pl-c${i}`, colspan: i === 2 ? 2 : 1 }, text));
  const tally = tag("p", { class: "pl-tally" }), beam = tag("div", { class: "pl-beam", "aria-hidden": "true" }, tag("span"), tag("i"));
  const reveals = tag("div", { class: "pl-buttons pl-main pl-hands" }), others = tag("div", { class: "pl-buttons pl-hands" });
  const counts = tag("dl", { class: "pl-counts" });
  board.append(settings, step("1", adversary ? "You choose what each expert says." : "The experts say:"),
    tag("table", { class: "pl-table" }, tag("thead", {}, tag("tr", {}, ...heads)), body));
  if (adversary) board.append(step("2", "Weighted majority follows the heavier side."), tally, beam,
    step("3", "You reveal the outcome; each expert that was wrong loses the share η of its weight."));
  else board.append(tally, step("2", "You say what will happen, and nature answers."));
  board.append(reveals, others);
  const reveal = [true, false].map((up) => button("", reveals, () => move(adversary ? { advice: [...advice], outcome: up } : { says: up })));
  if (adversary) button("Let the heaviest-first adversary play this round", others, () => {
    if (over()) return;
    advice = heaviestFirst(past[moves.length].weights);
    move({ advice: [...advice], outcome: true });
  });
  const undo = button("Undo", others, () => {
    const last = moves.pop();
    if (last && adversary) advice = last.advice;
    show();
  });
  const again = button("Start again", others, restart);
  const fresh = adversary ? null : button("New game", others, () => { turn++; restart(); });
  says.before(counts);

  // One row for each expert; the adversary's rows have two radio buttons.
  function experts() {
    rows = Array.from({ length: world.experts }, (_, i) => {
      const row = { bar: tag("div", { class: "pl-bar" }), weight: tag("td", { class: "pl-c2" }), wrong: tag("td", { class: "pl-c3" }), last: tag("td", { class: "pl-c4" }), says: tag("td", { class: "pl-c1" }) };
      if (adversary) {
        row.radios = [true, false].map((up) => {
          const radio = tag("input", { type: "radio", name: `${key}-${i}`, ...own });
          radio.addEventListener("change", () => { advice[i] = up; show(); });
          return radio;
        });
        row.says.append(tag("div", { role: "radiogroup", "aria-label": `expert ${i + 1} says`, class: "pl-pair" },
          ...row.radios.map((radio, d) => tag("label", {}, radio, tag("span", { class: "pl-letter", "data-side": letter(!d) }, letter(!d))))));
      }
      row.tr = tag("tr", {}, tag("th", { scope: "row", class: "pl-c0" }, String(i + 1)), row.says,
        tag("td", { class: "pl-c2 pl-rail", "aria-hidden": "true" }, row.bar), row.weight, row.wrong, row.last);
      return row;
    });
    body.replaceChildren(...rows.map((row) => row.tr));
  }

  // ---- one state of the game

  const share = (part, whole) => Number(part) / Number(whole);
  function show() {
    replay();
    const now = past[moves.length], unit = table.weights[0], heaviest = table.weights[now.opt];
    if (!adversary) advice = over() ? [] : [...game.advice[moves.length]].map((c) => c === "U");
    rows.forEach((row, i) => {
      if (adversary) row.radios.forEach((radio, d) => { radio.checked = advice[i] === !d; });
      else row.says.replaceChildren(over() ? "" : tag("span", { class: "pl-letter pl-on", "data-side": letter(advice[i]) }, letter(advice[i])));
      row.bar.style.width = 100 * share(now.weights[i], heaviest) + "%";
      row.bar.dataset.side = advice.length ? letter(advice[i]) : "";
      row.weight.textContent = table.shown[now.wrong[i]];
      row.wrong.textContent = now.wrong[i];
      row.last.textContent = now.erred ? now.erred[i] ? "wrong" : "right" : "";
      row.last.toggleAttribute("data-wrong", row.last.textContent === "wrong");
    });
    const open = over() ? null : vote(advice, now.weights);
    if (hints) board.toggleAttribute("data-hidden", !hints.checked);
    tally.textContent = !open ? `All ${data.rounds} rounds are played.` : (adversary || hints.checked) ?
      `Weight for U ${plain(share(open.up, unit))}, for D ${plain(share(open.down, unit))}: ${open.up === open.down ? "a tie, and " : ""}weighted majority says ${letter(open.says)}.` : "";
    beam.style.visibility = open ? "" : "hidden";
    if (open) beam.firstChild.style.width = 100 * share(open.up, open.up + open.down) + "%";
    reveal.forEach((made, d) => {
      made.textContent = adversary ? `Reveal ${letter(!d)}` + (open ? (open.says === !d ? ": no mistake" : ": a mistake") : "") : `I say ${letter(!d)}`;
    });
    if (fresh) fresh.hidden = world.games.length < 2;
    for (const made of board.querySelectorAll(".pl-button")) made.setAttribute("aria-disabled", made === undo ? !moves.length : made !== again && made !== fresh && over());
    report(now);
    draw();
  }

  // The inequality, what happened, and the counters.
  function report(now) {
    const t = moves.length;
    says.querySelector(".dx-check").textContent = inequality(now.majority, table.bound[now.opt], table.said[now.opt]);
    says.querySelector(".dx-what").textContent = "mistakes of weighted majority and their bound";
    const number = world.games.indexOf(game) + 1, of = world.games.length;
    let text = adversary ? "Nothing is revealed yet." : (of > 1 ? `Game ${number} of ${of}: nothing` : "Nothing") + " is said yet.";
    if (t) {
      const verdict = (right) => right ? "no mistake" : "a mistake";
      const wrong = now.erred.flatMap((bad, i) => bad ? [i + 1] : []);
      text = adversary ? `Round ${t}: weighted majority said ${letter(now.says)}, the outcome was ${letter(now.outcome)}: ${verdict(now.says === now.outcome)}.` +
          (wrong.length ? ` Wrong: expert${wrong.length > 1 ? "s" : ""} ${list(wrong)}.` : " No expert was wrong.")
        : `Round ${t}: you said ${letter(now.said)}, weighted majority said ${letter(now.says)}, the outcome was ${letter(now.outcome)}: ${now.said === now.outcome ? "you were right" : "your mistake"}.`;
      const twice = game.outcomes ? "" : `, and 2·OPT\u00a0=\u00a0${2 * now.opt}`;
      if (!adversary && over()) text += ` You erred ${times(now.reader)}, weighted majority ${times(now.majority)}, the best expert ${times(now.opt)}${twice}.`;
      else if (twice && !adversary) text += ` You have ${mistakes(now.reader)}${twice}.`;
      // Contradicted in every round, one errs as often as both experts together.
      if (!adversary && twice && now.reader > 2 * now.opt + 1) text += " Say both words equally often, and your mistakes are 2·OPT.";
    }
    says.querySelector(".dx-where").textContent = text + aim();
    const numbers = [["rounds", `${t} of ${data.rounds}`], ...(adversary ? [] : [["your mistakes", now.reader]]),
      ["majority's mistakes", now.majority], ["best expert, OPT", now.opt],
      [`bound at η = ${data.penalties[penalty.selectedIndex]}`, table.said[now.opt]]];
    counts.replaceChildren(...numbers.map(([name, value]) => tag("div", {}, tag("dt", {}, name), tag("dd", {}, String(value)))));
  }

  // The goal, if there is one: reached at the first round with so many mistakes, missed when the best expert has erred too often.
  function aim() {
    if (!data.goal) return "";
    const [most, best] = data.goal, words = `${mistakes(most)} with OPT at most ${best}`;
    const at = past.findIndex((round) => round.majority >= most && round.opt <= best);
    return at > 0 ? ` Goal reached in round ${at}: ${words}.` : past[moves.length].opt > best ? ` Goal missed: ${words}.` : ` Goal: ${words}.`;
  }

  // The picture: the total weight between its envelopes, or the mistakes.
  const svg = element("svg", { role: "img", "aria-label": host.dataset.alt });
  const curves = looks(data.curves);
  host.append(legend(curves), svg);
  function series() {
    const total = (round) => share(round.weights.reduce((sum, w) => sum + w, 0n), table.weights[0]);
    return adversary ? [past.map(total), past.map((r) => table.upper[r.majority]), past.map((r) => table.lower[r.opt])]
      : [past.map((r) => r.reader), past.map((r) => r.majority), past.map((r) => r.opt), past.map((r) => 2 * r.opt), past.map((r) => table.bound[r.opt])];
  }
  function draw() {
    const width = Math.max(240, Math.round(host.clientWidth)), height = Math.round(Math.min(300, Math.max(230, width * 0.42)));
    const ys = series(), low = Math.min(...ys.flat()), high = Math.max(...ys.flat()), spread = Math.max(high / low, 1.5);
    const [X, Y] = data.axes, { box, toX, toY } = axes(svg, [{ ...X, range: [0, Math.max(8, moves.length) * 1.02] },
      { ...Y, range: Y.log ? [low / spread ** .06, high * spread ** .06] : [0, high * 1.06] }], width, height);
    curves.forEach((curve, c) => {
      const at = ys[c].map((y, t) => [toX(t), toY(y)]), style = `--dx:${curve.colour}`;
      element("path", { class: "dx-line", style, "stroke-dasharray": curve.dash, d: "M" + at.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L") }, svg);
      if (curve.shape < 0) return;
      // On the total weight a dot is a mistake; on counts, every round or every few.
      const every = Math.ceil(at.length / 16), dotted = (t) => adversary ? !moves.length || (t && past[t].says !== past[t].outcome) : t % every === 0;
      element("path", { class: "dx-dots", style, d: at.map((p, t) => dotted(t) ? marker(curve.shape, ...p, 3.5) : "").join("") }, svg);
    });
  }

  penalty.addEventListener("input", show);
  if (nature) nature.addEventListener("input", restart);
  if (hints) hints.addEventListener("input", show);
  restart();
  let width = host.clientWidth;
  if (window.ResizeObserver) new ResizeObserver(() => { if (host.clientWidth && host.clientWidth !== width) { width = host.clientWidth; draw(); } }).observe(host);
}

if (!window.dplibPlayer) window.dplibPlayer = { start, started: 0 };
document.querySelectorAll("figure.dplib-player:not([data-ready])").forEach(window.dplibPlayer.start);
