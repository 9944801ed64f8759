// Pictures without WebGL: triangles, rods and particles by a depth buffer in double precision, lit as the renderer lights them
// but without shadows. Slow, for pictures that stand still.

class SoftwareRenderer {
  constructor(canvas) {
    this.canvas = canvas;
    [canvas.width, canvas.height] = [canvas.clientWidth, canvas.clientHeight];
    this.g = canvas.getContext("2d");
  }

  setMesh(mesh) {
    this.mesh = mesh;
  }

  setBox() {}

  setShape(x, value) {
    this.x = x;
    this.value = value;
  }

  draw(view, look) {
    const {width, height} = this.canvas, image = this.g.createImageData(width, height), n = width * height;
    const forward = normalized(view.target.map((t, k) => t - view.eye[k])), right = normalized(cross(forward, view.up));
    Object.assign(this, {view, width, height, image, forward, right, above: cross(right, forward), focal: height / (2 * Math.tan(0.5 * FIELD_OF_VIEW)), depth: new Float64Array(n).fill(Infinity)});
    const background = look.background.map((c) => 255 * c);
    for (let i = 0; i < n; i++) {
      image.data.set([...background, 255], 4 * i);
    }
    this.project();
    const see = (wanted) => {
      look.bodies.forEach((body, b) => wanted(body) && this.drawThin(body, b));
      for (let t = 0; t < this.mesh.triangles.length; t += 3) {
        const body = look.bodies[this.mesh.body[this.mesh.triangles[t]]];
        if (wanted(body)) {
          this.drawTriangle(body, [0, 1, 2].map((k) => this.mesh.triangles[t + k]));
        }
      }
    };
    see((body) => body.alpha >= 1);
    look.floors.forEach((floor) => this.drawFloor(floor, look.floor));
    see((body) => body.alpha > 0 && body.alpha < 1);
    this.g.putImageData(image, 0, 0);
  }

  // Places of vertices on the picture, and the inverse of their depth.
  project() {
    const {x, view} = this, n = x.length / 3;
    this.place = new Float64Array(3 * n);
    for (let i = 0; i < n; i++) {
      const d = [0, 1, 2].map((k) => x[3 * i + k] - view.eye[k]), z = dot(d, this.forward);
      this.place.set([this.width / 2 + (this.focal * dot(d, this.right)) / z, this.height / 2 - (this.focal * dot(d, this.above)) / z, 1 / z], 3 * i);
    }
  }

  put(px, py, depth, colour, alpha) {
    const i = py * this.width + px;
    if (depth >= this.depth[i]) {
      return;
    }
    if (alpha >= 1) {
      this.depth[i] = depth;
    }
    for (let k = 0; k < 3; k++) {
      this.image.data[4 * i + k] += alpha * (255 * colour[k] - this.image.data[4 * i + k]);
    }
  }

  colourAt(body, value) {
    if (!body.mapped) {
      return body.colour;
    }
    const at = Math.max(0, Math.min(SCALE.length - 1.001, value * (SCALE.length - 1))), k = Math.floor(at);
    return SCALE[k].map((c, i) => (c + (at - k) * (SCALE[k + 1][i] - c)) / 255);
  }

  light(normal, at) {
    const view = normalized(this.view.eye.map((e, k) => e - at[k])), n = dot(normal, view) < 0 ? normal.map((c) => -c) : normal;
    const side = normalized(cross(this.view.up, view)), light = normalized(view.map((c, k) => c + 0.9 * this.view.up[k] + 0.6 * side[k]));
    return 0.55 + 0.13 * dot(n, this.view.up) + 0.4 * Math.max(dot(n, light), 0);
  }

  drawTriangle(body, corner) {
    const {place, x} = this, [a, b, c] = corner.map((i) => [place[3 * i], place[3 * i + 1], place[3 * i + 2]]);
    const area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if (!(Math.abs(area) > 0) || Math.min(a[2], b[2], c[2]) <= 0) {
      return;
    }
    const [A, B, C] = corner.map((i) => [x[3 * i], x[3 * i + 1], x[3 * i + 2]]);
    const lit = this.light(normalized(cross(B.map((v, k) => v - A[k]), C.map((v, k) => v - A[k]))), A);
    const range = (k, size) => [Math.max(0, Math.ceil(Math.min(a[k], b[k], c[k]) - 0.5)), Math.min(size - 1, Math.floor(Math.max(a[k], b[k], c[k]) - 0.5))];
    const [left, right] = range(0, this.width), [top, bottom] = range(1, this.height);
    for (let py = top; py <= bottom; py++) {
      for (let px = left; px <= right; px++) {
        const p = [px + 0.5, py + 0.5];
        const v = ((p[0] - a[0]) * (c[1] - a[1]) - (p[1] - a[1]) * (c[0] - a[0])) / area, w = ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])) / area, u = 1 - v - w;
        if (u >= 0 && v >= 0 && w >= 0) {
          const depth = 1 / (u * a[2] + v * b[2] + w * c[2]);
          const value = this.value ? depth * (u * a[2] * this.value[corner[0]] + v * b[2] * this.value[corner[1]] + w * c[2] * this.value[corner[2]]) : 0;
          this.put(px, py, depth, this.colourAt(body, value).map((q) => q * lit), body.alpha);
        }
      }
    }
  }

  // Segments and points as rows of squares with the size of their radius.
  drawThin(body, b) {
    const {segments, points} = this.mesh, ends = [];
    for (let k = 0; k < segments.length; k += 2) {
      ends.push([segments[k], segments[k + 1]]);
    }
    points.forEach((i) => ends.push([i, i]));
    for (const [i, j] of ends.filter(([i]) => this.mesh.body[i] === b)) {
      const p = this.place.subarray(3 * i, 3 * i + 3), q = this.place.subarray(3 * j, 3 * j + 3), n = Math.min(2000, Math.ceil(Math.hypot(q[0] - p[0], q[1] - p[1])) + 1);
      for (let k = 0; k < n && p[2] > 0 && q[2] > 0; k++) {
        const share = n > 1 ? k / (n - 1) : 0, [px, py, inverse] = [0, 1, 2].map((c) => p[c] + share * (q[c] - p[c])), r = Math.max(0.5, this.focal * body.radius * inverse);
        const colour = this.colourAt(body, this.value ? this.value[i] : 0);
        for (let y = Math.max(0, Math.round(py - r)); y < Math.min(this.height, py + r); y++) {
          for (let x = Math.max(0, Math.round(px - r)); x < Math.min(this.width, px + r); x++) {
            this.put(x, y, 1 / inverse - body.radius, colour, body.alpha);
          }
        }
      }
    }
  }

  drawFloor(floor, colour) {
    const {view} = this, n = normalized(floor.normal), height = dot(n, view.eye.map((e, k) => e - floor.origin[k])), spacing = gridSpacing(view);
    const s = normalized(cross(n, Math.abs(n[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0])), r = cross(n, s);
    for (let i = 0; i < this.width * this.height; i++) {
      const px = i % this.width, py = (i / this.width) | 0, a = (px + 0.5 - this.width / 2) / this.focal, b = (this.height / 2 - py - 0.5) / this.focal;
      const ray = this.forward.map((c, k) => c + a * this.right[k] + b * this.above[k]), depth = -height / dot(n, ray);
      if (depth > 0) {
        const at = view.eye.map((e, k) => e + depth * ray[k]), away = Math.hypot(...at.map((c, k) => c - view.centre[k])) / (6 * view.size);
        const near = (c) => Math.abs(c / spacing - Math.round(c / spacing)) * spacing < (0.8 * depth) / this.focal;
        const line = near(dot(at, s)) || near(dot(at, r));
        const fade = Math.max(0, Math.min(1, 2 - 2 * away)), alpha = floor.empty ? (line ? 0.8 : 0) : height < 0 ? 0.15 : 1;
        this.put(px, py, depth, colour.map((c) => c * (line ? 0.8 : 1)), Math.min(0.999, alpha * fade));
      }
    }
  }
}

// The renderer that this browser has.
function rendererFor(canvas) {
  return document.createElement("canvas").getContext("webgl2") ? new Renderer(canvas) : new SoftwareRenderer(canvas);
}
