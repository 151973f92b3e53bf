"use strict";
// The page: zoom, movement, search, hover and details, on top of page_rows.js and page_draw.js.

const find = (id) => document.getElementById(id);
const lanes = data.lanes.map((lane) => ({
  ...lane,
  rows: lane.rows.map((spans) => new Row(spans)),
  points: data.points.filter(([kind, key, task]) => (lane.section === "tasks" ? task : key) === lane.number && kind !== "mark"),
  hidden: false,
}));
const canvas = find("lanes"), scroll = find("scroll"), overview = find("overview");
const drawing = new Drawing(canvas, lanes);
const END = Math.max(data.end, 1), MARGIN = END * 0.01, SHORTEST = 20; // µs
const LABELS = 170;
let hits = [], hit = -1, asked = false;

// ---- what is shown

function show(from, to) {
  const length = Math.min(Math.max(to - from, SHORTEST), END + 2 * MARGIN);
  const middle = (from + to) / 2;
  drawing.from = Math.min(Math.max(middle - length / 2, -MARGIN), END + MARGIN - length);
  drawing.to = drawing.from + length;
  redraw();
}

const showAll = () => show(-MARGIN, END + MARGIN);

function zoom(factor, x = drawing.width / 2) {
  const at = drawing.time(x), length = drawing.to - drawing.from;
  const wanted = Math.min(Math.max(length * factor, SHORTEST), END + 2 * MARGIN);
  const from = at - (x / drawing.width) * wanted;
  show(from, from + wanted);
}

function move(pixels) {
  const by = (pixels / drawing.width) * (drawing.to - drawing.from);
  show(drawing.from + by, drawing.to + by);
}

function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    drawing.draw(scroll.scrollTop);
    drawOverview();
    find("range").textContent = `${duration(Math.max(drawing.from, 0))} … ${duration(Math.min(drawing.to, END))}`;
  });
}

function layOut() {
  const height = drawing.place();
  find("inner").style.height = `${height}px`;
  const labels = [];
  for (const lane of lanes) {
    if (lane.hidden) continue;
    if (lane.heading !== null) labels.push(element("div", { style: `top:${lane.heading + 6}px` }, SECTION_NAMES[lane.section]));
    const button = element("button", { style: `top:${lane.y}px;height:${lane.height}px`, title: lane.name }, lane.name);
    button.dataset.section = lane.section;
    button.addEventListener("click", () => search(find("search").value === lane.name ? "" : lane.name));
    labels.push(button);
  }
  find("labels").replaceChildren(...labels);
  resize();
}

function resize() {
  drawing.resize(Math.max(scroll.clientWidth - LABELS, 100), scroll.clientHeight);
  overview.width = overview.clientWidth;
  overview.height = overview.clientHeight;
  redraw();
}

// How busy the wires are over the whole time, and which part of it is shown below.
function drawOverview() {
  const context = overview.getContext("2d"), { width, height } = overview, colours = drawing.colours;
  const wires = lanes.filter((lane) => lane.section === "wires" && lane.rows.length).map((lane) => lane.rows[0]);
  const all = END + 2 * MARGIN, time = (x) => (x / width) * all - MARGIN, x = (at) => ((at + MARGIN) / all) * width;
  context.clearRect(0, 0, width, height);
  context.fillStyle = colours.transfer;
  for (let column = 0; column < width; column += 2) {
    const busy = wires.reduce((most, row) => Math.max(most, row.coverage(time(column), time(column + 2))), 0);
    context.fillRect(column, height - busy * (height - 4), 2, busy * (height - 4));
  }
  context.fillStyle = colours.bad;
  for (const [kind, , , at] of data.points) if (kind === "timeout") context.fillRect(x(at), 0, 1.5, 5);
  context.globalAlpha = 0.7;
  context.fillStyle = colours.band;
  context.fillRect(0, 0, x(drawing.from), height);
  context.fillRect(x(drawing.to), 0, width, height);
  context.globalAlpha = 1;
  context.strokeStyle = colours.accent;
  context.strokeRect(x(drawing.from) + 0.5, 0.5, Math.max(x(drawing.to) - x(drawing.from) - 1, 2), height - 1);
}

// ---- details

function element(name, attributes, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

const kindOf = (i) => data.kinds[data.kind[i]];
const colourOf = (i) => `var(--${look(i)})`;

function facts(i) {
  const list = [["task", data.tasks[data.task[i]]], ["key", data.keys[data.key[i]]]];
  if (data.device[i]) list.push(["for", data.keys[data.device[i]]]);
  list.push(["length", duration(data.length[i])], ["from", duration(data.start[i])]);
  list.push(["to", duration(data.start[i] + data.length[i])]);
  if (kindOf(i) === "transfer" && data.value[i] !== null) list.push(["bytes", String(data.value[i])]);
  if (kindOf(i) === "wait" && data.value[i] !== null) list.push(["in line before it", String(data.value[i])]);
  if (data.behind[i]) list.push(["behind", data.behind[i].map((task) => data.tasks[task]).join(", ")]);
  if (data.results[data.result[i]]) list.push(["result", data.results[data.result[i]]]);
  if (data.cut.has(i)) list.push(["beginning", "lost"]);
  return list;
}

function select(i) {
  drawing.selected = i;
  const title = element("h2", {}, element("i", { style: `background:${colourOf(i)}` }), `${kindOf(i)} of ${data.tasks[data.task[i]]}`);
  const list = facts(i).map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  find("details").replaceChildren(title, element("dl", {}, ...list));
  redraw();
}

function told(i) {
  const list = facts(i).filter(([name]) => name !== "length" && name !== "to");
  return [`${kindOf(i)} ${duration(data.length[i])}`, ...list.map(([name, value]) => `${name}: ${value}`)].join("\n");
}

function hover(i, x, y, point) {
  const tip = find("tip");
  canvas.classList.toggle("over", i >= 0);
  tip.hidden = i < 0 && !point;
  if (!tip.hidden) {
    tip.textContent = point ? `${point[0]}\ntask: ${data.tasks[point[2]]}\nkey: ${data.keys[point[1]]}\nat: ${duration(point[3])}` : told(i);
    tip.style.left = `${Math.min(x + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(y + 14, innerHeight - tip.offsetHeight - 8)}px`;
  }
  if (i !== drawing.hovered) {
    drawing.hovered = i;
    redraw();
  }
}

// Brings a span into view without losing the zoom, unless it would be too narrow to see or wider than the view.
function reveal(i) {
  const start = data.start[i], length = data.length[i], shown = drawing.to - drawing.from;
  const lane = lanes.find((each) => !each.hidden && each.rows.some((row) => row.spans[row.firstFrom(start)] === i));
  if (lane && (lane.y < scroll.scrollTop + AXIS || lane.y + lane.height > scroll.scrollTop + scroll.clientHeight)) {
    scroll.scrollTop = lane.y - AXIS - HEADING;
  }
  const wanted = length > shown || length < shown / 400 ? Math.max(length * 5, SHORTEST) : shown;
  if (wanted !== shown || start < drawing.from || start + length > drawing.to) {
    show(start + length / 2 - wanted / 2, start + length / 2 + wanted / 2);
  }
  select(i);
}

// ---- search

function search(text) {
  find("search").value = text;
  drawing.fits = matcher(text);
  hits = [];
  hit = -1;
  for (const lane of lanes) {
    for (const row of lane.rows) row.hits = drawing.fits && sums(row.spans, (i) => (drawing.fits(i) ? 1 : 0));
    lane.hidden = Boolean(drawing.fits) && !lane.rows.some((row) => row.hits[row.spans.length]);
  }
  if (drawing.fits) data.start.forEach((_, i) => { if (drawing.fits(i)) hits.push(i); });
  find("hits").textContent = drawing.fits ? `${hits.length} of ${data.start.length} spans` : "";
  layOut();
}

function step(by) {
  const list = hits.length ? hits : data.start.map((_, i) => i);
  if (!list.length) return;
  if (hit < 0 && by > 0) hit = firstWhere(list, (i) => data.start[i] >= drawing.from) - 1;
  hit = (hit + by + list.length) % list.length;
  reveal(list[hit]);
}

// ---- mouse and keyboard

canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
  if (Math.abs(sideways) > Math.abs(event.deltaY) || event.shiftKey) move(sideways);
  else zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY)) * 0.0025), event.offsetX);
}, { passive: false });

let drag = null;
canvas.addEventListener("pointerdown", (event) => {
  canvas.focus({ preventScroll: true });
  canvas.setPointerCapture(event.pointerId);
  drag = { x: event.clientX, y: event.clientY, from: drawing.from, to: drawing.to, top: scroll.scrollTop, moved: false };
});
canvas.addEventListener("pointermove", (event) => {
  const place = [event.offsetX, event.offsetY];
  if (!drag) return hover(drawing.at(...place), event.clientX, event.clientY, drawing.pointAt(...place));
  const x = event.clientX - drag.x, y = event.clientY - drag.y;
  if (!drag.moved && Math.hypot(x, y) < 4) return undefined;
  drag.moved = true;
  canvas.classList.add("dragging");
  hover(-1);
  const by = (x / drawing.width) * (drag.to - drag.from);
  scroll.scrollTop = drag.top - y;
  return show(drag.from - by, drag.to - by);
});
canvas.addEventListener("pointerup", (event) => {
  const clicked = drag && !drag.moved ? drawing.at(event.offsetX, event.offsetY) : -1;
  drag = null;
  canvas.classList.remove("dragging");
  if (clicked >= 0) select(clicked);
});
canvas.addEventListener("pointercancel", () => { drag = null; });
canvas.addEventListener("pointerleave", () => hover(-1));

function showAround(event) {
  const at = (event.offsetX / overview.clientWidth) * (END + 2 * MARGIN) - MARGIN, half = (drawing.to - drawing.from) / 2;
  show(at - half, at + half);
}
overview.addEventListener("pointerdown", (event) => { overview.setPointerCapture(event.pointerId); showAround(event); });
overview.addEventListener("pointermove", (event) => { if (event.buttons) showAround(event); });

const KEYS = {
  ArrowLeft: () => move(-drawing.width / 8),
  ArrowRight: () => move(drawing.width / 8),
  ArrowUp: () => { scroll.scrollTop -= 60; },
  ArrowDown: () => { scroll.scrollTop += 60; },
  PageUp: () => { scroll.scrollTop -= scroll.clientHeight; },
  PageDown: () => { scroll.scrollTop += scroll.clientHeight; },
  "+": () => zoom(1 / 1.5),
  "=": () => zoom(1 / 1.5),
  "-": () => zoom(1.5),
  Home: showAll,
  End: () => show(END + MARGIN - (drawing.to - drawing.from), END + MARGIN),
  n: () => step(1),
  p: () => step(-1),
  "/": () => find("search").focus(),
  Escape: () => search(""),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  if (event.target === find("search") && event.key !== "Escape") return;
  event.preventDefault();
  KEYS[event.key]();
});
find("search").addEventListener("input", (event) => search(event.target.value));
find("search").addEventListener("keydown", (event) => { if (event.key === "Enter") step(event.shiftKey ? -1 : 1); });
find("in").addEventListener("click", () => zoom(1 / 1.5));
find("out").addEventListener("click", () => zoom(1.5));
find("fit").addEventListener("click", showAll);
scroll.addEventListener("scroll", redraw);
new ResizeObserver(resize).observe(scroll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { drawing.readColours(); redraw(); });

// ---- what surrounds the lanes

const WORDS = {
  wait: "waits", hold: "holds a key", wire: "holds the wire", transfer: "transfers", bad: "missed or failed", block: "loop stopped",
  select: "chip select", drive: "drive enable", recover: "recovers", making: "set-up",
};

function begin() {
  find("head").textContent = data.head;
  const used = new Set(data.kind.map((_, i) => look(i)));
  const kinds = Object.keys(WORDS).filter((kind) => used.has(kind));
  find("legend").append(...kinds.map((kind) => element("span", {}, element("i", { style: `background:var(--${kind})` }), WORDS[kind])));
  fill("found", data.findings.length ? `Suspicious: ${data.findings.length}` : "", data.findings.map(([, text, , , start, end]) => {
    const button = element("button", {}, text);
    button.addEventListener("click", () => show(start - (end - start || 1000) * 0.3, end + (end - start || 1000) * 0.3));
    return button;
  }));
  fill("remarks", data.remarks.length ? `Remarks on the dump: ${data.remarks.length}` : "", data.remarks);
  find("found").open = true;
  layOut();
  showAll();
}

function fill(id, title, items) {
  const details = find(id);
  details.hidden = !items.length;
  details.firstElementChild.textContent = title;
  details.lastElementChild.replaceChildren(...items.map((item) => element("li", {}, item)));
}

begin();
window.timeline = { drawing, lanes, show, select }; // for a look from the browser's console, and for the tests
