// The page of a scene before it runs: the surfaces where they start, and as further bodies of the
// page, each with its switch, what is prescribed, loaded and probed, where motions lead, and what
// is wrong. One frame; its fields are directions away from what is near, and the axes of elliptic
// sections of rods.
#include "noli/output.h"

#include "base/sort.h"
#include "noli/version.h"
#include "fem/thin/twist.h"
#include "mesh/topology.h"
#include "page/page_file.h"
#include "model/audit.h"
#include "define/definition.h"
#include "model/motion_targets.h"
#include "model/proximity.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// Ghosts of a motion, and the most steps by which it is followed.
enum { GHOSTS = 4, MOTION_STEPS = 400 };

// Defects that the page lists; all are drawn.
enum { LISTED = 500 };

typedef struct Scenery {
  NoliContext* context;
  const NoliModel* model;
  const NoliSimDef* def;
  json_t* parts;
  json_t* findings;
  NOLI_ARRAY(double) x;                            // (n x 3)
  NOLI_ARRAY(float) axis;                          // (n x 3) of elliptic sections; else 0
  NOLI_ARRAY(float) away;                          // (n x 3) from what is near
  bool elliptic;                                   // there are some
  NOLI_ARRAY(int32_t) part;                        // (n) of each vertex
  NOLI_ARRAY(int32_t) number;                      // (n) within its body
  NOLI_ARRAY(int32_t) triangles, segments, points; // vertices of the page
  float* model_away;                               // (vertices of the model x 3) where they start
  int32_t* place; // (vertices of the model) in the page, of the present part; or NOLI_NULL_INDEX
} Scenery;

// Directions away from what is near, of the vertices of the model where they start.
static NoliStatus find_away(Scenery* scenery) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = scenery->context;
  const NoliModel* model = scenery->model;
  const NoliSurface* surface = model->problem.surface;
  int32_t n = surface->n_point;
  NoliProximity* proximity = NULL;
  float *distance = NULL, *away = NULL, *gap = NULL;
  NOLI_NEW_ZERO(context, scenery->model_away, 3 * (int64_t)model->problem.n_vert + 1);
  NOLI_NEW(context, distance, (int64_t)n + 1);
  NOLI_NEW(context, away, 3 * (int64_t)n + 1);
  NOLI_NEW(context, gap, (int64_t)n + 1);
  NOLI_TRY(noli_proximity_create(model, &proximity));
  NOLI_TRY(noli_proximity_measure(proximity, model->x0, surface->point, n, distance, away, gap));
  for (int32_t i = 0; i < n; i++) {
    float* direction = &scenery->model_away[3 * (int64_t)surface->point[i]];
    memcpy(direction, &away[3 * (int64_t)i], 3 * sizeof *direction);
    noli_page_round_direction(direction);
  }
done:
  noli_proximity_destroy(&proximity);
  noli_free(context, distance);
  noli_free(context, away);
  noli_free(context, gap);
  return status;
}

// ---- parts --------------------------------------------------------------------------------------

// Begins a part; vertices that are added belong to the last one. `kind`: "body"; "ghost" of the
// body `of`; "prescribed", "load" or "probe"; "defect" or "gap".
static NoliStatus scene_page_begin_part(Scenery* scenery, const char* name, const char* kind,
                                        int32_t of) {
  const NoliModel* model = scenery->model;
  bool body = strcmp(kind, "body") == 0, obstacle = of != NOLI_NULL_INDEX && model->obstacle[of];
  double radius = 0.0, second = 0.0;
  if (body) {
    const NoliBodyDef* def = &scenery->def->bodies[of];
    radius = fmax(def->rod.radius, def->point.radius);
    second = def->rod.second_radius > 0.0 ? def->rod.second_radius : radius;
  }
  for (int64_t i = 0; i < model->problem.n_vert; i++) {
    scenery->place[i] = NOLI_NULL_INDEX;
  }
  return noli_json_append(scenery->context, scenery->parts,
                          json_pack("{s:s, s:b, s:f, s:f, s:s, s:i}", "name", name, "obstacle",
                                    (int)obstacle, "radius", radius, "second", second, "kind", kind,
                                    "of", (int)of));
}

static NoliStatus new_vertex(Scenery* scenery, const double x[3], int32_t number) {
  NoliStatus status = NOLI_OK;
  for (int32_t k = 0; k < 3; k++) {
    NOLI_PUSH(scenery->context, &scenery->x, x[k]);
    NOLI_PUSH(scenery->context, &scenery->axis, 0.0F);
    NOLI_PUSH(scenery->context, &scenery->away, 0.0F);
  }
  NOLI_PUSH(scenery->context, &scenery->part, (int32_t)json_array_size(scenery->parts) - 1);
  NOLI_PUSH(scenery->context, &scenery->number, number);
done:
  return status;
}

// Adds a triangle, segment or point of `n` vertices of the model at positions x.
static NoliStatus add_primitive(Scenery* scenery, const double* x, const int32_t* vertex,
                                int32_t n) {
  NoliStatus status = NOLI_OK;
  for (int32_t k = 0; k < n; k++) {
    int32_t* place = &scenery->place[vertex[k]];
    if (*place == NOLI_NULL_INDEX) {
      *place = (int32_t)scenery->number.count;
      NOLI_TRY(new_vertex(scenery, &x[3 * (int64_t)vertex[k]],
                          noli_model_local(scenery->model, vertex[k])));
      if (x == scenery->model->x0) {
        memcpy(&scenery->away.data[3 * (int64_t)*place],
               &scenery->model_away[3 * (int64_t)vertex[k]], 3 * sizeof(float));
      }
    }
    switch (n) {
    case 1:
      NOLI_PUSH(scenery->context, &scenery->points, *place);
      break;
    case 2:
      NOLI_PUSH(scenery->context, &scenery->segments, *place);
      break;
    default:
      NOLI_PUSH(scenery->context, &scenery->triangles, *place);
    }
  }
done:
  return status;
}

static bool all_of(const uint8_t* wanted, const int32_t* vertex, int32_t n) {
  bool all = true;
  for (int32_t k = 0; k < n && wanted != NULL; k++) {
    all = all && wanted[vertex[k]] != 0;
  }
  return all;
}

// The primitives of a body all of whose vertices are wanted (n_vert; NULL: all), at x. `*any`:
// whether there are some.
static NoliStatus add_surface(Scenery* scenery, int32_t body, const double* x,
                              const uint8_t* wanted, bool* any) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = scenery->model;
  const NoliSurface* surface = model->problem.surface;
  const struct {
    const int32_t* vertex;
    int64_t begin, end;
    int32_t stride;
  } lists[] = {{surface->tri, surface->tri_first[body], surface->tri_first[body + 1], 3},
               {model->segment, 0, model->n_segment, 2},
               {model->lone_point, 0, model->n_lone_point, 1},
               {model->cell, model->cell_first[body], model->cell_first[body + 1], 4}};
  *any = false;

  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
    for (int64_t i = lists[l].begin; i < lists[l].end; i++) {
      const int32_t* vertex = lists[l].vertex + i * lists[l].stride;
      // of cells of four vertices, only rods and particles
      int32_t n = lists[l].stride == 4 ? noli_model_cell_size(vertex) : lists[l].stride;
      bool shown = lists[l].stride != 4 || n <= 2;
      if (shown && surface->body[vertex[0]] == body && all_of(wanted, vertex, n)) {
        NOLI_TRY(add_primitive(scenery, x, vertex, n));
        *any = true;
      }
    }
  }
done:
  return status;
}

// The first axes of the elliptic sections of the present part: at vertices the mean over segments.
static NoliStatus add_axes(Scenery* scenery, int32_t body) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = scenery->model;
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  double* history = NULL;
  float* weight = NULL; // (n) segments at each vertex
  int64_t n = scenery->number.count;
  if (block == NULL || !block->elliptic) {
    goto done;
  }
  scenery->elliptic = true;
  NOLI_NEW(scenery->context, history, block->n_history);
  NOLI_NEW_ZERO(scenery->context, weight, n);
  noli_block_start_history(block, model->x0, history);

  for (int32_t s = 0; s < block->n_angle; s++) {
    double angle = model->x0[3 * ((int64_t)block->first_angle + s)] / block->angle_radius;
    NoliVec3 axis = noli_segment_axis(history, s, angle);
    const int32_t* end = &model->cell[4 * ((int64_t)model->cell_first[body] + s)];
    for (int32_t k = 0; k < 2; k++) {
      int64_t at = scenery->place[end[k]];
      const float add[3] = {(float)axis.x, (float)axis.y, (float)axis.z};
      weight[at] += 1.0F;
      for (int32_t c = 0; c < 3; c++) {
        scenery->axis.data[3 * at + c] += (add[c] - scenery->axis.data[3 * at + c]) / weight[at];
      }
    }
  }
done:
  noli_free(scenery->context, history);
  noli_free(scenery->context, weight);
  return status;
}

static NoliStatus add_bodies(Scenery* scenery) {
  NoliStatus status = NOLI_OK;
  bool any;
  for (int32_t b = 0; b < scenery->model->n_body; b++) {
    NOLI_TRY(scene_page_begin_part(scenery, scenery->model->name[b], "body", b));
    NOLI_TRY(add_surface(scenery, b, scenery->model->x0, NULL, &any));
    NOLI_TRY(add_axes(scenery, b));
  }
done:
  return status;
}

// ---- what is prescribed, loaded and probed ------------------------------------------------------

// The end of the nodes of a body that have a place: the last ones of a rod with twist are angles.
static int32_t end_of_places(const NoliModel* model, int32_t body) {
  return model->vert_first[body + 1] - noli_model_angle_count(model, body);
}

// A selection of vertices of a body, by its name or number; the complete body is none.
typedef struct Mark {
  const char* kind;
  const char* name; // NULL: none
  int32_t number, body;
  const int32_t* node; // (n) plus `first`
  int32_t first, n;
} Mark;

static NoliStatus add_mark(Scenery* scenery, Mark mark) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = scenery->model;
  char text[400], name[128];
  int32_t end = end_of_places(model, mark.body);
  if (mark.node == NULL || mark.n >= end - model->vert_first[mark.body]) {
    return NOLI_OK;
  }
  if (mark.name != NULL) {
    snprintf(name, sizeof name, "\"%.120s\"", mark.name);
  } else {
    snprintf(name, sizeof name, "%d", (int)mark.number);
  }
  snprintf(text, sizeof text, "%s %s of \"%.120s\"", mark.kind, name, model->name[mark.body]);
  NOLI_TRY(scene_page_begin_part(scenery, text, mark.kind, mark.body));
  for (int32_t i = 0; i < mark.n; i++) {
    int32_t vertex = mark.first + mark.node[i];
    if (vertex < end) {
      NOLI_TRY(add_primitive(scenery, model->x0, &vertex, 1));
    }
  }
done:
  return status;
}

static NoliStatus add_marks(Scenery* scenery, const NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = scenery->model;
  NoliSceneOutput output = noli_scene_output(scene);
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotion* motion = &model->motion[m];
    int32_t body = motion->def.body;
    NOLI_TRY(add_mark(scenery, (Mark){"prescribed", scenery->def->motions[m].name, m, body,
                                      motion->node, model->vert_first[body], motion->n_node}));
  }
  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* force = &model->force[f];
    NOLI_TRY(add_mark(scenery, (Mark){"load", scenery->def->forces[f].name, f, force->def.body,
                                      force->node, 0, force->n_node}));
  }
  for (int32_t p = 0; p < output.n_probes; p++) {
    const NoliProbeDef* probe = &output.probes[p];
    NOLI_TRY(add_mark(scenery, (Mark){"probe", probe->name, p, probe->body, probe->node,
                                      model->vert_first[probe->body], probe->n_node}));
  }
done:
  return status;
}

// ---- ghosts -------------------------------------------------------------------------------------

// Moves the vertices of all motions that act in a step from t0 to t1, and notes them in `moved`.
static NoliStatus follow_motions(const NoliModel* model, double t0, double t1, double* x,
                                 uint8_t* moved) {
  NoliStatus status = NOLI_OK;
  NoliMotionPath path = {0};
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotion* motion = &model->motion[m];
    const NoliMotionDef* def = &motion->def;
    if (def->controlled || t0 < def->t_begin || t0 >= def->t_end) {
      continue;
    }
    noli_motion_path_free(model->context, &path);
    NOLI_TRY(noli_motion_path_create(model->context, motion->n_node, &path));
    double* const at = x + 3 * (int64_t)model->vert_first[def->body];
    for (int32_t i = 0; i < motion->n_node; i++) {
      memcpy(path.x_t0 + 3 * (int64_t)i, at + 3 * (int64_t)motion->node[i], 3 * sizeof *at);
    }
    noli_motion_targets(motion, t0, t1, &path);
    for (int64_t j = 0; j < 3 * (int64_t)motion->n_node; j++) {
      int64_t to = 3 * (int64_t)motion->node[j / 3] + j % 3;
      if (!def->free_axis[j % 3] && isfinite(path.x_t1[j])) {
        moved[model->vert_first[def->body] + motion->node[j / 3]] |= path.x_t1[j] != at[to];
        at[to] = path.x_t1[j];
      }
    }
  }
done:
  noli_motion_path_free(model->context, &path);
  return status;
}

static bool any_moved(const NoliModel* model, int32_t body, const uint8_t* moved) {
  bool any = false;
  for (int32_t i = model->vert_first[body]; i < end_of_places(model, body); i++) {
    any = any || moved[i] != 0;
  }
  return any;
}

// Adds the moved part of a body, as surfaces, or as points where it has none.
static NoliStatus add_ghost(Scenery* scenery, int32_t body, double time, const double* x,
                            const uint8_t* moved) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = scenery->model;
  char text[200];
  bool any;
  snprintf(text, sizeof text, "\"%.120s\" at %.4g s", model->name[body], time);
  NOLI_TRY(scene_page_begin_part(scenery, text, "ghost", body));
  NOLI_TRY(add_surface(scenery, body, x, moved, &any));
  for (int32_t i = model->vert_first[body]; i < end_of_places(model, body) && !any; i++) {
    if (moved[i] != 0) {
      NOLI_TRY(add_primitive(scenery, x, &i, 1));
    }
  }
done:
  return status;
}

static NoliStatus add_ghosts(Scenery* scenery, const NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = scenery->model;
  int64_t n_vert = model->problem.n_vert, n_steps = noli_scene_step_count(scene);
  double duration = noli_scene_duration(scene), *x = NULL;
  uint8_t* moved = NULL;
  NOLI_NEW(scenery->context, x, 3 * n_vert);
  NOLI_NEW_ZERO(scenery->context, moved, n_vert);
  memcpy(x, model->x0, 3 * (size_t)n_vert * sizeof *x);
  n_steps = n_steps > MOTION_STEPS ? MOTION_STEPS : n_steps + (GHOSTS - n_steps % GHOSTS) % GHOSTS;

  for (int64_t i = 0; i < n_steps; i++) {
    double h = duration / (double)n_steps;
    NOLI_TRY(follow_motions(model, h * (double)i, h * (double)(i + 1), x, moved));
    if ((i + 1) % (n_steps / GHOSTS) != 0) {
      continue;
    }
    for (int32_t b = 0; b < model->n_body; b++) {
      if (any_moved(model, b, moved)) {
        NOLI_TRY(add_ghost(scenery, b, h * (double)(i + 1), x, moved));
      }
    }
  }
done:
  noli_free(scenery->context, x);
  noli_free(scenery->context, moved);
  return status;
}

// ---- what is wrong ------------------------------------------------------------------------------

// The number in the model of vertex `local` of a body: nodes, then vertices of the proxy.
static int32_t global_of(const NoliModel* model, int32_t body, int32_t local) {
  int32_t n = model->vert_first[body + 1] - model->vert_first[body];
  return local < n ? model->vert_first[body] + local : model->follower_first[body] + local - n;
}

// Draws the primitives of a defect and where they meet; `size`, m: of them.
static NoliStatus draw_defect(Scenery* scenery, const NoliDefect* defect, double* size) {
  NoliStatus status = NOLI_OK;
  static const int32_t face[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  const NoliModel* model = scenery->model;
  int32_t point = (int32_t)scenery->number.count;
  NOLI_TRY(new_vertex(scenery, defect->position, NOLI_NULL_INDEX));
  NOLI_PUSH(scenery->context, &scenery->points, point);
  *size = 0.0;

  for (int side = 0; side < 2; side++) {
    int32_t vertex[4], n = defect->n_vert[side];
    for (int32_t k = 0; k < n; k++) {
      vertex[k] = global_of(model, defect->entity[side], defect->vertex[side][k]);
      NoliVec3 arm =
          noli_sub3(noli_load3(&model->x0[3 * (int64_t)vertex[k]]), noli_load3(defect->position));
      *size = fmax(*size, noli_norm3(arm));
    }
    for (int32_t f = 0; f < 4 && n == 4; f++) {
      const int32_t tri[3] = {vertex[face[f][0]], vertex[face[f][1]], vertex[face[f][2]]};
      NOLI_TRY(add_primitive(scenery, model->x0, tri, 3));
    }
    if (n > 0 && n < 4) {
      NOLI_TRY(add_primitive(scenery, model->x0, vertex, n));
    }
  }
done:
  return status;
}

static NoliStatus list_finding(Scenery* scenery, const char* kind, const char* text,
                               const double at[3], double size) {
  return noli_json_append(scenery->context, scenery->findings,
                          json_pack("{s:s, s:s, s:[f,f,f], s:f}", "kind", kind, "text", text, "at",
                                    at[0], at[1], at[2], "size", size));
}

static NoliStatus add_defects(Scenery* scenery, const NoliDefects* defects) {
  NoliStatus status = NOLI_OK;
  double size;
  if (defects->count > 0) {
    NOLI_TRY(scene_page_begin_part(scenery, "defects", "defect", NOLI_NULL_INDEX));
  }
  for (int64_t i = 0; i < defects->count; i++) {
    char text[NOLI_DEFECT_TEXT];
    NOLI_TRY(draw_defect(scenery, &defects->data[i], &size));
    if (i < LISTED) {
      noli_defect_describe(scenery->model, &defects->data[i], text);
      NOLI_TRY(list_finding(scenery, "defect", text, defects->data[i].position, size));
    }
  }
done:
  return status;
}

// By the two entities, then by distance.
static int compare_gaps(const void* a, const void* b) {
  const NoliDefect *p = a, *q = b;
  int order = noli_compare_tuples(p->entity, q->entity, 2);
  return order != 0 ? order : noli_order_of_doubles(p->distance, q->distance);
}

// The gaps of each pair of entities, of which the smallest is the place to go to.
static NoliStatus add_gaps(Scenery* scenery, NoliDefects* gaps) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = scenery->model;
  if (gaps->count > 0) {
    NOLI_TRY(
        scene_page_begin_part(scenery, "gaps below the contact distance", "gap", NOLI_NULL_INDEX));
  }
  for (int64_t i = 0; i < gaps->count; i++) {
    NoliDefect* gap = &gaps->data[i];
    if (gap->entity[0] > gap->entity[1]) {
      int32_t entity = gap->entity[0];
      gap->entity[0] = gap->entity[1];
      gap->entity[1] = entity;
      memcpy(gap->vertex[0], gap->vertex[1], sizeof gap->vertex[0]);
      gap->n_vert[0] = gap->n_vert[1];
      gap->n_vert[1] = 0; // drawn by one side
    }
  }

  noli_sort(gaps->data, gaps->count, sizeof *gaps->data, compare_gaps);
  for (int64_t i = 0, n; i < gaps->count; i += n) {
    const NoliDefect* least = &gaps->data[i];
    double size = 0.0;
    for (n = 0; i + n < gaps->count && gaps->data[i + n].entity[0] == least->entity[0] &&
                gaps->data[i + n].entity[1] == least->entity[1];
         n++) {
      double of_gap;
      NOLI_TRY(draw_defect(scenery, &gaps->data[i + n], &of_gap));
      size = n == 0 ? of_gap : size;
    }
    char text[400];
    snprintf(text, sizeof text,
             "\"%.120s\" and \"%.120s\": %" PRId64
             " gaps below the contact distance, %.3g m; the smallest %.3g m",
             model->name[least->entity[0]], model->name[least->entity[1]], n,
             model->problem.contact.dhat * noli_body_pairs_range(&model->problem.contact.body_pairs,
                                                                 least->entity[0],
                                                                 least->entity[1]),
             least->distance);
    NOLI_TRY(list_finding(scenery, "gap", text, least->position, size));
  }
done:
  return status;
}

static NoliStatus add_findings(Scenery* scenery, int64_t* n_defects) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = scenery->model;
  NoliDefects defects = {0}, gaps = {0};
  NOLI_TRY(noli_sim_find_defects(model, model->x0, &defects));
  if (scenery->def->contact && model->problem.contact.model->keeps_apart) {
    NOLI_TRY(noli_sim_find_gaps(model, model->x0, model->problem.contact.dhat, &gaps));
  }
  *n_defects = defects.count;
  NOLI_TRY(add_defects(scenery, &defects));
  NOLI_TRY(add_gaps(scenery, &gaps));
done:
  noli_array_free(scenery->context, &defects);
  noli_array_free(scenery->context, &gaps);
  return status;
}

// ---- the file -----------------------------------------------------------------------------------

static NoliStatus write_mesh(NoliPageFile* file, const Scenery* scenery) {
  NoliStatus status = NOLI_OK;
  const struct {
    const int32_t* data;
    int64_t count;
  } lists[] = {{scenery->triangles.data, scenery->triangles.count},
               {scenery->segments.data, scenery->segments.count},
               {scenery->points.data, scenery->points.count},
               {scenery->part.data, scenery->part.count},
               {scenery->number.data, scenery->number.count}};
  enum { N_LISTS = sizeof lists / sizeof *lists };
  int64_t n = 0;
  int32_t* numbers = NULL;
  for (size_t k = 0; k < N_LISTS; k++) {
    n += lists[k].count;
  }
  NOLI_NEW(file->context, numbers, n + 1);
  n = 0;
  for (size_t k = 0; k < N_LISTS; k++) {
    if (lists[k].count > 0) {
      memcpy(numbers + n, lists[k].data, (size_t)lists[k].count * sizeof *numbers);
    }
    n += lists[k].count;
  }

  NOLI_TRY(noli_page_file_compressed(file, "mesh", numbers, n * (int64_t)sizeof *numbers));
done:
  noli_free(file->context, numbers);
  return status;
}

static NoliStatus write_content(NoliPageFile* file, const Scenery* scenery, const NoliScene* scene,
                                int64_t n_defects) {
  NoliStatus status = NOLI_OK;
  int32_t n_vert = (int32_t)scenery->number.count;
  const double* g = scenery->def->gravity;
  NoliPageGroup group = {0};
  char* text = NULL;
  json_t* groups = json_array();
  NOLI_TRY(write_mesh(file, scenery));
  NOLI_TRY(noli_page_group_add_positions(file->context, n_vert, scenery->x.data, &group));
  NOLI_TRY(noli_page_group_add_field(file->context, n_vert, "away", scenery->away.data, &group));
  if (scenery->elliptic) {
    NOLI_TRY(
        noli_page_group_add_field(file->context, n_vert, "rod_normal", scenery->axis.data, &group));
  }
  NOLI_TRY(noli_page_file_group(file, n_vert, &group, groups));
  NOLI_TRY(noli_scene_json(scene, &text));
  NOLI_TRY(noli_page_file_compressed(file, "file-scene.json", text, (int64_t)strlen(text)));
  NOLI_TRY(noli_page_file_end(
      file, json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:[f,f,f], s:O, s:o, s:o, s:o, "
                      "s:[{s:i, s:f}], s:O, s:[], s:O, s:I, s:f}",
                      "name", noli_scene_name(scene), "version", noli_version(), "n_nodes",
                      (int)scenery->model->problem.n_vert, "n_vert", (int)n_vert, "n_triangles",
                      (int)(scenery->triangles.count / 3), "n_segments",
                      (int)(scenery->segments.count / 2), "n_points", (int)scenery->points.count,
                      "gravity", g[0], g[1], g[2], "bodies", scenery->parts, "floors",
                      noli_page_floors(scenery->def), "colours", noli_page_colours(), "fields",
                      noli_page_fields_json(&group.fields), "frames", "step", 0, "time", 0.0,
                      "groups", groups, "histories", "findings", scenery->findings, "n_defects",
                      (json_int_t)n_defects, "duration", noli_scene_duration(scene))));
done:
  noli_page_group_free(file->context, &group);
  noli_scene_free_text(file->context, &text);
  json_decref(groups);
  return status;
}

static void free_scenery(Scenery* scenery) {
  NoliContext* context = scenery->context;
  noli_array_free(context, &scenery->x);
  noli_array_free(context, &scenery->axis);
  noli_array_free(context, &scenery->away);
  noli_array_free(context, &scenery->part);
  noli_array_free(context, &scenery->number);
  noli_array_free(context, &scenery->triangles);
  noli_array_free(context, &scenery->segments);
  noli_array_free(context, &scenery->points);
  noli_free(context, scenery->model_away);
  noli_free(context, scenery->place);
  json_decref(scenery->parts);
  json_decref(scenery->findings);
}

NoliStatus noli_output_write_scene_page(NoliContext* context, const NoliScene* scene,
                                        const char* path) {
  NOLI_REQUIRE(context, context != NULL && scene != NULL && path != NULL);
  NoliStatus status = NOLI_OK;
  NoliSimDef* def = NULL;
  NoliModel* model = NULL;
  NoliPageFile file = {0};
  Scenery scenery = {.context = context, .parts = json_array(), .findings = json_array()};
  int64_t n_defects = 0;
  NOLI_TRY(noli_definition_take(context, noli_scene_sim_def(scene), &def));
  NOLI_TRY(noli_model_create(context, def, NULL, false, NULL, &model));
  scenery.model = model;
  scenery.def = def;
  NOLI_NEW(context, scenery.place, model->problem.n_vert);
  NOLI_TRY(find_away(&scenery));
  NOLI_TRY(add_bodies(&scenery));
  NOLI_TRY(add_marks(&scenery, scene));
  NOLI_TRY(add_ghosts(&scenery, scene));
  NOLI_TRY(add_findings(&scenery, &n_defects));
  NOLI_TRY(noli_page_file_begin(context, path, &noli_page_template, &file));
  NOLI_TRY(write_content(&file, &scenery, scene, n_defects));
done:
  noli_page_file_abandon(&file);
  free_scenery(&scenery);
  noli_model_destroy(&model);
  noli_definition_free(context, &def);
  return status;
}
