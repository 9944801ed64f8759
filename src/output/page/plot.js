// Histories as plots over time, linked to the frame that is shown.

const PLOT_COLOURS = ["#3b82f6", "#f97316", "#22a06b", "#d946ef", "#eab308", "#ef4444", "#14b8a6", "#8b5cf6"];

// The charts that the histories of a run give: a title, a unit, and series of [time, value].
function chartsOf(histories) {
  const charts = [];
  const steps = histories["steps.csv"] ?? {columns: [], rows: []};
  const number = (row, column) => (row[column] === "inf" ? NaN : Number(row[column]));
  const add = (title, unit, series) => {
    const good = series.filter((s) => s.points.length > 0);
    if (good.length > 0) {
      charts.push({title, unit, series: good});
    }
  };
  const columns = (title, unit, names) =>
    add(title, unit, names.filter((name) => steps.columns.includes(name)).map((name) => ({
      name: name.replaceAll("_", " "), points: steps.rows.map((row) => [Number(row.time), number(row, name)]),
    })));
  columns("Energies", "J", ["kinetic", "elastic", "gravity", "contact_energy", "friction_loss", "damping_loss"]);
  columns("Newton iterations", "", ["newton"]);
  columns("Contacts", "", ["contacts"]);
  columns("Smallest distance", "m", ["min_distance"]);
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
    this.legend.replaceChildren(...(chart?.series ?? []).slice(0, 24).map((s, k) => {
      const item = document.createElement("span"), mark = document.createElement("b");
      mark.style.background = PLOT_COLOURS[k % PLOT_COLOURS.length];
      item.append(mark, s.name);
      return item;
    }));
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
    const style = getComputedStyle(document.documentElement), soft = style.getPropertyValue("--soft");
    const values = this.chart.series.flatMap((s) => s.points.map((p) => p[1])).filter(Number.isFinite);
    const times = this.chart.series.flatMap((s) => s.points.map((p) => p[0]));
    const least = (list) => list.reduce((a, b) => Math.min(a, b), Infinity), most = (list) => list.reduce((a, b) => Math.max(a, b), -Infinity);
    let bottom = Math.min(0, least(values)), top = Math.max(0, most(values));
    top = top === bottom ? bottom + 1 : top;
    const low = Math.min(0, least(times)), high = most(times) > low ? most(times) : low + 1;
    const area = (this.area = {left: 8, top: 16, width: width - 16, height: height - 34, low, high});
    const px = (t) => area.left + ((t - low) / (high - low)) * area.width;
    const py = (v) => area.top + (1 - (v - bottom) / (top - bottom)) * area.height;

    // frame and scale
    g.strokeStyle = style.getPropertyValue("--line");
    g.fillStyle = soft;
    g.font = "11px system-ui, sans-serif";
    g.beginPath();
    for (const v of [bottom, 0, top]) {
      g.moveTo(area.left, py(v));
      g.lineTo(area.left + area.width, py(v));
    }
    g.stroke();
    g.fillText(`${shortNumber(top)} ${this.chart.unit}`, area.left, 11);
    g.fillText(shortNumber(bottom), area.left, height - 5);
    g.textAlign = "right";
    g.fillText(`${shortNumber(high)} s`, area.left + area.width, height - 5);
    g.textAlign = "left";

    // series, then the time
    this.chart.series.slice(0, 24).forEach((s, k) => {
      g.strokeStyle = PLOT_COLOURS[k % PLOT_COLOURS.length];
      g.lineWidth = 1.4;
      g.beginPath();
      let pen = false;
      for (const [t, v] of s.points) {
        if (Number.isFinite(v)) {
          pen ? g.lineTo(px(t), py(v)) : g.moveTo(px(t), py(v));
        }
        pen = Number.isFinite(v);
      }
      g.stroke();
    });
    g.strokeStyle = style.getPropertyValue("--mark");
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(px(now), area.top);
    g.lineTo(px(now), area.top + area.height);
    g.stroke();
  }
}
