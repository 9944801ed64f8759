// What a frame says about its vertices: stored fields in their units, and colours of bodies.

const BODY_COLOURS = [[0.36, 0.61, 0.84], [0.93, 0.58, 0.34], [0.44, 0.72, 0.48], [0.78, 0.55, 0.82], [0.86, 0.76, 0.38], [0.84, 0.47, 0.5], [0.4, 0.74, 0.74], [0.63, 0.6, 0.87]];
const OBSTACLE = [0.62, 0.64, 0.68];

// The upper end of the scale of field k: the median of the largest values of the groups of frames, so that one impact
// does not darken the rest of the run.
function usualTop(about, k) {
  const tops = about.groups.map((g) => g.scale[k]).filter((top) => top > 0).sort((a, b) => a - b);
  return tops.length > 0 ? tops[tops.length >> 1] : 0;
}

// The size of field k at each vertex, in its unit.
function magnitudes(about, data, k) {
  const field = about.fields[k], stored = data.values[k], n = about.n_vert, result = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    const one = (data.scale[k] * stored[i]) / 255;
    result[i] = field.components !== 1 ? Math.hypot(...component(data, k, i)) : field.root ? one * one : one;
  }
  return result;
}

// A hidden field of directions at each vertex: "rod_normal", the first axes of elliptic sections of rods; "away", where a
// vertex is drawn to, so that order is seen at contacts. null: the run has none.
function directionsOf(about, data, name) {
  const k = about.fields.findIndex((field) => field.name === name);
  return k < 0 ? null : Float32Array.from(data.values[k], (stored) => (data.scale[k] * (stored - 127)) / 127);
}

function component(data, k, i) {
  return [0, 1, 2].map((c) => (data.scale[k] * (data.values[k][3 * i + c] - 127)) / 127);
}
