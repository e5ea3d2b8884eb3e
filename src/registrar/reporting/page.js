"use strict";
const controls = document.getElementById("controls");
const count = document.getElementById("count");
const sections = ["list", "matrix"].map((id) => document.getElementById(id));
const rows = new Map(sections.map((section) => [section, Array.from(section.querySelector("tbody").rows)]));
const fields = controls.elements;
const properties = Array.from(fields).filter((field) => field.name.startsWith("property"));

function fits({ name, cells, outcome, ...values }) {
  const { value: state } = fields.state;
  const { value: path } = fields.path;
  const isMeant = (cell, place) => cell !== "-" && (!path || place === Number(path)) && (state ? state.includes(cell) : cell !== "a");
  return (
    name.toLowerCase().includes(fields.search.value.trim().toLowerCase()) &&
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

const namesAtMost = 10;

// Repositories that the search finds, and of which the list shows nothing because nothing is wrong
function quiet(listed) {
  const shown = new Set(listed.map((row) => row.dataset.name));
  const [, all] = sections;
  const found = rows.get(all).map((row) => row.dataset).filter((data) => !shown.has(data.name) && fits(data));
  const names = Array.from(new Set(found.map((data) => data.name)));
  const more = names.length - namesAtMost;
  const named = names.slice(0, namesAtMost).concat(more > 0 ? [count.dataset.more.replace("{count}", more)] : []);
  return named.length ? ` ${count.dataset.quiet.replace("{names}", () => named.join(", "))}` : "";
}

function update() {
  for (const [section, all] of rows) {
    section.hidden = section.id !== fields.view.value;
    let shown = 0;
    let group;
    for (const row of section.querySelector("tbody").rows) {
      const begins = row.className === "group";
      // Files that only have other content stand behind one click, or a choice of their state
      const isQuiet = row.dataset.quiet && section.id === "list" && !(fields.quiet?.checked || fields.state.value);
      row.hidden = begins || isQuiet || !fits(row.dataset);
      if (begins) group = row;
      if (row.hidden) continue;
      shown += 1;
      if (group) group.hidden = false;
    }
    if (!section.hidden) count.textContent = count.dataset.text.replace("{shown}", shown).replace("{all}", all.length);
    if (!section.hidden && section.id === "list" && fields.search.value.trim()) count.textContent += quiet(all);
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
fields.sort.addEventListener("change", sort);
controls.addEventListener("submit", (event) => event.preventDefault());
controls.hidden = false;
update();
