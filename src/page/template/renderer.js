// WebGL 2: bodies, floors, edges and arrows into a multisampled target, then one pass that darkens
// what little light reaches (ambient occlusion), so that contact can be seen.

// Surfaces in contact are nearer to each other than the corners of triangles are placed on the grid of pixels: vertices
// move away from what is near, by a part of a pixel. Faces that are seen nearly from the side lie back, by a share of their
// depth across a pixel: their place on the grid says little about their depth.
const APART = 0.25, STEEP = 0.5, FIELD_OF_VIEW = 0.6;
const VERTEX = `#version 300 es
in vec3 position; in vec3 normal; in float value; in vec3 away;
uniform mat4 camera; uniform float pointSize; uniform float ballSize; uniform float apart;
out vec3 world; out vec3 n; out float v; out vec3 corner;
void main() {
  world = position; n = normal; v = value;
  world += apart * (camera * vec4(world, 1.0)).w * away;
  corner = vec3(equal(ivec3(gl_VertexID % 3), ivec3(0, 1, 2)));
  gl_Position = camera * vec4(world, 1.0);
  gl_PointSize = max(pointSize, ballSize / gl_Position.w);
}`;

// One of many tubes around segments; spheres around points are points on the screen.
const TUBE_VERTEX = `#version 300 es
in vec3 shape; in vec3 start; in vec3 end; in vec2 values; in vec3 startAxis; in vec3 endAxis;
uniform mat4 camera; uniform float width; uniform float second;
out vec3 world; out vec3 n; out float v; out vec3 corner;
void main() {
  corner = vec3(1.0);
  float z = clamp(shape.z, 0.0, 1.0);
  vec3 d = normalize(end - start), s = normalize(abs(d.x) < 0.8 ? cross(d, vec3(1, 0, 0)) : cross(d, vec3(0, 1, 0)));
  // the first axis of an elliptic section
  vec3 axis = mix(startAxis, endAxis, z);
  axis -= d * dot(d, axis);
  if (length(axis) > 0.1) s = normalize(axis);
  vec3 r = cross(d, s), tip = d * (abs(shape.z - 0.5) > 0.6 ? sign(shape.z - 0.5) : 0.0);
  n = s * shape.x * second + r * shape.y * width + tip * width;
  v = mix(values.x, values.y, z);
  world = mix(start, end, z) + s * shape.x * width + r * shape.y * second + tip * min(width, second);
  gl_Position = camera * vec4(world, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec3 world; in vec3 n; in float v; in vec3 corner;
uniform bool edges;
uniform vec4 colour; uniform vec3 eye; uniform vec3 up; uniform vec4 clip;
uniform int mode; // 0: lit, 1: plain, 2: floor, 3: a ball in the square of a point
uniform bool mapped; uniform sampler2D map; uniform float spacing; uniform vec4 extent; uniform vec3 shift;
out vec4 result;
void main() {
  if (dot(clip.xyz, world) > clip.w) discard;
  vec4 c = colour;
  if (mode == 2) {
    vec3 axis = abs(up.y) > 0.5 ? vec3(0.0, 1.0, 0.0) : abs(up.x) > 0.5 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 0.0, 1.0);
    vec3 q = world + shift;
    vec2 p = (axis.y > 0.5 ? q.xz : axis.x > 0.5 ? q.yz : q.xy) / spacing;
    vec2 g = abs(fract(p - 0.5) - 0.5) / fwidth(p);
    float line = 1.0 - clamp(min(g.x, g.y), 0.0, 1.0);
    float fade = 1.0 - smoothstep(0.5, 1.0, distance(world, extent.xyz) / extent.w);
    result = vec4(mix(c.rgb, c.rgb * 0.8, line), (c.a > 0.0 ? c.a : 0.8 * line) * fade); // without a floor only lines
    return;
  }
  if (mapped) c.rgb = texture(map, vec2(v, 0.5)).rgb;
  float edge = 0.0;
  if (edges) {
    vec3 far = corner / fwidth(corner);
    edge = 0.8 * (1.0 - smoothstep(0.3, 1.0, min(far.x, min(far.y, far.z))));
    c.a = mix(c.a, max(c.a, 0.5), edge);
  }
  if (mode == 1) { result = c; return; }
  vec3 ball = vec3(0.0);
  if (mode == 3) {
    vec2 p = 2.0 * gl_PointCoord - 1.0;
    if (dot(p, p) > 1.0) discard;
    vec3 ahead = normalize(eye - world), right = normalize(cross(up, ahead) + 1e-6);
    ball = right * p.x - cross(ahead, right) * p.y + ahead * sqrt(1.0 - dot(p, p));
  }
  vec3 normal = mode == 3 ? ball : length(n) > 0.0 ? normalize(n) : normalize(cross(dFdx(world), dFdy(world)));
  vec3 view = normalize(eye - world);
  bool back = dot(normal, view) < 0.0;
  if (back) normal = -normal;
  if (!gl_FrontFacing && clip.w < 1e29) { result = vec4(c.rgb * 0.55, c.a); return; }
  vec3 side = normalize(cross(up, view) + 1e-4);
  vec3 light = normalize(view + 0.9 * up + 0.6 * side);
  float lit = 0.55 + 0.13 * dot(normal, up) + 0.4 * max(dot(normal, light), 0.0);
  float shine = 0.12 * pow(max(dot(normal, normalize(light + view)), 0.0), 30.0);
  result = vec4(mix(c.rgb * lit + shine, vec3(0.1, 0.1, 0.12), edge), c.a);
}`;

const ARROW_VERTEX = `#version 300 es
in vec3 shape; in vec3 start; in vec3 arrow;
uniform mat4 camera; uniform float width;
out vec3 world; out vec3 n; out float v; out vec3 corner;
void main() {
  corner = vec3(1.0);
  float length_ = length(arrow);
  vec3 d = arrow / max(length_, 1e-30), s = normalize(abs(d.x) < 0.8 ? cross(d, vec3(1, 0, 0)) : cross(d, vec3(0, 1, 0)));
  vec3 r = (s * shape.x + cross(d, s) * shape.y);
  float head = min(4.0 * width, 0.5 * length_);
  float along = shape.z < 0.5 ? 0.0 : shape.z < 1.5 ? length_ - head : length_;
  world = start + r * width + d * along;
  n = r; v = 0.0;
  gl_Position = camera * vec4(world, 1.0);
}`;

const SCREEN = `#version 300 es
out vec2 at;
void main() { at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0; gl_Position = vec4(at * 2.0 - 1.0, 0, 1); }`;

const OCCLUSION = `#version 300 es
precision highp float;
in vec2 at; uniform sampler2D depth; uniform mat4 inverse; uniform mat4 camera; uniform float radius;
out vec4 result;
vec3 place(vec2 p) { vec4 q = inverse * vec4(vec3(p, texture(depth, p).r) * 2.0 - 1.0, 1.0); return q.xyz / q.w; }
// the difference to the neighbour on the same surface
vec3 across(vec3 p, vec2 step) {
  vec3 a = place(at + step) - p, b = p - place(at - step);
  return dot(a, a) < dot(b, b) ? a : b;
}
void main() {
  if (texture(depth, at).r == 1.0) { result = vec4(1.0); return; }
  vec2 pixel = 1.0 / vec2(textureSize(depth, 0));
  vec3 p = place(at), n = normalize(cross(across(p, vec2(pixel.x, 0)), across(p, vec2(0, pixel.y))));
  float turn = 6.2832 * fract(52.9829 * fract(dot(gl_FragCoord.xy, vec2(0.0671, 0.00584)))), hidden = 0.0;
  for (int k = 0; k < 20; k++) {
    float z = (float(k) + 0.5) / 20.0, a = float(k) * 2.39996 + turn, r = sqrt(1.0 - z * z);
    vec3 d = vec3(r * cos(a), r * sin(a), z), t = normalize(abs(n.x) < 0.8 ? cross(n, vec3(1, 0, 0)) : cross(n, vec3(0, 1, 0)));
    vec3 s = p + n * radius * 0.03 + (t * d.x + cross(n, t) * d.y + n * d.z) * radius * mix(0.15, 1.0, fract(float(k) * 0.618));
    vec4 q = camera * vec4(s, 1.0); vec3 c = q.xyz / q.w * 0.5 + 0.5;
    vec3 found = place(c.xy);
    vec4 f = camera * vec4(found, 1.0);
    if (f.w < q.w && q.w - f.w < 2.0 * radius) hidden += 1.0;
  }
  result = vec4(1.0 - 0.75 * hidden / 20.0);
}`;

const COMPOSE = `#version 300 es
precision highp float;
in vec2 at; uniform sampler2D image; uniform sampler2D shade; out vec4 result;
void main() {
  float s = 0.0; vec2 pixel = 1.0 / vec2(textureSize(shade, 0));
  for (int i = -2; i < 2; i++) for (int j = -2; j < 2; j++) s += texture(shade, at + (vec2(i, j) + 0.5) * pixel).r;
  result = vec4(texture(image, at).rgb * s / 16.0, 1.0);
}`;

// Colours of a scale that reads the same in grey and to the colour-blind: viridis without its darkest end, which would hide
// shapes.
const SCALE = [[66, 78, 165], [52, 104, 172], [40, 130, 165], [31, 158, 140], [80, 190, 110], [150, 215, 60], [253, 231, 37]];

function scaleCss(reversed = false) {
  return `linear-gradient(${reversed ? 270 : 90}deg, ${SCALE.map((c) => `rgb(${c})`).join(", ")})`;
}

// ---- 4 x 4 matrices by columns ----

function multiply4(a, b) {
  const c = new Float32Array(16);
  for (let i = 0; i < 4; i++) {
    for (let j = 0; j < 4; j++) {
      for (let k = 0; k < 4; k++) {
        c[4 * j + i] += a[4 * k + i] * b[4 * j + k];
      }
    }
  }
  return c;
}

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2), d = near - far;
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / d, -1, 0, 0, (2 * far * near) / d, 0];
}

function lookAt(eye, target, up) {
  const z = normalized(eye.map((c, k) => c - target[k])), x = normalized(cross(up, z)), y = cross(z, x);
  return [x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1];
}

function invert4(m) {
  const a = Array.from({length: 4}, (_, i) => [m[i], m[4 + i], m[8 + i], m[12 + i], ...[0, 1, 2, 3].map((k) => (k === i ? 1 : 0))]);
  for (let c = 0; c < 4; c++) {
    const pivot = a.slice(c).reduce((best, row, k) => (Math.abs(row[c]) > Math.abs(a[best][c]) ? c + k : best), c);
    [a[c], a[pivot]] = [a[pivot], a[c]];
    a[c] = a[c].map((v) => v / a[c][c] || 0).map((v, k) => (k < c ? 0 : v));
    const scaled = a[c];
    for (let r = 0; r < 4; r++) {
      if (r !== c) {
        const factor = a[r][c];
        a[r] = a[r].map((v, k) => v - factor * scaled[k]);
      }
    }
  }
  return Float32Array.from({length: 16}, (_, k) => a[k % 4][4 + (k >> 2)]);
}

// Metres between lines of the grid.
function gridSpacing(view) {
  return 10 ** Math.round(Math.log10(view.size / 4));
}

// The grid lies on the half-spaces, or without any on the bottom of the box of the run.
function floorsOf(about, box, up) {
  // a little below, so that what lies there covers it
  const below = 0.01 * Math.hypot(...box.high.map((h, k) => h - box.low[k]));
  const floor = {origin: box.low.map((low, k) => (up[k] < 0 ? box.high[k] : low) - below * up[k]), normal: up, empty: true};
  return about.floors.length > 0 ? about.floors : [floor];
}

// ---- what tells sizes and directions: the axes, the spacing of the grid, and arrows of a stated size ----

// Draws them at the lower right corner of a picture. `arrows`: [{label, colour, metres}].
function drawScale(g, width, height, view, ink, arrows) {
  const forward = normalized(view.target.map((t, k) => t - view.eye[k])), right = normalized(cross(forward, view.up)), above = cross(right, forward);
  const line = (from, to, colour) => {
    g.strokeStyle = g.fillStyle = colour;
    g.lineWidth = 2;
    g.beginPath();
    g.moveTo(...from);
    g.lineTo(...to);
    g.stroke();
  };
  g.font = "12px system-ui, sans-serif";
  g.textAlign = "center";
  const centre = [width - 44, height - 48], names = ["x", "y", "z"], colours = ["#d33", "#2a2", "#46f"];
  [0, 1, 2].sort((a, b) => forward[b] - forward[a]).forEach((k) => {
    const tip = [28 * right[k], -28 * above[k]];
    line(centre, [centre[0] + tip[0], centre[1] + tip[1]], colours[k]);
    g.fillText(names[k], centre[0] + 1.35 * tip[0], centre[1] + 1.35 * tip[1] + 4);
  });
  g.textAlign = "right";
  g.fillStyle = ink;
  g.fillText(`grid ${shortNumber(gridSpacing(view))} m`, width - 10, height - 6);
  arrows.forEach(({label, colour, metres}, k) => {
    const pixels = (metres * height) / (2 * Math.tan(0.5 * FIELD_OF_VIEW) * view.distance), y = height - 98 - 34 * k;
    line([width - 12 - pixels, y], [width - 12, y], colour);
    g.beginPath();
    g.moveTo(width - 10, y);
    g.lineTo(width - 19, y - 5);
    g.lineTo(width - 19, y + 5);
    g.fill();
    g.fillStyle = ink;
    g.fillText(label, width - 10, y - 9);
  });
}

// ---- the renderer ----

class Renderer {
  constructor(canvas) {
    this.canvas = canvas;
    const gl = (this.gl = canvas.getContext("webgl2", {antialias: false, preserveDrawingBuffer: true}));
    if (!gl) {
      throw new Error("This browser has no WebGL 2.");
    }
    this.body = this.program(VERTEX, FRAGMENT, ["position", "normal", "value", "away"]);
    this.arrow = this.program(ARROW_VERTEX, FRAGMENT, ["shape", "start", "arrow"]);
    this.tube = this.program(TUBE_VERTEX, FRAGMENT, ["shape", "start", "end", "values", "startAxis", "endAxis"]);
    this.occlusion = this.program(SCREEN, OCCLUSION, []);
    this.compose = this.program(SCREEN, COMPOSE, []);
    this.buffers = {};
    this.map = this.texture(SCALE.length, 1, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, gl.LINEAR,
                            new Uint8Array(SCALE.flatMap((c) => [...c, 255])));
    this.empty = gl.createVertexArray();
    this.makeArrowShape();
    this.makeTubeShape();
  }

  program(vertex, fragment, attributes) {
    const gl = this.gl, program = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) {
        throw new Error(gl.getShaderInfoLog(shader));
      }
      gl.attachShader(program, shader);
    }
    attributes.forEach((name, k) => gl.bindAttribLocation(program, k, name));
    gl.linkProgram(program);
    const at = new Proxy({}, {get: (known, name) => (known[name] ??= gl.getUniformLocation(program, name))});
    return {program, at};
  }

  texture(width, height, internal, format, type, filter, data = null) {
    const gl = this.gl, texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, internal, width, height, 0, format, type, data);
    for (const [name, value] of [["MIN_FILTER", filter], ["MAG_FILTER", filter], ["WRAP_S", gl.CLAMP_TO_EDGE], ["WRAP_T", gl.CLAMP_TO_EDGE]]) {
      gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${name}`], value);
    }
    return texture;
  }

  upload(name, data, target = this.gl.ARRAY_BUFFER) {
    const gl = this.gl;
    this.buffers[name] ??= gl.createBuffer();
    gl.bindBuffer(target, this.buffers[name]);
    gl.bufferData(target, data, gl.DYNAMIC_DRAW);
  }

  makeArrowShape() {
    const shape = [], sides = 8;
    const ring = (radius, z) => Array.from({length: sides + 1}, (_, k) => [radius * Math.cos((2 * Math.PI * k) / sides), radius * Math.sin((2 * Math.PI * k) / sides), z]);
    const strip = (a, b) => {
      for (let k = 0; k < sides; k++) {
        shape.push(...a[k], ...a[k + 1], ...b[k], ...b[k], ...a[k + 1], ...b[k + 1]);
      }
    };
    strip(ring(0.45, 0), ring(0.45, 1));
    strip(ring(1.3, 1), ring(0, 2));
    this.arrowCount = shape.length / 3;
    this.upload("arrowShape", new Float32Array(shape));
  }

  // Around a segment from z = 0 to 1, with round ends: x, y across it, z beyond it for the tips.
  makeTubeShape() {
    const shape = [], sides = 10;
    const ring = (radius, z) => Array.from({length: sides + 1}, (_, k) => [radius * Math.cos((2 * Math.PI * k) / sides), radius * Math.sin((2 * Math.PI * k) / sides), z]);
    const rings = [ring(0, -1), ring(1, 0), ring(1, 1), ring(0, 2)];
    for (let r = 0; r < 3; r++) {
      for (let k = 0; k < sides; k++) {
        const [a, b] = [rings[r], rings[r + 1]];
        shape.push(...a[k], ...a[k + 1], ...b[k], ...b[k], ...a[k + 1], ...b[k + 1]);
      }
    }
    this.tubeCount = shape.length / 3;
    this.upload("tubeShape", new Float32Array(shape));
  }

  // Targets of the size of the canvas.
  resize() {
    const gl = this.gl, ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio)), height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (this.targets && this.canvas.width === width && this.canvas.height === height) {
      return;
    }
    this.canvas.width = width;
    this.canvas.height = height;
    const old = this.targets;
    if (old) {
      [old.image, old.depth, old.shade].forEach((t) => gl.deleteTexture(t));
      [old.colours, old.depths].forEach((b) => gl.deleteRenderbuffer(b));
      [old.many, old.one, old.dark].forEach((f) => gl.deleteFramebuffer(f));
    }
    const samples = Math.min(4, gl.getParameter(gl.MAX_SAMPLES));
    const buffer = (format) => {
      const made = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, made);
      gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, width, height);
      return made;
    };
    const t = (this.targets = {
      width, height, colours: buffer(gl.RGBA8), depths: buffer(gl.DEPTH_COMPONENT24),
      image: this.texture(width, height, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, gl.NEAREST),
      depth: this.texture(width, height, gl.DEPTH_COMPONENT24, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, gl.NEAREST),
      shade: this.texture(width, height, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, gl.NEAREST),
      many: gl.createFramebuffer(), one: gl.createFramebuffer(), dark: gl.createFramebuffer(),
    });
    gl.bindFramebuffer(gl.FRAMEBUFFER, t.many);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, t.colours);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, t.depths);
    gl.bindFramebuffer(gl.FRAMEBUFFER, t.one);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, t.image, 0);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, t.depth, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, t.dark);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, t.shade, 0);
  }

  // The box of all that will be drawn but floors. Its centre is the origin of what is drawn, which keeps digits.
  setBox({low, high}) {
    this.extent = {centre: low.map((l, k) => 0.5 * (l + high[k])), radius: 0.5 * Math.hypot(...high.map((h, k) => h - low[k]))};
    this.origin = this.extent.centre;
  }

  // Arrays of the surface that stay the same.
  setMesh(mesh) {
    this.mesh = mesh;
    this.upload("corner", mesh.corner, this.gl.ELEMENT_ARRAY_BUFFER);
    this.upload("segments", Uint32Array.from(mesh.segments), this.gl.ELEMENT_ARRAY_BUFFER);
    this.upload("points", Uint32Array.from(mesh.points), this.gl.ELEMENT_ARRAY_BUFFER);
  }

  // x: (n x 3) of all vertices, value: (n) in 0..1, or null; away and axis (the first one of elliptic sections): (n x 3), or null.
  setShape(x, value, away = null, axis = null) {
    const {position, normal} = this.mesh.shape(x, this.origin), source = this.mesh.source;
    const shown = value ? Float32Array.from(source, (i) => value[i]) : new Float32Array(source.length);
    const pushed = new Float32Array(3 * source.length);
    for (let k = 0; away && k < pushed.length; k++) {
      pushed[k] = away[3 * source[(k / 3) | 0] + (k % 3)];
    }
    this.surface = {position: [position, 3], normal: [normal, 3], value: [shown, 1], away: [pushed, 3]};
    Object.entries(this.surface).forEach(([name, [data]]) => this.upload(name, data));
    this.cornersAreOld = true;
    const local = Float32Array.from(x, (c, k) => c - this.origin[k % 3]);
    this.upload("vertices", local);
    this.upload("values", value ?? new Float32Array(x.length / 3));
    const segments = this.mesh.segments, end = (from, k) => Float32Array.from({length: 1.5 * segments.length}, (_, i) => from[3 * segments[2 * ((i / 3) | 0) + k] + (i % 3)]);
    this.upload("segmentStart", end(local, 0));
    this.upload("segmentEnd", end(local, 1));
    this.elliptic = axis !== null;
    if (axis) {
      this.upload("segmentStartAxis", end(axis, 0));
      this.upload("segmentEndAxis", end(axis, 1));
    }
    this.upload("segmentValues", value ? Float32Array.from(segments, (i) => value[i]) : new Float32Array(segments.length));
  }

  // Edges are drawn with the faces, which must not share corners then.
  divideCorners() {
    if (!this.cornersAreOld) {
      return;
    }
    this.cornersAreOld = false;
    const corner = this.mesh.corner;
    Object.entries(this.surface).forEach(([name, [data, size]]) => {
      const divided = new Float32Array(size * corner.length);
      for (let k = 0; k < corner.length; k++) {
        for (let c = 0; c < size; c++) {
          divided[size * k + c] = data[size * corner[k] + c];
        }
      }
      this.upload(`corner-${name}`, divided);
    });
  }

  relative(places) {
    return Float32Array.from(places, (c, k) => c - this.origin[k % 3]);
  }

  setArrows(name, start, vector) {
    this.upload(`${name}Start`, this.relative(start));
    this.upload(`${name}Vector`, vector);
    this.arrows ??= {};
    this.arrows[name] = start.length / 3;
  }

  // Lines that shine through: pairs of places, and a colour for each.
  setMarks(places, colours) {
    this.upload("markStart", this.relative(places.filter((_, k) => k % 2 === 0).flat()));
    this.upload("markEnd", this.relative(places.filter((_, k) => k % 2 === 1).flat()));
    this.upload("markValues", new Float32Array(2 * colours.length));
    this.marks = colours;
  }

  attribute(index, name, size, divisor = 0, first = 0) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, size, gl.FLOAT, false, 0, 4 * size * first);
    gl.vertexAttribDivisor(index, divisor);
  }

  // `centre`: of what is drawn, in the coordinates of the view.
  cameraOf(view, centre) {
    const aspect = this.canvas.width / this.canvas.height;
    // as near as the bodies of the run can be: depths tell thin gaps apart only where the near plane is far from the eye
    const {radius} = this.extent, away = Math.hypot(...view.eye.map((e, k) => e - centre[k])) - radius;
    return multiply4(perspective(FIELD_OF_VIEW, aspect, Math.max(view.size * 2e-3, 0.5 * away), view.size * 100 + view.distance * 4), lookAt(view.eye, view.target, view.up));
  }

  // The same view and planes relative to the origin.
  local(view, look) {
    const shifted = (x) => x.map((c, k) => c - this.origin[k]), [a, b, c, at] = look.clip;
    return [{...view, eye: shifted(view.eye), target: shifted(view.target), centre: shifted(view.centre)},
            {...look, clip: [a, b, c, at - dot([a, b, c], this.origin)], floors: look.floors.map((floor) => ({...floor, origin: shifted(floor.origin)}))}];
  }

  draw(wantedView, wantedLook) {
    this.resize();
    const [view, look] = this.local(wantedView, wantedLook);
    const gl = this.gl, t = this.targets, camera = this.cameraOf(view, [0, 0, 0]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, t.many);
    gl.viewport(0, 0, t.width, t.height);
    gl.clearColor(...look.background, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.bindVertexArray(null);
    this.begin(this.body, camera, view, look);
    this.drawBodies(look, (body) => body.alpha >= 1 && !body.over);
    this.drawTubes(camera, view, look, (body) => body.alpha >= 1);
    this.drawArrows(camera, view, look, 1);
    this.begin(this.body, camera, view, look);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    this.drawFloors(view, look);
    gl.depthMask(false);
    this.drawBodies(look, (body) => body.alpha < 1 && body.alpha > 0 && !body.over);
    this.drawTubes(camera, view, look, (body) => body.alpha < 1 && body.alpha > 0);

    // marks, and forces inside bodies, shine through
    gl.disable(gl.DEPTH_TEST);
    this.begin(this.body, camera, view, look);
    this.drawBodies(look, (body) => body.over && body.alpha > 0);
    this.drawArrows(camera, view, look, 0.35);
    this.drawMarks(camera, view, look);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    this.finish(camera, view);
  }

  begin(program, camera, view, look) {
    const gl = this.gl, at = program.at;
    gl.useProgram(program.program);
    gl.uniformMatrix4fv(at.camera, false, camera);
    gl.uniform3fv(at.eye, view.eye);
    gl.uniform3fv(at.up, view.up);
    gl.uniform4fv(at.clip, look.clip);
    gl.uniform1i(at.mode, 0);
    gl.uniform1i(at.mapped, 0);
    gl.uniform1i(at.map, 0);
    gl.uniform1i(at.edges, 0);
    gl.uniform1f(at.apart, (APART * 2 * Math.tan(0.5 * FIELD_OF_VIEW)) / this.canvas.height);
    gl.uniform1f(at.ballSize, 0);
    gl.uniform1f(at.pointSize, 5 * (window.devicePixelRatio || 1));
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.map);
  }

  drawBodies(look, wanted) {
    const gl = this.gl, at = this.body.at, mesh = this.mesh;
    if (look.edges) {
      this.divideCorners();
    }
    const elements = (list, range, mode) => {
      if (range.count > 0) {
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers[list]);
        gl.drawElements(mode, range.count, gl.UNSIGNED_INT, 4 * range.first);
      }
    };
    look.bodies.forEach((body, b) => {
      if (!wanted(body)) {
        return;
      }
      // faces, with edges
      const source = look.edges ? "corner-" : "", range = mesh.triangleRange[b];
      this.attribute(0, `${source}position`, 3);
      this.attribute(1, `${source}normal`, 3);
      this.attribute(2, `${source}value`, 1);
      this.attribute(3, `${source}away`, 3);
      gl.uniform1i(at.mapped, body.mapped ? 1 : 0);
      gl.uniform4fv(at.colour, [...body.colour, body.alpha]);
      gl.uniform1i(at.mode, 0);
      gl.uniform1i(at.edges, look.edges ? 1 : 0);
      gl.enable(gl.POLYGON_OFFSET_FILL);
      gl.polygonOffset(STEEP, 0);
      if (look.edges && range.count > 0) {
        gl.drawArrays(gl.TRIANGLES, range.first, range.count);
      } else {
        elements("corner", range, gl.TRIANGLES);
      }
      gl.disable(gl.POLYGON_OFFSET_FILL);
      gl.uniform1i(at.edges, 0);
      gl.disableVertexAttribArray(3);
      gl.vertexAttrib3f(3, 0, 0, 0);

      // rods and particles
      gl.uniform1f(at.ballSize, 0);
      this.attribute(0, "vertices", 3);
      this.attribute(2, "values", 1);
      gl.disableVertexAttribArray(1);
      gl.vertexAttrib3f(1, 0, 0, 0);
      gl.uniform1i(at.mode, 1);
      gl.uniform1i(at.mapped, body.mapped ? 1 : 0);
      gl.uniform4fv(at.colour, [...body.colour, body.alpha]);
      elements("segments", mesh.segmentRange[b], gl.LINES);
      if (body.radius > 0) {
        gl.uniform1i(at.mode, 3);
        gl.uniform1f(at.ballSize, (body.radius * this.canvas.height) / Math.tan(0.5 * FIELD_OF_VIEW));
      }
      elements("points", mesh.pointRange[b], gl.POINTS);
    });
  }

  // Rods with their radius, over the lines that show them from afar.
  drawTubes(camera, view, look, wanted) {
    const gl = this.gl, at = this.tube.at;
    look.bodies.forEach((body, b) => {
      const range = this.mesh.segmentRange[b];
      if (!(body.radius > 0) || range.count === 0 || !wanted(body)) {
        return;
      }
      this.begin(this.tube, camera, view, look);
      gl.uniform1i(at.mapped, body.mapped ? 1 : 0);
      gl.uniform4fv(at.colour, [...body.colour, body.alpha]);
      gl.uniform1f(at.width, body.radius);
      gl.uniform1f(at.second, (this.elliptic && body.second) || body.radius);
      this.attribute(0, "tubeShape", 3);
      ["segmentStart", "segmentEnd"].forEach((name, k) => this.attribute(1 + k, name, 3, 1, range.first / 2));
      this.attribute(3, "segmentValues", 2, 1, range.first / 2);
      if (this.elliptic) {
        ["segmentStartAxis", "segmentEndAxis"].forEach((name, k) => this.attribute(4 + k, name, 3, 1, range.first / 2));
      }
      gl.drawArraysInstanced(gl.TRIANGLES, 0, this.tubeCount, range.count / 2);
      [0, 1, 2, 3, 4, 5].forEach((k) => gl.vertexAttribDivisor(k, 0));
      [3, 4, 5].forEach((k) => gl.disableVertexAttribArray(k));
    });
  }

  drawMarks(camera, view, look) {
    const gl = this.gl;
    (this.marks ?? []).forEach((colour, k) => {
      this.begin(this.tube, camera, view, {clip: [0, 0, 0, 1e30]});
      gl.uniform1i(this.tube.at.mode, 1);
      gl.uniform4fv(this.tube.at.colour, [...colour, 1]);
      gl.uniform1f(this.tube.at.width, 1.2e-3 * view.distance);
      gl.uniform1f(this.tube.at.second, 1.2e-3 * view.distance);
      this.attribute(0, "tubeShape", 3);
      ["markStart", "markEnd"].forEach((name, i) => this.attribute(1 + i, name, 3, 1, k));
      this.attribute(3, "markValues", 2, 1, k);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, this.tubeCount, 1);
      [0, 1, 2, 3].forEach((i) => gl.vertexAttribDivisor(i, 0));
      gl.disableVertexAttribArray(3);
    });
  }

  drawFloors(view, look) {
    const gl = this.gl, at = this.body.at;
    gl.uniform1i(at.mode, 2);
    gl.uniform1i(at.mapped, 0);
    gl.uniform4fv(at.clip, [0, 0, 0, 1e30]);
    for (const floor of look.floors) {
      const n = normalized(floor.normal), size = 6 * view.size;
      const height = dot(n, view.centre.map((c, k) => c - floor.origin[k]));
      const centre = view.centre.map((c, k) => c - height * n[k]);
      const s = normalized(cross(n, Math.abs(n[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0])), r = cross(n, s);
      const corners = [[-1, -1], [1, -1], [-1, 1], [1, 1]].flatMap(([a, b]) => centre.map((c, k) => c + size * (a * s[k] + b * r[k])));
      this.upload("floor", new Float32Array(corners));
      this.attribute(0, "floor", 3);
      gl.disableVertexAttribArray(1);
      gl.disableVertexAttribArray(2);
      gl.uniform3fv(at.up, n);
      const spacing = gridSpacing(view);
      gl.uniform1f(at.spacing, spacing);
      gl.uniform3fv(at.shift, this.origin.map((c) => c % spacing));
      gl.uniform4fv(at.extent, [...centre, size]);
      gl.uniform4fv(at.colour, [...look.floor, floor.empty ? 0 : dot(n, view.eye) < dot(n, floor.origin) ? 0.15 : 1]);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
    gl.uniform3fv(at.up, view.up);
    gl.uniform4fv(at.clip, look.clip);
  }

  drawArrows(camera, view, look, alpha) {
    const gl = this.gl;
    for (const {name, colour, pin} of look.arrows) {
      // pins are drawn once, over everything
      if (!this.arrows?.[name] || (pin && alpha === 1)) {
        continue;
      }
      this.begin(this.arrow, camera, view, look);
      gl.uniform4fv(this.arrow.at.colour, [...colour, pin ? 1 : alpha]);
      gl.uniform1i(this.arrow.at.mode, pin ? 1 : 0);
      gl.uniform1f(this.arrow.at.width, pin ? view.distance * 4e-3 : view.size * 3e-3);
      this.attribute(0, "arrowShape", 3);
      this.attribute(1, `${name}Start`, 3, 1);
      this.attribute(2, `${name}Vector`, 3, 1);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, this.arrowCount, this.arrows[name]);
      [0, 1, 2].forEach((k) => gl.vertexAttribDivisor(k, 0));
    }
  }

  finish(camera, view) {
    const gl = this.gl, t = this.targets;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, t.many);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, t.one);
    gl.blitFramebuffer(0, 0, t.width, t.height, 0, 0, t.width, t.height, gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT, gl.NEAREST);
    gl.disable(gl.DEPTH_TEST);
    gl.bindVertexArray(this.empty);
    gl.bindFramebuffer(gl.FRAMEBUFFER, t.dark);
    gl.useProgram(this.occlusion.program);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, t.depth);
    gl.uniform1i(this.occlusion.at.depth, 0);
    gl.uniformMatrix4fv(this.occlusion.at.camera, false, camera);
    gl.uniformMatrix4fv(this.occlusion.at.inverse, false, invert4(camera));
    gl.uniform1f(this.occlusion.at.radius, 0.06 * view.size);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.useProgram(this.compose.program);
    gl.bindTexture(gl.TEXTURE_2D, t.image);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, t.shade);
    gl.uniform1i(this.compose.at.image, 0);
    gl.uniform1i(this.compose.at.shade, 1);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.bindVertexArray(null);
  }
}
