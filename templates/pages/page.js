"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("live");
  const $ = (id) => document.getElementById(id);
  const all = (what, where = document) => [...where.querySelectorAll(what)];

  // ---- light and dark: as the system has it, until the button is used ------------------------
  const theme = $("theme");
  const modes = ["light dark", "light", "dark"];
  const words = { "light dark": "Theme: system", light: "Theme: light", dark: "Theme: dark" };
  theme.addEventListener("click", () => {
    const next = modes[(modes.indexOf(root.dataset.mode || modes[0]) + 1) % modes.length];
    root.dataset.mode = next;
    root.style.colorScheme = next;
    theme.textContent = words[next];
  });

  // ---- what a mark in a picture stands for is a row of a table: the tip says the row ----------
  // Over each picture lies a sheet of its size. It takes the pointer, so that no browser looks through 10,000
  // marks for it, and shows copies of the chosen ones, so that the picture below is never drawn again.
  const tip = $("tip");
  const reach = (mark) => {  // left, top, right, bottom
    const of = (name) => Number(mark.getAttribute(name));
    if (mark.localName !== "circle") return [of("x"), of("y"), of("x") + of("width"), of("y") + of("height")];
    return [of("cx") - of("r"), of("cy") - of("r"), of("cx") + of("r"), of("cy") + of("r")];
  };
  const boxes = new Map();
  const pictures = new Map(all("svg[tabindex]").map((svg) => {
    const sheet = document.createElementNS(svg.namespaceURI, "svg");
    for (const name of ["width", "height", "viewBox"]) sheet.setAttribute(name, svg.getAttribute(name));
    sheet.setAttribute("class", `${svg.getAttribute("class") || ""} sheet`);
    sheet.setAttribute("aria-hidden", "true");
    svg.after(sheet);
    const marks = all("[data-tip]", svg);
    const places = new Float64Array(4 * marks.length);  // one object, not one a mark: the first move pays for none
    marks.forEach((mark, index) => {
      places.set(reach(mark), 4 * index);
      boxes.set(mark.dataset.tip, mark);
    });
    return [svg, { sheet, marks, places }];
  }));
  const markAt = (svg, clientX, clientY) => {
    const { sheet, marks, places } = pictures.get(svg);
    const frame = sheet.getBoundingClientRect();
    const x = (clientX - frame.x) * sheet.viewBox.baseVal.width / frame.width;
    const y = (clientY - frame.y) * sheet.viewBox.baseVal.height / frame.height;
    for (let index = marks.length - 1; index >= 0; index -= 1) {
      const at = 4 * index;
      if (places[at] <= x && x <= places[at + 2] && places[at + 1] <= y && y <= places[at + 3]
          && !marks[index].classList.contains("out")) return marks[index].dataset.tip;
    }
    return undefined;
  };
  // A row is marked where its table is in view: marking a row draws its table again.
  const inView = new Set();
  const watch = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) inView[isIntersecting ? "add" : "delete"](target);
    if (chosen) markRow($(chosen));
  });
  for (const table of all("table[data-linked]")) watch.observe(table);
  let chosen;
  let marked = [];
  const markRow = (row) => {
    if (!inView.has(row.closest("table"))) return;
    row.classList.add("on");
    marked.push(() => row.classList.remove("on"));
  };
  const copy = (id, name) => {
    const mark = boxes.get(id);
    if (!mark) return;
    const made = mark.cloneNode(false);
    delete made.dataset.tip;
    made.classList.add(name);
    pictures.get(mark.ownerSVGElement).sheet.append(made);
    marked.push(() => made.remove());
  };
  const clear = () => {
    marked.forEach((undo) => undo());
    marked = [];
    chosen = undefined;
  };
  const hide = () => { clear(); tip.hidden = true; };
  const select = (id) => {
    clear();
    chosen = id;
    const row = $(id);
    for (const near of (row.dataset.near || "").split(" ")) copy(row.dataset.kin + near, "near");
    copy(id, "on");
    markRow(row);
    return row;
  };
  const fill = (id) => {
    const row = select(id);
    const heads = row.closest("table").tHead.rows[0].cells;
    const list = document.createElement("dl");
    const title = document.createElement("strong");
    [...row.cells].forEach((cell, index) => {
      const text = cell.textContent.trim();
      if (cell.dataset.title !== undefined) { title.textContent = text; return; }
      if (!text || text === "–") return;
      const term = document.createElement("dt");
      const told = document.createElement("dd");
      term.textContent = heads[index].dataset.name;
      told.textContent = text;
      list.append(term, told);
    });
    tip.replaceChildren(title, list);
  };
  const show = (id, x, y) => {
    if (id !== chosen || tip.hidden) fill(id);
    tip.hidden = false;
    const left = x + 18 + tip.offsetWidth > innerWidth ? x - 18 - tip.offsetWidth : x + 18;
    const top = Math.min(y + 14, innerHeight - tip.offsetHeight - 8);
    tip.style.translate = `${Math.round(Math.max(left, 4))}px ${Math.round(Math.max(top, 4))}px`;
  };
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  for (const [svg, { sheet, marks }] of pictures) {
    let at = -1;
    for (const kind of ["pointermove", "click"]) {  // a finger clicks
      sheet.addEventListener(kind, (event) => {
        const id = markAt(svg, event.clientX, event.clientY);
        if (id) show(id, event.clientX, event.clientY); else hide();
      });
    }
    sheet.addEventListener("pointerleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const own = marks.filter((mark) => !mark.matches(".column, .out"));
      const last = own.length - 1;
      const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
      if (event.key === "Escape") at = -1;
      if (to === undefined || last < 0) return;
      event.preventDefault();
      at = Math.min(Math.max(to, 0), last);
      own[at].scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
      const place = own[at].getBoundingClientRect();
      show(own[at].dataset.tip, place.x + place.width / 2, place.y + place.height / 2);
    });
  }
  for (const body of all("table[data-linked] tbody")) {
    body.addEventListener("pointerover", (event) => {
      const row = event.target.closest("tr");
      if (row && row.id && !row.matches(".detail")) select(row.id);
    });
    body.addEventListener("pointerleave", clear);
  }

  // ---- tables: sort by a column, find rows -----------------------------------------------------
  const value = (row, index) => {
    const text = row.cells[index].textContent.trim();
    const number = Number(text.replace(/[, %+]/g, "").replace(/^−/, "-"));
    return text === "–" || text === "" ? null : Number.isNaN(number) ? text : number;
  };
  const compare = (one, other) => {
    if (one === null || other === null) return (one === null) - (other === null);
    if (typeof one === "number" && typeof other === "number") return one - other;
    return String(one).localeCompare(String(other), "en", { numeric: true });
  };
  const more = (row) => (row.nextElementSibling?.matches(".detail") ? [row.nextElementSibling] : []);
  for (const button of all("button.open")) {
    button.addEventListener("click", () => {
      const isOpen = $(button.getAttribute("aria-controls")).classList.toggle("shown");
      button.setAttribute("aria-expanded", isOpen);
    });
  }
  for (const button of all("th button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const table = head.closest("table");
      const isFirstDown = head.classList.contains("n");
      const order = head.getAttribute("aria-sort");
      const down = order === "none" ? isFirstDown : order === "ascending";
      for (const each of all("th[aria-sort]", table)) each.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const keyed = all(":scope > tr:not(.detail)", body).map((row) => [value(row, head.cellIndex), row]);
      keyed.sort(([one], [other]) => {
        const found = compare(one, other);
        return down && one !== null && other !== null ? -found : found;
      });
      body.append(...keyed.flatMap(([, row]) => [row, ...more(row)]));
    });
  }
  for (const field of all("input[type=search]")) {
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      for (const row of $(field.dataset.table).tBodies[0].rows) {
        row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
      }
    });
  }

  // ---- the curve: which plan a budget chooses (`chosen` of the tool `page`) -----------------------
  for (const slider of all("input[type=range]")) {
    const rows = [...$(slider.dataset.table).tBodies[0].rows];
    const line = $(slider.dataset.line);
    const output = $(slider.dataset.output);
    const plans = rows.map((row) => ({
      row,
      peak: Number(row.dataset.peak),
      instructions: Number(row.dataset.instructions),
    }));
    const choose = () => {
      const budget = Number(slider.value);
      const y = Number(slider.dataset.bottom) - (budget / Number(slider.max)) * Number(slider.dataset.height);
      line.setAttribute("y1", y);
      line.setAttribute("y2", y);
      const best = plans.filter((plan) => plan.peak <= budget)
        .sort((a, b) => a.instructions - b.instructions || a.peak - b.peak)[0];
      const says = budget.toLocaleString("en-US");
      slider.setAttribute("aria-valuetext", `${says} bytes`);
      if (!best) {
        clear();
        output.textContent = `${says} bytes: no plan fits`;
        output.dataset.chosen = "";
        return;
      }
      select(best.row.id);
      output.dataset.chosen = best.row.dataset.index;
      const cells = best.row.cells;
      const heads = best.row.closest("table");
      const cell = (field) => cells[heads.querySelector(`th[data-field=${field}]`).cellIndex].textContent;
      output.textContent = `A budget of ${says} bytes chooses the plan of ${cell("peak_bytes")} bytes: `
        + `${cell("instructions")} instructions (+${cell("extra_percent")} %); `
        + `${cells[cells.length - 1].textContent}.`;
    };
    slider.addEventListener("input", choose);
    slider.addEventListener("change", choose);
    choose();
    clear();
  }

  // ---- on paper everything is open ---------------------------------------------------------------
  let opened = [];
  let folded = [];
  addEventListener("beforeprint", () => {
    hide();
    opened = all("details:not([open])");
    folded = all("tr.detail:not(.shown)");
    if (document.querySelectorAll("tbody tr").length >= 2000) return;
    opened.forEach((details) => { details.open = true; });
    folded.forEach((row) => row.classList.add("shown"));
  });
  addEventListener("afterprint", () => {
    opened.forEach((details) => { details.open = false; });
    folded.forEach((row) => row.classList.remove("shown"));
  });
})();
