#include "thin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Vertices closer than this share of the diagonal of the body are one.
#define SAME 1e-7

bool thin_begin(Thin* thin) {
  *thin = (Thin){0};
  thin->body = noli_default_body_def();
  thin->body.material.law = "stvk";
  thin->body.self_contact = false;
  thin->def = noli_default_sim_def();
  thin->def.gravity[1] = 0.0;
  thin->def.contact = false;
  thin->def.integrator = "quasi_static";
  thin->def.tolerance = (NoliScaled){1e-5, true};
  return run_context(&thin->run);
}

void thin_end(Thin* thin) {
  for (int k = 0; k < thin->n_node_lists; k++) {
    free(thin->node[k]);
  }
  if (thin->run.context != NULL) {
    noli_mesh_destroy(thin->run.context, &thin->mesh);
  }
  run_end(&thin->run);
}

// ---- meshes -------------------------------------------------------------------------------------

// Positions of the vertices of all patches, and their triangles.
static void place(const Patches* patches, const NoliMesh* sheet, double* x, int32_t* tri) {
  const int32_t n = sheet->n_vert;
  for (int32_t p = 0; p < patches->count; p++) {
    for (int32_t i = 0; i < n; i++) {
      patches->map(p, sheet->x[3 * i] / patches->size[0] + 0.5,
                   sheet->x[3 * i + 1] / patches->size[1] + 0.5, x + 3 * (p * n + i));
    }
    for (int32_t k = 0; k < 3 * sheet->n_tri; k++) {
      tri[3 * p * sheet->n_tri + k] = p * n + sheet->tri[k];
    }
  }
}

static double distance(const double* a, const double* b) {
  return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

static bool are_near(const double* a, const double* b, double near) {
  return fabs(a[0] - b[0]) <= near && fabs(a[1] - b[1]) <= near && fabs(a[2] - b[2]) <= near;
}

// Moves vertices so that each place has one; returns how many remain, and which each became.
static int32_t join(int32_t n, double* x, int32_t* became) {
  int32_t kept = 0;
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int32_t k = 0; k < 3 * n; k++) {
    low[k % 3] = fmin(low[k % 3], x[k]);
    high[k % 3] = fmax(high[k % 3], x[k]);
  }
  const double near = SAME * distance(low, high);
  for (int32_t i = 0; i < n; i++) {
    int32_t same = 0;
    while (same < kept && !are_near(x + 3 * same, x + 3 * i, near)) {
      same++;
    }
    memmove(x + 3 * same, x + 3 * i, 3 * sizeof *x);
    kept += same == kept ? 1 : 0;
    became[i] = same;
  }
  return kept;
}

// The sheets of all patches as one mesh.
static bool join_patches(NoliContext* context, const Patches* patches, const NoliMesh* sheet,
                         NoliMesh** mesh) {
  int32_t n = patches->count * sheet->n_vert, n_tri = patches->count * sheet->n_tri;
  double* x = malloc(3 * sizeof *x * (size_t)n);
  int32_t* became = malloc(sizeof *became * (size_t)n);
  int32_t* tri = malloc(3 * sizeof *tri * (size_t)n_tri);
  bool good = x != NULL && became != NULL && tri != NULL;
  if (good) {
    place(patches, sheet, x, tri);
    n = join(n, x, became);
    good = noli_mesh_create(context, n, 0, n_tri, 0, 0, false, mesh) == NOLI_OK;
  }
  if (good) {
    memcpy((*mesh)->x, x, 3 * sizeof *x * (size_t)n);
    for (int32_t k = 0; k < 3 * n_tri; k++) {
      (*mesh)->tri[k] = became[tri[k]];
    }
  }
  free(x);
  free(became);
  free(tri);
  return good;
}

bool thin_shell(Thin* thin, const Patches* patches, double thickness, const char* bending_law) {
  NoliContext* context = thin->run.context;
  NoliMesh* sheet = NULL;
  thin->body.shell.thickness = thickness;
  thin->body.shell.bending_law = bending_law;
  bool good = noli_mesh_make_sheet(context, patches->size[0], patches->size[1], patches->cells[0],
                                   patches->cells[1], patches->pattern, &sheet) == NOLI_OK &&
              join_patches(context, patches, sheet, &thin->mesh);
  noli_mesh_destroy(context, &sheet);
  return good;
}

bool thin_rod(Thin* thin, int32_t n, void (*at)(const void* user, double s, double X[3]),
              const void* user) {
  if (noli_mesh_create(thin->run.context, n + 1, 0, 0, n, 0, false, &thin->mesh) != NOLI_OK) {
    return false;
  }
  for (int32_t i = 0; i <= n; i++) {
    at(user, i, thin->mesh->x + 3 * i);
  }
  for (int32_t k = 0; k < 2 * n; k++) {
    thin->mesh->edge[k] = k / 2 + k % 2;
  }
  return true;
}

// ---- held and loaded vertices -------------------------------------------------------------------

static int32_t list_wanted(const Thin* thin, Wanted* wanted, int32_t* node) {
  int32_t n = 0;
  for (int32_t i = 0; i < thin->mesh->n_vert; i++) {
    if (wanted(thin->mesh->x + 3 * i)) {
      node[n++] = i;
    }
  }
  return n;
}

// A list of vertices that lives as long as the scene, with room for `lines` times as many.
static int32_t* keep(Thin* thin, Wanted* wanted, int32_t lines, int32_t* n) {
  int32_t* node = malloc(sizeof *node * (size_t)(lines * thin->mesh->n_vert));
  *n = node != NULL ? list_wanted(thin, wanted, node) : 0;
  if (node != NULL) {
    thin->node[thin->n_node_lists++] = node;
  }
  return *n > 0 ? node : NULL;
}

static void add_hold(Thin* thin, const int32_t* node, int32_t n, const char* components) {
  NoliMotionDef* hold = &thin->hold[thin->def.n_motions++];
  *hold = noli_default_motion_def();
  hold->node = node;
  hold->n_node = n;
  for (int k = 0; k < 3; k++) {
    hold->free_axis[k] = strchr(components, 'x' + k) == NULL;
  }
}

bool thin_hold(Thin* thin, Wanted* wanted, const char* components) {
  int32_t n, *node = keep(thin, wanted, 1, &n);
  if (node != NULL) {
    add_hold(thin, node, n, components);
  }
  return node != NULL;
}

bool thin_hold_range(Thin* thin, int32_t first, int32_t count) {
  int32_t* node = malloc(sizeof *node * (size_t)count);
  if (node == NULL) {
    return false;
  }
  thin->node[thin->n_node_lists++] = node;
  for (int32_t k = 0; k < count; k++) {
    node[k] = first + k;
  }
  add_hold(thin, node, count, "xyz");
  return true;
}

// Sorts vertices by their distance from the first one, which is an end of their line.
static void sort_line(const double* x, int32_t n, int32_t* node) {
  int32_t end = 0;
  for (int32_t k = 1; k < n; k++) {
    const double *a = x + 3 * node[k], *b = x + 3 * node[end];
    end = a[0] + a[1] + a[2] < b[0] + b[1] + b[2] ? k : end;
  }
  int32_t first = node[end];
  for (int32_t i = 1; i < n; i++) {
    int32_t k = i, moved = node[i];
    for (; k > 0 &&
           distance(x + 3 * node[k - 1], x + 3 * first) > distance(x + 3 * moved, x + 3 * first);
         k--) {
      node[k] = node[k - 1];
    }
    node[k] = moved;
  }
}

bool thin_clamp(Thin* thin, Wanted* wanted, const double behind[3]) {
  const int32_t lines = HELD_LINES - 1;
  int32_t n, *node = keep(thin, wanted, HELD_LINES, &n);
  NoliMesh *old = thin->mesh, *mesh = NULL;
  if (node == NULL ||
      noli_mesh_create(thin->run.context, old->n_vert + lines * n, 0,
                       old->n_tri + 2 * lines * (n - 1), 0, 0, false, &mesh) != NOLI_OK) {
    return false;
  }
  memcpy(mesh->x, old->x, 3 * sizeof *mesh->x * (size_t)old->n_vert);
  memcpy(mesh->tri, old->tri, 3 * sizeof *mesh->tri * (size_t)old->n_tri);

  // lines of nodes behind the first one, and pairs of triangles between them
  sort_line(mesh->x, n, node);
  int32_t* tri = mesh->tri + 3 * old->n_tri;
  for (int32_t k = n; k < HELD_LINES * n; k++) {
    node[k] = old->n_vert + k - n;
    for (int c = 0; c < 3; c++) {
      mesh->x[3 * node[k] + c] = mesh->x[3 * node[k - n] + c] + behind[c];
    }
    if (k % n > 0) {
      const int32_t two[6] = {node[k - 1], node[k - 1 - n], node[k - n],
                              node[k - 1], node[k - n],     node[k]};
      memcpy(tri, two, sizeof two);
      tri += 6;
    }
  }
  thin->mesh = mesh;
  noli_mesh_destroy(thin->run.context, &old);
  add_hold(thin, node, HELD_LINES * n, "xyz");
  return true;
}

static void grow(void* user, double t, const double X[3], double value[3]) {
  const double* force = user;
  (void)X;
  for (int k = 0; k < 3; k++) {
    value[k] = t * force[k];
  }
}

bool thin_load(Thin* thin, Wanted* wanted, const char* kind, double x, double y, double z) {
  int32_t n, *node = keep(thin, wanted, 1, &n), k = thin->def.n_forces;
  if (node != NULL) {
    memcpy(thin->force[k], (double[]){x, y, z}, sizeof thin->force[k]);
    thin->load[k] = noli_default_force_def();
    thin->load[k].node = node;
    thin->load[k].n_node = n;
    thin->load[k].kind = kind;
    thin->load[k].value = grow;
    thin->load[k].user = thin->force[k];
    thin->def.n_forces++;
  }
  return node != NULL;
}

// ---- solution -----------------------------------------------------------------------------------

bool thin_start(Thin* thin, double time_step) {
  thin->body.mesh = thin->mesh;
  thin->def.bodies = &thin->body;
  thin->def.n_bodies = 1;
  thin->def.motions = thin->hold;
  thin->def.forces = thin->load;
  thin->def.time_step = time_step;
  return run_start_def(&thin->run, &thin->def);
}

bool thin_solve(Thin* thin, int steps) {
  bool good = thin_start(thin, 1.0 / steps);
  for (int n = 0; n < steps && good; n++) {
    good = run_step(&thin->run);
  }
  return good;
}

void thin_displacement(const Thin* thin, Wanted* wanted, double u[3]) {
  const double* x = noli_sim_positions(thin->run.sim);
  int32_t n = 0;
  u[0] = u[1] = u[2] = 0.0;
  for (int32_t i = 0; i < thin->mesh->n_vert; i++) {
    const double* X = thin->mesh->x + 3 * i;
    for (int k = 0; k < 3 && wanted(X); k++) {
      u[k] += x[3 * i + k] - X[k];
      n += k == 2 ? 1 : 0;
    }
  }
  for (int k = 0; k < 3; k++) {
    u[k] /= n;
  }
}

// ---- the elastica -------------------------------------------------------------------------------

enum { ELASTICA_PARTS = 4000 };

// A clamped beam of length 1: weight or force over the bending stiffness, and their sum over that
// of stretching.
typedef struct Elastica {
  double weight, force, stretch;
} Elastica;

// The load that acts across the beam at s and the angle theta, with the stretch there, which the
// tension causes.
static double load_at(const Elastica* beam, double s, double theta, double* lambda) {
  double load = beam->weight * (1.0 - s) + beam->force;
  *lambda = 1.0 + beam->stretch * load / (beam->weight + beam->force) * sin(theta);
  return load * *lambda;
}

// theta'' = -(beta (1 - s) + f) lambda cos(theta), theta(0) = 0, from a curvature at the clamp, by
// the rule of midpoints; returns theta'(1) and the place of the end.
static double shoot(const Elastica* beam, double curvature, double place[2]) {
  double h = 1.0 / ELASTICA_PARTS, theta = 0.0, kappa = curvature, lambda;
  place[0] = place[1] = 0.0;
  for (int i = 0; i < ELASTICA_PARTS; i++) {
    double s = i * h, middle = theta + 0.5 * h * kappa;
    double kappa_middle = kappa - 0.5 * h * load_at(beam, s, theta, &lambda) * cos(theta);
    double load = load_at(beam, s + 0.5 * h, middle, &lambda);
    place[0] += h * lambda * cos(middle);
    place[1] += h * lambda * sin(middle);
    kappa -= h * load * cos(middle);
    theta += h * kappa_middle;
  }
  return kappa;
}

// The curvature at the clamp for which there is no moment at the end.
static void bend_elastica(const Elastica* beam, double place[2]) {
  double low = 0.0, high = beam->weight + 2.0 * beam->force;
  for (int k = 0; k < 60; k++) {
    double middle = 0.5 * (low + high);
    *(shoot(beam, middle, place) < 0.0 ? &low : &high) = middle;
  }
}

void heavy_elastica(double beta, double stretch, double place[2]) {
  bend_elastica(&(Elastica){.weight = beta, .stretch = stretch}, place);
}

void sheared_elastica(double beta, double stretch, double place[2]) {
  bend_elastica(&(Elastica){.force = beta, .stretch = stretch}, place);
}
