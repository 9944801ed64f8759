// The report of a run: pictures at chosen times, and what the files of the run say, on one page that prints.

function element(id) {
  return document.getElementById(id);
}

function made(tag, text, className) {
  const node = document.createElement(tag);
  if (text !== undefined) {
    node.textContent = text;
  }
  if (className) {
    node.className = className;
  }
  return node;
}

// Rows of texts and numbers under a header; numbers stand to the right.
function fillTable(id, header, rows) {
  const line = (tag, cells) => {
    const row = document.createElement("tr");
    row.append(...cells.map((cell) => (cell instanceof Node ? cell : made(tag, typeof cell === "number" ? shortNumber(cell) : cell, typeof cell === "number" ? "number" : ""))));
    return row;
  };
  element(id).replaceChildren(...(header ? [line("th", header)] : []), ...rows.map((cells) => line("td", cells)));
}

// ---- pictures ----

// A picture with the axes and the spacing of the grid.
function withScale(picture, view) {
  const canvas = document.createElement("canvas"), g = canvas.getContext("2d"), larger = 1.8, ratio = (larger * picture.width) / 640;
  [canvas.width, canvas.height] = [picture.width, picture.height];
  g.drawImage(picture, 0, 0);
  g.scale(ratio, ratio);
  drawScale(g, 640 / larger, 440 / larger, view, "#1c2330", []);
  return canvas;
}

async function addPictures(about, arrays) {
  const frames = new Frames(about), renderer = rendererFor(element("view"));
  const first = positionsOf(await frames.get(0), about), mesh = new Mesh(about, arrays, first);
  renderer.setBox(boxOfRun(about));
  renderer.setMesh(mesh);
  const box = boxOfRun(about), size = Math.hypot(...box.high.map((h, k) => h - box.low[k])), flat = box.high[2] - box.low[2] < 1e-3 * size;
  const stress = about.fields.findIndex((field) => field.name === "von_mises"), top = usualTop(about, stress) || 1;
  const bodies = about.bodies.map((body, b) => ({colour: colourOf(about, b), alpha: body.obstacle ? 0.35 : 1, deforms: !body.obstacle, radius: body.radius, second: body.second}));
  for (let f = 0; f < about.frames.length; f++) {
    const data = await frames.get(f), x = positionsOf(data, about), mapped = f > 0;
    renderer.setShape(x, mapped ? magnitudes(about, data, stress).map((v) => Math.min(1, v / top)) : null, directionsOf(about, data, "away"), directionsOf(about, data, "rod_normal"));
    const view = viewOf(box.low, box.high, upOf(about), 640 / 440, flat ? 0 : 0.7, flat ? 0 : 0.35);
    renderer.draw(view, {
      background: [0.97, 0.975, 0.98], floor: [0.87, 0.88, 0.9], bodies: bodies.map((body) => ({...body, mapped: mapped && body.deforms})), edges: false, floors: floorsOf(about, box, upOf(about)), clip: [0, 0, 0, 1e30], arrows: [],
    });
    const figure = document.createElement("figure"), image = document.createElement("img");
    image.src = withScale(element("view"), view).toDataURL("image/png");
    image.alt = `Step ${about.frames[f].step}`;
    figure.append(image, made("figcaption", `${about.frames[f].time.toPrecision(4)} s, step ${about.frames[f].step}${mapped ? "" : ": bodies"}`));
    element("pictures").append(figure);
  }
  const bar = made("i");
  bar.style.background = scaleCss();
  element("legend").append("Von Mises stress, 0", bar, `\u2265 ${shortNumber(top)} Pa`);
  element("view").remove();
}

// ---- what the files say ----

function addScene(scene, about) {
  const rows = [];
  const add = (name, value) => {
    if (value !== undefined && value !== null) {
      rows.push([name, typeof value === "object" ? JSON.stringify(value) : value]);
    }
  };
  add("time step, s", scene.time?.step);
  add("duration, s", scene.time?.duration);
  add("integrator", scene.time?.integrator);
  add("solver", scene.solver?.method);
  add("termination", scene.solver?.termination);
  add("linear solver", scene.solver?.linear);
  add("contact model", scene.contact?.model);
  add("contact distance, m", scene.contact?.distance);
  add("friction coefficient", scene.friction?.coefficient);
  add("friction method", scene.friction?.method);
  add("gravity, m/s2", about.gravity.map(shortNumber).join(", "));
  add("vertices", about.n_nodes);
  fillTable("scene", null, rows);
  const bodies = scene.bodies ?? [];
  fillTable("bodies", ["body", "law", "Young's modulus, Pa", "Poisson's ratio", "density, kg/m3"], [
    ...bodies.slice(0, 40).map((body) => [body.name ?? "", body.material?.law ?? body.material?.model ?? "", body.material?.young ?? "", body.material?.poisson ?? "", body.material?.density ?? ""]),
    ...(bodies.length > 40 ? [[`and ${bodies.length - 40} more`]] : []),
    ...(scene.obstacles ?? []).slice(0, 40).map((body) => [body.name ?? "", "obstacle"]),
    ...(scene.half_spaces ?? []).slice(0, 40).map((body) => [body.name ?? "", "half-space"]),
  ]);
}

function addPlots(histories, about) {
  for (const chart of chartsOf(histories, about.contact_distance)) {
    const box = made("div"), canvas = made("canvas"), legend = made("p");
    box.append(made("h3", chart.title), canvas, legend);
    element("plots").append(box);
    const plot = new Plot(canvas, legend, () => {});
    plot.show(chart);
    plot.draw(0);
  }
}

function addForces(rows) {
  const pairs = new Map();
  for (const row of rows) {
    const name = `${row.a}, ${row.b}`, pair = pairs.get(name) ?? {steps: 0, most: 0, friction: 0, least: Infinity};
    const size = (kind) => Math.hypot(...["x", "y", "z"].map((axis) => Number(row[`${kind}_${axis}`])));
    pair.steps++;
    pair.most = Math.max(pair.most, size("normal"));
    pair.friction = Math.max(pair.friction, size("friction"));
    pair.least = Math.min(pair.least, row.min_distance === "inf" ? Infinity : Number(row.min_distance));
    pair.last = size("normal");
    pairs.set(name, pair);
  }
  element("forces-section").hidden = pairs.size === 0;
  fillTable("forces", ["pair", "steps in contact", "largest normal force, N", "last normal force, N", "largest friction force, N", "smallest distance, m"],
            [...pairs].map(([name, p]) => [name, p.steps, p.most, p.last, p.friction, p.least]));
}

function addTiming(summary) {
  const parts = Object.entries(summary.timing ?? {}), total = parts.reduce((sum, [, seconds]) => sum + seconds, 0) || 1;
  fillTable("timing", null, parts.sort((a, b) => b[1] - a[1]).map(([name, seconds]) => {
    const cell = made("td"), bar = made("span", undefined, "bar");
    bar.style.width = `${(260 * seconds) / total}px`;
    cell.append(bar);
    return [name.replaceAll("_", " "), `${shortNumber(seconds)} s`, `${((100 * seconds) / total).toFixed(1)} %`, cell];
  }));
}

function addAudit(audit) {
  const text = audit.error ? `not done: ${audit.error}` : `${audit.frames} frames, ${audit.checkpoints} checkpoints and ${audit.steps} steps were verified exactly: ${audit.found === 0 ? "nothing is wrong" : `${audit.found} findings`}.`;
  element("audit").append(made("p", text), made("pre", audit.messages.join("\n")));
}

function addVerdict(summary, audit, log) {
  const ended = summary.finished ? `The run finished: ${summary.steps} steps, ${shortNumber(summary.time)} s simulated in ${shortNumber(summary.wall_s)} s, ${shortNumber(summary.newton_total / Math.max(1, summary.steps))} Newton iterations per step, at most ${summary.contacts_max} contacts.`
    : summary.failure ? `The run stopped after step ${summary.steps}: ${summary.failure}.` : "The run has not ended.";
  const short = summary.blocked_by ? ` A prescribed motion ends ${shortNumber(summary.motion_error)} m from its target, and did not reach it in ${summary.blocked_steps} steps: ${summary.blocked_by}.` : "";
  const clean = audit.error ? " It was not audited." : audit.found === 0 ? " The audit found nothing wrong." : ` The audit found ${audit.found} defects.`;
  element("verdict").textContent = ended + short + clean;
  element("verdict").classList.toggle("bad", !summary.finished || short !== "" || Boolean(audit.error) || audit.found > 0);
  const warnings = log.split("\n").filter((line) => /\b(warning|error)\b/i.test(line));
  element("warnings").append(warnings.length > 0 ? made("pre", warnings.slice(0, 200).join("\n")) : made("p", "none"));
}

async function start() {
  const about = JSON.parse(stored("about"));
  document.title = `${about.name} - Noli report`;
  element("name").textContent = about.name;
  const summary = JSON.parse((await readText("file-summary.json")) || "{}"), histories = await loadHistories(about);
  element("facts").textContent = `Noli ${about.version}, ${about.bodies.length} bodies and obstacles, ${about.n_nodes} vertices, ${summary.threads ?? "?"} threads, at most ${shortNumber(summary.peak_rss_mb ?? 0)} MB`;
  addVerdict(summary, about.audit, await readText("file-log.txt"));
  addScene(JSON.parse((await readText("file-scene.json")) || "{}"), about);
  addForces(histories["forces.csv"]?.rows ?? []);
  addTiming(summary);
  addAudit(about.audit);
  addPlots(histories, about);
  await addPictures(about, await loadMesh(about));
  document.documentElement.dataset.ready = "yes";
}

start().catch((error) => {
  element("verdict").textContent = error.message;
  element("verdict").classList.add("bad");
  throw error;
});
