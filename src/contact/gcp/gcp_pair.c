#include "contact/gcp/gcp_pair.h"

#include "base/wide.h"
#include "contact/gcp/gcp_curves.h"
#include "contact/gcp/gcp_mollifier.h"
#include "linalg/energy_term.h"
#include "math/eigen.h"

#include <string.h>

// Dimensions of the two elements of each kind; a plane has no vertices.
static const int32_t dimension[NOLI_GCP_KINDS][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {0, -1}};

static NoliVec3 gcp_pair_position(const double* x, int32_t v) {
  return noli_load3(x + 3 * (int64_t)v);
}

static const int32_t* element_vertices(const NoliGcpModel* model, int32_t dim,
                                       const int32_t* element) {
  switch (dim) {
  case 0:
    return element;
  case 1:
    return model->surface->edge + 2 * (int64_t)*element;
  default:
    return model->surface->tri + 3 * (int64_t)*element;
  }
}

int32_t noli_gcp_pair_vertices(const NoliGcpModel* model, NoliGcpPair pair, int32_t vertex[4]) {
  int32_t n = 0;
  for (int side = 0; side < 2; side++) {
    int32_t dim = dimension[pair.kind][side];
    if (dim < 0) {
      break;
    }
    const int32_t* v = element_vertices(model, dim, &pair.element[side]);
    for (int32_t i = 0; i <= dim; i++) {
      vertex[n++] = v[i];
    }
  }
  return n;
}

// The slots of one element, as noli_gcp_pair_slots.
static int32_t element_slots(const NoliGcpModel* model, int32_t dim, int32_t element,
                             int32_t* vertex) {
  const NoliRings* rings = model->rings;
  int32_t of_edge[3], n = 0;
  const int32_t* end = of_edge;
  if (dim == 0 && model->space == 2) {
    end = rings->curve + 2 * (int64_t)element;
    n = 2;
  } else if (dim == 0) {
    end = rings->ring + rings->ring_first[element];
    n = rings->ring_first[element + 1] - rings->ring_first[element];
  } else if (dim == 1 && model->space == 3) {
    of_edge[0] = model->surface->edge[2 * (int64_t)element + 1];
    of_edge[1] = rings->edge_opposite[2 * (int64_t)element];
    of_edge[2] = rings->edge_opposite[2 * (int64_t)element + 1];
    n = 3;
  }
  for (int32_t j = 0; j < n && vertex != NULL; j++) {
    vertex[j] = end[j];
  }
  return n;
}

int32_t noli_gcp_pair_slots(const NoliGcpModel* model, NoliGcpPair pair, int32_t* vertex,
                            int32_t* n_first) {
  const int32_t* dim = dimension[pair.kind];
  int32_t n = element_slots(model, dim[0], pair.element[0], vertex);
  if (n_first != NULL) {
    *n_first = n;
  }
  return n + element_slots(model, dim[1], pair.element[1], vertex != NULL ? vertex + n : NULL);
}

// -- geometry and value

// The closest points of a pair whose closest features are its elements.
typedef struct Geometry {
  NoliVec3 x[4];
  NoliClosest closest;
  double d;
  double weight;
  double eps;
} Geometry;

static double element_weight(const NoliGcpModel* model, int32_t dim, int32_t element) {
  return dim == 0   ? model->vert_weight[element]
         : dim == 1 ? model->edge_weight[element]
                    : model->tri_weight[element];
}

static double element_eps(const NoliGcpModel* model, int32_t dim, int32_t element) {
  return dim == 0   ? model->vert_eps[element]
         : dim == 1 ? model->edge_eps[element]
                    : model->tri_eps[element];
}

void noli_gcp_pair_weights(const NoliGcpModel* model, NoliGcpPair pair, double weight[2],
                           int64_t input[2]) {
  const NoliSurface* surface = model->surface;
  for (int k = 0; k < 2; k++) {
    int side = dimension[pair.kind][k] < 0 ? 0 : k;
    int32_t dim = dimension[pair.kind][side], element = pair.element[side];
    weight[k] = element_weight(model, dim, element);
    input[k] = element + (dim > 0 ? (int64_t)surface->n_vert : 0) +
               (dim > 1 ? (int64_t)surface->n_edge : 0);
  }
}

int32_t noli_gcp_pair_least_vertex(const NoliGcpModel* model, NoliGcpPair pair) {
  int32_t vertex[4], n = noli_gcp_pair_vertices(model, pair, vertex), least = vertex[0];
  for (int32_t k = 1; k < n; k++) {
    least = model->vert_eps[vertex[k]] < model->vert_eps[least] ? vertex[k] : least;
  }
  return least;
}

// A half-space has the weight of the vertex that meets it: w_H = w_G.
static void find_weight(const NoliGcpModel* model, NoliGcpPair pair, Geometry* geometry) {
  const int32_t* dim = dimension[pair.kind];
  double weight = element_weight(model, dim[0], pair.element[0]);
  double eps = element_eps(model, dim[0], pair.element[0]);
  if (dim[1] < 0) {
    geometry->weight = weight * weight;
    geometry->eps = eps;
    return;
  }
  geometry->weight = weight * element_weight(model, dim[1], pair.element[1]);
  geometry->eps = fmin(eps, element_eps(model, dim[1], pair.element[1]));
}

// Whether the closest points lie inside both elements. Otherwise M = 0.
static bool gcp_pair_is_inside(NoliGcpKind kind, const NoliVec3 x[4]) {
  switch (kind) {
  case NOLI_GCP_VERTEX_EDGE:
    return noli_feature_point_edge(x).kind == NOLI_PAIR_POINT_EDGE;
  case NOLI_GCP_VERTEX_FACE:
    return noli_feature_point_triangle(x).kind == NOLI_PAIR_POINT_TRIANGLE;
  case NOLI_GCP_EDGE_EDGE:
    return noli_feature_edge_edge(x).kind == NOLI_PAIR_EDGE_EDGE;
  default:
    return true;
  }
}

// Returns false if the pair does not act: out of reach, or closest at a boundary.
static bool find_geometry(const NoliGcpModel* model, NoliGcpPair pair, const double* x,
                          Geometry* geometry) {
  int32_t vertex[4], n = noli_gcp_pair_vertices(model, pair, vertex);
  find_weight(model, pair, geometry);
  if (!(geometry->weight > 0.0)) {
    return false;
  }
  for (int32_t i = 0; i < n; i++) {
    geometry->x[i] = gcp_pair_position(x, vertex[i]);
  }

  // a vertex and a half-space
  if (pair.kind == NOLI_GCP_VERTEX_PLANE) {
    const NoliHalfSpace* plane = &model->half_spaces[pair.element[1]];
    geometry->d = noli_half_space_distance(plane, x + 3 * (int64_t)vertex[0]);
    geometry->closest = (NoliClosest){.d_sqr = geometry->d * geometry->d,
                                      .r = noli_scale3(geometry->d, plane->normal)};
    return !(geometry->d >= geometry->eps);
  }

  // two elements of the mesh
  if (!gcp_pair_is_inside(pair.kind, geometry->x)) {
    return false;
  }
  geometry->closest = noli_closest(noli_gcp_closest_kind[pair.kind], geometry->x);
  geometry->d = sqrt(geometry->closest.d_sqr);
  return !(geometry->d >= geometry->eps);
}

static NoliGcpFan fan_of(const NoliGcpModel* model, const double* x, int32_t vertex) {
  const NoliRings* rings = model->rings;
  int32_t first = rings->ring_first[vertex];
  return (NoliGcpFan){.x = x,
                      .center = vertex,
                      .n = rings->ring_first[vertex + 1] - first,
                      .ring = rings->ring + first,
                      .next = rings->ring_next + first};
}

// r, and the slots of an edge.
static void edge_vectors(const NoliGcpModel* model, const double* x, int32_t edge, NoliVec3 r,
                         NoliVec3 u[4]) {
  const int32_t* v = model->surface->edge + 2 * (int64_t)edge;
  const int32_t* opposite = model->rings->edge_opposite + 2 * (int64_t)edge;
  NoliVec3 from = gcp_pair_position(x, v[0]);
  u[0] = r;
  u[1] = noli_sub3(gcp_pair_position(x, v[1]), from);
  u[2] = noli_sub3(gcp_pair_position(x, opposite[0]), from);
  u[3] = noli_sub3(gcp_pair_position(x, opposite[1]), from);
}

// r, and the slots of a vertex in a plane: an edge normal to the plane, and the vectors to its two
// neighbours.
static void curve_vectors(const NoliGcpModel* model, const double* x, int32_t vertex, NoliVec3 r,
                          NoliVec3 u[4]) {
  const int32_t* side = model->rings->curve + 2 * (int64_t)vertex;
  NoliVec3 at = gcp_pair_position(x, vertex);
  u[0] = r;
  u[1] = noli_vec3(0.0, 0.0, 1.0);
  u[2] = noli_sub3(gcp_pair_position(x, side[0]), at);
  u[3] = noli_sub3(gcp_pair_position(x, side[1]), at);
}

// g^e of an edge in a plane, where v is also parallel to the normal.
static double side_direction(const NoliGcpModel* model, int32_t edge, const NoliVec3 e[2],
                             NoliVec3 v) {
  NoliVec3 along = noli_sub3(e[1], e[0]);
  double outward = along.y * v.x - along.x * v.y;
  return (model->surface->reversed[edge] ? -outward : outward) < 0.0 ? 1.0 : 0.0;
}

// g^e of a face. As v is parallel to the normal, g^m = 1.
static double face_direction(const NoliVec3 t[3], NoliVec3 v) {
  NoliVec3 n = noli_cross3(noli_sub3(t[1], t[0]), noli_sub3(t[2], t[0]));
  return noli_dot3(n, v) < 0.0 ? 1.0 : 0.0;
}

static double direction(const NoliGcpModel* model, const double* x, int32_t dim, int32_t element,
                        const Geometry* geometry, double sign) {
  NoliGcpSharpness sharpness = model->parameters.sharpness;
  NoliVec3 r = geometry->closest.r, u[4];
  if (model->space == 2 && dim == 0) {
    curve_vectors(model, x, element, r, u);
    return noli_gcp_edge_direction(u, sign, sharpness);
  }
  if (model->space == 2 && dim == 1) {
    return side_direction(model, element, geometry->x + 1, noli_scale3(sign, r));
  }
  if (dim == 0) {
    NoliGcpFan fan = fan_of(model, x, element);
    return noli_gcp_vertex_direction(&fan, r, sign, sharpness);
  }
  if (dim == 1) {
    edge_vectors(model, x, element, r, u);
    return noli_gcp_edge_direction(u, sign, sharpness);
  }
  return dim == 2 ? face_direction(geometry->x + 1, noli_scale3(sign, r)) : 1.0;
}

// M g_G g_H, given the geometry.
static double factor_of(const NoliGcpModel* model, NoliGcpPair pair, const double* x,
                        const Geometry* geometry) {
  const int32_t* dim = dimension[pair.kind];
  double g = noli_gcp_mollifier(noli_gcp_closest_kind[pair.kind], geometry->x,
                                geometry->closest.d_sqr, model->parameters.ramp);
  // the cheaper one first; v points from the other element to this one
  for (int k = 1; k >= 0 && g > 0.0; k--) {
    g *= direction(model, x, dim[k], pair.element[k], geometry, k == 0 ? 1.0 : -1.0);
  }
  return g;
}

// The value, given the geometry.
static double gcp_pair_value_of(const NoliGcpModel* model, NoliGcpPair pair, const double* x,
                                const Geometry* geometry) {
  if (!(geometry->d > 0.0)) {
    return geometry->d <= 0.0 ? (double)INFINITY : (double)NAN;
  }
  double g = factor_of(model, pair, x, geometry);
  return g > 0.0 ? geometry->weight * g *
                       noli_gcp_barrier(geometry->d, geometry->eps, model->space).value
                 : 0.0;
}

double noli_gcp_pair_factor(const NoliGcpModel* model, NoliGcpPair pair, const double* x) {
  Geometry geometry;
  return find_geometry(model, pair, x, &geometry) && geometry.d > 0.0
             ? factor_of(model, pair, x, &geometry)
             : 0.0;
}

double noli_gcp_pair_value(const NoliGcpModel* model, NoliGcpPair pair, const double* x,
                           double* d) {
  Geometry geometry;
  if (!find_geometry(model, pair, x, &geometry)) {
    return 0.0;
  }
  *d = geometry.d;
  return gcp_pair_value_of(model, pair, x, &geometry);
}

// -- derivatives of r

typedef struct Expansion {
  int32_t n;            // vertices
  NoliMat3 jacobian[4]; // dr/dx_i
} Expansion;

// dr/dx_i = weight_i Q - sum_k dir_ki s_k r^T; for a half-space n n^T.
static Expansion expand_r(const NoliGcpModel* model, NoliGcpPair pair, const Geometry* geometry,
                          NoliVec3 s[2], NoliMat3* projector) {
  const NoliClosest* closest = &geometry->closest;
  Expansion expansion = {.n = noli_pair_size[noli_gcp_closest_kind[pair.kind]]};
  if (pair.kind == NOLI_GCP_VERTEX_PLANE) {
    NoliVec3 n = model->half_spaces[pair.element[1]].normal;
    expansion.n = 1;
    expansion.jacobian[0] = noli_outer33(n, n);
    return expansion;
  }
  *projector = noli_identity3();
  for (int32_t k = 0; k < closest->n_dir; k++) {
    s[k] = noli_closest_direction(closest, k, expansion.n, geometry->x);
    *projector = noli_sub33(*projector, noli_outer33(s[k], s[k]));
  }
  for (int32_t i = 0; i < expansion.n; i++) {
    NoliMat3 m = noli_scale33(closest->weight[i], *projector);
    for (int32_t k = 0; k < closest->n_dir; k++) {
      m = noli_sub33(m, noli_scale33(closest->dir[k][i], noli_outer33(s[k], closest->r)));
    }
    expansion.jacobian[i] = m;
  }
  return expansion;
}

// -- node matrices: (3 n x 3 n) row-major

static void add_node_block(double* matrix, int32_t n, int32_t a, int32_t b, const NoliMat3* m) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      matrix[(int64_t)(3 * a + i) * 3 * n + 3 * b + j] += m->m[i][j];
    }
  }
}

// Adds the Hessian of g . r for a fixed g = d log P / dr.
static void add_curvature(const Geometry* geometry, const Expansion* expansion, const NoliVec3 s[2],
                          const NoliMat3* projector, NoliVec3 g, double* matrix, int32_t n) {
  const NoliClosest* closest = &geometry->closest;
  NoliVec3 across = noli_mul33_vec(projector, g);
  for (int32_t k = 0; k < closest->n_dir; k++) {
    double along = noli_dot3(g, s[k]);
    for (int32_t i = 0; i < expansion->n; i++) {
      for (int32_t j = 0; j < expansion->n; j++) {
        // (Q g . ds_k) dc_k - (g . s_k)(ds_k . dr), plus its transpose
        NoliVec3 dc = noli_scale3(-closest->dir[k][j], closest->r);
        dc = noli_mul_add3(dc, -closest->weight[j], s[k]);
        NoliMat3 m =
            noli_sub33(noli_outer33(across, dc), noli_scale33(along, expansion->jacobian[j]));
        m = noli_scale33(closest->dir[k][i], m);
        NoliMat3 transposed = noli_transpose33(m);
        add_node_block(matrix, n, i, j, &m);
        add_node_block(matrix, n, j, i, &transposed);
      }
    }
  }
}

// -- from slots to nodes

// Expresses slots in terms of nodes: slot 0 is r, each other one is its end minus a center.
typedef struct Pullback {
  const NoliGcpStencil* stencil;
  const Expansion* expansion;
  int32_t n_first;     // slots of the first element
  int32_t center_last; // center of the slots of the second element
} Pullback;

static int32_t slot_center(const Pullback* pullback, int32_t slot) {
  return slot <= pullback->n_first ? 0 : pullback->center_last;
}

static void pull_gradient(const Pullback* pullback, const NoliGcpSlots* slots, double* gradient) {
  const Expansion* e = pullback->expansion;
  for (int32_t i = 0; i < e->n; i++) {
    NoliVec3 g = noli_transpose_mul33_vec(&e->jacobian[i], noli_load3(slots->gradient));
    noli_store3(gradient + 3 * i, noli_add3(noli_load3(gradient + 3 * i), g));
  }
  for (int32_t s = 1; s < slots->n; s++) {
    int32_t end = pullback->stencil->slot[s - 1], center = slot_center(pullback, s);
    for (int i = 0; i < 3 && slots->touched[s]; i++) {
      gradient[3 * end + i] += slots->gradient[3 * s + i];
      gradient[3 * center + i] -= slots->gradient[3 * s + i];
    }
  }
}

// rows (3 x 3 n_node) = rows `s` of the slot Hessian times the derivatives of all slots.
NOLI_INLINE void pull_rows(const Pullback* pullback, const NoliGcpSlots* slots, int32_t s,
                           double* rows) {
  const Expansion* e = pullback->expansion;
  int32_t n = 3 * pullback->stencil->n_node, stride = 3 * slots->n;
  memset(rows, 0, 3 * (size_t)n * sizeof *rows);
  for (int r = 0; r < 3; r++) {
    const double* from = slots->hessian + (int64_t)(3 * s + r) * stride;
    double* row = rows + (int64_t)r * n;
    for (int32_t i = 0; i < e->n; i++) {
      NoliVec3 h = noli_transpose_mul33_vec(&e->jacobian[i], noli_load3(from));
      noli_store3(row + 3 * i, noli_add3(noli_load3(row + 3 * i), h));
    }
    for (int32_t t = 1; t < slots->n; t++) {
      if (!slots->touched[t]) {
        continue;
      }
      double* end = row + 3 * pullback->stencil->slot[t - 1];
      double* center = row + 3 * slot_center(pullback, t);
      for (int j = 0; j < 3; j++) {
        end[j] += from[3 * t + j];
        center[j] -= from[3 * t + j];
      }
    }
  }
}

NOLI_INLINE void add_rows(double* matrix, int32_t n, int32_t node, double factor,
                          const double* rows) {
  double* to = matrix + (int64_t)3 * node * n;
  for (int32_t i = 0; i < 3 * n; i++) {
    to[i] += factor * rows[i];
  }
}

NOLI_WIDE static void pull_hessian(const Pullback* pullback, const NoliGcpSlots* slots,
                                   double* rows, double* matrix) {
  const Expansion* e = pullback->expansion;
  int32_t n = 3 * pullback->stencil->n_node;

  // rows of r
  pull_rows(pullback, slots, 0, rows);
  for (int32_t i = 0; i < e->n; i++) {
    for (int a = 0; a < 3; a++) {
      for (int b = 0; b < 3; b++) {
        double factor = e->jacobian[i].m[b][a];
        double* to = matrix + (int64_t)(3 * i + a) * n;
        for (int32_t j = 0; j < n && factor != 0.0; j++) {
          to[j] += factor * rows[(int64_t)b * n + j];
        }
      }
    }
  }

  // rows of the other slots
  for (int32_t s = 1; s < slots->n; s++) {
    if (slots->touched[s]) {
      pull_rows(pullback, slots, s, rows);
      add_rows(matrix, n, pullback->stencil->slot[s - 1], 1.0, rows);
      add_rows(matrix, n, slot_center(pullback, s), -1.0, rows);
    }
  }
}

// -- assembly

// Parts of the scratch memory.
typedef struct Parts {
  NoliGcpSlots slots;
  double* extra;    // (3 (n_slot + 1))
  double* rows;     // (3 x 3 n_node)
  double* gradient; // (3 n_node)
  double* matrix;   // (3 n_node x 3 n_node)
  double* dense;    // of the same size, for the part that is projected
  double* eigen;
} Parts;

int64_t noli_gcp_scratch_size(int32_t n_node, int32_t n_slot) {
  int64_t s = 3 * ((int64_t)n_slot + 1), n = 3 * (int64_t)n_node;
  return s * s + 3 * s + 4 * n + 2 * n * n + noli_project_psd_scratch((int32_t)n);
}

static Parts gcp_pair_split(double* memory, const NoliGcpStencil* stencil, bool with_hessian) {
  int64_t s = 3 * ((int64_t)stencil->n_slot + 1), n = 3 * (int64_t)stencil->n_node;
  Parts parts;
  double* at = memory;
  parts.slots.n = stencil->n_slot + 1;
  parts.slots.gradient = at, at += s;
  parts.extra = at, at += s;
  // one flag per slot fits into one double per slot
  parts.slots.touched = (bool*)at, at += s;
  parts.gradient = at, at += n;
  parts.rows = at, at += 3 * n;

  // sums start at zero
  memset(parts.slots.gradient, 0, (size_t)s * sizeof *at);
  memset(parts.slots.touched, 0, (size_t)parts.slots.n * sizeof *parts.slots.touched);
  memset(parts.gradient, 0, (size_t)n * sizeof *at);

  // second derivatives
  parts.slots.hessian = parts.matrix = parts.dense = parts.eigen = NULL;
  if (with_hessian) {
    parts.slots.hessian = at, at += s * s;
    parts.matrix = at, at += n * n;
    parts.dense = at, at += n * n;
    parts.eigen = at;
    memset(parts.slots.hessian, 0, (size_t)(s * s) * sizeof *at);
    memset(parts.matrix, 0, (size_t)(n * n) * sizeof *at);
  }
  return parts;
}

// log p: gradient (p'/p) n, Hessian (p''/p - (p'/p)^2) n n^T + (p'/p) (I - n n^T) / d.
static void add_barrier(const NoliGcpModel* model, const NoliGcpSlots* slots,
                        const Geometry* geometry) {
  NoliCurve p = noli_gcp_barrier(geometry->d, geometry->eps, model->space);
  double c1 = p.first / p.value, c2 = p.second / p.value - c1 * c1, across = c1 / geometry->d;
  NoliVec3 n = noli_scale3(1.0 / geometry->d, geometry->closest.r);
  const double u[3] = {n.x, n.y, n.z};
  slots->touched[0] = true;
  for (int i = 0; i < 3; i++) {
    slots->gradient[i] += c1 * u[i];
    for (int j = 0; j < 3 && slots->hessian != NULL; j++) {
      slots->hessian[(int64_t)3 * slots->n * i + j] +=
          (c2 - across) * u[i] * u[j] + (i == j ? across : 0.0);
    }
  }
}

// Adds the derivatives of log g_G and log g_H over the slots.
static void add_directions(const NoliGcpModel* model, NoliGcpPair pair, const double* x,
                           const Geometry* geometry, const Parts* parts) {
  NoliGcpSharpness sharpness = model->parameters.sharpness;
  NoliVec3 r = geometry->closest.r;
  int32_t first = 1;

  for (int side = 0; side < 2; side++) {
    int32_t dim = dimension[pair.kind][side], element = pair.element[side];
    double sign = side == 0 ? 1.0 : -1.0;
    NoliVec3 u[4];
    if (dim == 0 && model->space == 2) {
      const int32_t slot[4] = {0, NOLI_NULL_INDEX, first, first + 1};
      curve_vectors(model, x, element, r, u);
      noli_gcp_edge_direction_log(u, sign, sharpness, &parts->slots, slot);
      first += 2;
    } else if (dim == 0) {
      NoliGcpFan fan = fan_of(model, x, element);
      noli_gcp_vertex_direction_log(&fan, r, sign, sharpness, &parts->slots, first, parts->extra);
      first += fan.n;
    } else if (dim == 1 && model->space == 3) {
      const int32_t slot[4] = {0, first, first + 1, first + 2};
      edge_vectors(model, x, element, r, u);
      noli_gcp_edge_direction_log(u, sign, sharpness, &parts->slots, slot);
      first += 3;
    }
  }
}

// Adds the derivatives of log M over the nodes.
static void add_mollifier(const NoliGcpModel* model, NoliGcpPair pair, const Geometry* geometry,
                          int32_t n_vertex, int32_t n_node, const Parts* parts) {
  double gradient[12] = {0.0}, hessian[144] = {0.0};
  bool with_hessian = parts->matrix != NULL;
  if (!noli_gcp_mollifier_log(noli_gcp_closest_kind[pair.kind], geometry->x,
                              geometry->closest.d_sqr, model->parameters.ramp, gradient,
                              with_hessian ? hessian : NULL)) {
    return;
  }
  for (int32_t i = 0; i < 3 * n_vertex; i++) {
    parts->gradient[i] += gradient[i];
    for (int32_t j = 0; j < 3 * n_vertex && with_hessian; j++) {
      parts->matrix[(int64_t)i * 3 * n_node + j] += hessian[12 * i + j];
    }
  }
}

// Derivatives of log P over the nodes.
static void log_derivatives(const NoliGcpModel* model, NoliGcpPair pair,
                            const NoliGcpStencil* stencil, const double* x,
                            const Geometry* geometry, const Parts* parts) {
  NoliVec3 s[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  NoliMat3 projector = noli_identity3();
  Expansion expansion = expand_r(model, pair, geometry, s, &projector);
  Pullback pullback = {.stencil = stencil, .expansion = &expansion};
  noli_gcp_pair_slots(model, pair, NULL, &pullback.n_first);
  pullback.center_last = dimension[pair.kind][0] + 1;

  add_barrier(model, &parts->slots, geometry);
  add_directions(model, pair, x, geometry, parts);
  add_mollifier(model, pair, geometry, expansion.n, stencil->n_node, parts);
  pull_gradient(&pullback, &parts->slots, parts->gradient);
  if (parts->matrix != NULL) {
    pull_hessian(&pullback, &parts->slots, parts->rows, parts->matrix);
    add_curvature(geometry, &expansion, s, &projector, noli_load3(parts->slots.gradient),
                  parts->matrix, stencil->n_node);
  }
}

// Writes to `order` the nodes that the pair depends on at this x; other nodes have zero rows.
// Returns their number.
static int32_t find_active_nodes(const NoliGcpStencil* stencil, int32_t n_vertex,
                                 const NoliGcpSlots* slots, int32_t* order) {
  for (int32_t i = 0; i < stencil->n_node; i++) {
    order[i] = i < n_vertex;
  }
  for (int32_t s = 1; s < slots->n; s++) {
    if (slots->touched[s]) {
      order[stencil->slot[s - 1]] = 1;
    }
  }
  int32_t n = 0;
  for (int32_t i = 0; i < stencil->n_node; i++) {
    if (order[i] != 0) {
      order[n++] = i;
    }
  }
  return n;
}

// H A H with the reflection over nodes that maps (1, .., 1) / sqrt(m) to -(1, 0, .., 0):
// H = I - b v v^T, v = (1, .., 1) / sqrt(m) + (1, 0, .., 0). With p = A v, a column for each axis,
// and w = b p - (b^2 / 2) v (v^T p), H A H = A - v w^T - w v^T. `scratch` has (3 x 3 m).
NOLI_WIDE static void reflect_nodes(int32_t m, double* a, double* scratch) {
  int32_t n = 3 * m;
  double low = 1.0 / sqrt((double)m), v0 = low + 1.0, b = 1.0 / v0;

  // p
  memset(scratch, 0, 3 * (size_t)n * sizeof *scratch);
  for (int32_t i = 0; i < n; i++) {
    double v = i < 3 ? v0 : low, *p = scratch + (i % 3) * n;
    const double* row = a + (int64_t)i * n;
    for (int32_t j = 0; j < n; j++) {
      p[j] += v * row[j];
    }
  }

  // w, in the place of p
  for (int32_t axis = 0; axis < 3; axis++) {
    double *p = scratch + axis * n, across[3] = {v0 * p[0], v0 * p[1], v0 * p[2]};
    for (int32_t j = 3; j < n; j++) {
      across[j % 3] += low * p[j];
    }
    for (int32_t j = 0; j < n; j++) {
      p[j] = b * p[j] - 0.5 * b * b * (j < 3 ? v0 : low) * across[j % 3];
    }
  }

  // A - v w^T - w v^T
  for (int32_t i = 0; i < n; i++) {
    double v = i < 3 ? v0 : low, *row = a + (int64_t)i * n;
    const double* w = scratch + (i % 3) * n;
    const double along[3] = {scratch[i], scratch[n + i], scratch[2 * n + i]};
    for (int32_t k = 0; k < 3; k++) {
      row[k] -= v * w[k] + v0 * along[k];
    }
    for (int32_t j = 3; j < n; j += 3) {
      for (int32_t k = 0; k < 3; k++) {
        row[j + k] -= v * w[j + k] + low * along[k];
      }
    }
  }
}

// Projects the Hessian of a function that is invariant under translation of its m nodes. Reflection
// makes the three components of the mean motion, which are zero, the first ones.
static void project_invariant(int32_t m, double* a, double* reduced, double* scratch) {
  int32_t n = 3 * m, k = n - 3;
  reflect_nodes(m, a, scratch);
  for (int32_t i = 0; i < k; i++) {
    for (int32_t j = i; j < k; j++) {
      reduced[i * k + j] = reduced[j * k + i] = a[(i + 3) * n + j + 3];
    }
  }
  noli_project_psd_large(k, reduced, scratch);
  memset(a, 0, (size_t)n * (size_t)n * sizeof *a);
  for (int32_t i = 0; i < k; i++) {
    memcpy(a + (i + 3) * n + 3, reduced + i * k, (size_t)k * sizeof *a);
  }
  reflect_nodes(m, a, scratch);
}

// Writes P (g g^T + Hess log P) over the active nodes as blocks, plain or projected.
static void gcp_pair_write_hessian(const NoliGcpStencil* stencil, int32_t n_vertex,
                                   bool is_invariant, double value, const Parts* parts,
                                   const NoliGcpResult* result) {
  int32_t n = stencil->n_node;

  // gather the active nodes; their indices overwrite the rows, which are no longer needed
  int32_t* order = (int32_t*)(void*)parts->rows;
  int32_t m = find_active_nodes(stencil, n_vertex, &parts->slots, order);
  const double* g = parts->gradient;
  for (int32_t a = 0; a < 3 * m; a++) {
    int32_t i = 3 * order[a / 3] + a % 3;
    for (int32_t b = a; b < 3 * m; b++) {
      int32_t j = 3 * order[b / 3] + b % 3;
      double h = value * (g[i] * g[j] + parts->matrix[(int64_t)i * 3 * n + j]);
      parts->dense[(int64_t)a * 3 * m + b] = parts->dense[(int64_t)b * 3 * m + a] = h;
    }
  }

  // project; the derivatives of the logarithm serve as scratch
  if (result->projected && is_invariant) {
    project_invariant(m, parts->dense, parts->matrix, parts->eigen);
  } else if (result->projected) {
    noli_project_psd_large(3 * m, parts->dense, parts->eigen);
  }

  // scatter
  memset(result->hessian, 0, 9 * (size_t)noli_stencil_blocks(n) * sizeof *result->hessian);
  for (int32_t a = 0; a < m; a++) {
    for (int32_t b = a; b < m; b++) {
      double* block = result->hessian + 9 * (int64_t)noli_stencil_block(n, order[a], order[b]);
      for (int e = 0; e < 9; e++) {
        block[e] = parts->dense[(int64_t)(3 * a + e / 3) * 3 * m + 3 * b + e % 3];
      }
    }
  }
}

static void fill_result(const NoliGcpStencil* stencil, double value, const NoliGcpResult* result) {
  for (int32_t i = 0; i < 3 * stencil->n_node && result->gradient != NULL; i++) {
    result->gradient[i] = value;
  }
  for (int64_t i = 0;
       i < 9 * (int64_t)noli_stencil_blocks(stencil->n_node) && result->hessian != NULL; i++) {
    result->hessian[i] = value;
  }
}

void noli_gcp_pair_derivatives(const NoliGcpModel* model, NoliGcpPair pair,
                               const NoliGcpStencil* stencil, const double* x, double* memory,
                               const NoliGcpResult* result) {
  Geometry geometry;
  double value = 0.0;
  if (find_geometry(model, pair, x, &geometry)) {
    value = gcp_pair_value_of(model, pair, x, &geometry);
  }
  if (!(value > 0.0 && isfinite(value))) {
    fill_result(stencil, value == 0.0 ? 0.0 : (double)NAN, result);
    return;
  }
  Parts parts = gcp_pair_split(memory, stencil, result->hessian != NULL);
  log_derivatives(model, pair, stencil, x, &geometry, &parts);
  for (int32_t i = 0; i < 3 * stencil->n_node && result->gradient != NULL; i++) {
    result->gradient[i] = value * parts.gradient[i];
  }
  if (result->hessian != NULL) {
    int32_t vertex[4];
    gcp_pair_write_hessian(stencil, noli_gcp_pair_vertices(model, pair, vertex),
                           pair.kind != NOLI_GCP_VERTEX_PLANE, value, &parts, result);
  }
}
