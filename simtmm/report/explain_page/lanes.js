/* The timeline of a few core groups: a lane for each slot, its slices coloured by reason, with zoom. */
if (frame.data.lanes) (() => {
const { data, el, scale, ticks, amount } = frame, { make, at, open, hot } = explained;
const laneData = data.lanes, { looks, reasons } = laneData;
const LEFT = 40, RIGHT = 10, AXIS = 40, LEAST = 8;  // ticks that are shown at least
// What is behind the mark of the chosen slice is kept, so that pointing at slices stays quick
const canvas = el("lanes"), axis = el("lanes-axis"), back = document.createElement("canvas");
let stale = true;
let own = null, view = null, chosen = -1, only = -1, sx = null, lane = 0, drawnWidth = 0;

/* ---- data ---- */
function decoded(group) {
  const number = group.look.length, begin = new Float64Array(number), end = new Float64Array(number), first = [...group.first, number];
  for (let row = 0; row + 1 < first.length; row += 1) {
    for (let i = first[row], now = 0; i < first[row + 1]; i += 1) {
      begin[i] = now + group.gap[i];
      now = end[i] = begin[i] + group.length[i];
    }
  }
  const warps = Object.fromEntries(Object.entries(group.warps).map(([name, column]) => { let now = 0; return [name, column.map((by) => (now += by))]; }));
  return { ...group, begin, end, first, warps };
}
const known = new Map();
function ofGroup(index) {
  if (!known.has(index)) known.set(index, decoded(laneData.groups[index]));
  return known.get(index);
}
// The first index from low to high for which `is` holds, which then holds for all behind it
function firstOf(low, high, is) {
  while (low < high) { const middle = (low + high) >> 1; if (is(middle)) high = middle; else low = middle + 1; }
  return low;
}
const reasonOf = (i) => looks.reason[own.look[i]];
const rowOf = (i) => firstOf(0, own.slots.length, (row) => own.first[row + 1] > i);
const lineOf = (i) => looks.line[own.look[i]];
function whereOf(i) {
  const line = lineOf(i);
  return line >= 0 ? at(hot[line]) : named(laneData.others, line);
}
const named = (names, number) => (number <= -3 ? names[-3 - number] : number === -2 ? "one that is not listed" : "");

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// Reasons of one group have its colour, more and more of it turned to that of words, on which paper stands out even more
const SHADE = 0.5;
const shades = reasons.map(([, group], k) => {
  const members = reasons.flatMap(([, other], index) => (other === group ? [index] : []));
  return { base: `--g${data.groups.indexOf(group)}`, part: members.length > 1 ? (SHADE * members.indexOf(k)) / (members.length - 1) : 0 };
});
const swatch = (k) => make("span", { class: "swatch", style: { background: `color-mix(in srgb, var(--ink) ${100 * shades[k].part}%, var(${shades[k].base}))` } });
function mixed({ base, part }) {
  const [one, other] = [css(base), css("--ink")].map((colour) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)));
  return `rgb(${one.map((value, i) => Math.round(value + part * (other[i] - value))).join(" ")})`;
}

/* ---- words ---- */
const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "\u00b5s"], [1e-9, "ns"], [1e-12, "ps"]];
const digits = (value, places) => value.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places });
const plain = (value) => value.toLocaleString("en", { maximumFractionDigits: 6 });
const inCycles = (t) => plain(t / laneData.cycle);
function inTime(from, to) {
  const perTick = 1 / (laneData.cycle * laneData.clock), [factor, unit] = UNITS.find(([f]) => to * perTick >= f) ?? UNITS[UNITS.length - 1];
  // As many digits as tell both ends apart
  const places = Math.min(9, Math.max(0, 2 - Math.floor(Math.log10(((to - from) * perTick) / factor))));
  return [from, to].map((t) => digits((t * perTick) / factor, places)).join(" to ") + ` ${unit}`;
}
function tell() {
  const list = make("dl");
  const say = (name, value) => { if (value !== "") list.append(make("div", {}, make("dt", {}, name), make("dd", {}, value))); };
  if (chosen < 0) return el("slice").replaceChildren(make("p", { class: "note" }, "Point at a slice, or move between slices with the keys comma and full stop."));
  const look = own.look[chosen], [name, , nsight] = reasons[looks.reason[look]], line = lineOf(chosen);
  const turn = firstOf(0, own.warps.first.length, (k) => own.warps.first[k] > chosen) - 1;
  say("reason", make("span", {}, swatch(looks.reason[look]), make("b", {}, name), nsight ? ` (${nsight})` : ""));
  say("cache", named(laneData.hits, looks.hit[look]));
  say("line", whereOf(chosen) || "none yet");
  say("array", named(laneData.arrays, looks.array[look]));
  if (own.warps.block) say("block", amount(own.warps.block[turn]));
  say("warp", amount(own.warps.warp[turn]));
  if (laneData.launches > 1) say("launch", amount(own.warps.launch[turn]));
  say("slot", String(own.slots[rowOf(chosen)]));
  const from = own.begin[chosen], to = own.end[chosen];
  say("cycles", `${inCycles(from)} to ${inCycles(to)} (${inCycles(to - from)})`);
  if (laneData.clock) say("time", inTime(from, to));
  if (line >= 0 && hot[line].line) say("source", make("code", {}, hot[line].text));
  el("slice").replaceChildren(list);
}

/* ---- drawing ---- */
function sized(node, width, height) {
  const sharp = window.devicePixelRatio || 1, context = node.getContext("2d");
  node.width = Math.round(width * sharp); node.height = Math.round(height * sharp);
  node.style.width = `${width}px`; node.style.height = `${height}px`;
  context.setTransform(sharp, 0, 0, sharp, 0, 0);
  return context;
}
function paint(context, row, colours, right) {
  const top = row * lane, height = lane >= 5 ? lane - 1 : lane, sums = new Float64Array(reasons.length);
  let pixel = -1;
  const fill = (k, from, wide) => { context.globalAlpha = only < 0 || only === k ? 1 : 0.15; context.fillStyle = colours[k]; context.fillRect(from, top, wide, height); };
  // Of the slices that share a dot it has the colour of the reason that takes most of it, or of the one that is sought
  const flush = () => {
    const most = only >= 0 && sums[only] ? only : sums.reduce((best, sum, k) => (sum > (best < 0 ? 0 : sums[best]) ? k : best), -1);
    if (most >= 0) fill(most, pixel, 1);
    sums.fill(0);
  };
  const add = (dot, k, part) => { if (dot !== pixel) { flush(); pixel = dot; } sums[k] += part; };
  const words = [];
  let i = firstOf(own.first[row], own.first[row + 1], (j) => own.end[j] > view[0]);
  for (; i < own.first[row + 1] && own.begin[i] < view[1]; i += 1) {
    const k = reasonOf(i), a = Math.max(LEFT, sx.to(own.begin[i])), b = Math.min(right, sx.to(own.end[i])), low = Math.floor(a), high = Math.floor(b);
    if (low === high) { add(low, k, b - a); continue; }
    add(low, k, low + 1 - a);
    if (b - a > 5) fill(k, low + 1, high - low - 2);  // and a thin gap
    else { fill(k, low + 1, high - low - 1); add(high, k, b - high); }
    if (b - a > 30 && lane >= 14 && (only < 0 || only === k)) words.push([i, a + 4, b - a - 9]);
  }
  flush();
  context.globalAlpha = 1;
  context.fillStyle = css("--paper");
  for (const [j, from, room] of words) {
    const name = reasons[reasonOf(j)][0];
    const where = whereOf(j), text = [where && `${name}, ${where}`, name].find((each) => each && context.measureText(each).width <= room);
    if (text) context.fillText(text, from, top + height / 2);
  }
}
function draw() {
  drawnWidth = el("lanes-window").clientWidth;
  if (!drawnWidth) return;
  const number = own.slots.length, right = drawnWidth - RIGHT;
  lane = Math.min(20, Math.max(3, Math.floor(400 / number)));
  sx = scale(view[0], view[1], false, LEFT, right);
  if (stale) paintAll(right);
  stale = false;
  const context = sized(canvas, drawnWidth, lane * number);
  context.drawImage(back, 0, 0, drawnWidth, lane * number);
  if (chosen >= 0 && own.begin[chosen] < view[1] && own.end[chosen] > view[0]) {
    const a = Math.max(LEFT, sx.to(own.begin[chosen])), b = Math.min(right, sx.to(own.end[chosen])), top = rowOf(chosen) * lane;
    for (const [colour, wide] of [["--paper", 4], ["--ink", 2]]) {
      context.strokeStyle = css(colour);
      context.lineWidth = wide;
      context.strokeRect(a - 1, Math.max(1, top), Math.max(3, b - a + 1), lane - 1);
    }
  }
}
function paintAll(right) {
  const number = own.slots.length, context = sized(back, drawnWidth, lane * number), colours = shades.map(mixed);
  context.textBaseline = "middle";
  const every = Math.ceil(13 / lane);
  context.font = "11px system-ui, sans-serif";
  for (let row = 0; row < number; row += 1) {
    context.fillStyle = css("--field");
    context.fillRect(LEFT, row * lane, right - LEFT, lane >= 5 ? lane - 1 : lane);
    if (row % every === 0 && row * lane + 12 <= lane * number) {
      context.fillStyle = css("--dim");
      context.textAlign = "right";
      context.fillText(String(own.slots[row]), LEFT - 5, row * lane + Math.max(lane / 2, 7));
      context.textAlign = "left";
    }
    paint(context, row, colours, right);
  }
  drawAxis(right);
  const places = Math.min(6, Math.max(0, 2 - Math.floor(Math.log10((view[1] - view[0]) / laneData.cycle))));
  const short = (t) => (t / laneData.cycle).toLocaleString("en", { maximumFractionDigits: places });
  el("lanes-view").textContent = `Cycles ${short(view[0])} to ${short(view[1])} of ${inCycles(laneData.ticks)}${laneData.clock ? `: ${inTime(view[0], view[1])}` : ""}.`;
}
function drawAxis(right) {
  const context = sized(axis, drawnWidth, AXIS), low = view[0] / laneData.cycle, high = view[1] / laneData.cycle, at_ = ticks({ low, high });
  const step = at_.length > 1 ? at_[1] - at_[0] : 1, places = Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9)));
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "center";
  context.strokeStyle = css("--dim");
  context.fillStyle = css("--ink");
  context.beginPath();
  context.moveTo(LEFT, 0.5);
  context.lineTo(right, 0.5);
  let taken = 0;
  for (const t of at_) {
    const p = sx.to(t * laneData.cycle), text = digits(t, places), half = context.measureText(text).width / 2;
    context.moveTo(p, 0);
    context.lineTo(p, 5);
    if (p - half < taken || p + half > drawnWidth) continue;
    taken = p + half + 8;
    context.fillText(text, p, 18);
  }
  context.stroke();
  context.fillText("cycles", (LEFT + right) / 2, 35);
}
let queued = false;
function soon(anew = true) {
  stale ||= anew;
  if (queued) return;
  queued = true;
  requestAnimationFrame(() => { queued = false; draw(); });
}

/* ---- zoom, pan, choose ---- */
function look(from, to) {
  const wide = Math.min(own.until, Math.max(LEAST, to - from)), begin = Math.min(Math.max(0, from), own.until - wide);
  view = [begin, begin + wide];
  sx = scale(view[0], view[1], false, LEFT, drawnWidth - RIGHT);
  soon();
}
function zoom(factor, about) {
  const wide = Math.max(Math.min(LEAST, own.until), (view[1] - view[0]) * factor), part = (about - view[0]) / (view[1] - view[0]);
  look(about - part * wide, about + (1 - part) * wide);
}
const pan = (part) => look(view[0] + part * (view[1] - view[0]), view[1] + part * (view[1] - view[0]));
// What keys zoom about: the slice that is chosen, where it is in sight
function about() {
  const from = chosen < 0 ? 0 : Math.max(view[0], own.begin[chosen]), to = chosen < 0 ? 0 : Math.min(view[1], own.end[chosen]);
  return from < to ? (from + to) / 2 : (view[0] + view[1]) / 2;
}
function choose(i, follow) {
  if (i === chosen) return;
  chosen = i;
  el("lanes-jump").disabled = i < 0 || lineOf(i) < 0;
  tell();
  if (i >= 0 && follow) {
    if (own.begin[i] >= view[1] || own.end[i] <= view[0]) { const wide = view[1] - view[0]; look(own.begin[i] - wide / 4, own.begin[i] + (3 * wide) / 4); }
    const box = el("lanes-window"), top = rowOf(i) * lane;
    if (top < box.scrollTop || top + lane > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
  }
  soon(false);
}
// The slice of a lane at a tick, or the nearest one within so many ticks; -1 for none
function sliceAt(row, t, within) {
  const first = own.first[row], last = own.first[row + 1], i = firstOf(first, last, (j) => own.end[j] > t);
  const off = (j) => Math.max(own.begin[j] - t, t - own.end[j], 0);
  const [nearest] = [i, i - 1].filter((j) => j >= first && j < last).sort((a, b) => off(a) - off(b));
  return nearest !== undefined && off(nearest) <= within ? nearest : -1;
}
function step(by) {
  if (chosen < 0) { const row = own.slots.findIndex((_, each) => sliceAt(each, view[0], 0) >= 0); return choose(row < 0 ? 0 : sliceAt(row, view[0], 0), true); }
  const row = rowOf(chosen);
  choose(Math.min(Math.max(chosen + by, own.first[row]), own.first[row + 1] - 1), true);
}
function across(by) {
  if (chosen < 0) return step(0);
  const row = Math.min(Math.max(rowOf(chosen) + by, 0), own.slots.length - 1);
  choose(sliceAt(row, about(), Infinity), true);
}
const jump = () => { if (chosen >= 0 && lineOf(chosen) >= 0) open(lineOf(chosen), true); };
const KEYS = {
  "+": () => zoom(0.6, about()), "=": () => zoom(0.6, about()), "-": () => zoom(1 / 0.6, about()), "0": () => look(0, own.until),
  ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), ArrowUp: () => across(-1), ArrowDown: () => across(1),
  ",": () => step(-1), ".": () => step(1), Enter: jump,
};
canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
canvas.addEventListener("focus", () => { if (chosen < 0 && canvas.matches(":focus-visible")) step(0); });
for (const [name, key] of [["in", "+"], ["out", "-"], ["earlier", "ArrowLeft"], ["later", "ArrowRight"], ["whole", "0"], ["before", ","], ["after", "."], ["jump", "Enter"]]) el(`lanes-${name}`).addEventListener("click", KEYS[key]);

const inside = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
function under(event) {
  const [x, y] = inside(event), row = Math.floor(y / lane);
  return row < 0 || row >= own.slots.length || x < LEFT || x > drawnWidth - RIGHT ? -1 : sliceAt(row, sx.back(x), sx.back(3) - sx.back(0));
}
const point = (i) => { if (i >= 0) choose(i, false); };  // the last readout stays, so that it can be read
let pressed = null;
canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  const hit = under(event);
  pressed = { x: event.clientX, view, moved: false, before: chosen, hit };
  canvas.setPointerCapture(event.pointerId);
  point(hit);
});
canvas.addEventListener("pointermove", (event) => {
  if (!pressed) return point(under(event));
  const by = event.clientX - pressed.x;
  pressed.moved ||= Math.abs(by) > 4;
  if (!pressed.moved) return;
  const ticks_ = (by / (drawnWidth - LEFT - RIGHT)) * (pressed.view[1] - pressed.view[0]);
  look(pressed.view[0] - ticks_, pressed.view[1] - ticks_);
});
canvas.addEventListener("pointerup", (event) => {
  const was = pressed;
  pressed = null;
  // A finger can't point without a press: the first one tells, the second one on the slice jumps
  if (was && !was.moved && was.hit >= 0 && (event.pointerType === "mouse" || was.before === was.hit)) jump();
});
canvas.addEventListener("pointercancel", () => { pressed = null; });
canvas.addEventListener("wheel", (event) => {
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(((event.deltaX || event.deltaY) / drawnWidth) || 0);
  else if (event.deltaY > 0 && view[1] - view[0] >= own.until) return;  // there is no more: the page scrolls on
  else zoom(event.deltaY < 0 ? 0.8 : 1.25, sx.back(Math.min(Math.max(inside(event)[0], LEFT), drawnWidth - RIGHT)));
  event.preventDefault();
}, { passive: false });

/* ---- what is shown ---- */
function show(index) {
  own = ofGroup(index);
  chosen = -1;
  only = -1;
  view = [0, own.until];
  const here = new Set(own.look.map((each) => looks.reason[each]));
  el("lanes-reasons").replaceChildren(...reasons.flatMap(([name], k) => {
    if (!here.has(k)) return [];
    const button = make("button", { type: "button", "aria-pressed": "false" }, swatch(k), name);
    button.addEventListener("click", () => {
      only = only === k ? -1 : k;
      for (const each of el("lanes-reasons").children) each.setAttribute("aria-pressed", String(only === k && each === button));
      soon();
    });
    return [button];
  }));
  const left = own.of > own.look.length ? ` Of this core group, the first ${amount(own.look.length)} of ${amount(own.of)} slices are shown${own.until < laneData.ticks ? `, up to cycle ${inCycles(own.until)} of ${inCycles(laneData.ticks)}` : ""}${own.left ? `, of ${amount(own.slots.length)} of its ${amount(own.slots.length + own.left)} slots` : ""}.` : "";
  const of = laneData.withBlocks > laneData.groups.length ? ` Of ${amount(laneData.withBlocks)} core groups with blocks, the first, the one that issues most, and the last are shown.` : "";
  el("timeline-note").textContent = `Each lane is a warp slot of a core group, and shows the state of the warp in it. The colour of a wait is that of its longest reason; instructions that issue together show the line of the first. Scroll to zoom, drag to move, click to go to the line. Keys: + and - zoom, 0 shows all, arrows move, comma and full stop select the previous and the next slice, Enter goes to its line.${of}${left}`;
  canvas.setAttribute("aria-label", `Core group ${laneData.groups[index].group}, ${amount(own.slots.length)} slots, ${amount(own.look.length)} slices`);
  el("lanes-jump").disabled = true;
  tell();
  stale = true;
  draw();
}
laneData.groups.forEach((each, index) => el("lanes-group").append(make("option", { value: index }, `Core group ${each.group}${each.why.length ? ` (${each.why.join(", ")})` : ""}`)));
el("lanes-group").addEventListener("change", () => show(+el("lanes-group").value));
addEventListener("resize", () => { if (el("lanes-window").clientWidth !== drawnWidth) { stale = true; draw(); } });
new MutationObserver(() => soon()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
show(0);
})();
