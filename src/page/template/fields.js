// The values of a frame at its vertices: stored fields in their units, and colours of bodies.

// The colour of body b: those of bodies follow each other, the last one in the list is that of obstacles.
function colourOf(about, b) {
  const body = about.bodies[b], last = about.colours.length - 1;
  return about.colours[body.obstacle ? last : Math.max(0, body.of ?? b) % last];
}

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
