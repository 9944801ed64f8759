#include "import/ipc/extras.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

// ---- rotations ----------------------------------------------------------------------------------

// In every step the original turns by Rx Ry Rz of the angles of that step: one rotation, the same
// in all steps.
static NoliStatus set_rotation(const NoliIpcWorld* world, int32_t line, const double degrees[3],
                               NoliIpcPhase* phase) {
  NoliStatus status = NOLI_OK;
  int n_axes = 0, last = 0;
  double in_step[3];

  for (int k = 0; k < 3; k++) {
    in_step[k] = degrees[k] * world->time_step;
    n_axes += degrees[k] != 0.0;
    last = degrees[k] != 0.0 ? k : last;
  }

  phase->about_box = true;
  if (n_axes == 1) {
    phase->axis[last] = 1.0;
    phase->speed = degrees[last];
  } else if (n_axes > 1) {
    NoliMat3 R = noli_ipc_rotation(in_step);
    NoliVec3 twice = {R.m[2][1] - R.m[1][2], R.m[0][2] - R.m[2][0], R.m[1][0] - R.m[0][1]};
    double sine = noli_norm3(twice);
    NOLI_IPC_CHECK(world->source, line, sine > 1e-14,
                   "an angular velocity that turns by half a turn in a step is not supported");
    noli_store3(phase->axis, noli_scale3(1.0 / sine, twice));
    phase->speed = atan2(sine, noli_trace33(&R) - 1.0) * (180.0 / PI) / world->time_step;
  }
done:
  return status;
}

// ---- boxes of vertices --------------------------------------------------------------------------

// Surface vertices of the file in the box, which is relative to the box of the file.
static NoliStatus select_region(const NoliIpcWorld* world, const NoliIpcPart* part,
                                const NoliIpcRegion* region, int32_t** node, int32_t* n_node) {
  NoliStatus status = NOLI_OK;
  const NoliIpcFile* file = &world->files.data[part->file];
  const NoliMesh* mesh = file->mesh;
  double low[3] = {(double)INFINITY, (double)INFINITY, (double)INFINITY};
  double high[3] = {-(double)INFINITY, -(double)INFINITY, -(double)INFINITY};
  for (int64_t i = 0; i < 3 * (int64_t)mesh->n_vert; i++) {
    low[i % 3] = fmin(low[i % 3], mesh->x[i]);
    high[i % 3] = fmax(high[i % 3], mesh->x[i]);
  }
  NOLI_NEW(world->source->context, *node, mesh->n_vert);
  *n_node = 0;

  for (int32_t v = 0; v < mesh->n_vert; v++) {
    bool inside = file->surface[v];
    for (int k = 0; k < 3; k++) {
      double x = mesh->x[3 * (int64_t)v + k], extent = high[k] - low[k];
      inside =
          inside && x >= extent * region->low[k] + low[k] && x <= extent * region->high[k] + low[k];
    }
    if (inside) {
      (*node)[(*n_node)++] = v;
    }
  }
done:
  return status;
}

static bool stands_still(const NoliIpcRegion* region) {
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    sum += fabs(region->linear[k]) + fabs(region->angular[k]);
  }
  return sum == 0.0;
}

static NoliStatus ipc_extras_add_region(NoliIpcWorld* world, int64_t index,
                                        const NoliIpcRegion* region) {
  NoliStatus status = NOLI_OK;
  const double* range = region->load ? world->script->load_time : world->script->region_time;
  NoliIpcPhase phase = {0};
  int32_t* node = NULL;
  int32_t n_node = 0;
  NOLI_TRY(select_region(world, &world->parts.data[index], region, &node, &n_node));
  noli_ipc_steps(world, fmax(region->t_begin, range[0]), fmin(region->t_end, range[1]),
                 &phase.k_begin, &phase.k_end);
  if (n_node == 0 || phase.k_begin >= phase.k_end) {
    noli_ipc_log(world->source, region->line, NOLI_LOG_WARNING, "%s: selects no %s",
                 region->load ? "NBC" : "DBC", n_node == 0 ? "vertex of the surface" : "step");
    goto done;
  }

  NoliIpcNodes nodes = {node, n_node};
  if (region->load) {
    NOLI_TRY(noli_ipc_add_load(world, index, nodes, region->linear, phase.k_begin, phase.k_end));
    goto done;
  }
  memcpy(phase.velocity, region->linear, sizeof phase.velocity);
  NOLI_TRY(set_rotation(world, region->line, region->angular, &phase));
  NOLI_TRY(noli_ipc_add_moves(world, index, nodes, &phase, 1));
done:
  noli_free(world->source->context, node);
  return status;
}

static bool overlap(const NoliIpcRegion* a, const NoliIpcRegion* b) {
  bool together = a->t_begin < b->t_end && b->t_begin < a->t_end;
  for (int k = 0; k < 3; k++) {
    together = together && a->low[k] <= b->high[k] && b->low[k] <= a->high[k];
  }
  return together;
}

// Where boxes share vertices at the same time the original adds up their motions; here the last one
// wins, which is the same if at most one of them moves and comes last.
static NoliStatus check_overlaps(const NoliIpcWorld* world, const NoliIpcShape* shape) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < shape->n_regions; i++) {
    for (int32_t j = 0; j < i; j++) {
      const NoliIpcRegion* a = &world->script->regions.data[shape->first_region + i];
      const NoliIpcRegion* b = &world->script->regions.data[shape->first_region + j];
      NOLI_IPC_CHECK(world->source, a->line,
                     a->load || b->load || stands_still(a) || stands_still(b) || !overlap(a, b),
                     "DBC: two motions of the same vertices at the same time are not supported");
    }
  }
done:
  return status;
}

static NoliStatus add_regions(NoliIpcWorld* world, int64_t index, bool alone) {
  NoliStatus status = NOLI_OK;
  const NoliIpcPart* part = &world->parts.data[index];
  const NoliIpcShape* shape = part->shape;
  NOLI_TRY(check_overlaps(world, shape));
  // those that move come last, and win
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; i < shape->n_regions; i++) {
      const NoliIpcRegion* region = &world->script->regions.data[shape->first_region + i];
      if ((pass == 1) == stands_still(region)) {
        continue;
      }
      if ((!region->load && !alone) || (region->load && (part->kinematic || !part->solid))) {
        noli_ipc_log(world->source, region->line, NOLI_LOG_WARNING,
                     "%s: has no effect on this shape in this scene", region->load ? "NBC" : "DBC");
        continue;
      }
      NOLI_IPC_CHECK(world->source, region->line, !part->kinematic,
                     "DBC: cannot be combined with linearVelocity, angularVelocity and meshSeq");
      NOLI_TRY(ipc_extras_add_region(world, index, region));
    }
  }
done:
  return status;
}

// ---- initial velocities -------------------------------------------------------------------------

static NoliVec3 centre_of_mass(const NoliIpcWorld* world, const NoliIpcPart* part) {
  const NoliMesh* mesh = world->files.data[part->file].mesh;
  NoliVec3 sum = {0};
  double volume = 0.0;
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    NoliVec3 x[4];
    for (int i = 0; i < 4; i++) {
      x[i] = noli_load3(part->x + 3 * (int64_t)mesh->tet[4 * t + i]);
    }
    NoliVec3 a = noli_sub3(x[1], x[0]), b = noli_sub3(x[2], x[0]), c = noli_sub3(x[3], x[0]);
    double six_volumes = fabs(noli_dot3(a, noli_cross3(b, c)));
    NoliVec3 four_centres = noli_add3(noli_add3(x[0], x[1]), noli_add3(x[2], x[3]));
    sum = noli_mul_add3(sum, 0.25 * six_volumes, four_centres);
    volume += six_volumes;
  }
  return volume > 0.0 ? noli_scale3(1.0 / volume, sum) : sum;
}

// The original turns about the centre of the bounding box, the native scene about the centre of
// mass.
static void set_initial_velocity(NoliIpcWorld* world, NoliIpcPart* part) {
  const NoliIpcShape* shape = part->shape;
  NoliVec3 omega = noli_scale3(PI / 180.0, noli_load3(shape->initial_angular));
  double low[3], high[3];
  noli_ipc_part_box(world, part, low, high);
  NoliVec3 v = noli_load3(shape->initial_linear);
  if (noli_norm3(omega) > 0.0) {
    NoliVec3 box_centre = noli_scale3(0.5, noli_add3(noli_load3(low), noli_load3(high)));
    NoliVec3 arm = noli_sub3(centre_of_mass(world, part), box_centre);
    v = noli_add3(v, noli_cross3(omega, arm));
  }
  noli_store3(part->velocity, v);
  noli_store3(part->angular_velocity, omega);
}

// ---- sequences of meshes ------------------------------------------------------------------------

// Frames are where the vertices are, not to be placed; so the part must start at one that need not
// be placed either. Writes its file name.
static NoliStatus find_start(NoliIpcWorld* world, int64_t index, int32_t line, const char* first,
                             const char** name) {
  NoliStatus status = NOLI_OK;
  NoliIpcPart* part = &world->parts.data[index];
  const NoliIpcFile* file = &world->files.data[part->file];
  NoliMesh* mesh = NULL;
  NOLI_TRY(noli_ipc_read_mesh(world->source, line, first, &mesh));
  NOLI_IPC_CHECK(world->source, line, mesh->n_vert == file->mesh->n_vert,
                 "meshSeq: %s has %d vertices, the shape %d", first, (int)mesh->n_vert,
                 (int)file->mesh->n_vert);
  double to_file = 0.0, to_frame = 0.0;
  for (int64_t i = 0; i < 3 * (int64_t)mesh->n_vert; i++) {
    to_file = fmax(to_file, fabs(part->x[i] - file->mesh->x[i]));
    to_frame = fmax(to_frame, fabs(part->x[i] - mesh->x[i]));
  }
  NOLI_IPC_CHECK(world->source, line, to_file == 0.0 || to_frame <= 1e-5 * world->diagonal,
                 "meshSeq: the sequence does not start where the shape is, but up to %g m away: "
                 "not supported",
                 to_frame);
  *name = to_file == 0.0 ? file->name : first;
done:
  noli_mesh_destroy(world->source->context, &mesh);
  return status;
}

static NoliStatus frame_name(NoliIpcWorld* world, NoliSpan folder, const char* suffix, int64_t k,
                             char** name) {
  char number[40];
  snprintf(number, sizeof number, "/%lld%s", (long long)k, suffix);
  return noli_ipc_find_file(world->source, folder, number, name);
}

// Files for the ends of all steps, as far as there are any.
static NoliStatus list_frames(NoliIpcWorld* world, NoliSpan folder, const char* suffix,
                              int32_t first, json_t* files) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = world->source->context;
  char* name = NULL;
  for (int64_t k = 0; k < world->n_steps; k++) {
    NOLI_TRY(frame_name(world, folder, suffix, first + k, &name));
    if (name == NULL) {
      break;
    }
    NOLI_TRY(noli_ipc_push(context, files, json_string(name)));
    noli_free(context, name);
    name = NULL;
  }
done:
  noli_free(context, name);
  return status;
}

// From now on the part is the mesh of a file as it is.
static NoliStatus start_at(NoliIpcWorld* world, int64_t index, const char* name) {
  NoliStatus status = NOLI_OK;
  NoliIpcPart* part = &world->parts.data[index];
  const NoliIpcFile* old = &world->files.data[part->file];
  if (strcmp(name, old->name) == 0) {
    goto done;
  }

  // triangles in place of segments or points, as for shapes
  bool obj = strstr(name, ".obj") != NULL;
  const char* as = old->as;
  if (obj && old->mesh->n_tri == 0 && old->mesh->n_tet == 0) {
    as = old->mesh->n_edge > 0 ? "edges" : "points";
  }
  NOLI_PUSH(world->source->context, &world->files,
            ((NoliIpcFile){.path = {"", 0}, .as = obj ? as : NULL}));
  NoliIpcFile* file = &world->files.data[world->files.count - 1];
  file->name = noli_strdup(world->source->context, name);
  NOLI_CHECK(world->source->context, file->name != NULL, NOLI_ERROR_MEMORY, "out of memory");
  NOLI_TRY(noli_ipc_read_mesh(world->source, part->shape->line, name, &file->mesh));
  part->file = (int32_t)(world->files.count - 1);
  for (int k = 0; k < 3; k++) {
    part->scale[k] = 1.0;
    part->rotate[k] = part->translate[k] = 0.0;
  }
done:
  return status;
}

static const char* frame_suffix(const NoliIpcFile* file) {
  if (file->as != NULL) {
    return strcmp(file->as, "edges") == 0 ? ".seg" : ".pt";
  }
  if (file->mesh->n_tet > 0) {
    return ".msh";
  }
  return file->mesh->n_tri > 0 ? ".obj" : file->mesh->n_edge > 0 ? ".seg" : ".pt";
}

NoliStatus noli_ipc_follow(NoliIpcWorld* world, int64_t index, int32_t line, NoliSpan folder,
                           int32_t first) {
  NoliStatus status = NOLI_OK;
  const NoliIpcFile* file = &world->files.data[world->parts.data[index].file];
  const NoliMesh* mesh = file->mesh;
  const char* own = frame_suffix(file);
  char* zero = NULL; // the frame before the first step, if there is a file
  json_t *frames = json_array(), *files = json_array();
  NOLI_CHECK(world->source->context, frames != NULL && files != NULL, NOLI_ERROR_MEMORY,
             "out of memory");

  // find the files of the frames
  NOLI_TRY(list_frames(world, folder, own, first, frames));
  if (json_array_size(frames) == 0 && mesh->n_tet == 0) {
    own = ".obj";
    NOLI_TRY(list_frames(world, folder, own, first, frames));
  }
  NOLI_IPC_CHECK(world->source, line, json_array_size(frames) > 0,
                 "meshSeq: %.*s/%d%s: there is no such file in the folder of the scene or in one "
                 "above it",
                 (int)folder.n, folder.at, (int)first, own);
  if ((int64_t)json_array_size(frames) < world->n_steps) {
    noli_ipc_log(world->source, line, NOLI_LOG_WARNING,
                 "meshSeq: has %d frames for %lld steps; the last one stays",
                 (int)json_array_size(frames), (long long)world->n_steps);
  }

  // the first frame, or the file before it, is the initial shape
  const char* start = NULL;
  NOLI_TRY(frame_name(world, folder, own, 0, &zero));
  const char* begin = zero != NULL ? zero : json_string_value(json_array_get(frames, 0));
  NOLI_TRY(find_start(world, index, line, begin, &start));
  NOLI_TRY(noli_ipc_push(world->source->context, files, json_string(start)));
  NOLI_CHECK(world->source->context, json_array_extend(files, frames) == 0, NOLI_ERROR_MEMORY,
             "out of memory");
  NOLI_TRY(start_at(world, index, start));

  // the part moves from frame to frame
  NoliIpcPhase phase = {.sequence = files, .k_end = NOLI_IPC_FOREVER};
  world->parts.data[index].kinematic = true;
  NOLI_TRY(noli_ipc_add_moves(world, index, (NoliIpcNodes){0}, &phase, 1));
done:
  noli_free(world->source->context, zero);
  json_decref(frames);
  json_decref(files);
  return status;
}

// ---- all together ------------------------------------------------------------------------------

static NoliStatus move_whole(NoliIpcWorld* world, int64_t index) {
  NoliStatus status = NOLI_OK;
  const NoliIpcShape* shape = world->parts.data[index].shape;
  NoliIpcPhase phase = {.k_end = NOLI_IPC_FOREVER};
  world->parts.data[index].kinematic = true;
  memcpy(phase.velocity, shape->linear, sizeof phase.velocity);
  NOLI_TRY(set_rotation(world, shape->line, shape->angular, &phase));
  bool moves = noli_norm3(noli_load3(phase.velocity)) > 0.0 || phase.speed != 0.0;
  if (moves) {
    NOLI_TRY(noli_ipc_add_moves(world, index, (NoliIpcNodes){0}, &phase, 1));
  }
done:
  return status;
}

static NoliStatus apply_to_part(NoliIpcWorld* world, int64_t index, bool alone) {
  NoliStatus status = NOLI_OK;
  NoliIpcPart* part = &world->parts.data[index];
  const NoliIpcShape* shape = part->shape;
  bool driven = shape->has_linear || shape->has_angular || shape->sequence.n > 0;
  if (!alone && (driven || shape->has_initial)) {
    noli_ipc_log(world->source, shape->line, NOLI_LOG_WARNING,
                 "velocities and sequences of shapes have no effect beside a named script");
  }
  if (alone && shape->sequence.n > 0) {
    NOLI_IPC_CHECK(world->source, shape->line, !shape->has_linear && !shape->has_angular,
                   "meshSeq: cannot be combined with linearVelocity and angularVelocity");
    NOLI_TRY(noli_ipc_follow(world, index, shape->line, shape->sequence, 0));
  } else if (alone && driven) {
    NOLI_TRY(move_whole(world, index));
  }
  if (alone && shape->has_initial && part->solid && !part->kinematic) {
    set_initial_velocity(world, part);
  }
  NOLI_TRY(add_regions(world, index, alone));
done:
  return status;
}

NoliStatus noli_ipc_apply_extras(NoliIpcWorld* world, bool alone) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; i < world->parts.count; i++) {
    NOLI_TRY(apply_to_part(world, i, alone));
  }
done:
  return status;
}
