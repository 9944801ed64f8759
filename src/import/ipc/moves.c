#include "import/ipc/moves.h"

#include <math.h>

// ---- values -------------------------------------------------------------------------------------

NoliStatus noli_ipc_put(NoliContext* context, json_t* object, const char* key, json_t* value) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, json_object_set_new(object, key, value) == 0, NOLI_ERROR_MEMORY,
             "out of memory");
done:
  return status;
}

NoliStatus noli_ipc_push(NoliContext* context, json_t* list, json_t* value) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, json_array_append_new(list, value) == 0, NOLI_ERROR_MEMORY, "out of memory");
done:
  return status;
}

json_t* noli_ipc_number(double value) {
  bool whole = fabs(value) < 1e6 && value == floor(value);
  // -0 as well
  return whole ? json_integer((json_int_t)value) : json_real(value);
}

json_t* noli_ipc_vector(const double v[3]) {
  json_t* list = json_array();
  for (int i = 0; i < 3; i++) {
    if (json_array_append_new(list, noli_ipc_number(v[i])) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}

// The list at `*list`, which is made when it is not there yet.
static NoliStatus push_made(NoliContext* context, json_t** list, json_t* value) {
  if (*list == NULL) {
    *list = json_array();
  }
  return noli_ipc_push(context, *list, value);
}

// ---- time ---------------------------------------------------------------------------------------

static int64_t first_step_at(const NoliIpcWorld* world, double t) {
  double k = ceil(t / world->time_step - 1e-9);
  return k < 9e15 ? (int64_t)fmax(k, 0.0) : NOLI_IPC_FOREVER;
}

void noli_ipc_steps(const NoliIpcWorld* world, double t_begin, double t_end, int64_t* k_begin,
                    int64_t* k_end) {
  *k_begin = first_step_at(world, t_begin);
  *k_end = first_step_at(world, t_end);
}

// "from" and "to", `shift` steps off; neither where it would say nothing.
static NoliStatus put_times(const NoliIpcWorld* world, json_t* object, double shift,
                            int64_t k_begin, int64_t k_end) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = world->source->context;
  if (k_begin > 0) {
    double from = ((double)k_begin + shift) * world->time_step;
    NOLI_TRY(noli_ipc_put(context, object, "from", json_real(from)));
  }
  if (k_end < NOLI_IPC_FOREVER) {
    double to = ((double)k_end + shift) * world->time_step;
    NOLI_TRY(noli_ipc_put(context, object, "to", json_real(to)));
  }
done:
  return status;
}

// ---- motions ------------------------------------------------------------------------------------

static NoliStatus put_rotation(NoliContext* context, json_t* motion, const NoliIpcPhase* phase) {
  NoliStatus status = NOLI_OK;
  json_t* rotation = json_object();
  NOLI_TRY(noli_ipc_put(context, motion, "rotation", rotation));
  NOLI_TRY(noli_ipc_put(context, rotation, "axis", noli_ipc_vector(phase->axis)));
  NOLI_TRY(noli_ipc_put(context, rotation, "speed", noli_ipc_number(phase->speed)));
  NOLI_TRY(noli_ipc_put(context, rotation, "origin",
                        phase->about_box ? json_string("box") : noli_ipc_vector(phase->origin)));
done:
  return status;
}

static NoliStatus put_until(NoliContext* context, json_t* motion, double x) {
  NoliStatus status = NOLI_OK;
  json_t *until = json_object(), *beyond = json_object();
  const double origin[3] = {x, 0, 0}, normal[3] = {1, 0, 0};
  status = noli_ipc_put(context, motion, "until", until);
  if (status != NOLI_OK) {
    json_decref(beyond);
    return status;
  }
  NOLI_TRY(noli_ipc_put(context, until, "beyond", beyond));
  NOLI_TRY(noli_ipc_put(context, beyond, "origin", noli_ipc_vector(origin)));
  NOLI_TRY(noli_ipc_put(context, beyond, "normal", noli_ipc_vector(normal)));
done:
  return status;
}

static NoliStatus put_sequence(const NoliIpcWorld* world, json_t* motion, const json_t* files) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = world->source->context;
  json_t* sequence = json_object();
  NOLI_TRY(noli_ipc_put(context, motion, "sequence", sequence));
  NOLI_TRY(noli_ipc_put(context, sequence, "files", json_deep_copy(files)));
  NOLI_TRY(noli_ipc_put(context, sequence, "fps", noli_ipc_number(1.0 / world->time_step)));
done:
  return status;
}

static NoliStatus make_motion(const NoliIpcWorld* world, const NoliIpcPhase* phase,
                              json_t** motion) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = world->source->context;
  const double* v = phase->velocity;
  bool moves = v[0] != 0.0 || v[1] != 0.0 || v[2] != 0.0, turns = phase->speed != 0.0;

  *motion = json_object();
  NOLI_CHECK(context, *motion != NULL, NOLI_ERROR_MEMORY, "out of memory");
  if (moves) {
    NOLI_TRY(noli_ipc_put(context, *motion, "velocity", noli_ipc_vector(v)));
  }
  if (turns) {
    NOLI_TRY(put_rotation(context, *motion, phase));
  }
  if (phase->sequence != NULL) {
    NOLI_TRY(put_sequence(world, *motion, phase->sequence));
  } else if (!moves && !turns) {
    NOLI_TRY(noli_ipc_put(context, *motion, "hold", json_true()));
  }
  if (phase->until) {
    NOLI_TRY(put_until(context, *motion, phase->until_x));
  }
  NOLI_TRY(put_times(world, *motion, -0.5, phase->k_begin, phase->k_end));
done:
  return status;
}

// ---- nodes --------------------------------------------------------------------------------------

// A new entry with the selection, unless all vertices are meant.
static NoliStatus make_entry(NoliContext* context, NoliIpcNodes nodes, json_t** entry) {
  NoliStatus status = NOLI_OK;
  *entry = json_object();
  NOLI_CHECK(context, *entry != NULL, NOLI_ERROR_MEMORY, "out of memory");
  if (nodes.node != NULL) {
    json_t* select = json_object();
    NOLI_TRY(noli_ipc_put(context, *entry, "select", select));
    json_t* vertices = json_array();
    NOLI_TRY(noli_ipc_put(context, select, "vertices", vertices));
    for (int32_t i = 0; i < nodes.n_node; i++) {
      NOLI_TRY(noli_ipc_push(context, vertices, json_integer(nodes.node[i])));
    }
  }
done:
  return status;
}

NoliStatus noli_ipc_add_moves(NoliIpcWorld* world, int64_t part, NoliIpcNodes nodes,
                              const NoliIpcPhase* phases, int32_t n_phases) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = world->source->context;
  json_t *entry = NULL, *list = NULL;
  NOLI_TRY(make_entry(context, nodes, &entry));
  list = json_array();
  for (int32_t i = 0; i < n_phases; i++) {
    json_t* motion = NULL;
    status = make_motion(world, &phases[i], &motion);
    if (status != NOLI_OK) {
      json_decref(motion);
      goto done;
    }
    NOLI_TRY(noli_ipc_push(context, list, motion));
  }
  bool single = json_array_size(list) == 1;
  NOLI_TRY(noli_ipc_put(context, entry, "motion",
                        single ? json_incref(json_array_get(list, 0)) : json_incref(list)));
  NOLI_TRY(push_made(context, &world->parts.data[part].moves, json_incref(entry)));
done:
  json_decref(list);
  json_decref(entry);
  return status;
}

NoliStatus noli_ipc_add_load(NoliIpcWorld* world, int64_t part, NoliIpcNodes nodes,
                             const double acceleration[3], int64_t k_begin, int64_t k_end) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = world->source->context;
  json_t* entry = NULL;
  NOLI_TRY(make_entry(context, nodes, &entry));
  NOLI_TRY(noli_ipc_put(context, entry, "acceleration", noli_ipc_vector(acceleration)));
  NOLI_TRY(put_times(world, entry, 0.5, k_begin, k_end));
  NOLI_TRY(push_made(context, &world->parts.data[part].forces, json_incref(entry)));
done:
  json_decref(entry);
  return status;
}
