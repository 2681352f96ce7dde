const explained = (() => {
const { data, el, svg, extent, scale, ticks, amount, prefixed } = frame;
const PAGE = 12, LEAST = 0.0005, LONG = 500;  // of a long listing a browser draws what is in sight

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") element.className = value;
    else if (key === "style") for (const [name, to] of Object.entries(value)) element.style.setProperty(name, to);
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
const percent = (part) => (part >= 0.995 ? "100 %" : part >= 0.1 || part === 0 ? `${Math.round(part * 100)} %` : part >= LEAST ? `${(part * 100).toFixed(1)} %` : "< 0.1 %");
const maybe = (value, shown) => (value === null || value === undefined ? "\u2013" : shown(value));
const three = (value) => (value >= 1000 ? amount(Math.round(value)) : String(+value.toPrecision(3)));
const rounded = (value, unit) => { const [number, ...rest] = prefixed(value, unit).split(" "); return [three(+number), ...rest].join(" ").trim(); };
const rate = (value, unit) => (value <= 0 ? `0 ${unit}` : unit.startsWith("bytes") ? rounded(value, unit.replace("bytes", "B")) : `${rounded(value, "").trim()} ${unit}`);
function bytes(value) {
  const names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let power = 0;
  while (value >= 1024 && power < names.length - 1) { value /= 1024; power += 1; }
  return `${+value.toPrecision(3)} ${names[power]}`;
}
const colourOf = (group) => `var(--g${data.groups.indexOf(group)})`;
const hide = (id) => { el(id).hidden = true; };
function table(id, columns, rows, fill) {
  const head = make("tr", {}, ...columns.map(([name, kind]) => make("th", { scope: "col", class: kind ?? "" }, name)));
  el(id).replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows.map(fill)));
}
const cell = (kind, ...children) => make("td", { class: kind }, ...children);
const track = (part, colour) => make("div", { class: "track", "aria-hidden": "true" }, make("div", { class: "fill", style: { width: `${100 * Math.min(1, part)}%`, background: colour ?? "var(--c0)" } }));

/* ---- heading and verdict ---- */
const parameters = Object.entries(data.parameters).map(([name, value]) => `${name} = ${value}`);
const changes = Object.entries(data.changes).map(([name, value]) => `${name} ${value}`);
el("summary").textContent = [parameters.join(", "), changes.length ? `changed of the machine: ${changes.join(", ")}` : ""].filter(Boolean).join("; ");
el("verdict-words").textContent = data.verdict;
el("warnings").replaceChildren(...data.warnings.map((words) => make("li", {}, words)));
el("warnings").hidden = !data.warnings.length;
for (const [name, value, unit] of data.facts) el("facts").append(make("dt", {}, name), make("dd", {}, typeof value === "number" ? (unit ? rounded(value, unit) : amount(value)) : value));
el("advice").hidden = !data.advice.length;
table("advice-rows", [["gain"], ["where", "word"], ["change", "word"], ["how the gain was found", "word"]], data.advice, (each) => make("tr", {}, cell("", make("b", {}, `${each.gain.toFixed(2)}x`)), cell("word", each.where), cell("wrap", each.words), cell("wrap", each.how)));
const fastest = Math.max(2, ...data.whatIfs.map((each) => each.speedup));
if (data.whatIfs.length) {
  el("what-ifs").append(...data.whatIfs.map((each) => make("div", { class: "row" }, make("span", {}, `with ${each.words}`), track((each.speedup - 1) / (fastest - 1)), make("span", { class: "value" }, make("b", {}, `${each.speedup.toFixed(2)}x`)))));
  el("what-ifs").append(make("p", { class: "note" }, `How many times as fast the run would be. Bars begin at 1x and end at ${+fastest.toPrecision(3)}x.`));
} else el("what-ifs").append(make("p", { class: "note" }, "Nothing was tried in this run."));

/* ---- speed of light ---- */
el("unit-rows").className = "units";
for (const unit of data.units) {
  const least = unit.is_least ? "at least " : "";
  const of = unit.peak === null ? `${rate(unit.achieved, unit.unit)}; nothing limits it` : `${rate(unit.achieved, unit.unit).replace(` ${unit.unit}`, "")} of ${rate(unit.peak, unit.unit)}`;
  el("unit-rows").append(make("div", { class: "row" }, make("span", {}, `${unit.name} (${amount(unit.number)})`), track(unit.busy), make("span", { class: "value" }, make("b", {}, unit.peak === null ? "\u2013" : `${unit.is_least ? "\u2265 " : ""}${percent(unit.busy)}`)), make("span", { class: "value rates" }, least + of)));
}
if (!data.units.length) el("unit-rows").append(make("p", { class: "note" }, "The run took no time."));
if (data.units.some((unit) => unit.is_least)) el("unit-rows").append(make("p", { class: "note" }, "Lower bounds (\u2265): write-backs of the L2 and chunks that pass a port together are not counted."));

/* ---- what warps do ---- */
if (data.reasons.length) {
  let before = null, odd = false;
  for (const reason of data.reasons) {
    odd = reason.group === before && !odd;
    before = reason.group;
    const part = make("div", { class: odd ? "shade" : "", title: `${reason.name}: ${percent(reason.share)}`, style: { flex: `${reason.share} 1 0`, background: colourOf(reason.group) } });
    el("stack").append(part);
  }
  el("stack").setAttribute("aria-label", data.reasons.map((reason) => `${reason.name} ${percent(reason.share)}`).join(", "));
  const sorted = [...data.reasons].sort((a, b) => b.share - a.share);
  table("reasons", [["reason", "word"], ["of the time"], ["group", "word"], ["what the warp does", "word"], ["in Nsight Compute", "word"]], sorted, (reason) => make("tr", {}, cell("word", make("span", { class: "swatch", style: { background: colourOf(reason.group) } }), reason.name), cell("", percent(reason.share)), cell("word", reason.group), cell("word", reason.what), cell("word", reason.nsight)));
} else hide("warps");
for (const each of data.time) el("time-rows").append(make("div", { class: "row" }, make("span", {}, each.name, make("span", { class: "what" }, each.what)), track(each.share, "var(--c7)"), make("span", { class: "value" }, make("b", {}, percent(each.share)))));
el("time").hidden = !data.time.length;

/* ---- source ---- */
const hot = data.heat ? data.heat.hot : [], rows = new Map();
let here = -1, shown = PAGE;
const top_ = Math.max(LEAST, ...hot.map((line) => line.share));
const at = (line) => (line.line ? `${data.heat.files[line.file].name}:${line.line}` : line.text);
function heatOf(line, most) {
  const [, group] = line.reasons[0] ?? ["", data.groups[0]];
  return make("span", { class: "heat" }, make("i", { style: { width: `${(100 * line.share) / most}%`, background: colourOf(group) } }), make("b", {}, line.share ? percent(line.share) : ""));
}
const mainly = (line) => (line.reasons.length ? `${line.reasons[0][0]} ${percent(line.reasons[0][2])}` : "");
function below(line) {
  const list = make("dl");
  const say = (name, value) => { if (value) list.append(make("dt", {}, name), make("dd", {}, value)); };
  say("of warps' time", percent(line.share));
  say("goes to", line.reasons.map(([name, , part]) => `${name} ${percent(part)}`).join(", "));
  say("in", line.function);
  say("arrays", line.arrays.join(", "));
  say("instructions of warps", amount(line.instructions));
  say("threads a warp", maybe(line.threads, three).replace("\u2013", ""));
  if (line.requests) say("memory", `${amount(line.requests)} request${line.requests === 1 ? "" : "s"}, ${three(line.chunks / line.requests)} chunk${line.chunks === line.requests ? "" : "s"} each, ${bytes(line.chunks * data.chunk)}${line.asked ? ` for ${bytes(line.asked)} asked for` : ""}`);
  say("hit rates", [line.l1 === undefined ? "" : `L1 ${percent(line.l1)}`, line.l2 === undefined ? "" : `L2 ${percent(line.l2)}`].filter(Boolean).join(", "));
  for (const [name, simulated, measured, difference] of line.profiled ?? []) say(name, `${simulated}, measured ${measured}${difference ? ` (${difference})` : ""}`);
  const below = make("div", { class: "below" }, list);
  if (line.made) {
    const most = Math.max(LEAST, ...line.made.map((each) => each.share));
    below.append(make("h4", {}, `${amount(line.made.length)} place${line.made.length === 1 ? "" : "s"} in the compiled code${line.left ? `, and ${amount(line.left)} more that are left out` : ""}`));
    below.append(...line.made.map((each) => make("div", { class: "line" }, heatOf(each, most), make("code", {}, each.text), make("span", { class: "why" }, mainly(each)))));
  }
  for (const code of line.code ?? []) {
    const most = Math.max(LEAST, ...code.rows.map((row) => row[2] ?? 0));
    const many = `${amount(code.rows.length)} instruction${code.rows.length === 1 ? "" : "s"} of ${code.name}${code.left ? `, and ${amount(code.left)} more that are left out` : ""}`;
    const rows = code.rows.map(([text, times, share, why, group]) => make("div", { class: "line" }, share === undefined ? make("span", { class: "heat" }) : heatOf({ share, reasons: [["", group]] }, most), make("code", {}, text), make("span", { class: "why" }, [times === null ? "" : `${amount(times)} times`, why ?? ""].filter(Boolean).join(", "))));
    below.append(make("details", {}, make("summary", {}, many), ...rows));
  }
  return below;
}
function close(index) {
  const row = rows.get(index);
  if (row?.getAttribute("aria-expanded") !== "true") return;
  row.setAttribute("aria-expanded", "false");
  row.nextElementSibling.remove();
}
function open(index, jump) {
  const row = rows.get(index);
  if (!row) return;
  if (here !== index) close(here);
  here = index;
  if (row.getAttribute("aria-expanded") !== "true") {
    row.setAttribute("aria-expanded", "true");
    row.after(below(hot[index]));
  }
  el("said").textContent = `Line ${index + 1} of ${amount(hot.length)} by heat: ${at(hot[index])}, ${percent(hot[index].share)}, ${mainly(hot[index])}`;
  if (!jump) return;
  row.focus({ preventScroll: true });
  settle(row, 20, 3);
}
// Lines of a long listing get their height when they come into sight, which moves the others: until it is at rest
function settle(row, frames, still) {
  if (row !== document.activeElement) return;
  still = show(row) ? 3 : still - 1;
  if (frames && still) requestAnimationFrame(() => settle(row, frames - 1, still));
}
function show(row) {
  const list = row.parentElement, top = () => row.getBoundingClientRect().top, before = [list.scrollTop, scrollY];
  const within = top() - list.getBoundingClientRect().top;
  if (within < 0 || within > list.clientHeight / 2) list.scrollTop += within - list.clientHeight / 3;
  if (top() < 80 || top() > innerHeight / 2) scrollBy({ top: top() - innerHeight / 3 });
  return list.scrollTop !== before[0] || scrollY !== before[1];
}
const step = (by) => { if (hot.length) open(here < 0 ? 0 : Math.min(Math.max(here + by, 0), hot.length - 1), true); };
function listing(file) {
  const lines = file.lines.map(([number, text, index]) => {
    if (number === 0) return make("div", { class: "gap" }, text);
    const shownNumber = make("span", { class: "number" }, number < 0 ? "" : String(number)), code = make("code", {}, text);
    if (index === null) return make("div", { class: "line cold" }, make("span"), shownNumber, code);
    const description = `${number < 0 ? "" : `line ${number}, `}${percent(hot[index].share)}, ${mainly(hot[index])}: ${text}`;
    const row = make("button", { class: "line", type: "button", "aria-expanded": "false", "aria-label": description }, heatOf(hot[index], top_), shownNumber, code, make("span", { class: "why" }, mainly(hot[index])));
    row.addEventListener("click", () => { if (row.getAttribute("aria-expanded") === "true") close(index); else open(index, false); });
    rows.set(index, row);
    return row;
  });
  return make("div", { class: "file" }, make("h3", {}, file.name, file.note ? make("span", {}, ` (${file.note})`) : null), make("div", { class: lines.length > LONG ? "listing long" : "listing" }, ...lines));
}
function hottest() {
  const first = hot.slice(0, shown);
  const has = (key) => hot.some((line) => line[key] !== undefined), named = hot.some((line) => line.arrays.length);
  const columns = [["line", "word"], ["of the time"], ["mostly", "word"], ...(named ? [["arrays", "word"]] : []), ...(has("requests") ? [["chunks a request"]] : []), ...(has("l1") ? [["L1 hits"]] : []), ...(has("l2") ? [["L2 hits"]] : []), ...(has("threads") ? [["threads a warp"]] : []), ["", "word"]];
  table("hottest", columns, first, (line) => {
    const index = hot.indexOf(line), jump = make("button", { type: "button" }, at(line));
    jump.addEventListener("click", () => open(index, true));
    const cells = [cell("word", jump), cell("", percent(line.share)), cell("word", mainly(line))];
    if (named) cells.push(cell("word", line.arrays.join(", ")));
    if (has("requests")) cells.push(cell("", line.requests ? three(line.chunks / line.requests) : ""));
    if (has("l1")) cells.push(cell("", maybe(line.l1, percent)));
    if (has("l2")) cells.push(cell("", maybe(line.l2, percent)));
    if (has("threads")) cells.push(cell("", maybe(line.threads, three)));
    return make("tr", {}, ...cells, cell("word code", line.text));
  });
  el("more").hidden = hot.length <= shown;
}
if (hot.length) {
  const more = data.heat.left.lines ? ` ${amount(data.heat.left.lines)} lines with ${percent(data.heat.left.share)} of the time are left out.` : "";
  const start = data.start >= 0.005 ? ` ${percent(data.start)} goes by before warps' first operations and belongs to no line.` : "";
  el("source-note").textContent = `Each line's share of the time of all warps, and the reason that takes most of it. Click a line for details; n and p go to the next cooler and the next hotter line.${start}${more}`;
  hottest();
  el("files").append(...data.heat.files.map(listing));
  el("next").addEventListener("click", () => step(1));
  el("previous").addEventListener("click", () => step(-1));
  el("more").addEventListener("click", () => { shown *= 4; hottest(); });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "n") step(1);
    else if (event.key === "p") step(-1);
    else if (event.key === "Escape") close(here);
  });
} else hide("source");

/* ---- memory ---- */
if (data.memory) {
  const { levels, ways } = data.memory, moved = (way) => way.loads + way.stores + way.atomics, most = Math.max(...ways.map(moved));
  el("memory-note").textContent = `Traffic between the levels of memory, in whole chunks of ${bytes(data.chunk)}.`;
  levels.forEach((level, index) => {
    const box = make("div", { class: "level" }, make("b", {}, level.name));
    if (level.bytes) box.append(make("span", {}, level.name === "L1" ? `${bytes(level.bytes)} a group` : bytes(level.bytes)));
    if (level.number) box.append(make("span", {}, `${amount(level.number)}${level.name === "memory" ? ` partition${level.number === 1 ? "" : "s"}` : ""}`));
    if (level.rate !== undefined) box.append(make("span", { class: "rate" }, `${percent(level.rate)} hits`));
    el("chart").append(box);
    const way = ways[index];
    if (!way || index === levels.length - 1) return;
    const row = make("div", { class: "way" }, make("div", {}, make("b", {}, `${way.least ? "\u2265 " : ""}${bytes(moved(way))}`)), make("div", { class: "arrow", "aria-hidden": "true", style: { "--thick": `${Math.max(1, 9 * moved(way) / most)}px` } }));
    for (const name of ["loads", "stores", "atomics"]) if (way[name]) row.append(make("div", {}, `${name} ${bytes(way[name])}`));
    if (way.asked) row.append(make("div", { class: "dim" }, `${bytes(way.asked)} asked for`));
    if (way.least) row.append(make("div", { class: "dim" }, "without what is written back"));
    el("chart").append(row);
  });
  const has = (key) => data.arrays.some((array) => array[key] !== undefined);
  table("arrays", [["array", "word"], ["of the time"], ["mostly", "word"], ["requests"], ["chunks"], ["bytes"], ...(has("asked") ? [["asked for"]] : []), ["chunks a request"], ...(has("l1") ? [["L1 hits"]] : []), ...(has("l2") ? [["L2 hits"]] : [])], data.arrays, (array) => make("tr", {}, cell("word", array.name || "all (a workload names no arrays)"), cell("", percent(array.share)), cell("word", mainly(array)), cell("", maybe(array.requests, amount)), cell("", maybe(array.chunks, amount)), cell("", maybe(array.chunks, (chunks) => bytes(chunks * data.chunk))), ...(has("asked") ? [cell("", maybe(array.asked, bytes))] : []), cell("", array.requests ? three(array.chunks / array.requests) : ""), ...(has("l1") ? [cell("", maybe(array.l1, percent))] : []), ...(has("l2") ? [cell("", maybe(array.l2, percent))] : [])));
  const two = (now, best) => now === null ? "" : `${three(now)} (${three(best)})`;
  el("accesses-part").hidden = !data.accesses.length;
  table("accesses", [["line", "word"], ["array", "word"], ["what", "word"], ["of the time"], ["requests"], ["chunks a request (at best)"], ["passes (at best)"], ["used"], ["reuse"], ["would save"]], data.accesses, (each) => make("tr", {}, cell("word", each.line ? `${each.file}:${each.line}` : ""), cell("word", each.array), cell("word", each.kind.replace("_", " ")), cell("", percent(each.share)), cell("", amount(each.requests)), cell("", two(each.chunks, each.ideal_chunks)), cell("", two(each.passes, each.ideal_passes)), cell("", each.used === null ? "" : percent(each.used)), cell("", each.reuse === null ? "" : three(each.reuse)), cell("", each.saves === null ? "" : percent(each.saves))));
} else hide("memory");

/* ---- plots ---- */
const LEFT = 56, RIGHT = 14, TOP = 12, BOTTOM = 44;
function axesOf(image, sx, sy, width, height, across, up, shownX, shownY) {
  let taken = -Infinity;
  for (const t of ticks(sx)) {
    const p = sx.to(t), text = shownX(t), half = text.length * 3.6;
    image.append(svg("line", { class: "grid", x1: p, x2: p, y1: TOP, y2: height - BOTTOM }));
    if (p - half < taken || p + half > width) continue;
    taken = p + half + 8;
    image.append(svg("text", { x: p, y: height - BOTTOM + 16, "text-anchor": "middle" }, text));
  }
  let above = Infinity;
  for (const t of ticks(sy)) {
    const p = sy.to(t);
    image.append(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: p, y2: p }));
    if (p > above - 15 || p < TOP) continue;
    above = p;
    image.append(svg("text", { x: LEFT - 6, y: p + 4, "text-anchor": "end" }, shownY(t)));
  }
  image.append(svg("path", { class: "axis", d: `M${LEFT} ${TOP}V${height - BOTTOM}H${width - RIGHT}` }));
  image.append(svg("text", { x: (LEFT + width - RIGHT) / 2, y: height - 8, "text-anchor": "middle" }, across));
  image.setAttribute("aria-label", `${up} over ${across}`);
}
const DASHES = ["", "7 4", "2 3", "10 3 2 3"];
function key(entries) {
  return make("ul", { class: "key" }, ...entries.map(([name, colour, dash, mark]) => {
    const icon = svg("svg", { viewBox: "0 0 26 12", "aria-hidden": "true" });
    icon.append(mark ? svg("path", { d: mark(13, 6), fill: mark === MARKS[0] ? colour : "none", stroke: colour, "stroke-width": 2 }) : svg("line", { x1: 0, x2: 26, y1: 6, y2: 6, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash }));
    return make("li", {}, icon, name);
  }));
}
const widthOf = (node) => Math.round(Math.min(Math.max(node.clientWidth || 900, 300), 1100));

/* ---- over time ---- */
function drawOverTime() {
  const overTime = data.overTime, plots = el("plots");
  plots.replaceChildren();
  for (const [title, names, limit] of [["Warps of a core group", ["living", "waiting for memory"], overTime.most], ["Warps of a core group at its ports", ["ready", "issuing"], null]]) {
    const width = widthOf(plots), height = 210, image = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
    const values = names.flatMap((name) => overTime.series[name]), peak = Math.max(1e-9, extent(values)[1]);
    const near = limit !== null && limit <= 4 * peak, high = near ? Math.max(limit, peak) * 1.05 : peak * 1.08;
    const sx = scale(0, overTime.whole, false, LEFT, width - RIGHT), sy = scale(0, high, false, height - BOTTOM, TOP);
    const inSeconds = overTime.unit === "s";
    axesOf(image, sx, sy, width, height, inSeconds ? "time" : "cycles", title, (t) => (t === 0 ? "0" : inSeconds ? rounded(t, "s") : amount(t)), (t) => amount(t));
    if (near) image.append(svg("line", { x1: LEFT, x2: width - RIGHT, y1: sy.to(limit), y2: sy.to(limit), stroke: "var(--dim)", "stroke-dasharray": DASHES[2] }));
    names.forEach((name, index) => {
      const series = overTime.series[name], f = (v) => Math.round(v * 10) / 10;
      const points = series.map((value, i) => `${f(sx.to((overTime.whole * i) / series.length))} ${f(sy.to(value))}H${f(sx.to((overTime.whole * (i + 1)) / series.length))}`);
      image.append(svg("path", { class: "series", d: `M${points.join("L")}`, fill: "none", stroke: `var(--c${index})`, "stroke-width": 1.6, "stroke-dasharray": DASHES[index] }));
    });
    const entries = names.map((name, index) => [name === "living" ? "there" : name, `var(--c${index})`, DASHES[index]]);
    if (near) entries.push([`as many as fit: ${amount(limit)}`, "var(--dim)", DASHES[2]]);
    const beyond = limit !== null && !near ? [`${amount(limit)} would fit`] : [];
    plots.append(make("h3", {}, title), key(entries), ...beyond.map((words) => make("p", { class: "note" }, words)), make("div", { class: "plot" }, image));
  }
  const passing = overTime.passing;
  if (!passing) return;
  const per = overTime.unit === "s" ? "B/s" : "B/cycle";
  // Levels differ by orders of magnitude: each is shown as a part of its own peak, where it has one
  const limited = Object.keys(passing.bandwidth).filter((name) => passing.peaks[name] !== undefined);
  const parts = limited.map((name) => [`${name}, of ${rounded(passing.peaks[name], per)}`, passing.bandwidth[name].map((value) => value / passing.peaks[name])]);
  const free = Object.keys(passing.bandwidth).filter((name) => passing.peaks[name] === undefined).map((name) => [name, passing.bandwidth[name].map((value) => value * (overTime.unit === "s" ? 1e-9 : 1))]);
  if (parts.length) plotOf(plots, overTime, "Bandwidth, as a share of its peak", parts, (t) => percent(t), passing.ends);
  if (free.length) plotOf(plots, overTime, `Bandwidth without a limit, in ${overTime.unit === "s" ? "GB/s" : "bytes a cycle"}`, free, (t) => amount(t), passing.ends);
  const hits = Object.entries(passing.hits).map(([name, values]) => [`${name} hits`, values]);
  if (hits.length) plotOf(plots, overTime, "Hit rates of loads", hits, (t) => percent(t), passing.ends);
}
// Steps over stretches that end at these parts of the run; where a value is null, none
function plotOf(plots, overTime, title, series, words, ends) {
  const width = widthOf(plots), height = 210, image = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  const peak = Math.max(1e-9, extent(series.flatMap(([, values]) => values.filter((value) => value !== null)))[1]);
  const inSeconds = overTime.unit === "s";
  const sx = scale(0, overTime.whole, false, LEFT, width - RIGHT), sy = scale(0, peak * 1.08, false, height - BOTTOM, TOP);
  axesOf(image, sx, sy, width, height, inSeconds ? "time" : "cycles", title, (t) => (t === 0 ? "0" : inSeconds ? rounded(t, "s") : amount(t)), (t) => (t === 0 ? "0" : words(t)));
  const f = (v) => Math.round(v * 10) / 10;
  series.forEach(([, values], index) => {
    let d = "", before = null;
    values.forEach((value, i) => {
      if (value !== null) d += `${before === null ? "M" : "L"}${f(sx.to(overTime.whole * (i ? ends[i - 1] : 0)))} ${f(sy.to(value))}H${f(sx.to(overTime.whole * ends[i]))}`;
      before = value;
    });
    image.append(svg("path", { class: "series", d, fill: "none", stroke: `var(--c${index})`, "stroke-width": 1.6, "stroke-dasharray": DASHES[index] }));
  });
  plots.append(make("h3", {}, title), key(series.map(([name], index) => [name, `var(--c${index})`, DASHES[index]])), make("div", { class: "plot" }, image));
}
if (data.overTime) {
  el("over-time-note").textContent = `Averages over ${data.overTime.groups === 1 ? "the core group" : `all ${amount(data.overTime.groups)} core groups`}, in each of ${amount(data.overTime.series.living.length)} equal intervals of the run.`;
} else el("over-time-note").textContent = "Not recorded: a run that keeps its timeline has it here, and the timeline of core groups below, as simtmm.analysis.run.run(..., timeline=True) does.";

if (!data.lanes) hide("timeline");

/* ---- roofline ---- */
// A disc within a square within a triangle: points that lie on one another are all seen
const MARKS = [
  (x, y) => `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0`,
  (x, y, k = 1) => `M${x - 4.5 * k} ${y - 4.5 * k}h${9 * k}v${9 * k}h${-9 * k}z`,
  (x, y, k = 1) => `M${x} ${y - 6 * k}l${5.5 * k} ${9.5 * k}h${-11 * k}z`,
];
const LARGER = [1, 1.5, 2.6];
const LEVEL_COLOURS = { memory: 0, L2: 1, "memory ports": 2 };
function drawRoofline() {
  const { levels, flat, rate: own, per, word, roofs, lines } = data.roofline, node = el("roofline-plot");
  const width = widthOf(node), height = width < 600 ? 300 : 380, image = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  const xs = levels.flatMap((level) => [level.intensity, ...(level.bandwidth === null ? [] : [flat / level.bandwidth])]);
  xs.push(...lines.filter((line) => line.intensity !== null).map((line) => line.intensity));
  const [low, high] = extent(xs), ys = [own, flat, ...lines.map((line) => line.rate), ...levels.filter((level) => level.bandwidth !== null).map((level) => level.bandwidth * low)];
  const sx = scale(low / 3, high * 3, true, LEFT + 22, width - RIGHT), bottom = Math.min(own, ...ys) / 2;
  const sy = scale(bottom, flat * 2, true, height - BOTTOM, TOP);
  const plot = { ...sx };
  axesOf(image, plot, sy, width, height, `${word} per byte`, `${word} per ${per}`, (t) => (t >= 0.001 && t < 1e6 ? amount(t) : t.toExponential(0)), (t) => rounded(t, ""));
  const ridge = Math.min(...levels.filter((level) => level.bandwidth !== null).map((level) => flat / level.bandwidth));
  const from = Number.isFinite(ridge) ? Math.max(sx.low, ridge) : sx.low;
  image.append(svg("line", { class: "roof", x1: sx.to(from), x2: sx.to(sx.high), y1: sy.to(flat), y2: sy.to(flat), stroke: "var(--ink)", "stroke-width": 2 }));
  const entries = [[`issue ports: ${rounded(flat, "")} per ${per}`, "var(--ink)", ""]];
  for (const level of levels) {
    const k = LEVEL_COLOURS[level.name], colour = `var(--c${k})`;
    if (level.bandwidth !== null) {
      const begin = Math.max(sx.low, bottom / level.bandwidth), end = flat / level.bandwidth;
      image.append(svg("line", { class: "roof", x1: sx.to(begin), x2: sx.to(end), y1: sy.to(begin * level.bandwidth), y2: sy.to(flat), stroke: colour, "stroke-width": 2, "stroke-dasharray": DASHES[k] }));
      entries.push([`${level.name}: ${rounded(level.bandwidth, `B/${per}`)}`, colour, DASHES[k]]);
    }
    entries.push([`the run, by bytes ${level.name === "memory ports" ? "at the ports" : `at ${level.name === "L2" ? "the L2" : "memory"}`}`, colour, "", MARKS[k]]);
  }
  for (const roof of roofs) {
    const y = sy.to(roof.rate);
    image.append(svg("line", { class: "roof", x1: sx.to(sx.low), x2: sx.to(sx.high), y1: y, y2: y, stroke: "var(--dim)", "stroke-width": 1.5, "stroke-dasharray": "2 4" }));
    entries.push([`${roof.name}: ${rounded(roof.rate, "")} per ${per}`, "var(--dim)", "2 4"]);
  }
  const labels = [];
  for (const line of lines) {
    const loads = line.intensity !== null, y = sy.to(line.rate), x = loads ? sx.to(line.intensity) : width - RIGHT - 4;
    const mark = svg("circle", { class: "line-point", cx: x, cy: y, r: 3.5, fill: loads ? `var(--c${LEVEL_COLOURS[line.level]})` : "var(--ink)" });
    mark.append(svg("title", {}, `${line.where}: ${loads ? `${three(line.intensity)} ${word} per byte at ${line.level}` : "loads nothing itself"}`));
    image.append(mark);
    const near = labels.find((label) => Math.abs(label.x - x) < 16 && Math.abs(label.y - y) < 11);
    if (near) near.text.textContent += `, ${line.line}`;
    else {
      const text = svg("text", loads ? { x: x + 6, y: y + 4 } : { x: x - 6, y: y + 4, "text-anchor": "end" }, line.line);
      labels.push({ x, y, text });
      image.append(text);
    }
  }
  for (const level of levels) {
    const k = LEVEL_COLOURS[level.name], d = MARKS[k](sx.to(level.intensity), sy.to(own), LARGER[k]);
    image.append(svg("path", { class: "point", d, fill: k ? "none" : "var(--c0)", stroke: `var(--c${k})`, "stroke-width": 2 }));
  }
  node.replaceChildren(key(entries), image);
}
if (data.roofline && data.roofline.levels.length) {
  const { levels, flat, rate: own, per, counted, word } = data.roofline;
  el("roofline-note").textContent = `Counts ${counted}: ${rounded(own, "")} per ${per === "s" ? "second" : per}, where the issue ports allow ${rounded(flat, "")}. Bytes are whole chunks that reach a level, so each level has its own point.${data.roofline.lines.length ? " Small numbered discs are the hottest lines that compute, by line number: each line's share of the rate, over its own bytes at the furthest level that they reach. Lines that load nothing are at the right edge." : ""}`;
  table("levels", [["level", "word"], [`${word} per byte`], ["roof there"], ["reached of it"]], levels, (level) => {
    const roof = level.bandwidth === null ? flat : Math.min(flat, level.bandwidth * level.intensity);
    return make("tr", {}, cell("word", level.name), cell("", `${level.least ? "\u2264 " : ""}${three(level.intensity)}`), cell("", `${rounded(roof, "")} per ${per}`), cell("", percent(own / roof)));
  });
} else hide("roofline");

/* ---- models ---- */
if (data.models.length) {
  el("models-note").textContent = data.besideTheModel;
  table("predictions", [["model", "word"], ["cycles"], ["time"], ["of simulated"], ["bound by", "word"], ["source", "word"]], data.models, (model) => make("tr", {}, cell("word", model.name), cell("", amount(+model.cycles.toPrecision(6))), cell("", maybe(model.seconds, (value) => (value > 0 ? rounded(value, "s") : "0 s"))), cell("", maybe(model.ratio, (value) => `${three(value)}x`)), cell("word", model.bound), cell("wrap", model.source)));
} else hide("models");

for (const section of document.querySelectorAll("main > section:not([hidden])")) el("contents").append(make("li", {}, make("a", { href: `#${section.id}` }, section.querySelector("h2").textContent)));
function nameParts() {
  data.reasons.forEach((reason, index) => {
    const words = `${reason.name} ${percent(reason.share)}`, room = el("stack").clientWidth * reason.share;
    el("stack").children[index].textContent = room > 8 * words.length ? words : "";
  });
}
let drawn = 0;
function draw() {
  if (drawn === document.documentElement.clientWidth) return;
  drawn = document.documentElement.clientWidth;
  nameParts();
  if (data.overTime) drawOverTime();
  if (data.roofline && data.roofline.levels.length) drawRoofline();
}
draw();
addEventListener("resize", draw);
return { make, at, open, hot };
})();
