#include "fem/loads/curved_faces.h"

#include "math/vec3.h"

#include <math.h>
#include <string.h>

// ---- faces --------------------------------------------------------------------------------------

int32_t noli_tet_face_nodes(int32_t order, int32_t side, int32_t local[NOLI_TRI_NODES_MAX]) {
  int32_t tet[NOLI_TET_NODES_MAX][4], tri[NOLI_TRI_NODES_MAX][3], corner[3] = {0};
  noli_tet_lattice(order, tet);
  noli_tri_lattice(order, tri);

  // the face without this corner
  for (int f = 0; f < 4; f++) {
    const int32_t* face = noli_lagrange_face[f];
    if (face[0] != side && face[1] != side && face[2] != side) {
      memcpy(corner, face, sizeof corner);
    }
  }
  for (int32_t a = 0; a < noli_tri_nodes(order); a++) {
    for (int32_t i = 0; i < noli_tet_nodes(order); i++) {
      if (tet[i][corner[0]] == tri[a][0] && tet[i][corner[1]] == tri[a][1] &&
          tet[i][corner[2]] == tri[a][2]) {
        local[a] = i;
      }
    }
  }
  return noli_tri_nodes(order);
}

// Corners of a face, in the reference tetrahedron.
static void face_corners(int32_t side, NoliVec3 corner[3]) {
  static const double place[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  int32_t local[NOLI_TRI_NODES_MAX] = {0};
  (void)noli_tet_face_nodes(1, side, local);
  for (int k = 0; k < 3; k++) {
    corner[k] = noli_load3(place[local[k]]);
  }
}

static NoliStatus make_rule(NoliContext* context, const NoliSpace* space, NoliCurvedFaces* faces,
                            NoliQuadrature* rule) {
  NoliStatus status = NOLI_OK;
  int32_t largest = space->order > space->geometry_order ? space->order : space->geometry_order;
  NOLI_TRY(noli_quadrature_tri(context, space->order + 3 * largest - 2, rule));
  faces->n_node = noli_tri_nodes(space->order);
  faces->n_point = rule->n;
  NOLI_NEW(context, faces->weight, rule->n);
  NOLI_NEW(context, faces->shape, 3 * (int64_t)rule->n * faces->n_node);
  memcpy(faces->weight, rule->weight, (size_t)rule->n * sizeof *rule->weight);
  for (int32_t q = 0; q < rule->n; q++) {
    double value[NOLI_TRI_NODES_MAX], derivative[2 * NOLI_TRI_NODES_MAX];
    noli_tri_shape(space->order, rule->xi + 2 * (int64_t)q, value, derivative);
    for (int32_t a = 0; a < faces->n_node; a++) {
      double* shape = faces->shape + 3 * (q * (int64_t)faces->n_node + a);
      shape[0] = value[a];
      shape[1] = derivative[2 * a];
      shape[2] = derivative[2 * a + 1];
    }
  }
done:
  return status;
}

// A point of a face: position from an origin and its derivatives.
typedef struct Point {
  NoliVec3 r, s, t;
} Point;

static Point interpolate(const NoliCurvedFaces* faces, int32_t q, const double* node_x,
                         const double* rigid) {
  Point p = {0};
  if (rigid != NULL) {
    p = (Point){noli_load3(rigid), noli_load3(rigid + 3), noli_load3(rigid + 6)};
  }
  const double* shape = faces->shape + 3 * (int64_t)q * faces->n_node;
  for (int32_t a = 0; a < faces->n_node; a++, shape += 3) {
    NoliVec3 x = noli_load3(node_x + 3 * a);
    p.r = noli_mul_add3(p.r, shape[0], x);
    p.s = noli_mul_add3(p.s, shape[1], x);
    p.t = noli_mul_add3(p.t, shape[2], x);
  }
  return p;
}

// The shape of a face at point q of the rule, and what its nodes do not give of it.
static void place_point(const NoliSpace* space, NoliTetFace face, const double uv[2], int32_t q,
                        const double* node_X, int64_t at, NoliCurvedFaces* faces) {
  NoliVec3 corner[3];
  double xi[3];
  face_corners(face.side, corner);
  NoliVec3 along_u = noli_sub3(corner[1], corner[0]), along_v = noli_sub3(corner[2], corner[0]);
  noli_store3(xi, noli_mul_add3(noli_mul_add3(corner[0], uv[0], along_u), uv[1], along_v));
  NoliMat3 derivative = noli_space_dxdxi(space, face.tet, xi);
  Point own = {noli_space_position(space, face.tet, xi), noli_mul33_vec(&derivative, along_u),
               noli_mul33_vec(&derivative, along_v)};
  faces->area[at] = noli_norm3(noli_cross3(own.s, own.t));
  if (faces->rigid != NULL) {
    Point by_nodes = interpolate(faces, q, node_X, NULL);
    noli_store3(faces->rigid + 9 * at, noli_sub3(own.r, by_nodes.r));
    noli_store3(faces->rigid + 9 * at + 3, noli_sub3(own.s, by_nodes.s));
    noli_store3(faces->rigid + 9 * at + 6, noli_sub3(own.t, by_nodes.t));
  }
}

NoliStatus noli_curved_faces_create(NoliContext* context, const NoliSpace* space,
                                    int32_t first_node, int32_t n, const NoliTetFace* face,
                                    NoliCurvedFaces* faces) {
  NoliStatus status = NOLI_OK;
  NoliQuadrature rule = {0};
  *faces = (NoliCurvedFaces){.n = n};
  NOLI_TRY(make_rule(context, space, faces, &rule));
  NOLI_NEW(context, faces->node, (int64_t)n * faces->n_node);
  NOLI_NEW(context, faces->area, (int64_t)n * faces->n_point);
  if (space->geometry_order > space->order) {
    NOLI_NEW(context, faces->rigid, 9 * (int64_t)n * faces->n_point);
  }

  for (int32_t i = 0; i < n; i++) {
    int32_t local[NOLI_TRI_NODES_MAX];
    double X[3 * NOLI_TRI_NODES_MAX];
    int32_t* node = faces->node + (int64_t)i * faces->n_node;
    (void)noli_tet_face_nodes(space->order, face[i].side, local);
    for (int32_t a = 0; a < faces->n_node; a++) {
      int64_t own = space->node[(int64_t)face[i].tet * space->n_local + local[a]];
      node[a] = first_node + (int32_t)own;
      memcpy(X + 3 * a, space->X + 3 * own, 3 * sizeof *X);
    }
    for (int32_t q = 0; q < rule.n; q++) {
      place_point(space, face[i], rule.xi + 2 * (int64_t)q, q, X, (int64_t)i * rule.n + q, faces);
    }
  }
done:
  noli_quadrature_free(context, &rule);
  if (status != NOLI_OK) {
    noli_curved_faces_free(context, faces);
  }
  return status;
}

void noli_curved_faces_free(NoliContext* context, NoliCurvedFaces* faces) {
  noli_free(context, faces->node);
  noli_free(context, faces->weight);
  noli_free(context, faces->shape);
  noli_free(context, faces->area);
  noli_free(context, faces->rigid);
  *faces = (NoliCurvedFaces){0};
}

// ---- pressure -----------------------------------------------------------------------------------

// Nodes of a face relative to a point, m.
static void curved_faces_load_nodes(const NoliCurvedFaces* faces, int64_t i, const double* x,
                                    NoliVec3 origin, double* node_x) {
  for (int32_t a = 0; a < faces->n_node; a++) {
    int64_t node = faces->node[i * faces->n_node + a];
    noli_store3(node_x + 3 * a, noli_sub3(noli_load3(x + 3 * node), origin));
  }
}

static const double* rigid_at(const NoliCurvedFaces* faces, int64_t i, int32_t q) {
  return faces->rigid != NULL ? faces->rigid + 9 * (i * faces->n_point + q) : NULL;
}

// w_q p_q on face i.
static double load_at(const NoliCurvedPressure* data, int64_t i, int32_t q) {
  const NoliCurvedFaces* faces = data->faces;
  const double* value = data->value + i * faces->n_node;
  const double* shape = faces->shape + 3 * (int64_t)q * faces->n_node;
  double sum = 0.0;
  for (int32_t a = 0; a < faces->n_node; a++) {
    sum += shape[3 * a] * value[a];
  }
  return faces->weight[q] * sum;
}

// The potential of face i, without `scale`.
static double face_energy(const NoliCurvedPressure* data, int64_t i, const double* x) {
  double node_x[3 * NOLI_TRI_NODES_MAX], sum = 0.0;
  curved_faces_load_nodes(data->faces, i, x, noli_load3(data->origin), node_x);
  for (int32_t q = 0; q < data->faces->n_point; q++) {
    Point p = interpolate(data->faces, q, node_x, rigid_at(data->faces, i, q));
    sum += load_at(data, i, q) / 3.0 * noli_dot3(p.r, noli_cross3(p.s, p.t));
  }
  return sum;
}

// The derivative of det(r, s, t) by x_a: N_a s x t + dN_a/du t x r + dN_a/dv r x s.
static NoliVec3 slope_of_cone(const double shape[3], const NoliVec3 cross[3]) {
  NoliVec3 sum = noli_scale3(shape[0], cross[0]);
  sum = noli_mul_add3(sum, shape[1], cross[1]);
  return noli_mul_add3(sum, shape[2], cross[2]);
}

static void products(const Point* p, NoliVec3 cross[3]) {
  cross[0] = noli_cross3(p->s, p->t);
  cross[1] = noli_cross3(p->t, p->r);
  cross[2] = noli_cross3(p->r, p->s);
}

// Adds the gradient of a point whose load is `load`.
static void add_gradient(const NoliCurvedFaces* faces, int32_t q, const Point* p, double load,
                         double* gradient) {
  const double* shape = faces->shape + 3 * (int64_t)q * faces->n_node;
  NoliVec3 cross[3];
  products(p, cross);
  for (int32_t a = 0; a < faces->n_node; a++) {
    double* g = gradient + 3 * a;
    noli_store3(g, noli_mul_add3(noli_load3(g), load / 3.0, slope_of_cone(shape + 3 * a, cross)));
  }
}

// The block of nodes a and b of the Hessian of det(r, s, t) is the cross product with
//   (N_a N_b,v - N_a,v N_b) s - (N_a N_b,u - N_a,u N_b) t - (N_a,u N_b,v - N_a,v N_b,u) r.
// Adds these vectors to `axis` (blocks x 3).
static void add_axes(const NoliCurvedFaces* faces, int32_t q, const Point* p, double load,
                     double* axis) {
  const double* shape = faces->shape + 3 * (int64_t)q * faces->n_node;
  for (int32_t a = 0; a < faces->n_node; a++) {
    for (int32_t b = a + 1; b < faces->n_node; b++) {
      const double *A = shape + 3 * a, *B = shape + 3 * b;
      double* at = axis + 3 * noli_stencil_block(faces->n_node, a, b);
      NoliVec3 own = noli_scale3(A[0] * B[2] - A[2] * B[0], p->s);
      own = noli_mul_add3(own, A[1] * B[0] - A[0] * B[1], p->t);
      own = noli_mul_add3(own, A[2] * B[1] - A[1] * B[2], p->r);
      noli_store3(at, noli_mul_add3(noli_load3(at), load / 3.0, own));
    }
  }
}

// The gradient and Hessian of face i; `gradient` or `block` may be NULL.
static void face_derivatives(const NoliCurvedPressure* data, int64_t i, const double* x,
                             double* gradient, double* block) {
  enum { BLOCKS_MAX = NOLI_TRI_NODES_MAX * (NOLI_TRI_NODES_MAX + 1) / 2 };
  const NoliCurvedFaces* faces = data->faces;
  double node_x[3 * NOLI_TRI_NODES_MAX], axis[3 * BLOCKS_MAX] = {0};
  curved_faces_load_nodes(faces, i, x, noli_load3(data->origin), node_x);
  if (gradient != NULL) {
    memset(gradient, 0, 3 * (size_t)faces->n_node * sizeof *gradient);
  }
  for (int32_t q = 0; q < faces->n_point; q++) {
    Point p = interpolate(faces, q, node_x, rigid_at(faces, i, q));
    double load = data->scale * load_at(data, i, q);
    if (gradient != NULL) {
      add_gradient(faces, q, &p, load, gradient);
    }
    if (block != NULL) {
      add_axes(faces, q, &p, load, axis);
    }
  }
  for (int32_t k = 0; block != NULL && k < noli_stencil_blocks(faces->n_node); k++) {
    NoliMat3 cross = noli_cross33(noli_load3(axis + 3 * k));
    memcpy(block + 9 * k, cross.m, 9 * sizeof *block);
  }
}

static void evaluate_pressure(const void* user, const double* x, int64_t begin, int64_t end,
                              unsigned what, const NoliLocal* out) {
  const NoliCurvedPressure* data = user;
  int64_t n = data->faces->n_node, n_entry = 9 * (int64_t)noli_stencil_blocks((int32_t)n);
  bool projected = (what & NOLI_EVAL_PROJECTED) != 0;
  for (int64_t i = begin; i < end; i++) {
    double* gradient =
        (what & NOLI_EVAL_GRADIENT) != 0 ? out->gradient + 3 * n * (i - begin) : NULL;
    double* block =
        !projected && (what & NOLI_EVAL_HESSIAN) != 0 ? out->hessian + n_entry * (i - begin) : NULL;
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      out->energy[i - begin] = data->scale * face_energy(data, i, x);
    }
    if (gradient != NULL || block != NULL) {
      face_derivatives(data, i, x, gradient, block);
    }
    if (projected) {
      memset(out->hessian + n_entry * (i - begin), 0, (size_t)n_entry * sizeof *out->hessian);
    }
  }
}

static void prepare_pressure(const void* user, const double* x, int32_t n_threads) {
  (void)n_threads;
  const NoliCurvedPressure* data = user;
  *data->magnitude = 0.0;
  for (int64_t i = 0; i < data->faces->n; i++) {
    *data->magnitude += fabs(data->scale * face_energy(data, i, x));
  }
}

NoliEnergyTerm noli_curved_pressure_term(const NoliCurvedPressure* data) {
  return (NoliEnergyTerm){.name = "pressure on curved faces",
                          .data = data,
                          .evaluate = evaluate_pressure,
                          .prepare = prepare_pressure,
                          .size = data->faces->n_node,
                          .n_stencil = data->faces->n,
                          .node = data->faces->node,
                          .fixed = true};
}

double noli_curved_pressure_energy(const NoliCurvedPressure* data, const double* x) {
  double sum = 0.0;
  for (int64_t i = 0; i < data->faces->n; i++) {
    sum += face_energy(data, i, x);
  }
  return sum;
}

// The gradient of the potential less N_a p s x t at each point.
void noli_curved_pressure_add_mantle(const NoliCurvedPressure* data, const double* x,
                                     double* force) {
  const NoliCurvedFaces* faces = data->faces;
  for (int64_t i = 0; i < faces->n; i++) {
    double node_x[3 * NOLI_TRI_NODES_MAX];
    curved_faces_load_nodes(faces, i, x, noli_load3(data->origin), node_x);
    for (int32_t q = 0; q < faces->n_point; q++) {
      Point p = interpolate(faces, q, node_x, rigid_at(faces, i, q));
      const double* shape = faces->shape + 3 * (int64_t)q * faces->n_node;
      double load = load_at(data, i, q);
      NoliVec3 cross[3];
      products(&p, cross);
      for (int32_t a = 0; a < faces->n_node; a++) {
        double* f = force + 3 * (int64_t)faces->node[i * faces->n_node + a];
        NoliVec3 lack = noli_scale3(load / 3.0, slope_of_cone(shape + 3 * a, cross));
        lack = noli_mul_add3(lack, -load * shape[3 * a], cross[0]);
        noli_store3(f, noli_add3(noli_load3(f), lack));
      }
    }
  }
}

// ---- traction -----------------------------------------------------------------------------------

void noli_curved_faces_add_traction(const NoliCurvedFaces* faces, const double* traction,
                                    double* force) {
  for (int64_t i = 0; i < faces->n; i++) {
    const int32_t* node = faces->node + i * faces->n_node;
    for (int32_t q = 0; q < faces->n_point; q++) {
      const double* shape = faces->shape + 3 * (int64_t)q * faces->n_node;
      double area = faces->weight[q] * faces->area[i * faces->n_point + q];
      NoliVec3 t = {0};
      for (int32_t a = 0; a < faces->n_node; a++) {
        t = noli_mul_add3(t, shape[3 * a], noli_load3(traction + 3 * (int64_t)node[a]));
      }
      for (int32_t a = 0; a < faces->n_node; a++) {
        double* f = force + 3 * (int64_t)node[a];
        noli_store3(f, noli_mul_add3(noli_load3(f), area * shape[3 * a], t));
      }
    }
  }
}

// ---- derivatives --------------------------------------------------------------------------------

// Names the nodes of face i, and the first `n` of them as inputs; the corners come first.
static void set_nodes(const NoliCurvedFaces* faces, int64_t i, int32_t n, NoliMixedBlocks* blocks) {
  const int32_t* node = faces->node + i * faces->n_node;
  memcpy(blocks->node + i * faces->n_node, node, sizeof *node * (size_t)faces->n_node);
  for (int32_t k = 0; k < 3 * n; k++) {
    blocks->input[i * blocks->n_input + k] = 3 * (int64_t)node[k / 3] + k % 3;
  }
}

// How s x t changes with a node: [s] N,v - [t] N,u.
static NoliMat3 area_by_node(const Point* p, const double shape[3]) {
  return noli_sub33(noli_scale33(shape[2], noli_cross33(p->s)),
                    noli_scale33(shape[1], noli_cross33(p->t)));
}

// The gradient is that of the potential at x, less its own at the start, and p N_a s x t there.
// Adds the contribution of point q to the derivative of the last by the nodes, and to that of the
// others by the origin, with which r changes by minus itself.
static void add_begin(const NoliCurvedPressure* data, int64_t i, int32_t q, const Point* then,
                      const Point* now, NoliMixedBlocks* blocks) {
  const NoliCurvedFaces* faces = data->faces;
  const double* shape = faces->shape + 3 * (int64_t)q * faces->n_node;
  double load = data->scale * load_at(data, i, q);
  for (int32_t a = 0; a < faces->n_node; a++) {
    NoliMat3 by_origin =
        noli_sub33(area_by_node(now, shape + 3 * a), area_by_node(then, shape + 3 * a));
    noli_mixed_add33(blocks, i, a, 3 * faces->n_node, load / 3.0, by_origin);
    for (int32_t b = 0; b < faces->n_node; b++) {
      noli_mixed_add33(blocks, i, a, 3 * b, load * shape[3 * a], area_by_node(then, shape + 3 * b));
    }
  }
}

static void set_begin(const NoliCurvedPressure* data, int64_t i, int64_t origin_row,
                      const double* begin, const double* x, NoliMixedBlocks* blocks) {
  enum { BLOCKS_MAX = NOLI_TRI_NODES_MAX * (NOLI_TRI_NODES_MAX + 1) / 2 };
  const NoliCurvedFaces* faces = data->faces;
  int32_t n = faces->n_node;
  double then[3 * NOLI_TRI_NODES_MAX], now[3 * NOLI_TRI_NODES_MAX], hessian[9 * BLOCKS_MAX];
  curved_faces_load_nodes(faces, i, begin, noli_load3(data->origin), then);
  curved_faces_load_nodes(faces, i, x, noli_load3(data->origin), now);
  for (int32_t q = 0; q < faces->n_point; q++) {
    Point p = interpolate(faces, q, then, rigid_at(faces, i, q));
    Point at = interpolate(faces, q, now, rigid_at(faces, i, q));
    add_begin(data, i, q, &p, &at, blocks);
  }
  face_derivatives(data, i, begin, NULL, hessian);
  for (int32_t a = 0; a < n; a++) {
    for (int32_t b = a + 1; b < n; b++) {
      NoliMat3 block = noli_load33(hessian + 9 * noli_stencil_block(n, a, b));
      noli_mixed_add33(blocks, i, a, 3 * b, -1.0, block);
      noli_mixed_add33(blocks, i, b, 3 * a, -1.0, noli_transpose33(block));
    }
  }
  set_nodes(faces, i, n, blocks);
  for (int c = 0; c < 3; c++) {
    blocks->input[i * blocks->n_input + 3 * n + c] = 3 * origin_row + c;
  }
}

NoliStatus noli_curved_pressure_derivatives(NoliMixedList* list, const NoliCurvedPressure* data,
                                            int32_t force, int32_t n_vert, const double* begin,
                                            const double* x) {
  NoliStatus status = NOLI_OK;
  const NoliCurvedFaces* faces = data->faces;
  int32_t n = faces->n_node;
  NoliMixedBlocks* blocks;
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_BEGIN, faces->n, n, 3 * n + 3, &blocks));
  for (int64_t i = 0; i < faces->n; i++) {
    set_begin(data, i, (int64_t)n_vert + force, begin, x, blocks);
  }
  if (noli_mixed_list_wants(list, NOLI_INPUT_FORCE)) {
    NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_FORCE, faces->n, n, 1, &blocks));
    for (int64_t i = 0; i < faces->n; i++) {
      face_derivatives(data, i, x, noli_mixed_block(blocks, i), NULL);
      set_nodes(faces, i, 0, blocks);
      blocks->input[i] = force;
    }
  }
done:
  return status;
}

// A corner b moves the point by its barycentric coordinate, so the area |s x t| changes by
// (s x t) / |s x t| . d(s x t)/db.
static void add_area_derivative(const NoliCurvedFaces* faces, int64_t i, int32_t q,
                                const Point* rest, NoliVec3 force, NoliMixedBlocks* blocks) {
  static const double corner[3][3] = {{0.0, -1.0, -1.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  const double* shape = faces->shape + 3 * (int64_t)q * faces->n_node;
  NoliVec3 normal = noli_normalize3(noli_cross3(rest->s, rest->t));
  for (int32_t b = 0; b < 3; b++) {
    NoliMat3 by_corner = area_by_node(rest, corner[b]);
    NoliMat3 derivative = noli_outer33(force, noli_transpose_mul33_vec(&by_corner, normal));
    for (int32_t a = 0; a < faces->n_node; a++) {
      noli_mixed_add33(blocks, i, a, 3 * b, faces->weight[q] * shape[3 * a], derivative);
    }
  }
}

NoliStatus noli_curved_traction_derivatives(NoliMixedList* list, const NoliCurvedFaces* faces,
                                            const double* X, const double* traction, double scale) {
  NoliStatus status = NOLI_OK;
  NoliMixedBlocks* blocks;
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_REST, faces->n, faces->n_node, 9, &blocks));
  for (int64_t i = 0; i < faces->n; i++) {
    double rest[3 * NOLI_TRI_NODES_MAX];
    const int32_t* node = faces->node + i * faces->n_node;
    curved_faces_load_nodes(faces, i, X, noli_load3(X + 3 * (int64_t)node[0]), rest);
    for (int32_t q = 0; q < faces->n_point; q++) {
      const double* shape = faces->shape + 3 * (int64_t)q * faces->n_node;
      Point p = interpolate(faces, q, rest, rigid_at(faces, i, q));
      NoliVec3 force = {0};
      for (int32_t a = 0; a < faces->n_node; a++) {
        NoliVec3 t = noli_load3(traction + 3 * (int64_t)node[a]);
        force = noli_mul_add3(force, -scale * shape[3 * a], t);
      }
      add_area_derivative(faces, i, q, &p, force, blocks);
    }
    set_nodes(faces, i, 3, blocks);
  }
done:
  return status;
}

NoliStatus noli_curved_traction_place_derivatives(NoliMixedList* list, const NoliCurvedFaces* faces,
                                                  const NoliMat3* by_place, double scale) {
  NoliStatus status = NOLI_OK;
  int32_t n = faces->n_node;
  NoliMixedBlocks* blocks;
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_REST, faces->n, n, 3 * n, &blocks));
  for (int64_t i = 0; i < faces->n; i++) {
    const int32_t* node = faces->node + i * n;
    for (int32_t q = 0; q < faces->n_point; q++) {
      const double* shape = faces->shape + 3 * (int64_t)q * n;
      double area = faces->weight[q] * faces->area[i * faces->n_point + q];
      for (int32_t k = 0; k < n * n; k++) {
        int32_t a = k / n, b = k % n;
        noli_mixed_add33(blocks, i, a, 3 * b, -scale * area * shape[3 * a] * shape[3 * b],
                         by_place[node[b]]);
      }
    }
    set_nodes(faces, i, n, blocks);
  }
done:
  return status;
}

// Adds one point of a face: forces of the potential now, less those of its mantle when the step
// began, by the pressures at all nodes.
static void add_pressure_by_place(const NoliCurvedPressure* data, int64_t i, int32_t q,
                                  const Point* now, const Point* then, const NoliMat3* by_place,
                                  NoliMixedBlocks* blocks) {
  const NoliCurvedFaces* faces = data->faces;
  int32_t n = faces->n_node;
  const int32_t* node = faces->node + i * n;
  const double* shape = faces->shape + 3 * (int64_t)q * n;
  NoliVec3 cross[3], was[3];
  products(now, cross);
  products(then, was);
  for (int32_t a = 0; a < n; a++) {
    NoliVec3 by = noli_sub3(slope_of_cone(shape + 3 * a, cross), slope_of_cone(shape + 3 * a, was));
    by = noli_mul_add3(noli_scale3(1.0 / 3.0, by), shape[3 * a], was[0]);
    for (int32_t b = 0; b < n; b++) {
      double share = data->scale * faces->weight[q] * shape[3 * b];
      noli_mixed_add33(blocks, i, a, 3 * b, share,
                       noli_outer33(by, noli_load3(by_place[node[b]].m[0])));
    }
  }
}

NoliStatus noli_curved_pressure_place_derivatives(NoliMixedList* list,
                                                  const NoliCurvedPressure* data,
                                                  const NoliMat3* by_place, const double* begin,
                                                  const double* x) {
  NoliStatus status = NOLI_OK;
  const NoliCurvedFaces* faces = data->faces;
  NoliVec3 origin = noli_load3(data->origin);
  NoliMixedBlocks* blocks;
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_REST, faces->n, faces->n_node, 3 * faces->n_node,
                               &blocks));
  for (int64_t i = 0; i < faces->n; i++) {
    double then[3 * NOLI_TRI_NODES_MAX], now[3 * NOLI_TRI_NODES_MAX];
    curved_faces_load_nodes(faces, i, begin, origin, then);
    curved_faces_load_nodes(faces, i, x, origin, now);
    for (int32_t q = 0; q < faces->n_point; q++) {
      Point p = interpolate(faces, q, now, rigid_at(faces, i, q));
      Point was = interpolate(faces, q, then, rigid_at(faces, i, q));
      add_pressure_by_place(data, i, q, &p, &was, by_place, blocks);
    }
    set_nodes(faces, i, faces->n_node, blocks);
  }
done:
  return status;
}
