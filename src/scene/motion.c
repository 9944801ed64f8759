#include "scene/motion.h"

#include "base/array.h"
#include "math/rotation.h"
#include "scene/files.h"
#include "scene/origins.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180.0)
#define MAX_PANELS 1e6

// ---- reading ------------------------------------------------------------------------------------

NoliStatus noli_scene_read_times(const NoliSceneSource* source, const NoliSceneNode* node,
                                 double* t_begin, double* t_end) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode from = noli_scene_member(node, "from"), to = noli_scene_member(node, "to");
  *t_begin = noli_scene_number(&from);
  *t_end = json_is_string(to.value) ? HUGE_VAL : noli_scene_number(&to);
  NOLI_SCENE_CHECK(source, &to, *t_begin < *t_end, "must be later than \"from\", got %g and %g",
                   *t_end, *t_begin);
done:
  return status;
}

static NoliStatus read_rotation(const NoliSceneSource* source, const NoliSceneNode* node,
                                NoliSceneMotion* motion) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode axis = noli_scene_member(node, "axis");
  NoliSceneNode origin = noli_scene_member(node, "origin");
  NoliSceneNode speed = noli_scene_member(node, "speed");
  NoliSceneNode angle = noli_scene_member(node, "angle");
  double length;

  NOLI_TRY(noli_scene_read_direction(source, &axis, motion->axis, &length));
  for (int i = 0; i < 3; i++) {
    motion->axis[i] /= length;
  }
  motion->about_box = json_is_string(origin.value);
  motion->has_origin = json_is_array(origin.value);
  noli_scene_vector(&origin, motion->origin);
  motion->turn_is_speed = speed.value != NULL;
  NOLI_SCENE_CHECK(source, &origin, !motion->about_box || motion->turn_is_speed,
                   "\"box\" cannot be combined with \"angle\", which needs a fixed origin; use "
                   "\"speed\"");
  NOLI_SCENE_CHECK(source, &origin, !motion->about_box || !motion->has_displacement,
                   "\"box\" cannot be combined with \"displacement\", which starts from the rest "
                   "position; use \"velocity\"");
  NOLI_TRY(noli_scene_compile(source, motion->turn_is_speed ? &speed : &angle, true,
                              motion->variables, &motion->turn));
done:
  return status;
}

// Three expressions in t, X, Y, Z, or "free" in place of one or two of them.
static NoliStatus read_components(const NoliSceneSource* source, const NoliSceneNode* node,
                                  bool time_only, NoliSceneMotion* motion,
                                  NoliSceneExpression expression[3]) {
  NoliStatus status = NOLI_OK;
  int n_free = 0;
  for (int i = 0; i < 3; i++) {
    NoliSceneNode item = noli_scene_item(node, (size_t)i);
    motion->free_axis[i] =
        json_is_string(item.value) && strcmp(noli_scene_string(&item), "free") == 0;
    if (!motion->free_axis[i]) {
      NOLI_TRY(noli_scene_compile(source, &item, time_only, motion->variables, &expression[i]));
      continue;
    }
    NOLI_SCENE_CHECK(source, &item, !motion->has_rotation,
                     "\"free\" cannot be combined with \"rotation\"");
    n_free++;
  }
  NOLI_SCENE_CHECK(source, node, n_free < 3, "at least one component must not be \"free\"");
done:
  return status;
}

// The end by position, if there is one.
static NoliStatus read_end(const NoliSceneSource* source, const NoliSceneNode* node,
                           NoliSceneMotion* motion) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode until = noli_scene_member(node, "until");
  NoliSceneNode beyond = noli_scene_member(&until, "beyond");
  NoliSceneNode origin = noli_scene_member(&beyond, "origin");
  NoliSceneNode normal = noli_scene_member(&beyond, "normal");
  motion->ends_beyond = beyond.value != NULL;
  if (motion->ends_beyond) {
    double length;
    noli_scene_vector(&origin, motion->end_origin);
    NOLI_TRY(noli_scene_read_direction(source, &normal, motion->end_normal, &length));
  }
done:
  return status;
}

// Checks the changes of a motion.
static NoliStatus check_changes(const NoliSceneSource* source, const NoliSceneMotion* motion,
                                const NoliSceneNode* factor, const NoliSceneNode* drift,
                                const NoliSceneNode* spin) {
  NoliStatus status = NOLI_OK;
  const NoliSceneNode* given = factor->value != NULL ? factor : drift->value != NULL ? drift : spin;
  NOLI_SCENE_CHECK(source, factor, factor->value == NULL || !motion->hold,
                   "changes nothing, because \"hold\" does not move; \"drift\" adds a velocity");
  NOLI_SCENE_CHECK(source, given, given->value == NULL || !motion->controlled,
                   "cannot be combined with \"controlled\": the program says where vertices go");
done:
  return status;
}

// Checks that the parts of a motion may be combined.
static NoliStatus check_combination(const NoliSceneSource* source, const NoliSceneNode* node,
                                    const NoliSceneMotion* motion) {
  NoliStatus status = NOLI_OK;
  int moves = motion->has_displacement + motion->has_velocity + motion->has_rotation;
  int alone = motion->hold + motion->has_sequence + motion->controlled;
  NOLI_SCENE_CHECK(source, node, moves + alone > 0,
                   "needs one of \"displacement\", \"velocity\", \"rotation\", \"hold\", "
                   "\"sequence\", \"controlled\"");
  NOLI_SCENE_CHECK(source, node, !(motion->has_displacement && motion->has_velocity),
                   "takes only one of \"displacement\" and \"velocity\"");
  NOLI_SCENE_CHECK(source, node, alone == 0 || moves + alone == 1,
                   "\"%s\" cannot be combined with other motions",
                   motion->hold           ? "hold"
                   : motion->has_sequence ? "sequence"
                                          : "controlled");
done:
  return status;
}

NoliStatus noli_scene_read_motion(const NoliSceneSource* source, const NoliSceneNode* node,
                                  double time_step, NoliSceneVariables* variables,
                                  NoliSceneMotion* motion) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode displacement = noli_scene_member(node, "displacement");
  NoliSceneNode velocity = noli_scene_member(node, "velocity");
  NoliSceneNode rotation = noli_scene_member(node, "rotation");
  NoliSceneNode sequence = noli_scene_member(node, "sequence");
  NoliSceneNode hold = noli_scene_member(node, "hold");
  NoliSceneNode controlled = noli_scene_member(node, "controlled");

  // what is given
  *motion = (NoliSceneMotion){
      .has_displacement = displacement.value != NULL,
      .has_velocity = velocity.value != NULL,
      .has_rotation = rotation.value != NULL,
      .has_sequence = sequence.value != NULL,
      .hold = noli_scene_true(&hold),
      .controlled = noli_scene_true(&controlled),
      .time_step = time_step,
      .variables = variables,
  };

  // what goes together, and when
  NOLI_TRY(check_combination(source, node, motion));
  NOLI_TRY(noli_scene_read_times(source, node, &motion->t_begin, &motion->t_end));
  NOLI_TRY(read_end(source, node, motion));

  // read each part
  NoliSceneNode factor = noli_scene_member(node, "factor");
  NoliSceneNode drift = noli_scene_member(node, "drift");
  NoliSceneNode spin = noli_scene_member(node, "spin");
  NoliSceneNode pivot = noli_scene_member(node, "pivot");
  NOLI_TRY(check_changes(source, motion, &factor, &drift, &spin));
  motion->change = factor.value != NULL ? noli_scene_number(&factor) - 1.0 : 0.0;
  if (drift.value != NULL) {
    noli_scene_vector(&drift, motion->drift);
  }
  if (spin.value != NULL) {
    noli_scene_vector(&spin, motion->spin);
  }
  if (pivot.value != NULL) {
    noli_scene_vector(&pivot, motion->pivot);
  }
  if (motion->has_displacement) {
    NOLI_TRY(read_components(source, &displacement, false, motion, motion->displacement));
  }
  if (motion->has_velocity) {
    NOLI_TRY(read_components(source, &velocity, motion->has_rotation, motion, motion->velocity));
  }
  if (motion->has_rotation) {
    NOLI_TRY(read_rotation(source, &rotation, motion));
  }
  if (motion->has_sequence) {
    NoliSceneNode fps = noli_scene_member(&sequence, "fps");
    motion->fps = noli_scene_number(&fps);
  }
  motion->absolute = motion->has_displacement ||
                     (motion->has_rotation && !motion->has_velocity && !motion->turn_is_speed);
done:
  return status;
}

void noli_scene_release_motion(NoliSceneMotion* motion) {
  for (int i = 0; i < 3; i++) {
    noli_scene_release_expression(&motion->displacement[i]);
    noli_scene_release_expression(&motion->velocity[i]);
  }
  noli_scene_release_expression(&motion->turn);
}

// ---- sequences ----------------------------------------------------------------------------------

// Splits "cloth_%04d.obj" at its counter. Returns false unless there is exactly one.
static bool split_pattern(const char* pattern, size_t* begin, size_t* end, int* width) {
  const char* percent = strchr(pattern, '%');
  if (percent == NULL || strchr(percent + 1, '%') != NULL) {
    return false;
  }
  const char* at = percent + 1;
  *width = 0;
  if (*at == '0') {
    at++;
    if (*at < '1' || *at > '9') {
      return false;
    }
    *width = *at++ - '0';
  }
  if (*at != 'd') {
    return false;
  }
  *begin = (size_t)(percent - pattern);
  *end = (size_t)(at + 1 - pattern);
  return true;
}

static bool file_exists(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return false;
  }
  fclose(file);
  return true;
}

typedef NOLI_ARRAY(double) Frames;

// Appends the placed vertices of one file.
static NoliStatus motion_add_frame(const NoliSceneSource* source, const NoliSceneNode* node,
                                   const char* path, const NoliSceneShape* shape, int32_t copy,
                                   Frames* frames) {
  NoliStatus status = NOLI_OK;
  NoliMesh* mesh = NULL;
  NOLI_TRY(noli_scene_locate_failure(source, node, noli_mesh_read(source->context, path, &mesh)));
  if (shape->refine == 0) {
    noli_scene_follow_merging(shape, mesh);
  }
  NOLI_TRY(noli_scene_refine(source, node, shape->refine, mesh));
  NOLI_SCENE_CHECK(source, node, mesh->n_vert == shape->source->n_vert,
                   "\"%s\" has %d vertices, the mesh that moves has %d", path, (int)mesh->n_vert,
                   (int)shape->source->n_vert);
  noli_scene_place(&shape->placement, copy, mesh);
  int64_t need = frames->count + 3 * (int64_t)shape->mesh->n_vert;
  NOLI_TRY(noli_array_reserve(source->context, frames, need));
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    for (int i = 0; i < 3 && shape->new_index[v] != NOLI_NULL_INDEX; i++) {
      double x = mesh->x[3 * (int64_t)v + i];
      NOLI_SCENE_CHECK(source, node, isfinite(x), "\"%s\": vertex %d is not finite", path, (int)v);
      frames->data[frames->count + 3 * (int64_t)shape->new_index[v] + i] = x;
    }
  }

  frames->count = need;
done:
  noli_mesh_destroy(source->context, &mesh);
  return status;
}

// The name of a frame, in `size` bytes: 16 more than the pattern has, which is valid.
static void name_frame(const char* pattern, int32_t k, char* name, size_t size) {
  size_t begin, end;
  int width;
  if (split_pattern(pattern, &begin, &end, &width)) {
    snprintf(name, size, "%.*s%0*d%s", (int)begin, pattern, width, (int)k, pattern + end);
  } else {
    snprintf(name, size, "%s", pattern);
  }
}

static void name_first(void* user, const char* pattern, char* name, size_t size) {
  name_frame(pattern, *(const int32_t*)user, name, size);
}

// Counts from `first` until a file is missing.
static NoliStatus add_pattern(const NoliSceneSource* source, const NoliSceneNode* files,
                              int32_t first, const NoliSceneShape* shape, int32_t copy,
                              Frames* frames) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = source->context;
  const char* pattern = noli_scene_string(files);
  char *name = NULL, *path = NULL;
  size_t begin, end;
  int width;
  NOLI_SCENE_CHECK(source, files, split_pattern(pattern, &begin, &end, &width),
                   "\"%.200s\" needs one %%d or %%04d where the frame number goes", pattern);
  NOLI_TRY(noli_scene_find_pattern(source, &pattern, name_first, &first));
  size_t size = strlen(pattern) + 16;
  NOLI_NEW(context, name, (int64_t)size);

  for (int32_t k = first;; k++) {
    name_frame(pattern, k, name, size);
    noli_free(context, path);
    path = NULL;
    NOLI_TRY(noli_scene_file_path(source, name, &path));
    if (!file_exists(path)) {
      if (k == first) {
        status = noli_scene_fail(source, files, NOLI_ERROR_FORMAT, "there is no file \"%s\"", path);
      }
      break;
    }
    NOLI_TRY(motion_add_frame(source, files, path, shape, copy, frames));
    // other copies read the same files
    NOLI_TRY(copy == 0 ? noli_scene_note_file(source, files, name) : NOLI_OK);
  }
done:
  noli_free(context, name);
  noli_free(context, path);
  return status;
}

NoliStatus noli_scene_read_frames(const NoliSceneSource* source, const NoliSceneNode* node,
                                  const NoliSceneShape* shape, int32_t copy, double** frames,
                                  int32_t* n_frames) {
  NoliStatus status = NOLI_OK;
  Frames made = {0};
  char* path = NULL;
  NoliSceneNode sequence = noli_scene_member(node, "sequence");
  NoliSceneNode files = noli_scene_member(&sequence, "files");
  NoliSceneNode first = noli_scene_member(&sequence, "first");
  if (json_is_string(files.value)) {
    NOLI_TRY(add_pattern(source, &files, (int32_t)noli_scene_number(&first), shape, copy, &made));
  }
  for (size_t i = 0; i < noli_scene_size(&files); i++) {
    NoliSceneNode item = noli_scene_item(&files, i);
    noli_free(source->context, path);
    path = NULL;
    const char* name = noli_scene_string(&item);
    NOLI_TRY(noli_scene_find_file(source, &item, &name));
    NOLI_TRY(noli_scene_file_path(source, name, &path));
    NOLI_TRY(motion_add_frame(source, &item, path, shape, copy, &made));
    NOLI_TRY(copy == 0 ? noli_scene_note_file(source, &item, name) : NOLI_OK);
  }

  *frames = made.data;
  *n_frames = (int32_t)(made.count / (3 * (int64_t)shape->mesh->n_vert));
  made.data = NULL;
done:
  noli_free(source->context, path);
  noli_array_free(source->context, &made);
  return status;
}

// ---- moving -------------------------------------------------------------------------------------

// Four-point Gauss rule: exact for polynomials up to degree 7, and no point lies on the ends, where
// velocities may jump.
static double integrate_panel(const NoliSceneExpression* expression, double t0, double t1) {
  static const double point[4] = {-0.86113631159405258, -0.33998104358485626, 0.33998104358485626,
                                  0.86113631159405258};
  static const double weight[4] = {0.34785484513745386, 0.65214515486254614, 0.65214515486254614,
                                   0.34785484513745386};
  if (expression->parser == NULL) {
    return expression->constant * (t1 - t0);
  }
  double sum = 0.0;
  for (int i = 0; i < 4; i++) {
    sum += weight[i] * noli_scene_evaluate(expression, 0.5 * (t0 + t1 + point[i] * (t1 - t0)));
  }
  return 0.5 * (t1 - t0) * sum;
}

// The integral over a step. A pole at one of its ends would go unnoticed between the points of the
// rule: such a motion has no end.
static double integrate_step(const NoliSceneExpression* expression, double t0, double t1) {
  if (expression->parser != NULL &&
      (isinf(noli_scene_evaluate(expression, t0)) || isinf(noli_scene_evaluate(expression, t1)))) {
    return (double)NAN;
  }
  return integrate_panel(expression, t0, t1);
}

// The integral over the past, in panels of one time step.
static double integrate_past(const NoliSceneExpression* expression, double t0, double t1,
                             double time_step) {
  if (expression->parser == NULL || !(t1 > t0)) {
    return expression->constant * fmax(t1 - t0, 0.0);
  }
  double n = fmin(fmax(1.0, round((t1 - t0) / time_step)), MAX_PANELS);
  double sum = 0.0;
  for (double k = 0.0; k < n; k += 1.0) {
    sum += integrate_panel(expression, t0 + (t1 - t0) * (k / n), t0 + (t1 - t0) * ((k + 1.0) / n));
  }
  return sum;
}

// Simulated time starts at 0, whatever "from" says.
static double motion_start_of(const NoliSceneMotion* motion) {
  return fmax(motion->t_begin, 0.0);
}

// Degrees since the start of the motion, or absolute ones.
static double motion_turn_at(const NoliSceneMotion* motion, double t) {
  return motion->turn_is_speed
             ? integrate_past(&motion->turn, motion_start_of(motion), t, motion->time_step)
             : noli_scene_evaluate(&motion->turn, t);
}

static double turn_between(const NoliSceneMotion* motion, double t0, double t1) {
  return motion->turn_is_speed ? integrate_step(&motion->turn, t0, t1)
                               : motion_turn_at(motion, t1) - motion_turn_at(motion, t0);
}

static NoliMat3 rotation_matrix(const double axis[3], double degrees) {
  return noli_turn33(noli_load3(axis), cos(degrees * DEGREE), sin(degrees * DEGREE));
}

// out = c1 + R (p - c0)
static void turn_about(const NoliMat3* R, const double c0[3], const double c1[3], const double p[3],
                       double out[3]) {
  double d[3] = {p[0] - c0[0], p[1] - c0[1], p[2] - c0[2]};
  for (int i = 0; i < 3; i++) {
    out[i] = c1[i] + R->m[i][0] * d[0] + R->m[i][1] * d[1] + R->m[i][2] * d[2];
  }
}

void noli_scene_box_centre(int32_t n_node, const int32_t* node, const double* x, double centre[3]) {
  double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  for (int32_t k = 0; k < n_node; k++) {
    int64_t v = node != NULL ? node[k] : k;
    for (int i = 0; i < 3; i++) {
      low[i] = fmin(low[i], x[3 * v + i]);
      high[i] = fmax(high[i], x[3 * v + i]);
    }
  }
  for (int i = 0; i < 3; i++) {
    centre[i] = 0.5 * (low[i] + high[i]);
  }
}

static void set_position(NoliSceneVariables* variables, const double X[3]) {
  memcpy(variables->position, X, sizeof variables->position);
}

static void move_absolute(const NoliSceneMover* mover, double t1, int32_t n_node, const double* X,
                          double* x_t1) {
  const NoliSceneMotion* motion = mover->motion;
  NoliMat3 R = noli_identity3();
  if (motion->has_rotation) {
    R = rotation_matrix(motion->axis, motion_turn_at(motion, t1));
  }

  double shift[3] = {0.0, 0.0, 0.0};
  for (int64_t k = 0; k < n_node; k++) {
    set_position(motion->variables, X + 3 * k);
    for (int i = 0; i < 3 && motion->has_displacement; i++) {
      // what is the same for all vertices is evaluated once
      if (k == 0 || motion->displacement[i].uses_position) {
        shift[i] = noli_scene_evaluate(&motion->displacement[i], t1);
      }
    }
    if (motion->has_rotation) {
      turn_about(&R, mover->origin, mover->origin, X + 3 * k, x_t1 + 3 * k);
    } else {
      memcpy(x_t1 + 3 * k, X + 3 * k, 3 * sizeof *X);
    }
    for (int i = 0; i < 3; i++) {
      x_t1[3 * k + i] += shift[i];
    }
  }
}

static void move_linearly(const NoliSceneMotion* motion, double t0, double t1, int32_t n_node,
                          const double* X, const double* x_t0, double* x_t1) {
  double shift[3] = {0.0, 0.0, 0.0};
  for (int64_t k = 0; k < n_node; k++) {
    set_position(motion->variables, X + 3 * k);
    for (int i = 0; i < 3; i++) {
      if (k == 0 || motion->velocity[i].uses_position) {
        shift[i] = integrate_step(&motion->velocity[i], t0, t1);
      }
      x_t1[3 * k + i] = x_t0[3 * k + i] + shift[i];
    }
  }
}

static void move_turning(const NoliSceneMover* mover, double t0, double t1, int32_t n_node,
                         const double* x_t0, double* x_t1) {
  const NoliSceneMotion* motion = mover->motion;
  double c0[3], c1[3];
  memcpy(c0, mover->origin, sizeof c0);
  if (motion->about_box) {
    noli_scene_box_centre(n_node, NULL, x_t0, c0);
  }
  for (int i = 0; i < 3; i++) {
    const NoliSceneExpression* velocity = &motion->velocity[i];
    if (motion->has_velocity && !motion->about_box) {
      c0[i] += integrate_past(velocity, motion_start_of(motion), t0, motion->time_step);
    }
    c1[i] = c0[i] + (motion->has_velocity ? integrate_step(velocity, t0, t1) : 0.0);
  }
  NoliMat3 R = rotation_matrix(motion->axis, turn_between(motion, t0, t1));
  for (int64_t k = 0; k < n_node; k++) {
    turn_about(&R, c0, c1, x_t0 + 3 * k, x_t1 + 3 * k);
  }
}

static void move_along_frames(const NoliSceneMover* mover, double t1, int32_t n_node,
                              const int32_t* node, double* x_t1) {
  const NoliSceneMotion* motion = mover->motion;
  double place = fmax((t1 - motion_start_of(motion)) * motion->fps, 0.0);
  double last = (double)(mover->n_frames - 1);
  place = fmin(place, last);
  double below = fmin(floor(place), fmax(last - 1.0, 0.0));
  double share = place - below;
  const double* a = mover->frames + 3 * (int64_t)below * mover->n_vert;
  const double* b = mover->n_frames > 1 ? a + 3 * (int64_t)mover->n_vert : a;
  for (int64_t k = 0; k < n_node; k++) {
    int64_t v = node != NULL ? node[k] : k;
    for (int i = 0; i < 3; i++) {
      x_t1[3 * k + i] = (1.0 - share) * a[3 * v + i] + share * b[3 * v + i];
    }
  }
}

void noli_scene_move(void* user, double t0, double t1, int32_t n_node, const int32_t* node,
                     const double* X, const double* x_t0, double* x_t1) {
  const NoliSceneMover* mover = user;
  const NoliSceneMotion* motion = mover->motion;
  if (motion->has_sequence) {
    move_along_frames(mover, t1, n_node, node, x_t1);
    return;
  }
  noli_scene_begin_evaluation(motion->variables);
  if (motion->absolute) {
    move_absolute(mover, t1, n_node, X, x_t1);
  } else if (motion->has_rotation) {
    move_turning(mover, t0, t1, n_node, x_t0, x_t1);
  } else {
    move_linearly(motion, t0, t1, n_node, X, x_t0, x_t1);
  }
  noli_scene_end_evaluation(motion->variables);
}

void noli_scene_load_at(void* user, double t, const double X[3], double value[3]) {
  const NoliSceneForce* force = user;
  noli_scene_begin_evaluation(force->variables);
  set_position(force->variables, X);
  for (int i = 0; i < 3; i++) {
    value[i] = noli_scene_evaluate(&force->value[i], t);
  }
  noli_scene_end_evaluation(force->variables);
}

double noli_scene_target_at(void* user, double t) {
  const NoliSceneForce* target = user;
  noli_scene_begin_evaluation(target->variables);
  double value = noli_scene_evaluate(&target->value[0], t);
  noli_scene_end_evaluation(target->variables);
  return value;
}
