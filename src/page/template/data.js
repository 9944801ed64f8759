// The contents of the page, stored by the program: a description (JSON), files as text, and frames
// in groups, each compressed on its own so that any time is near.

function stored(id) {
  const element = document.getElementById(id);
  return element ? element.textContent : null;
}

async function inflate(id) {
  const text = atob(stored(id));
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    bytes[i] = text.charCodeAt(i);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function readText(id) {
  return document.getElementById(id) ? new TextDecoder().decode(await inflate(id)) : "";
}

// Rows of a CSV file as objects of texts.
function parseCsv(text) {
  const lines = text.split("\n").filter((line) => line.length > 0);
  if (lines.length === 0) {
    return {columns: [], rows: []};
  }
  const split = (line) => {
    const cells = [];
    const pattern = /("([^"]|"")*"|[^,]*)(,|$)/y;
    for (let match = pattern.exec(line); match; match = pattern.exec(line)) {
      cells.push(match[1].startsWith('"') ? match[1].slice(1, -1).replaceAll('""', '"') : match[1]);
      if (match[3] === "") {
        break;
      }
    }
    return cells;
  };
  const columns = split(lines[0]);
  const rows = lines.slice(1).map((line) => {
    const cells = split(line);
    return Object.fromEntries(columns.map((column, i) => [column, cells[i] ?? ""]));
  });
  return {columns, rows};
}

// A group of frames: positions are predicted from nothing, the frame before, or the two frames before, and from the error of
// the vertex before or not; values from the frame before. What is stored are the errors.
function decodeGroup(bytes, about, group) {
  const n = about.n_vert;
  const frames = [];
  let at = 0;
  for (let f = 0; f < group.n; f++) {
    const q = [0, 1, 2].map(() => new Uint32Array(n));
    const before = f > 0 ? frames[f - 1].q : null;
    const earlier = f > 1 ? frames[f - 2].q : before;
    for (let axis = 0; axis < 3; axis++) {
      const order = bytes[at] >> 1, chained = bytes[at] & 1;
      const low = at + 1, middle = low + n, high = middle + n, to = q[axis], b = before?.[axis], e = earlier?.[axis];
      let error = 0;
      for (let i = 0; i < n; i++) {
        const zigzag = bytes[middle + i] | (bytes[high + i] << 8);
        error = 256 * ((zigzag >> 1) ^ -(zigzag & 1)) + bytes[low + i] + (chained ? error : 0);
        to[i] = (error + (order === 0 ? 0 : order === 1 ? b[i] : 2 * b[i] - e[i])) & 0xFFFFFF;
      }
      at += 1 + 3 * n;
    }
    const values = about.fields.map((field, k) => {
      const size = n * field.components, from = f > 0 ? frames[f - 1].values[k] : null;
      const to = new Uint8Array(size);
      for (let i = 0; i < size; i++) {
        to[i] = bytes[at + i] + (from ? from[i] : 0);
      }
      at += size;
      return to;
    });
    frames.push({q, values});
  }
  return frames.map(({q, values}) => ({q, values, low: group.low, high: group.high, scale: group.scale}));
}

// Frames on demand; the last few groups are kept.
class Frames {
  constructor(about) {
    this.about = about;
    this.kept = new Map();
    this.ahead = false; // while the run plays, the next group is loaded before it is needed
    this.group = [];
    about.groups.forEach((group, g) => {
      for (let k = 0; k < group.n; k++) {
        this.group.push({g, k});
      }
    });
  }

  load(g) {
    if (!this.kept.has(g)) {
      this.kept.set(g, inflate(`g${g}`).then((bytes) => decodeGroup(bytes, this.about, this.about.groups[g])));
      if (this.kept.size > 4) {
        this.kept.delete(this.kept.keys().next().value);
      }
    }
    return this.kept.get(g);
  }

  async get(index) {
    const {g, k} = this.group[index];
    const frames = await this.load(g);
    if (this.ahead && k > frames.length / 2 && g + 1 < this.about.groups.length) {
      this.load(g + 1);
    }
    return frames[k];
  }
}

async function loadHistories(about) {
  const histories = {};
  for (const name of about.histories) {
    histories[name] = parseCsv(await readText(`file-${name}`));
  }
  return histories;
}

async function loadMesh(about) {
  const bytes = await inflate("mesh"), numbers = new Int32Array(bytes.buffer, 0, bytes.length / 4);
  const arrays = {};
  let at = 0;
  for (const [name, count] of [["triangles", 3 * about.n_triangles], ["segments", 2 * about.n_segments], ["points", about.n_points], ["body", about.n_vert], ["vertices", about.n_vert]]) {
    arrays[name] = numbers.subarray(at, at + count);
    at += count;
  }
  return arrays;
}
