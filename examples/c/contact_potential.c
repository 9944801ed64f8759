// The geometric contact potential of two balls, without a simulation: no force acts at rest,
// although the support exceeds the edge length of the mesh; forces appear as the balls approach.
#include <noli/noli.h>
#include <stdio.h>
#include <string.h>

// Appends a ball of radius 1, translated along y, to the arrays.
static NoliStatus add_ball(NoliContext* context, double y, double* X, int32_t* n_vert, int32_t* tri,
                           int32_t* n_tri) {
  NoliMesh* ball = NULL;
  NoliStatus status = noli_mesh_make_sphere(context, 1.0, 10, true, &ball);
  for (int32_t i = 0; status == NOLI_OK && i < 3 * ball->n_tri; i++) {
    tri[3 * *n_tri + i] = ball->tri[i] + *n_vert;
  }
  for (int32_t i = 0; status == NOLI_OK && i < 3 * ball->n_vert; i++) {
    X[3 * *n_vert + i] = ball->x[i] + (i % 3 == 1 ? y : 0.0);
  }
  if (status == NOLI_OK) {
    *n_vert += ball->n_vert;
    *n_tri += ball->n_tri;
  }
  noli_mesh_destroy(context, &ball);
  return status;
}

enum { MOST = 4000 };

int main(void) {
  static double X[3 * MOST], x[3 * MOST], gradient[3 * MOST];
  static int32_t tri[6 * MOST];
  int32_t n_vert = 0, n_lower = 0, n_tri = 0;
  NoliContext* context = NULL;
  NoliGcpPotential* potential = NULL;
  NoliStatus status = noli_context_create(NULL, &context);
  if (status == NOLI_OK) {
    status = add_ball(context, 0.0, X, &n_vert, tri, &n_tri);
    n_lower = n_vert;
  }
  if (status == NOLI_OK) {
    status = add_ball(context, 3.0, X, &n_vert, tri, &n_tri);
  }
  if (status == NOLI_OK) {
    NoliGcpDef def = noli_default_gcp_def();
    def.eps_target = 0.4; // the edge length is 0.16
    status = noli_gcp_potential_create(context, &def, X, n_vert, tri, n_tri, &potential);
  }
  for (int step = 0; step < 6 && status == NOLI_OK; step++) {
    double gap = step == 0 ? 1.0 : 0.4 / (1 << step), force = 0.0;
    memcpy(x, X, sizeof x);
    for (int32_t v = n_lower; v < n_vert; v++) {
      x[3 * v + 1] += gap - 1.0;
    }
    status = noli_gcp_potential_update(potential, x);
    if (status == NOLI_OK) {
      status = noli_gcp_potential_gradient(potential, gradient);
    }
    if (status == NOLI_OK) {
      int64_t n_pairs = 0;
      noli_gcp_potential_pairs(potential, &n_pairs);
      for (int32_t v = n_lower; v < n_vert; v++) {
        force -= gradient[3 * v + 1];
      }
      printf("gap %.4f m  pairs %5lld  potential %.4e m^2  force on the upper ball %.4e m\n", gap,
             (long long)n_pairs, noli_gcp_potential_value(potential), force);
    }
  }
  if (status != NOLI_OK) {
    fprintf(stderr, "%s: %s\n", noli_status_text(status), noli_context_message(context));
  }
  noli_gcp_potential_destroy(&potential);
  noli_context_destroy(&context);
  return status == NOLI_OK ? 0 : 1;
}
