// Ties: nodes that follow the point of an element of another body that each of them is bound to.
#include "define/connection.h"

#include "base/sized.h"
#include "collide/bvh.h"
#include "collide/closest.h"
#include "collide/facets.h"
#include "math/vec3.h"
#include "model/connections/bindings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Weights below the first limit are rounding; those above the second extrapolate an element too
// far.
#define NO_WEIGHT 1e-12
#define LARGEST_WEIGHT 2.0

enum { STACK_SIZE = 64 };

// The point of a body that a node is bound to: a combination of vertices.
typedef struct Place {
  double distance; // m
  int32_t facet;   // the closest one
  int32_t n;
  int32_t vertex[4];
  double weight[4];
} Place;

typedef struct Ties {
  NoliModel* model;
  const NoliSimDef* def;
  const double* x; // (n_vert x 3) initial positions
  double touching; // m, counts as zero distance
  int32_t* tie;    // (n_node) the tie of each node, or NOLI_NULL_INDEX
  Place* place;    // (n_tied)
  int32_t* node;   // (n_tied) ascending
  int32_t n;
  double* largest; // (n_ties) m, distance of a node from its place
  NoliFacets facets;
  NoliForest forest;   // of facets
  NoliForest elements; // of elements
} Ties;

// Start of messages about a tie.
static void tie_describe(const Ties* ties, int32_t tie, char text[160]) {
  const char* where = ties->def->ties[tie].where;
  if (where != NULL) {
    snprintf(text, 160, "%.150s: ", where);
  } else {
    snprintf(text, 160, "tie %d: ", tie);
  }
}

static NoliVec3 ties_position(const Ties* ties, int32_t vertex) {
  return noli_load3(&ties->x[3 * (int64_t)vertex]);
}

// ---- tied nodes ---------------------------------------------------------------------------------

// Verifies that a body can be tied to another one.
static NoliStatus check_bodies(const Ties* ties, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = ties->model;
  const NoliProblem* problem = &model->problem;
  const NoliTieDef* tie = &ties->def->ties[index];
  const char *body = model->name[tie->body], *to = model->name[tie->to];
  char where[160];
  tie_describe(ties, index, where);
  NOLI_CHECK(model->context, !model->obstacle[tie->body], NOLI_ERROR_ARGUMENT,
             "%s\"%s\" is an obstacle, whose motion is prescribed: tie \"%s\" to it instead", where,
             body, to);
  NOLI_CHECK(model->context,
             !problem->surface->planar[tie->body] && !problem->surface->planar[tie->to],
             NOLI_ERROR_ARGUMENT, "%sbodies in plane strain cannot be tied (\"%s\" to \"%s\")",
             where, body, to);
  const NoliBlock* block = noli_problem_block(problem, tie->body);
  bool proxy = model->follower_first[tie->body] < model->follower_first[tie->body + 1];
  NOLI_CHECK(model->context, block->space == NULL && !proxy, NOLI_ERROR_ARGUMENT,
             "%s\"%s\" has elements of high order or a proxy, whose nodes cannot be tied: tie "
             "\"%s\" to it instead",
             where, body, to);

  // only the barrier and constraints support surfaces that ties keep in contact
  bool meet = noli_body_pairs_get(&problem->contact.body_pairs, tie->body, tie->to);
  NOLI_CHECK(model->context,
             !meet || !ties->def->contact ||
                 noli_contact_model_find(ties->def->contact_model) == &noli_contact_barrier,
             NOLI_ERROR_ARGUMENT,
             "%s\"%s\" touches \"%s\" at all times, which the contact model \"%s\" does not allow: "
             "switch contact off for this pair, or use \"ipc\"",
             where, body, to, ties->def->contact_model);
done:
  return status;
}

// Marks the nodes of all ties.
static NoliStatus tie_mark_nodes(Ties* ties) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = ties->model;
  for (int32_t k = 0; k < ties->def->n_ties; k++) {
    const NoliTieDef* tie = &ties->def->ties[k];
    NOLI_TRY(check_bodies(ties, k));
    int32_t first = model->vert_first[tie->body];
    int32_t n_all =
        model->vert_first[tie->body + 1] - first - noli_model_angle_count(model, tie->body);
    int32_t n = tie->node != NULL ? tie->n_node : n_all;
    for (int32_t i = 0; i < n; i++) {
      int32_t local = tie->node != NULL ? tie->node[i] : i, node = first + local;
      char where[160];
      tie_describe(ties, k, where);
      NOLI_CHECK(model->context, ties->tie[node] == NOLI_NULL_INDEX || ties->tie[node] == k,
                 NOLI_ERROR_ARGUMENT, "%svertex %d of \"%s\" is tied twice, also to \"%s\"", where,
                 local, model->name[tie->body], model->name[ties->def->ties[ties->tie[node]].to]);
      ties->n += ties->tie[node] == NOLI_NULL_INDEX ? 1 : 0;
      ties->tie[node] = k;
    }
  }
done:
  return status;
}

// ---- the closest point --------------------------------------------------------------------------

// Vertices of a facet.
static int32_t facet_vertices(const Ties* ties, int32_t facet, int32_t vertex[3]) {
  const int32_t* corner = &ties->facets.corner[3 * (int64_t)facet];
  int32_t n = 0;
  while (n < 3 && corner[n] != NOLI_NULL_INDEX) {
    vertex[n] = ties->model->problem.surface->point[corner[n]];
    n++;
  }
  return n;
}

static NoliBox vertices_box(const Ties* ties, int32_t n, const int32_t* vertex) {
  NoliBox box = noli_box_empty();
  for (int32_t i = 0; i < n; i++) {
    const double* x = &ties->x[3 * (int64_t)vertex[i]];
    NoliBox point = {{0.0f}, {0.0f}};
    for (int32_t k = 0; k < 3; k++) {
      point.lo[k] = noli_box_below(x[k]);
      point.hi[k] = noli_box_above(x[k]);
    }
    box = noli_box_union(&box, &point);
  }
  return box;
}

static NoliBox facet_box(const Ties* ties, int32_t facet) {
  int32_t vertex[3], n = facet_vertices(ties, facet, vertex);
  return vertices_box(ties, n, vertex);
}

static NoliBox tet_box(const Ties* ties, int32_t t) {
  const int32_t* tet = &ties->model->cell[4 * (int64_t)t];
  return vertices_box(ties, noli_model_cell_size(tet), tet);
}

// A tree over the items of each body.
static NoliStatus plant(const Ties* ties, const int32_t* item_first,
                        NoliBox (*box_of)(const Ties* ties, int32_t item), NoliForest* forest) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = ties->model->context;
  NoliBox* box = NULL;
  float* centre = NULL;
  int32_t n_body = ties->model->n_body, n = item_first[n_body];
  NOLI_TRY(noli_forest_create(context, n_body, item_first, forest));
  NOLI_NEW(context, box, n);
  NOLI_NEW(context, centre, 3 * (int64_t)n);
  for (int32_t i = 0; i < n; i++) {
    NoliBox b = box_of(ties, i);
    for (int32_t k = 0; k < 3; k++) {
      centre[3 * (int64_t)i + k] = 0.5f * b.lo[k] + 0.5f * b.hi[k];
    }
  }
  noli_forest_arrange(forest, centre);
  for (int32_t i = 0; i < n; i++) {
    box[i] = box_of(ties, forest->item[i]);
  }
  noli_forest_refit(forest, box);
done:
  noli_free(context, box);
  noli_free(context, centre);
  return status;
}

// Over the facets of each body, and over its elements.
static NoliStatus plant_trees(Ties* ties) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_facets_create(ties->model->context, ties->model->problem.surface, &ties->facets));
  NOLI_TRY(plant(ties, ties->facets.facet_first, facet_box, &ties->forest));
  NOLI_TRY(plant(ties, ties->model->cell_first, tet_box, &ties->elements));
done:
  return status;
}

// The closest point of a facet.
static Place closest_place(const Ties* ties, int32_t facet, NoliVec3 p) {
  Place place = {.facet = facet};
  int32_t vertex[3];
  NoliVec3 at[4] = {p};
  place.n = facet_vertices(ties, facet, vertex);
  for (int32_t i = 0; i < 3; i++) {
    at[1 + i] = ties_position(ties, vertex[i < place.n ? i : place.n - 1]);
    place.vertex[i] = vertex[i < place.n ? i : place.n - 1];
  }
  NoliFeature feature = {.kind = NOLI_PAIR_POINT_POINT, .vertex = {0, 1}};
  if (place.n == 3) {
    feature = noli_feature_point_triangle(at);
  } else if (place.n == 2) {
    feature = noli_feature_point_edge(at);
  }

  NoliVec3 of_case[4] = {p};
  int32_t size = noli_pair_size[feature.kind];
  for (int32_t i = 1; i < size; i++) {
    of_case[i] = at[feature.vertex[i]];
  }
  NoliClosest closest = noli_closest(feature.kind, of_case);
  for (int32_t i = 1; i < size; i++) {
    place.weight[feature.vertex[i] - 1] = -closest.weight[i];
  }
  place.distance = sqrt(closest.d_sqr);
  return place;
}

// Whether a facet has a tied vertex: a body that is tied to itself is tied to its other facets.
static bool is_of_seam(const Ties* ties, const Place* place) {
  bool tied = false;
  for (int32_t i = 0; i < place->n; i++) {
    int32_t vertex = place->vertex[i];
    tied = tied || (vertex < ties->model->problem.n_node && ties->tie[vertex] != NOLI_NULL_INDEX);
  }
  return tied;
}

// The closest point of the surface of a body; at equal distances, that of the first facet.
static Place find_on_surface(const Ties* ties, int32_t body, bool within, NoliVec3 p) {
  const NoliForest* forest = &ties->forest;
  Place best = {.distance = (double)INFINITY, .facet = NOLI_NULL_INDEX};
  int32_t stack[STACK_SIZE], n_stack = 0;
  if (forest->root[body] != NOLI_NULL_INDEX) {
    stack[n_stack++] = forest->root[body];
  }

  while (n_stack > 0) {
    int32_t n = stack[--n_stack];
    const NoliNode* node = &forest->node[n];
    if (noli_box_distance(&forest->box[n], p) > best.distance + ties->touching) {
      continue;
    }
    if (node->child != NOLI_NULL_INDEX) {
      int32_t child = node->child;
      bool swap =
          noli_box_distance(&forest->box[child], p) > noli_box_distance(&forest->box[child + 1], p);
      stack[n_stack++] = swap ? child : child + 1;
      stack[n_stack++] = swap ? child + 1 : child;
      continue;
    }
    for (int32_t k = node->begin; k < node->end; k++) {
      Place place = closest_place(ties, forest->item[k], p);
      bool nearer = place.distance < best.distance - ties->touching;
      bool as_near = place.distance <= best.distance + ties->touching && place.facet < best.facet;
      if ((nearer || as_near) && !(within && is_of_seam(ties, &place))) {
        best = place;
      }
    }
  }
  return best;
}

static bool has_vertices(const int32_t* tet, int32_t n, const int32_t* vertex) {
  int32_t n_found = 0;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t k = 0; k < 4; k++) {
      n_found += tet[k] == vertex[i] ? 1 : 0;
    }
  }
  return n_found == n;
}

// The first element of a solid that contains p; if `behind` is not NULL, the last one that has its
// vertices. NOLI_NULL_INDEX: there is none.
static int32_t find_element(const Ties* ties, int32_t body, NoliVec3 p, const Place* behind) {
  const NoliForest* forest = &ties->elements;
  int32_t found = NOLI_NULL_INDEX, stack[STACK_SIZE], n_stack = 0;
  NoliVec3 at = behind != NULL ? ties_position(ties, behind->vertex[0]) : p;
  if (forest->root[body] != NOLI_NULL_INDEX) {
    stack[n_stack++] = forest->root[body];
  }

  while (n_stack > 0) {
    int32_t n = stack[--n_stack];
    const NoliNode* node = &forest->node[n];
    // weights down to -NO_WEIGHT count as inside
    if (noli_box_distance(&forest->box[n], at) > ties->touching) {
      continue;
    }
    if (node->child != NOLI_NULL_INDEX) {
      stack[n_stack++] = node->child;
      stack[n_stack++] = node->child + 1;
      continue;
    }
    for (int32_t k = node->begin; k < node->end; k++) {
      int32_t t = forest->item[k];
      const int32_t* tet = &ties->model->cell[4 * (int64_t)t];
      double weight[4];
      if (behind != NULL) {
        found = t > found && has_vertices(tet, behind->n, behind->vertex) ? t : found;
      } else if ((found == NOLI_NULL_INDEX || t < found) &&
                 noli_tet_weights(ties->x, tet, p, weight) >= -NO_WEIGHT) {
        found = t;
      }
    }
  }
  return found;
}

// For a solid with linear elements: the element that contains p, or else the one behind the closest
// triangle, extrapolated to p. False for other bodies.
static bool find_in_solid(const Ties* ties, int32_t body, NoliVec3 p, Place* place) {
  const NoliModel* model = ties->model;
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  bool proxy = model->follower_first[body] < model->follower_first[body + 1];
  int32_t begin = model->cell_first[body], end = model->cell_first[body + 1];
  if (block == NULL || block->space != NULL || proxy || begin == end ||
      model->cell[4 * (int64_t)begin + 3] == NOLI_NULL_INDEX) {
    return false;
  }
  int32_t inside = find_element(ties, body, p, NULL);
  int32_t found = inside == NOLI_NULL_INDEX ? find_element(ties, body, p, place) : inside;
  if (found == NOLI_NULL_INDEX) {
    return false;
  }
  place->n = 4;
  memcpy(place->vertex, &model->cell[4 * (int64_t)found], 4 * sizeof(int32_t));
  (void)noli_tet_weights(ties->x, place->vertex, p, place->weight);
  place->distance = inside != NOLI_NULL_INDEX ? 0.0 : place->distance;
  return true;
}

// Drops weights due to rounding and scales the remaining ones to a sum of one.
static void clean(Place* place) {
  int32_t largest = 0;
  double rest = 1.0;
  for (int32_t i = 0; i < place->n; i++) {
    place->weight[i] = fabs(place->weight[i]) > NO_WEIGHT ? place->weight[i] : 0.0;
    largest = place->weight[i] > place->weight[largest] ? i : largest;
  }
  for (int32_t i = 0; i < place->n; i++) {
    rest -= i != largest ? place->weight[i] : 0.0;
  }
  place->weight[largest] = rest;
}

// The point that a node is bound to.
static NoliStatus tie_find_place(Ties* ties, int32_t node, Place* place) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = ties->model;
  int32_t index = ties->tie[node];
  const NoliTieDef* tie = &ties->def->ties[index];
  NoliVec3 p = ties_position(ties, node);
  char where[160];
  tie_describe(ties, index, where);
  *place = find_on_surface(ties, tie->to, tie->to == tie->body, p);
  double reach = noli_resolve(tie->distance, &model->problem.size);
  if (place->distance > ties->touching) {
    find_in_solid(ties, tie->to, p, place);
  }

  // the place must exist
  int32_t local = node - model->vert_first[tie->body];
  NOLI_CHECK(model->context, place->facet != NOLI_NULL_INDEX || place->n == 4, NOLI_ERROR_ARGUMENT,
             "%s\"%s\" has no surface that vertex %d of \"%s\" could be bound to", where,
             model->name[tie->to], local, model->name[tie->body]);
  NOLI_CHECK(model->context, place->distance <= fmax(reach, ties->touching), NOLI_ERROR_ARGUMENT,
             "%svertex %d of \"%s\", at (%.6g, %.6g, %.6g), is %.3g m away from \"%s\", more than "
             "the distance of the tie, %.3g m",
             where, local, model->name[tie->body], p.x, p.y, p.z, place->distance,
             model->name[tie->to], reach);
  clean(place);
  for (int32_t i = 0; i < place->n; i++) {
    NOLI_CHECK(model->context, fabs(place->weight[i]) <= LARGEST_WEIGHT, NOLI_ERROR_ARGUMENT,
               "%svertex %d of \"%s\" is %.3g m away from \"%s\", too far for the small elements "
               "there to be extrapolated to it",
               where, local, model->name[tie->body], place->distance, model->name[tie->to]);
  }
  ties->largest[index] = fmax(ties->largest[index], place->distance);
done:
  return status;
}

// The vertices that the place depends on: those with a weight, or, where a node touches a facet,
// all those of its element. On edges and vertices of elements, where weights have a kink, that is
// one of several.
static NoliTiePlace describe_place(const Ties* ties, int32_t node, const Place* place) {
  Place of = *place;
  NoliTiePlace described = {.node = node, .p = ties_position(ties, node)};
  bool touches = place->distance <= ties->touching;
  if (touches) {
    (void)find_in_solid(ties, ties->def->ties[ties->tie[node]].to, described.p, &of);
    clean(&of);
  }
  for (int32_t i = 0; i < of.n; i++) {
    if (touches || of.n == 4 || of.weight[i] > 0.0) {
      int32_t k = described.n++;
      described.vertex[k] = of.vertex[i];
      described.weight[k] = of.weight[i];
      described.x[k] = ties_position(ties, of.vertex[i]);
    }
  }
  return described;
}

static NoliStatus find_places(Ties* ties) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = ties->model->context;
  int32_t n = 0;
  NOLI_NEW(context, ties->place, ties->n);
  NOLI_NEW(context, ties->node, ties->n);
  NOLI_NEW(context, ties->model->tie, ties->n);
  for (int32_t i = 0; i < ties->model->problem.n_node; i++) {
    if (ties->tie[i] != NOLI_NULL_INDEX) {
      ties->node[n] = i;
      NOLI_TRY(tie_find_place(ties, i, &ties->place[n]));
      ties->model->tie[n] = describe_place(ties, i, &ties->place[n]);
      n++;
    }
  }
  ties->model->n_tie = n;
done:
  return status;
}

// ---- ties of a definition -----------------------------------------------------------------------

static void tie_report(const Ties* ties) {
  const NoliModel* model = ties->model;
  for (int32_t k = 0; k < ties->def->n_ties; k++) {
    const NoliTieDef* tie = &ties->def->ties[k];
    int32_t n = 0;
    for (int32_t t = 0; t < ties->n; t++) {
      n += ties->tie[ties->node[t]] == k ? 1 : 0;
    }
    noli_log(model->context, NOLI_LOG_INFO,
             "%d vertices of \"%.80s\" are tied to \"%.80s\", at most %.3g m away", n,
             model->name[tie->body], model->name[tie->to], ties->largest[k]);
  }
}

static void ties_release(Ties* ties) {
  NoliContext* context = ties->model->context;
  noli_free(context, ties->tie);
  noli_free(context, ties->place);
  noli_free(context, ties->node);
  noli_free(context, ties->largest);
  noli_facets_release(context, &ties->facets);
  noli_forest_release(context, &ties->forest);
  noli_forest_release(context, &ties->elements);
}

// The vertices of a place without weight touch the node all the same.
static NoliStatus add_bindings(const Ties* ties, NoliBindings* bindings) {
  NoliStatus status = NOLI_OK;
  for (int32_t t = 0; t < ties->n; t++) {
    const Place* place = &ties->place[t];
    NoliBound bound = {ties->node[t], NOLI_CONNECTION_TIE, ties->tie[ties->node[t]]};
    NOLI_TRY(noli_bindings_add(bindings, bound, place->n, place->vertex, place->weight, NULL));
  }
  for (int32_t k = 0; k < ties->def->n_ties; k++) {
    bindings->reach = fmax(bindings->reach, 2.0 * ties->largest[k]);
  }
done:
  return status;
}

static NoliStatus bind_ties(NoliModel* model, const NoliSimDef* def, NoliBindings* bindings) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  Ties ties = {.model = model, .def = def, .x = model->x0, .touching = bindings->touching};
  NOLI_NEW(context, ties.tie, model->problem.n_node);
  NOLI_NEW_ZERO(context, ties.largest, def->n_ties);
  for (int32_t i = 0; i < model->problem.n_node; i++) {
    ties.tie[i] = NOLI_NULL_INDEX;
  }

  NOLI_TRY(tie_mark_nodes(&ties));
  NOLI_TRY(plant_trees(&ties));
  NOLI_TRY(find_places(&ties));
  NOLI_TRY(add_bindings(&ties, bindings));
  tie_report(&ties);
done:
  ties_release(&ties);
  return status;
}

// ---- the type -----------------------------------------------------------------------------------

void noli_tie_def_init(NoliTieDef* def, size_t size) {
  NoliTieDef own = {.distance = {1e-4, NOLI_OF_BALL}};
  noli_sized_default(def, size, &own, sizeof own);
}

static NoliStatus check_tie(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliTieDef* tie = &def->ties[index];
  NOLI_CHECK(context, tie->node != NULL || tie->body != tie->to, NOLI_ERROR_ARGUMENT,
             "tie %d binds all of body \"%s\" to itself", index,
             def->bodies[tie->body].name != NULL ? def->bodies[tie->body].name : "(no name)");
done:
  return status;
}

const NoliConnectionType noli_connection_tie = {.at = {.where = offsetof(NoliTieDef, where),
                                                       .body = offsetof(NoliTieDef, body),
                                                       .node = offsetof(NoliTieDef, node),
                                                       .n_node = offsetof(NoliTieDef, n_node),
                                                       .to = offsetof(NoliTieDef, to)},
                                                .obstacle = "only vertices of bodies can be bound",
                                                .check = check_tie,
                                                .bind = bind_ties};
