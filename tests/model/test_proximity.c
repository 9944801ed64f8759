// Distances of vertices to the surfaces that they may touch: against all items one by one, closed
// forms, and what does not count.
#define _POSIX_C_SOURCE 200809L

#include "support.h"

#include "collide/surface_items.h"
#include "model/proximity.h"
#include "noli/noli.h"
#include "noli/scene.h"
#include "step/simulation.h"

#include <string.h>

typedef struct Case {
  NoliContext* context;
  NoliScene* scene;
  NoliSim* sim;
  NoliProximity* proximity;
  int32_t n;
  int32_t* vertex;
  float* distance;
} Case;

static void begin(Case* test, const char* quoted, int32_t n_threads) {
  char* text = strdup(quoted);
  for (char* c = text; *c != '\0'; c++) {
    *c = *c == '\'' ? '"' : *c;
  }
  *test = (Case){.context = test_context(n_threads)};
  ASSERT_OK(noli_scene_parse(test->context, text, "scene.json", NULL, NULL, 0, &test->scene));
  ASSERT_OK(noli_sim_create(test->context, noli_scene_sim_def(test->scene), &test->sim));
  ASSERT_OK(noli_proximity_create(test->sim->model, &test->proximity));
  const NoliSurface* surface = test->sim->model->problem.surface;
  test->n = surface->n_point;
  test->vertex = calloc((size_t)test->n, sizeof *test->vertex);
  test->distance = calloc((size_t)test->n, sizeof *test->distance);
  memcpy(test->vertex, surface->point, (size_t)test->n * sizeof *test->vertex);
  free(text);
}

static void measure(Case* test, const double* x) {
  ASSERT_OK(noli_proximity_measure(test->proximity, x, test->vertex, test->n, test->distance, NULL,
                                   NULL));
}

static void end(Case* test) {
  noli_proximity_destroy(&test->proximity);
  noli_sim_destroy(&test->sim);
  noli_scene_destroy(&test->scene);
  test_context_done(&test->context);
  free(test->vertex);
  free(test->distance);
}

static const char several[] =
    "{'time': {'step': 0.01, 'steps': 1}, 'half_spaces': [{'name': 'floor'}], 'bodies': ["
    " {'name': 'ball', 'mesh': {'sphere': {'radius': 0.3, 'cells': 8}}, 'translate': [0, 0.33, 0]},"
    " {'name': 'box', 'mesh': {'box': {'size': [0.3, 0.3, 0.3], 'cells': [6, 6, 6]}},"
    "  'rotate': [10, 20, 30], 'translate': [0.52, 0.4, 0]},"
    " {'name': 'rod', 'mesh': {'line': {'length': 1, 'segments': 12}}, 'rod': {'radius': 0.01},"
    "  'translate': [0, 0.66, 0.1]},"
    " {'name': 'ghost', 'mesh': {'box': {'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}},"
    "  'translate': [0, 0.72, -0.1]}],"
    " 'obstacles': [{'name': 'plate', 'mesh': {'plane': {'size': [2, 2], 'cells': [4, 4]}},"
    "  'translate': [0, 0.9, 0]}],"
    " 'pairs': [{'a': 'ghost', 'b': 'ball', 'contact': false}, {'a': 'ghost', 'b': 'rod', "
    "'contact': false}, {'a': 'ghost', 'b': 'plate', 'contact': false}]}";

// One by one, over all items of other bodies.
static double slow_distance(const Case* test, int32_t vertex, const int32_t* item, int32_t n_item) {
  const NoliModel* model = test->sim->model;
  const NoliSurface* surface = model->problem.surface;
  const double* x = model->x0;
  double nearest = noli_proximity_reach(test->proximity), weight[3];
  int32_t body = surface->body[vertex];
  for (int32_t i = 0; i < n_item; i++) {
    int32_t other = surface->body[item[3 * i]];
    if (other != body && noli_body_pairs_get(&model->problem.contact.body_pairs, body, other)) {
      double d = noli_surface_item_distance(noli_load3(x + 3 * vertex), x, item + 3 * i, weight);
      nearest = noli_smaller(nearest, d - noli_surface_offset(surface, body, other));
    }
  }
  bool on_floor = noli_body_pairs_get(&model->problem.contact.body_pairs, body, model->n_body);
  return on_floor ? noli_smaller(nearest, x[3 * vertex + 1] - noli_surface_offset_of(surface, body))
                  : nearest;
}

static void distances_are_those_of_all_items(void** state) {
  (void)state;
  Case test, threads;
  begin(&test, several, 1);
  begin(&threads, several, 3);
  int32_t* item = NULL;
  int32_t n_item = 0, n_near = 0, n_far = 0;
  ASSERT_OK(noli_surface_items(test.context, test.sim->model->problem.surface, &item, &n_item));
  measure(&test, test.sim->model->x0);
  measure(&threads, threads.sim->model->x0);
  double reach = noli_proximity_reach(test.proximity);
  for (int32_t i = 0; i < test.n; i++) {
    double want = slow_distance(&test, test.vertex[i], item, n_item);
    ASSERT_NEAR((double)test.distance[i], want, 1e-6 * reach);
    assert_true(test.distance[i] == threads.distance[i]);
    n_near += want < 0.9 * reach;
    n_far += want == reach;
  }
  assert_true(n_near > 20 && n_far > 20);
  noli_free(test.context, item);
  end(&threads);
  end(&test);
}

// A strip that is folded onto itself: its two halves are a gap apart; flat, or as thin as it is,
// it has no gap.
static void a_folded_sheet_sees_itself(void** state) {
  (void)state;
  Case test;
  begin(&test,
        "{'time': {'step': 0.01, 'steps': 1}, 'gravity': [0, 0, 0], 'contact': {'distance': 2e-3},"
        " 'bodies': [{'name': 'strip', 'mesh': {'box': {'size': [2, 0.01, 0.2], 'cells': [40, 1, "
        "4]}}}]}",
        1);
  const NoliProblem* problem = &test.sim->model->problem;
  double reach = noli_proximity_reach(test.proximity);
  measure(&test, test.sim->model->x0);
  for (int32_t i = 0; i < test.n; i++) {
    ASSERT_NEAR((double)test.distance[i], reach, 1e-6);
  }

  // the part with X > 0.1 is turned back over the other one, 4 mm above it
  double* x = malloc(3 * (size_t)problem->n_vert * sizeof *x);
  memcpy(x, problem->X, 3 * (size_t)problem->n_vert * sizeof *x);
  for (int32_t v = 0; v < problem->n_vert; v++) {
    if (x[3 * v] > 0.1) {
      x[3 * v] = 0.2 - x[3 * v];
      x[3 * v + 1] = 0.014 - x[3 * v + 1];
    }
  }
  measure(&test, x);
  int32_t n_near = 0;
  for (int32_t i = 0; i < test.n; i++) {
    const double* X = problem->X + 3 * (ptrdiff_t)test.vertex[i];
    if (X[1] > 0.0 && X[0] < -0.2 && X[0] > -0.6) {
      ASSERT_NEAR((double)test.distance[i], 0.004, 1e-6);
      n_near++;
    } else if (X[1] < 0.0 && X[0] < -0.2 && X[0] > -0.6) {
      ASSERT_NEAR((double)test.distance[i], reach, 1e-6);
    }
  }
  assert_true(n_near >= 35);
  free(x);
  end(&test);
}

// One by one, over all items of the same body.
static double slow_self_distance(const Case* test, const double* x, int32_t vertex,
                                 const int32_t* item, int32_t n_item) {
  const NoliProblem* problem = &test->sim->model->problem;
  double nearest = 4.0 * problem->contact.dhat, weight[3];
  for (int32_t i = 0; i < n_item; i++) {
    double d = noli_surface_item_distance(noli_load3(x + 3 * vertex), x, item + 3 * i, weight);
    NoliVec3 rest = noli_load3(problem->X + 3 * vertex);
    for (int32_t k = 0; k < 3; k++) {
      rest = noli_mul_add3(rest, -weight[k], noli_load3(problem->X + 3 * item[3 * i + k]));
    }
    nearest = d < noli_norm3(rest) / 3.0 ? noli_smaller(nearest, d) : nearest;
  }
  return nearest < 4.0 * problem->contact.dhat ? nearest : noli_proximity_reach(test->proximity);
}

// A sheet that rolls up, measured at many positions one after the other: trees and what was nearest
// before are kept between them.
static void a_rolled_sheet_is_measured_as_one_by_one(void** state) {
  (void)state;
  Case test;
  begin(&test,
        "{'time': {'step': 0.01, 'steps': 1}, 'contact': {'distance': 0.004}, 'bodies': [{'name': "
        "'sheet', 'mesh': {'plane': {'size': [1, 0.2], 'cells': [60, 9]}}, 'shell': "
        "{'thickness': 1e-3}}]}",
        2);
  const NoliProblem* problem = &test.sim->model->problem;
  int32_t* item = NULL;
  int32_t n_item = 0, n_near = 0;
  double* x = malloc(3 * (size_t)problem->n_vert * sizeof *x);
  ASSERT_OK(noli_surface_items(test.context, problem->surface, &item, &n_item));
  for (int32_t round = 0; round < 20; round++) {
    for (int32_t v = 0; v < problem->n_vert; v++) {
      const double* X = problem->X + 3 * (ptrdiff_t)v;
      double turn = (0.5 + 0.8 * round) * (X[0] + 0.5), radius = 0.05 + 0.0015 * turn;
      x[3 * v] = radius * cos(turn);
      x[3 * v + 1] = radius * sin(turn) + 0.001 * sin(40.0 * X[2]);
      x[3 * v + 2] = X[2] * (1.0 - 0.03 * round);
    }
    measure(&test, x);
    for (int32_t i = 0; i < test.n; i++) {
      double want = slow_self_distance(&test, x, test.vertex[i], item, n_item);
      ASSERT_NEAR((double)test.distance[i], want, 1e-6 * want);
      n_near += want < 0.016;
    }
  }
  assert_true(n_near > 1000);
  free(x);
  noli_free(test.context, item);
  end(&test);
}

// A box under a plate of two triangles, and a sheet between two others: what is near is pushed
// apart, also the corners of a large triangle, and the sheet in the middle is left where it is.
static void what_is_near_is_pushed_apart(void** state) {
  (void)state;
  Case test;
  begin(&test,
        "{'time': {'step': 0.01, 'steps': 1}, 'half_spaces': [{'name': 'floor'}], 'bodies': ["
        " {'name': 'box', 'mesh': {'box': {'size': [0.2, 0.1, 0.2], 'cells': [4, 1, 4]}},"
        "  'translate': [0, 0.050001, 0]},"
        " {'name': 'low', 'mesh': {'plane': {'size': [0.3, 0.3], 'cells': [2, 2]}}, 'shell': "
        "  {'thickness': 1e-3}, 'translate': [2, 0.5, 0]},"
        " {'name': 'middle', 'mesh': {'plane': {'size': [0.3, 0.3], 'cells': [2, 2]}}, 'shell': "
        "  {'thickness': 1e-3}, 'translate': [2, 0.500001, 0]},"
        " {'name': 'high', 'mesh': {'plane': {'size': [0.3, 0.3], 'cells': [2, 2]}}, 'shell': "
        "  {'thickness': 1e-3}, 'translate': [2, 0.500002, 0]}],"
        " 'obstacles': [{'name': 'plate', 'mesh': {'plane': {'size': [1, 1], 'cells': [1, 1]}},"
        "  'translate': [0, 0.100002, 0]}]}",
        1);
  const NoliModel* model = test.sim->model;
  float* away = calloc(3 * (size_t)test.n, sizeof *away);
  float* gap = calloc((size_t)test.n, sizeof *gap);
  ASSERT_OK(noli_proximity_measure(test.proximity, model->x0, test.vertex, test.n, test.distance,
                                   away, gap));
  for (int32_t i = 0; i < test.n; i++) {
    const char* body = model->name[model->problem.surface->body[test.vertex[i]]];
    bool up = strcmp(body, "plate") == 0 || strcmp(body, "high") == 0 ||
              model->x0[3 * (ptrdiff_t)test.vertex[i] + 1] < 0.05;
    ASSERT_NEAR((double)gap[i], 1e-6, 1e-9);
    ASSERT_NEAR((double)away[3 * i], 0.0, 1e-6);
    ASSERT_NEAR((double)away[3 * i + 2], 0.0, 1e-6);
    if (strcmp(body, "middle") == 0) {
      assert_true(fabs((double)away[3 * i + 1]) < 0.6);
    } else {
      ASSERT_NEAR((double)away[3 * i + 1], up ? 1.0 : -1.0, 1e-6);
    }
  }
  free(away);
  free(gap);
  end(&test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_are_those_of_all_items),
      cmocka_unit_test(a_folded_sheet_sees_itself),
      cmocka_unit_test(a_rolled_sheet_is_measured_as_one_by_one),
      cmocka_unit_test(what_is_near_is_pushed_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
