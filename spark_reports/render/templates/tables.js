"use strict";
// Tables: which rows are shown, and in which order, is in the address, so that a link shows others the same:
// #?scenario=…&rocketmq=…&from=2026-03-01&words.table-cells=…&sort.table-cells=-runs&at=cell-5d41402abc
const FACETS = { scenario: "Scenario", client: "Client", rocketmq: "RocketMQ", host: "Host", owner: "Owner" };
const bar = document.getElementById("filters");
const tables = [...document.querySelectorAll(".part table")].map((table) => {
  const heads = [...table.tHead.rows[0].cells];
  return {
    table,
    id: table.id.replace(/-table$/, ""),
    heads,
    names: heads.map((head) => head.title),
    times: heads.flatMap((head, n) => ("time" in head.dataset ? [n] : [])),
    rows: [...table.tBodies[0].rows].map((row) => ({ row, text: row.textContent.toLowerCase() })),
    tools: table.closest(".part").querySelector(".tools"),
  };
});
let state = new URLSearchParams();

function value(row, column) {
  // Without the sign that links to the row.
  return row.cells[column].textContent.trim().replace(/^#\s*/, "");
}

function matches(item, { row, text }) {
  for (const facet of Object.keys(FACETS)) {
    const wanted = state.get(facet);
    const column = item.names.indexOf(facet);
    if (wanted !== null && column >= 0 && value(row, column) !== wanted) return false;
  }
  const [from, to] = [state.get("from"), state.get("to")];
  if (item.times.length && (from || to)) {
    const days = item.times.map((column) => value(row, column).slice(0, 10)).filter((day) => /^\d/.test(day)).sort();
    // Rows without a known time are in no period.
    if (!days.length || (from && days.at(-1) < from) || (to && days[0] > to)) return false;
  }
  const words = (state.get("words." + item.id) ?? "").toLowerCase().split(/\s+/);
  return words.every((word) => text.includes(word));
}

function show(item) {
  let shown = 0;
  for (const entry of item.rows) {
    // Whoever follows a link to a row sees it, whatever is filtered.
    entry.row.hidden = !matches(item, entry) && entry.row.id !== state.get("at");
    shown += !entry.row.hidden;
  }
  const said = shown < item.rows.length ? shown + " shown" : "";
  item.tools.querySelector("output").textContent = said;
  const filter = item.tools.querySelector("[data-filter]");
  if (filter && document.activeElement !== filter) filter.value = state.get("words." + item.id) ?? "";
}

function key(row, column) {
  const own = row.cells[column].dataset.v;
  return own === undefined ? value(row, column) : Number(own);
}

function sort(item) {
  const wanted = state.get("sort." + item.id) ?? "";
  const sign = wanted.startsWith("-") ? -1 : 1;
  const column = item.names.indexOf(wanted.replace(/^-/, ""));
  item.heads.forEach((head, n) => {
    if (n === column) head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  });
  const rows = item.rows.map((entry) => entry.row);
  const unknown = (row) => row.cells[column].classList.contains("unknown");
  const compare = (one, other) => {
    if (unknown(one) || unknown(other)) return unknown(one) - unknown(other);
    const [a, b] = [key(one, column), key(other, column)];
    return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  };
  item.table.tBodies[0].append(...(column < 0 ? rows : rows.sort(compare)));
}

function showAll() {
  for (const item of tables) {
    show(item);
    sort(item);
  }
  for (const control of bar.querySelectorAll("[name]")) control.value = state.get(control.name) ?? "";
  const chosen = [...Object.entries(FACETS), ["from", "From"], ["to", "To"]]
    .filter(([name]) => state.get(name))
    .map(([name, text]) => text + " " + state.get(name));
  bar.querySelector("output").textContent = chosen.length ? "Tables show: " + chosen.join(", ") + "." : "";
  bar.querySelector(".all").hidden = !chosen.length;
}

function change(name, wanted) {
  state.delete("at");
  if (wanted) state.set(name, wanted);
  else state.delete(name);
  keep();
}

function keep() {
  const text = state.toString();
  history.replaceState(null, "", text ? "#?" + text : "#");
}

// A link that a chat cuts may end in the middle of an escape.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function read() {
  const hash = decoded(location.hash.slice(1));
  if (hash.startsWith("?")) state = new URLSearchParams(location.hash.slice(2));
  else if (hash) state.set("at", hash);
  else state = new URLSearchParams();
  showAll();
  for (const marked of document.querySelectorAll(".target")) marked.classList.remove("target");
  const target = document.getElementById(state.get("at") ?? "");
  if (!target) return;
  target.classList.add("target");
  target.scrollIntoView({ block: target.tagName === "TR" ? "center" : "start" });
  // A link to a row, and the filters: both are in the address.
  if (!hash.startsWith("?") && [...state].length > 1) keep();
}

for (const [facet, text] of Object.entries(FACETS)) {
  const values = new Set();
  for (const item of tables) {
    const column = item.names.indexOf(facet);
    if (column >= 0) for (const { row } of item.rows) values.add(value(row, column));
  }
  values.delete("–");
  if (values.size < 2) continue;
  const label = document.createElement("label");
  const select = document.createElement("select");
  select.name = facet;
  select.append(new Option("all", ""));
  for (const name of [...values].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }))) select.append(new Option(name, name));
  label.append(text + " ", select);
  bar.querySelector(".facets").prepend(...bar.querySelectorAll(".facets label:has(select)"), label);
}
bar.querySelectorAll("[type=date]").forEach((date) => (date.parentElement.hidden = !tables.some((item) => item.times.length)));
bar.hidden = ![...bar.querySelectorAll("label")].some((label) => !label.hidden);
bar.addEventListener("input", ({ target }) => {
  change(target.name, target.value);
  showAll();
});
bar.querySelector(".all").addEventListener("click", () => {
  for (const name of [...Object.keys(FACETS), "from", "to"]) change(name, "");
  showAll();
});
for (const item of tables) {
  item.tools.querySelector("[data-filter]")?.addEventListener("input", ({ target }) => {
    change("words." + item.id, target.value.trim());
    show(item);
  });
  item.heads.forEach((head) => {
    head.querySelector("button").addEventListener("click", () => {
      change("sort." + item.id, (head.getAttribute("aria-sort") === "ascending" ? "-" : "") + head.title);
      sort(item);
    });
  });
}
addEventListener("hashchange", read);
read();
