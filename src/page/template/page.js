// The page: state, controls and what follows from them.

const ARROW_COLOURS = {contact_force: [0.86, 0.15, 0.15], friction_force: [0.1, 0.45, 0.9]};
// Parts of a scene that is shown before it runs, besides bodies: their colour, opacity, and whether they shine through bodies.
const PARTS = {
  body: {alpha: 1}, ghost: {alpha: 0.18},
  prescribed: {colour: [0.95, 0.5, 0.05], alpha: 1, over: true}, load: {colour: [0.1, 0.45, 0.9], alpha: 1, over: true},
  probe: {colour: [0.1, 0.65, 0.3], alpha: 1, over: true}, gap: {colour: [0.88, 0.66, 0], alpha: 1, over: true},
  defect: {colour: [0.82, 0.12, 0.12], alpha: 1, over: true},
};
// Colours in the order of their keys.
const COLOUR_ORDER = ["body", "von_mises", "speed", "contact_force", "friction_force", "contact_pressure", "displacement", "distance", "plastic_strain", "slid", "held"];
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
  ["d", "D", "where steps were held back", () => toggle("pins")],
  ["x", "X", "clipping plane: off, x, y, z", () => choose("clip", (element("clip").selectedIndex + 1) % 4)],
  ["l", "L", "light or dark", () => setTheme(state.dark ? "light" : "dark")],
  ["p", "P", "panel", () => togglePanel()],
  ["0", "0 to 9", "colour", null],
];

let about, mesh, frames, renderer, plot, charts, stepRows, diagnosis, vertexNumbers;
const state = {frame: 0, playing: false, clock: 0, dark: false, bodies: [], view: null, x: null, data: null, colour: 0, fresh: true, asked: 0, arrowsOf: {}};

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

// The quantities that bodies can be coloured by: their own colour, the stored fields, and what
// follows from them.
function coloursOf() {
  const list = [{name: "body", label: "Body"}];
  about.fields.forEach((field, k) => field.hidden || list.push({
    name: field.name, label: field.label, unit: field.unit,
    values: (data) => magnitudes(about, data, k), top: field.root ? about.reach : usualTop(about, k),
    pressure: field.name === "contact_force", near: field.root, cells: field.cells,
  }));
  const force = list.find((entry) => entry.pressure);
  if (force) {
    list.push({name: "contact_pressure", label: "Contact pressure", unit: "Pa", values: (data, x) => {
      const area = mesh.areas(x);
      return force.values(data).map((f, i) => (area[i] > 0 ? f / area[i] : 0));
    }, top: null});
  }
  if (about.findings) {
    return list;
  }
  list.push({name: "displacement", label: "Displacement from first frame", unit: "m", values: (data, x) => {
    const u = new Float32Array(about.n_vert);
    for (let i = 0; i < u.length; i++) {
      u[i] = Math.hypot(x[3 * i] - state.first[3 * i], x[3 * i + 1] - state.first[3 * i + 1], x[3 * i + 2] - state.first[3 * i + 2]);
    }
    return u;
  }, top: null});
  return list.sort((a, b) => COLOUR_ORDER.indexOf(a.name) - COLOUR_ORDER.indexOf(b.name));
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
    // of distances the small ones are bright, and get most of the scale
    value = value.map((v) => (colour.near ? 1 - Math.sqrt(Math.min(1, v / top)) : Math.min(1, v / top)));
  }
  element("legend").hidden = !colour.values;
  renderer.setShape(state.x, value, directionsOf(about, state.data, "away"), directionsOf(about, state.data, "rod_normal"));
}

function showLegend(colour, top) {
  const bar = document.createElement("i"), numbers = document.createElement("div");
  bar.style.background = scaleCss(colour.near);
  for (const share of [0, 0.5, 1]) {
    const text = document.createElement("span");
    text.textContent = (share === 1 ? "\u2265 " : "") + shortNumber((colour.near ? share * share : share) * top);
    numbers.append(text);
  }
  element("legend").replaceChildren(`${colour.label}${colour.unit ? `, ${colour.unit}` : ""}`, bar, numbers);
}

// The length of an arrow for a share of the largest force of the run, which has that of a twelfth of the scene.
function arrowLength(share) {
  return (state.view.size / 12) * Math.sqrt(share);
}

// Arrows that are shown.
function setArrows(names) {
  for (const name of names) {
    const k = about.fields.findIndex((field) => field.name === name);
    if (k < 0 || state.arrowsOf[name] === state.data) {
      continue;
    }
    state.arrowsOf[name] = state.data;
    const most = Math.max(...about.groups.map((g) => g.scale[k]), 1e-300), start = [], vector = [];
    for (let i = 0; i < about.n_vert; i++) {
      const force = component(state.data, k, i), size = Math.hypot(...force) / most;
      if (size > 0.01) {
        const factor = arrowLength(size) / Math.hypot(...force);
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
  element("time").value = frame;
  element("clock").textContent = `${about.frames[frame].time.toPrecision(5)} s, step ${about.frames[frame].step}`;
  showStep();
  showDiagnosis();
  showPicked();
  state.fresh = true;
}

// Follows the slider: of the places that it passes while a frame is loaded, only the last one is shown.
async function scrub(index) {
  state.next = index;
  if (state.scrubbing) {
    return;
  }
  state.scrubbing = true;
  while (state.next !== null) {
    const next = state.next;
    state.next = null;
    await show(next);
  }
  state.scrubbing = false;
}

function play(on) {
  state.playing = frames.ahead = on;
  state.clock = about.frames[state.frame].time;
  if (on && state.frame === about.frames.length - 1) {
    show(0);
    state.clock = about.frames[0].time;
  }
  element("play").textContent = on ? "\u23F8" : "\u25B6";
}

function frameAt(time) {
  const list = about.frames;
  return time === Infinity ? list.length - 1 : list.reduce((best, f, k) => (Math.abs(f.time - time) < Math.abs(list[best].time - time) ? k : best), 0);
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
  about.fields.forEach((field, k) => field.hidden || rows.push([field.unit ? `${field.label}, ${field.unit}` : field.label, field.components === 1 ? shortNumber(magnitudes(about, state.data, k)[i]) : component(state.data, k, i).map(shortNumber).join(", ")]));
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
    const part = PARTS[body.kind ?? "body"], own = colourOf(about, b);
    const shown = {colour: part.colour ?? own, alpha: part.alpha, over: part.over, deforms: !body.obstacle, radius: body.radius, second: body.second};
    state.bodies.push(shown);
    box.type = "checkbox";
    box.checked = true;
    alpha.type = "range";
    alpha.max = 100;
    alpha.value = 100 * part.alpha;
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

// Lists the findings about a scene; a click goes there.
function listFindings() {
  const list = about.findings, hidden = about.n_defects - list.filter((finding) => finding.kind === "defect").length;
  const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  document.querySelector("main").classList.add("scene");
  element("findings").hidden = false;
  element("verdict").textContent = (about.n_defects > 0 ? `${count(about.n_defects, "defect")}: the scene does not run` : "No intersections, no inverted elements")
    + (hidden > 0 ? `; ${hidden} of them are drawn but not listed` : "");
  listedFindings(element("findings").querySelector("ol"), list.map((finding) => ({text: finding.text, kind: finding.kind, act: (button) => goTo(finding, button)})));
}

function goTo(finding, button) {
  for (const other of document.querySelectorAll(".findings button")) {
    other.removeAttribute("aria-current");
  }
  button.setAttribute("aria-current", "true");
  if (!finding.at) {
    return;
  }
  state.view.target = finding.at.slice();
  state.view.distance = finding.size > 0 ? 10 * finding.size : 0.15 * state.view.size;
  placeEye();
}

// ---- what held steps back ----

function listedFindings(list, entries) {
  list.replaceChildren(...entries.map(({text, kind, act}) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.textContent = text;
    button.className = kind;
    button.addEventListener("click", () => act(button));
    item.append(button);
    return item;
  }));
}

// The step whose diagnosis is shown: that of the frame; after the last frame of a run that failed, the one that failed.
function diagnosedStep() {
  const step = about.frames[state.frame].step, failed = state.frame === about.frames.length - 1 && diagnosis.has(step + 1);
  return failed ? step + 1 : step;
}

function showDiagnosis() {
  const step = diagnosedStep(), failed = step > about.frames[state.frame].step;
  state.held = diagnosis.get(step) ?? [];
  listedFindings(element("held"), state.held.map((found) => ({
    text: `${failed ? `Step ${step}, which failed: ` : ""}${diagnosisText(found)}`, kind: found.kind,
    act: (button) => {
      element("pins").checked = true;
      goTo({at: found.at, size: outline(found, vertexNumbers, state.x).size}, button);
    },
  })));
}

function listHardest() {
  const hardest = hardestSteps(diagnosis, stepRows);
  element("diagnosis").hidden = diagnosis.size === 0;
  element("diagnosis").querySelector("details").hidden = hardest.length === 0;
  listedFindings(element("hardest"), hardest.map((step) => {
    const row = stepRows.get(step), worst = diagnosis.get(step).filter((found) => found.kind !== "closest").sort((a, b) => a.alpha - b.alpha)[0];
    return {
      text: `Step ${step}: ${row ? `${row.newton} iterations` : "failed"}. ${diagnosisText(worst)}`, kind: worst.kind,
      act: async (button) => {
        element("pins").checked = true;
        await show(frameAt(row ? Number(row.time) : Infinity));
        goTo({at: worst.at, size: outline(worst, vertexNumbers, state.x).size}, button);
      },
    };
  }));
}

function setPins() {
  const lines = [], colours = [];
  for (const found of element("pins").checked ? state.held.filter((entry) => entry.at) : []) {
    const pin = pinAt(found.at, state.view), colour = DIAGNOSIS_COLOURS[found.kind];
    renderer.setArrows(`pin-${found.kind}`, new Float32Array(pin.start), new Float32Array(pin.vector));
    outline(found, vertexNumbers, state.x).lines.forEach((line) => { lines.push(...line); colours.push(colour); });
  }
  renderer.setMarks(lines, colours);
}

// ---- camera ----

function fit() {
  const box = boxOf(state.x, (i) => state.bodies[mesh.body[i]].alpha > 0), canvas = element("view");
  if (box) {
    const flat = about.box.high[2] - about.box.low[2] < 1e-3 * Math.hypot(...box.high.map((h, k) => h - box.low[k]));
    state.view = viewOf(box.low, box.high, upOf(about), canvas.clientWidth / Math.max(1, canvas.clientHeight), state.view?.around ?? (flat ? 0 : 0.7),
                        state.view?.above ?? (flat ? 0 : 0.35));
    state.fresh = true;
  }
}

function placeEye() {
  placed(state.view);
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
  const inverse = invert4(renderer.cameraOf(v, renderer.extent.centre));
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
  element("time").addEventListener("input", (event) => scrub(Number(event.target.value)));
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
  for (const id of ["edges", "arrows", "friction", "pins", "clip", "clip-flip"]) {
    element(id).addEventListener("change", redraw);
  }
  element("clip-at").addEventListener("input", redraw);
  new ResizeObserver(redraw).observe(element("stage"));
}

// Keys that were pressed before the page could obey them.
const early = [];

function keepKey(event) {
  early.push(event);
}

document.addEventListener("keydown", keepKey);

function listenToKeys() {
  document.removeEventListener("keydown", keepKey);
  document.addEventListener("keydown", obeyKey);
  early.splice(0).forEach(obeyKey);
}

function obeyKey(event) {
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
}

function options(select, labels) {
  select.replaceChildren(...labels.map((label) => new Option(label)));
}

function clipPlane() {
  const axis = element("clip").value;
  if (axis === "") {
    return [0, 0, 0, 1e30];
  }
  const k = Number(axis), at = about.box.low[k] + (Number(element("clip-at").value) / 1000) * (about.box.high[k] - about.box.low[k]);
  const sign = element("clip-flip").checked ? -1 : 1, plane = [0, 0, 0, sign * at];
  plane[k] = sign;
  return plane;
}

// The axes, the spacing of the grid, and for each kind of arrow one of a round number.
function showScale(arrows) {
  const canvas = element("scale"), ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = canvas.getContext("2d"), entries = [];
  g.scale(ratio, ratio);
  for (const {name, colour} of arrows) {
    const k = about.fields.findIndex((field) => field.name === name), most = Math.max(...about.groups.map((group) => group.scale[k]));
    if (most > 0) {
      const value = ticksOf(0, most, 2).at(-1) || most;
      entries.push({label: `${about.fields[k].label} ${shortNumber(value)} ${about.fields[k].unit}`, colour: `rgb(${colour.map((c) => Math.round(255 * c))})`, metres: arrowLength(value / most)});
    }
  }
  drawScale(g, width, height, state.view, state.dark ? "#e6e9ef" : "#1c2330", entries);
}

// Whether a body has the values that bodies are coloured by: those of cells, such as stresses, only what deforms.
function isMapped(body) {
  const colour = state.colours[state.colour];
  return Boolean(colour.values) && (body.deforms || !colour.cells);
}

function drawAll() {
  setPins();
  const pins = element("pins").checked ? state.held.filter((found) => found.at).map((found) => ({name: `pin-${found.kind}`, colour: DIAGNOSIS_COLOURS[found.kind], pin: true})) : [];
  const arrows = [["arrows", "contact_force"], ["friction", "friction_force"]].filter(([id]) => element(id).checked).map(([, name]) => ({name, colour: ARROW_COLOURS[name]}));
  setArrows(arrows.map((arrow) => arrow.name));
  renderer.draw(state.view, {
    background: state.dark ? [0.08, 0.09, 0.11] : [0.96, 0.965, 0.97], floor: state.dark ? [0.2, 0.22, 0.25] : [0.86, 0.87, 0.89],
    bodies: state.bodies.map((body) => ({...body, mapped: isMapped(body)})), edges: element("edges").checked,
    floors: floorsOf(about, about.box, upOf(about)), clip: clipPlane(), arrows: [...arrows, ...pins],
  });
  showScale(arrows);
  if (charts.length > 0) {
    plot.draw(about.frames[state.frame].time);
  }
}

function loop(before) {
  requestAnimationFrame((now) => {
    advance(Math.min(0.25, (now - before) / 1000));
    if (state.fresh && state.data) {
      state.fresh = false;
      drawAll();
    }
    loop(now);
  });
}

// Obeys the address: #step=20&colour=speed&arrows&dark&wide&picture; wide is without the panel, a
// picture is the view alone, drawn once.
async function obey(wanted, last) {
  const colour = wanted.get("colour"), step = wanted.get("step");
  if (wanted.has("dark") || wanted.has("light")) {
    setTheme(wanted.has("dark") ? "dark" : "light");
  }
  document.querySelector("main").classList.toggle("wide", wanted.has("wide"));
  if (colour) {
    const k = state.colours.findIndex((entry) => entry.name === colour);
    if (k < 0) {
      throw new Error(`there is no colour "${colour}"; known: ${state.colours.map((entry) => entry.name).join(", ")}`);
    }
    state.colour = element("colour").selectedIndex = k;
  }
  for (const id of ["arrows", "friction", "edges", "pins"]) {
    element(id).checked = wanted.has(id);
  }
  const frame = step !== null ? about.frames.findIndex((f) => f.step === Number(step)) : Number(wanted.get("frame") ?? (wanted.has("last") ? about.frames.length - 1 : last));
  if (frame < 0) {
    throw new Error(`there is no frame of step ${step}`);
  }
  await show(frame);
  if (step !== null || wanted.has("frame")) {
    fit();
  }
  if (wanted.has("picture")) {
    document.querySelector("main").classList.add("picture");
    const redraw = () => { fit(); drawAll(); };
    new ResizeObserver(redraw).observe(element("stage"));
    redraw();
    console.log("noli: drawn");
  }
}

async function start() {
  about = JSON.parse(stored("about"));
  document.title = `${about.name} - Noli`;
  element("name").textContent = about.name;
  element("facts").textContent = `${about.n_nodes} vertices, ${about.bodies.length} bodies and obstacles, ${about.frames.length} frames, Noli ${about.version}`;
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  renderer = new Renderer(element("view"));
  frames = new Frames(about);
  about.box = boxOfRun(about);
  renderer.setBox(about.box);
  const arrays = await loadMesh(about), first = positionsOf(await frames.get(0), about);
  about.vertices = arrays.vertices;
  mesh = new Mesh(about, arrays, first);
  renderer.setMesh(mesh);
  listBodies();
  state.colours = coloursOf();
  options(element("colour"), state.colours.map((colour) => colour.label));
  const histories = await loadHistories(about);
  stepRows = new Map((histories["steps.csv"]?.rows ?? []).map((row) => [Number(row.step), row]));
  diagnosis = diagnosisOf(histories);
  vertexNumbers = new VertexNumbers(about, arrays);
  listHardest();
  charts = chartsOf(histories, about.contact_distance);
  options(element("chart"), charts.map((chart) => chart.title));
  plot = new Plot(element("plot"), element("plot-legend"), (time) => show(frameAt(time)));
  if (charts.length > 0) {
    plot.show(charts[0]);
  }
  if (about.findings) {
    listFindings();
    element("facts").textContent = `${about.n_nodes} vertices, ${about.bodies.filter((body) => body.kind === "body").length} bodies and obstacles, ${about.duration} s, before it runs; Noli ${about.version}`;
  }
  const summary = JSON.parse((await readText("file-summary.json")) || "{}");
  fillTable(element("summary"), flatten(summary));
  element("log").textContent = await readText("file-log.txt");
  element("scene").textContent = await readText("file-scene.json");
  fillTable(element("keys"), KEYS.map((key) => [key[1], key[2]]));
  element("time").max = about.frames.length - 1;
  state.x = first;
  state.first = first;
  fit();
  listen();
  const wanted = new URLSearchParams(location.hash.slice(1));
  await obey(wanted, summary.finished ? 0 : about.frames.length - 1);
  listenToKeys();
  document.documentElement.dataset.ready = "yes";
  if (!wanted.has("picture")) {
    loop(performance.now());
  }
}

start().catch((error) => {
  element("notice").textContent = error.message;
  console.log(`noli: error: ${error.message}`);
  throw error;
});
