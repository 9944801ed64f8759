// The page: state, controls and what follows from them.

const BODY_COLOURS = [[0.36, 0.61, 0.84], [0.93, 0.58, 0.34], [0.44, 0.72, 0.48], [0.78, 0.55, 0.82], [0.86, 0.76, 0.38], [0.84, 0.47, 0.5], [0.4, 0.74, 0.74], [0.63, 0.6, 0.87]];
const OBSTACLE = [0.62, 0.64, 0.68];
const ARROW_COLOURS = {contact_force: [0.86, 0.15, 0.15], friction_force: [0.1, 0.45, 0.9]};
const KEYS = [
  [" ", "space", "play or pause", () => play(!state.playing)],
  ["ArrowRight", "right", "next frame", () => show(state.frame + 1)],
  ["ArrowLeft", "left", "frame before", () => show(state.frame - 1)],
  ["PageDown", "page down", "ten frames on", () => show(state.frame + 10)],
  ["PageUp", "page up", "ten frames back", () => show(state.frame - 10)],
  ["Home", "home", "first frame", () => show(0)],
  ["End", "end", "last frame", () => show(about.frames.length - 1)],
  ["f", "F", "show everything", () => fit()],
  ["e", "E", "edges", () => toggle("edges")],
  ["c", "C", "contact forces", () => toggle("arrows")],
  ["r", "R", "friction forces", () => toggle("friction")],
  ["x", "X", "clipping plane: off, x, y, z", () => choose("clip", (element("clip").selectedIndex + 1) % 4)],
  ["l", "L", "light or dark", () => setTheme(state.dark ? "light" : "dark")],
  ["p", "P", "panel", () => togglePanel()],
  ["0", "0 to 9", "colour", null],
];

let about, mesh, frames, renderer, plot, charts, stepRows;
const state = {frame: 0, playing: false, clock: 0, dark: false, bodies: [], view: null, x: null, data: null, colour: 0, fresh: true, asked: 0};

function element(id) {
  return document.getElementById(id);
}

function choose(id, index) {
  element(id).selectedIndex = index;
  element(id).dispatchEvent(new Event("change"));
}

function toggle(id) {
  element(id).checked = !element(id).checked;
  element(id).dispatchEvent(new Event("change"));
}

function togglePanel() {
  document.querySelector("main").classList.toggle("wide");
  state.fresh = true;
}

function setTheme(theme) {
  state.dark = theme === "dark";
  document.documentElement.dataset.theme = theme;
  element("theme").textContent = state.dark ? "Light" : "Dark";
  state.fresh = true;
}

// ---- colours ----

// What bodies can be coloured by: their own colour, the stored fields, and what follows from them.
function coloursOf() {
  const list = [{label: "Body"}];
  about.fields.forEach((field, k) => list.push({
    label: field.label, unit: field.unit,
    values: (data) => magnitudes(data, k), top: usualTop(k),
    pressure: field.name === "contact_force",
  }));
  const force = list.find((entry) => entry.pressure);
  if (force) {
    list.push({label: "Contact pressure", unit: "Pa", values: (data, x) => {
      const area = mesh.areas(x);
      return force.values(data).map((f, i) => (area[i] > 0 ? f / area[i] : 0));
    }, top: null});
  }
  list.push({label: "Displacement from first frame", unit: "m", values: (data, x) => {
    const u = new Float32Array(about.n_vert);
    for (let i = 0; i < u.length; i++) {
      u[i] = Math.hypot(x[3 * i] - state.first[3 * i], x[3 * i + 1] - state.first[3 * i + 1], x[3 * i + 2] - state.first[3 * i + 2]);
    }
    return u;
  }, top: null});
  return list;
}

// The upper end of the scale of field k: the median of the largest values of the groups of frames, so that one impact
// does not darken the rest of the run.
function usualTop(k) {
  const tops = about.groups.map((g) => g.scale[k]).filter((top) => top > 0).sort((a, b) => a - b);
  return tops.length > 0 ? tops[tops.length >> 1] : 0;
}

// The size of field k at each vertex, in its unit.
function magnitudes(data, k) {
  const field = about.fields[k], stored = data.values[k], n = about.n_vert, result = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    result[i] = field.components === 1 ? (data.scale[k] * stored[i]) / 255 : Math.hypot(...component(data, k, i));
  }
  return result;
}

function component(data, k, i) {
  return [0, 1, 2].map((c) => (data.scale[k] * (data.values[k][3 * i + c] - 127)) / 127);
}

function paint() {
  const colour = state.colours[state.colour];
  let value = null;
  if (colour.values) {
    value = colour.values(state.data, state.x);
    // an upper end that no frame states grows with what has been seen
    if (about.fields.every((f) => f.label !== colour.label)) {
      colour.top = Math.max(colour.top ?? 0, value.reduce((a, b) => Math.max(a, b), 0));
    }
    state.shown = value;
    const top = (colour.top || 1) * (Number(element("range").value) / 100);
    showLegend(colour, top);
    value = value.map((v) => Math.min(1, v / top));
  }
  element("legend").hidden = !colour.values;
  renderer.setShape(state.x, value);
}

function showLegend(colour, top) {
  const bar = document.createElement("i"), numbers = document.createElement("div");
  bar.style.background = scaleCss();
  for (const share of [0, 0.5, 1]) {
    const text = document.createElement("span");
    text.textContent = (share === 1 ? "\u2265 " : "") + shortNumber(share * top);
    numbers.append(text);
  }
  element("legend").replaceChildren(`${colour.label}${colour.unit ? `, ${colour.unit}` : ""}`, bar, numbers);
}

// Arrows as long as a twelfth of the scene for the largest force of the run.
function setArrows() {
  for (const name of Object.keys(ARROW_COLOURS)) {
    const k = about.fields.findIndex((field) => field.name === name);
    if (k < 0) {
      continue;
    }
    const most = Math.max(...about.groups.map((g) => g.scale[k]), 1e-300), start = [], vector = [];
    const length = state.view.size / 12;
    for (let i = 0; i < about.n_vert; i++) {
      const force = component(state.data, k, i), size = Math.hypot(...force) / most;
      if (size > 0.01) {
        const factor = (length * Math.sqrt(size)) / Math.hypot(...force);
        start.push(state.x[3 * i], state.x[3 * i + 1], state.x[3 * i + 2]);
        vector.push(...force.map((f) => f * factor));
      }
    }
    renderer.setArrows(name, new Float32Array(start), new Float32Array(vector));
  }
}

// ---- time ----

async function show(index) {
  state.frame = Math.max(0, Math.min(about.frames.length - 1, index));
  const asked = ++state.asked, frame = state.frame;
  const data = await frames.get(frame);
  if (asked !== state.asked) {
    return;
  }
  state.data = data;
  state.x = positionsOf(data, about);
  state.first ??= state.x;
  paint();
  setArrows();
  element("time").value = frame;
  element("clock").textContent = `${about.frames[frame].time.toPrecision(5)} s, step ${about.frames[frame].step}`;
  showStep();
  showPicked();
  state.fresh = true;
}

function play(on) {
  state.playing = on;
  state.clock = about.frames[state.frame].time;
  if (on && state.frame === about.frames.length - 1) {
    show(0);
    state.clock = about.frames[0].time;
  }
  element("play").textContent = on ? "\u23F8" : "\u25B6";
}

function frameAt(time) {
  const list = about.frames;
  return list.reduce((best, f, k) => (Math.abs(f.time - time) < Math.abs(list[best].time - time) ? k : best), 0);
}

function advance(seconds) {
  if (!state.playing) {
    return;
  }
  const last = about.frames.length - 1, before = about.frames[state.frame].time;
  state.clock += seconds * Number(element("speed").value);
  let next = state.frame;
  while (next < last && about.frames[next + 1].time <= state.clock) {
    next++;
  }
  // a run of large steps still moves
  if (next > state.frame && !state.loading) {
    state.loading = true;
    show(next).finally(() => { state.loading = false; });
  }
  if (state.frame === last && state.clock > before) {
    play(false);
  }
}

// ---- what is written beside the picture ----

function fillTable(table, entries) {
  table.replaceChildren(...entries.map(([name, value]) => {
    const row = document.createElement("tr");
    for (const text of [name, value]) {
      const cell = document.createElement("td");
      cell.textContent = text;
      row.append(cell);
    }
    return row;
  }));
}

function showStep() {
  const row = stepRows.get(about.frames[state.frame].step);
  const number = (text) => (text !== "" && Number.isFinite(Number(text)) ? shortNumber(Number(text)) : text);
  fillTable(element("step"), row ? Object.entries(row).map(([k, v]) => [k.replaceAll("_", " "), number(v)]) : [["", "the start"]]);
}

function flatten(object, prefix = "") {
  return Object.entries(object).flatMap(([key, value]) =>
    value !== null && typeof value === "object" ? flatten(value, `${prefix}${key} `) : [[(prefix + key).replaceAll("_", " "), typeof value === "number" ? shortNumber(value) : String(value)]]);
}

function showPicked() {
  const found = state.picked, box = element("picked");
  box.hidden = !found;
  if (!found) {
    return;
  }
  const i = found.vertex, x = state.x, rows = [["body", about.bodies[found.body].name], ["vertex", String(about.vertices[i])],
    ["position, m", [0, 1, 2].map((c) => shortNumber(x[3 * i + c])).join(", ")]];
  about.fields.forEach((field, k) => rows.push([`${field.label}, ${field.unit}`, field.components === 1 ? shortNumber(magnitudes(state.data, k)[i]) : component(state.data, k, i).map(shortNumber).join(", ")]));
  const table = document.createElement("table");
  table.append(...rows.map(([name, value]) => {
    const row = document.createElement("tr"), head = document.createElement("th"), cell = document.createElement("td");
    head.textContent = name;
    cell.textContent = value;
    row.append(head, cell);
    return row;
  }));
  box.replaceChildren(table);
}

function listBodies() {
  element("bodies").replaceChildren(...about.bodies.map((body, b) => {
    const label = document.createElement("label"), box = document.createElement("input"), mark = document.createElement("b");
    const name = document.createElement("span"), alpha = document.createElement("input");
    const shown = {colour: body.obstacle ? OBSTACLE : BODY_COLOURS[b % BODY_COLOURS.length], alpha: 1, deforms: !body.obstacle};
    state.bodies.push(shown);
    box.type = "checkbox";
    box.checked = true;
    alpha.type = "range";
    alpha.max = 100;
    alpha.value = 100;
    alpha.title = "Opacity";
    mark.style.background = `rgb(${shown.colour.map((c) => Math.round(255 * c))})`;
    name.textContent = body.name;
    name.title = body.obstacle ? `${body.name} (obstacle)` : body.name;
    const change = () => {
      shown.alpha = box.checked ? Number(alpha.value) / 100 : 0;
      state.fresh = true;
    };
    box.addEventListener("change", change);
    alpha.addEventListener("input", change);
    label.append(box, mark, name, alpha);
    return label;
  }));
}

// ---- camera ----

function upOf() {
  const g = about.gravity, size = Math.hypot(...g);
  return size > 0 ? normalized(g.map((c) => Math.round((-c / size) * 1e6) / 1e6)) : [0, 1, 0];
}

function fit() {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const source = about.frames.length > 0 ? state.x : [];
  for (let i = 0; i < source.length; i += 3) {
    if (state.bodies[mesh.body[i / 3]].alpha === 0) {
      continue;
    }
    for (let k = 0; k < 3; k++) {
      low[k] = Math.min(low[k], source[i + k]);
      high[k] = Math.max(high[k], source[i + k]);
    }
  }
  if (!(high[0] >= low[0])) {
    return;
  }
  const size = Math.hypot(...high.map((h, k) => h - low[k])) || 1, centre = low.map((l, k) => 0.5 * (l + high[k]));
  const old = state.view, flat = about.high[2] - about.low[2] < 1e-3 * size, aspect = Math.min(1, element("view").clientWidth / Math.max(1, element("view").clientHeight));
  state.view = {size: Math.max(size, state.extent), centre, target: centre.slice(), distance: (1.75 * size) / aspect, around: old?.around ?? (flat ? 0 : 0.7), above: old?.above ?? (flat ? 0 : 0.35), up: upOf()};
  placeEye();
}

function frameOf(up) {
  const side = normalized(cross(up, Math.abs(up[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
  return {side, front: cross(side, up)};
}

function placeEye() {
  const v = state.view, {side, front} = frameOf(v.up), c = Math.cos(v.above), s = Math.sin(v.above);
  v.eye = v.target.map((t, k) => t + v.distance * (c * (Math.sin(v.around) * side[k] + Math.cos(v.around) * front[k]) + s * v.up[k]));
  state.fresh = true;
}

function turn(dx, dy) {
  state.view.around -= dx * 0.008;
  state.view.above = Math.max(-1.55, Math.min(1.55, state.view.above + dy * 0.008));
  placeEye();
}

function move(dx, dy) {
  const v = state.view, forward = normalized(v.target.map((t, k) => t - v.eye[k])), right = normalized(cross(forward, v.up)), above = cross(right, forward);
  const step = (0.62 * v.distance) / Math.max(1, element("view").clientHeight);
  v.target = v.target.map((t, k) => t + step * (-dx * right[k] + dy * above[k]));
  placeEye();
}

function zoom(factor) {
  state.view.distance = Math.max(state.view.size * 0.01, Math.min(state.view.size * 20, state.view.distance * factor));
  placeEye();
}

function pick(event) {
  const canvas = element("view"), box = canvas.getBoundingClientRect(), v = state.view;
  const a = (2 * (event.clientX - box.left)) / box.width - 1, b = 1 - (2 * (event.clientY - box.top)) / box.height;
  const inverse = invert4(renderer.cameraOf(v));
  const point = [0, 1, 2, 3].map((r) => inverse[r] * a + inverse[4 + r] * b + inverse[8 + r] * 0.5 + inverse[12 + r]);
  const direction = normalized([0, 1, 2].map((k) => point[k] / point[3] - v.eye[k]));
  state.picked = mesh.pick(state.x, v.eye, direction, (body) => state.bodies[body].alpha > 0);
  showPicked();
}

function listenToCanvas() {
  const canvas = element("view"), pointers = new Map();
  let travelled = 0, spread = 0;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    travelled = spread = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) {
      return;
    }
    const dx = event.clientX - before[0], dy = event.clientY - before[1];
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    travelled += Math.abs(dx) + Math.abs(dy);
    if (pointers.size === 2) {
      const [p, q] = [...pointers.values()], now = Math.hypot(p[0] - q[0], p[1] - q[1]);
      if (spread > 0) {
        zoom(spread / now);
      }
      spread = now;
      move(dx / 2, dy / 2);
    } else if (event.buttons & 2 || event.buttons & 4 || event.shiftKey) {
      move(dx, dy);
    } else {
      turn(dx, dy);
    }
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => {
      pointers.delete(event.pointerId);
      if (name === "pointerup" && travelled < 4 && event.button === 0) {
        pick(event);
      }
    });
  }
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(Math.sign(event.deltaY) * 0.12));
  }, {passive: false});
}

// ---- controls ----

function listen() {
  const redraw = () => { state.fresh = true; };
  listenToCanvas();
  element("play").addEventListener("click", () => play(!state.playing));
  element("time").addEventListener("input", (event) => show(Number(event.target.value)));
  element("fit").addEventListener("click", fit);
  element("theme").addEventListener("click", () => setTheme(state.dark ? "light" : "dark"));
  element("menu").addEventListener("click", togglePanel);
  element("colour").addEventListener("change", (event) => {
    state.colour = event.target.selectedIndex;
    paint();
    redraw();
  });
  element("range").addEventListener("input", () => { paint(); redraw(); });
  element("chart").addEventListener("change", (event) => { plot.show(charts[event.target.selectedIndex]); redraw(); });
  for (const id of ["edges", "arrows", "friction", "clip", "clip-flip"]) {
    element(id).addEventListener("change", redraw);
  }
  element("clip-at").addEventListener("input", redraw);
  new ResizeObserver(redraw).observe(element("stage"));
  document.addEventListener("keydown", (event) => {
    const typing = ["SELECT", "TEXTAREA"].includes(event.target.tagName) || (event.target.type === "range" && event.key.startsWith("Arrow"));
    const colour = /^[0-9]$/.test(event.key) ? Number(event.key) : -1;
    const known = KEYS.find((key) => key[0].toLowerCase() === event.key.toLowerCase() && key[3]);
    if (typing || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (colour >= 0 && colour < state.colours.length) {
      choose("colour", colour);
    } else if (known) {
      event.preventDefault();
      known[3]();
    }
  });
}

function options(select, labels) {
  select.replaceChildren(...labels.map((label) => new Option(label)));
}

function clipPlane() {
  const axis = element("clip").value;
  if (axis === "") {
    return [0, 0, 0, 1e30];
  }
  const k = Number(axis), at = about.low[k] + (Number(element("clip-at").value) / 1000) * (about.high[k] - about.low[k]);
  const sign = element("clip-flip").checked ? -1 : 1, plane = [0, 0, 0, sign * at];
  plane[k] = sign;
  return plane;
}

function loop(before) {
  requestAnimationFrame((now) => {
    advance(Math.min(0.25, (now - before) / 1000));
    if (state.fresh && state.data) {
      state.fresh = false;
      const arrows = [["arrows", "contact_force"], ["friction", "friction_force"]].filter(([id]) => element(id).checked).map(([, name]) => ({name, colour: ARROW_COLOURS[name]}));
      renderer.draw(state.view, {
        background: state.dark ? [0.08, 0.09, 0.11] : [0.96, 0.965, 0.97], floor: state.dark ? [0.2, 0.22, 0.25] : [0.86, 0.87, 0.89],
        bodies: state.bodies, mapped: Boolean(state.colours[state.colour].values), edges: element("edges").checked,
        floors: about.floors, clip: clipPlane(), arrows,
      });
      plot.draw(about.frames[state.frame].time);
    }
    loop(now);
  });
}

async function loadHistories() {
  const histories = {};
  for (const name of about.histories) {
    histories[name] = parseCsv(await readText(`file-${name}`));
  }
  stepRows = new Map((histories["steps.csv"]?.rows ?? []).map((row) => [Number(row.step), row]));
  return histories;
}

async function loadMesh() {
  const bytes = await inflate("mesh"), numbers = new Int32Array(bytes.buffer, 0, bytes.length / 4);
  const arrays = {};
  let at = 0;
  for (const [name, count] of [["triangles", 3 * about.n_triangles], ["segments", 2 * about.n_segments], ["points", about.n_points], ["body", about.n_vert], ["vertices", about.n_vert]]) {
    arrays[name] = numbers.subarray(at, at + count);
    at += count;
  }
  about.vertices = arrays.vertices;
  return arrays;
}

// The box that holds all frames.
function measure() {
  about.low = [0, 1, 2].map((k) => Math.min(...about.groups.map((g) => g.low[k])));
  about.high = [0, 1, 2].map((k) => Math.max(...about.groups.map((g) => g.high[k])));
  state.extent = 0;
}

async function start() {
  about = JSON.parse(stored("about"));
  document.title = `${about.name} - Noli`;
  element("name").textContent = about.name;
  element("facts").textContent = `${about.n_nodes} vertices, ${about.bodies.length} bodies and obstacles, ${about.frames.length} frames, Noli ${about.version}`;
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  renderer = new Renderer(element("view"));
  frames = new Frames(about);
  measure();
  const arrays = await loadMesh(), first = positionsOf(await frames.get(0), about);
  mesh = new Mesh(about, arrays, first);
  renderer.setMesh(mesh);
  listBodies();
  state.colours = coloursOf();
  options(element("colour"), state.colours.map((colour) => colour.label));
  charts = chartsOf(await loadHistories());
  options(element("chart"), charts.map((chart) => chart.title));
  plot = new Plot(element("plot"), element("plot-legend"), (time) => show(frameAt(time)));
  plot.show(charts[0]);
  fillTable(element("summary"), flatten(JSON.parse((await readText("file-summary.json")) || "{}")));
  element("log").textContent = await readText("file-log.txt");
  element("scene").textContent = await readText("file-scene.json");
  fillTable(element("keys"), KEYS.map((key) => [key[1], key[2]]));
  element("time").max = about.frames.length - 1;
  state.x = first;
  state.first = first;
  fit();
  listen();
  await show(Number(new URLSearchParams(location.hash.slice(1)).get("frame") ?? (about.running ? about.frames.length - 1 : 0)));
  document.documentElement.dataset.ready = "yes";
  loop(performance.now());
}

start().catch((error) => {
  element("notice").textContent = error.message;
  throw error;
});
