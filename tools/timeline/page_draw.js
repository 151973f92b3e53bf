"use strict";
// Draws the lanes of the visible time on a canvas. A span narrower than a pixel is drawn with its neighbours, as one
// column that is the more solid the more of it they cover: the work depends on the width, not on the number of events.

const AXIS = 24, HEADING = 22, PAD = 4, ROW = 15, THIN = 5;
const SECTION_NAMES = { wires: "Wires", keys: "Keys", tasks: "Tasks" };

class Drawing {
  constructor(canvas, lanes) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.lanes = lanes;
    this.from = 0; // µs at the left edge
    this.to = 1;
    this.selected = this.hovered = -1;
    this.fits = null; // see matcher()
    this.drawn = { frames: 0, boxes: 0 };
    this.readColours();
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    this.colours = {};
    for (const name of [...data.kinds, "wire", "bad", "paper", "band", "rule", "ink", "soft", "accent", "on", "mark"]) {
      this.colours[name] = style.getPropertyValue(`--${name}`).trim();
    }
  }

  // Gives each visible lane its place; the height of all.
  place() {
    let y = AXIS, section = null;
    for (const lane of this.lanes) {
      if (lane.hidden) continue;
      lane.heading = lane.section !== section ? y : null;
      if (lane.heading !== null) y += HEADING;
      section = lane.section;
      lane.y = y;
      lane.row = lane.rows.length > 8 ? THIN : ROW; // a long queue still fits
      lane.height = Math.max(lane.rows.length * lane.row, ROW) + 2 * PAD;
      y += lane.height;
    }
    this.height = y + 8;
    return this.height;
  }

  resize(width, height) {
    const ratio = window.devicePixelRatio || 1;
    this.width = width;
    this.view = height;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  x(time) {
    return ((time - this.from) / (this.to - this.from)) * this.width;
  }

  time(x) {
    return this.from + (x / this.width) * (this.to - this.from);
  }

  draw(scrolled) {
    const { context, colours } = this;
    this.scrolled = scrolled;
    this.drawn.frames += 1;
    this.drawn.boxes = 0;
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, this.width, this.view);
    context.save();
    context.translate(0, -scrolled);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    this.lanes.forEach((lane, number) => this.drawLane(lane, number));
    context.restore();
    this.drawAxis();
  }

  drawLane(lane, number) {
    const { context, colours } = this;
    if (lane.hidden || lane.y + lane.height < this.scrolled || lane.y > this.scrolled + this.view) return;
    context.fillStyle = colours.band;
    if (number % 2) context.fillRect(0, lane.y, this.width, lane.height);
    this.words = lane.section === "tasks" ? (i) => data.keys[data.key[i]] : (i) => data.tasks[data.task[i]];
    lane.rows.forEach((row, i) => this.drawRow(row, lane.y + PAD + i * lane.row, lane.row - 1));
    for (const [kind, , , at] of lane.points) {
      context.fillStyle = kind === "timeout" || kind === "reject" ? colours.bad : colours.mark;
      const x = this.x(at);
      if (x < 0 || x > this.width) continue;
      context.beginPath();
      context.moveTo(x - 4, lane.y);
      context.lineTo(x + 4, lane.y);
      context.lineTo(x, lane.y + 6);
      context.fill();
    }
  }

  drawRow(row, y, height) {
    const perPixel = (this.to - this.from) / this.width;
    let place = row.firstAt(this.from);
    if (place && row.ends[place - 1] === this.from && row.starts[place - 1] === this.from) place -= 1;
    while (place < row.spans.length && row.starts[place] <= this.to) {
      const left = this.x(row.starts[place]), right = this.x(row.ends[place]);
      if (right - left >= 2) {
        this.drawSpan(row.spans[place], left, right, y, height);
        place += 1;
      } else {
        const pixel = Math.floor(left), from = this.time(pixel);
        let next = Math.max(place + 1, row.firstFrom(from + perPixel));
        // The last of them can be a wide one that begins here.
        if (next - 1 > place && row.ends[next - 1] - row.starts[next - 1] >= 2 * perPixel) next -= 1;
        this.drawColumn(row, place, next, pixel, y, height, row.coverage(from, from + perPixel));
        place = next;
      }
    }
  }

  drawSpan(i, left, right, y, height) {
    const { context, colours } = this;
    const x = Math.max(left, -2), width = Math.min(right, this.width + 2) - x;
    const inset = insetOf(i, height);
    context.globalAlpha = this.fits && !this.fits(i) ? 0.15 : 1;
    context.fillStyle = colours[look(i)];
    context.fillRect(x, y + inset, width - (width > 4 ? 1 : 0), height - 2 * inset);
    this.drawn.boxes += 1;
    if (width > 44 && height > 10 && !inset) {
      context.fillStyle = colours.on;
      context.save();
      context.beginPath();
      context.rect(x, y, width - 4, height);
      context.clip();
      context.fillText(data.kinds[data.kind[i]] === "transfer" ? `${data.value[i] ?? ""} B` : this.words(i), x + 4, y + height / 2 + 0.5);
      context.restore();
    }
    context.globalAlpha = 1;
    if (i === this.selected || i === this.hovered) {
      context.strokeStyle = colours.ink;
      context.lineWidth = i === this.selected ? 2 : 1;
      context.strokeRect(x - 0.5, y - 0.5, width, height + 1);
    }
  }

  drawColumn(row, place, next, pixel, y, height, coverage) {
    const { context, colours } = this;
    const bad = row.bad[next] > row.bad[place], i = row.spans[place];
    const dim = this.fits && row.hits[next] === row.hits[place];
    context.globalAlpha = dim ? 0.12 : bad ? 1 : 0.3 + 0.7 * Math.min(1, coverage);
    context.fillStyle = bad ? colours.bad : colours[look(i)];
    const inset = insetOf(i, height);
    context.fillRect(pixel, y + inset, next - place === 1 ? 1.5 : 1, height - 2 * inset);
    context.globalAlpha = 1;
    this.drawn.boxes += 1;
  }

  drawAxis() {
    const { context, colours } = this;
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, this.width, AXIS);
    const step = niceStep(this.to - this.from, this.width / 110);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) {
      const x = Math.round(this.x(at)) + 0.5;
      context.globalAlpha = 0.5;
      context.fillStyle = colours.rule;
      context.fillRect(x, AXIS, 1, this.view);
      context.globalAlpha = 1;
      context.fillStyle = colours.soft;
      context.fillText(duration(at), x + 4, 12);
      context.fillRect(x, 6, 1, AXIS - 6);
    }
    context.fillStyle = colours.rule;
    context.fillRect(0, AXIS - 1, this.width, 1);
    for (const [kind, key, , at] of data.points) {
      if (kind !== "mark") continue;
      const x = Math.round(this.x(at));
      if (x < 0 || x > this.width) continue;
      context.fillStyle = colours.mark;
      context.fillRect(x, AXIS, 1, this.view);
      context.fillStyle = colours.ink;
      context.fillText(data.keys[key], x + 4, AXIS + 10);
    }
  }

  // The point (a time-out, an end, ...) whose triangle is at a place of the canvas, or undefined.
  pointAt(x, y) {
    const inside = y + this.scrolled;
    const lane = y < AXIS ? null : this.lanes.find((each) => !each.hidden && inside >= each.y && inside < each.y + 8);
    return lane?.points.find(([, , , at]) => Math.abs(this.x(at) - x) <= 4);
  }

  // The span at a place of the canvas, or -1; a narrow one can be missed by three pixels.
  at(x, y) {
    const inside = y + this.scrolled, near = (3 * (this.to - this.from)) / this.width, time = this.time(x);
    const lane = y < AXIS ? null : this.lanes.find((each) => !each.hidden && inside >= each.y && inside < each.y + each.height);
    const row = lane && lane.rows[Math.floor((inside - lane.y - PAD) / lane.row)];
    if (!row) return -1;
    const place = row.firstAt(time);
    if (place < row.spans.length && row.starts[place] <= time) return row.spans[place];
    if (place < row.spans.length && row.starts[place] - time <= near) return row.spans[place];
    return place && time - row.ends[place - 1] <= near ? row.spans[place - 1] : -1;
  }
}

// Waits are told apart without colours, too.
function insetOf(i, height) {
  return data.kind[i] === WAIT && height > 8 ? 3 : 0;
}
