/* What all parts share: elements, scales, how numbers read, and pictures as files. */
const SVG = "http://www.w3.org/2000/svg";

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") Object.assign(element.style, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "\u00b5"], [1e-9, "n"], [1e-12, "p"]];
function prefixed(value, unit) {
  if (!value) return `0 ${unit}`;
  const [factor, prefix] = PREFIXES.find(([f]) => Math.abs(value) >= f * 0.99999) ?? PREFIXES[PREFIXES.length - 1];
  const short = unit.replace("bytes", "B");
  return `${+(value / factor).toPrecision(4)} ${prefix}${short.length > 3 && prefix ? " " : ""}${short}`.trim();
}
const amount = (value) => (Number.isFinite(value) ? (+value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 6 }) : "");
const percent = (share) => `${share >= 0.0995 || share === 0 ? Math.round(100 * share) : (100 * share).toFixed(1)} %`;
const plural = (number, word) => `${amount(number)} ${word}${number === 1 ? "" : "s"}`;

function scale(low, high, log, from, to) {
  const f = log ? Math.log : (v) => v, g = log ? Math.exp : (v) => v;
  const a = f(low), span = f(high) - a || 1;
  return { to: (v) => from + ((f(v) - a) / span) * (to - from), back: (p) => g(a + ((p - from) / (to - from)) * span), low, high, log };
}
function ticks({ low, high, log }, most = 7) {
  const marks = [];
  if (log) {
    const decades = Math.log10(high / low), steps = decades < 1.2 ? [1, 2, 3, 5, 7] : decades < 3.5 ? [1, 2, 5] : [1];
    const every = Math.max(1, Math.ceil(decades / most));
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e += 1) {
      if (e % every === 0) for (const s of steps) { const v = s * 10 ** e; if (v >= low * 0.999 && v <= high * 1.001) marks.push(+v.toPrecision(12)); }
    }
    if (marks.length > 1) return marks.length > 2 * most ? marks.filter((_, i) => i % 2 === 0) : marks;
    marks.length = 0;
  }
  const rough = (high - low) / most || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= rough * 0.999) ?? power;
  for (let v = Math.ceil(low / step) * step; v <= high * (1 + 1e-12) && marks.length < 50; v += step) marks.push(+v.toPrecision(12));
  return marks;
}
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);

/* ---- pictures as files ---- */
function saveFile(name, blob) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
function colourOf(root, name) { return getComputedStyle(root).getPropertyValue(name).trim(); }
// A picture alone: its size and ground are its own, and names of colours are the colours
function pictureText(root, picture) {
  const copy = picture.cloneNode(true), box = picture.viewBox.baseVal;
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  copy.setAttribute("font-family", "system-ui, sans-serif");
  copy.prepend(svg("rect", { width: box.width, height: box.height, fill: "var(--paper)" }));
  return new XMLSerializer().serializeToString(copy).replace(/var\((--\w+)\)/g, (_, name) => colourOf(root, name));
}
function saveSvg(root, picture, name) { saveFile(`${name}.svg`, new Blob([pictureText(root, picture)], { type: "image/svg+xml" })); }
function savePng(root, picture, name) {
  const box = picture.viewBox.baseVal, sharp = 2, image = new Image();
  image.addEventListener("load", () => {
    const canvas = make("canvas", { width: box.width * sharp, height: box.height * sharp });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => saveFile(`${name}.png`, blob));
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(pictureText(root, picture))}`;
}
// A section with a title, what it holds, and its picture's buttons
function section(root, name, title, picture) {
  const body = make("div", { class: "body" }), note = make("p", { class: "note" });
  const save = (kind, how) => make("button", { type: "button", "aria-label": `${title}: save as ${kind}`, onclick: () => { const drawing = picture(); if (drawing) how(root, drawing, name); } }, kind);
  const tools = picture ? make("span", { class: "files" }, save("SVG", saveSvg), save("PNG", savePng)) : null;
  const node = make("section", { class: `view ${name}`, "aria-label": title }, make("h2", {}, title, tools), note, body);
  return { node, body, note };
}
