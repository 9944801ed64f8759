#include "fem/loads/pressure.h"

#include "math/mat3.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

// A vector in the plane, turned clockwise.
static NoliVec3 turned(NoliVec3 a) {
  return noli_vec3(a.y, -a.x, 0.0);
}

// Volume of the cone to the point.
static double cone(const NoliFaceCorners* face) {
  const NoliVec3* c = face->corner;
  return face->n == 2 ? 0.5 * (c[0].x * c[1].y - c[0].y * c[1].x)
                      : noli_dot3(c[0], noli_cross3(c[1], c[2])) / 6.0;
}

NoliVec3 noli_face_cone_gradient(const NoliFaceCorners* face, int32_t k) {
  const NoliVec3* c = face->corner;
  return face->n == 2 ? noli_scale3(k == 0 ? 0.5 : -0.5, turned(c[1 - k]))
                      : noli_scale3(1.0 / 6.0, noli_cross3(c[(k + 1) % 3], c[(k + 2) % 3]));
}

NoliVec3 noli_face_area_share(const NoliFaceCorners* face) {
  const NoliVec3* c = face->corner;
  NoliVec3 ab = noli_sub3(c[1], c[0]);
  return face->n == 2 ? noli_scale3(0.5, turned(ab))
                      : noli_scale3(1.0 / 6.0, noli_cross3(ab, noli_sub3(c[2], c[0])));
}

// Writes the blocks of the Hessian times s: those of different corners only.
static void store_hessian(const NoliFaceCorners* face, double s, double* block) {
  memset(block, 0, 54 * sizeof *block);
  if (face->n == 2) {
    // d2V / da db of (a_x b_y - a_y b_x) / 2
    block[9 + 1] = 0.5 * s;
    block[9 + 3] = -0.5 * s;
    return;
  }
  static const struct {
    int32_t a, b, other;
    double sign;
  } couplings[3] = {{0, 1, 2, -1.0}, {0, 2, 1, 1.0}, {1, 2, 0, -1.0}};
  for (int i = 0; i < 3; i++) {
    NoliMat3 cross =
        noli_cross33(noli_scale3(couplings[i].sign * s / 6.0, face->corner[couplings[i].other]));
    memcpy(block + 9 * noli_stencil_block(3, couplings[i].a, couplings[i].b), cross.m,
           9 * sizeof *block);
  }
}

static void evaluate_pressure(const void* user, const double* x, int64_t begin, int64_t end,
                              unsigned what, const NoliLocal* out) {
  const NoliPressure* data = user;
  for (int64_t i = begin; i < end; i++) {
    NoliFaceCorners face =
        noli_face_corners(data->faces->tri + 3 * i, x, noli_load3(data->origin + 3 * i));
    double s = data->scale * data->value[i];
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      out->energy[i - begin] = s * cone(&face);
    }
    for (int32_t k = 0; (what & NOLI_EVAL_GRADIENT) != 0 && k < 3; k++) {
      NoliVec3 g = k < face.n ? noli_scale3(s, noli_face_cone_gradient(&face, k)) : (NoliVec3){0};
      noli_store3(out->gradient + 9 * (i - begin) + 3 * k, g);
    }
    if ((what & NOLI_EVAL_PROJECTED) != 0) {
      memset(out->hessian + 54 * (i - begin), 0, 54 * sizeof *out->hessian);
    } else if ((what & NOLI_EVAL_HESSIAN) != 0) {
      store_hessian(&face, s, out->hessian + 54 * (i - begin));
    }
  }
}

static void prepare_pressure(const void* user, const double* x, int32_t n_threads) {
  (void)n_threads;
  const NoliPressure* data = user;
  *data->magnitude = 0.0;
  for (int64_t i = 0; i < data->faces->n; i++) {
    NoliFaceCorners face =
        noli_face_corners(data->faces->tri + 3 * i, x, noli_load3(data->origin + 3 * i));
    *data->magnitude += fabs(data->scale * data->value[i] * cone(&face));
  }
}

NoliEnergyTerm noli_pressure_term(const NoliPressure* data) {
  return (NoliEnergyTerm){.name = "pressure",
                          .data = data,
                          .evaluate = evaluate_pressure,
                          .prepare = prepare_pressure,
                          .size = 3,
                          .n_stencil = data->faces->n,
                          .node = data->faces->tri,
                          .fixed = true};
}

double noli_pressure_energy(const NoliPressure* data, const double* x) {
  double energy = 0.0;
  for (int64_t i = 0; i < data->faces->n; i++) {
    NoliFaceCorners face =
        noli_face_corners(data->faces->tri + 3 * i, x, noli_load3(data->origin + 3 * i));
    energy += data->value[i] * cone(&face);
  }
  return energy;
}

void noli_pressure_add_mantle(const NoliPressure* data, int32_t begin, int32_t end, const double* x,
                              double* force) {
  for (int64_t i = begin; i < end; i++) {
    const int32_t* tri = data->faces->tri + 3 * i;
    NoliFaceCorners face = noli_face_corners(tri, x, noli_load3(data->origin + 3 * i));
    NoliVec3 share = noli_face_area_share(&face);
    for (int32_t k = 0; k < face.n; k++) {
      double* f = force + 3 * (int64_t)tri[k];
      NoliVec3 lack = noli_sub3(noli_face_cone_gradient(&face, k), share);
      noli_store3(f, noli_mul_add3(noli_load3(f), data->value[i], lack));
    }
  }
}

void noli_faces_add_traction(const NoliFaces* faces, const double* X, const double* traction,
                             double* force) {
  for (int64_t i = 0; i < faces->n; i++) {
    const int32_t* tri = faces->tri + 3 * i;
    NoliFaceCorners face = noli_face_corners(tri, X, noli_load3(X + 3 * (int64_t)tri[0]));
    double share = noli_norm3(noli_face_area_share(&face)); // of one corner
    NoliVec3 sum = {0};
    for (int32_t k = 0; k < face.n; k++) {
      sum = noli_add3(sum, noli_load3(traction + 3 * (int64_t)tri[k]));
    }
    // the integral of t N_k: (t_k + sum of t) / (n + 1) of the share
    for (int32_t k = 0; k < face.n; k++) {
      int64_t vertex = tri[k];
      NoliVec3 t = noli_add3(sum, noli_load3(traction + 3 * vertex));
      noli_store3(force + 3 * vertex,
                  noli_mul_add3(noli_load3(force + 3 * vertex), share / (face.n + 1), t));
    }
  }
}
