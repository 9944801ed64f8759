// Evaluates the motions and forces of a definition as a run does, without the run: targets and
// values that are not finite are found before it starts.
#include "define/definition.h"

#include "base/ranks.h"
#include "math/vec3.h"
#include "model/motion_targets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Most vertices times steps that are evaluated for a motion or force, and least steps of them.
enum { MOST_VALUES = 2000000, LEAST_STEPS = 16 };

// The steps to be looked at: all, or evenly spaced ones.
typedef struct Rehearsal {
  NoliContext* context;
  const NoliSimDef* def;
  int64_t n_steps;
} Rehearsal;

static int64_t stride_of(const Rehearsal* self, int32_t n_node) {
  int64_t most = MOST_VALUES / (n_node > 0 ? n_node : 1);
  most = most > LEAST_STEPS ? most : LEAST_STEPS;
  return (self->n_steps + most - 1) / most;
}

// Vertices of an item that exist before further nodes of elements do; all of them without a list.
static NoliStatus rehearsal_list_vertices(NoliContext* context, const NoliBodyDef* body,
                                          const int32_t* node, int32_t n_node, int32_t** list,
                                          int32_t* n) {
  NoliStatus status = NOLI_OK;
  int32_t n_given = node != NULL ? n_node : body->mesh->n_vert;
  *n = 0;
  NOLI_NEW(context, *list, n_given);
  for (int32_t i = 0; i < n_given; i++) {
    int32_t vertex = node != NULL ? node[i] : i;
    if (vertex < body->mesh->n_vert) {
      (*list)[(*n)++] = vertex;
    }
  }
done:
  return status;
}

static NoliStatus fail_at(const Rehearsal* self, const char* where, const char* what, int32_t index,
                          const char* name, int32_t body, int32_t vertex, double t) {
  const char* of = self->def->bodies[body].name;
  char place[304] = "", quoted[88] = "";
  if (where != NULL) {
    snprintf(place, sizeof place, "%.300s: ", where);
  }
  if (name != NULL) {
    snprintf(quoted, sizeof quoted, " (\"%.80s\")", name);
  }
  return noli_fail(self->context, NOLI_NOT_FINITE,
                   "%s%s %d%s of body \"%.80s\": vertex %d is not finite at t = %g s", place, what,
                   (int)index, quoted, of != NULL ? of : "(no name)", (int)vertex, t);
}

// The first vertex whose target is not finite in a component that is prescribed, or where the
// motion ends by position, none.
static int32_t find_lost(const NoliMotion* motion, const double* x_t1, bool* ends) {
  NoliVec3 origin = noli_load3(motion->def.end_origin), normal = noli_load3(motion->def.end_normal);
  *ends = motion->def.ends_beyond;
  for (int32_t i = 0; i < motion->n_node; i++) {
    const double* x = x_t1 + 3 * (int64_t)i;
    for (int k = 0; k < 3; k++) {
      if (!motion->def.free_axis[k] && !isfinite(x[k])) {
        return i;
      }
    }
    *ends = *ends && noli_dot3(normal, noli_sub3(noli_load3(x), origin)) >= 0.0;
  }
  return NOLI_NULL_INDEX;
}

static NoliStatus follow_motion(const Rehearsal* self, int32_t index, const NoliMotion* motion,
                                const NoliMotionPath* path) {
  int64_t stride = stride_of(self, motion->n_node);
  double h = self->def->time_step;
  bool ends = false;
  for (int64_t step = 0; step < self->n_steps && !ends; step += stride) {
    double t0 = (double)step * h, t1 = (double)(step + 1) * h;
    if (t0 < motion->def.t_begin || t0 >= motion->def.t_end) {
      continue;
    }
    noli_motion_targets(motion, t0, t1, path);
    int32_t lost = find_lost(motion, path->x_t1, &ends);
    if (lost != NOLI_NULL_INDEX) {
      return fail_at(self, motion->def.where, "motion", index, motion->def.name, motion->def.body,
                     motion->node[lost], t1);
    }
    memcpy(path->x_t0, path->x_t1, 3 * sizeof(double) * (size_t)motion->n_node);
  }
  return NOLI_OK;
}

static NoliStatus rehearse_motion(const Rehearsal* self, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliMotionDef* def = &self->def->motions[index];
  const NoliBodyDef* body = &self->def->bodies[def->body];
  NoliMotion motion = {.def = *def};
  NoliMotionPath path = {0};
  if (def->target == NULL) {
    return NOLI_OK;
  }
  NOLI_TRY(rehearsal_list_vertices(self->context, body, def->node, def->n_node, &motion.node,
                                   &motion.n_node));
  NOLI_NEW(self->context, motion.X, 3 * (int64_t)motion.n_node);
  NOLI_TRY(noli_motion_path_create(self->context, motion.n_node, &path));
  const double* x0 = body->x0 != NULL ? body->x0 : body->mesh->x;
  for (int64_t i = 0; i < motion.n_node; i++) {
    memcpy(motion.X + 3 * i, body->mesh->x + 3 * (int64_t)motion.node[i], 3 * sizeof(double));
    memcpy(path.x_t0 + 3 * i, x0 + 3 * (int64_t)motion.node[i], 3 * sizeof(double));
  }
  NOLI_TRY(follow_motion(self, index, &motion, &path));
done:
  noli_free(self->context, motion.node);
  noli_free(self->context, motion.X);
  noli_motion_path_free(self->context, &path);
  return status;
}

static NoliStatus rehearse_force(const Rehearsal* self, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliForceDef* def = &self->def->forces[index];
  const NoliBodyDef* body = &self->def->bodies[def->body];
  int32_t *node = NULL, n_node = 0;
  if (def->value == NULL) {
    return NOLI_OK;
  }
  NOLI_TRY(rehearsal_list_vertices(self->context, body, def->node, def->n_node, &node, &n_node));
  int64_t stride = stride_of(self, n_node);
  for (int64_t step = 0; step < self->n_steps; step += stride) {
    double t = (double)(step + 1) * self->def->time_step;
    for (int32_t i = 0; t > def->t_begin && t <= def->t_end && i < n_node; i++) {
      double value[3] = {0.0, 0.0, 0.0};
      def->value(def->user, t, body->mesh->x + 3 * (int64_t)node[i], value);
      if (!noli_is_finite3(noli_load3(value))) {
        status = fail_at(self, def->where, "force", index, def->name, def->body, node[i], t);
        goto done;
      }
    }
  }
done:
  noli_free(self->context, node);
  return status;
}

NoliStatus noli_sim_check_conditions(NoliContext* context, const NoliSimDef* given,
                                     int64_t n_steps) {
  NOLI_REQUIRE(context, context != NULL && given != NULL);
  NoliStatus status = NOLI_OK;
  NoliSimDef* def = NULL;
  NOLI_TRY(noli_definition_take(context, given, &def));
  NOLI_TRY(noli_definition_check(context, def));
  const Rehearsal self = {context, def, n_steps};
  for (int32_t m = 0; m < def->n_motions; m++) {
    NOLI_TRY(rehearse_motion(&self, m));
  }
  for (int32_t f = 0; f < def->n_forces; f++) {
    NOLI_TRY(rehearse_force(&self, f));
  }
done:
  noli_definition_free(context, &def);
  return noli_ranks_agree(context, status);
}
