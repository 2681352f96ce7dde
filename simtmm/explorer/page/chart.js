/* Pictures of numbers: the curve over what is dragged, stalls, roofline. */
const LEFT = 62, RIGHT = 14, TOP = 26, BOTTOM = 40;

function words(x, y, text, more = {}) { return svg("text", { x, y, "font-size": 12, fill: "var(--ink)", ...more }, text); }

function axes(picture, width, height, sx, sy, xName, yName, numbers = amount) {
  const right = width - RIGHT, bottom = height - BOTTOM;
  for (const v of ticks(sy, 5)) {
    picture.append(svg("line", { x1: LEFT, x2: right, y1: sy.to(v), y2: sy.to(v), stroke: "var(--line)" }));
    picture.append(words(LEFT - 6, sy.to(v) + 4, numbers(v), { "text-anchor": "end", fill: "var(--dim)" }));
  }
  let last = -Infinity;
  for (const v of ticks(sx, 7)) {
    const x = sx.to(v);
    picture.append(svg("line", { x1: x, x2: x, y1: bottom, y2: bottom + 4, stroke: "var(--dim)" }));
    if (x - last > 34) { picture.append(words(x, bottom + 16, amount(v), { "text-anchor": "middle", fill: "var(--dim)" })); last = x; }
  }
  picture.append(words((LEFT + right) / 2, height - 6, xName, { "text-anchor": "middle" }), words(4, 14, yName));
}
// A line whose points have a shape, so that no two differ by colour alone
function line(picture, points, sx, sy, colour, dash, shape) {
  const known = points.filter(([, y]) => y !== null && y > 0);
  if (!known.length) return;
  picture.append(svg("path", { d: known.map(([x, y], i) => `${i ? "L" : "M"}${sx.to(x).toFixed(1)} ${sy.to(y).toFixed(1)}`).join(""), fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash }));
  for (const [x, y] of known) {
    const [a, b] = [sx.to(x), sy.to(y)];
    if (shape === "dot") picture.append(svg("circle", { cx: a, cy: b, r: 3, fill: colour }));
    else if (shape === "square") picture.append(svg("rect", { x: a - 2.5, y: b - 2.5, width: 5, height: 5, fill: colour }));
  }
}
function mark(picture, x, height, text, colour, dash, at) {
  picture.append(svg("line", { x1: x, x2: x, y1: TOP, y2: height - BOTTOM, stroke: colour, "stroke-width": 1.5, "stroke-dasharray": dash }));
  picture.append(words(x + 4, TOP + 11 + 14 * at, text, { fill: colour }));
}

function curvePicture(curve, name, other) {
  const width = 640, height = 280, numeric = curve.values.every((v) => typeof v === "number" && v > 0);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Time over ${name}` });
  const xs = numeric ? curve.values : curve.values.map((_, i) => i + 1);
  const ys = [...curve.simulated, ...curve.model].filter((v) => v !== null && v > 0);
  if (!ys.length) return picture;
  const low = Math.min(...ys), high = Math.max(...ys), log = high / low > 20;
  const sy = scale(log ? low / 1.2 : 0, high * (log ? 1.2 : 1.08), log, height - BOTTOM, TOP);
  const ends = xs.length > 1 ? [Math.min(...xs), Math.max(...xs)] : [xs[0] / 2, xs[0] * 2];
  const sx = scale(...ends, numeric, LEFT + 12, width - RIGHT - 12);
  if (numeric) axes(picture, width, height, sx, sy, name, "cycles");
  else {
    axes(picture, width, height, { ...sx, log: false, low: 1, high: 0 }, sy, name, "cycles");
    curve.values.forEach((v, i) => picture.append(words(sx.to(i + 1), height - BOTTOM + 16, String(v), { "text-anchor": i === 0 ? "start" : i === xs.length - 1 ? "end" : "middle" })));
  }
  const pairs = (column) => xs.map((x, i) => [x, column[i]]);
  line(picture, pairs(curve.model), sx, sy, "var(--c1)", "6 4", "square");
  line(picture, pairs(curve.simulated), sx, sy, "var(--c0)", curve.part < 1 ? "2 3" : "none", "dot");
  if (curve.knee) mark(picture, sx.to(curve.knee), height, `knee ${amount(curve.knee)}`, "var(--c0)", "3 3", 0);
  if (curve.threshold) mark(picture, sx.to(curve.threshold), height, `TMM threshold ${amount(curve.threshold)}`, "var(--c1)", "6 4", 1);
  const at = numeric ? curve.present : curve.values.indexOf(curve.present) + 1;
  const place = curve.values.findIndex((v) => v === curve.present);
  if (typeof at === "number" && at > 0) {
    const x = sx.to(at);
    if (x >= LEFT && x <= width - RIGHT) {
      picture.append(svg("line", { x1: x, x2: x, y1: TOP, y2: height - BOTTOM, stroke: "var(--ink)" }));
      const y = place >= 0 ? curve.simulated[place] : null;
      if (y) picture.append(svg("circle", { cx: x, cy: sy.to(y), r: 6, fill: "none", stroke: "var(--ink)", "stroke-width": 2 }));
    }
  }
  if (other && other >= sy.low && other <= sy.high) {
    picture.append(svg("line", { x1: LEFT, x2: width - RIGHT, y1: sy.to(other), y2: sy.to(other), stroke: "var(--c3)", "stroke-dasharray": "8 3 2 3" }), words(width - RIGHT, sy.to(other) - 4, "B", { fill: "var(--c3)", "text-anchor": "end" }));
  }
  picture.append(words(width - RIGHT - 190, 14, curve.part < 1 ? `\u25cf simulated (${percent(curve.part)} of it)` : "\u25cf simulated", { fill: "var(--c0)" }), words(width - RIGHT - 34, 14, "\u25a0 TMM", { fill: "var(--c1)" }));
  return picture;
}

// What warps do, of their time: a bar for each configuration
// Reasons of one group have its colour, each a shade of its own: the latency of memory and that of the L2, say
function reasonColour(run, reason) {
  const alike = run.reasons.filter((each) => each.group === reason.group).map((each) => each.name);
  const shade = 100 - 26 * Math.min(2, Math.max(0, alike.indexOf(reason.name)));
  return `color-mix(in srgb, var(--g${run.groups.indexOf(reason.group)}) ${shade}%, var(--mixed))`;
}
function stallPicture(runs) {
  const width = 640, bar = 46, height = runs.length * bar + 8;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "What warps do, of their time" });
  runs.forEach(([side, run], row) => {
    let x = runs.length > 1 ? 18 : 0;
    const room = width - x, top = row * bar + 4;
    if (runs.length > 1) picture.append(words(0, top + 24, side));
    run.reasons.forEach((each, place) => {
      const wide = each.share * room, colour = reasonColour(run, each);
      picture.append(svg("rect", { x, y: top, width: Math.max(0.5, wide - 1), height: bar - 10, fill: colour }, svg("title", {}, `${each.name}: ${percent(each.share)} (${each.what})`)));
      const text = wide > 50 ? cut(`${each.name} ${percent(each.share)}`, Math.floor(wide / 6.6)) : "";
      if (text.length > 3) picture.append(words(x + 5, top + 22, text, { fill: "var(--paper)" }));
      x += wide;
    });
  });
  return picture;
}

function rooflinePicture(runs) {
  const width = 640, height = 280;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Roofline" });
  const known = runs.filter(([, run]) => run.roofline);
  const first = known[0]?.[1].roofline;
  if (!first) return null;
  const points = known.flatMap(([side, run]) => run.roofline.levels.filter((level) => level.intensity).map((level) => [side, level, run.roofline]));
  const xs = points.map(([, level]) => level.intensity), knees = first.levels.filter((level) => level.bandwidth).map((level) => first.flat / level.bandwidth);
  const all = [...xs, ...knees].filter((v) => v > 0);
  if (!all.length) all.push(1);
  const rates = known.map(([, run]) => run.roofline.rate);
  const sx = scale(Math.min(...all) / 4, Math.max(...all) * 4, true, LEFT, width - RIGHT);
  const sy = scale(Math.min(...rates, first.flat) / 8, first.flat * 2, true, height - BOTTOM, TOP);
  axes(picture, width, height, sx, sy, `${first.word} per byte`, `${first.word} per ${first.per}`, (v) => prefixed(v, ""));
  const clip = (y) => Math.min(height - BOTTOM, Math.max(TOP, y));
  first.levels.forEach((level, place) => {
    if (!level.bandwidth) return;
    const knee = Math.min(first.flat / level.bandwidth, sx.high), begin = Math.max(sx.low, sy.low / level.bandwidth);
    const dash = ["none", "7 4", "2 3"][place % 3];
    if (begin < knee) picture.append(svg("path", { d: `M${sx.to(begin)} ${clip(sy.to(begin * level.bandwidth))}L${sx.to(knee)} ${sy.to(Math.min(first.flat, knee * level.bandwidth))}`, stroke: `var(--c${place})`, "stroke-width": 2, "stroke-dasharray": dash, fill: "none" }));
  });
  picture.append(svg("line", { x1: LEFT, x2: width - RIGHT, y1: sy.to(first.flat), y2: sy.to(first.flat), stroke: "var(--ink)", "stroke-width": 2 }), words(width - RIGHT, sy.to(first.flat) - 5, "issue ports", { "text-anchor": "end" }));
  points.forEach(([side, level, own], place) => {
    const x = sx.to(level.intensity), y = clip(sy.to(own.rate)), colour = `var(--c${first.levels.findIndex((each) => each.name === level.name)})`;
    picture.append(svg("circle", { cx: x, cy: y, r: 5, fill: side === "B" ? "var(--paper)" : colour, stroke: colour, "stroke-width": 2 }));
    picture.append(words(x + 8, y + 4 + 13 * (place % 2), known.length > 1 ? `${side}: ${level.name}` : level.name, { fill: colour }));
  });
  return picture;
}
