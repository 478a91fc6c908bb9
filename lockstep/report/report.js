"use strict";
// What the report does when it is used: says what backs a figure, and shows a cell of a matrix.
// Without it everything is there but the details of single cells. It asks for nothing.

function make(name, ...content) {
  const node = document.createElement(name);
  node.append(...content.filter((one) => one !== null));
  return node;
}

function link(certificate, pointer, text) {
  const node = make("a", text);
  node.href = "#" + certificate;
  node.dataset.p = pointer;
  return node;
}

// Which certificate a node belongs to: the nearest element that names one.
function certificateOf(node) {
  return node.closest("[data-c]").dataset.c;
}

// Whether the signer alone answers for a value: by the verifier's list of attested fields.
function basis(kinds, pointer) {
  const steps = pointer.split("/").slice(2);
  if (!pointer.startsWith("/predicate")) return "It stands outside the predicate.";
  const matches = (kind) => {
    const own = kind.split("/").slice(1);
    return steps.every((step, n) => n >= own.length || own[n] === step ||
      (own[n] === "*" && /^[0-9]+$/.test(step))) && own.length;
  };
  const held = kinds.filter(matches).map((kind) => kind.split("/").length - 1);
  if (held.some((length) => length <= steps.length)) return "Attested: it is the signer's word.";
  if (held.length) return "A part of it is attested: the signer's word. The rest is derived, or bound by a digest.";
  return "Derived by the verifier, or bound by a digest that it compares.";
}

// The title of what is used says that its value is withdrawn, or is null.
function showSource(certificate, pointer, title) {
  const entry = document.getElementById(certificate);
  const kinds = [...document.querySelectorAll(`#${certificate}-kinds code`)].map((one) => one.textContent);
  const file = make("a", entry.dataset.file);
  file.href = entry.dataset.href;
  const place = document.getElementById("source-text");
  // Shown first: what changes while it is hidden is read out to nobody.
  document.getElementById("source").hidden = false;
  place.replaceChildren(
    ...(title ? [make("p", make("strong", title))] : []),
    make("p", make("b", file), " ", make("code", pointer)),
    make("p", "payload sha256 ", make("code", entry.dataset.sha)),
    make("p", basis(kinds, pointer)),
  );
}

function closeSource() {
  document.getElementById("source").hidden = true;
}

function readData(id) {
  const node = document.getElementById(id + "-data");
  return node ? JSON.parse(node.textContent) : null;
}

const OBSERVED = ["not made", "no", "yes"];
const OBSERVATIONS = [
  "forward reproduces the target", "round trip is byte for byte",
  "round trip differs in unread padding at most", "tokens are the same",
];

function list(name, items) {
  return make(name, ...items.map((one) => make("li", one)));
}

function terms(entries) {
  return make("dl", ...entries.flatMap(([term, said]) => [make("dt", term), make("dd", said)]));
}

// A pair of layouts: verdict, words, observations, positions, lemmas, and both layouts.
function pairDetail(grid, number) {
  const data = readData(grid.id);
  const [src, dst, verdict, code, words, seen, positions] = data.rows[number];
  const certificate = certificateOf(grid), at = "/predicate/rows/" + number;
  const head = make("h4", data.layouts[src][0], " → ", data.layouts[dst][0], ": ");
  head.append(link(certificate, at + "/verdict", verdict));
  const said = [["words", words.map((n) => data.words[n]).join(", ") || "none"]];
  if (code) said.push(["frontier code", link(certificate, at + "/frontier_code", code)]);
  OBSERVATIONS.forEach((name, n) => said.push([name, OBSERVED[seen[n] + 1]]));
  if (positions.length) {
    const [from, fromPad, to, toPad] = positions.map((n) => n.toLocaleString("en"));
    said.push(["positions of the source", `${from}, ${fromPad} of them padding`]);
    said.push(["positions of the destination", `${to}, ${toPad} of them padding`]);
    const lemmas = new Set([...data.lemmas, ...data.layouts[src][2], ...data.layouts[dst][2]]);
    said.push(["lemmas", link(certificate, at + "/proof/lemmas", [...lemmas].join(", "))]);
  }
  return [head, terms(said), make("div", ...[src, dst].map((n) => layoutCopy(data.layouts[n][1])))];
}

function layoutCopy(id) {
  const copy = make("div");
  const from = document.getElementById(id);
  copy.append(make("h5", from.querySelector("summary").textContent));
  for (const child of from.children) if (child.tagName !== "SUMMARY") copy.append(child.cloneNode(true));
  return copy;
}

// A cell of a certified server: its sentence, its answers, and which rounds differ from which.
// Where its first difference is against another cell, that one's rounds stand below its own.
function cellDetail(grid, number) {
  const cells = readData(grid.id), cell = cells[number];
  const certificate = certificateOf(grid), at = "/predicate/cells/";
  const rows = [number, cell.partner].filter((n) => n >= 0).flatMap((n) => cells[n].rounds.map(
    ([lifetime, round, outputs], place) => ({
      name: (n === number ? "" : `against cell ${n}, `) + `lifetime ${lifetime} round ${round}`,
      pointer: at + n + "/rounds/" + place,
      outputs: outputs.length ? outputs : cells[n].rounds[0][2],
    })));
  const told = grid.querySelector(`[data-i="${number}"]`).getAttribute("aria-label");
  const head = make("h4", cell.case, ": ", link(certificate, at + number, told));
  return [head, make("p", cell.says), answers(rows, certificate), pairsOfRounds(rows)];
}

function rowHead(...content) {
  const heading = make("th", ...content);
  heading.scope = "row";
  return heading;
}

// Rounds by places; the same number is the same answer. One that is not its place's first is marked.
function answers(rows, certificate) {
  const table = make("table", make("caption", "Answers by round and place of the request; the same number is the same answer"));
  for (const row of rows) {
    const line = make("tr", rowHead(link(certificate, row.pointer, row.name)));
    row.outputs.forEach((output, place) => {
      const first = rows.map((one) => one.outputs[place]).find((one) => one >= 0);
      const entry = make("td", output < 0 ? "none" : String(output));
      if (output !== first) entry.className = "differs";
      line.append(entry);
    });
    table.append(line);
  }
  return scrolled(table, "answers by round and place");
}

// Every pair of rounds: in how many places they have another answer.
function pairsOfRounds(rows) {
  const table = make("table", make("caption", "All pairs of rounds: places with another answer"));
  table.append(make("tr", make("td"), ...rows.map((_, n) => {
    const heading = make("th", String(n));
    heading.scope = "col";
    return heading;
  })));
  rows.forEach((row, a) => {
    const cells = rows.map((other, b) => {
      const apart = row.outputs.filter((one, n) => one !== other.outputs[n]).length;
      const entry = make("td", a === b ? "" : String(apart));
      if (apart) entry.className = "differs";
      return entry;
    });
    table.append(make("tr", rowHead(a + ": " + row.name), ...cells));
  });
  return scrolled(table, "all pairs of rounds");
}

function scrolled(content, label) {
  const box = make("div", content);
  box.className = "scroll";
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", label);
  return box;
}

// A cell's place is a row's number, or a row's and that of a cell in it: 3, or 3:7.
function chooseCell(cell) {
  const grid = cell.closest("table.grid");
  for (const old of grid.querySelectorAll("[aria-selected]")) old.removeAttribute("aria-selected");
  cell.setAttribute("aria-selected", "true");
  const pointer = grid.dataset.base + cell.dataset.i.replace(":", "/cells/");
  showSource(certificateOf(grid), pointer, cell.getAttribute("title"));
  const place = grid.id ? document.getElementById(grid.id + "-detail") : null;
  if (!place) return;
  const detail = grid.id.startsWith("m") ? pairDetail : cellDetail;
  place.replaceChildren(...detail(grid, Number(cell.dataset.i)));
}

// Arrow keys move within a grid, which is one stop of the tabulator.
function move(grid, cell, rows, columns) {
  let row = cell.parentElement, column = cell.cellIndex;
  const body = row.parentElement;
  for (;;) {
    column += columns;
    row = rows ? body.rows[row.sectionRowIndex + rows] : row;
    const next = row && column > 0 ? row.cells[column] : null;
    if (!next) return;
    if (next.dataset.i !== undefined) {
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
      return;
    }
  }
}

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

// A cell's letter is told in words, which the key to the drawing has by class.
function nameCells(grid, cells) {
  const said = new Map();
  for (const swatch of grid.closest("article").querySelectorAll("ul.key .swatch")) {
    said.set(swatch.classList[1], swatch.parentElement.lastChild.textContent.trim());
    const word = swatch.parentElement.querySelector("b");
    if (word) said.set(swatch.classList[1], word.textContent);
  }
  for (const cell of cells) {
    if (!cell.hasAttribute("aria-label")) cell.setAttribute("aria-label", said.get(cell.className) || cell.textContent);
  }
}

for (const grid of document.querySelectorAll("table.grid")) {
  const cells = grid.querySelectorAll("td[data-i]");
  for (const cell of cells) cell.tabIndex = -1;
  nameCells(grid, cells);
  if (cells.length) cells[0].tabIndex = 0;
  grid.addEventListener("keydown", (event) => {
    const cell = event.target.closest("td[data-i]");
    if (!cell) return;
    if (ARROWS[event.key]) move(grid, cell, ...ARROWS[event.key]);
    else if (event.key === "Enter" || event.key === " ") chooseCell(cell);
    else return;
    event.preventDefault();
  });
}

document.addEventListener("click", (event) => {
  const cell = event.target.closest("table.grid td[data-i]");
  if (cell) {
    for (const one of cell.closest("table").querySelectorAll('td[tabindex="0"]')) one.tabIndex = -1;
    cell.tabIndex = 0;
    chooseCell(cell);
    return;
  }
  const figure = event.target.closest("a[data-p]");
  if (figure) {
    event.preventDefault();
    showSource(certificateOf(figure), figure.dataset.p, figure.getAttribute("title"));
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeSource();
});
document.getElementById("source-close").addEventListener("click", closeSource);
