#include "model/audit.h"

#include "base/ranks.h"
#include "collide/audit.h"
#include "collide/closest.h"
#include "collide/nested.h"
#include "math/vec3.h"

#include <stdio.h>

void noli_defect_set(const NoliModel* model, NoliDefect* defect, int32_t side,
                     const int32_t* vertex, int32_t n) {
  defect->entity[side] = model->problem.surface->body[vertex[0]];
  defect->n_vert[side] = n;
  for (int32_t i = 0; i < 4; i++) {
    defect->vertex[side][i] = i < n ? noli_model_local(model, vertex[i]) : NOLI_NULL_INDEX;
  }
}

// A defect of one primitive.
static NoliDefect lone_defect(const NoliModel* model, const int32_t* vertex, int32_t n) {
  NoliDefect defect = {
      .entity = {0, NOLI_NULL_INDEX},
      .vertex = {{0}, {NOLI_NULL_INDEX, NOLI_NULL_INDEX, NOLI_NULL_INDEX, NOLI_NULL_INDEX}}};
  noli_defect_set(model, &defect, 0, vertex, n);
  return defect;
}

// Decided exactly from the vertices if they determine the orientation, otherwise as the type of
// block defines.
static bool audit_is_inverted(const NoliModel* model, const double* x, int32_t body, int32_t t) {
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  if (block->type->affine) {
    return noli_audit_inverted(x, &model->cell[4 * (int64_t)t], 1, NULL) > 0;
  }
  int32_t element = model->problem.range[body].begin + t - model->cell_first[body];
  return block->type->is_inverted != NULL && block->type->is_inverted(block, x, element);
}

static NoliStatus find_inverted(const NoliModel* model, const double* x, NoliDefects* defects) {
  NoliStatus status = NOLI_OK;
  for (int32_t t = 0, body = 0; t < model->cell_first[model->n_body]; t++) {
    const int32_t* tet = &model->cell[4 * (int64_t)t];
    while (t >= model->cell_first[body + 1]) {
      body++;
    }
    if (!audit_is_inverted(model, x, body, t)) {
      continue;
    }
    int32_t n = noli_model_cell_size(tet);
    NoliDefect defect = lone_defect(model, tet, n);
    defect.kind = NOLI_DEFECT_INVERTED;
    NoliVec3 centre = {0};
    for (int32_t i = 0; i < n; i++) {
      centre = noli_mul_add3(centre, 1.0 / n, noli_load3(&x[3 * (int64_t)tet[i]]));
    }
    noli_store3(defect.position, centre);
    NOLI_PUSH(model->context, defects, defect);
  }
done:
  return status;
}

// Where the first rank has the elements it looks for all, which call this together.
NoliStatus noli_audit_add_inverted(const NoliModel* model, const double* x, NoliDefects* defects) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  int64_t first = defects->count, n = 0;
  if (!model->cells_on_first) {
    return find_inverted(model, x, defects);
  }
  if (noli_rank(context) == 0) {
    NOLI_TRY(find_inverted(model, x, defects));
    n = defects->count - first;
  }
  NOLI_TRY(noli_ranks_broadcast(context, 0, sizeof n, &n, 1));
  if (n > 0) {
    NOLI_TRY(noli_ranks_join(context, noli_array_reserve(context, defects, first + n)));
    NOLI_TRY(noli_ranks_broadcast(context, 0, sizeof *defects->data, defects->data + first, n));
    defects->count = first + n;
  }
done:
  return status;
}

NoliStatus noli_audit_add_crossings(const NoliModel* model, const double* x, NoliDefects* defects) {
  NoliStatus status = NOLI_OK;
  NoliCrossing* crossings = NULL;
  int64_t n = 0;
  const NoliBodyPairs pairs = noli_problem_kept_apart(&model->problem);
  NOLI_TRY(
      noli_audit_intersections(model->context, model->problem.surface, x, &pairs, &crossings, &n));
  for (int64_t i = 0; i < n; i++) {
    const NoliCrossing* crossing = &crossings[i];
    NoliDefect defect = {.kind = NOLI_DEFECT_INTERSECTION};
    noli_defect_set(model, &defect, 0, crossing->edge,
                    crossing->edge[0] == crossing->edge[1] ? 1 : 2);
    noli_defect_set(model, &defect, 1, crossing->tri, noli_crossing_size(crossing));
    noli_store3(defect.position, crossing->position);
    NOLI_PUSH(model->context, defects, defect);
  }
done:
  noli_free(model->context, crossings);
  return status;
}

// Marks the pairs of bodies that already cross or touch: 1 in the table, 0 for all others.
static NoliStatus mark_crossing(const NoliModel* model, const NoliDefects* defects,
                                NoliPairTable* crossing) {
  NoliStatus status = NOLI_OK;
  NoliPairNumber* pair = NULL;
  int64_t n = 0;
  NOLI_NEW(model->context, pair, defects->count);
  for (int64_t i = 0; i < defects->count; i++) {
    const NoliDefect* defect = &defects->data[i];
    if (defect->kind == NOLI_DEFECT_INTERSECTION) {
      pair[n++] = (NoliPairNumber){defect->entity[0], defect->entity[1], 1};
    }
  }
  NOLI_TRY(noli_pair_table_build(model->context, model->n_body, 0, n, pair, crossing));
done:
  noli_free(model->context, pair);
  return status;
}

bool noli_audit_excludes(const NoliModel* model, int32_t body) {
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  return block != NULL && (block->type->solid || model->problem.contact.model == &noli_contact_gcp);
}

NoliStatus noli_audit_add_nested(const NoliModel* model, const double* x, NoliDefects* defects) {
  NoliStatus status = NOLI_OK;
  NoliNested* nested = NULL;
  NoliPairTable crossing = {0};
  int64_t n = 0;
  NOLI_TRY(noli_audit_nested(model->context, model->problem.surface, x,
                             &model->problem.contact.body_pairs, &nested, &n));
  if (n > 0) {
    NOLI_TRY(mark_crossing(model, defects, &crossing));
  }

  for (int64_t i = 0; i < n; i++) {
    // of bodies that cross, one vertex does not locate the others
    int32_t body = model->problem.surface->body[nested[i].vertex], container = nested[i].container;
    if (!noli_audit_excludes(model, container) ||
        noli_pair_table_get(&crossing, body, container) != 0) {
      continue;
    }
    NoliDefect defect = lone_defect(model, &nested[i].vertex, 1);
    defect.kind = NOLI_DEFECT_NESTED;
    defect.entity[1] = nested[i].container;
    noli_store3(defect.position, noli_load3(&x[3 * (int64_t)nested[i].vertex]));
    NOLI_PUSH(model->context, defects, defect);
  }
done:
  noli_pair_table_free(model->context, &crossing);
  noli_free(model->context, nested);
  return status;
}

NoliStatus noli_audit_add_below_half_spaces(const NoliModel* model, const double* x,
                                            NoliDefects* defects) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &model->problem;
  const NoliSurface* surface = problem->surface;

  for (int32_t p = 0; p < problem->contact.n_half_spaces; p++) {
    int32_t i = -1;
    for (;;) {
      i = noli_audit_below_plane(surface, x, problem->contact.half_spaces,
                                 &problem->contact.body_pairs, p, i + 1);
      if (i >= surface->n_point) {
        break;
      }
      const double* at = &x[3 * (int64_t)surface->point[i]];
      NoliDefect defect = lone_defect(model, &surface->point[i], 1);
      defect.kind = NOLI_DEFECT_HALF_SPACE;
      defect.entity[1] = model->n_body + p;
      defect.distance = noli_half_space_distance(&problem->contact.half_spaces[p], at) -
                        noli_surface_offset_of(surface, surface->body[surface->point[i]]);
      noli_store3(defect.position, noli_load3(at));
      NOLI_PUSH(model->context, defects, defect);
    }
  }
done:
  return status;
}

NoliVec3 noli_defect_place(const NoliVec3 edges[4]) {
  NoliFeature feature = noli_feature_edge_edge(edges);
  int32_t n = noli_pair_size[feature.kind];
  NoliVec3 x[4] = {{0}}, sum = {0};
  for (int32_t i = 0; i < n; i++) {
    x[i] = edges[feature.vertex[i]];
  }
  NoliClosest closest = noli_closest(feature.kind, x);
  double all = 0.0;
  for (int32_t i = 0; i < n; i++) {
    double weight = feature.vertex[i] < 2 ? closest.weight[i] : 0.0;
    sum = noli_mul_add3(sum, weight, x[i]);
    all += weight;
  }
  return noli_scale3(1.0 / all, sum);
}

NoliStatus noli_audit_add_overlaps(const NoliModel* model, const double* x, NoliDefects* defects) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &model->problem;
  NoliOverlap* overlaps = NULL;
  int64_t n = 0;
  if (problem->surface->offset == NULL) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_audit_overlaps(model->context, problem->surface, x, &problem->contact.body_pairs,
                               &overlaps, &n));

  for (int64_t i = 0; i < n; i++) {
    const NoliOverlap* overlap = &overlaps[i];
    NoliDefect defect = {.kind = NOLI_DEFECT_ZERO_GAP, .distance = overlap->gap};
    int32_t other = overlap->b[0] == overlap->b[1] ? 1 : overlap->b[1] == overlap->b[2] ? 2 : 3;
    noli_defect_set(model, &defect, 0, overlap->a, overlap->a[0] == overlap->a[1] ? 1 : 2);
    noli_defect_set(model, &defect, 1, overlap->b, other);
    const int32_t vertex[4] = {overlap->a[0], overlap->a[1], overlap->b[0], overlap->b[1]};
    NoliVec3 at[4];
    for (int k = 0; k < 4; k++) {
      at[k] = noli_load3(&x[3 * (int64_t)vertex[k]]);
    }
    bool edges = vertex[0] != vertex[1] && other < 3;
    noli_store3(defect.position, edges ? noli_defect_place(at) : at[0]);
    NOLI_PUSH(model->context, defects, defect);
  }
done:
  noli_free(model->context, overlaps);
  return status;
}

NoliStatus noli_audit_model(const NoliModel* model, const double* x, NoliDefects* defects) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_audit_add_inverted(model, x, defects));
  if (noli_problem_keeps_apart(&model->problem)) {
    NOLI_TRY(noli_audit_add_crossings(model, x, defects));
  }
  if (model->problem.contact.model->keeps_apart) {
    NOLI_TRY(noli_audit_add_below_half_spaces(model, x, defects));
    NOLI_TRY(noli_audit_add_nested(model, x, defects));
    NOLI_TRY(noli_audit_add_overlaps(model, x, defects));
  }
done:
  return status;
}

// "edge (1, 2) of "ball"".
static void describe_primitive(const NoliModel* model, const NoliDefect* defect, int32_t side,
                               char text[192]) {
  static const char* const names[] = {"", "vertex", "edge", "triangle", "tetrahedron"};
  int32_t n = defect->n_vert[side];
  int length = snprintf(text, 192, "%s (", names[n]);
  for (int32_t i = 0; i < n; i++) {
    length += snprintf(text + length, (size_t)(192 - length), "%s%d", i > 0 ? ", " : "",
                       (int)defect->vertex[side][i]);
  }
  snprintf(text + length, (size_t)(192 - length), ") of \"%.80s\"",
           model->name[defect->entity[side]]);
}

void noli_defect_describe(const NoliModel* model, const NoliDefect* defect,
                          char text[NOLI_DEFECT_TEXT]) {
  char first[192], second[192] = "";
  const double* at = defect->position;
  describe_primitive(model, defect, 0, first);
  if (defect->n_vert[1] > 0) {
    describe_primitive(model, defect, 1, second);
  } else if (defect->entity[1] != NOLI_NULL_INDEX) {
    snprintf(second, sizeof second, "\"%.80s\"", model->name[defect->entity[1]]);
  }
  static const char* const verbs[] = {
      "meets", "touches", "is on or below", "is inverted or flat", "is behind", "lies inside"};
  int length =
      snprintf(text, NOLI_DEFECT_TEXT, "%s %s %s%sat (%.9g, %.9g, %.9g)", first,
               verbs[defect->kind], second, second[0] != '\0' ? " " : "", at[0], at[1], at[2]);
  bool overlaps = defect->kind == NOLI_DEFECT_ZERO_GAP && defect->distance < 0.0;
  if ((defect->kind == NOLI_DEFECT_HALF_SPACE || overlaps) && length < NOLI_DEFECT_TEXT) {
    bool offsets = model->problem.surface->offset != NULL;
    snprintf(text + length, (size_t)(NOLI_DEFECT_TEXT - length), ", depth %.3g m%s",
             fmax(-defect->distance, 0.0) + 0.0, offsets ? ", contact offsets included" : "");
  }
}

NoliStatus noli_audit_require(const void* user, const double* x) {
  const NoliModel* model = user;
  NoliDefects defects = {0};
  NoliStatus status = noli_audit_model(model, x, &defects);
  if (status == NOLI_NOT_FINITE) {
    // a defect of the state, which a shorter step cannot repair
    char message[sizeof model->context->message];
    snprintf(message, sizeof message, "%s", noli_context_message(model->context));
    status = noli_fail(model->context, NOLI_ERROR_AUDIT, "%s", message);
  }
  if (status == NOLI_OK && defects.count > 0) {
    char text[NOLI_DEFECT_TEXT];
    noli_defect_describe(model, &defects.data[0], text);
    status = noli_fail(model->context, NOLI_ERROR_AUDIT, "audit: %lld defects; the first: %s",
                       (long long)defects.count, text);
  }
  noli_array_free(model->context, &defects);
  return status;
}
