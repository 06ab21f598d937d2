"use strict";
// Sorts tables by the clicked head. The choice goes to the address, so that a sorted table can be linked to:
// report.html#sort=accuracy
const value = (row, column) => {
  const cell = row.cells[column];
  if (cell.classList.contains("none")) return null;
  return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
};
const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b));
const sort = (head, ascending) => {
  const table = head.closest("table");
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((first, second) => {
    const [a, b] = [value(first, head.cellIndex), value(second, head.cellIndex)];
    // What has no value is last in either direction.
    if (a === null || b === null) return (a === null) - (b === null);
    return ascending ? compare(a, b) : compare(b, a);
  });
  body.append(...rows);
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
};
for (const head of document.querySelectorAll(".sortable th")) {
  head.addEventListener("click", () => {
    const sorted = head.getAttribute("aria-sort");
    const ascending = sorted ? sorted === "descending" : head.dataset.first !== "down";
    sort(head, ascending);
    history.replaceState(null, "", `#sort=${head.dataset.key}`);
  });
}
const wanted = /^#sort=([\w-]+)$/.exec(location.hash);
if (wanted) {
  for (const head of document.querySelectorAll(`.sortable th[data-key="${wanted[1]}"]`)) head.click();
}
