// Repair of starts: what the stages share, their order, and the verification of the result.
#include "repair/repair.h"

#include "base/groups.h"
#include "base/numbers.h"
#include "base/ranks.h"
#include "collide/closest.h"
#include "collide/impacts.h"
#include "define/connection.h"
#include "define/definition.h"
#include "step/simulation.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

// The gap aimed at is beyond the contact distance by this share, so that rounding does not matter.
#define BEYOND 1e-3
// How often the search starts again because its result changes that gap.
enum { N_PASSES = 4 };

NoliRepairDef noli_default_repair_def(void) {
  return (NoliRepairDef){.rounds = 60};
}

// ---- close pairs ----

NoliRepairGap noli_repair_gap_at(const NoliSurface* surface, const NoliBodyPairs* pairs,
                                 const int32_t vertex[4], const NoliVec3 at[4], bool is_edge) {
  NoliRepairGap gap = {0};
  memcpy(gap.vertex, vertex, sizeof gap.vertex);

  // the active case spreads over the four vertices
  NoliVec3 of_case[4] = {{0}};
  NoliFeature feature = is_edge ? noli_feature_edge_edge(at) : noli_feature_point_triangle(at);
  for (int32_t k = 0; k < noli_pair_size[feature.kind]; k++) {
    of_case[k] = at[feature.vertex[k]];
  }
  NoliClosest closest = noli_closest(feature.kind, of_case);
  for (int32_t k = 0; k < noli_pair_size[feature.kind]; k++) {
    gap.weight[feature.vertex[k]] = closest.weight[k];
  }
  double d = sqrt(closest.d_sqr), sign = 0.0;
  for (int32_t k = 0; k < (is_edge ? 2 : 1); k++) {
    sign += gap.weight[k];
  }
  double outward = sign < 0.0 ? -1.0 : 1.0;
  gap.direction = noli_scale3(d > 0.0 ? outward / d : 0.0, closest.r);
  for (int32_t k = 0; k < 4 && sign < 0.0; k++) {
    gap.weight[k] = -gap.weight[k];
  }
  int32_t body = surface->body[vertex[0]], other = surface->body[vertex[3]];
  gap.gap = d - noli_surface_offset(surface, body, other);
  gap.range = noli_body_pairs_range(pairs, body, other);
  return gap;
}

NoliStatus noli_repair_gaps(const NoliRepairWork* work, const NoliSurface* surface,
                            NoliBroadPhase* broad_phase, const NoliBodyPairs* pairs,
                            const double* x, double limit, NoliRepairGaps* gaps) {
  NoliStatus status = NOLI_OK;
  NoliCandidates found = {0};
  gaps->count = 0;
  double reach = noli_repair_wanted(work, limit, noli_body_pairs_largest_range(pairs));
  NOLI_TRY(noli_broad_phase_find(broad_phase, x, x, reach, pairs, &found));
  for (int64_t i = 0; i < noli_candidates_count(&found); i++) {
    int32_t vertex[4];
    NoliVec3 at[4];
    bool is_edge = noli_candidates_vertices(&found, surface, i, vertex);
    for (int32_t k = 0; k < 4; k++) {
      at[k] = noli_load3(&x[3 * (int64_t)vertex[k]]);
    }
    NoliRepairGap gap = noli_repair_gap_at(surface, pairs, vertex, at, is_edge);
    if (gap.gap < noli_repair_wanted(work, limit, gap.range)) {
      NOLI_PUSH(work->context, gaps, gap);
    }
  }
done:
  noli_candidates_free(work->context, &found);
  return status;
}

// ---- the work ----

// Marks the nodes of bodies that follow the world.
static void mark_grounded(NoliRepairWork* work) {
  const NoliModel* model = work->model;
  const NoliFollowers* followers = &model->problem.followers;
  for (int32_t f = 0; f < followers->n_tied; f++) {
    int32_t body = work->surface->body[followers->tied[f]];
    int32_t end = noli_followers_is_grounded(followers, f) ? model->vert_first[body + 1] : 0;
    for (int32_t v = model->vert_first[body]; v < end; v++) {
      work->held[v] = true;
    }
  }
}

// Vertices of obstacles, with a prescribed component, bound to the world, and angles.
static void mark_held(NoliRepairWork* work) {
  const NoliModel* model = work->model;
  for (int32_t v = 0; v < model->problem.n_vert; v++) {
    work->held[v] = model->obstacle[work->surface->body[v]];
  }
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotion* motion = &model->motion[m];
    for (int32_t i = 0; i < motion->n_node; i++) {
      work->held[model->vert_first[motion->def.body] + motion->node[i]] = true;
    }
  }
  for (int32_t b = 0; b < model->n_body; b++) {
    int32_t end = model->vert_first[b + 1];
    for (int32_t v = end - noli_model_angle_count(model, b); v < end; v++) {
      work->held[v] = true;
    }
  }
  mark_grounded(work);
}

// The triangles at each edge, and the points of no edge.
static NoliStatus link_faces(NoliRepairWork* work) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = work->surface;
  NOLI_NEW_ZERO(work->context, work->face_first, (int64_t)surface->n_edge + 2);
  NOLI_NEW(work->context, work->face, 3 * (int64_t)surface->n_tri);
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t i = 0; i < 3 * (int64_t)surface->n_tri; i++) {
      const int32_t* tri = &surface->tri[3 * (i / 3)];
      int32_t edge =
          noli_surface_edge(surface, surface->body[tri[0]], tri[i % 3], tri[(i + 1) % 3]);
      if (pass == 0) {
        work->face_first[edge + 2]++;
      } else {
        work->face[work->face_first[edge + 1]++] = (int32_t)(i / 3);
      }
    }
    for (int32_t e = 0; e < surface->n_edge && pass == 0; e++) {
      work->face_first[e + 2] += work->face_first[e + 1];
    }
  }

  for (int32_t v = 0; v < surface->n_vert; v++) {
    work->lone[v] = true;
  }
  for (int32_t e = 0; e < surface->n_edge; e++) {
    const int32_t* edge = &surface->edge[2 * (int64_t)e];
    if (edge[0] != edge[1]) {
      work->lone[edge[0]] = work->lone[edge[1]] = false;
    }
  }
done:
  return status;
}

static NoliStatus begin(NoliContext* context, const NoliModel* model, const NoliRepairDef* def,
                        NoliRepairWork* work) {
  NoliStatus status = NOLI_OK;
  int64_t n = model->problem.n_vert;
  double largest = 0.0;
  *work = (NoliRepairWork){.context = context,
                           .model = model,
                           .surface = model->problem.surface,
                           .pairs = noli_problem_kept_apart(&model->problem),
                           .settle = def->settle,
                           .rounds = def->rounds,
                           .through = {NOLI_NULL_INDEX, NOLI_NULL_INDEX},
                           .target = (1.0 + BEYOND) * model->problem.contact.dhat};
  NOLI_NEW(context, work->x, 3 * n);
  NOLI_NEW(context, work->before, 3 * n);
  NOLI_NEW(context, work->held, n);
  NOLI_NEW(context, work->lone, n);
  for (int64_t i = 0; i < 3 * n; i++) {
    work->x[i] = work->before[i] = model->x0[i];
    largest = fmax(largest, fabs(model->x0[i]));
  }

  // what touches up to rounding after some motion, too
  work->touching = 64.0 * DBL_EPSILON * (largest + model->problem.size.d);
  work->target = fmax(work->target, 4.0 * work->touching);
  work->enough = (1.0 - 0.5 * BEYOND) * work->target;
  mark_held(work);
  NOLI_TRY(link_faces(work));
  NOLI_TRY(noli_broad_phase_create(context, work->surface, &work->broad_phase));
done:
  return status;
}

static void repair_end(NoliRepairWork* work) {
  noli_free(work->context, work->x);
  noli_free(work->context, work->before);
  noli_free(work->context, work->held);
  noli_free(work->context, work->lone);
  noli_free(work->context, work->face_first);
  noli_free(work->context, work->face);
  noli_broad_phase_destroy(&work->broad_phase);
}

// ---- units ----

// Both bodies of a connection whose nodes follow each other are one unit.
static void join_bound(int32_t* parent, const NoliModel* model, const NoliConnectionEnds* ends) {
  const int32_t body[] = {ends->body, ends->to};
  for (int k = 0; k < 2 && body[k] != NOLI_NULL_INDEX; k++) {
    for (int32_t v = model->vert_first[body[k]]; v < model->vert_first[body[k] + 1]; v++) {
      noli_group_join(parent, model->vert_first[ends->body], v);
    }
  }
}

// Bodies as units, or the connected parts of those without followers. Tied bodies are one unit.
static NoliStatus make_units(const NoliRepairWork* work, const NoliSimDef* def, bool parts,
                             NoliRepairUnits* units) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = work->model;
  const NoliSurface* surface = work->surface;
  int32_t n = model->problem.n_vert;
  *units = (NoliRepairUnits){0};
  NOLI_NEW(work->context, units->of, n);
  NOLI_NEW_ZERO(work->context, units->fixed, n);
  for (int32_t v = 0; v < n; v++) {
    units->of[v] = v;
  }

  // join the vertices of elements, or of bodies
  for (int32_t b = 0; b < model->n_body; b++) {
    bool has_followers = model->follower_first[b] < model->follower_first[b + 1];
    for (int32_t t = model->cell_first[b]; t < model->cell_first[b + 1] && parts; t++) {
      const int32_t* cell = &model->cell[4 * (int64_t)t];
      for (int32_t k = 1; k < noli_model_cell_size(cell); k++) {
        noli_group_join(units->of, cell[0], cell[k]);
      }
    }
    bool curved = model->vert_first[b + 1] - model->vert_first[b] != def->bodies[b].mesh->n_vert;
    for (int32_t v = model->vert_first[b];
         v < model->vert_first[b + 1] && (!parts || has_followers || curved); v++) {
      noli_group_join(units->of, model->vert_first[b], v);
    }
    for (int32_t v = model->follower_first[b]; v < model->follower_first[b + 1]; v++) {
      noli_group_join(units->of, model->vert_first[b], v);
    }
  }
  for (int64_t t = 0; t < 3 * (int64_t)surface->n_tri && parts; t++) {
    noli_group_join(units->of, surface->tri[t - t % 3], surface->tri[t]);
  }
  for (int32_t kind = 0; kind < NOLI_CONNECTION_KINDS; kind++) {
    bool binds = noli_connection_list(kind)->type->bind != NULL;
    for (int32_t i = 0; binds && i < noli_connection_count(kind, def); i++) {
      NoliConnectionEnds ends = noli_connection_ends(kind, noli_connection_item(kind, def, i));
      join_bound(units->of, model, &ends);
    }
  }

  // number them; roots are the lowest vertices
  for (int32_t v = 0; v < n; v++) {
    units->of[v] = noli_group_root(units->of, v);
  }
  for (int32_t v = 0; v < n; v++) {
    units->of[v] = units->of[v] == v ? units->n++ : units->of[units->of[v]];
  }
  for (int32_t v = 0; v < n; v++) {
    int32_t b = surface->body[v];
    bool angle = v < model->problem.n_node &&
                 v >= model->vert_first[b + 1] - noli_model_angle_count(model, b);
    units->fixed[units->of[v]] = units->fixed[units->of[v]] || (work->held[v] && !angle);
  }
done:
  return status;
}

static NoliStatus move_units(NoliRepairWork* work, const NoliSimDef* def, bool parts) {
  NoliStatus status = NOLI_OK;
  NoliRepairUnits units = {0};
  NOLI_TRY(make_units(work, def, parts, &units));
  NOLI_TRY(noli_repair_rigid(work, &units));
done:
  noli_free(work->context, units.of);
  noli_free(work->context, units.fixed);
  return status;
}

// ---- the result ----

// The gap between parts that can move that is smallest over its contact distance, if it is below
// that.
static NoliStatus find_tightest(const NoliRepairWork* work, NoliRepairGap* tightest) {
  NoliStatus status = NOLI_OK;
  NoliRepairGaps gaps = {0};
  const NoliProblem* problem = &work->model->problem;
  double limit = problem->contact.dhat * (1.0 - 1e-6);
  *tightest = (NoliRepairGap){.gap = INFINITY, .range = 1.0};
  NOLI_TRY(noli_repair_gaps(work, work->surface, work->broad_phase, &work->pairs, work->x, limit,
                            &gaps));
  for (int64_t i = 0; i < gaps.count; i++) {
    const NoliRepairGap* gap = &gaps.data[i];
    *tightest = gap->gap * tightest->range < tightest->gap * gap->range ? *gap : *tightest;
  }

  for (int32_t i = 0; i < work->surface->n_point; i++) {
    int32_t v = work->surface->point[i], body = work->surface->body[v];
    for (int32_t p = 0; p < problem->contact.n_half_spaces; p++) {
      double d =
          noli_half_space_distance(&problem->contact.half_spaces[p], &work->x[3 * (int64_t)v]) -
          noli_surface_offset_of(work->surface, body);
      double range =
          noli_body_pairs_range(&problem->contact.body_pairs, body, work->model->n_body + p);
      if (d < range * limit && d * tightest->range < tightest->gap * range &&
          noli_body_pairs_get(&problem->contact.body_pairs, body, work->model->n_body + p)) {
        *tightest = (NoliRepairGap){.gap = d, .range = range, .vertex = {v, v, v, v}};
      }
    }
  }
done:
  noli_array_free(work->context, &gaps);
  return status;
}

// Why a pair of bodies could not be separated.
static const char* reason_of(const NoliRepairWork* work, const NoliDefect* defect, bool rigid) {
  const NoliModel* model = work->model;
  bool fixed[2] = {false, false}, curved = false;
  for (int32_t side = 0; side < 2; side++) {
    int32_t e = defect->entity[side];
    fixed[side] = e >= model->n_body || e == NOLI_NULL_INDEX || model->obstacle[e];
    for (int32_t m = 0; m < model->n_motion && !fixed[side]; m++) {
      fixed[side] = model->motion[m].def.body == e;
    }
    curved = curved || (e >= 0 && e < model->n_body &&
                        model->follower_first[e] < model->follower_first[e + 1]);
  }

  if (fixed[0] && fixed[1]) {
    return "both are held in place (obstacles, half-spaces, prescribed vertices), and no "
           "deformation of free parts separates them";
  }
  if (rigid) {
    return "no translation separates them, and deforming is off";
  }
  if (defect->entity[0] == defect->entity[1]) {
    return curved ? "a body whose surface follows other nodes (a proxy, high order) is not deformed"
                  : "no deformation that inverts no element shortens the curves in which the "
                    "surface crosses itself";
  }
  return "there is no way out for all bodies together: enclosed, tangled, or too little room";
}

static NoliStatus verify(const NoliRepairWork* work, const NoliRepairDef* def) {
  NoliStatus status = NOLI_OK;
  NoliDefects defects = {0};
  char text[NOLI_DEFECT_TEXT];
  NoliRepairGap tightest;
  if (work->through[0] != NOLI_NULL_INDEX) {
    NOLI_TRY(
        noli_fail(work->context, NOLI_ERROR_INTERSECTION,
                  "not repaired: \"%.80s\" would have to pass through \"%.80s\", which it does "
                  "not touch at the start",
                  work->model->name[work->through[0]], work->model->name[work->through[1]]));
  }

  NOLI_TRY(noli_sim_find_defects(work->model, work->x, &defects));
  if (defects.count > 0) {
    const NoliDefect* first = &defects.data[0];
    noli_defect_describe(work->model, first, text);
    NOLI_TRY(noli_fail(
        work->context,
        first->kind == NOLI_DEFECT_INVERTED ? NOLI_INVERTED_ELEMENT : NOLI_ERROR_INTERSECTION,
        "not repaired, %lld defects remain; the first: %s. %s", (long long)defects.count, text,
        first->kind == NOLI_DEFECT_INVERTED
            ? "Inverted elements are not repaired: correct the start"
            : reason_of(work, first, def->rigid)));
  }

  if (def->settle) {
    NOLI_TRY(find_tightest(work, &tightest));
    const char* a = work->model->name[work->surface->body[tightest.vertex[0]]];
    const char* b = work->model->name[work->surface->body[tightest.vertex[3]]];
    NOLI_CHECK(work->context, isinf(tightest.gap), NOLI_ERROR_INTERSECTION,
               "not settled: no motion was found that %sbrings all gaps to the contact distance, "
               "%.3g m; the smallest one is %.3g m, of \"%.80s\" and \"%.80s\": set "
               "%s below %.3g m",
               work->n_refused > 0 ? "leads through no thin body and " : "",
               work->model->problem.contact.dhat * tightest.range, tightest.gap, a, b,
               tightest.range != 1.0 ? "the distance of this pair" : "contact.distance",
               tightest.gap);
  }
done:
  noli_array_free(work->context, &defects);
  return status;
}

static void describe_move(const NoliRepairWork* work, int32_t body, int32_t n,
                          NoliRepairMove* move) {
  int64_t vertex = noli_model_vertex(work->model, body, 0);
  const double *from = &work->before[3 * vertex], *to = &work->x[3 * vertex];
  NoliVec3 mean = {0}, first = noli_sub3(noli_load3(to), noli_load3(from));
  for (int64_t v = 0; v < n; v++) {
    NoliVec3 u = noli_sub3(noli_load3(&to[3 * v]), noli_load3(&from[3 * v]));
    mean = noli_mul_add3(mean, 1.0 / n, u);
    move->distance = fmax(move->distance, noli_norm3(u));
    move->deformation = fmax(move->deformation, noli_norm3(noli_sub3(u, first)));
  }
  // a translation leaves rounding errors only
  if (move->deformation <= 2.0 * work->touching) {
    move->deformation = 0.0;
    mean = first;
  }
  noli_store3(move->translation, mean);
  move->x0 = to;
  for (int64_t v = 0; v < n && move->deformation > 0.0; v++) {
    NoliVec3 u = noli_sub3(noli_load3(&to[3 * v]), noli_load3(&from[3 * v]));
    move->deformation = fmax(v == 0 ? 0.0 : move->deformation, noli_norm3(noli_sub3(u, mean)));
  }
}

static NoliStatus repair_report(NoliRepairWork* work, const NoliSimDef* def, int64_t n_defects,
                                NoliRepair* repair) {
  NoliStatus status = NOLI_OK;
  repair->n_bodies = def->n_bodies;
  repair->n_defects = n_defects;
  repair->n_refused = work->n_refused;
  repair->length = work->model->problem.size.l;
  repair->gap = work->model->problem.contact.dhat;
  NOLI_NEW_ZERO(work->context, repair->move, def->n_bodies);
  for (int32_t b = 0; b < def->n_bodies; b++) {
    bool carried = work->model->carried[b];
    describe_move(work, b,
                  carried ? noli_model_vertex_count(work->model, b) : def->bodies[b].mesh->n_vert,
                  &repair->move[b]);
    repair->n_moved += repair->move[b].distance > 0.0 ? 1 : 0;
  }
  repair->x = work->x;
  work->x = NULL;
done:
  return status;
}

// Translated bodies that are placed again change the size of the scene, and with it a contact
// distance relative to it. Raises the gap aimed at to what is wanted then; `*raised` is false if it
// was enough.
static NoliStatus raise_target(NoliRepairWork* work, const NoliSimDef* def, bool* raised) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = work->model;
  NoliScaled given = def->contact_distance;
  double* X = NULL;
  *raised = false;
  if (given.value > 0.0 ? given.relative == NOLI_ABSOLUTE : model->follows_rest_gap) {
    goto done;
  }

  int64_t n = 3 * (int64_t)model->problem.n_vert;
  NOLI_NEW(work->context, X, n);
  for (int64_t i = 0; i < n; i++) {
    X[i] = model->problem.X[i] + (work->x[i] - work->before[i]);
  }
  NoliSceneSize after = noli_model_size(model, X);
  NoliScaled one = {1.0, given.value > 0.0 ? given.relative : NOLI_OF_BALL};
  double growth = noli_resolve(one, &after) / noli_resolve(one, &model->problem.size);

  double wanted = (1.0 + BEYOND) * growth * model->problem.contact.dhat;
  *raised = wanted > work->enough;
  if (*raised) {
    work->target = (1.0 + 10.0 * BEYOND) * wanted;
    work->enough = wanted;
  }
done:
  noli_free(work->context, X);
  return status;
}

static NoliStatus repair_work(NoliRepairWork* work, const NoliSimDef* def,
                              const NoliRepairDef* repair_def, int64_t* n_defects) {
  NoliStatus status = NOLI_OK;
  NoliDefects defects = {0};
  NOLI_TRY(noli_sim_find_defects(work->model, work->x, &defects));
  *n_defects = defects.count;
  if ((defects.count == 0 && !repair_def->settle) ||
      !noli_problem_keeps_apart(&work->model->problem)) {
    goto done;
  }
  for (int pass = 0; pass < N_PASSES; pass++) {
    work->through[0] = NOLI_NULL_INDEX;
    memcpy(work->x, work->before, 3 * sizeof(double) * (size_t)work->model->problem.n_vert);
    NOLI_TRY(move_units(work, def, false));
    bool raised;
    NOLI_TRY(raise_target(work, def, &raised));
    if (!raised) {
      break;
    }
  }
  NOLI_TRY(repair_def->rigid ? NOLI_OK : move_units(work, def, true));
  NOLI_TRY(repair_def->rigid ? NOLI_OK : noli_repair_deform(work));
done:
  noli_array_free(work->context, &defects);
  return status;
}

NoliStatus noli_sim_repair(NoliContext* context, const NoliSimDef* given,
                           const NoliRepairDef* repair_def, NoliRepair* repair) {
  NOLI_REQUIRE(context, context != NULL && given != NULL && repair != NULL);
  NoliStatus status = NOLI_OK;
  NoliModel* model = NULL;
  NoliSimDef* def = NULL;
  NoliRepairWork work = {.context = context};
  NoliRepairDef settings = repair_def != NULL ? *repair_def : noli_default_repair_def();
  int64_t n_defects = 0;
  *repair = (NoliRepair){0};
  NOLI_TRY(noli_numbers_check(context, "repair: ", NOLI_NUMBERS_REPAIR, &settings));
  NOLI_TRY(noli_definition_take(context, given, &def));
  NOLI_TRY(noli_model_create(context, def, NULL, false, NULL, &model));
  NOLI_TRY(begin(context, model, &settings, &work));
  NOLI_TRY(repair_work(&work, def, &settings, &n_defects));
  NOLI_TRY(verify(&work, &settings));
  NOLI_TRY(repair_report(&work, def, n_defects, repair));
done:
  status = noli_ranks_agree(context, status);
  repair_end(&work);
  noli_definition_free(context, &def);
  noli_model_destroy(&model);
  return status;
}

void noli_repair_free(NoliContext* context, NoliRepair* repair) {
  if (repair != NULL) {
    noli_free(context, repair->move);
    noli_free(context, repair->x);
    *repair = (NoliRepair){0};
  }
}
