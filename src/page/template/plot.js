// Histories as plots over time, linked to the frame that is shown.

const PLOT_COLOURS = ["#3b82f6", "#f97316", "#22a06b", "#d946ef", "#eab308", "#ef4444", "#14b8a6", "#8b5cf6"];

// The charts that the histories of a run give: a title, a unit, and series of [time, value].
function chartsOf(histories, contactDistance) {
  const charts = [];
  const steps = histories["steps.csv"] ?? {columns: [], rows: []};
  const number = (row, column) => (row[column] === "inf" ? NaN : Number(row[column]));
  const add = (title, unit, series, more = {}) => {
    const good = series.filter((s) => s.points.length > 0);
    if (good.length > 0) {
      charts.push({title, unit, series: good, ...more});
    }
  };
  const columns = (title, unit, names, more) =>
    add(title, unit, names.filter((name) => steps.columns.includes(name)).map((name) => ({
      name: name.replaceAll("_", " "), points: steps.rows.map((row) => [Number(row.time), number(row, name)]),
    })), more);
  // the total is what is stored: losses are not in it
  const stored = ["kinetic", "elastic", "gravity", "contact_energy"].filter((name) => steps.columns.includes(name));
  for (const row of steps.rows) {
    row.total = String(stored.reduce((sum, name) => sum + number(row, name), 0));
  }
  steps.columns = [...steps.columns.filter((name) => name !== "total"), ...(stored.length > 0 ? ["total"] : [])];
  columns("Energies", "J", ["total", "kinetic", "elastic", "gravity", "contact_energy", "friction_loss", "damping_loss"]);
  columns("Newton iterations", "", ["newton"]);
  columns("Contacts", "", ["contacts"]);
  columns("Smallest distance", "m", ["min_distance"], contactDistance > 0 ? {line: {value: contactDistance, name: "contact distance"}} : {});
  columns("Largest speed", "m/s", ["max_speed"]);
  columns("Momentum", "kg m/s", ["momentum_x", "momentum_y", "momentum_z"]);
  columns("Time of a step", "s", ["wall_s"]);

  // one series for each name in the first columns of a file
  const grouped = (file, title, unit, nameOf, valueOf) => {
    const groups = new Map();
    for (const row of histories[file]?.rows ?? []) {
      const name = nameOf(row);
      groups.set(name, [...(groups.get(name) ?? []), [Number(row.time), valueOf(row)]]);
    }
    add(title, unit, [...groups].map(([name, points]) => ({name, points})));
  };
  const size = (row, ...names) => Math.hypot(...names.map((name) => Number(row[name])));
  grouped("forces.csv", "Normal forces by pair", "N", (r) => `${r.a}, ${r.b}`, (r) => size(r, "normal_x", "normal_y", "normal_z"));
  grouped("forces.csv", "Friction forces by pair", "N", (r) => `${r.a}, ${r.b}`, (r) => size(r, "friction_x", "friction_y", "friction_z"));
  const nameColumn = (file) => histories[file]?.columns.find((c) => !["step", "time"].includes(c));
  grouped("reactions.csv", "Reactions", "N", (r) => r[nameColumn("reactions.csv")], (r) => size(r, "force_x", "force_y", "force_z"));
  grouped("volumes.csv", "Pressures", "Pa", (r) => r[nameColumn("volumes.csv")], (r) => Number(r.pressure));
  grouped("springs.csv", "Springs", "N", (r) => r[nameColumn("springs.csv")], (r) => size(r, "force_x", "force_y", "force_z"));
  grouped("joints.csv", "Joints", "rad or m", (r) => r[nameColumn("joints.csv")], (r) => Number(r.coordinate));
  grouped("joints.csv", "Motors of joints", "N m or N", (r) => r[nameColumn("joints.csv")], (r) => Number(r.motor));
  const probes = histories["probes.csv"];
  for (const column of probes?.columns ?? []) {
    if (!["step", "time"].includes(column)) {
      add(`Probe: ${column}`, "", [{name: column, points: probes.rows.map((row) => [Number(row.time), Number(row[column])])}]);
    }
  }
  return charts;
}

function shortNumber(value) {
  if (value === 0 || !Number.isFinite(value)) {
    return String(value);
  }
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

// Round numbers from low to high, about as many as wanted.
function ticksOf(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10), ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    ticks.push(Number((k * step).toPrecision(12)));
  }
  return ticks;
}

// The vertical axis: its range, ticks, and where a value is, from 0 to 1. Logarithmic where all values are positive and span
// two decades.
function axisOf(chart, wanted) {
  const values = chart.series.flatMap((s) => s.points.map((p) => p[1])).filter(Number.isFinite);
  const list = chart.line ? [...values, chart.line.value] : values;
  const least = list.reduce((a, b) => Math.min(a, b), Infinity), most = list.reduce((a, b) => Math.max(a, b), -Infinity);
  if (least > 0 && most >= 100 * least) {
    const low = Math.floor(Math.log10(least)), high = Math.ceil(Math.log10(most)), every = Math.ceil((high - low) / Math.max(1, wanted));
    const ticks = Array.from({length: Math.floor((high - low) / every) + 1}, (_, k) => 10 ** (low + k * every));
    return {logarithmic: true, ticks, share: (v) => (v > 0 ? (Math.log10(v) - low) / (high - low) : NaN)};
  }
  let low = Math.min(0, least), high = Math.max(0, most);
  high = high === low ? low + 1 : high;
  return {logarithmic: false, ticks: ticksOf(low, high, wanted), share: (v) => (v - low) / (high - low)};
}

function tickText(value, logarithmic) {
  return logarithmic ? `1e${Math.round(Math.log10(value))}` : shortNumber(value);
}

class Plot {
  constructor(canvas, legend, onTime) {
    this.canvas = canvas;
    this.legend = legend;
    canvas.addEventListener("pointerdown", (event) => {
      const time = this.timeAt(event);
      if (time !== null) {
        onTime(time);
      }
    });
  }

  timeAt(event) {
    if (!this.area) {
      return null;
    }
    const box = this.canvas.getBoundingClientRect(), {left, width, low, high} = this.area;
    return low + ((event.clientX - box.left - left) / width) * (high - low);
  }

  show(chart) {
    this.chart = chart;
    const entry = (text, colour, dashed) => {
      const item = document.createElement("span"), mark = document.createElement("b");
      mark.style.background = dashed ? `repeating-linear-gradient(90deg, ${colour} 0 3px, transparent 3px 6px)` : colour;
      item.append(mark, text);
      return item;
    };
    const entries = (chart?.series ?? []).slice(0, 24).map((s, k) => entry(s.name, PLOT_COLOURS[k % PLOT_COLOURS.length], false));
    this.legend.replaceChildren(...entries, ...(chart?.line ? [entry(`${chart.line.name}, ${shortNumber(chart.line.value)} ${chart.unit}`, "#888", true)] : []));
  }

  // Axes with ticks and units; returns where a value is.
  drawAxes(g, width, height, style) {
    const times = this.chart.series.flatMap((s) => s.points.map((p) => p[0]));
    const first = times.reduce((a, b) => Math.min(a, b), 0), last = times.reduce((a, b) => Math.max(a, b), -Infinity);
    const low = first, high = last > low ? last : low + 1;
    g.font = "11px system-ui, sans-serif";
    const axis = axisOf(this.chart, (height - 40) / 26), texts = axis.ticks.map((v) => tickText(v, axis.logarithmic));
    const left = 8 + Math.max(...texts.map((text) => g.measureText(text).width), 10);
    const area = (this.area = {left, top: 20, width: width - left - 12, height: height - 40, low, high});
    const px = (t) => area.left + ((t - low) / (high - low)) * area.width, py = (v) => area.top + (1 - axis.share(v)) * area.height;
    g.strokeStyle = style.getPropertyValue("--line");
    g.fillStyle = style.getPropertyValue("--soft");
    g.lineWidth = 1;
    g.beginPath();
    g.rect(area.left, area.top, area.width, area.height);
    g.textAlign = "right";
    axis.ticks.forEach((v, k) => {
      g.moveTo(area.left - 3, py(v));
      g.lineTo(area.left + area.width, py(v));
      g.fillText(texts[k], area.left - 5, py(v) + 4);
    });
    g.textAlign = "center";
    for (const t of ticksOf(low, high, area.width / 70)) {
      g.moveTo(px(t), area.top + area.height);
      g.lineTo(px(t), area.top + area.height + 4);
      g.fillText(shortNumber(t), px(t), area.top + area.height + 15);
    }
    g.stroke();
    g.textAlign = "left";
    g.fillText([this.chart.unit || "number", axis.logarithmic ? "logarithmic" : ""].filter(Boolean).join(", "), area.left, 12);
    g.textAlign = "right";
    g.fillText("time, s", area.left + area.width, 12);
    return {px, py};
  }

  draw(now) {
    const ratio = window.devicePixelRatio || 1, canvas = this.canvas;
    const width = canvas.clientWidth, height = canvas.clientHeight, g = canvas.getContext("2d");
    if (!this.chart || width === 0) {
      return;
    }
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    g.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement), {px, py} = this.drawAxes(g, width, height, style);

    // what values are compared with, series, then the time
    if (this.chart.line) {
      this.stroke(g, "#888", [4, 4], [this.area.low, this.area.high].map((t) => [px(t), py(this.chart.line.value)]));
    }
    this.chart.series.slice(0, 24).forEach((s, k) => this.stroke(g, PLOT_COLOURS[k % PLOT_COLOURS.length], [], s.points.map(([t, v]) => [px(t), py(v)])));
    this.stroke(g, style.getPropertyValue("--mark"), [], [0, 1].map((share) => [px(now), this.area.top + share * this.area.height]));
  }

  // A line through places; what is not finite interrupts it.
  stroke(g, colour, dashes, places) {
    g.strokeStyle = colour;
    g.lineWidth = 1.4;
    g.setLineDash(dashes);
    g.beginPath();
    let pen = false;
    for (const [x, y] of places) {
      const good = Number.isFinite(x) && Number.isFinite(y);
      if (good) {
        pen ? g.lineTo(x, y) : g.moveTo(x, y);
      }
      pen = good;
    }
    g.stroke();
    g.setLineDash([]);
  }
}
