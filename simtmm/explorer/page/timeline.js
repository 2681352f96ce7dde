/* The warps of one core group over time: zoomed, stepped through, played. A row a slot, a slice for each thing done. */
const ROWS_LEFT = 44, AXIS = 22, LEAST_TICKS = 4, PLAY_SECONDS = 12;

function timelineOf(root, label) {
  let run = null, lanes = null, own = null, group = 0, view = [0, 1], head = 0, playing = 0, pointed = null, drawn = false;
  const canvas = make("canvas", { tabindex: 0, role: "application", "aria-label": `${label}: arrows move, + and - zoom, comma and full stop step, space plays, 0 shows all` });
  const chooser = make("select", { "aria-label": "Core group", onchange: () => { group = +chooser.value; decode(); all(); } });
  const button = (text, action, title) => make("button", { type: "button", title, onclick: action }, text);
  const play = button("\u25b6 Play", () => (playing ? stop() : start()), "space");
  const tools = make("div", { class: "tools", role: "toolbar", "aria-label": "Timeline" }, chooser, play,
    button("Step back", () => step(-1), ","), button("Step", () => step(1), "."), button("Zoom in", () => zoom(0.5), "+"), button("Zoom out", () => zoom(2), "-"), button("All of it", () => all(), "0"));
  const readout = make("p", { class: "told", "aria-live": "polite" }), legend = make("div", { class: "legend" });
  const node = make("div", { class: "timeline" }, tools, legend, canvas, readout);
  tools.hidden = canvas.hidden = legend.hidden = true;  // until there is a run

  // Slices come as gaps and lengths; here they have begins and ends
  function decode() {
    const given = lanes.groups[group] ?? lanes.groups[0], number = given.look.length;
    const begin = new Float64Array(number), end = new Float64Array(number), first = [...given.first, number];
    for (let row = 0; row + 1 < first.length; row += 1) {
      for (let i = first[row], now = 0; i < first[row + 1]; i += 1) { begin[i] = now + given.gap[i]; now = end[i] = begin[i] + given.length[i]; }
    }
    let warp = 0;
    const warps = given.warps.warp.map((by) => (warp += by));
    own = { ...given, begin, end, first, names: warps, turns: given.warps.first };
  }
  const reasonOf = (i) => lanes.looks.reason[own.look[i]];
  const groupOf = (i) => run.groups.indexOf(lanes.reasons[reasonOf(i)][1]);
  function firstOf(low, high, is) { while (low < high) { const middle = (low + high) >> 1; if (is(middle)) high = middle; else low = middle + 1; } return low; }
  function lineOf(i) {
    const line = lanes.looks.line[own.look[i]];
    if (line < 0) return line <= -3 ? lanes.others[-3 - line] : "";
    const hot = run.heat.hot[line];
    return hot.line ? `${run.heat.files[hot.file].name}:${hot.line}` : hot.text;
  }
  const warpOf = (i) => own.names[firstOf(0, own.turns.length, (k) => own.turns[k] > i) - 1];
  const cycles = (t) => amount(t / lanes.cycle);
  const saying = (row, i) => `warp ${warpOf(i)} (slot ${own.slots[row]}): ${lanes.reasons[reasonOf(i)][0]}${lineOf(i) ? `, ${lineOf(i)}` : ""}; cycles ${cycles(own.begin[i])} to ${cycles(own.end[i])}`;
  function at(row, t) {
    const i = firstOf(own.first[row], own.first[row + 1], (k) => own.end[k] > t);
    return i < own.first[row + 1] && own.begin[i] <= t ? i : -1;
  }

  function laneHeight() { return Math.max(5, Math.min(18, Math.floor(360 / Math.max(1, own.slots.length)))); }
  // Draws with whatever has rect, text and line: a canvas, or a picture that is saved
  function paint(pen, width) {
    const lane = laneHeight(), bottom = own.slots.length * lane, sx = scale(view[0], view[1], false, ROWS_LEFT, width - 4);
    for (let row = 0; row < own.slots.length; row += 1) {
      const top = row * lane;
      if (lane >= 10 || row % Math.ceil(11 / lane) === 0) pen.text(ROWS_LEFT - 6, top + Math.max(lane - 3, 8), String(own.slots[row]), "--dim", "end");
      let pixel = -1, most = -1, longest = 0;
      const flush = () => { if (most >= 0) pen.rect(pixel, top, 1, lane - 1, `--g${most}`); most = -1; longest = 0; };
      for (let i = firstOf(own.first[row], own.first[row + 1], (k) => own.end[k] > view[0]); i < own.first[row + 1] && own.begin[i] < view[1]; i += 1) {
        const a = Math.max(ROWS_LEFT, sx.to(own.begin[i])), b = Math.min(width - 4, sx.to(own.end[i]));
        if (b - a < 1.5) {  // of those that share a dot the longest shows
          const dot = Math.floor(a);
          if (dot !== pixel) { flush(); pixel = dot; }
          if (b - a >= longest) { longest = b - a; most = groupOf(i); }
          continue;
        }
        flush();
        pen.rect(a, top, b - a - (b - a > 3 ? 0.7 : 0), lane - 1, `--g${groupOf(i)}`);
        if (b - a > 46 && lane >= 12) {
          const text = cut(`${lanes.reasons[reasonOf(i)][0]}${b - a > 170 && lineOf(i) ? `, ${lineOf(i)}` : ""}`, Math.floor((b - a - 8) / 6));
          if (text.length > 4) pen.text(a + 4, top + lane - 4, text, "--paper", "start");
        }
      }
      flush();
    }
    pen.text(ROWS_LEFT - 6, bottom + 15, "cycle", "--dim", "end");
    for (const t of ticks({ low: view[0] / lanes.cycle, high: view[1] / lanes.cycle, log: false }, Math.max(2, Math.floor(width / 120)))) {
      const x = sx.to(t * lanes.cycle);
      pen.rect(x, bottom, 1, 4, "--dim");
      pen.text(x, bottom + 15, amount(t), "--dim", "middle");
    }
    if (head >= view[0] && head <= view[1]) pen.rect(sx.to(head) - 0.7, 0, 1.5, bottom, "--ink");
  }
  function draw() {
    drawn = false;
    if (!own) return;
    const width = Math.max(240, node.clientWidth), height = own.slots.length * laneHeight() + AXIS, sharp = devicePixelRatio || 1;
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d"), colours = new Map();
    const colour = (name) => { if (!colours.has(name)) colours.set(name, colourOf(root, name)); return colours.get(name); };
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    context.font = "11px system-ui, sans-serif";
    paint({
      rect(x, y, wide, high, name) { context.fillStyle = colour(name); context.fillRect(x, y, wide, high); },
      text(x, y, text, name, anchor) { context.fillStyle = colour(name); context.textAlign = anchor === "middle" ? "center" : anchor; context.fillText(text, x, y); },
    }, width);
    tell();
  }
  function soon() { if (!drawn) { drawn = true; requestAnimationFrame(draw); } }
  function tell() {
    if (pointed !== null) { const i = at(...pointed); if (i >= 0) { readout.textContent = saying(pointed[0], i); return; } }
    const counts = new Map();
    for (let row = 0; row < own.slots.length; row += 1) { const i = at(row, head); if (i >= 0) { const name = lanes.reasons[reasonOf(i)][0]; counts.set(name, (counts.get(name) ?? 0) + 1); } }
    const text = [...counts].sort((a, b) => b[1] - a[1]).map(([name, number]) => `${number} ${name}`).join(", ");
    const next = `At cycle ${cycles(head)}: ${text || "no warp is there"}.${own.until < lanes.ticks ? ` Slices up to cycle ${cycles(own.until)} alone.` : ""}`;
    if (readout.textContent !== next) readout.textContent = next;
  }
  function bounded(low, span) {
    const wide = Math.min(lanes.ticks, Math.max(LEAST_TICKS, span)), from = Math.max(0, Math.min(lanes.ticks - wide, low));
    view = [from, from + wide];
    soon();
  }
  function zoom(by, about = head >= view[0] && head <= view[1] ? head : (view[0] + view[1]) / 2) { bounded(about - (about - view[0]) * by, (view[1] - view[0]) * by); }
  function all() { stop(); bounded(0, lanes.ticks); }
  function goTo(t) {
    head = Math.max(0, Math.min(lanes.ticks, t));
    const span = view[1] - view[0];
    if (head < view[0] || head > view[0] + 0.9 * span) bounded(head - 0.1 * span, span);
    soon();
  }
  // To the next place at which any warp begins something else
  function step(by) {
    stop();
    let best = by > 0 ? lanes.ticks : 0;
    for (let row = 0; row < own.slots.length; row += 1) {
      const [low, high] = [own.first[row], own.first[row + 1]];
      const i = by > 0 ? firstOf(low, high, (k) => own.begin[k] > head) : firstOf(low, high, (k) => own.begin[k] >= head) - 1;
      if (i >= low && i < high) best = by > 0 ? Math.min(best, own.begin[i]) : Math.max(best, own.begin[i]);
    }
    goTo(best);
  }
  function start() {
    if (head >= view[1] * 0.999) head = view[0];
    let before = performance.now();
    play.textContent = "\u2759\u2759 Pause";
    const speed = (view[1] - view[0]) / PLAY_SECONDS;
    const frame = (now) => {
      goTo(head + ((now - before) / 1000) * speed);
      before = now;
      if (head >= lanes.ticks || !node.isConnected) stop(); else playing = requestAnimationFrame(frame);
    };
    playing = requestAnimationFrame(frame);
  }
  function stop() { cancelAnimationFrame(playing); playing = 0; play.textContent = "\u25b6 Play"; }

  const tickAt = (event) => { const box = canvas.getBoundingClientRect(); return scale(view[0], view[1], false, ROWS_LEFT, box.width - 4).back(event.clientX - box.left); };
  canvas.addEventListener("pointermove", (event) => {
    if (!own) return;
    const row = Math.floor((event.clientY - canvas.getBoundingClientRect().top) / laneHeight());
    pointed = row >= 0 && row < own.slots.length ? [row, tickAt(event)] : null;
    tell();
  });
  canvas.addEventListener("pointerleave", () => { pointed = null; if (own) tell(); });
  canvas.addEventListener("click", (event) => { if (own) { stop(); goTo(tickAt(event)); } });
  canvas.addEventListener("wheel", (event) => { if (own && (event.ctrlKey || event.shiftKey)) { event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : 0.8, tickAt(event)); } }, { passive: false });
  const keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: all, ",": () => step(-1), ".": () => step(1), " ": () => (playing ? stop() : start()),
    ArrowLeft: () => bounded(view[0] - (view[1] - view[0]) / 8, view[1] - view[0]), ArrowRight: () => bounded(view[0] + (view[1] - view[0]) / 8, view[1] - view[0]),
    Home: () => goTo(0), End: () => goTo(lanes.ticks) };
  canvas.addEventListener("keydown", (event) => { if (own && keys[event.key] && !event.ctrlKey && !event.metaKey) { event.preventDefault(); keys[event.key](); } });
  new ResizeObserver(soon).observe(node);

  return {
    node,
    redraw: soon,
    show(next) {
      const before = lanes, part = before ? [view[0] / before.ticks, view[1] / before.ticks, head / before.ticks] : [0, 1, 0];
      run = next;
      lanes = next.lanes;
      tools.hidden = canvas.hidden = legend.hidden = !lanes;
      if (!lanes) { own = null; stop(); readout.textContent = "There is no timeline: the program is too long for one, or no warp does anything."; return; }
      const options = lanes.groups.map((each) => `group ${each.group}${each.why.length ? ` (${each.why.join(", ")})` : ""}`).join("|");
      if (chooser.dataset.options !== options) {
        chooser.dataset.options = options;
        group = Math.min(group, lanes.groups.length - 1);
        chooser.replaceChildren(...options.split("|").map((text, i) => make("option", { value: i }, text)));
        chooser.value = group;
      }
      const present = [...new Set(lanes.reasons.map(([, name]) => name))];
      legend.replaceChildren(...next.groups.filter((name) => present.includes(name)).map((name) => make("span", {}, make("i", { class: "swatch", style: { background: `var(--g${next.groups.indexOf(name)})` } }), name)));
      decode();
      // The same part of the run stays in view
      head = part[2] * lanes.ticks;
      bounded(part[0] * lanes.ticks, (part[1] - part[0]) * lanes.ticks);
    },
    picture() {
      if (!own) return null;
      const width = 900, picture = svg("svg", { viewBox: `0 0 ${width} ${own.slots.length * laneHeight() + AXIS}` });
      paint({
        rect(x, y, wide, high, name) { picture.append(svg("rect", { x: x.toFixed(1), y, width: Math.max(0.3, wide).toFixed(1), height: high, fill: `var(${name})` })); },
        text(x, y, text, name, anchor) { picture.append(svg("text", { x, y, fill: `var(${name})`, "text-anchor": anchor, "font-size": 11 }, text)); },
      }, width);
      return picture;
    },
  };
}
