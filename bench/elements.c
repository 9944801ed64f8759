// noli_bench_elements: cost of elements of order 1 to 4, per element and per unknown, compared with
// the separate path for linear tetrahedra.
//
// A box with about as many nodes at every order, deformed smoothly; straight shapes and shapes of
// the order of the elements. First the loops (energy, gradient, projected Hessian), then the
// complete assembly of gradient and matrix. Memory: the matrix, the tables of the elements. One
// thread; times are the best of several.
#define _POSIX_C_SOURCE 200809L
#include "cpu_time.h"
#include "fem/element_elasticity.h"
#include "fem/elasticity.h"
#include "linalg/assembly/assembly.h"
#include "noli/noli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 5, ORDERS = 4 };

// Cells along each axis of the box: 24 cells of order 1 have as many nodes as 6 of order 4.
static const int32_t cells[ORDERS + 1] = {24, 24, 12, 8, 6};

typedef struct Body {
  NoliContext* context;
  NoliMesh* mesh;
  NoliSpace space;
  NoliElements elements;
  NoliTets tets;
  const NoliMaterial** law; // (n_tet)
  double *mu, *lambda;      // (n_tet)
  double* x;                // (n_node x 3)
  double* gradient;         // (n_node x 3)
  int32_t* dof;             // (n_node)
  NoliElementElasticity of_elements;
  NoliElasticity of_tets;
  NoliEnergyTerm term;
} Body;

static void body_end(Body* body) {
  noli_elements_destroy(body->context, &body->elements);
  noli_tets_destroy(body->context, &body->tets);
  noli_space_destroy(body->context, &body->space);
  noli_mesh_destroy(body->context, &body->mesh);
  free(body->law);
  free(body->mu);
  free(body->lambda);
  free(body->x);
  free(body->gradient);
  free(body->dof);
}

static bool fill(Body* body) {
  size_t n_tet = (size_t)body->space.n_tet, n_node = (size_t)body->space.n_node;
  body->law = malloc(n_tet * sizeof *body->law);
  body->mu = malloc(n_tet * sizeof *body->mu);
  body->lambda = malloc(n_tet * sizeof *body->lambda);
  body->x = malloc(3 * n_node * sizeof *body->x);
  body->gradient = malloc(3 * n_node * sizeof *body->gradient);
  body->dof = malloc(n_node * sizeof *body->dof);
  if (body->law == NULL || body->mu == NULL || body->lambda == NULL || body->x == NULL ||
      body->gradient == NULL || body->dof == NULL) {
    return false;
  }
  for (size_t t = 0; t < n_tet; t++) {
    body->law[t] = noli_material_find("neo_hookean");
    body->mu[t] = 1e5;
    body->lambda[t] = 2e5;
  }
  for (size_t v = 0; v < n_node; v++) {
    const double* X = body->space.X + 3 * v;
    double* x = body->x + 3 * v;
    x[0] = 1.1 * X[0] + 0.05 * sin(3.0 * X[1]);
    x[1] = X[1] + 0.1 * X[2] * X[0];
    x[2] = 0.9 * X[2] + 0.05 * cos(4.0 * X[0]);
    body->dof[v] = (int32_t)v;
  }
  return true;
}

// Order 0: the separate path for linear tetrahedra.
static bool body_begin(Body* body, NoliContext* context, int32_t order, bool curved) {
  *body = (Body){.context = context};
  int32_t n = cells[order], p = order > 0 ? order : 1;
  if (noli_mesh_make_box(context, (double[3]){1, 1, 1}, (int32_t[3]){n, n, n}, false,
                         &body->mesh) != NOLI_OK ||
      (curved && noli_mesh_set_order(context, body->mesh, p) != NOLI_OK) ||
      noli_space_create(context, body->mesh, p, &body->space) != NOLI_OK ||
      noli_elements_create(context, &body->space, -1, &body->elements) != NOLI_OK ||
      noli_tets_create(context, body->mesh->n_tet, body->mesh->tet, body->mesh->x, &body->tets) !=
          NOLI_OK ||
      !fill(body)) {
    return false;
  }
  body->of_elements = (NoliElementElasticity){.elements = &body->elements,
                                              .law = body->law,
                                              .lame_mu = body->mu,
                                              .lame_lambda = body->lambda,
                                              .scale = 1.0};
  body->of_tets = (NoliElasticity){.tets = &body->tets,
                                   .law = body->law,
                                   .lame_mu = body->mu,
                                   .lame_lambda = body->lambda,
                                   .scale = 1.0};
  body->term = order == 0 ? noli_elasticity_term(&body->of_tets)
                          : noli_element_elasticity_term(&body->of_elements);
  return true;
}

// Seconds of the loop over all elements, without assembly.
static double time_loop(const Body* body, unsigned what) {
  const NoliEnergyTerm* term = &body->term;
  size_t n = (size_t)term->n_stencil, size = (size_t)term->size;
  size_t n_block = (size_t)noli_stencil_blocks(term->size);
  // a few elements at a time, as in the assembly: results stay in the cache
  enum { FEW = 8 };
  double* energy = malloc(FEW * sizeof *energy);
  double* gradient = malloc(FEW * size * 3 * sizeof *gradient);
  double* hessian = malloc(FEW * n_block * 9 * sizeof *hessian);
  double best = energy != NULL && gradient != NULL && hessian != NULL ? (double)INFINITY : -1.0;
  for (int k = 0; k < REPEATS && best > 0.0; k++) {
    double start = cpu_seconds();
    for (size_t s = 0; s < n; s += FEW) {
      size_t end = s + FEW < n ? s + FEW : n;
      NoliLocal out = {energy, gradient, hessian};
      term->evaluate(term->data, body->x, (int64_t)s, (int64_t)end, what, &out);
    }
    best = fmin(best, cpu_seconds() - start);
  }
  free(energy);
  free(gradient);
  free(hessian);
  return best;
}

// Seconds of gradient and matrix; the number of its blocks.
static double time_assembly(Body* body, int64_t* n_block) {
  NoliAssembler* assembler = NULL;
  int32_t n = body->space.n_node;
  bool good = noli_assembler_create(body->context, &assembler) == NOLI_OK &&
              noli_assembler_set_unknowns(assembler, n, body->dof, n) == NOLI_OK &&
              noli_assembler_prepare(assembler, &body->term, 1) == NOLI_OK;
  double best = (double)INFINITY;
  for (int k = 0; good && k < REPEATS; k++) {
    double start = cpu_seconds();
    good = noli_assembler_linearize(assembler, &body->term, 1, body->x, NOLI_EVAL_PROJECTED,
                                    body->gradient) == NOLI_OK;
    best = fmin(best, cpu_seconds() - start);
  }
  *n_block = good ? noli_assembler_matrix(assembler)->nnz : 0;
  noli_assembler_destroy(&assembler);
  return good ? best : -1.0;
}

// Bytes of element data that the loops read: nodes, geometry, tables.
static double table_bytes(const Body* body, int32_t order) {
  const NoliElements* elements = &body->elements;
  double n_tet = body->space.n_tet, n_point = elements->n_point;
  if (order == 0) {
    return n_tet * (4 * sizeof(int32_t) + 10 * sizeof(double));
  }
  double places = elements->curved ? n_tet * n_point : n_tet;
  return n_tet * body->space.n_local * sizeof(int32_t) + places * 10 * sizeof(double) +
         6.0 * body->space.n_local * n_point * sizeof(double);
}

static bool measure(NoliContext* context, int32_t order, bool curved) {
  Body body;
  bool good = body_begin(&body, context, order, curved);
  if (good) {
    double n_tet = body.space.n_tet, n_dof = 3.0 * body.space.n_node;
    double energy = time_loop(&body, NOLI_EVAL_ENERGY);
    double gradient = time_loop(&body, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT);
    double hessian = time_loop(&body, NOLI_EVAL_GRADIENT | NOLI_EVAL_PROJECTED);
    int64_t n_block = 0;
    double assembly = time_assembly(&body, &n_block);
    double matrix = (double)n_block * (9 * sizeof(double) + sizeof(int32_t));
    printf(
        "| %s%d%s | %d | %d | %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.0f | %.0f | "
        "%.0f |\n",
        "P", body.space.order,
        order == 0 ? ", own path"
        : curved   ? ", curved"
                   : "",
        body.space.n_tet, body.space.n_node, order == 0 ? 1 : body.elements.n_point,
        1e6 * energy / n_tet, 1e6 * gradient / n_tet, 1e6 * hessian / n_tet, 1e6 * energy / n_dof,
        1e6 * gradient / n_dof, 1e6 * hessian / n_dof, 1e6 * assembly / n_dof,
        9.0 * (double)n_block / n_dof, matrix / n_dof, table_bytes(&body, order) / n_dof);
  } else {
    fprintf(stderr, "noli_bench_elements: %s\n", noli_context_message(context));
  }
  body_end(&body);
  return good;
}

// Usage: noli_bench_elements [--linear], only the separate path for linear tetrahedra.
int main(int argc, char** argv) {
  NoliContext* context = NULL;
  bool linear = argc > 1 && strcmp(argv[1], "--linear") == 0;
  NoliContextDef def = noli_default_context_def();
  def.n_threads = 1;
  if (noli_context_create(&def, &context) != NOLI_OK) {
    return 1;
  }
  bool good = true;
  setvbuf(stdout, NULL, _IOLBF, 4096);
  printf(
      "| elements | tetrahedra | nodes | points | energy us/tet | gradient us/tet | Hessian us/tet "
      "| energy us/dof | gradient us/dof | Hessian us/dof | assembly us/dof | entries/dof | "
      "matrix B/dof | tables B/dof |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  for (int32_t order = 0; good && order <= (linear ? 0 : ORDERS); order++) {
    good = measure(context, order, false);
  }
  for (int32_t order = 2; good && !linear && order <= ORDERS; order++) {
    good = measure(context, order, true);
  }
  noli_context_destroy(&context);
  return good ? 0 : 1;
}
