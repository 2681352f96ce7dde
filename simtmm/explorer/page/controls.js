/* Sliders and choices. Each stands in ratios to the machine's own value, which has a mark; a change tells its name. */
const STEPS = 200;  // of a slider that goes in ratios

function controlsOf(moved) {
  const node = make("div", { class: "controls" }), fields = new Map();
  let key = "";

  function positions(control) {
    const [low, high] = control.range, exact = (v) => Math.min(high, Math.max(low, v));
    if (control.steps === "power") {
      const first = Math.ceil(Math.log2(low) - 1e-9), last = Math.floor(Math.log2(high) + 1e-9);
      const powers = Array.from({ length: last - first + 1 }, (_, i) => 2 ** (first + i));
      const all = typeof control.own === "number" && !powers.includes(control.own) ? [...powers, control.own].sort((a, b) => a - b) : powers;
      return { most: all.length - 1, at: (p) => all[p], of: (v) => all.reduce((best, each, i) => (Math.abs(Math.log(each / v)) < Math.abs(Math.log(all[best] / v)) ? i : best), 0) };
    }
    if (control.steps === "whole" && high - low <= STEPS) return { most: high - low, at: (p) => low + p, of: (v) => Math.round(exact(v) - low) };
    const by = scale(low, high, true, 0, STEPS);
    const tidy = (v) => (control.steps === "whole" ? Math.round(v) : +v.toPrecision(4));
    const own = typeof control.own === "number" ? Math.round(by.to(control.own)) : -1;
    return { most: STEPS, at: (p) => (p === own ? control.own : tidy(by.back(p))), of: (v) => Math.round(by.to(exact(v))) };
  }

  function ranged(control) {
    const id = `simtmm-${control.name}-${Math.random().toString(36).slice(2)}`, at = positions(control);
    const slider = make("input", { type: "range", id, min: 0, max: at.most, step: 1, "data-control": control.name });
    const exact = make("input", { type: "number", step: "any", min: 0, "aria-label": `${control.label}, exactly`, class: "exact" });
    const ratio = make("output", { for: id, class: "ratio" });
    const back = make("button", { type: "button", class: "back", title: "the machine's value", "aria-label": `${control.label}: the machine's value`, onclick: () => moved(control.name, null) }, "\u21ba");
    const none = control.absent ? make("label", { class: "none" }, make("input", { type: "checkbox", onchange: (event) => moved(control.name, event.target.checked ? control.absent : typeof control.own === "number" ? null : String(at.at(Math.round(at.most / 2)))) }), control.absent) : null;
    const mark = typeof control.own === "number" ? make("i", { class: "mark", style: { left: `calc(0.5rem + (100% - 1rem) * ${at.of(control.own) / (at.most || 1)})` } }) : null;
    slider.addEventListener("input", () => moved(control.name, String(at.at(+slider.value))));
    exact.addEventListener("change", () => moved(control.name, exact.value === "" ? null : exact.value));
    const show = (text) => {
      const value = text ?? String(control.own), number = Number(value), is = Number.isFinite(number);
      if (none) none.firstChild.checked = !is;
      slider.disabled = exact.disabled = !is;
      if (is) { slider.value = at.of(number); exact.value = +number.toPrecision(6); }
      else exact.value = "";
      const times = is && typeof control.own === "number" ? number / control.own : null;
      ratio.textContent = times === null ? (is ? "" : value) : times === 1 ? "unchanged" : `\u00d7${+times.toPrecision(3)}`;
      slider.setAttribute("aria-valuetext", is ? `${amount(number)} ${control.unit}${times === null || times === 1 ? "" : `, ${+times.toPrecision(3)} times the machine's value`}` : value);
      back.disabled = text === undefined;
    };
    const track = make("span", { class: "track" }, mark, slider);
    return [make("div", { class: "control" }, make("label", { for: id, title: control.help ?? "" }, control.label), ratio, track, exact, make("span", { class: "unit" }, control.unit), back, none), show];
  }
  function chosen(control) {
    const id = `simtmm-${control.name}-${Math.random().toString(36).slice(2)}`;
    const select = make("select", { id, "data-control": control.name }, ...control.choices.map((choice) => make("option", { value: choice }, `${choice}${choice === control.own ? " (default)" : ""}`)));
    select.addEventListener("change", () => moved(control.name, select.value === String(control.own) ? null : select.value));
    const show = (text) => { select.value = text ?? String(control.own); };
    return [make("div", { class: "control choice" }, make("label", { for: id, title: control.help ?? "" }, control.label), select), show];
  }
  function parameter(known) {
    const number = known.kind !== "str" && !known.choices.length;
    if (!number) return { ...known, unit: "", choices: known.choices.length ? known.choices.map(String) : [String(known.own)], own: String(known.own) };
    const middle = Math.max(known.own, 1), low = Math.max(known.low ?? 0, known.kind === "int" ? 1 : middle / 16, middle / 32), high = Math.min(known.high ?? Infinity, middle * 16);
    return { ...known, unit: "", steps: known.kind === "int" ? "whole" : "ratio", range: [Math.min(low, high), Math.max(high, low + 1)], choices: [], absent: "" };
  }
  function group(title, list) {
    if (!list.length) return null;
    const set = make("fieldset", {}, make("legend", {}, title));
    for (const control of list) {
      const [field, show] = control.choices.length ? chosen(control) : ranged(control);
      fields.set(control.name, show);
      set.append(field);
    }
    return set;
  }
  return {
    node,
    // form: what can be moved; drawn anew only for another machine or program, so that what has the focus keeps it
    form(form) {
      const now = JSON.stringify([form.controls, form.parameters]);
      if (now === key) return;
      key = now;
      fields.clear();
      const parameters = form.parameters.map(parameter);
      node.replaceChildren(...[
        group("Machine", form.controls),
        group("Launch", parameters.filter((each) => each.isShape)),
        group("Kernel", parameters.filter((each) => !each.isShape)),
      ].filter(Boolean));
    },
    show(values) { for (const [name, show] of fields) show(values[name]); },
  };
}
