"use strict";
// Rows of spans that do not overlap: what can be seen of them is found by binary search, and how full a pixel is by
// differences of sums. Nothing here draws.

const data = JSON.parse(document.getElementById("data").textContent);
const WAIT = data.kinds.indexOf("wait");
const HOLD = data.kinds.indexOf("hold");
data.cut = new Set(data.cut);
data.wires = new Set(data.wires);

// What a span is coloured as.
function look(i) {
  if (data.bad[i]) return "bad";
  return data.kind[i] === HOLD && data.wires.has(data.key[i]) ? "wire" : data.kinds[data.kind[i]];
}

class Row {
  constructor(spans) {
    this.spans = spans;
    this.starts = Float64Array.from(spans, (i) => data.start[i]);
    this.ends = Float64Array.from(spans, (i) => data.start[i] + data.length[i]);
    this.covered = sums(spans, (i) => data.length[i]); // before each span
    this.bad = sums(spans, (i) => data.bad[i]);
    this.hits = null; // as sums, while there is a search
  }

  // The place of the first span that ends after the time.
  firstAt(time) {
    return firstWhere(this.ends, (end) => end > time);
  }

  // The place of the first span that begins at the time or later.
  firstFrom(time) {
    return firstWhere(this.starts, (start) => start >= time);
  }

  // How much of from..to is covered, 0 to 1.
  coverage(from, to) {
    return (this.coveredBefore(to) - this.coveredBefore(from)) / (to - from);
  }

  coveredBefore(time) {
    const place = this.firstAt(time);
    return this.covered[place] + (place < this.spans.length ? Math.max(0, time - this.starts[place]) : 0);
  }
}

function sums(spans, value) {
  const result = new Float64Array(spans.length + 1);
  spans.forEach((i, place) => { result[place + 1] = result[place] + value(i); });
  return result;
}

function firstWhere(sorted, test) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(sorted[middle])) high = middle; else low = middle + 1;
  }
  return low;
}

// What is searched for: any part of the name of a task or key, in small letters. Null: nothing is.
function matcher(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return null;
  const fits = (names) => new Set(Object.keys(names).filter((n) => names[n].toLowerCase().includes(wanted)).map(Number));
  const tasks = fits(data.tasks), keys = fits(data.keys);
  return (i) => tasks.has(data.task[i]) || keys.has(data.key[i]) || keys.has(data.device[i]);
}

function duration(us) {
  for (const [unit, size] of [["s", 1e6], ["ms", 1e3]]) {
    if (Math.abs(us) >= size) return `${trimmed(us / size)} ${unit}`;
  }
  return `${trimmed(us)} µs`;
}

function trimmed(value) {
  return String(Number(value.toPrecision(Math.abs(value) >= 1000 ? 6 : 4)));
}

// 1, 2 or 5 times a power of ten, so that there are about so many steps.
function niceStep(range, count) {
  const raw = Math.max(range / count, 1), power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= raw);
}
