// Springs, with dampers, between vertices of two bodies, or between vertices and the ground.
#include "define/connection.h"

#include "base/sized.h"
#include "base/sort.h"
#include "fem/loads/spring.h"
#include "math/vec3.h"
#include "model/model.h"

#include <stddef.h>
#include <string.h>

// ---- closest vertices ---------------------------------------------------------------------------

typedef struct Place {
  double along; // m, on the axis of the largest extent
  int32_t vertex;
} Place;

// Vertices in the order of their places.
typedef struct Places {
  Place* place;
  int32_t n;
  int32_t axis;
} Places;

static int spring_compare_places(const void* one, const void* other) {
  const Place *a = one, *b = other;
  return a->along != b->along ? (a->along < b->along ? -1 : 1) : a->vertex - b->vertex;
}

static void sort_places(const double* X, Places* places) {
  double low[3], high[3];
  for (int k = 0; k < 3; k++) {
    low[k] = INFINITY;
    high[k] = -INFINITY;
    for (int32_t i = 0; i < places->n; i++) {
      low[k] = fmin(low[k], X[3 * (int64_t)places->place[i].vertex + k]);
      high[k] = fmax(high[k], X[3 * (int64_t)places->place[i].vertex + k]);
    }
    places->axis = high[k] - low[k] > high[places->axis] - low[places->axis] ? k : places->axis;
  }
  for (int32_t i = 0; i < places->n; i++) {
    places->place[i].along = X[3 * (int64_t)places->place[i].vertex + places->axis];
  }
  noli_sort(places->place, places->n, sizeof *places->place, spring_compare_places);
}

// The vertex closest to `at`, of several the lowest: searches outward from its place on the axis.
static int32_t closest(const Places* places, const double* X, const double* at) {
  double along = at[places->axis], best = INFINITY;
  int32_t low = 0, high = places->n, found = NOLI_NULL_INDEX;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (places->place[middle].along < along) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }

  for (int direction = -1; direction <= 1; direction += 2) {
    for (int32_t i = direction < 0 ? low - 1 : low; i >= 0 && i < places->n; i += direction) {
      double apart = places->place[i].along - along;
      if (apart * apart > best) {
        break;
      }
      int32_t vertex = places->place[i].vertex;
      double square =
          noli_norm_sqr3(noli_sub3(noli_load3(X + 3 * (int64_t)vertex), noli_load3(at)));
      if (square < best || (square == best && vertex < found)) {
        best = square;
        found = vertex;
      }
    }
  }
  return found;
}

// ---- springs of a definition --------------------------------------------------------------------

static int32_t end_size(const NoliModel* model, int32_t body, const int32_t* node, int32_t n_node) {
  return node != NULL ? n_node : noli_model_vertex_count(model, body);
}

// Vertex i of an end.
static int32_t vertex_of(const NoliModel* model, int32_t body, const int32_t* node, int32_t i) {
  return noli_model_vertex(model, body, node != NULL ? node[i] : i);
}

static NoliStatus check_vertices(const NoliModel* model, const char* prefix, int32_t body,
                                 const int32_t* node, int32_t n_node) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; node != NULL && i < n_node; i++) {
    NOLI_CHECK(model->context, node[i] < noli_model_vertex_count(model, body), NOLI_ERROR_ARGUMENT,
               "%s: body \"%s\" has no vertex %d", prefix, model->name[body], (int)node[i]);
  }
done:
  return status;
}

// Adds one spring of n: the ends, its length and its share of stiffness and damping.
static NoliStatus add_spring(NoliModel* model, const NoliSpringDef* def, const char* prefix,
                             int32_t n, int32_t vertex, int32_t other) {
  NoliStatus status = NOLI_OK;
  NoliSprings* springs = model->problem.connection[NOLI_CONNECTION_SPRING].data;
  const double* X = model->problem.X;
  int64_t s = springs->n;
  springs->node[2 * s] = vertex;
  springs->node[2 * s + 1] = other;
  memcpy(springs->anchor + 3 * s, def->at_point ? def->point : X + 3 * (int64_t)vertex,
         3 * sizeof(double));
  springs->stiffness[s] = def->stiffness / n;
  springs->damping[s] = def->damping / n;
  double distance = noli_norm3(noli_spring_vector(springs, s, X));
  springs->length[s] = def->length == NOLI_REST_DISTANCE ? distance : def->length;
  springs->fitted[s] = def->length == NOLI_REST_DISTANCE;
  springs->at_rest[s] = other == NOLI_NULL_INDEX && !def->at_point;
  springs->n++;

  int32_t first = noli_model_vertex(model, def->body, 0);
  NOLI_CHECK(model->context, vertex != other, NOLI_ERROR_ARGUMENT,
             "%s joins vertex %d of \"%s\" to itself: give the other end other vertices", prefix,
             (int)(vertex - first), model->name[def->body]);
  NOLI_CHECK(model->context, springs->length[s] == 0.0 || distance > 0.0, NOLI_ERROR_ARGUMENT,
             "%s: its length is %g m, but at rest both ends of that of vertex %d of \"%s\" are in "
             "one place, from which it has no direction: use length 0 or other vertices",
             prefix, springs->length[s], (int)(vertex - first), model->name[def->body]);
done:
  return status;
}

static NoliStatus add_item(NoliModel* model, const NoliSpringDef* def, const char* prefix) {
  NoliStatus status = NOLI_OK;
  const double* X = model->problem.X;
  Places places = {0};
  int32_t n = end_size(model, def->body, def->node, def->n_node);
  NOLI_TRY(check_vertices(model, prefix, def->body, def->node, def->n_node));
  if (def->to != NOLI_NULL_INDEX) {
    NOLI_TRY(check_vertices(model, prefix, def->to, def->to_node, def->n_to_node));
    places.n = end_size(model, def->to, def->to_node, def->n_to_node);
    NOLI_NEW(model->context, places.place, places.n);
    for (int32_t i = 0; i < places.n; i++) {
      places.place[i].vertex = vertex_of(model, def->to, def->to_node, i);
    }
    sort_places(X, &places);
  }

  for (int32_t i = 0; i < n; i++) {
    int32_t vertex = vertex_of(model, def->body, def->node, i);
    int32_t other = def->to == NOLI_NULL_INDEX ? NOLI_NULL_INDEX
                    : def->pairwise            ? vertex_of(model, def->to, def->to_node, i)
                                               : closest(&places, X, X + 3 * (int64_t)vertex);
    NOLI_TRY(add_spring(model, def, prefix, n, vertex, other));
  }
done:
  noli_free(model->context, places.place);
  return status;
}

static NoliStatus add_springs(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliConnections* connections = &model->problem.connection[NOLI_CONNECTION_SPRING];
  NoliSprings* springs = NULL;
  int64_t n = 0;

  for (int32_t i = 0; i < def->n_springs; i++) {
    const NoliSpringDef* spring = &def->springs[i];
    n += end_size(model, spring->body, spring->node, spring->n_node);
  }

  NOLI_CHECK(context, n <= INT32_MAX, NOLI_ERROR_TOO_LARGE, "%lld springs are too many",
             (long long)n);
  NOLI_NEW_ZERO(context, connections->first, def->n_springs + 1);
  NOLI_NEW_ZERO(context, springs, 1);
  connections->forces = &noli_spring_forces;
  connections->data = springs;
  NOLI_NEW(context, springs->node, 2 * n);
  NOLI_NEW(context, springs->anchor, 3 * n);
  NOLI_NEW(context, springs->length, n);
  NOLI_NEW(context, springs->stiffness, n);
  NOLI_NEW(context, springs->damping, n);
  NOLI_NEW(context, springs->fitted, n);
  NOLI_NEW(context, springs->at_rest, n);

  for (int32_t i = 0; i < def->n_springs; i++) {
    NoliConnectionPrefix prefix = noli_connection_prefix(NOLI_CONNECTION_SPRING, def, i);
    NOLI_TRY(add_item(model, &def->springs[i], prefix.text));
    connections->first[i + 1] = connections->n = springs->n;
  }
done:
  return status;
}

// ---- results ------------------------------------------------------------------------------------

static void spring_report(const NoliModel* model, int32_t index, const double* lagged,
                          const double* x, const double* v, double* value) {
  const NoliConnections* connections = &model->problem.connection[NOLI_CONNECTION_SPRING];
  int64_t begin = connections->first[index], end = connections->first[index + 1];
  double length = 0.0, energy = 0.0;
  NoliVec3 force = {0};
  for (int64_t s = begin; s < end; s++) {
    force = noli_add3(force, noli_spring_force_on_first(connections->data, s, lagged, x, v));
    length += noli_norm3(noli_spring_vector(connections->data, s, x));
    energy += noli_spring_energy(connections->data, s, x);
  }
  noli_store3(value, force);
  value[3] = length / (double)(end - begin);
  value[4] = energy;
}

// ---- the type -----------------------------------------------------------------------------------

void noli_spring_def_init(NoliSpringDef* def, size_t size) {
  NoliSpringDef own = {.to = NOLI_NULL_INDEX, .length = NOLI_REST_DISTANCE};
  noli_sized_default(def, size, &own, sizeof own);
}

static const char* spring_defect(const void* item) {
  const NoliSpringDef* spring = item;
  return spring->stiffness > 0.0 || spring->damping > 0.0 ? NULL
                                                          : "has neither stiffness nor damping";
}

// Which vertices springs join.
static NoliStatus check_spring(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliSpringDef* spring = &def->springs[index];
  bool grounded = spring->to == NOLI_NULL_INDEX;
  NOLI_CHECK(context, !def->bodies[spring->body].obstacle, NOLI_ERROR_ARGUMENT,
             "spring %d: \"%s\" is an obstacle; springs begin at a body that deforms", index,
             def->bodies[spring->body].name);
  NOLI_CHECK(context, grounded || !spring->at_point, NOLI_ERROR_ARGUMENT,
             "spring %d goes to body \"%s\" and to a point: only one is possible", index,
             def->bodies[grounded ? 0 : spring->to].name);
  NOLI_CHECK(context, !grounded || (spring->to_node == NULL && !spring->pairwise),
             NOLI_ERROR_ARGUMENT, "spring %d: the ground has no vertices", index);
  NOLI_CHECK(context,
             !spring->pairwise || (spring->node != NULL && spring->to_node != NULL &&
                                   spring->n_node == spring->n_to_node),
             NOLI_ERROR_ARGUMENT, "spring %d: pairs need as many vertices at both ends", index);
done:
  return status;
}

const NoliConnectionType noli_connection_spring = {
    .at = {.name = offsetof(NoliSpringDef, name),
           .where = offsetof(NoliSpringDef, where),
           .body = offsetof(NoliSpringDef, body),
           .node = offsetof(NoliSpringDef, node),
           .n_node = offsetof(NoliSpringDef, n_node),
           .to = offsetof(NoliSpringDef, to),
           .to_node = offsetof(NoliSpringDef, to_node),
           .n_to_node = offsetof(NoliSpringDef, n_to_node),
           .at_point = offsetof(NoliSpringDef, at_point),
           .point = offsetof(NoliSpringDef, point)},
    .obstacle = "springs begin at a body, and go \"to\" obstacles",
    .defect = spring_defect,
    .check = check_spring,
    .add_forces = add_springs,
    .columns = "force_x,force_y,force_z,length,energy",
    .n_value = 5,
    .report = spring_report};
