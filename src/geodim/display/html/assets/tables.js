// Tables that sort, filter and turn pages: rows are numbers in arrays, and only one page of them is in the document.
const ROWS = 25;
const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

function element(name, attributes, children) {
  const made = document.createElement(name);
  Object.keys(attributes || {}).forEach(function (key) { made.setAttribute(key, attributes[key]); });
  (children || []).forEach(function (child) { made.append(child); });
  return made;
}

// columns: [{ title, value(row) -> number or text, show(row) -> text, numeric, meter(row) -> 0..1, first: "ascending",
// roomy: left out on a small screen, where it would be cut in the middle of a number }]
function classes(column) { return (column.numeric ? "number" : "") + (column.roomy ? " roomy" : ""); }
function makeTable(box, caption, columns, noun) {
  const search = element("input", { type: "search", placeholder: "Filter by name", "aria-label": "Filter " + noun + " by name", autocomplete: "off", spellcheck: "false" });
  const count = element("span", { class: "count", role: "status" });
  const heads = columns.map(function (column) {
    const button = element("button", { type: "button" }, [column.title]);
    return element("th", { scope: "col", class: classes(column) }, [button]);
  });
  const body = element("tbody");
  const before = element("button", { type: "button" }, ["Previous"]), after = element("button", { type: "button" }, ["Next"]);
  const where = element("span", { class: "count" });
  const head = element("p", { class: "caption" }, [caption]);
  const scroll = element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption },
    [element("table", { "aria-label": caption }, [element("thead", {}, [element("tr", {}, heads)]), body])]);
  box.replaceChildren(
    element("div", { class: "tools" }, [search, count]), head, scroll,
    element("div", { class: "tools pager", role: "group", "aria-label": "Pages" }, [before, where, after]));

  let rows = [], order = [], page = 0, sorted = -1, direction = "";
  function arrange() {
    const wanted = search.value.trim().toLowerCase();
    order = [];
    for (let at = 0; at < rows.length; at += 1) {
      if (wanted === "" || rows[at].search.includes(wanted)) { order.push(at); }
    }
    if (sorted >= 0) {
      const value = columns[sorted].value, sign = direction === "descending" ? -1 : 1;
      const keys = rows.map(value);
      order.sort(function (a, b) {
        const one = keys[a], other = keys[b];
        return (typeof one === "string" ? sign * COLLATOR.compare(one, other) : sign * (one - other)) || a - b;
      });
    }
    page = 0;
    draw();
  }
  function draw() {
    const pages = Math.max(1, Math.ceil(order.length / ROWS));
    body.replaceChildren.apply(body, order.slice(page * ROWS, (page + 1) * ROWS).map(function (at) {
      return element("tr", {}, columns.map(function (column, place) {
        const cell = element(place === 0 ? "th" : "td", place === 0 ? { scope: "row" } : {});
        cell.className = classes(column);
        if (column.meter) {
          const bar = element("span"), frame = element("span", { class: "meter", "aria-hidden": "true" }, [bar]);
          bar.style.width = (100 * column.meter(rows[at])).toFixed(1) + "%";
          cell.append(frame);
        }
        cell.append(column.meter ? element("span", { class: "amount" }, [column.show(rows[at])]) : column.show(rows[at]));
        return cell;
      }));
    }));
    const all = whole(rows.length) + " " + (rows.length === 1 ? noun.replace(/s$/, "") : noun);
    count.textContent = order.length === rows.length ? all : whole(order.length) + " of " + all;
    where.textContent = "Page " + whole(page + 1) + " of " + whole(pages);
    before.disabled = page === 0;
    after.disabled = page >= pages - 1;
    before.parentElement.hidden = pages === 1;
    heads.forEach(function (cell, at) { cell.setAttribute("aria-sort", at === sorted ? direction : "none"); });
  }
  heads.forEach(function (cell, at) {
    cell.firstChild.addEventListener("click", function () {
      const first = columns[at].first || "ascending";
      direction = sorted !== at ? first : direction === "ascending" ? "descending" : "ascending";
      sorted = at;
      arrange();
    });
  });
  search.addEventListener("input", arrange);
  before.addEventListener("click", function () { page -= 1; draw(); });
  after.addEventListener("click", function () { page += 1; draw(); });
  return { show: function (list, title) { rows = list; head.textContent = title || caption; arrange(); } };
}

function featureRows(features, names, hops) {
  let together = 0;
  return features.name.map(function (place, at) {
    const name = names[place], found = hops ? /^hop (\d+): ([^]*)$/.exec(name) : null;
    together += features.share[at];
    return {
      name: found ? found[2] : name, search: name.toLowerCase(), rank: at + 1, hop: found ? Number(found[1]) : 0, share: features.share[at],
      most: features.share[0], together: Math.min(together, 1), leads: features.leads[at], without: features.without ? features.without[at] : undefined,
    };
  });
}
function featureTable(box, hops, worth, caption) {
  const columns = [
    { title: "feature", value: function (row) { return row.name; }, show: function (row) { return row.name === "" ? "(no name)" : row.name; } },
    { title: "rank", numeric: true, roomy: true, value: function (row) { return row.rank; }, show: function (row) { return whole(row.rank); } },
  ];
  if (hops) { columns.push({ title: "hop", numeric: true, value: function (row) { return row.hop; }, show: function (row) { return String(row.hop); } }); }
  if (worth) { columns.push({ title: "without it", numeric: true, first: "descending", value: function (row) { return row.without === null ? Infinity : row.without; }, show: function (row) { return digits(row.without); } }); }
  columns.push(
    { title: "share", numeric: true, first: "descending", value: function (row) { return row.share; }, show: function (row) { return percent(row.share); }, meter: function (row) { return row.share / row.most; } },
    { title: "together", numeric: true, roomy: true, value: function (row) { return row.together; }, show: function (row) { return percent(row.together); } },
    { title: "widest at", numeric: true, roomy: true, first: "descending", value: function (row) { return row.leads === null ? -1 : row.leads; }, show: function (row) { return row.leads === null ? "–" : percent(row.leads) + " of sizes"; } });
  return makeTable(box, caption, columns, "features");
}
function selectionTable(box, selection, names) {
  const table = makeTable(box, "Chosen features, in the order of choice", [
    { title: "feature", value: function (row) { return row.name; }, show: function (row) { return row.name === "" ? "(no name)" : row.name; } },
    { title: "choice", numeric: true, roomy: true, value: function (row) { return row.rank; }, show: function (row) { return whole(row.rank); } },
    { title: "adds", numeric: true, first: "descending", value: function (row) { return row.gain; }, show: function (row) { return percent(row.gain); }, meter: function (row) { return row.gain / row.most; } },
    { title: "together", numeric: true, roomy: true, value: function (row) { return row.fraction; }, show: function (row) { return (100 * row.fraction).toFixed(2) + " %"; } },
    { title: "dimension", numeric: true, value: function (row) { return row.dimension === null ? Infinity : row.dimension; }, show: function (row) { return digits(row.dimension); } },
  ], "features");
  table.show(selection.name.map(function (place, at) {
    return { name: names[place], search: names[place].toLowerCase(), rank: at + 1, gain: selection.gain[at], most: Math.max(selection.gain[0], 1e-300), fraction: selection.fraction[at], dimension: selection.dimension[at] };
  }));
}
