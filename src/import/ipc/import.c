// The native scene of a text scene. The order of the entries is that of the shapes, those with
// tetrahedra first; so is the order of bodies in the results.
#include "import/import.h"
#include "import/ipc/motion.h"
#include "import/ipc/script.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Writer {
  NoliContext* context;
  const NoliIpcScript* script;
  const NoliIpcWorld* world;
  json_t* root;
} Writer;

enum { NAME_SIZE = 120 };

static NoliStatus ipc_import_put(const Writer* w, json_t* object, const char* key, json_t* value) {
  return noli_ipc_put(w->context, object, key, value);
}

// A new member that is an object or a list; borrowed.
static NoliStatus put_made(const Writer* w, json_t* object, const char* key, json_t* made,
                           json_t** member) {
  *member = made;
  return ipc_import_put(w, object, key, made);
}

// ---- settings -----------------------------------------------------------------------------------

static NoliStatus write_time(const Writer* w) {
  NoliStatus status = NOLI_OK;
  json_t* time = NULL;
  NOLI_TRY(put_made(w, w->root, "time", json_object(), &time));
  NOLI_TRY(ipc_import_put(w, time, "step", noli_ipc_number(w->script->time[1])));
  NOLI_TRY(ipc_import_put(w, time, "duration", noli_ipc_number(w->script->time[0])));
  if (w->script->trapezoidal) {
    NOLI_TRY(ipc_import_put(w, time, "integrator", json_string("trapezoidal")));
  }
  if (w->script->no_gravity) {
    static const double none[3] = {0, 0, 0};
    NOLI_TRY(ipc_import_put(w, w->root, "gravity", noli_ipc_vector(none)));
  }
done:
  return status;
}

// Relative lengths and speeds are fractions of the diagonal of the solids alone, so that they are
// written as absolute ones.
static NoliStatus write_contact(const Writer* w) {
  NoliStatus status = NOLI_OK;
  const NoliIpcScript* script = w->script;
  double unit = script->absolute ? 1.0 : w->world->diagonal, h = script->time[1];
  json_t* contact = NULL;
  NOLI_TRY(put_made(w, w->root, "contact", json_object(), &contact));
  if (script->no_self_contact) {
    bool alone = script->half_spaces.count == 0 && script->stills.count == 0;
    NOLI_TRY(ipc_import_put(w, contact, alone ? "enabled" : "self", json_false()));
  }
  NOLI_TRY(ipc_import_put(w, contact, "distance", noli_ipc_number(script->tuning[1] * unit)));
  if (script->tuning[0] > 0.0) {
    // the original scales it as part of the incremental potential
    double share = script->trapezoidal ? script->newmark[0] : 1.0;
    NOLI_TRY(ipc_import_put(w, contact, "stiffness",
                            noli_ipc_number(script->tuning[0] / (share * h * h))));
  }
done:
  return status;
}

static NoliStatus write_friction(const Writer* w) {
  NoliStatus status = NOLI_OK;
  const NoliIpcScript* script = w->script;
  double unit = script->absolute ? 1.0 : w->world->diagonal, n = script->friction_iterations;
  json_t* friction = NULL;
  NOLI_TRY(put_made(w, w->root, "friction", json_object(), &friction));
  NOLI_TRY(ipc_import_put(w, friction, "coefficient",
                          noli_ipc_number(fmax(script->self_friction, 0.0))));
  NOLI_TRY(ipc_import_put(w, friction, "speed", noli_ipc_number(script->tuning[4] * unit)));
  NOLI_TRY(ipc_import_put(w, friction, "law", json_string("velocity")));
  if (n <= 0.0) {
    NOLI_TRY(ipc_import_put(w, friction, "iterations", json_string("until_convergence")));
  } else if (!isnan(n)) {
    NOLI_TRY(ipc_import_put(w, friction, "iterations", noli_ipc_number(n)));
  }
done:
  return status;
}

static NoliStatus write_solver(const Writer* w) {
  NoliStatus status = NOLI_OK;
  const NoliIpcScript* script = w->script;
  double unit = script->absolute ? 1.0 / script->time[1] : w->world->diagonal;
  json_t* solver = NULL;
  NOLI_TRY(put_made(w, w->root, "solver", json_object(), &solver));
  NOLI_TRY(ipc_import_put(w, solver, "tolerance", noli_ipc_number(script->tolerance * unit)));
done:
  return status;
}

// ---- bodies and obstacles -----------------------------------------------------------------------

// The damping time beta of -beta K v. The original adds stiff / (2 h) dx' K dx to an incremental
// potential in which elasticity counts h^2, with Newmark's rule h^2 / 4.
static double damping_time(const NoliIpcScript* script) {
  double h = script->time[1], share = script->trapezoidal ? script->newmark[0] : 1.0;
  double ratio = fmin(fmax(script->damping_ratio, 0.0), 1.0);
  double stiff = ratio > 0.0 ? 0.75 * ratio * h * h * h : fmax(script->damping_stiffness, 0.0);
  return stiff / (share * h * h);
}

static NoliStatus write_material(const Writer* w, const NoliIpcShape* shape, json_t* entry) {
  NoliStatus status = NOLI_OK;
  const NoliIpcScript* script = w->script;
  bool own = shape->has_material && shape->material[0] > 0.0 && shape->material[1] > 0.0;
  json_t* material = NULL;
  if (shape->has_material && !own) {
    noli_ipc_log(w->world->source, shape->line, NOLI_LOG_WARNING,
                 "material: density and stiffness are not positive; the general ones are used");
  }
  NOLI_TRY(put_made(w, entry, "material", json_object(), &material));
  if (script->fixed_corotated) {
    NOLI_TRY(ipc_import_put(w, material, "law", json_string("fixed_corotated")));
  }
  NOLI_TRY(ipc_import_put(w, material, "young",
                          noli_ipc_number(own ? shape->material[1] : script->stiffness[0])));
  NOLI_TRY(ipc_import_put(w, material, "poisson",
                          noli_ipc_number(own ? shape->material[2] : script->stiffness[1])));
  NOLI_TRY(ipc_import_put(w, material, "density",
                          noli_ipc_number(own ? shape->material[0] : script->density)));
  if (damping_time(script) > 0.0) {
    NOLI_TRY(ipc_import_put(w, material, "damping", noli_ipc_number(damping_time(script))));
  }
done:
  return status;
}

static bool any(const double v[3]) {
  return v[0] != 0.0 || v[1] != 0.0 || v[2] != 0.0;
}

static NoliStatus write_placement(const Writer* w, json_t* entry, const double scale[3],
                                  const double rotate[3], const double translate[3]) {
  NoliStatus status = NOLI_OK;
  bool uniform = scale[0] == scale[1] && scale[1] == scale[2];
  if (!uniform || scale[0] != 1.0) {
    NOLI_TRY(ipc_import_put(w, entry, "scale",
                            uniform ? noli_ipc_number(scale[0]) : noli_ipc_vector(scale)));
  }
  if (any(rotate)) {
    NOLI_TRY(ipc_import_put(w, entry, "rotate", noli_ipc_vector(rotate)));
  }
  if (any(translate)) {
    NOLI_TRY(ipc_import_put(w, entry, "translate", noli_ipc_vector(translate)));
  }
done:
  return status;
}

static bool is_body(const NoliIpcPart* part) {
  return part->solid && !part->kinematic;
}

static NoliStatus write_copies(const Writer* w, json_t* entry, int64_t first, int32_t count) {
  NoliStatus status = NOLI_OK;
  const NoliIpcPart* part = &w->world->parts.data[first];
  double step[3];
  json_t* copies = NULL;
  for (int k = 0; k < 3; k++) {
    step[k] = part[1].translate[k] - part[0].translate[k];
  }
  NOLI_TRY(put_made(w, entry, "copies", json_object(), &copies));
  NOLI_TRY(ipc_import_put(w, copies, "count", json_integer(count)));
  NOLI_TRY(ipc_import_put(w, copies, "translate", noli_ipc_vector(step)));
done:
  return status;
}

// Whether a move, as that of all vertices of an obstacle, is its motion; others are `prescribed`.
static bool is_own_motion(const NoliIpcPart* part, const json_t* move) {
  return !is_body(part) && json_object_get(move, "select") == NULL &&
         json_array_size(part->moves) == 1;
}

// Parts `first` to `first` + `count` - 1, which are one entry.
static NoliStatus ipc_import_write_part(const Writer* w, int64_t first, int32_t count,
                                        json_t* list) {
  NoliStatus status = NOLI_OK;
  const NoliIpcPart* part = &w->world->parts.data[first];
  const NoliIpcFile* file = &w->world->files.data[part->file];
  json_t* entry = json_object();

  NOLI_TRY(noli_ipc_push(w->context, list, entry));
  NOLI_TRY(ipc_import_put(w, entry, "name", json_string(part->name)));
  NOLI_TRY(ipc_import_put(w, entry, "mesh", json_string(file->name)));
  if (file->as != NULL) {
    NOLI_TRY(ipc_import_put(w, entry, "as", json_string(file->as)));
  }
  NOLI_TRY(write_placement(w, entry, part->scale, part->rotate, part->translate));
  if (count > 1) {
    NOLI_TRY(write_copies(w, entry, first, count));
  }
  if (is_body(part)) {
    NOLI_TRY(write_material(w, part->shape, entry));
  }
  if (any(part->velocity) && is_body(part)) {
    NOLI_TRY(ipc_import_put(w, entry, "velocity", noli_ipc_vector(part->velocity)));
  }
  if (any(part->angular_velocity) && is_body(part)) {
    NOLI_TRY(ipc_import_put(w, entry, "angular_velocity", noli_ipc_vector(part->angular_velocity)));
  }
  const json_t* move = json_array_get(part->moves, 0);
  if (move != NULL && is_own_motion(part, move)) {
    NOLI_TRY(ipc_import_put(w, entry, "motion", json_incref(json_object_get(move, "motion"))));
  }
done:
  return status;
}

// How many parts from `first` on are a row of copies of which nothing is said one by one.
static int32_t ipc_import_row_of(const NoliIpcWorld* world, int64_t first) {
  const NoliIpcPart* part = &world->parts.data[first];
  const int32_t* count = part->shape->count;
  int32_t n = 1;
  if (count[2] == 1 || part->copy % count[2] != 0) {
    return 1;
  }
  while (n < count[2] && part[n].moves == NULL && part[n].forces == NULL) {
    n++;
  }
  return part->moves == NULL && part->forces == NULL && n == count[2] ? n : 1;
}

static NoliStatus write_parts(const Writer* w) {
  NoliStatus status = NOLI_OK;
  json_t *bodies = NULL, *obstacles = NULL;
  NOLI_TRY(put_made(w, w->root, "bodies", json_array(), &bodies));
  NOLI_TRY(put_made(w, w->root, "obstacles", json_array(), &obstacles));
  for (int64_t i = 0; i < w->world->parts.count;) {
    int32_t n = ipc_import_row_of(w->world, i);
    NOLI_TRY(
        ipc_import_write_part(w, i, n, is_body(&w->world->parts.data[i]) ? bodies : obstacles));
    i += n;
  }
done:
  return status;
}

// ---- what stands still --------------------------------------------------------------------------

// A name that no part has.
static void free_name(const NoliIpcWorld* world, const char* stem, int64_t number, char* name) {
  bool taken = true;
  snprintf(name, NAME_SIZE - 20, number == 0 ? "%s" : "%s_%lld", stem, (long long)number);
  while (taken) {
    taken = false;
    for (int64_t i = 0; i < world->parts.count && !taken; i++) {
      taken = strcmp(world->parts.data[i].name, name) == 0;
    }
    if (taken && strlen(name) < NAME_SIZE - 2) {
      strcat(name, "_");
    }
  }
}

// A pair of everything and what stands still, where it differs from what holds in general.
static NoliStatus write_pair(const Writer* w, json_t* pairs, const char* name, double friction) {
  NoliStatus status = NOLI_OK;
  if (friction == fmax(w->script->self_friction, 0.0) && !w->script->no_self_contact) {
    goto done;
  }
  json_t* pair = json_object();
  NOLI_TRY(noli_ipc_push(w->context, pairs, pair));
  NOLI_TRY(ipc_import_put(w, pair, "a", json_string("*")));
  NOLI_TRY(ipc_import_put(w, pair, "b", json_string(name)));
  NOLI_TRY(ipc_import_put(w, pair, "friction", noli_ipc_number(friction)));
done:
  return status;
}

static NoliStatus write_half_spaces(const Writer* w, json_t* pairs) {
  NoliStatus status = NOLI_OK;
  json_t* list = NULL;
  NOLI_TRY(put_made(w, w->root, "half_spaces", json_array(), &list));
  for (int64_t i = 0; i < w->script->half_spaces.count; i++) {
    const NoliIpcHalfSpace* half_space = &w->script->half_spaces.data[i];
    char name[NAME_SIZE];
    json_t* entry = json_object();
    free_name(w->world, half_space->ground ? "ground" : "half_space", i, name);
    NOLI_TRY(noli_ipc_push(w->context, list, entry));
    NOLI_TRY(ipc_import_put(w, entry, "name", json_string(name)));
    NOLI_TRY(ipc_import_put(w, entry, "origin", noli_ipc_vector(half_space->origin)));
    NOLI_TRY(ipc_import_put(w, entry, "normal", noli_ipc_vector(half_space->normal)));
    NOLI_TRY(write_pair(w, pairs, name, half_space->friction));
  }
done:
  return status;
}

static NoliStatus write_stills(const Writer* w, json_t* pairs) {
  NoliStatus status = NOLI_OK;
  json_t* list = json_object_get(w->root, "obstacles");
  for (int64_t i = 0; i < w->script->stills.count; i++) {
    const NoliIpcStill* still = &w->script->stills.data[i];
    const NoliIpcPlaced* placed = &w->world->stills.data[i];
    const double scale[3] = {placed->scale, placed->scale, placed->scale};
    char name[NAME_SIZE];
    json_t* entry = json_object();
    free_name(w->world, "meshCO", i, name);
    NOLI_TRY(noli_ipc_push(w->context, list, entry));
    NOLI_TRY(ipc_import_put(w, entry, "name", json_string(name)));
    NOLI_TRY(ipc_import_put(w, entry, "mesh", json_string(placed->file)));
    NOLI_TRY(write_placement(w, entry, scale, still->rotate, placed->translate));
    NOLI_TRY(write_pair(w, pairs, name, still->friction));
  }
done:
  return status;
}

static NoliStatus write_surroundings(const Writer* w) {
  NoliStatus status = NOLI_OK;
  bool still = w->script->half_spaces.count > 0 || w->script->stills.count > 0;
  json_t* pairs = json_array();
  if (w->script->no_self_contact && still) {
    // nothing touches anything but what stands still, of which later pairs tell
    json_t* pair = json_object();
    NOLI_TRY(noli_ipc_push(w->context, pairs, pair));
    NOLI_TRY(ipc_import_put(w, pair, "a", json_string("*")));
    NOLI_TRY(ipc_import_put(w, pair, "b", json_string("*")));
    NOLI_TRY(ipc_import_put(w, pair, "contact", json_false()));
  }
  NOLI_TRY(write_half_spaces(w, pairs));
  NOLI_TRY(write_stills(w, pairs));
  NOLI_TRY(ipc_import_put(w, w->root, "pairs", json_incref(pairs)));
done:
  json_decref(pairs);
  return status;
}

// ---- motions and loads --------------------------------------------------------------------------

// Copies the entries of all parts into one list, with the names of the bodies in front.
static NoliStatus write_named(const Writer* w, const NoliIpcPart* part, const json_t* entries,
                              bool moves, json_t* list) {
  NoliStatus status = NOLI_OK;
  json_t* entry = NULL;
  for (size_t i = 0; i < json_array_size(entries); i++) {
    const json_t* from = json_array_get(entries, i);
    if (moves && is_own_motion(part, from)) {
      continue;
    }
    entry = json_object();
    NOLI_TRY(ipc_import_put(w, entry, "body", json_string(part->name)));
    NOLI_CHECK(w->context, json_object_update(entry, (json_t*)from) == 0, NOLI_ERROR_MEMORY,
               "out of memory");
    NOLI_TRY(noli_ipc_push(w->context, list, json_incref(entry)));
    json_decref(entry);
    entry = NULL;
  }
done:
  json_decref(entry);
  return status;
}

static NoliStatus write_actions(const Writer* w) {
  NoliStatus status = NOLI_OK;
  json_t *prescribed = NULL, *forces = NULL;
  NOLI_TRY(put_made(w, w->root, "prescribed", json_array(), &prescribed));
  NOLI_TRY(put_made(w, w->root, "forces", json_array(), &forces));
  for (int64_t i = 0; i < w->world->parts.count; i++) {
    const NoliIpcPart* part = &w->world->parts.data[i];
    NOLI_TRY(write_named(w, part, part->moves, true, prescribed));
    NOLI_TRY(write_named(w, part, part->forces, false, forces));
  }
done:
  return status;
}

// ---- all together ------------------------------------------------------------------------------

// Lists without items say nothing.
static void drop_empty(json_t* root) {
  static const char* const lists[] = {"obstacles", "half_spaces", "pairs", "prescribed", "forces"};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    if (json_array_size(json_object_get(root, lists[i])) == 0) {
      json_object_del(root, lists[i]);
    }
  }
}

NoliStatus noli_import_ipc(const NoliSceneSource* source, json_t** root) {
  NoliStatus status = NOLI_OK;
  NoliIpcScript script = {0};
  NoliIpcWorld world = {.source = source};
  Writer w = {.context = source->context, .script = &script, .world = &world};

  *root = NULL;
  NOLI_TRY(noli_ipc_read(source, &script));
  NOLI_TRY(noli_ipc_world_make(source, &script, &world));
  NOLI_TRY(noli_ipc_animate(&world));
  w.root = json_object();
  NOLI_CHECK(source->context, w.root != NULL, NOLI_ERROR_MEMORY, "out of memory");
  NOLI_TRY(write_time(&w));
  NOLI_TRY(write_parts(&w));
  NOLI_TRY(write_surroundings(&w));
  NOLI_TRY(write_actions(&w));
  NOLI_TRY(write_contact(&w));
  NOLI_TRY(write_friction(&w));
  NOLI_TRY(write_solver(&w));
  drop_empty(w.root);
  *root = json_incref(w.root);
done:
  json_decref(w.root);
  noli_ipc_world_release(&world);
  noli_ipc_release(source->context, &script);
  return status;
}
