// A camera that looks at a target from around and above it, upright where gravity says what is up.

function upOf(about) {
  const g = about.gravity, size = Math.hypot(...g);
  return size > 0 ? normalized(g.map((c) => Math.round((-c / size) * 1e6) / 1e6)) : [0, 1, 0];
}

function frameOf(up) {
  const side = normalized(cross(up, Math.abs(up[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
  return {side, front: cross(side, up)};
}

// The view that shows a box, as far away as its size asks for.
function viewOf(low, high, up, aspect, around, above) {
  const size = Math.hypot(...high.map((h, k) => h - low[k])) || 1, centre = low.map((l, k) => 0.5 * (l + high[k]));
  return placed({size, centre, target: centre.slice(), distance: (1.75 * size) / Math.min(1, aspect), around, above, up});
}

// The same view with its eye.
function placed(view) {
  const {side, front} = frameOf(view.up), c = Math.cos(view.above), s = Math.sin(view.above);
  view.eye = view.target.map((t, k) => t + view.distance * (c * (Math.sin(view.around) * side[k] + Math.cos(view.around) * front[k]) + s * view.up[k]));
  return view;
}

// The box of some vertices; null where there are none.
function boxOf(x, wanted) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < x.length; i += 3) {
    for (let k = 0; k < 3 && wanted(i / 3); k++) {
      low[k] = Math.min(low[k], x[i + k]);
      high[k] = Math.max(high[k], x[i + k]);
    }
  }
  return high[0] >= low[0] ? {low, high} : null;
}

// The box that holds all frames.
function boxOfRun(about) {
  return {
    low: [0, 1, 2].map((k) => Math.min(...about.groups.map((g) => g.low[k]))),
    high: [0, 1, 2].map((k) => Math.max(...about.groups.map((g) => g.high[k]))),
  };
}
