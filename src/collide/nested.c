#include "collide/nested.h"

#include "base/array.h"
#include "base/groups.h"
#include "base/sort.h"
#include "collide/audit.h"

#include <math.h>
#include <string.h>

// A connected part of the surface.
typedef struct Part {
  int32_t vertex; // the lowest that no tie holds; NOLI_NULL_INDEX: ties hold all
  int32_t body;
  int32_t face_first; // its faces are [face_first, face_first + n_face), none where it is open
  int32_t n_face;
  bool open;
} Part;

// A triangle, or a segment of an outline in a plane with the body on its left: its last vertex is
// NOLI_NULL_INDEX.
typedef struct Face {
  int32_t vert[3];
  int32_t part;
} Face;

typedef struct Box {
  double lo[3];
  double hi[3];
} Box;

// Faces of a leaf of the tree.
enum { LEAF = 8 };

// A ray crosses a face of a body: it leaves (1) or enters (-1) the solid, or begins on the face.
enum { TOUCHES = 2 };
typedef struct Hit {
  int32_t body;
  int32_t sign;
} Hit;

typedef struct Nesting {
  NoliContext* context;
  const NoliSurface* surface;
  const double* x;
  const NoliBodyPairs* pairs;
  int32_t* part_of; // (n_vert)
  NOLI_ARRAY(Part) part;
  int32_t n_face;
  Face* face; // (n_face) by part
  int32_t n_leaf;
  int32_t n_tree; // capacity in leaves, a power of two
  Box* box; // (2 n_tree) children of node i are 2 i and 2 i + 1, the leaves come last; from the
            // lower ends of bodies on along x
  double* body_low; // (n_body)
  int32_t* item;    // (n_face) faces by leaf
  NOLI_ARRAY(Hit) hit;
  NOLI_ARRAY(NoliNested) found;
} Nesting;

// ---- parts ----

// Whether a vertex is on the surface of another body because a tie holds it there: it is neither
// inside nor outside.
static bool touches_by_tie(const NoliSurface* surface, int32_t vertex) {
  return surface->attached_first != NULL &&
         surface->attached_first[vertex] < surface->attached_first[vertex + 1];
}

// Numbers the connected parts by their lowest vertices.
static NoliStatus nested_find_parts(Nesting* nesting) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = nesting->surface;
  int32_t* parent = NULL;
  NOLI_NEW(nesting->context, parent, surface->n_vert);
  NOLI_NEW(nesting->context, nesting->part_of, surface->n_vert);
  for (int32_t v = 0; v < surface->n_vert; v++) {
    parent[v] = v;
  }
  for (int32_t e = 0; e < surface->n_edge; e++) {
    noli_group_join(parent, surface->edge[2 * (int64_t)e], surface->edge[2 * (int64_t)e + 1]);
  }

  // points ascend within a body, so a root comes before its part
  for (int32_t i = 0; i < surface->n_point; i++) {
    int32_t v = surface->point[i], root = noli_group_root(parent, v);
    if (root == v) {
      Part part = {.vertex = NOLI_NULL_INDEX, .body = surface->body[v]};
      nesting->part_of[v] = (int32_t)nesting->part.count;
      NOLI_PUSH(nesting->context, &nesting->part, part);
    }
    nesting->part_of[v] = nesting->part_of[root];
    Part* own = &nesting->part.data[nesting->part_of[v]];
    if (own->vertex == NOLI_NULL_INDEX && !touches_by_tie(surface, v)) {
      own->vertex = v;
    }
  }
done:
  noli_free(nesting->context, parent);
  return status;
}

// A part is closed if equal numbers of triangles run along each edge in both directions; an outline
// is closed if equal numbers of segments end and begin at each vertex.
static NoliStatus mark_open(Nesting* nesting) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = nesting->surface;
  int32_t *along = NULL, *leaving = NULL;
  NOLI_NEW_ZERO(nesting->context, along, surface->n_edge);
  NOLI_NEW_ZERO(nesting->context, leaving, surface->n_vert);
  for (int64_t i = 0; i < 3 * (int64_t)surface->n_tri; i++) {
    const int32_t* tri = &surface->tri[i - i % 3];
    int32_t p = tri[i % 3], q = tri[(i + 1) % 3];
    along[noli_surface_edge(surface, surface->body[p], p, q)] += p < q ? 1 : -1;
  }

  for (int32_t e = 0; e < surface->n_edge; e++) {
    const int32_t* edge = &surface->edge[2 * (int64_t)e];
    bool planar = surface->planar[surface->body[edge[0]]];
    leaving[edge[0]] += planar ? (surface->reversed[e] ? -1 : 1) : 0;
    leaving[edge[1]] -= planar ? (surface->reversed[e] ? -1 : 1) : 0;
    if (along[e] != 0) {
      nesting->part.data[nesting->part_of[edge[0]]].open = true;
    }
  }

  for (int32_t i = 0; i < surface->n_point; i++) {
    if (leaving[surface->point[i]] != 0) {
      nesting->part.data[nesting->part_of[surface->point[i]]].open = true;
    }
  }
done:
  noli_free(nesting->context, along);
  noli_free(nesting->context, leaving);
  return status;
}

// Reads candidate face i: triangles, then segments. False if it belongs to no closed part.
static bool read_face(const Nesting* nesting, int64_t i, Face* face) {
  const NoliSurface* surface = nesting->surface;
  if (i < surface->n_tri) {
    memcpy(face->vert, &surface->tri[3 * i], sizeof face->vert);
  } else {
    int64_t e = i - surface->n_tri;
    int first = surface->reversed[e] ? 1 : 0;
    face->vert[0] = surface->edge[2 * e + first];
    face->vert[1] = surface->edge[2 * e + 1 - first];
    face->vert[2] = NOLI_NULL_INDEX;
  }
  face->part = nesting->part_of[face->vert[0]];
  const Part* part = &nesting->part.data[face->part];
  return !part->open && (i < surface->n_tri || surface->planar[part->body]);
}

// The faces of closed parts, part by part.
static NoliStatus nested_list_faces(Nesting* nesting) {
  NoliStatus status = NOLI_OK;
  int64_t n = (int64_t)nesting->surface->n_tri + nesting->surface->n_edge;
  Face face;
  for (int64_t i = 0; i < n; i++) {
    if (read_face(nesting, i, &face)) {
      nesting->part.data[face.part].n_face++;
      nesting->n_face++;
    }
  }

  int32_t first = 0;
  for (int64_t p = 0; p < nesting->part.count; p++) {
    Part* part = &nesting->part.data[p];
    part->face_first = first;
    first += part->n_face;
    part->n_face = 0;
  }

  NOLI_NEW(nesting->context, nesting->face, nesting->n_face);
  for (int64_t i = 0; i < n; i++) {
    if (read_face(nesting, i, &face)) {
      Part* part = &nesting->part.data[face.part];
      nesting->face[part->face_first + part->n_face++] = face;
    }
  }
done:
  return status;
}

// ---- a tree over the faces ----

static Box face_box(const Nesting* nesting, const Face* face) {
  Box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  int n = face->vert[2] == NOLI_NULL_INDEX ? 2 : 3;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      double x = nesting->x[3 * (int64_t)face->vert[i] + k];
      box.lo[k] = fmin(box.lo[k], x);
      box.hi[k] = fmax(box.hi[k], x);
    }
  }
  if (n == 2) {
    // planes are level up to rounding only
    box.lo[2] = -INFINITY;
    box.hi[2] = INFINITY;
  }
  return box;
}

static Box nested_join(const Box* a, const Box* b) {
  Box box;
  for (int k = 0; k < 3; k++) {
    box.lo[k] = fmin(a->lo[k], b->lo[k]);
    box.hi[k] = fmax(a->hi[k], b->hi[k]);
  }
  return box;
}

// Moves the lowest ten bits to every third place.
static uint64_t nested_spread(uint64_t bits) {
  uint64_t spread = 0;
  for (int i = 0; i < 10; i++) {
    spread |= (bits >> i & 1) << (3 * i);
  }
  return spread;
}

// The place of the middle of a box on a space-filling curve, in 30 bits.
static uint64_t place_on_curve(const Box* box, const Box* all) {
  uint64_t place = 0;
  for (int k = 0; k < 3; k++) {
    double width = 0.5 * all->hi[k] - 0.5 * all->lo[k];
    double middle = 0.5 * (0.5 * box->lo[k] + 0.5 * box->hi[k]) - 0.5 * all->lo[k];
    // NaN, as for boxes of outlines, becomes 0
    double share = fmin(fmax(width > 0.0 ? middle / width : 0.0, 0.0), 1.0);
    place |= nested_spread((uint64_t)(1023.0 * share)) << k;
  }
  return place;
}

// Lower ends of bodies on the x axis.
static NoliStatus measure_bodies(Nesting* nesting) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = nesting->surface;
  NOLI_NEW(nesting->context, nesting->body_low, surface->n_body);
  for (int32_t b = 0; b < surface->n_body; b++) {
    nesting->body_low[b] = INFINITY;
    for (int32_t i = surface->point_first[b]; i < surface->point_first[b + 1]; i++) {
      double x = nesting->x[3 * (int64_t)surface->point[i]];
      nesting->body_low[b] = fmin(nesting->body_low[b], x);
    }
  }
done:
  return status;
}

// Builds the tree: faces that are near each other share leaves, near leaves share branches.
static NoliStatus plant_tree(Nesting* nesting) {
  NoliStatus status = NOLI_OK;
  const Box nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  int32_t n = nesting->n_face;
  uint64_t *key = NULL, *scratch = NULL;
  NOLI_NEW(nesting->context, key, n);
  NOLI_NEW(nesting->context, scratch, n);
  NOLI_NEW(nesting->context, nesting->item, n);

  // faces in the order of the curve
  Box all = nothing;
  for (int32_t i = 0; i < n; i++) {
    Box box = face_box(nesting, &nesting->face[i]);
    all = nested_join(&all, &box);
  }
  for (int32_t i = 0; i < n; i++) {
    Box box = face_box(nesting, &nesting->face[i]);
    key[i] = place_on_curve(&box, &all) << 32 | (uint64_t)i;
  }
  const uint64_t* sorted = noli_sort_words(key, scratch, n, 32, 62);

  // boxes from the leaves up
  nesting->n_leaf = (n + LEAF - 1) / LEAF;
  nesting->n_tree = 1;
  while (nesting->n_tree < nesting->n_leaf) {
    nesting->n_tree *= 2;
  }
  NOLI_NEW(nesting->context, nesting->box, 2 * (int64_t)nesting->n_tree);
  for (int32_t i = 0; i < 2 * nesting->n_tree; i++) {
    nesting->box[i] = nothing;
  }
  for (int32_t i = 0; i < n; i++) {
    nesting->item[i] = (int32_t)(sorted[i] & UINT32_MAX);
    const Face* face = &nesting->face[nesting->item[i]];
    Box box = face_box(nesting, face);
    // rays that begin before a body skip its faces
    box.lo[0] = nesting->body_low[nesting->part.data[face->part].body];
    Box* leaf = &nesting->box[nesting->n_tree + i / LEAF];
    *leaf = nested_join(leaf, &box);
  }
  for (int32_t i = nesting->n_tree - 1; i > 0; i--) {
    nesting->box[i] = nested_join(&nesting->box[2 * i], &nesting->box[2 * i + 1]);
  }
done:
  noli_free(nesting->context, key);
  noli_free(nesting->context, scratch);
  return status;
}

// ---- rays ----

// On which side of the line a, b, seen along the x axis, is a ray that passes p at an infinitely
// small distance e in y and e^2 in z? 0 only where the line is a point.
static int ray_side(const double* a, const double* b, const double* p) {
  int side = noli_exact_orient2d(a, b, p, 0);
  if (side == 0 && a[2] != b[2]) {
    side = a[2] > b[2] ? 1 : -1;
  } else if (side == 0 && a[1] != b[1]) {
    side = b[1] > a[1] ? 1 : -1;
  }
  return side;
}

// How the ray from p along the x axis crosses a triangle: 1 towards its outside, -1 towards its
// inside, 0 not at all, TOUCHES if p lies on it.
static int cross_triangle(const double* p, const double* a, const double* b, const double* c) {
  int above = noli_exact_orient3d(a, b, c, p);
  if (above == 0) {
    return noli_exact_edge_triangle(p, p, a, b, c) ? TOUCHES : 0;
  }
  int side = ray_side(a, b, p);
  bool meets = above * side < 0 && ray_side(b, c, p) == side && ray_side(c, a, p) == side;
  return meets ? side : 0;
}

// The same for a segment in the plane of x and y and the side to its right.
static int cross_segment(const double* p, const double* a, const double* b) {
  int left = noli_exact_orient2d(a, b, p, 2);
  if (left == 0) {
    bool within = p[0] >= fmin(a[0], b[0]) && p[0] <= fmax(a[0], b[0]) &&
                  p[1] >= fmin(a[1], b[1]) && p[1] <= fmax(a[1], b[1]);
    return within ? TOUCHES : 0;
  }
  int upward = b[1] > a[1] ? 1 : -1;
  return (a[1] > p[1]) != (b[1] > p[1]) && left * upward > 0 ? upward : 0;
}

// Whether the ray of a part begins before a body, hence outside of it: its crossings would cancel.
static bool starts_before(const Nesting* nesting, const Part* part, int32_t body) {
  return nesting->x[3 * (int64_t)part->vertex] < nesting->body_low[body];
}

static NoliStatus cross_face(Nesting* nesting, const Part* part, const Face* face) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = nesting->surface;
  const double* x = nesting->x;
  int32_t body = nesting->part.data[face->part].body;
  bool flat = face->vert[2] == NOLI_NULL_INDEX;
  if (part == &nesting->part.data[face->part] || starts_before(nesting, part, body) ||
      !noli_body_pairs_get(nesting->pairs, part->body, body) ||
      (flat && !noli_surface_is_planar(surface, part->body, body))) {
    return NOLI_OK;
  }
  const double *p = &x[3 * (int64_t)part->vertex], *a = &x[3 * (int64_t)face->vert[0]];
  const double* b = &x[3 * (int64_t)face->vert[1]];
  Hit hit = {body, flat ? cross_segment(p, a, b)
                        : cross_triangle(p, a, b, &x[3 * (int64_t)face->vert[2]])};
  if (hit.sign != 0) {
    NOLI_PUSH(nesting->context, &nesting->hit, hit);
  }
done:
  return status;
}

static bool ray_meets_box(const double* p, const Box* box) {
  return p[0] >= box->lo[0] && p[0] <= box->hi[0] && p[1] >= box->lo[1] && p[1] <= box->hi[1] &&
         p[2] >= box->lo[2] && p[2] <= box->hi[2];
}

// Lists all crossings of the ray from the first vertex of a part with faces of other parts.
static NoliStatus follow_ray(Nesting* nesting, const Part* part) {
  NoliStatus status = NOLI_OK;
  const double* p = &nesting->x[3 * (int64_t)part->vertex];
  int32_t stack[64], n_stack = 0;
  nesting->hit.count = 0;
  stack[n_stack++] = 1;
  while (n_stack > 0) {
    int32_t node = stack[--n_stack];
    if (!ray_meets_box(p, &nesting->box[node])) {
      continue;
    }
    if (node < nesting->n_tree) {
      stack[n_stack++] = 2 * node + 1;
      stack[n_stack++] = 2 * node;
      continue;
    }
    int32_t begin = (node - nesting->n_tree) * LEAF;
    int32_t end = begin + LEAF < nesting->n_face ? begin + LEAF : nesting->n_face;
    for (int32_t i = begin; i < end; i++) {
      NOLI_TRY(cross_face(nesting, part, &nesting->face[nesting->item[i]]));
    }
  }
done:
  return status;
}

// ---- winding numbers ----

// 1: the faces of a part look outward; -1: inward, as around a cavity; 0: they enclose nothing.
static NoliStatus find_orientation(const Nesting* nesting, const Part* part, int* orientation) {
  NoliStatus status = NOLI_OK;
  int32_t* simplex = NULL;
  int size = nesting->surface->planar[part->body] ? 2 : 3;
  *orientation = 0;
  if (part->n_face > 0) {
    NOLI_NEW(nesting->context, simplex, (int64_t)size * part->n_face);
    for (int32_t i = 0; i < part->n_face; i++) {
      const Face* face = &nesting->face[part->face_first + i];
      memcpy(&simplex[(int64_t)size * i], face->vert, (size_t)size * sizeof *simplex);
    }
    *orientation = noli_exact_enclosed_sign(nesting->x, simplex, part->n_face, size);
  }
done:
  noli_free(nesting->context, simplex);
  return status;
}

// Whether a part is inside another body, or in the material of its own body, where `winding` counts
// the other parts: a cavity belongs there. All triangles of a proxy may look inward.
static NoliStatus nested_is_inside(const Nesting* nesting, const Part* part, int32_t body,
                                   int32_t winding, bool* inside) {
  NoliStatus status = NOLI_OK;
  int orientation = 0;
  *inside = winding != 0;
  if (*inside && body == part->body) {
    NOLI_TRY(find_orientation(nesting, part, &orientation));
    *inside = winding != -orientation;
  }
done:
  return status;
}

// Sums up the hits of each body, in the order of bodies.
static NoliStatus judge(Nesting* nesting, const Part* part) {
  NoliStatus status = NOLI_OK;
  Hit* hit = nesting->hit.data;
  for (int64_t i = 1; i < nesting->hit.count; i++) {
    Hit moved = hit[i];
    int64_t to = i;
    for (; to > 0 && hit[to - 1].body > moved.body; to--) {
      hit[to] = hit[to - 1];
    }
    hit[to] = moved;
  }

  for (int64_t i = 0; i < nesting->hit.count;) {
    int32_t body = hit[i].body, winding = 0;
    bool touches = false, inside = false;
    for (; i < nesting->hit.count && hit[i].body == body; i++) {
      touches = touches || hit[i].sign == TOUCHES;
      winding += hit[i].sign;
    }
    if (!touches) {
      NOLI_TRY(nested_is_inside(nesting, part, body, winding, &inside));
    }
    if (inside) {
      NoliNested nested = {part->vertex, body};
      NOLI_PUSH(nesting->context, &nesting->found, nested);
    }
  }
done:
  return status;
}

NoliStatus noli_audit_nested(NoliContext* context, const NoliSurface* surface, const double* x,
                             const NoliBodyPairs* pairs, NoliNested** nested, int64_t* n_nested) {
  NoliStatus status = NOLI_OK;
  Nesting nesting = {.context = context, .surface = surface, .x = x, .pairs = pairs};
  *nested = NULL;
  *n_nested = 0;
  NOLI_TRY(noli_audit_require_finite(context, surface, x));

  // parts, their faces, and a tree over these
  NOLI_TRY(nested_find_parts(&nesting));
  if (nesting.part.count < 2) {
    goto done;
  }
  NOLI_TRY(mark_open(&nesting));
  NOLI_TRY(nested_list_faces(&nesting));
  if (nesting.n_face == 0) {
    goto done;
  }
  NOLI_TRY(measure_bodies(&nesting));
  NOLI_TRY(plant_tree(&nesting));

  // one ray for each part
  for (int64_t p = 0; p < nesting.part.count; p++) {
    if (nesting.part.data[p].vertex == NOLI_NULL_INDEX) {
      continue;
    }
    NOLI_TRY(follow_ray(&nesting, &nesting.part.data[p]));
    NOLI_TRY(judge(&nesting, &nesting.part.data[p]));
  }

  // the caller takes the list
  if (nesting.found.count > 0) {
    *nested = nesting.found.data;
    *n_nested = nesting.found.count;
    nesting.found.data = NULL;
  }
done:
  noli_free(context, nesting.part_of);
  noli_array_free(context, &nesting.part);
  noli_free(context, nesting.face);
  noli_free(context, nesting.box);
  noli_free(context, nesting.body_low);
  noli_free(context, nesting.item);
  noli_array_free(context, &nesting.hit);
  noli_array_free(context, &nesting.found);
  return status;
}
