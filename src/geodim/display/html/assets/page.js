// The page: unpacks plotly, draws what the sections ask for, and keeps plots, sliders, tables and themes together.
const root = document.documentElement;
const DATA = JSON.parse(document.getElementById("data").textContent);
const NONCE = document.currentScript.nonce || document.currentScript.getAttribute("nonce");
const MODEBAR = [["toImage", "resetScale2d"]];
const CONFIG = { displaylogo: false, doubleClick: "reset", scrollZoom: false };
const plots = []; // { box, make(theme, width) -> figure }
let theme = "light", ready = false;

function schemeOf() {
  return root.dataset.theme || (window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}
function drawPlot(plot) {
  const width = plot.box.getBoundingClientRect().width || 640;
  const figure = plot.make(THEMES[theme], width);
  figure.layout.width = Math.floor(width);
  const config = Object.assign({}, CONFIG, width < 560 ? { displayModeBar: false } : { displayModeBar: "hover", modeBarButtons: MODEBAR });
  if (!plot.drawn) {
    const fixed = plot.box.querySelector("svg.static");
    plot.box.setAttribute("role", "figure");
    plot.box.setAttribute("aria-label", fixed ? fixed.getAttribute("aria-label") : plot.label);
    plot.box.replaceChildren();
    plot.drawn = true;
    return Plotly.newPlot(plot.box, figure.data, figure.layout, config);
  }
  return Plotly.react(plot.box, figure.data, figure.layout, config);
}
function addPlot(key, label, make) {
  const box = document.getElementById(key);
  if (!box) { return null; }
  box.closest("figure").hidden = false;
  if (!box.firstChild) { box.append(document.createElement("span")); }
  const plot = { box: box, label: label, make: make, drawn: false };
  plots.push(plot);
  return plot;
}
function redraw(plot) { if (ready && plot && plot.drawn) { drawPlot(plot); } }

function setTheme(name) {
  theme = name;
  const button = document.getElementById("theme");
  button.textContent = name === "dark" ? "Light" : "Dark";
  button.setAttribute("aria-label", "Switch to the " + (name === "dark" ? "light" : "dark") + " colours");
  plots.forEach(redraw);
}

function readout(curve, alpha, names) {
  const at = stepAt(curve, alpha), owner = ownerName(curve, at, names);
  const bounds = curve.low ? " (between " + digits(curve.low[at]) + " and " + digits(curve.high[at]) + ")" : "";
  return "α = " + alpha.toFixed(3) + ", " + sizes(curve, at) + ": width " + digits(curve.width[at]) + bounds + (owner === null ? "" : ", by " + label(owner, 60));
}

// One result with curves: a curve to read from, shares, a table; with several hops, a slider that chooses the curve.
function showCurves(item, key) {
  const names = DATA.names, hops = item.kind === "hops";
  let k = item.curves.length - 1;
  const slider = document.getElementById(key + "-alpha"), words = document.getElementById(key + "-read");
  let probe = null;
  const curvePlot = addPlot(key + "-curve", "Observable diameter", function (colours, width) {
    return curveFigure(item.curves[k], item.features[k], names, colours, width, probe);
  });
  const sharesPlot = item.features[k].name.length ? addPlot(key + "-shares", "Shares of the discriminability; the table below has the numbers.", function (colours, width) {
    return sharesFigure(item.features[k], names, colours, width);
  }) : null;
  const box = document.getElementById(key + "-table");
  const table = box ? featureTable(box, hops, Boolean(item.features[k].without), "Features by share of the discriminability") : null;
  function read(moved) {
    const alpha = Number(slider.value) / 1000;
    if (moved) { probe = alpha; }
    words.textContent = readout(item.curves[k], alpha, names);
    slider.setAttribute("aria-valuetext", words.textContent);
  }
  function list() {
    if (!table) { return; }
    const idle = item.features[k].total - item.features[k].name.length;
    const rest = idle > 0 ? "; " + whole(idle) + " more have none" : "";
    table.show(featureRows(item.features[k], names, hops), "Features by share of the discriminability" + rest);
  }
  slider.addEventListener("input", function () { read(true); redraw(curvePlot); });
  read(false);
  list();
  if (!hops) { return; }
  const chooser = document.getElementById(key + "-hop");
  const hopPlot = addPlot(key + "-hops", "Intrinsic dimension by hops", function (colours, width) {
    return hopsFigure([{ name: "intrinsic dimension", hops: item.hops }], colours, width, k);
  });
  chooser.setAttribute("aria-valuetext", item.sentences[k]);
  chooser.addEventListener("input", function () {
    k = Number(chooser.value);
    document.getElementById(key + "-hop-words").textContent = item.sentences[k];
    document.getElementById(key + "-feature-words").textContent = item.featureWords[k];
    chooser.setAttribute("aria-valuetext", item.sentences[k]);
    read(false);
    list();
    [curvePlot, hopPlot, sharesPlot].forEach(redraw);
  });
}
function showSelection(item, key) {
  addPlot(key + "-greedy", "Part of the discriminability reached", function (colours, width) {
    return greedyFigure(item.selection, DATA.names, colours, width);
  });
  selectionTable(document.getElementById(key + "-table"), item.selection, DATA.names);
}
function showComparison(comparison) {
  addPlot("compare-curves", "Observable diameters of all results", function (colours, width) {
    return compareFigure(comparison.curves.map(function (at) {
      const item = DATA.items[at], last = item.curves.length - 1;
      return { name: item.title + (item.kind === "hops" ? ", k = " + last : ""), curve: item.curves[last] };
    }), colours, width);
  });
  addPlot("compare-hops", "Intrinsic dimensions by hops of all results", function (colours, width) {
    return hopsFigure(comparison.hops.map(function (at) { return { name: DATA.items[at].title, hops: DATA.items[at].hops }; }), colours, width, null);
  });
}

function decode(text) {
  if (Uint8Array.fromBase64) { return Uint8Array.fromBase64(text); } // not in every browser yet
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) { bytes[at] = letters.charCodeAt(at); }
  return bytes;
}
async function unpack(element) {
  const stream = new Blob([decode(element.textContent)]).stream().pipeThrough(new DecompressionStream("gzip"));
  element.remove();
  return new Response(stream).text();
}
function run(code) {
  const script = document.createElement("script");
  script.nonce = NONCE;
  script.textContent = code;
  document.head.append(script);
}

async function start() {
  const code = unpack(document.getElementById("plotly")); // goes on beside what follows
  const button = document.getElementById("theme");
  theme = schemeOf();
  if (DATA.comparison) { showComparison(DATA.comparison); }
  DATA.items.forEach(function (item, at) {
    if (item.kind === "selection") { showSelection(item, "r" + at); } else { showCurves(item, "r" + at); }
  });
  button.hidden = false;
  setTheme(theme);
  button.addEventListener("click", function () {
    root.dataset.theme = theme === "dark" ? "light" : "dark";
    setTheme(root.dataset.theme);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
    if (!root.dataset.theme) { setTheme(schemeOf()); }
  });
  root.classList.add("ready");
  run(await code);
  for (const plot of plots) { await drawPlot(plot); }
  ready = true;
  let before = window.innerWidth, waiting = 0;
  window.addEventListener("resize", function () {
    clearTimeout(waiting);
    waiting = setTimeout(function () { if (window.innerWidth !== before) { before = window.innerWidth; plots.forEach(redraw); } }, 150);
  });
  let kept = null;
  window.addEventListener("beforeprint", function () {
    kept = theme;
    theme = "light";
    plots.forEach(function (plot) { redraw(plot); Plotly.relayout(plot.box, { width: 660 }); });
  });
  window.addEventListener("afterprint", function () {
    theme = kept;
    plots.forEach(redraw);
  });
  root.dataset.drawn = String(Math.round(performance.now()));
}
start().catch(function (error) {
  // Old browsers cannot unpack the plots: the fixed pictures stay, and everything else works.
  root.dataset.failed = String(error);
  root.classList.remove("ready");
});
