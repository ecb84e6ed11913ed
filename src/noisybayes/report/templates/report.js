"use strict";
// The list of suspects: search, filters, sorting, paging. Texts are inserted as text nodes, never as HTML.
(function () {
  const FIELDS = ["row", "id", "given", "suggested", "p_wrong", "p_suggested", "cells", "n_open", "evidence", "rest",
    "label_weight", "log_odds"];
  const PAGE = 10;
  const data = JSON.parse(document.getElementById("data").textContent);
  const rows = data.rows.map((values, rank) =>
    Object.assign({ rank }, Object.fromEntries(FIELDS.map((field, i) => [field, values[i]]))));
  const state = { page: 0, key: "p_wrong", up: false, query: "", given: "", suggested: "", only: null };
  const get = (id) => document.getElementById(id);

  function el(tag, className, ...children) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...children);
    return node;
  }
  // long names may break after an underscore, slash or dot rather than within a word
  function named(name) {
    const parts = name.length > 20 ? name.split(/(?<=[_/.:-])(?=.)/) : [name];
    return parts.flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part]));
  }
  const count = (value) => value.toLocaleString("en-US");
  const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
  function percent(share) {
    if (share >= 0.9995) return "> 99.9 %";
    if (share > 0 && share < 0.0005) return "< 0.1 %";
    return (100 * share).toFixed(1) + " %";
  }
  function odds(row) {
    const names = [data.labels[row.suggested], data.labels[row.given]];
    if (row.log_odds < 0) names.reverse();
    const times = Math.exp(Math.min(Math.abs(row.log_odds), 50));
    const shown = times > 1000 ? "more than 1,000" : times < 10 ? times.toFixed(1) : count(Math.round(times));
    return `“${names[0]}” is ${shown} times as probable as “${names[1]}”.`;
  }

  const length = (pieces) => pieces.reduce((sum, piece) => sum + (typeof piece === "string" ? piece : piece[0]).length, 0);
  function cell([column, ...pieces], row) {
    const node = el("div", length(pieces) > 60 || data.columns.length === 1 ? "cell" : "cell short");
    if (data.columns.length > 1) node.append(el("span", "column", data.columns[column]), " ");
    for (const piece of pieces) {
      if (typeof piece === "string") { node.append(piece); continue; }
      const weight = row.evidence[piece[1]][1];
      const mark = el("mark", weight > 0 ? "for" : "against", piece[0]);
      mark.title = `${signed(weight)} for “${data.labels[weight > 0 ? row.suggested : row.given]}”`;
      node.append(mark);
    }
    return node;
  }

  // Each bar starts where the previous one ended, so that the bars visibly add up.
  function bars(row) {
    const many = data.columns.length > 1;
    const lines = row.evidence.map(([name, weight, column]) => [name, weight, "", many ? data.columns[column] : ""]);
    lines.push(["everything else", row.rest, "other"], ["the given label", row.label_weight, "other"]);
    const ends = [0];
    for (const [, weight] of lines) ends.push(ends[ends.length - 1] + weight);
    const low = Math.min(...ends), span = Math.max(...ends) - low || 1;
    const list = el("ul", "sum bars");
    const add = (name, weight, kind, column, from, to) => {
      const bar = el("span", "bar " + (weight >= 0 ? "for" : "against"));
      bar.style.left = (100 * (Math.min(from, to) - low)) / span + "%";
      bar.style.width = (100 * Math.abs(to - from)) / span + "%";
      const zero = el("span", "zero");
      zero.style.left = (-100 * low) / span + "%";
      const label = el("span", "name", name);
      if (column) label.append(el("span", "sub", column));
      list.append(el("li", kind, label, el("span", "track", zero, bar), el("span", "weight", signed(weight))));
    };
    lines.forEach(([name, weight, kind, column], i) => add(name, weight, kind, column, ends[i], ends[i + 1]));
    add("sum (log odds)", row.log_odds, "total", "", 0, row.log_odds);
    return list;
  }

  function why(row) {
    const box = el("details", "why", el("summary", "", "Why?"));
    box.addEventListener("toggle", () => {
      if (!box.open || box.childElementCount > 1) return;
      const given = data.labels[row.given], suggested = data.labels[row.suggested];
      box.append(
        el("p", "note", `Bars to the right support “${suggested}”, bars to the left support “${given}”; they add up to the sum.`),
        bars(row),
        el("p", "note", odds(row) + ` P(“${suggested}”) = ${percent(row.p_suggested)}.`));
    });
    return box;
  }

  // A wide table shows the cells with the most evidence; the others are one click away.
  function cells(row) {
    const open = row.cells.slice(0, row.n_open).map((item) => cell(item, row));
    const rest = row.cells.slice(row.n_open);
    if (!rest.length) return open;
    const box = el("details", "why", el("summary", "", rest.length === 1 ? "1 more column" : `${rest.length} more columns`));
    box.addEventListener("toggle", () => {
      if (box.open && box.childElementCount === 1) box.append(...rest.map((item) => cell(item, row)));
    });
    return [...open, box];
  }

  function line(row) {
    const number = el("td", "number", el("span", "id", row.id === null ? String(row.row) : row.id));
    if (row.id !== null && row.id !== String(row.row)) number.append(el("span", "sub", "row " + row.row));
    const text = el("td", "text", ...cells(row), why(row));
    return el("tr", "", number,
      el("td", "", el("span", "tag given", ...named(data.labels[row.given]))),
      el("td", "", el("span", "tag suggested", ...named(data.labels[row.suggested]))),
      el("td", "number", percent(row.p_wrong)), text);
  }

  function words(row) {
    if (row.words === undefined) {
      const cells = row.cells.map(([, ...pieces]) =>
        pieces.map((piece) => (typeof piece === "string" ? piece : piece[0])).join(""));
      const all = [row.row, row.id === null ? "" : row.id, data.labels[row.given], data.labels[row.suggested], ...cells];
      row.words = all.join("\n").toLowerCase();
    }
    return row.words;
  }

  const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  function compare(a, b) {
    let order;
    if (state.key === "given" || state.key === "suggested") {
      order = byName.compare(data.labels[a[state.key]], data.labels[b[state.key]]);
    } else if (state.key === "row") {
      order = byName.compare(String(a.id === null ? a.row : a.id), String(b.id === null ? b.row : b.id));
    } else {
      order = a.p_wrong - b.p_wrong;
    }
    // Ties are broken by P(wrong).
    return (state.up ? order : -order) || a.rank - b.rank;
  }

  function matching() {
    const parts = state.query.toLowerCase().split(/\s+/).filter(Boolean);
    return rows.filter((row) =>
      (state.only === null || state.only.has(row.row)) &&
      (state.given === "" || row.given === Number(state.given)) &&
      (state.suggested === "" || row.suggested === Number(state.suggested)) &&
      parts.every((part) => words(row).includes(part))).sort(compare);
  }

  function show() {
    const found = matching();
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    const from = state.page * PAGE;
    const shown = found.slice(from, from + PAGE);
    get("table").tBodies[0].replaceChildren(...shown.map(line));
    const range = `${count(from + 1)} to ${count(from + shown.length)}`;
    get("status").textContent = !found.length ? "No row matches. Clear the search or the filters."
      : found.length === rows.length ? `${range} of ${count(rows.length)} rows`
      : `${range} of ${count(found.length)} matching rows (${count(rows.length)} in total)`;
    get("page").textContent = `Page ${count(state.page + 1)} of ${count(pages)}`;
    get("previous").disabled = state.page === 0;
    get("next").disabled = state.page >= pages - 1;
    get("pager").hidden = pages < 2;
    for (const head of document.querySelectorAll("#table th[data-key]")) {
      const mine = head.dataset.key === state.key;
      if (mine) head.setAttribute("aria-sort", state.up ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
  }

  function turn(step) {
    state.page += step;
    show();
    get("suspects").scrollIntoView();
  }

  function fill(id) {
    const counts = new Map();
    for (const row of rows) counts.set(row[id], (counts.get(row[id]) || 0) + 1);
    const labels = [...counts.keys()].sort((a, b) => byName.compare(data.labels[a], data.labels[b]));
    for (const label of labels) {
      const option = el("option", "", `${data.labels[label]} (${count(counts.get(label))})`);
      option.value = String(label);
      get(id).append(option);
    }
  }

  function set(changes) {
    Object.assign(state, { page: 0 }, changes);
    show();
  }

  fill("given");
  fill("suggested");
  get("query").addEventListener("input", (event) => set({ query: event.target.value }));
  get("given").addEventListener("change", (event) => set({ given: event.target.value }));
  get("suggested").addEventListener("change", (event) => set({ suggested: event.target.value }));
  get("controls").addEventListener("submit", (event) => event.preventDefault());
  get("controls").addEventListener("reset", () => set({ query: "", given: "", suggested: "", only: null }));
  get("previous").addEventListener("click", () => turn(-1));
  get("next").addEventListener("click", () => turn(1));
  for (const head of document.querySelectorAll("#table th[data-key]")) {
    head.dataset.title = head.textContent.trim();
    const button = el("button", "", head.dataset.title);
    button.type = "button";
    const key = head.dataset.key;
    button.addEventListener("click", () => set({ key, up: state.key === key ? !state.up : key !== "p_wrong" }));
    head.replaceChildren(button);
  }
  for (const link of document.querySelectorAll("a.pick")) {
    link.addEventListener("click", () => {
      const { given, suggested } = link.dataset;
      get("query").value = "";
      get("given").value = given;
      get("suggested").value = suggested;
      // If the rows of a pair are not on the page, the menus do not list its labels.
      const only = link.dataset.rows ? new Set(link.dataset.rows.split(" ").map(Number)) : null;
      set({ query: "", given: get("given").value, suggested: get("suggested").value, only });
    });
  }
  // In the frame of a notebook the address of a link within the page is that of the notebook, which would be loaded.
  if (location.protocol === "about:") {
    document.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#"]');
      if (!link) return;
      event.preventDefault();
      get(link.hash.slice(1)).scrollIntoView();
    });
  }
  const closed = [];
  addEventListener("beforeprint", () => {
    for (const box of document.querySelectorAll("details.section:not([open])")) { box.open = true; closed.push(box); }
  });
  addEventListener("afterprint", () => { while (closed.length) closed.pop().open = false; });
  for (const id of ["search", "status"]) get(id).hidden = false;
  get("search").open = matchMedia("(min-width: 641px)").matches;
  show();
})();
