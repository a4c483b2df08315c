// ---- filters: rows of both tables, dots and fronts that are not chosen are out ----------------------
(() => {
  const all = (what) => [...document.querySelectorAll(what)];
  const fields = all("select[data-filter]");
  const dots = new Map(all("circle[data-tip]").map((dot) => [dot.dataset.tip, dot]));
  const choose = () => {
    const isOut = (row) => fields.some(
      (field) => field.value !== "*" && row.dataset[field.dataset.filter] !== field.value);
    let shown = 0;
    for (const row of all("tr[data-row]")) {
      const out = isOut(row);
      row.classList.toggle("out", out);
      const dot = dots.get(row.id);
      if (dot) dot.classList.toggle("out", out);
      if (row.closest("#alltable") && !out) shown += 1;
    }
    for (const front of all("path.front")) {
      const own = front.dataset.tips.trim().split(" ");
      front.classList.toggle("out", own.some((id) => dots.get(id).classList.contains("out")));
    }
    document.getElementById("shown").textContent = `${shown.toLocaleString("en-US")} shown`;
  };
  for (const field of fields) field.addEventListener("change", choose);
})();
