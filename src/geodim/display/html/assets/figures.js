// The plots: data in, a plotly figure out. Colours come from a theme, so that a figure can be drawn again in another.
const THEMES = {
  light: {
    ink: "#1c1c1e", soft: "#55555b", paper: "#ffffff", line: "#e4e4df", others: "#bdbdb8",
    palette: ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"],
  },
  dark: {
    ink: "#ececea", soft: "#b0afab", paper: "#161618", line: "#333338", others: "#66666b",
    palette: ["#3D9BDC", "#F2B134", "#22B890", "#F07A35", "#DE9BC1", "#8CD0F7"],
  },
};
const LOG_FROM = 20;
const BARS = 15;
const MARKERS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross"];
const DASHES = ["solid", "dash", "dot", "dashdot"];

// Plotly reads a few tags in its texts; a name from the data is a text.
function plain(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/[\n\r\t]+/g, " ");
}
function shorten(text, length) {
  const letters = Array.from(text);
  if (letters.length <= length) { return text || "(no name)"; }
  const tail = Math.floor(length / 2) - 2;
  return letters.slice(0, length - tail).join("") + "…" + letters.slice(-tail).join("");
}
function label(name, length) { return /^[0-9]+$/.test(name) ? "feature " + name : shorten(name, length || 28); }
function digits(value, count) {
  if (value === null || value === undefined) { return "∞"; }
  if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e9)) { return value.toExponential(3); }
  return value.toLocaleString("en", { maximumSignificantDigits: count || 4 });
}
function whole(value) { return value.toLocaleString("en"); }
function percent(share) {
  if (share === null || share === undefined) { return ""; }
  if (share > 0 && share < 0.001) { return "< 0.1 %"; }
  if (share > 0.9995 && share < 1 - 1e-5) { return "> 99.9 %"; }
  return (100 * share).toFixed(share === 0 ? 0 : 1) + " %";
}
// The sizes k of a step, or its masses where points have any.
function sizes(curve, at) {
  const k = curve.k[at], show = curve.unit === "k" ? whole : digits;
  return curve.unit + " = " + (k[0] === k[1] ? show(k[0]) : show(k[0]) + " to " + show(k[1]));
}

function baseLayout(theme, width, title) {
  const axis = {
    gridcolor: theme.line, zeroline: false, linecolor: theme.soft, tickcolor: theme.soft, automargin: true, fixedrange: width < 560,
  };
  return {
    font: { family: "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, Liberation Sans, sans-serif", size: width < 560 ? 12 : 13.5, color: theme.ink },
    paper_bgcolor: theme.paper, plot_bgcolor: theme.paper, height: width < 560 ? 340 : 400,
    margin: { l: 56, r: 12, t: width < 560 ? 12 : 28, b: 52 }, dragmode: width < 560 ? false : "zoom",
    xaxis: Object.assign({}, axis, { title: { text: title[0] } }), yaxis: Object.assign({}, axis, { title: { text: title[1] } }),
    hoverlabel: { bgcolor: theme.paper, bordercolor: theme.soft, font: { color: theme.ink, size: 13 }, align: "left" },
    legend: width < 560
      ? { orientation: "h", x: 0, y: -0.3, yanchor: "top", font: { size: 12 } }
      : { x: 1, xanchor: "right", y: 1, yanchor: "top", bgcolor: "rgba(0,0,0,0)" },
    showlegend: true,
  };
}
// Several results need more room for their names than there is inside the axes.
function legendAbove(layout, width, count) {
  layout.height += 20 * count;
  if (width >= 560) { layout.legend = { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" }; }
}
function wantsLog(values) {
  const positive = values.filter(function (value) { return value !== null && value > 0; });
  return positive.length > 1 && Math.max.apply(null, positive) >= LOG_FROM * Math.min.apply(null, positive);
}
function stairs(curve, heights) {
  const x = [], y = [];
  heights.forEach(function (height, at) { x.push(curve.alpha[at], curve.alpha[at + 1]); y.push(height, height); });
  return { x: x, y: y };
}
function stepAt(curve, alpha) {
  let low = 0, high = curve.width.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (curve.alpha[middle] <= alpha) { low = middle; } else { high = middle - 1; }
  }
  return low;
}
function ownerName(curve, at, names) {
  return curve.owner && curve.owner[at] >= 0 ? names[curve.owner[at]] : null;
}

function curveFigure(curve, features, names, theme, width, probe) {
  const traces = [], ranks = new Map();
  features.name.forEach(function (name, rank) { ranks.set(name, rank); });
  const shown = Math.min(width < 560 ? 4 : 6, features.name.length);
  if (curve.shade) {
    const areas = new Map();
    let start = 0;
    for (let at = 1; at <= curve.shade.length; at += 1) {
      if (at < curve.shade.length && curve.shade[at] === curve.shade[start]) { continue; }
      const rank = ranks.has(curve.shade[start]) ? ranks.get(curve.shade[start]) : Infinity;
      const key = rank < shown ? rank : shown;
      const area = areas.get(key) || { x: [], y: [] };
      area.x.push(curve.alpha[start]); area.y.push(0);
      for (let step = start; step < at; step += 1) {
        area.x.push(curve.alpha[step], curve.alpha[step + 1]); area.y.push(curve.width[step], curve.width[step]);
      }
      area.x.push(curve.alpha[at], null); area.y.push(0, null);
      areas.set(key, area);
      start = at;
    }
    Array.from(areas.keys()).sort(function (a, b) { return a - b; }).forEach(function (key) {
      const other = key >= shown, rest = features.name.length - shown;
      traces.push({
        type: "scatter", mode: "none", fill: "toself", x: areas.get(key).x, y: areas.get(key).y, hoverinfo: "skip",
        fillcolor: other ? theme.others : theme.palette[key], showlegend: !other || rest > 0,
        name: other ? rest + (rest === 1 ? " other" : " others") : plain(label(names[features.name[key]])) + ", " + percent(features.share[key]) + (features.spare && features.spare[key] ? " (tied)" : ""),
      });
    });
  } else {
    const line = stairs(curve, curve.width);
    traces.push({
      type: "scatter", mode: "none", fill: "tozeroy", x: line.x, y: line.y, hoverinfo: "skip", fillcolor: theme.palette[0],
      opacity: 0.4, name: "area " + curve.delta,
    });
  }
  if (curve.low) {
    [["low", "lower bound"], ["high", "upper bound"]].forEach(function (pair) {
      traces.push(Object.assign(stairs(curve, curve[pair[0]]), {
        type: "scatter", mode: "lines", line: { color: theme.soft, width: 1, dash: "dot" }, hoverinfo: "skip", name: pair[1],
      }));
    });
  }
  traces.push(Object.assign(stairs(curve, curve.width), {
    type: "scatter", mode: "lines", line: { color: theme.ink, width: 1.3 }, hoverinfo: "skip", showlegend: false, name: "curve",
  }));
  const middle = curve.width.map(function (_, at) { return (curve.alpha[at] + curve.alpha[at + 1]) / 2; });
  traces.push({
    type: "scatter", mode: "markers", marker: { size: 6, opacity: 0, color: theme.ink }, x: middle, y: curve.width, showlegend: false, name: "hover",
    customdata: curve.width.map(function (value, at) {
      const owner = ownerName(curve, at, names);
      const bounds = curve.low ? " (" + digits(curve.low[at]) + " to " + digits(curve.high[at]) + ")" : "";
      return [digits(middle[at], 3), sizes(curve, at), owner === null ? "" : "<br>feature: " + plain(label(owner, 40)), digits(value) + bounds];
    }),
    hovertemplate: "α = %{customdata[0]}<br>%{customdata[1]}%{customdata[2]}<br>width %{customdata[3]}<extra></extra>",
  });
  const layout = baseLayout(theme, width, ["α, share of points left out", curve.normalized ? "observable diameter" : "observable diameter, units of the data"]);
  const heights = curve.width.concat((curve.high || []).filter(function (value) { return value !== null; }));
  layout.hovermode = "x"; layout.hoverdistance = -1;
  layout.xaxis.range = [0, 1];
  layout.yaxis.range = [0, 1.05 * Math.max.apply(null, heights) || 1];
  if (width < 560) { layout.height = 320 + 20 * traces.filter(function (trace) { return trace.showlegend !== false; }).length; }
  else { layout.legend.title = { text: curve.delta }; }
  if (probe !== null) {
    const at = stepAt(curve, probe);
    traces.push({
      type: "scatter", mode: "markers", x: [probe], y: [curve.width[at]], hoverinfo: "skip", showlegend: false, name: "probe",
      marker: { size: 11, color: theme.paper, line: { color: theme.ink, width: 2 } },
    });
    layout.shapes = [{ type: "line", x0: probe, x1: probe, y0: 0, y1: curve.width[at], line: { color: theme.ink, width: 1, dash: "dot" } }];
  }
  return { data: traces, layout: layout };
}

function hopTraces(hops, theme, colour, name, at) {
  const k = hops.dimension.map(function (_, index) { return index; });
  const y = hops.dimension.map(function (value, index) { return hops.known[index] ? value : null; });
  const bars = { x: [], y: [] }, open = { x: [], y: [] };
  k.forEach(function (index) {
    if (hops.exact[index] || hops.lower[index] === null) { return; }
    if (hops.upper[index] === null) { open.x.push(index); open.y.push(hops.lower[index]); return; }
    bars.x.push(index, index, null); bars.y.push(hops.lower[index], hops.upper[index], null);
  });
  const text = k.map(function (index) {
    const bounds = hops.lower[index] === hops.upper[index] ? "exact" : digits(hops.lower[index], 6) + " to " + digits(hops.upper[index], 6);
    return [digits(hops.known[index] ? hops.dimension[index] : hops.lower[index], 6), bounds];
  });
  const traces = [{
    type: "scatter", mode: "lines+markers", x: k, y: y, name: plain(name), customdata: text,
    line: { color: colour, width: 2, dash: DASHES[at % DASHES.length] }, marker: { size: 8, color: colour, symbol: MARKERS[at % MARKERS.length] },
    hovertemplate: "k = %{x}<br>dimension %{customdata[0]}<br>%{customdata[1]}<extra></extra>",
  }];
  if (bars.x.length) {
    traces.push({ type: "scatter", mode: "lines+markers", x: bars.x, y: bars.y, hoverinfo: "skip", name: "certified bounds", showlegend: at === 0,
      line: { color: theme.soft, width: 1.5 }, marker: { symbol: "line-ew-open", size: 9, color: theme.soft } });
  }
  if (open.x.length) {
    traces.push({ type: "scatter", mode: "markers", x: open.x, y: open.y, name: "at least", showlegend: at === 0, hovertemplate: "k = %{x}<br>at least %{y:.6g}<extra></extra>",
      marker: { symbol: "arrow-up", size: 14, color: theme.soft } });
  }
  return traces;
}
function hopsFigure(lists, theme, width, selected) {
  let traces = [], values = [], last = 0;
  lists.forEach(function (one, at) {
    traces = traces.concat(hopTraces(one.hops, theme, theme.palette[at % theme.palette.length], one.name, at));
    values = values.concat(one.hops.dimension, one.hops.lower);
    last = Math.max(last, one.hops.dimension.length - 1);
  });
  const layout = baseLayout(theme, width, ["k, number of hops", "intrinsic dimension"]);
  layout.height = width < 560 ? 280 : 320;
  layout.xaxis.range = [-0.35, last + 0.35];
  layout.xaxis.tickmode = "linear"; layout.xaxis.dtick = Math.max(1, Math.ceil(last / 12));
  if (wantsLog(values)) { layout.yaxis.type = "log"; layout.yaxis.nticks = 6; }
  layout.hovermode = lists.length > 1 ? "x" : "closest"; layout.hoverdistance = 60;
  layout.showlegend = traces.length > 1;
  if (lists.length > 1) { legendAbove(layout, width, lists.length); }
  if (selected !== null) {
    const value = lists[0].hops.known[selected] ? lists[0].hops.dimension[selected] : lists[0].hops.lower[selected];
    traces.push({ type: "scatter", mode: "markers", x: [selected], y: [value], hoverinfo: "skip", showlegend: false, name: "selected",
      marker: { size: 16, color: "rgba(0,0,0,0)", line: { color: theme.ink, width: 2 } } });
  }
  return { data: traces, layout: layout };
}

function sharesFigure(features, names, theme, width) {
  const count = features.name.length > BARS + 1 ? BARS : features.name.length;
  const share = features.share.slice(0, count), text = features.name.slice(0, count).map(function (name) { return plain(label(names[name], width < 560 ? 16 : 30)); });
  const full = features.name.slice(0, count).map(function (name) { return plain(label(names[name], 60)); });
  const colours = share.map(function (_, at) { return at < 6 ? theme.palette[at] : theme.others; });
  if (features.name.length > count) {
    share.push(Math.max(0, 1 - share.reduce(function (sum, one) { return sum + one; }, 0)));
    text.push(whole(features.name.length - count) + " others"); full.push(text[text.length - 1]); colours.push(theme.others);
  }
  const places = share.map(function (_, at) { return at; });
  const said = share.map(function (one, at) {
    return percent(one) + (features.without && at < count && width >= 560 ? " (without it: " + digits(features.without[at]) + ")" : "");
  });
  const layout = baseLayout(theme, width, ["share of the discriminability", ""]);
  layout.height = 90 + 24 * Math.max(share.length, 2);
  layout.showlegend = false; layout.bargap = 0.25;
  layout.xaxis.tickformat = ".0%"; layout.xaxis.rangemode = "tozero";
  layout.xaxis.range = [0, (features.without && width >= 560 ? 1.45 : 1.2) * Math.max.apply(null, share)];
  Object.assign(layout.yaxis, { tickvals: places, ticktext: text, range: [share.length - 0.5, -0.5], showgrid: false, ticks: "", fixedrange: true });
  return {
    data: [{
      type: "bar", orientation: "h", x: share, y: places, marker: { color: colours }, text: said, textposition: "outside", cliponaxis: false,
      textfont: { color: theme.ink }, customdata: full.map(function (name, at) { return [name, said[at]]; }),
      hovertemplate: "%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
    }],
    layout: layout,
  };
}

function greedyFigure(selection, names, theme, width) {
  const count = selection.fraction.length, x = [0], y = [0], text = [["none", "0 %", ""]];
  const every = Math.max(1, Math.floor(count / 1500));
  for (let at = 0; at < count; at += 1) {
    if (at > 50 && at % every !== 0 && at !== count - 1) { continue; }
    x.push(at + 1); y.push(selection.fraction[at]);
    text.push([plain(label(names[selection.name[at]], 40)), percent(selection.fraction[at]), digits(selection.dimension[at])]);
  }
  const layout = baseLayout(theme, width, ["features chosen", "part of Δ of all features"]);
  layout.yaxis.tickformat = ".0%"; layout.yaxis.range = [0, 1.06]; layout.showlegend = false;
  layout.xaxis.range = [0, count * 1.03]; layout.hovermode = "x"; layout.hoverdistance = -1;
  if (count < 12) { layout.xaxis.dtick = 1; }
  layout.shapes = [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: 1, y1: 1, line: { color: theme.soft, width: 1, dash: "dash" } }];
  if (selection.goal && selection.goal < 1) {
    layout.shapes.push({ type: "line", xref: "paper", x0: 0, x1: 1, y0: selection.goal, y1: selection.goal, line: { color: theme.soft, width: 1, dash: "dot" } });
  }
  return {
    data: [{
      type: "scatter", mode: count <= 60 ? "lines+markers" : "lines", x: x, y: y, customdata: text, line: { color: theme.palette[0], width: 2 }, marker: { size: 7 },
      hovertemplate: "%{x}: %{customdata[0]}<br>together %{customdata[1]}<br>dimension %{customdata[2]}<extra></extra>",
    }],
    layout: layout,
  };
}

function compareFigure(list, theme, width) {
  const traces = list.map(function (one, at) {
    const line = stairs(one.curve, one.curve.width);
    return Object.assign(line, {
      type: "scatter", mode: "lines", name: plain(shorten(one.name, width < 560 ? 22 : 40)) + ", " + one.curve.delta,
      line: { color: theme.palette[at % theme.palette.length], width: 2, dash: DASHES[at % DASHES.length] },
      hovertemplate: plain(shorten(one.name, 40)).replace(/%/g, "&#37;") + ": width %{y:.4g} at α = %{x:.3f}<extra></extra>",
    });
  });
  const layout = baseLayout(theme, width, ["α, share of points left out", "observable diameter"]);
  layout.hovermode = "x"; layout.hoverdistance = -1; layout.xaxis.range = [0, 1]; layout.yaxis.rangemode = "tozero";
  legendAbove(layout, width, list.length);
  return { data: traces, layout: layout };
}
