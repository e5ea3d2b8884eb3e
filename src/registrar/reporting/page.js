"use strict";
const controls = document.getElementById("controls");
const count = document.getElementById("count");
const more = document.getElementById("more");
const sections = ["list", "matrix"].map((id) => document.getElementById(id));
const rows = new Map(sections.map((section) => [section, Array.from(section.querySelector("tbody").rows)]));
const fields = controls.elements;
const properties = Array.from(fields).filter((field) => field.name.startsWith("property"));
const filters = [fields.search, fields.state, fields.kind, fields.outcome, fields.path, ...properties].filter(Boolean);

function fits({ name, cells, outcome, kinds = "", ...values }) {
  const { value: state } = fields.state;
  const { value: path } = fields.path;
  const isMeant = (cell, place) => cell !== "-" && (!path || place === Number(path)) && (state ? state.includes(cell) : cell !== "a");
  return (
    name.toLowerCase().includes(fields.search.value.trim().toLowerCase()) &&
    (!fields.kind?.value || kinds.split(" ").includes(fields.kind.value)) &&
    (!fields.outcome?.value || fields.outcome.value === outcome) &&
    properties.every((field) => !field.value || field.value === `=${values[field.name]}`) &&
    (!(state || path) || Array.from(cells).some(isMeant))
  );
}

function heading(title, columns) {
  const row = document.createElement("tr");
  row.className = "group";
  const cell = row.appendChild(document.createElement("th"));
  cell.colSpan = columns;
  cell.textContent = title;
  return row;
}

// On a telephone, thousands of lines would stand between the reader and the end of the page
const atOnce = 20;
let most = matchMedia("(max-width: 30rem)").matches ? atOnce : Infinity;

function update() {
  const chosen = filters.some((field) => field.value.trim());
  for (const [section, all] of rows) {
    section.hidden = section.id !== fields.view.value;
    let shown = 0;
    let group;
    for (const row of section.querySelector("tbody").rows) {
      const begins = row.className === "group";
      // What needs nobody stands behind one click, or any choice, so that each number is found
      const isQuiet = row.dataset.quiet && section.id === "list" && !(fields.quiet?.checked || chosen);
      row.hidden = begins || isQuiet || !fits(row.dataset);
      if (begins) group = row;
      if (row.hidden) continue;
      shown += 1;
      row.hidden = shown > most;
      if (group && !row.hidden) group.hidden = false;
    }
    if (section.hidden) continue;
    count.textContent = count.dataset.text.replace("{shown}", shown).replace("{all}", all.length + Number(count.dataset.rest));
    more.hidden = shown <= most;
    more.textContent = count.dataset.more.replace("{count}", shown - most);
  }
}

function sort() {
  const key = fields.sort.value;
  const titles = new Map(Array.from(fields[key]?.options ?? [], ({ value, text }) => [value, text]));
  const by = (a, b) => (a.dataset[key] ?? "").localeCompare(b.dataset[key] ?? "");
  for (const [section, all] of rows) {
    let group;
    const lines = (key ? all.toSorted(by) : all).flatMap((row) => {
      const title = titles.get(`=${row.dataset[key]}`);
      const begins = title !== group;
      group = title;
      return begins ? [heading(title, row.cells.length), row] : [row];
    });
    section.querySelector("tbody").replaceChildren(...lines);
  }
  update();
}

controls.addEventListener("input", update);
// A number leads to its rows, and to no other ones
document.addEventListener("click", ({ target }) => {
  const link = target.closest('a[href="#repositories"]');
  if (!link) return;
  for (const field of filters) field.value = link.dataset[field.name] ?? "";
  update();
});
more.addEventListener("click", () => {
  most += atOnce;
  update();
});
fields.sort.addEventListener("change", sort);
controls.addEventListener("submit", (event) => event.preventDefault());
controls.hidden = false;
update();
