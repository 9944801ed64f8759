#include "import/ipc/rules.h"

#include <math.h>
#include <string.h>

#define ANY ((double)INFINITY)

enum { MOST_RULES = 8, MOST_PHASES = 4096 };

// ---- tables -------------------------------------------------------------------------------------

// The reaction of a rule to the event of its motion.
typedef enum After { STAY, STOP, TURN_BACK, LET_GO } After;

// The vertices of a rule lie in a box of fractions of the extents, from below if they are positive,
// from above if negative; `handle` -1, +1: among those near the lowest or highest x, as
// `handleRatio` says. Of the rules of a motion the first that fits a vertex counts.
typedef struct Rule {
  const char* motion;
  int handle;
  double low[3], high[3];          // 0: no bound
  enum { ALL, FIRST, LAST } which; // of the vertices that fit
  double velocity[3];              // m/s
  double turn[3];                  // deg/s, about the centre of the box of the material positions
  bool about_last;                 // `turn` is about the vertex of the rule before
  bool load;                       // `velocity` is an acceleration
  After after;
} Rule;

// The event: the first vertex of rule number `rule` is at or beyond one of the bounds, which are
// relative to where it began; or, `absolute`, it is below `low`.
typedef struct Event {
  const char* motion;
  int rule, axis;
  double low, high;
  bool absolute;
} Event;

// clang-format off
static const Rule rules[] = {
    {"hang", -1, .which = LAST}, {"hang", 1, .which = LAST},
    {"hang2", .low = {0, -0.01, 0}},
    {"hangTopLeft", -1, .low = {0, -0.01, -0.01}},
    {"hangTopLeft", -1, .low = {0, -0.01, 0}, .high = {0, 0, 0.01}},
    {"hangLeft", .handle = -1}, {"stamp", .handle = -1},
    {"stampTopLeft", -1, .low = {0, -0.01, 0}},
    {"stampBoth", .handle = -1}, {"stampBoth", .handle = 1},
    {"swing", .high = {0.05}},
    {"stand", .high = {0, 0.01}},
    {"topbottomfix", .high = {0, 0.02}}, {"topbottomfix", .low = {0, -0.02}},
    {"fixLowerHalf", .high = {0, 0.5}},
    {"corner", .high = {0.01}}, {"corner", .high = {0, 0.01}}, {"corner", .high = {0, 0, 0.01}},
    {"push", .high = {0, 0.01}},
    {"push", .low = {0, -0.01}, .velocity = {0, -1, 0}, .after = STOP},
    {"tear", .high = {0, 0.01}},
    {"tear", .low = {0, -0.01}, .velocity = {-5, 0, 0}, .after = TURN_BACK},
    {"undstamp", -1, .velocity = {0, 1.8, 0}, .after = TURN_BACK},
    {"upndown", -1, .velocity = {0, 1.8, 0}, .after = TURN_BACK},
    {"upndown", 1, .velocity = {0, -1.8, 0}, .after = TURN_BACK},
    {"stretch", -1, .velocity = {-0.1, 0, 0}}, {"stretch", 1, .velocity = {0.1, 0, 0}},
    {"stretchAndPause", .high = {0.01}, .velocity = {-1, 0, 0}, .after = STOP},
    {"stretchAndPause", .low = {-0.01}, .velocity = {1, 0, 0}, .after = STOP},
    {"squash", -1, .velocity = {0.03, 0, 0}}, {"squash", 1, .velocity = {-0.03, 0, 0}},
    {"stretchnsquash", -1, .velocity = {-0.9, 0, 0}, .after = TURN_BACK},
    {"stretchnsquash", 1, .velocity = {0.9, 0, 0}, .after = TURN_BACK},
    {"bend", -1, .which = LAST}, {"bend", -1, .turn = {0, 0, -9}, .about_last = true},
    {"bend", 1, .which = LAST}, {"bend", 1, .turn = {0, 0, 9}, .about_last = true},
    {"twist", -1, .turn = {-72, 0, 0}}, {"twist", 1, .turn = {72, 0, 0}},
    {"twistnstretch", -1, .turn = {-18, 0, 0}, .velocity = {-0.1, 0, 0}},
    {"twistnstretch", 1, .turn = {18, 0, 0}, .velocity = {0.1, 0, 0}},
    {"twistnsns", -1, .turn = {-72, 0, 0}, .velocity = {-1.2, 0, 0}, .after = TURN_BACK},
    {"twistnsns", 1, .turn = {72, 0, 0}, .velocity = {1.2, 0, 0}, .after = TURN_BACK},
    {"twistnsns_old", -1, .turn = {-72, 0, 0}, .velocity = {-0.9, 0, 0}, .after = TURN_BACK},
    {"twistnsns_old", 1, .turn = {72, 0, 0}, .velocity = {0.9, 0, 0}, .after = TURN_BACK},
    {"rubberBandPull", .high = {0, 0.02}, .velocity = {0, -0.2, 0}, .after = STOP},
    {"rubberBandPull", .low = {0, -0.02}, .velocity = {0, 0.2, 0}, .after = STOP},
    {"rubberBandPull", .low = {0, 0.48}, .high = {0, -0.48}, .velocity = {-2.5, 0, 0}, .after = LET_GO},
    {"headTailPull", .high = {0, 0, 0.02}, .velocity = {3.5, 0, 0}, .after = LET_GO},
    {"headTailPull", .low = {0, 0, -0.02}, .velocity = {3.5, 0, 0}, .after = LET_GO},
    {"headTailPull", .low = {0, 0, 0.46}, .high = {0, 0, 0.54}},
    {"dragdown", .low = {0.42}, .high = {0.52, 0.1}, .velocity = {0, -1.5, 0}},
    {"dragright", .low = {-0.04}, .velocity = {0.5, 0, 0}},
    {"toggleTop", .low = {0, -0.02}, .velocity = {-0.5, 0, 0}, .after = LET_GO},
    {"fixRightMost1", .low = {-1e-3}, .which = FIRST},
    {"pushRightMost1", .low = {-1e-3}, .which = FIRST, .velocity = {-0.15, 0, 0}},
    {"NMFixBottomDragLeft", .high = {0, 0.05}},
    {"NMFixBottomDragLeft", .low = {0, -0.05}, .velocity = {-600, 0, 0}, .load = true},
    {"NMFixBottomDragForward", .high = {0, 0.05}},
    {"NMFixBottomDragForward", .low = {0, -0.05}, .velocity = {600, 0, 0}, .load = true},
    {"utopiaComparison", .low = {0, -1e-4}, .velocity = {0, -1.5, 0}, .load = true},
    {"utopiaComparison", .high = {0, 1e-4}},
};

static const Event events[] = {
    {"push", 1, 1, .low = -0.5, .high = ANY}, {"tear", 1, 0, .low = -4, .high = ANY},
    {"undstamp", 0, 1, .low = -0.6, .high = 0.6}, {"upndown", 0, 1, .low = -0.6, .high = 0.6},
    {"stretchnsquash", 0, 0, .low = -0.8, .high = 0.4},
    {"twistnsns", 0, 0, .low = -1.2, .high = 0.4}, {"twistnsns_old", 0, 0, .low = -0.8, .high = 0.4},
    {"rubberBandPull", 2, 0, .low = -5, .high = ANY}, {"headTailPull", 0, 0, .low = -ANY, .high = 4.5},
    {"toggleTop", 0, 0, .low = -0.1, .high = ANY}, {"stretchAndPause", 0, 0, -0.28, ANY, true},
};
// clang-format on

static bool is_named(const NoliIpcWorld* world, const char* name) {
  return noli_span_is(world->script->motion, name);
}

// ---- rules --------------------------------------------------------------------------------------

// The rules of one motion and what its vertices are measured by.
typedef struct Rules {
  const Rule* rule[MOST_RULES];
  int n_rules;
  bool extents_of_x;      // fractions are of the extent along x, whatever the axis
  double low[3], high[3]; // box around all parts where they start
  double material_low[3], material_high[3]; // box around the material positions
} Rules;

static double bound(const Rules* r, double fraction, int axis) {
  int along = r->extents_of_x ? 0 : axis;
  double range = r->high[along] - r->low[along];
  return fraction > 0.0 ? r->low[axis] + range * fraction : r->high[axis] + range * fraction;
}

static int handle_of(const NoliIpcWorld* world, const Rules* r, const double* X) {
  double range = r->material_high[0] - r->material_low[0], ratio = world->script->handle_ratio;
  return X[0] < r->material_low[0] + range * ratio    ? -1
         : X[0] > r->material_high[0] - range * ratio ? 1
                                                      : 0;
}

static bool fits(const NoliIpcWorld* world, const Rules* r, const Rule* rule, const double* X,
                 const double* x) {
  bool inside = rule->handle == 0 || rule->handle == handle_of(world, r, X);
  for (int k = 0; k < 3; k++) {
    inside = inside && (rule->low[k] == 0.0 || x[k] > bound(r, rule->low[k], k));
    inside = inside && (rule->high[k] == 0.0 || x[k] < bound(r, rule->high[k], k));
  }
  return inside;
}

// Number of the rule for each vertex of all parts, one after the other; -1: none.
static void assign(const NoliIpcWorld* world, const Rules* r, int8_t* rule) {
  int64_t first[MOST_RULES], last[MOST_RULES], at = 0;
  for (int i = 0; i < r->n_rules; i++) {
    first[i] = last[i] = -1;
  }

  // the ends of those rules that are for one vertex only
  for (int64_t p = 0; p < world->parts.count; p++) {
    const NoliIpcPart* part = &world->parts.data[p];
    for (int64_t v = 0; v < noli_ipc_n_vert(world, part); v++, at++) {
      for (int i = 0; i < r->n_rules; i++) {
        if (fits(world, r, r->rule[i], part->X + 3 * v, part->x + 3 * v)) {
          first[i] = first[i] < 0 ? at : first[i];
          last[i] = at;
        }
      }
    }
  }

  at = 0;
  for (int64_t p = 0; p < world->parts.count; p++) {
    const NoliIpcPart* part = &world->parts.data[p];
    for (int64_t v = 0; v < noli_ipc_n_vert(world, part); v++, at++) {
      rule[at] = -1;
      for (int i = 0; i < r->n_rules && rule[at] < 0; i++) {
        bool chosen =
            r->rule[i]->which == ALL || at == (r->rule[i]->which == FIRST ? first[i] : last[i]);
        if (chosen && fits(world, r, r->rule[i], part->X + 3 * v, part->x + 3 * v)) {
          rule[at] = (int8_t)i;
        }
      }
    }
  }
}

// The place of the first vertex, or of the last, of a rule; NULL if it has none.
static const double* ipc_rules_place_of(const NoliIpcWorld* world, const int8_t* rule, int number,
                                        bool last) {
  const double* found = NULL;
  int64_t at = 0;
  for (int64_t p = 0; p < world->parts.count; p++) {
    const NoliIpcPart* part = &world->parts.data[p];
    for (int64_t v = 0; v < noli_ipc_n_vert(world, part); v++, at++) {
      if (rule[at] == number && (found == NULL || last)) {
        found = part->x + 3 * v;
      }
    }
  }
  return found;
}

// ---- time ---------------------------------------------------------------------------------------

// Steps before which the watched vertex is at or beyond a bound. At most MOST_PHASES - 1.
static int32_t follow(const NoliIpcWorld* world, double x, double velocity, double low, double high,
                      bool back, int64_t* steps) {
  int32_t n = 0;
  for (int64_t k = 0; k < world->n_steps && n < MOST_PHASES - 1; k++) {
    if (x <= low || x >= high) {
      steps[n++] = k;
      velocity = -velocity;
      if (!back) {
        break;
      }
    }
    x += velocity * world->time_step;
  }
  return n;
}

// Splits the first phase at the steps (n_steps). `*n_phases` grows.
static void ipc_rules_split(NoliIpcPhase* phases, int32_t* n_phases, After after,
                            const int64_t* steps, int32_t n_steps) {
  for (int32_t i = 0; i < n_steps && after != STAY; i++) {
    NoliIpcPhase* last = &phases[*n_phases - 1];
    NoliIpcPhase next = *last;
    last->k_end = steps[i];
    next.k_begin = steps[i];
    for (int k = 0; k < 3; k++) {
      next.velocity[k] = after == TURN_BACK ? -last->velocity[k] : 0.0;
    }
    if (after == LET_GO) {
      break;
    }
    // what would end before it begins is replaced
    *n_phases += last->k_begin < last->k_end;
    phases[*n_phases - 1] = next;
    if (after == STOP) {
      phases[*n_phases - 1].speed = 0.0;
      break;
    }
  }
}

// ---- rules in time ------------------------------------------------------------------------------

static void find_rules(const NoliIpcWorld* world, Rules* r) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    if (is_named(world, rules[i].motion)) {
      r->rule[r->n_rules++] = &rules[i];
    }
  }
  r->extents_of_x = is_named(world, "utopiaComparison");
  noli_ipc_world_box(world, false, r->low, r->high);
  noli_ipc_world_box(world, true, r->material_low, r->material_high);
}

// ---- application --------------------------------------------------------------------------------

// The steps before which the event of the motion takes place.
static NoliStatus find_events(const NoliIpcWorld* world, const Rules* r, const int8_t* rule,
                              int64_t* steps, int32_t* n_steps) {
  NoliStatus status = NOLI_OK;
  *n_steps = 0;
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    const Event* event = &events[i];
    const double* place = NULL;
    if (is_named(world, event->motion)) {
      place = ipc_rules_place_of(world, rule, event->rule, false);
    }
    if (place != NULL) {
      double x = place[event->axis];
      const Rule* watched = r->rule[event->rule];
      double low = event->absolute ? nextafter(event->low, -(double)INFINITY) : x + event->low;
      *n_steps = follow(world, x, watched->velocity[event->axis], low, x + event->high,
                        watched->after == TURN_BACK, steps);
      NOLI_IPC_CHECK(world->source, world->script->motion_line, *n_steps < MOST_PHASES - 1,
                     "script: turns back too often");
    }
  }
done:
  return status;
}

// The phases of a rule from the beginning to the end.
static void make_phases(const NoliIpcWorld* world, const Rules* r, const int8_t* rule, int number,
                        NoliIpcPhase* phases, int32_t* n_phases, const int64_t* steps,
                        int32_t n_steps) {
  const Rule* of = r->rule[number];
  NoliIpcPhase first = {.k_end = NOLI_IPC_FOREVER};
  memcpy(first.velocity, of->velocity, sizeof first.velocity);
  for (int k = 0; k < 3; k++) {
    if (of->turn[k] != 0.0) {
      first.axis[k] = 1.0;
      first.speed = of->turn[k];
    }
    first.origin[k] = 0.5 * (r->material_low[k] + r->material_high[k]);
  }
  const double* pivot = of->about_last ? ipc_rules_place_of(world, rule, number - 1, true) : NULL;
  if (pivot != NULL) {
    memcpy(first.origin, pivot, sizeof first.origin);
  }
  if (is_named(world, "dragright")) {
    first.until = true;
    first.until_x = noli_ipc_right_end(world);
  }
  phases[0] = first;
  *n_phases = 1;
  ipc_rules_split(phases, n_phases, of->after, steps, n_steps);
}

// The vertices of a part with this rule that belong to a tetrahedron.
static int32_t list_nodes(const NoliMesh* mesh, const int8_t* rule, int number, bool* used,
                          int32_t* node) {
  int32_t n = 0;
  memset(used, 0, (size_t)mesh->n_vert * sizeof *used);
  for (int64_t i = 0; i < 4 * (int64_t)mesh->n_tet; i++) {
    used[mesh->tet[i]] = true;
  }
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    if (rule[v] == number && used[v]) {
      node[n++] = v;
    }
  }
  return n;
}

// Applies one rule to all solids; shapes without tetrahedra stand still.
static NoliStatus apply_rule(NoliIpcWorld* world, const Rules* r, const int8_t* rule, int number,
                             const NoliIpcPhase* phases, int32_t n_phases) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = world->source->context;
  int32_t* node = NULL;
  bool* used = NULL;
  int64_t first = 0;

  for (int64_t p = 0; p < world->parts.count; p++) {
    const NoliIpcPart* part = &world->parts.data[p];
    const NoliMesh* mesh = world->files.data[part->file].mesh;
    noli_free(context, node);
    noli_free(context, used);
    node = NULL, used = NULL;
    NOLI_NEW(context, node, mesh->n_vert);
    NOLI_NEW(context, used, mesh->n_vert);
    int32_t n_node = part->solid ? list_nodes(mesh, rule + first, number, used, node) : 0;
    NoliIpcNodes nodes = {n_node < mesh->n_vert ? node : NULL, n_node};
    if (n_node > 0 && r->rule[number]->load) {
      NOLI_TRY(noli_ipc_add_load(world, p, nodes, r->rule[number]->velocity, 0, NOLI_IPC_FOREVER));
    } else if (n_node > 0 && phases[0].k_begin < phases[0].k_end) {
      NOLI_TRY(noli_ipc_add_moves(world, p, nodes, phases, n_phases));
    }
    first += mesh->n_vert;
  }
done:
  noli_free(context, node);
  noli_free(context, used);
  return status;
}

NoliStatus noli_ipc_apply_rules(NoliIpcWorld* world) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = world->source->context;
  Rules r = {0};
  int8_t* rule = NULL;
  int64_t* steps = NULL;
  NoliIpcPhase* phases = NULL;
  int64_t n_vert = 0;
  int32_t n_steps = 0, n_phases = 0;

  // what is let go as soon as it is to the right of nothing is never held
  if (is_named(world, "dragright") && !(noli_ipc_right_end(world) > -(double)INFINITY)) {
    goto done;
  }
  for (int64_t p = 0; p < world->parts.count; p++) {
    n_vert += noli_ipc_n_vert(world, &world->parts.data[p]);
  }
  find_rules(world, &r);
  NOLI_NEW(context, rule, n_vert);
  NOLI_NEW(context, steps, MOST_PHASES);
  NOLI_NEW(context, phases, MOST_PHASES);
  assign(world, &r, rule);
  NOLI_TRY(find_events(world, &r, rule, steps, &n_steps));
  for (int i = 0; i < r.n_rules; i++) {
    make_phases(world, &r, rule, i, phases, &n_phases, steps, n_steps);
    NOLI_TRY(apply_rule(world, &r, rule, i, phases, n_phases));
  }
done:
  noli_free(context, rule);
  noli_free(context, steps);
  noli_free(context, phases);
  return status;
}
