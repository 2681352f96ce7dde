(() => {
const { data, el, svg, extent, scale, ticks, amount, prefixed } = frame;
const columns = data.columns;
const names = Object.keys(columns);
const length = names.length ? columns[names[0]].length : 0;
const rows = Array.from({ length }, (_, i) => i);
const LEFT = 84, RIGHT = 18, TOP = 14, BOTTOM = 56, WIDEST = 960, NARROWEST = 320;
let WIDTH = WIDEST, HEIGHT = 470;  // in dots of the screen where it is narrow, so that words stay readable
const COLOURS = 6, DASHES = ["", "7 4", "2 3", "10 3 2 3"], MOST_SERIES = 64, PAGE = 100;
const ALL = "\u0000all", NONE = "\u0000none";

const isNumeric = {};
for (const name of names) {
  const there = columns[name].filter((v) => v !== null);
  isNumeric[name] = there.length > 0 && there.every((v) => typeof v === "number");
}
const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
const distinct = (name, of = rows) => [...new Set(of.map((i) => columns[name][i]))].filter((v) => v !== null).sort(order);
const axes = data.axes.filter((name) => names.includes(name));
const results = names.filter((name) => !axes.includes(name) && isNumeric[name]);
const varying = axes.filter((name) => distinct(name).length > 1);
// A study of several programs has an axis of this name; times that differ by less are the same, as in simtmm/study/winners.py
const PROGRAM = "program", SAME = 1e-9, isTime = (name) => /(^|\.)(seconds|cycles)$/.test(name ?? "");
const programs = axes.includes(PROGRAM) ? distinct(PROGRAM).map(String) : [];
const unitOf = (name) => data.units[name] ?? (name.endsWith("seconds") ? "s" : name.endsWith("cycles") ? "cycles" : "");
// Words that may be long stand last in the table, behind the numbers
const LONG = ["reason", "computed_by"].filter((name) => names.includes(name));
const listed = [...names.filter((name) => !LONG.includes(name)), ...LONG];
const label = (name) => name + (unitOf(name) ? ` (${unitOf(name)})` : "");

function shown(value, name) {
  if (value === null || value === undefined) return "\u2013";
  if (typeof value !== "number") return String(value);
  return name && unitOf(name) === "s" && value > 0 ? prefixed(value, "s") : amount(value);
}

function whole(value, name) {  // with all its digits
  if (typeof value !== "number" || Number.isInteger(value)) return name && unitOf(name) === "s" ? shown(value, name) : shown(value);
  const size = Math.abs(value), digits = { maximumSignificantDigits: 15 };
  if (name && unitOf(name) === "s" && value > 0) {
    const [number, unit] = prefixed(value, "s").split(" "), factor = value / +number.replaceAll(",", "");
    return `${+(value / 10 ** Math.round(Math.log10(factor))).toPrecision(12)} ${unit}`;
  }
  return size >= 1e15 || size < 1e-6 ? String(value) : value.toLocaleString("en", digits);
}

const state = { kind: "lines", x: null, ys: new Set(), by: NONE, up: null, value: null, logx: false, logy: false, logv: false, diagonal: false, filters: {}, sliced: new Set(), view: null, hidden: new Set(), here: null, sort: null, down: false, page: PAGE };

/* ---- what is drawn ---- */
function wide(values) {
  const there = values.filter((v) => typeof v === "number");
  const low = Math.min(...extent(there)), high = Math.max(...extent(there));
  return there.length > 1 && low > 0 && high / low > 20;
}
function chosen() {
  return rows.filter((i) => Object.entries(state.filters).every(([name, value]) => value === ALL || String(columns[name][i]) === value));
}
function place(name) {
  if (isNumeric[name]) return { of: (v) => v, words: null };
  const words = distinct(name), index = new Map(words.map((w, i) => [w, i]));
  return { of: (v) => (index.has(v) ? index.get(v) : null), words };
}
function series() {
  const x = place(state.x), found = new Map(), of = chosen();
  const others = varying.filter((name) => name !== state.x && name !== state.by && new Set(of.map((i) => columns[name][i])).size > 1);
  const rest = (i) => others.map((name) => `${name} = ${shown(columns[name][i])}`).join(", ");
  const by = (i) => (state.by === NONE ? "" : `${state.by} = ${shown(columns[state.by][i])}`);
  // A line of its own for each value of the other axes too, as long as there are not too many to tell apart
  const apart = state.ys.size * new Set(of.map((i) => by(i) + rest(i))).size <= MOST_SERIES;
  for (const y of state.ys) {
    for (const i of of) {
      const at = x.of(columns[state.x][i]), value = columns[y][i];
      if (at === null || value === null || (state.logx && !x.words && at <= 0) || (state.logy && value <= 0)) continue;
      const labels = [by(i), apart ? rest(i) : ""].filter(Boolean);
      const name = [state.ys.size > 1 || !labels.length ? y : "", ...labels].filter(Boolean).join(", ");
      const [first, second] = state.ys.size > 1 ? [y, labels.join()] : [by(i), apart ? rest(i) : ""];
      if (!found.has(name)) found.set(name, { name, first, second, points: [], lines: new Map() });
      const one = found.get(name), point = { x: at, y: value, row: i, series: name, column: y };
      one.points.push(point);
      const key = rest(i);
      if (!one.lines.has(key)) one.lines.set(key, []);
      one.lines.get(key).push(point);
    }
  }
  const allSeries = [...found.values()];
  for (const one of allSeries) for (const line of one.lines.values()) line.sort((a, b) => a.x - b.x);
  for (const one of allSeries) one.points.sort((a, b) => a.x - b.x || a.y - b.y);
  looks(allSeries);
  return { allSeries, words: x.words };
}
function looks(allSeries) {  // a colour for what comes first, a column or a value of `by`; a dash and a mark for the rest
  const first = [...new Set(allSeries.map((one) => one.first))], second = [...new Set(allSeries.map((one) => one.second))];
  allSeries.forEach((one, k) => {
    const both = first.length > 1 && second.length > 1;
    const [hue, more] = both ? [first.indexOf(one.first), second.indexOf(one.second)] : [k, Math.floor(k / COLOURS)];
    one.look = { colour: colour(hue), dash: DASHES[more % DASHES.length], shape: SHAPES[(both ? more : k) % SHAPES.length] };
  });
}
function padded([low, high], log) {
  if (!(low <= high)) return log ? [1, 10] : [0, 1];
  if (log) { const f = Math.max((high / low) ** 0.04, 1.1); return [low / f, high * f]; }
  const pad = (high - low) * 0.04 || Math.abs(high) * 0.1 || 1;
  return [low >= 0 && low - pad < 0 ? 0 : low - pad, high + pad];
}
const SHAPES = [
  (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
  (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
  (x, y, r) => `M${x} ${y - r * 1.2}l${r * 1.2} ${r * 2}h${-r * 2.4}z`,
  (x, y, r) => `M${x} ${y - r * 1.3}l${r * 1.3} ${r * 1.3}l${-r * 1.3} ${r * 1.3}l${-r * 1.3} ${-r * 1.3}z`,
  (x, y, r) => `M${x} ${y + r * 1.2}l${r * 1.2} ${-r * 2}h${-r * 2.4}z`,
];
const colour = (k) => `var(--c${k % COLOURS})`;
let now = { marks: [], series: [], sx: null, sy: null };

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);
function axesOf(image, sx, sy, wordsX, wordsY, nameX, nameY, right = RIGHT) {
  let taken = -Infinity;  // up to where there is a label: where there is no room, it is left out
  for (const t of ticks(sx, wordsX)) {
    const p = sx.to(t), text = wordsX ? wordsX[t] : shown(t, nameX), half = text.length * 3.6;
    if (!wordsX) image.append(svg("line", { class: "grid", x1: p, x2: p, y1: TOP, y2: HEIGHT - BOTTOM }));
    if (p - half < taken) continue;
    taken = p + half + 6;
    image.append(svg("text", { x: p, y: HEIGHT - BOTTOM + 17, "text-anchor": "middle" }, text));
  }
  taken = Infinity;
  for (const t of ticks(sy, wordsY)) {
    const p = sy.to(t), text = wordsY ? cut(wordsY[t], 11) : shown(t, nameY);
    if (!wordsY) image.append(svg("line", { class: "grid", x1: LEFT, x2: WIDTH - right, y1: p, y2: p }));
    if (p + 7 > taken) continue;
    taken = p - 7;
    image.append(svg("text", { x: LEFT - 8, y: p + 4, "text-anchor": "end" }, text));
  }
  image.append(svg("path", { class: "frame", d: `M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - right}` }));
  image.append(svg("text", { x: (LEFT + WIDTH - right) / 2, y: HEIGHT - 14, "text-anchor": "middle" }, label(nameX)));
}
function drawCurves(image) {
  const { allSeries, words } = series();
  const logx = state.logx && !words;
  const drawnSeries = allSeries.slice(0, MOST_SERIES), visible = drawnSeries.filter((one) => !state.hidden.has(one.name));
  const points = visible.flatMap((one) => one.points);
  const whole = {
    x: words ? [-0.5, words.length - 0.5] : padded(extent(points.map((p) => p.x)), logx),
    y: padded(extent(points.map((p) => p.y)), state.logy),
  };
  const view = state.view ?? whole;
  const sx = scale(view.x[0], view.x[1], logx, LEFT, WIDTH - RIGHT), sy = scale(view.y[0], view.y[1], state.logy, HEIGHT - BOTTOM, TOP);
  const nameY = [...state.ys][0];
  axesOf(image, sx, sy, words, null, state.x, nameY);
  const clip = svg("clipPath", { id: "inside" });
  clip.append(svg("rect", { x: LEFT, y: TOP, width: WIDTH - RIGHT - LEFT, height: HEIGHT - BOTTOM - TOP }));
  const inside = svg("g", { "clip-path": "url(#inside)" });
  image.append(clip, inside);
  if (state.diagonal && !words) {
    const steps = Array.from({ length: 65 }, (_, i) => sx.back(LEFT + ((WIDTH - RIGHT - LEFT) * i) / 64)).filter((v) => !state.logy || v > 0);
    inside.append(svg("path", { class: "diagonal", d: `M${steps.map((v) => `${sx.to(v)} ${sy.to(v)}`).join("L")}` }));
  }
  const f = (v) => Math.round(v * 10) / 10;
  visible.forEach((one) => {
    const { look } = one, group = svg("g", { class: "series" });
    group.append(svg("title", {}, one.name));
    if (state.kind === "lines") {
      const d = [...one.lines.values()].filter((l) => l.length > 1).map((l) => `M${l.map((p) => `${f(sx.to(p.x))} ${f(sy.to(p.y))}`).join("L")}`).join("");
      if (d) group.append(svg("path", { class: "line", d, fill: "none", stroke: look.colour, "stroke-width": 1.8, "stroke-dasharray": look.dash }));
    }
    const r = one.points.length > 500 ? 2 : 4;
    group.append(svg("path", { class: "marks", d: one.points.map((p) => look.shape(f(sx.to(p.x)), f(sy.to(p.y)), r)).join(""), fill: look.colour }));
    inside.append(group);
  });
  const unit = unitOf(nameY), up = state.ys.size === 1 ? label(nameY) : unit === "s" ? "time (s)" : unit || "value";
  image.append(svg("text", { x: 16, y: (TOP + HEIGHT - BOTTOM) / 2, "text-anchor": "middle", transform: `rotate(-90 16 ${(TOP + HEIGHT - BOTTOM) / 2})` }, up));
  const marks = visible.flatMap((one) => one.points).map((p) => ({ ...p, px: sx.to(p.x), py: sy.to(p.y) }));
  now = { marks, series: visible.map((one) => one.name), sx, sy, whole, words };
  legend(drawnSeries, allSeries.length);
  return `${state.kind}: ${state.ys.size === 1 ? nameY : `${state.ys.size} columns`} over ${state.x}, ${visible.length} series, ${marks.length} marks`;
}
const DRAWN = { heat: drawHeat, winners: drawWinners }, isMap = () => state.kind in DRAWN;
const RAMP = [[0, 34, 78], [33, 61, 109], [87, 93, 109], [124, 123, 120], [165, 156, 116], [208, 190, 98], [254, 232, 56]];
function ramp(t) {
  const p = Math.min(Math.max(t, 0), 1) * (RAMP.length - 1), i = Math.min(Math.floor(p), RAMP.length - 2), w = p - i;
  return RAMP[i].map((c, k) => Math.round(c + (RAMP[i + 1][k] - c) * w));
}
function slice() {  // where several rows would share a cell, one value of each other axis is chosen, and that is said
  release();
  const within = [state.x, state.up, ...(state.kind === "winners" ? [PROGRAM] : [])];
  const others = varying.filter((name) => !within.includes(name) && state.filters[name] === ALL);
  const of = chosen(), cells = new Set(of.map((i) => JSON.stringify(within.map((name) => columns[name][i]))));
  if (cells.size === of.length) return;
  for (const name of others) { only(name, String(distinct(name, chosen())[0])); state.sliced.add(name); }
  if (others.length) table();
}
function only(name, value) {
  state.filters[name] = value;
  for (const select of el("filters").querySelectorAll("select")) if (select.dataset.axis === name) select.value = value;
}
function release() {
  for (const name of state.sliced) only(name, ALL);
  state.sliced.clear();
}
function grid(right) {  // what maps have in common: the values along both axes, and where their cells lie
  slice();
  const across = distinct(state.x, chosen()), upward = distinct(state.up, chosen());
  const whole = { x: [-0.5, across.length - 0.5], y: [-0.5, upward.length - 0.5] }, view = state.view ?? whole;
  const sx = scale(...view.x, false, LEFT, WIDTH - right), sy = scale(...view.y, false, HEIGHT - BOTTOM, TOP);
  const clip = svg("clipPath", { id: "inside" });
  clip.append(svg("rect", { x: LEFT, y: TOP, width: WIDTH - right - LEFT, height: HEIGHT - BOTTOM - TOP }));
  const inside = svg("g", { "clip-path": "url(#inside)", class: "series" });
  return { across, upward, whole, sx, sy, clip, inside, right, w: Math.abs(sx.to(1) - sx.to(0)), h: Math.abs(sy.to(1) - sy.to(0)) };
}
function framed(image, { across, upward, sx, sy, clip, inside, right, w, h }, has) {  // crosses where a cell has nothing, and the axes
  for (let x = 0; x < across.length; x += 1) for (let y = 0; y < upward.length; y += 1) if (!has(x, y)) {
    const px = sx.to(x), py = sy.to(y), dx = w * 0.2, dy = h * 0.2;
    inside.append(svg("path", { class: "blank", d: `M${px - dx} ${py - dy}l${2 * dx} ${2 * dy}m0 ${-2 * dy}l${-2 * dx} ${2 * dy}` }));
  }
  image.append(clip, inside);
  axesOf(image, sx, sy, across.map((v) => shown(v, state.x)), upward.map((v) => shown(v, state.up)), state.x, state.up, right);
  image.append(svg("text", { x: 16, y: (TOP + HEIGHT - BOTTOM) / 2, "text-anchor": "middle", transform: `rotate(-90 16 ${(TOP + HEIGHT - BOTTOM) / 2})` }, label(state.up)));
}
const fixedAxes = () => varying.filter((name) => state.filters[name] !== ALL).map((name) => `${name} = ${state.filters[name]}, one of ${distinct(name).length} values`);
const withFixed = () => (fixedAxes().length ? [`with ${fixedAxes().join("; ")} (Only where chooses another)`] : []);
function drawHeat(image) {
  const map = grid(RIGHT + 92), { across, upward, whole, sx, sy, inside, w, h } = map, cells = new Map();
  for (const i of chosen()) {
    const value = columns[state.value][i], at = [across.indexOf(columns[state.x][i]), upward.indexOf(columns[state.up][i])];
    if (value === null || at[0] < 0 || at[1] < 0 || (state.logv && value <= 0)) continue;
    const key = at.join();
    if (!cells.has(key)) cells.set(key, { x: at[0], y: at[1], rows: [], values: [] });
    cells.get(key).rows.push(i); cells.get(key).values.push(value);
  }
  const list = [...cells.values()];
  for (const cell of list) cell.value = cell.values.reduce((a, b) => a + b, 0) / cell.values.length;
  const [low, high] = extent(list.map((c) => c.value)), f = state.logv ? Math.log : (v) => v;
  for (const cell of list) {
    const rgb = ramp((f(cell.value) - f(low)) / (f(high) - f(low) || 1)), px = sx.to(cell.x), py = sy.to(cell.y);
    inside.append(svg("rect", { class: "cell", x: px - w / 2, y: py - h / 2, width: w + 0.3, height: h + 0.3, fill: `rgb(${rgb})` }));
    const text = shown(cell.value, state.value);
    if (w > 7 * text.length + 4 && h > 16) {
      const light = rgb[0] * 0.3 + rgb[1] * 0.59 + rgb[2] * 0.11 < 120;
      inside.append(svg("text", { x: px, y: py + 4, "text-anchor": "middle", style: `fill:${light ? "#fff" : "#000"}` }, text));
    }
  }
  framed(image, map, (x, y) => cells.has([x, y].join()));
  if (list.length) {
    const bottom = HEIGHT - BOTTOM, steps = 48, tall = (bottom - TOP) / steps, left = WIDTH - RIGHT - 78;
    for (let s = 0; s < steps; s += 1) image.append(svg("rect", { x: left, y: bottom - (s + 1) * tall, width: 14, height: tall + 0.5, fill: `rgb(${ramp(s / (steps - 1))})` }));
    image.append(svg("text", { x: left + 19, y: bottom }, shown(low, state.value)), svg("text", { x: left + 19, y: TOP + 9 }, shown(high, state.value)));
    const middle = (TOP + bottom) / 2;
    image.append(svg("text", { x: left + 30, y: middle, "text-anchor": "middle", transform: `rotate(90 ${left + 30} ${middle})` }, label(state.value)));
  }
  const marks = list.map((c) => ({ x: c.x, y: c.y, row: c.rows[0], rows: c.rows.length, value: c.value, column: state.value, series: shown(upward[c.y], state.up), px: sx.to(c.x), py: sy.to(c.y), heat: true }));
  marks.sort((a, b) => a.x - b.x);
  now = { marks, series: upward.map((v) => shown(v, state.up)), sx, sy, whole, words: null };
  el("legend").replaceChildren();
  const several = Math.max(0, ...list.map((c) => c.rows.length));
  const empty = across.length * upward.length - list.length;
  return [
    `heat map: ${state.value} over ${state.x} and ${state.up}, ${list.length} cells`,
    ...withFixed(),
    ...(empty ? [`${empty} crossed out: there is no value`] : []),
    ...(several > 1 ? [`a cell is the MEAN of up to ${several} rows that no axis tells apart`] : []),
  ].join("; ");
}
function drawWinners(image) {  // who is fastest where; a cell has a stripe for each of several that take the same time
  const map = grid(RIGHT), { across, upward, whole, sx, sy, inside, w, h } = map, cells = new Map();
  for (const i of chosen()) {
    const value = columns[state.value][i], at = [across.indexOf(columns[state.x][i]), upward.indexOf(columns[state.up][i])];
    if (value === null || at[0] < 0 || at[1] < 0) continue;
    const key = at.join(), program = String(columns[PROGRAM][i]);
    if (!cells.has(key)) cells.set(key, { x: at[0], y: at[1], row: i, times: new Map() });
    const { times } = cells.get(key);
    times.set(program, Math.min(value, times.get(program) ?? Infinity));
  }
  const list = [...cells.values()].filter((cell) => cell.times.size > 1), won = new Map(programs.map((name) => [name, 0]));
  for (const cell of list) {
    const least = Math.min(...cell.times.values());
    cell.best = [...cell.times].filter(([, time]) => time <= least * (1 + SAME)).map(([name]) => name);
    const px = sx.to(cell.x) - w / 2, py = sy.to(cell.y) - h / 2, wide = w / cell.best.length;
    cell.best.forEach((name, k) => {
      if (cell.best.length === 1) won.set(name, won.get(name) + 1);
      inside.append(svg("rect", { class: "cell", x: px + k * wide, y: py, width: wide + 0.3, height: h + 0.3, fill: colour(programs.indexOf(name)) }));
    });
  }
  const there = new Set(list.map((cell) => [cell.x, cell.y].join()));
  framed(image, map, (x, y) => there.has([x, y].join()));
  const marks = list.map((c) => ({ x: c.x, y: c.y, row: c.row, column: state.value, times: c.times, best: c.best, series: shown(upward[c.y], state.up), px: sx.to(c.x), py: sy.to(c.y) }));
  marks.sort((a, b) => a.x - b.x);
  now = { marks, series: upward.map((v) => shown(v, state.up)), sx, sy, whole, words: null };
  const alone = (text) => { const item = document.createElement("li"); item.append(text); return item; };
  el("legend").replaceChildren(...programs.map((name, k) => {
    const item = alone(""), icon = svg("svg", { width: 14, height: 12, "aria-hidden": "true" });
    icon.append(svg("rect", { width: 12, height: 12, fill: colour(k) }));
    item.append(icon, ` ${name}: fastest in ${won.get(name)}`);
    return item;
  }));
  const equal = list.filter((cell) => cell.best.length > 1).length, empty = across.length * upward.length - list.length;
  return [
    `winner map: who is fastest by ${state.value} over ${state.x} and ${state.up}, ${list.length} cells`,
    ...withFixed(),
    ...(equal ? [`${equal} striped: several take the same time`] : []),
    ...(empty ? [`${empty} crossed out: fewer than two programs have a time`] : []),
    ...(programs.length > COLOURS ? ["colours stand for several programs: point at a cell to read it"] : []),
  ].join("; ");
}
function contested() {  // a winner map is of times, over axes that are not the programs'
  const others = axes.filter((name) => name !== PROGRAM).sort((a, b) => distinct(b).length - distinct(a).length);
  if (!others.includes(state.x)) state.x = others.find((name) => name !== state.up) ?? others[0];
  if (!others.includes(state.up) || state.up === state.x) state.up = others.find((name) => name !== state.x);
  if (!isTime(state.value)) state.value = results.find(isTime);
  for (const id of ["x", "up", "value"]) el(id).value = state[id];
}
function legend(drawnSeries, total) {
  const items = drawnSeries.map((one, k) => {
    const button = document.createElement("button"), item = document.createElement("li"), icon = svg("svg", { width: 34, height: 12, "aria-hidden": "true" });
    if (state.kind === "lines") icon.append(svg("path", { d: "M0 6H34", fill: "none", stroke: one.look.colour, "stroke-width": 1.8, "stroke-dasharray": one.look.dash }));
    icon.append(svg("path", { d: one.look.shape(17, 6, 4), fill: one.look.colour }));
    button.type = "button";
    button.setAttribute("aria-pressed", String(!state.hidden.has(one.name)));
    button.append(icon, one.name);
    button.addEventListener("click", () => {
      if (!state.hidden.delete(one.name)) state.hidden.add(one.name);
      draw();
      [...el("legend").querySelectorAll("button")][k]?.focus();
    });
    item.append(button);
    return item;
  });
  if (total > drawnSeries.length) { const note = document.createElement("li"); note.textContent = `and ${total - drawnSeries.length} more, not drawn: choose fewer above`; items.push(note); }
  el("legend").replaceChildren(...items);
}
function draw() {
  if (state.kind === "winners") contested();
  for (const part of document.querySelectorAll(".for-heat")) part.hidden = state.kind !== "heat";
  for (const part of document.querySelectorAll(".for-maps")) part.hidden = !isMap();
  for (const part of document.querySelectorAll(".for-curves")) part.hidden = isMap();
  WIDTH = Math.round(Math.min(Math.max(el("plot").clientWidth || WIDEST, NARROWEST), WIDEST));
  HEIGHT = WIDTH < 600 ? 360 : 470;
  const image = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
  let description = "There is nothing to draw: the table has no numbers.";
  if (results.length && state.x && (isMap() ? state.up && state.value : state.ys.size)) description = (DRAWN[state.kind] ?? drawCurves)(image);
  else now = { marks: [], series: [], sx: null, sy: null };
  if (!now.marks.length) image.append(svg("text", { x: WIDTH / 2, y: HEIGHT / 2, "text-anchor": "middle" }, "nothing to draw for this choice"));
  // What follows the pointer is a layer of its own, so that nothing below has to be drawn again
  el("plot").replaceChildren(image, svg("svg", { class: "over", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" }));
  el("plot").setAttribute("aria-label", `Plot, ${description}`);
  el("said").textContent = description;
  el("tip").hidden = true;
  state.here = null;
  remember();
}

/* ---- reading marks ---- */
function words(mark) {
  const lines = [];
  if (mark.best) {
    lines.push(mark.best.length > 1 ? `${mark.best.join(" = ")}: the same time` : `${mark.best[0]} is fastest`);
    for (const [name, time] of [...mark.times].sort((a, b) => a[1] - b[1])) lines.push(`${name}: ${whole(time, mark.column)}`);
    for (const name of [state.x, state.up]) lines.push(`${name}: ${whole(columns[name][mark.row], name)}`);
    return lines;
  }
  if (mark.heat) {
    lines.push(`${mark.column}: ${whole(mark.value, mark.column)}${mark.rows > 1 ? `, mean of ${mark.rows} rows` : ""}`);
    for (const name of [state.x, state.up]) lines.push(`${name}: ${whole(columns[name][mark.row], name)}`);
    return lines;
  }
  lines.push(`${mark.column}: ${whole(mark.y, mark.column)}`);
  for (const name of new Set([state.x, ...varying])) lines.push(`${name}: ${whole(columns[name][mark.row], name)}`);
  const bound = mark.column.replace(/[^.]*$/, "bound");
  if (columns[bound] && columns[bound][mark.row] !== null) lines.push(`bound by ${columns[bound][mark.row]}`);
  return lines;
}
function point(mark, aloud) {
  state.here = mark;
  const image = el("plot").querySelector("svg");
  el("plot").querySelector(".here")?.remove();
  if (!mark) { el("tip").hidden = true; return; }
  el("plot").querySelector(".over").append(svg("circle", { class: "here", cx: mark.px, cy: mark.py, r: 8 }));
  const tip = el("tip"), box = image.getBoundingClientRect(), outer = tip.parentElement.getBoundingClientRect(), k = box.width / WIDTH;
  tip.hidden = false;
  tip.textContent = words(mark).join("\n");
  const x = box.left - outer.left + mark.px * k, y = box.top - outer.top + mark.py * k;
  tip.style.left = `${Math.max(0, x + 14 + tip.offsetWidth > outer.width ? x - tip.offsetWidth - 14 : x + 14)}px`;
  tip.style.top = `${Math.max(0, y - tip.offsetHeight / 2)}px`;
  if (aloud) el("said").textContent = words(mark).join(", ");
}
const seen = () => now.marks.filter((m) => m.px >= LEFT - 1 && m.px <= WIDTH - RIGHT + 1 && m.py >= TOP - 1 && m.py <= HEIGHT - BOTTOM + 1);
function inPlot(event) {
  const box = el("plot").querySelector("svg").getBoundingClientRect();
  return [((event.clientX - box.left) * WIDTH) / box.width, ((event.clientY - box.top) * HEIGHT) / box.height];
}
function nearest(x, y, reach) {
  let best = null, least = reach * reach;
  for (const m of seen()) { const d = (m.px - x) ** 2 + (m.py - y) ** 2; if (d < least) { least = d; best = m; } }
  return best;
}

/* ---- zoom ---- */
function look(x0, x1, y0, y1) {
  if (!now.sx) return;
  const { sx, sy } = now;
  const view = { x: [sx.back(x0), sx.back(x1)], y: [sy.back(y1), sy.back(y0)] };
  if ([...view.x, ...view.y].every(Number.isFinite) && view.x[1] > view.x[0] && view.y[1] > view.y[0]) { state.view = view; draw(); }
}
function zoom(factor, cx = (LEFT + WIDTH - RIGHT) / 2, cy = (TOP + HEIGHT - BOTTOM) / 2) {
  look(cx + (LEFT - cx) * factor, cx + (WIDTH - RIGHT - cx) * factor, cy + (TOP - cy) * factor, cy + (HEIGHT - BOTTOM - cy) * factor);
}
function pan(dx, dy) { look(LEFT + dx, WIDTH - RIGHT + dx, TOP + dy, HEIGHT - BOTTOM + dy); }
function showAll() { state.view = null; draw(); }
let from = null;
el("plot").addEventListener("pointerdown", (event) => {
  if (event.button === 0 && now.sx) { from = inPlot(event); el("plot").focus({ preventScroll: true }); if (event.pointerType === "mouse") event.preventDefault(); }
});
el("plot").addEventListener("pointermove", (event) => {
  if (!now.sx) return;
  const at = inPlot(event), over = el("plot").querySelector(".over");
  over.querySelector(".box")?.remove();
  if (from && Math.hypot(at[0] - from[0], at[1] - from[1]) > 6) {
    over.append(svg("rect", { class: "box", x: Math.min(at[0], from[0]), y: Math.min(at[1], from[1]), width: Math.abs(at[0] - from[0]), height: Math.abs(at[1] - from[1]) }));
  } else point(nearest(...at, isMap() ? 60 : 26), false);
});
window.addEventListener("pointerup", (event) => {
  if (!from) return;
  const at = inPlot(event), begin = from;
  from = null;
  el("plot").querySelector(".box")?.remove();
  if (Math.abs(at[0] - begin[0]) > 6 && Math.abs(at[1] - begin[1]) > 6) look(Math.min(at[0], begin[0]), Math.max(at[0], begin[0]), Math.min(at[1], begin[1]), Math.max(at[1], begin[1]));
});
el("plot").addEventListener("pointerleave", () => { if (!from) point(null, false); });
el("plot").addEventListener("dblclick", showAll);
el("plot").addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY < 0 ? 0.8 : 1.25, ...inPlot(event)); }, { passive: false });
el("plot").addEventListener("keydown", (event) => {
  const { key } = event, step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (step && event.shiftKey) pan(step[0] * 80, step[1] * 60);
  else if (step) {
    const marks = seen();
    if (!marks.length) return;
    if (!state.here) point(marks[0], true);
    else {
      const here = state.here, kept = now.series.filter((name) => marks.some((m) => m.series === name));
      const own = marks.filter((m) => m.series === here.series);
      if (step[0]) {
        const at = own.findIndex((m) => m.row === here.row && m.column === here.column);
        point(own[Math.min(Math.max(at + step[0], 0), own.length - 1)], true);
      } else {
        // Of each series the mark that is nearest across; then the next one higher, or lower, on the screen
        const near = kept.map((name) => marks.filter((m) => m.series === name).reduce((a, b) => (Math.abs(b.px - here.px) < Math.abs(a.px - here.px) ? b : a)));
        const ranks = near.map((m, k) => [m.series === here.series ? here.py : m.py, k]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
        const at = ranks.findIndex(([, k]) => kept[k] === here.series);
        point(near[ranks[Math.min(Math.max(at + step[1], 0), ranks.length - 1)][1]], true);
      }
    }
  } else if (key === "+" || key === "=") zoom(0.8, state.here?.px, state.here?.py);
  else if (key === "-") zoom(1.25);
  else if (key === "0") showAll();
  else if (key === "Escape") point(null, false);
  else return;
  event.preventDefault();
});

/* ---- controls ---- */
function options(id, choices, value) {
  el(id).replaceChildren(...choices.map(([key, text]) => { const o = document.createElement("option"); o.value = key; o.textContent = text; return o; }));
  el(id).value = value;
}
function guess(which) {
  if (which.x) state.logx = isNumeric[state.x] && wide(columns[state.x]);
  if (which.y) state.logy = wide([...state.ys].flatMap((y) => columns[y]));
  if (which.v && state.value) state.logv = wide(columns[state.value]);
  for (const key of ["logx", "logy", "logv", "diagonal"]) el(key).checked = state[key];
  el("logx").disabled = !isNumeric[state.x];
}
function begin() {
  const numeric = varying.filter((name) => isNumeric[name]).sort((a, b) => distinct(b).length - distinct(a).length);
  const across = [...new Set([...varying, ...axes, ...results])];
  state.x = numeric[0] ?? across[0] ?? null;
  state.by = varying.find((name) => name !== state.x) ?? NONE;
  state.up = varying.find((name) => name !== state.x) ?? axes.find((name) => name !== state.x) ?? null;
  const timed = results.filter((name) => /(^|\.)seconds$/.test(name) && columns[name].some((v) => v !== null));
  const cycles = results.filter((name) => /(^|\.)cycles$/.test(name));
  const first = (timed.length ? timed : cycles.length ? cycles : results).filter((name) => name !== state.x);
  state.ys = new Set(first.slice(0, state.by === NONE ? 8 : 1));
  state.value = first[0] ?? results[0] ?? null;
  if (programs.length < 2 || axes.length < 3 || !results.some(isTime)) el("kind").querySelector("[value=winners]").remove();
  options("x", across.map((n) => [n, label(n)]), state.x);
  options("by", [[NONE, "nothing"], ...varying.map((n) => [n, n])], state.by);
  options("up", axes.map((n) => [n, label(n)]), state.up);
  options("value", results.map((n) => [n, label(n)]), state.value);
  el("ys").replaceChildren(...results.map((name) => {
    const wrap = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox"; box.value = name; box.checked = state.ys.has(name);
    box.addEventListener("change", () => { if (box.checked) state.ys.add(name); else state.ys.delete(name); state.view = null; guess({ y: true }); draw(); });
    wrap.append(box, name);
    return wrap;
  }));
  for (const name of varying) {
    const wrap = document.createElement("label"), select = document.createElement("select");
    const choices = distinct(name);
    select.append(new Option("any", ALL), ...choices.map((v) => new Option(shown(v, name), String(v))));
    select.dataset.axis = name;
    state.filters[name] = ALL;
    select.addEventListener("change", () => { state.filters[name] = select.value; state.sliced.delete(name); state.view = null; state.page = PAGE; draw(); table(); });
    wrap.append(name, select);
    el("filters").append(wrap);
  }
  el("filters").hidden = !varying.length;
  for (const [id, which] of [["x", { x: true }], ["by", {}], ["up", {}], ["value", { v: true }]]) {
    el(id).addEventListener("change", () => { state[id] = el(id).value; state.view = null; guess(which); draw(); });
  }
  el("kind").addEventListener("change", () => { state.kind = el("kind").value; state.view = null; release(); draw(); table(); });
  for (const key of ["logx", "logy", "logv", "diagonal"]) el(key).addEventListener("change", () => { state[key] = el(key).checked; state.view = null; draw(); });
  el("controls").addEventListener("submit", (event) => event.preventDefault());
  el("zoom-in").addEventListener("click", () => zoom(0.7));
  el("zoom-out").addEventListener("click", () => zoom(1 / 0.7));
  el("reset").addEventListener("click", showAll);
  el("save-svg").addEventListener("click", () => save("plot.svg", "image/svg+xml", standalone()));
  el("save-csv").addEventListener("click", () => save("table.csv", "text/csv", [names, ...chosen().map((i) => names.map((n) => columns[n][i]))].map((r) => r.map(quoted).join(",")).join("\n") + "\n"));
  el("more").addEventListener("click", () => { state.page *= 4; table(); });
  guess({ x: true, y: true, v: true });
}
/* ---- the state in the address, so that a link shows the same ---- */
const SINGLE = ["kind", "x", "by", "up", "value", "sort"], FLAGS = ["logx", "logy", "logv", "diagonal", "down"];
let settled = false;  // before that, the address is to be read
function remember() {
  if (!settled) return;
  const query = new URLSearchParams();
  for (const key of SINGLE) if (state[key] !== null && state[key] !== NONE) query.set(key, state[key]);
  for (const key of FLAGS) query.set(key, state[key] ? "1" : "0");
  for (const y of state.ys) query.append("y", y);
  for (const name of state.hidden) query.append("hide", name);
  for (const [name, value] of Object.entries(state.filters)) if (value !== ALL) query.append("where", `${name}=${value}`);
  if (state.view) query.set("view", [...state.view.x, ...state.view.y].join());
  history.replaceState(null, "", `#${query}`);
}
function recall() {  // what the table does not have is left as it is
  const given = new URLSearchParams(location.hash.slice(1));
  if (![...given].length) return;
  const options = { sort: names };
  for (const key of SINGLE) {
    const allowed = options[key] ?? [...el(key).options].map((o) => o.value), value = given.get(key);
    if (value !== null && allowed.includes(value)) state[key] = value;
    else if (key === "by") state.by = NONE;
    if (el(key)) el(key).value = state[key];
  }
  for (const key of FLAGS) if (given.has(key)) { state[key] = given.get(key) === "1"; if (el(key)) el(key).checked = state[key]; }
  const ys = given.getAll("y").filter((y) => results.includes(y));
  if (ys.length) state.ys = new Set(ys);
  for (const box of el("ys").querySelectorAll("input")) box.checked = state.ys.has(box.value);
  state.hidden = new Set(given.getAll("hide"));
  for (const select of el("filters").querySelectorAll("select")) {
    const found = given.getAll("where").find((one) => one.startsWith(`${select.dataset.axis}=`)), value = found?.slice(select.dataset.axis.length + 1);
    if ([...select.options].some((o) => o.value === value)) { state.filters[select.dataset.axis] = value; select.value = value; }
  }
  const view = (given.get("view") ?? "").split(",").map(Number);
  state.view = view.length === 4 && view.every(Number.isFinite) && view[0] < view[1] && view[2] < view[3] ? { x: view.slice(0, 2), y: view.slice(2) } : null;
  el("logx").disabled = !isNumeric[state.x];
}
const quoted = (v) => (v === null ? "" : /[",\n]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v));
function standalone() {
  const copy = el("plot").querySelector("svg").cloneNode(true), style = getComputedStyle(document.documentElement);
  copy.setAttribute("xmlns", frame.SVG);
  const plain = (text) => text.replace(/var\((--[a-z0-9]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  for (const part of copy.querySelectorAll("[fill],[stroke]")) for (const key of ["fill", "stroke"]) if (part.hasAttribute(key)) part.setAttribute(key, plain(part.getAttribute(key)));
  copy.prepend(svg("style", {}, plain("text{fill:var(--ink);font:12px sans-serif}.grid{stroke:var(--line)}.frame{stroke:var(--dim);fill:none}.diagonal{stroke:var(--dim);stroke-dasharray:2 3;fill:none}")));
  return new XMLSerializer().serializeToString(copy);
}
function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/* ---- table ---- */
function table() {
  const of = chosen();
  if (state.sort) of.sort((a, b) => {
    const [u, v] = [columns[state.sort][a], columns[state.sort][b]];
    if (u === null || v === null) return (u === null) - (v === null);  // what is not there comes last either way
    return order(u, v) * (state.down ? -1 : 1);
  });
  const head = document.createElement("thead"), line = document.createElement("tr"), body = document.createElement("tbody");
  for (const name of listed) {
    const cell = document.createElement("th"), button = document.createElement("button");
    cell.scope = "col"; cell.className = isNumeric[name] ? "" : "word";
    cell.setAttribute("aria-sort", state.sort === name ? (state.down ? "descending" : "ascending") : "none");
    button.type = "button";
    button.textContent = label(name) + (state.sort === name ? (state.down ? " \u2193" : " \u2191") : "");
    button.addEventListener("click", () => {
      state.down = state.sort === name && !state.down; state.sort = name;
      table();
      [...el("table").querySelectorAll("thead button")][listed.indexOf(name)].focus();
    });
    cell.append(button); line.append(cell);
  }
  head.append(line);
  for (const i of of.slice(0, state.page)) {
    const row = document.createElement("tr");
    for (const name of listed) { const cell = document.createElement("td"); cell.className = isNumeric[name] ? "" : LONG.includes(name) ? "word long" : "word"; cell.textContent = whole(columns[name][i], name); row.append(cell); }
    body.append(row);
  }
  el("table").replaceChildren(head, body);
  el("table-note").textContent = of.length > state.page ? `The first ${state.page} of ${of.length} rows.` : `${of.length} rows.`;
  el("more").hidden = of.length <= state.page;
  remember();
}

/* ---- answers ---- */
function answers() {
  for (const { title, header, rows: lines, left, more } of data.answers) {
    const head = document.createElement("h3"), grid = document.createElement("table"), scroll = document.createElement("div");
    head.textContent = title;
    scroll.className = "scroll"; scroll.tabIndex = 0; scroll.setAttribute("role", "region"); scroll.setAttribute("aria-label", title);
    for (const [cells, tag] of [[header, "th"], ...lines.map((line) => [line, "td"])]) {
      const row = grid.insertRow();
      cells.forEach((text, k) => { const cell = document.createElement(tag); if (tag === "th") cell.scope = "col"; cell.className = left.includes(k) ? "word" : ""; cell.textContent = text; row.append(cell); });
    }
    scroll.append(grid);
    el("answers").append(head, scroll);
    for (const line of more) { const note = document.createElement("p"); note.textContent = line; el("answers").append(note); }
  }
  el("answers").hidden = !data.answers.length;
}

el("summary").textContent = data.summary;
begin();
recall();
answers();
draw();
table();
settled = true;
addEventListener("hashchange", () => { recall(); draw(); table(); });
addEventListener("resize", () => { if (el("plot").clientWidth < WIDEST || WIDTH < WIDEST) draw(); });
})();
