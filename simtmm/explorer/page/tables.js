/* Simulated and modelled time, the program's lines, occupancy. */
const NAMED = { seconds: (run) => (run.seconds === null ? `${amount(run.cycles)} cycles` : `${amount(run.cycles)} cycles, ${prefixed(run.seconds, "s")}`) };

// How many times the simulated time, on a logarithmic bar with 1 in the middle
function timesBar(times) {
  const most = 100, place = 50 + (50 * Math.log(Math.min(most, Math.max(1 / most, times)))) / Math.log(most);
  const bar = make("i", { class: "fill", style: { left: `${Math.min(50, place)}%`, width: `${Math.abs(place - 50)}%` } });
  return make("span", { class: "times", "aria-hidden": "true" }, bar, make("i", { class: "one" }));
}
function modelsTable(runs) {
  const names = [...new Set(runs.flatMap(([, run]) => run.models.map((model) => model.name)))];
  const heads = runs.flatMap(([side]) => [`${side ? `${side}: ` : ""}cycles`, "of simulated", "", "bound by"]);
  const cells = (run, name) => {
    const model = run.models.find((each) => each.name === name);
    if (!model) return [make("td", { colspan: 4, class: "word dim" }, "says nothing of it")];
    return [make("td", {}, amount(model.cycles)), make("td", {}, model.ratio === null ? "" : `\u00d7${+model.ratio.toPrecision(3)}`), make("td", { class: "bar" }, model.ratio === null ? "" : timesBar(model.ratio)), make("td", { class: "word" }, model.bound)];
  };
  const simulated = make("tr", { class: "simulated" }, make("th", { scope: "row", class: "word" }, "simulated"), ...runs.flatMap(([, run]) => [make("td", {}, amount(run.cycles)), make("td", {}, "\u00d71"), make("td", { class: "bar" }, timesBar(1)), make("td", { class: "word" }, run.binds ?? "")]));
  return make("table", {}, make("thead", {}, make("tr", {}, make("th", { class: "word" }, ""), ...heads.map((head, i) => make("th", { class: i % 4 === 3 ? "word" : "" }, head)))),
    make("tbody", {}, simulated, ...names.map((name) => make("tr", {}, make("th", { scope: "row", class: "word" }, name), ...runs.flatMap(([, run]) => cells(run, name))))));
}

const MOST_LINES = 12;  // of the source, the hottest first
function sourceTable(runs) {
  const [, run] = runs[0];
  if (!run.heat?.hot.length) return make("p", {}, "No line of source is known.");
  const where = (heat, line) => (line.line ? `${heat.files[line.file].name}:${line.line}` : heat.files[line.file].name);
  const other = new Map(runs.length > 1 && runs[1][1].heat ? runs[1][1].heat.hot.map((line) => [`${where(runs[1][1].heat, line)} ${line.text}`, line]) : []);
  const row = (line) => {
    const found = other.get(`${where(run.heat, line)} ${line.text}`);
    return make("tr", {}, make("td", { class: "word" }, where(run.heat, line)), make("td", {}, percent(line.share)), runs.length > 1 ? make("td", {}, found ? percent(found.share) : "") : null,
      make("td", { class: "bar" }, make("span", { class: "part" }, make("i", { class: "fill", style: { width: `${100 * line.share}%`, background: line.reasons.length ? `var(--g${run.groups.indexOf(line.reasons[0][1])})` : "" } }))),
      make("td", { class: "word" }, line.reasons.length ? `${line.reasons[0][0]} ${percent(line.reasons[0][2])}` : ""), make("td", {}, line.requests ? amount(line.chunks / line.requests) : ""), make("td", { class: "word code" }, make("code", {}, line.text)));
  };
  const heads = ["line", runs.length > 1 ? "A" : "time", ...(runs.length > 1 ? ["B"] : []), "", "mostly", "chunks a request", "source"];
  const words = new Set(["line", "mostly", "source"]);
  return make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { class: words.has(head) ? "word" : "" }, head)))), make("tbody", {}, ...run.heat.hot.slice(0, MOST_LINES).map(row)));
}

function occupancyTable(runs) {
  const rows = runs.flatMap(([side, run]) => run.occupancy.slice(0, 4).map((each) => [side, run, each]));
  if (!rows.length) return make("p", {}, "A workload does not say which blocks its warps belong to.");
  const terms = Object.keys(rows[0][2].terms);
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...(runs.length > 1 ? [make("th", { class: "word" }, "")] : []), make("th", {}, "launches"), make("th", {}, "warps a group"), make("th", {}, "occupancy"), ...terms.map((term) => make("th", {}, `block limit: ${term}`)))),
    make("tbody", {}, ...rows.map(([side, , each]) => make("tr", {}, ...(runs.length > 1 ? [make("th", { scope: "row", class: "word" }, side)] : []), make("td", {}, amount(each.launches)), make("td", {}, `${each.warps} of ${each.most_warps}`), make("td", {}, percent(each.fraction)), ...terms.map((term) => make("td", { class: term === each.bound ? "binds" : "" }, each.terms[term] === null ? "\u2013" : `${amount(each.terms[term])}${term === each.bound ? " (binds)" : ""}`))))));
  const notes = runs.filter(([, run]) => run.hiding).map(([side, run]) => `${side ? `${side}: ` : ""}${amount(run.hiding.inUse)} threads per core in use; by the TMM, ${amount(run.hiding.needed)} hide the latency; a core has room for ${amount(run.hiding.limit)}.`);
  return make("div", {}, make("div", { class: "scroll" }, table), ...notes.map((text) => make("p", { class: "note" }, text)));
}
function unitRows(runs) {
  return make("div", { class: "units" }, ...runs.flatMap(([side, run]) => run.units.map((unit) => make("div", { class: "unit" }, make("span", {}, `${side ? `${side}: ` : ""}${unit.name}`), make("span", { class: "part" }, make("i", { class: "fill", style: { width: `${100 * unit.busy}%` } })), make("span", { class: "number" }, unit.peak === null ? "no limit" : percent(unit.busy)), make("span", { class: "dim" }, `${prefixed(unit.achieved, unit.unit)}${unit.peak === null ? "" : ` of ${prefixed(unit.peak, unit.unit)}`}`)))));
}
