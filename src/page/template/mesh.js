// The surface as it is drawn: a vertex is divided where faces meet at a sharp edge, so that round
// surfaces look round and boxes look like boxes.

const CREASE = Math.cos((35 * Math.PI) / 180);

// In double precision: single precision would lose gaps far from the origin.
function positionsOf(frame, about) {
  const n = about.n_vert, x = new Float64Array(3 * n);
  for (let axis = 0; axis < 3; axis++) {
    const low = frame.low[axis], step = (frame.high[axis] - low) / (256 * 65535), q = frame.q[axis];
    for (let i = 0; i < n; i++) {
      x[3 * i + axis] = low + step * q[i];
    }
  }
  return x;
}

function faceNormals(triangles, x) {
  const normals = new Float32Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
    const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
    normals[t] = uy * vz - uz * vy;
    normals[t + 1] = uz * vx - ux * vz;
    normals[t + 2] = ux * vy - uy * vx;
  }
  return normals;
}

class Mesh {
  constructor(about, arrays, x) {
    this.about = about;
    this.triangles = arrays.triangles;
    this.segments = arrays.segments;
    this.points = arrays.points;
    this.body = arrays.body;
    this.divide(x);
    this.findRanges();
  }

  // corner k of the triangles shows render vertex corner[k], which is vertex source[corner[k]]
  divide(x) {
    const normals = faceNormals(this.triangles, x), source = [], groups = new Map();
    this.corner = new Uint32Array(this.triangles.length);
    for (let k = 0; k < this.triangles.length; k++) {
      const t = k - (k % 3), length = Math.hypot(normals[t], normals[t + 1], normals[t + 2]) || 1;
      const n = [normals[t] / length, normals[t + 1] / length, normals[t + 2] / length];
      const vertex = this.triangles[k];
      const known = groups.get(vertex) ?? [];
      let found = known.find((g) => g.n[0] * n[0] + g.n[1] * n[1] + g.n[2] * n[2] > CREASE);
      if (!found) {
        found = {n, id: source.length};
        source.push(vertex);
        known.push(found);
        groups.set(vertex, known);
      }
      this.corner[k] = found.id;
    }
    this.source = Uint32Array.from(source);
  }

  // parts of the index arrays that belong to each body
  findRanges() {
    const range = (list, stride, vertexOf) => {
      const ranges = this.about.bodies.map(() => ({first: 0, count: 0}));
      for (let k = 0; k < list.length; k += stride) {
        const r = ranges[this.body[vertexOf(list[k])]];
        if (r.count === 0) {
          r.first = k;
        }
        r.count = k + stride - r.first;
      }
      return ranges;
    };
    this.triangleRange = range(this.corner, 3, (v) => this.source[v]);
    this.segmentRange = range(this.segments, 2, (v) => v);
    this.pointRange = range(this.points, 1, (v) => v);
  }

  // positions relative to an origin, and normals, of the render vertices
  shape(x, origin) {
    const faces = faceNormals(this.triangles, x), m = this.source.length;
    const position = new Float32Array(3 * m), normal = new Float32Array(3 * m);
    for (let k = 0; k < this.corner.length; k++) {
      const t = k - (k % 3), v = 3 * this.corner[k];
      normal[v] += faces[t];
      normal[v + 1] += faces[t + 1];
      normal[v + 2] += faces[t + 2];
    }
    for (let v = 0; v < m; v++) {
      const i = 3 * this.source[v];
      position[3 * v] = x[i] - origin[0];
      position[3 * v + 1] = x[i + 1] - origin[1];
      position[3 * v + 2] = x[i + 2] - origin[2];
    }
    return {position, normal};
  }

  // area of the surface around each vertex, m2
  areas(x) {
    const faces = faceNormals(this.triangles, x), area = new Float32Array(this.about.n_vert);
    for (let k = 0; k < this.triangles.length; k++) {
      const t = k - (k % 3);
      area[this.triangles[k]] += Math.hypot(faces[t], faces[t + 1], faces[t + 2]) / 6;
    }
    return area;
  }

  // The first visible triangle that a ray meets.
  pick(x, origin, direction, shown) {
    let best = Infinity, found = null;
    for (let t = 0; t < this.triangles.length; t += 3) {
      const body = this.body[this.triangles[t]];
      if (!shown(body)) {
        continue;
      }
      const [a, b, c] = [0, 1, 2].map((k) => 3 * this.triangles[t + k]);
      const e = [x[b] - x[a], x[b + 1] - x[a + 1], x[b + 2] - x[a + 2]];
      const f = [x[c] - x[a], x[c + 1] - x[a + 1], x[c + 2] - x[a + 2]];
      const p = cross(direction, f), determinant = dot(e, p);
      if (Math.abs(determinant) < 1e-30) {
        continue;
      }
      const s = [origin[0] - x[a], origin[1] - x[a + 1], origin[2] - x[a + 2]];
      const u = dot(s, p) / determinant, q = cross(s, e), v = dot(direction, q) / determinant;
      const distance = dot(f, q) / determinant;
      if (u >= 0 && v >= 0 && u + v <= 1 && distance > 0 && distance < best) {
        best = distance;
        const weights = [1 - u - v, u, v];
        const nearest = weights.indexOf(Math.max(...weights));
        found = {body, triangle: t / 3, vertex: this.triangles[t + nearest]};
      }
    }
    return found;
  }
}

function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function dot(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function normalized(a) {
  const length = Math.hypot(...a) || 1;
  return a.map((c) => c / length);
}
