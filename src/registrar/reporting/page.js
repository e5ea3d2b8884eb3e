"use strict";
const controls = document.getElementById("controls");
const body = document.getElementById("repositories");
const count = document.getElementById("count");
const byLacking = Array.from(body.rows);
const byName = byLacking.toSorted((a, b) => a.dataset.name.localeCompare(b.dataset.name));
const value = (name) => controls.elements[name].value;

function update() {
  const words = value("search").trim().toLowerCase();
  const state = value("state");
  const path = value("path");
  let shown = 0;
  for (const row of byLacking) {
    const items = Array.from(row.querySelectorAll("li"));
    const fits =
      row.dataset.name.toLowerCase().includes(words) &&
      items.some((item) => (!state || item.dataset.state === state) && (!path || item.dataset.path === path));
    row.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  count.textContent = count.dataset.text.replace("{shown}", shown).replace("{all}", byLacking.length);
}

controls.addEventListener("input", update);
controls.elements.sort.addEventListener("change", () => body.append(...(value("sort") === "name" ? byName : byLacking)));
controls.addEventListener("submit", (event) => event.preventDefault());
controls.hidden = false;
update();
