// The causes that held a step back: rows of diagnosis.csv as sentences, and where they are as
// marks: the primitives or the element, and a pin that can be seen from afar.

const DIAGNOSIS_COLOURS = {contact: [0.86, 0.15, 0.15], inversion: [0.75, 0.15, 0.75], motion: [0.95, 0.5, 0.05], closest: [0.88, 0.66, 0]};
// The steps that are listed as the hardest ones of a run.
const HARDEST = 8;

// Rows by step, in the order of the file.
function diagnosisOf(histories) {
  const steps = new Map();
  for (const row of histories["diagnosis.csv"]?.rows ?? []) {
    const step = Number(row.step), numbers = (text) => text.split(" ").filter((word) => word !== "").map(Number);
    const at = [row.x, row.y, row.z].map(Number);
    const found = {
      kind: row.kind, step, iterations: Number(row.iterations), alpha: Number(row.alpha), distance: row.distance === "inf" ? Infinity : Number(row.distance),
      names: [row.a, row.b], vertices: [numbers(row.vertices_a), numbers(row.vertices_b)], at: at.every(Number.isFinite) ? at : null,
    };
    steps.set(step, [...(steps.get(step) ?? []), found]);
  }
  return steps;
}

function primitiveText(name, vertices) {
  const word = ["", "vertex", "edge", "triangle", "tetrahedron"][vertices.length];
  return vertices.length > 0 ? `"${name}" (${word} ${vertices.join(" ")})` : `"${name}"`;
}

function pairText(found) {
  return [0, 1].filter((side) => found.names[side] !== "").map((side) => primitiveText(found.names[side], found.vertices[side])).join(" with ");
}

function diagnosisText(found) {
  const cut = `cut ${found.iterations} Newton step${found.iterations === 1 ? "" : "s"}, the shortest to ${shortNumber(100 * found.alpha)} %`;
  const texts = {
    contact: () => `${pairText(found) ? `Contact of ${pairText(found)}` : "Possible contact on the way"} ${cut}`,
    inversion: () => `An element${found.names[0] ? ` of ${pairText(found)}` : ""} that would invert ${cut}`,
    line_search: () => `The line search ${cut}: beyond, the potential rose`,
    motion: () => `The prescribed motion was stopped by ${pairText(found) || "an element that would invert"}; ${shortNumber(100 * found.alpha)} % of this step done`,
    closest: () => `Smallest gap, ${shortNumber(found.distance)} m: ${pairText(found)}`,
  };
  return (texts[found.kind] ?? (() => found.kind))();
}

// The steps with most Newton iterations, of those that something held back, and those that failed.
function hardestSteps(diagnosis, stepRows) {
  const iterations = (step) => Number(stepRows.get(step)?.newton ?? Infinity);
  return [...diagnosis.keys()].filter((step) => diagnosis.get(step).some((found) => found.kind !== "closest"))
    .sort((a, b) => iterations(b) - iterations(a) || a - b).slice(0, HARDEST);
}

// ---- where ----

// The vertices of the page by body and number; of elements inside a body it has none.
class VertexNumbers {
  constructor(about, arrays) {
    this.of = new Map();
    arrays.vertices.forEach((number, i) => this.of.set(`${about.bodies[arrays.body[i]].name} ${number}`, i));
  }

  places(found, side, x) {
    const known = found.vertices[side].map((number) => this.of.get(`${found.names[side]} ${number}`));
    return known.includes(undefined) ? null : known.map((i) => [x[3 * i], x[3 * i + 1], x[3 * i + 2]]);
  }
}

// Lines around the primitives, and how large they are.
function outline(found, numbers, x) {
  const lines = [];
  let size = 0;
  for (const side of [0, 1]) {
    const places = numbers.places(found, side, x) ?? [];
    for (let i = 0; i < places.length; i++) {
      for (let j = i + 1; j < places.length; j++) {
        lines.push([places[i], places[j]]);
        size = Math.max(size, Math.hypot(...places[i].map((c, k) => c - places[j][k])));
      }
    }
  }
  return {lines, size};
}

// A pin whose tip is at a place, from where the eye and the sky are.
function pinAt(at, view) {
  const aside = normalized(view.eye.map((c, k) => c - at[k])), from = normalized(aside.map((c, k) => 0.5 * c + view.up[k])), length = 0.05 * view.distance;
  return {start: at.map((c, k) => c + length * from[k]), vector: from.map((c) => -length * c)};
}
