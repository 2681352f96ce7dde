/* The page: a state, the questions sent about it, and pictures of the answers. One script for a page and a notebook. */
const THEME = "simtmm-theme";  // what a browser keeps of it: dark or light
const PATIENCE = 140;  // milliseconds a picture is waited for before a newer move ends it

function stateOf(text, start) {
  const state = { a: {}, b: null, drag: "latency" };
  for (const [name, value] of new URLSearchParams(text)) {
    if (name === "drag") state.drag = value;
    else if (name.startsWith("v.")) continue;
    else if (name.startsWith("b.")) (state.b ??= {})[name.slice(2)] = value;
    else state.a[name] = value;
  }
  state.a.k ??= start.program;
  state.a.m ??= start.machine;
  if (state.b) { state.b.k ??= state.a.k; state.b.m ??= state.a.m; }
  return state;
}
function textOf(state) {
  const entries = Object.entries(state.a);
  if (state.b) entries.push(...Object.entries(state.b).map(([name, value]) => [`b.${name}`, value]));
  return new URLSearchParams([...entries, ["drag", state.drag]]).toString();
}
const same = (one, other) => JSON.stringify(Object.entries(one ?? {}).sort()) === JSON.stringify(Object.entries(other ?? {}).sort());

export { THEME };
export function explorer(root, start, host) {
  root.classList.add("simtmm-explore");
  let state = stateOf(host.state, start), number = 0, busy = false, sentAt = 0, dirty = false, timer = 0, kept = 0, moved = 0;
  let runs = { a: null, b: null }, curve = null, form = null, texts = null;

  /* ---- what there is to see ---- */
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  const themeButton = make("button", { type: "button", onclick: () => { theme(root.dataset.theme !== "dark"); host.keepTheme(root.dataset.theme); } });
  function theme(dark) { root.dataset.theme = dark ? "dark" : "light"; themeButton.textContent = dark ? "Light" : "Dark"; timeline?.redraw(); link(); }
  const program = make("select", { "aria-label": "Program", "data-control": "k", onchange: () => choose("k", program.value) });
  const machine = make("select", { "aria-label": "Machine", "data-control": "m", onchange: () => choose("m", machine.value) });
  program.append(...start.programs.map((name) => make("option", {}, name)));
  machine.append(...start.machines.map((name) => make("option", {}, name)));
  const story = make("select", { "aria-label": "Story", onchange: () => { const found = start.stories.find((each) => each.name === story.value); if (found) go(found.state, found.name); } }, make("option", { value: "" }, "Stories \u2026"), ...start.stories.map((each) => make("option", { value: each.name }, each.title)));
  const status = make("p", { class: "status", role: "status" }), failed = make("p", { class: "failed", role: "alert", hidden: true });
  const headline = make("div", { class: "headline" });
  const stories = storyPanel(start.stories, (text, name) => go(text, name));
  const controls = controlsOf(move);
  const keepB = make("button", { type: "button", onclick: () => { state.b = { ...state.a }; ask(); } }, "Keep as B");
  const unmodified = make("button", { type: "button", onclick: () => { state.b = { k: state.a.k, m: state.a.m, ...parametersOf(state.a) }; ask(); } }, "Compare with the unmodified machine");
  const swap = make("button", { type: "button", onclick: () => { [state.a, state.b] = [state.b, state.a]; [runs.a, runs.b] = [runs.b, runs.a]; ask(); } }, "Swap A and B");
  const drop = make("button", { type: "button", onclick: () => { state.b = null; runs.b = null; ask(); } }, "Drop B");
  const reset = make("button", { type: "button", onclick: () => { state.a = { k: state.a.k, m: state.a.m }; ask(); } }, "Reset all");
  const save = make("button", { type: "button", onclick: () => { fillDialog(); dialog.showModal(); } }, "Save \u2026");
  const explained = host.canExplain ? make("a", { class: "explained", target: "_blank", rel: "noopener" }, "Explain this run") : null;
  const models = section(root, "models", "Simulated time and the models'");
  const over = section(root, "curve", "Time over the value that you drag", () => over.body.querySelector("svg"));
  const stalls = section(root, "stalls", "Where the time goes", () => stalls.body.querySelector("svg"));
  const timeline = timelineOf(root, "The warps of one group");
  const warps = section(root, "warps", "Warps of one group", () => timeline.picture());
  const side = make("select", { "aria-label": "Configuration of the timeline", hidden: true, onchange: draw }, make("option", { value: "a" }, "A"), make("option", { value: "b" }, "B"));
  warps.body.append(side, timeline.node);
  const source = section(root, "source", "Source lines");
  const roofline = section(root, "roofline", "Roofline", () => roofline.body.querySelector("svg"));
  const occupancy = section(root, "occupancy", "Occupancy, and how busy units are");
  const texted = make("div", {}), dialog = make("dialog", { "aria-label": "Save" }, make("h2", {}, "Do the same without the page"), texted, make("button", { type: "button", onclick: () => dialog.close() }, "Close"));
  root.replaceChildren(
    make("header", {}, make("h1", {}, "simtmm explore"), program, make("span", {}, "on"), machine, story, make("span", { class: "tools" }, keepB, unmodified, swap, drop, reset, save, explained, themeButton)),
    failed,
    make("div", { class: "columns" }, controls.node, make("div", { class: "views" }, stories.node, headline, status, models.node, over.node, stalls.node, roofline.node, warps.node, source.node, occupancy.node)),
    dialog,
  );
  root.append(make("footer", { class: "note" }, `simtmm ${start.version}. Times are simulated. Machines that you have changed were never compared with hardware.`));
  preferred.addEventListener("change", () => { if (!host.theme()) theme(preferred.matches); });
  theme(host.theme() ? host.theme() === "dark" : preferred.matches);

  /* ---- moves ---- */
  const parametersOf = (own) => Object.fromEntries(Object.entries(own).filter(([name]) => name.startsWith("p.")));
  function move(name, value) {
    if (value === null) delete state.a[name];
    else state.a[name] = value;
    state.drag = name;
    controls.show(state.a);
    ask();
  }
  function choose(name, value) {
    // Another program has other parameters; another machine keeps them, but not what was moved of the one before
    state.a = name === "k" ? { ...Object.fromEntries(Object.entries(state.a).filter(([key]) => !key.startsWith("p."))), k: value } : { k: state.a.k, m: value, ...parametersOf(state.a) };
    if (state.drag.startsWith("p.")) state.drag = "latency";
    ask();
  }
  function go(text, name = "") {
    state = stateOf(text, start);
    runs = { a: runs.a, b: null, of: "" };
    curve = null;
    stories.show(name);
    story.value = name;
    ask();
  }
  // A question at a time until its first picture, or until it has taken longer than a person waits: a newer one ends it
  function link() { if (explained) explained.href = `explained?${textOf(state)}${host.theme() ? `#${host.theme()}` : ""}`; }
  function ask() {
    dirty = true;
    moved = performance.now();
    if (!busy || performance.now() - sentAt > PATIENCE) send();
    else { clearTimeout(timer); timer = setTimeout(() => { if (dirty) send(); }, PATIENCE); }
  }
  function send() {
    dirty = false;
    busy = true;
    sentAt = performance.now();
    number += 1;
    const text = textOf(state);
    program.value = state.a.k;
    machine.value = state.a.m;
    swap.hidden = drop.hidden = !state.b;
    if (!state.b) runs.b = null;
    host.send({ number, state: text });
    clearTimeout(kept);
    kept = setTimeout(() => host.keep(text), 200);
    link();
    // What is shown is of another program or machine until the answer is drawn
    root.classList.toggle("stale", !!runs.a && (runs.of !== `${state.a.k} ${state.a.m}`));
  }

  /* ---- answers ---- */
  host.hear((message) => {
    if (message.number !== number) return;  // the answer to an earlier question
    if (message.part === "form") { form = message; controls.form(message); controls.show(state.a); }
    else if (message.part === "progress" && root.dataset.painted !== String(number)) status.textContent = `${message.stage} \u2026 ${message.total ? percent(message.done / message.total) : message.done ? amount(message.done) : ""}`;
    else if (message.part === "sample") { runs.of = `${state.a.k} ${state.a.m}`; root.classList.remove("stale"); headline.replaceChildren(make("b", {}, `about ${amount(message.cycles)} cycles`), ` by ${percent(message.of)} of it; the rest is being simulated`); painted(); answered(); }
    else if (message.part === "run") { runs[message.side] = message.run; failed.hidden = true; if (message.side === "a" && !state.b) answered(); }
    else if (message.part === "done") { draw(); painted(message.milliseconds); answered(); }
    else if (message.part === "curve") { curve = message.curve; drawCurve(); root.dataset.curve = curve.whole ? String(message.number) : ""; }
    else if (message.part === "saved") { texts = message; if (dialog.open) fillDialog(); root.dataset.answered = String(message.number); }
    else if (message.part === "error") { failed.textContent = message.words; failed.hidden = false; status.textContent = "What is shown is from before."; root.dataset.answered = String(message.number); answered(); }
  });
  host.interrupted((why) => { failed.textContent = why; failed.hidden = !why; });
  function answered() { busy = false; if (dirty) send(); }
  function painted(worked) {
    const from = moved;
    requestAnimationFrame(() => setTimeout(() => {
      const took = performance.now() - from;
      root.dataset.painted = String(number);
      root.dataset.milliseconds = took.toFixed(1);
      if (worked !== undefined) status.textContent = `${plural(runs.a?.operations ?? 0, "warp operation")}; updated in ${took.toFixed(0)} ms, ${worked.toFixed(0)} ms of it simulation.`;
    }));
  }

  /* ---- drawing ---- */
  const shown = () => (runs.b && state.b ? [["A", runs.a], ["B", runs.b]] : [["", runs.a]]);
  function draw() {
    if (!runs.a) return;
    runs.of = `${state.a.k} ${state.a.m}`;
    root.classList.remove("stale");
    const those = shown(), two = those.length > 1;
    headline.replaceChildren(...those.map(([name, run]) => make("p", {}, name ? make("b", { class: "side" }, `${name} `) : null, make("b", { class: "time" }, NAMED.seconds(run)), ` ${run.program} on ${run.machine}. `, make("span", { class: "verdict" }, run.verdict))),
      ...(two ? [make("p", { class: "ratio" }, `B takes ${+(runs.b.cycles / runs.a.cycles).toPrecision(4)} times as long as A${differences()}.`)] : []),
      ...[...new Set(those.flatMap(([, run]) => run.warnings))].map((text) => make("p", { class: "warning" }, text)));
    models.node.classList.toggle("wide", two);
    models.body.replaceChildren(make("div", { class: "scroll" }, modelsTable(those)));
    stalls.body.replaceChildren(...(runs.a.reasons.length ? [stallPicture(those)] : [make("p", {}, "No warp does anything.")]), reasonList(those));
    source.body.replaceChildren(make("div", { class: "scroll" }, sourceTable(those)));
    const roof = rooflinePicture(those);
    roofline.note.textContent = runs.a.roofline ? `Counted: ${runs.a.roofline.counted}.` : "";
    roofline.body.replaceChildren(roof ?? make("p", {}, "Nothing is counted that a roof is of."));
    occupancy.body.replaceChildren(occupancyTable(those), unitRows(those));
    side.hidden = !two;
    if (!two) side.value = "a";
    timeline.show(runs[side.value] ?? runs.a);
    drawCurve();
  }
  function differences() {
    const names = new Set([...Object.keys(state.a), ...Object.keys(state.b)]);
    const differences = [...names].filter((name) => state.a[name] !== state.b[name]).map((name) => `${name.replace(/^p\./, "").replace(/^k$/, "program").replace(/^m$/, "machine")}: ${state.a[name] ?? "its own"} and ${state.b[name] ?? "its own"}`);
    return differences.length ? ` (${differences.join("; ")})` : "";
  }
  function reasonList(those) {
    return make("ul", { class: "reasons" }, ...those[0][1].reasons.filter((each) => each.share >= 0.005).map((each) => {
      const other = those[1]?.[1].reasons.find((one) => one.name === each.name);
      return make("li", {}, make("i", { class: "swatch", style: { background: reasonColour(those[0][1], each) } }), `${each.name} ${percent(each.share)}${those.length > 1 ? ` / ${percent(other?.share ?? 0)}` : ""}: ${each.what}${each.nsight && each.nsight !== "-" ? ` (${each.nsight})` : ""}`);
    }));
  }
  function drawCurve() {
    const control = form && [...form.controls, ...form.parameters].find((each) => each.name === state.drag);
    if (!curve || !control || curve.name !== state.drag) { over.body.replaceChildren(make("p", {}, "Drag a slider: the time over it is simulated here.")); over.note.textContent = ""; return; }
    const name = `${control.label}${control.unit ? ` [${control.unit}]` : ""}`;
    over.body.replaceChildren(curvePicture(curve, name, runs.b && state.b ? runs.b.cycles : null));
    const refused = curve.refused.filter(Boolean);
    over.note.textContent = `${plural(curve.simulated.filter((each) => each !== null).length, "point")}${curve.whole ? "" : " so far"}${curve.part < 1 ? `, each of a sample, ${percent(curve.part)} of the program` : ""}.${refused.length ? ` ${plural(refused.length, "value")} can't be: ${refused[0]}` : ""}`;
  }
  function fillDialog() {
    const block = (title, text, file) => make("div", {}, make("h3", {}, title), make("textarea", { readonly: true, rows: Math.min(14, text.split("\n").length), "aria-label": title }, text), make("button", { type: "button", onclick: () => navigator.clipboard?.writeText(text) }, "Copy"), " ", make("button", { type: "button", onclick: () => saveFile(file, new Blob([text], { type: "text/plain" })) }, `Save ${file}`));
    texted.replaceChildren(...(texts ? [
      texts.study ? block("A study file", texts.study, "study.toml") : make("p", {}, "A workload has no study."),
      block("The command line", texts.command, "explore.sh"),
      block("Python", texts.python, "explore.py"),
    ] : [make("p", {}, "Nothing has been simulated yet.")]));
  }
  // Where letters are typed they are no keys; a slider, a box and the timeline have none of these
  host.keys(root).addEventListener("keydown", (event) => {
    const typed = event.target.closest?.("input:not([type=range]):not([type=checkbox]), select, textarea, dialog");
    if (typed || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = { r: reset, s: save, b: keepB, x: state.b ? swap : null, d: themeButton }[event.key];
    if (action) { event.preventDefault(); action.click(); }
  });
  return {
    begin() { const found = start.stories.find((each) => each.state === host.state); if (found) { stories.show(found.name); story.value = found.name; } ask(); },
    go,
    state: () => textOf(state),
    isDrawn: () => root.dataset.painted === String(number),
  };
}

// As a widget of a notebook (anywidget)
export default {
  render({ model, el }) {
    const root = make("div");
    root.addEventListener("keydown", (event) => event.stopPropagation());  // a notebook has other uses for arrows
    el.append(root);
    const page = explorer(root, model.get("start"), {
      state: model.get("state"),
      canExplain: false,
      send: (question) => model.send(question),
      hear: (callback) => model.on("msg:custom", (message) => callback(JSON.parse(message.text))),
      interrupted() {},
      keys: (own) => own,  // a notebook has keys of its own
      theme: () => localStorage.getItem(THEME),
      keepTheme(name) { localStorage.setItem(THEME, name); },
      keep(text) { model.set("state", text); model.save_changes(); },
    });
    page.begin();
  },
};
