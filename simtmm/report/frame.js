"use strict";
/* What all pages share: the data, elements, scales, how numbers read, light and dark, and where it comes from. */
const frame = (() => {
const data = JSON.parse(document.getElementById("data").textContent);
const el = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "\u00b5"], [1e-9, "n"], [1e-12, "p"]];
function prefixed(value, unit) {
  const [factor, prefix] = PREFIXES.find(([f]) => value >= f * 0.99999) ?? PREFIXES[PREFIXES.length - 1];
  return `${+(value / factor).toPrecision(4)} ${prefix}${unit}`;
}
function amount(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return Number.isInteger(value) && size < 1e15 ? value.toLocaleString("en") : value.toExponential(3);
  return Number.isInteger(value) ? value.toLocaleString("en") : (+value.toPrecision(5)).toLocaleString("en", { maximumSignificantDigits: 5 });
}
function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
  return [low, high];
}
function scale(low, high, log, from, to) {
  const f = log ? Math.log10 : (v) => v, g = log ? (v) => 10 ** v : (v) => v;
  const a = f(low), b = f(high), span = b - a || 1;
  return { to: (v) => from + ((f(v) - a) / span) * (to - from), back: (p) => g(a + ((p - from) / (to - from)) * span), low, high, log };
}
function ticks({ low, high, log }, words) {
  if (words) return words.map((_, i) => i).filter((i) => i >= low && i <= high);
  if (log) {
    const places = [], decades = Math.log10(high / low);
    const steps = decades < 1.2 ? [1, 2, 3, 5, 7] : decades < 3.5 ? [1, 2, 5] : [1], every = Math.max(1, Math.ceil(decades / 9));
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e += 1) {
      if (e % every === 0) for (const s of steps) { const v = s * 10 ** e; if (v >= low && v <= high) places.push(+v.toPrecision(12)); }
    }
    if (places.length > 1) return places;
  }
  const rough = (high - low) / 7, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= rough) ?? power, places = [];
  for (let v = Math.ceil(low / step) * step; v <= high * (1 + 1e-12) && places.length < 50; v += step) places.push(+v.toPrecision(12));
  return places;
}
function svg(tag, attributes = {}, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/* ---- light and dark ---- */
function theme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  el("theme").textContent = dark ? "Light" : "Dark";
}
const preferred = matchMedia("(prefers-color-scheme: dark)");
preferred.addEventListener("change", () => theme(preferred.matches));
const asked = location.hash.slice(1);  // how the page that opened this one is shown
theme(asked === "dark" || asked === "light" ? asked === "dark" : preferred.matches);
el("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme !== "dark"));

for (const [key, value] of Object.entries(data.about)) {
  const term = document.createElement("dt"), text = document.createElement("dd");
  term.textContent = key; text.textContent = value;
  el("provenance").append(term, text);
}
return { data, el, SVG, svg, extent, scale, ticks, amount, prefixed };
})();
