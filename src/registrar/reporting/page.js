"use strict";
const controls = document.getElementById("controls");
const count = document.getElementById("count");
const sections = ["list", "matrix"].map((id) => document.getElementById(id));
const rows = new Map(sections.map((section) => [section, Array.from(section.querySelector("tbody").rows)]));
const fields = controls.elements;
const properties = Array.from(fields).filter((field) => field.name.startsWith("property"));

function fits({ name, cells, ...values }) {
  const { value: state } = fields.state;
  const { value: path } = fields.path;
  const isMeant = (cell, place) => cell !== "-" && (!path || place === Number(path)) && (state ? cell === state : cell !== "0");
  return (
    name.toLowerCase().includes(fields.search.value.trim().toLowerCase()) &&
    properties.every((field) => !field.value || field.value === `=${values[field.name]}`) &&
    (!(state || path) || Array.from(cells).some(isMeant))
  );
}

function update() {
  for (const [section, all] of rows) {
    section.hidden = section.id !== fields.view.value;
    let shown = 0;
    for (const row of all) {
      row.hidden = !fits(row.dataset);
      shown += row.hidden ? 0 : 1;
    }
    if (!section.hidden) count.textContent = count.dataset.text.replace("{shown}", shown).replace("{all}", all.length);
  }
}

function sort() {
  const key = fields.sort.value;
  const by = (a, b) => (a.dataset[key] ?? "").localeCompare(b.dataset[key] ?? "");
  for (const [section, all] of rows) section.querySelector("tbody").append(...(key ? all.toSorted(by) : all));
}

controls.addEventListener("input", update);
fields.sort.addEventListener("change", sort);
controls.addEventListener("submit", (event) => event.preventDefault());
controls.hidden = false;
update();
