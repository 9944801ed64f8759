#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

World world_new(NoliContext* context, const char* data) {
  World world = {.context = context,
                 .data = data,
                 .def = noli_default_sim_def(),
                 .material = noli_default_body_def().material,
                 .release_x = INFINITY};
  return world;
}

void world_free(World* world) {
  for (int32_t b = 0; b < world->def.n_bodies; b++) {
    noli_mesh_destroy(world->context, &world->mesh[b]);
    free(world->x0[b]);
  }
  for (int32_t m = 0; m < world->def.n_motions; m++) {
    free(world->node[m]);
  }
}

const NoliSimDef* world_def(World* world) {
  for (int32_t b = 0; b < world->def.n_bodies; b++) {
    NoliBodyDef* body = &world->body[b];
    body->name = world->name[b];
    body->mesh = world->mesh[b];
    body->x0 = world->x0[b];
    body->material = world->material;
  }
  for (int32_t m = 0; m < world->def.n_motions; m++) {
    world->motion[m].node = world->node[m];
    world->motion[m].user = &world->rigid[m];
  }
  world->def.bodies = world->body;
  world->def.half_spaces = &world->plane;
  world->def.motions = world->motion;
  world->def.pairs = world->pair;
  return &world->def;
}

static bool failed(const World* world) {
  return world->problem[0] != '\0';
}

static void complain(World* world, const char* what) {
  snprintf(world->problem, sizeof world->problem, "%s", what);
}

// ---- shapes -------------------------------------------------------------------------------------

// Takes the mesh; initial positions are those at rest.
static void add_body(World* world, NoliMesh* mesh, const char* name) {
  int32_t b = world->def.n_bodies;
  size_t bytes = 3 * (size_t)mesh->n_vert * sizeof(double);
  double* x0 = b < WORLD_BODIES ? malloc(bytes) : NULL;
  if (x0 == NULL) {
    complain(world, b < WORLD_BODIES ? "out of memory" : "too many bodies");
    noli_mesh_destroy(world->context, &mesh);
    return;
  }
  memcpy(x0, mesh->x, bytes);
  world->x0[b] = x0;
  world->mesh[b] = mesh;
  world->body[b] = noli_default_body_def();
  world->body[b].obstacle = mesh->n_tet == 0;
  snprintf(world->name[b], sizeof world->name[b], "%s %d", name, b);
  world->def.n_bodies++;
}

static NoliMesh* read_mesh(World* world, const char* path) {
  NoliMesh* mesh = NULL;
  char full[1024];
  if (failed(world)) {
    return NULL;
  }
  snprintf(full, sizeof full, "%s/%s", world->data, path);
  FILE* file = fopen(full, "rb");
  if (file == NULL) {
    world->missing = true;
    snprintf(world->problem, sizeof world->problem, "%s is absent", path);
    return NULL;
  }
  fclose(file);
  if (noli_mesh_read(world->context, full, &mesh) != NOLI_OK) {
    complain(world, noli_context_message(world->context));
    return NULL;
  }
  return mesh;
}

static const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

void world_shape(World* world, const char* path, const double translation[3],
                 const double rotation_deg[3], double scale) {
  NoliMesh* mesh = read_mesh(world, path);
  if (mesh == NULL) {
    return;
  }
  const double scales[3] = {scale, scale, scale};
  noli_mesh_transform(mesh, scales, rotation_deg, translation);
  add_body(world, mesh, file_name(path));
}

void world_points(World* world, const double* x, int32_t n_point) {
  NoliMesh* mesh = NULL;
  if (failed(world)) {
    return;
  }
  if (noli_mesh_create(world->context, n_point, 0, 0, 0, n_point, false, &mesh) != NOLI_OK) {
    complain(world, noli_context_message(world->context));
    return;
  }
  memcpy(mesh->x, x, 3 * (size_t)n_point * sizeof(double));
  for (int32_t i = 0; i < n_point; i++) {
    mesh->point[i] = i;
  }
  add_body(world, mesh, "points");
}

void world_still_mesh(World* world, const char* path, const double origin[3], double scale,
                      const double rotation_deg[3]) {
  static const double zero[3] = {0, 0, 0}, unit[3] = {1, 1, 1};
  NoliMesh* mesh = read_mesh(world, path);
  if (mesh == NULL) {
    return;
  }
  // the longest side and the mean of the vertices as they are in the file
  double mean[3] = {0, 0, 0}, longest = 0.0;
  for (int k = 0; k < 3; k++) {
    double low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < mesh->n_vert; i++) {
      low = fmin(low, mesh->x[3 * i + k]);
      high = fmax(high, mesh->x[3 * i + k]);
      mean[k] -= mesh->x[3 * i + k] / mesh->n_vert;
    }
    longest = fmax(longest, high - low);
  }
  const double scales[3] = {scale / longest, scale / longest, scale / longest};
  noli_mesh_transform(mesh, unit, zero, mean);
  noli_mesh_transform(mesh, scales, rotation_deg, origin);
  add_body(world, mesh, file_name(path));
}

void world_half_space(World* world, const double origin[3], double friction) {
  world->plane = (NoliHalfSpaceDef){
      .name = "half-space", .origin = {origin[0], origin[1], origin[2]}, .normal = {0.0, 1.0, 0.0}};
  world->def.n_half_spaces = 1;
  // where its coefficient differs from that among bodies, every pair with it is an exception
  for (int32_t b = 0; b < world->def.n_bodies && friction != world->def.friction; b++) {
    if (world->def.n_pairs == WORLD_PAIRS) {
      complain(world, "too many pairs");
      return;
    }
    world->pair[world->def.n_pairs++] =
        (NoliPairDef){.a = b, .b = world->def.n_bodies, .contact = true, .friction = friction};
  }
}

// ---- placement ----------------------------------------------------------------------------------

Box world_box(const World* world, int32_t first, int32_t count) {
  Box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (int32_t b = first; b < first + count; b++) {
    for (int32_t i = 0; i < 3 * world->mesh[b]->n_vert; i++) {
      box.low[i % 3] = fmin(box.low[i % 3], world->x0[b][i]);
      box.high[i % 3] = fmax(box.high[i % 3], world->x0[b][i]);
    }
  }
  return box;
}

Box world_rest_box(const World* world) {
  Box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (int32_t b = 0; b < world->def.n_bodies; b++) {
    for (int32_t i = 0; i < 3 * world->mesh[b]->n_vert; i++) {
      box.low[i % 3] = fmin(box.low[i % 3], world->mesh[b]->x[i]);
      box.high[i % 3] = fmax(box.high[i % 3], world->mesh[b]->x[i]);
    }
  }
  return box;
}

void world_turn(World* world, int axis, double degrees) {
  double c = cos(degrees / 180.0 * PI), s = sin(degrees / 180.0 * PI);
  int j = (axis + 1) % 3, k = (axis + 2) % 3;
  for (int32_t b = 0; b < world->def.n_bodies; b++) {
    for (int32_t i = 0; i < world->mesh[b]->n_vert; i++) {
      double* x = world->x0[b] + 3 * i;
      double xj = x[j], xk = x[k];
      x[j] = c * xj - s * xk;
      x[k] = s * xj + c * xk;
    }
  }
}

void world_fit(World* world, double size) {
  if (failed(world)) {
    return;
  }
  Box box = world_box(world, 0, world->def.n_bodies);
  double longest = 0.0;
  for (int k = 0; k < 3; k++) {
    longest = fmax(longest, box.high[k] - box.low[k]);
  }
  double scale = size / longest;
  for (int32_t b = 0; b < world->def.n_bodies; b++) {
    for (int32_t i = 0; i < 3 * world->mesh[b]->n_vert; i++) {
      world->mesh[b]->x[i] = scale * (world->mesh[b]->x[i] - box.low[i % 3]);
      world->x0[b][i] = scale * (world->x0[b][i] - box.low[i % 3]);
    }
  }
}

void world_lift(World* world) {
  if (failed(world)) {
    return;
  }
  Box box = world_box(world, 0, world->def.n_bodies);
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    sum += (box.high[k] - box.low[k]) * (box.high[k] - box.low[k]);
  }
  for (int32_t b = 0; b < world->def.n_bodies; b++) {
    for (int32_t i = 0; i < world->mesh[b]->n_vert; i++) {
      world->x0[b][3 * i + 1] += 0.5 * sqrt(sum);
    }
  }
}

// ---- motions ------------------------------------------------------------------------------------

// Turns and moves every vertex on from where it is, so that what contact delayed stays delayed.
static void rigid_motion(void* user, double t0, double t1, int32_t n_node, const int32_t* node,
                         const double* X, const double* x_t0, double* x_t1) {
  const WorldMotion* rigid = user;
  double dt = t1 - t0, c = cos(rigid->spin * dt), s = sin(rigid->spin * dt);
  int i = rigid->axis, j = (i + 1) % 3, k = (i + 2) % 3;
  const double *centre = rigid->centre, *velocity = rigid->velocity;
  (void)node;
  (void)X;
  for (int32_t n = 0; n < n_node; n++) {
    const double* from = x_t0 + 3 * n;
    double* to = x_t1 + 3 * n;
    double xj = from[j] - centre[j], xk = from[k] - centre[k];
    to[i] = from[i] + velocity[i] * dt;
    to[j] = centre[j] + c * xj - s * xk + velocity[j] * dt;
    to[k] = centre[k] + s * xj + c * xk + velocity[k] * dt;
  }
}

// Moves the vertices of a body whose x coordinate is in (low, high), if there are any.
static void add_motion(World* world, int32_t body, const double* x, double low, double high,
                       WorldMotion rigid) {
  int32_t n_vert = world->mesh[body]->n_vert, n_node = 0;
  int32_t* node = malloc((size_t)n_vert * sizeof *node);
  int32_t m = world->def.n_motions;
  if (node == NULL || m == WORLD_MOTIONS) {
    complain(world, node == NULL ? "out of memory" : "too many motions");
    free(node);
    return;
  }
  for (int32_t i = 0; i < n_vert; i++) {
    if (x[3 * i] > low && x[3 * i] < high) {
      node[n_node++] = i;
    }
  }
  if (n_node == 0) {
    free(node);
    return;
  }
  world->node[m] = node;
  world->rigid[m] = rigid;
  world->motion[m] = noli_default_motion_def();
  world->motion[m].body = body;
  world->motion[m].n_node = n_node;
  world->motion[m].target = rigid_motion;
  world->def.n_motions++;
}

void world_twist(World* world) {
  if (failed(world)) {
    return;
  }
  Box box = world_rest_box(world);
  WorldMotion left = {.axis = 0, .spin = -0.4 * PI}, right;
  for (int k = 0; k < 3; k++) {
    left.centre[k] = 0.5 * (box.low[k] + box.high[k]);
  }
  right = left;
  right.spin = 0.4 * PI;
  double handle = 0.01 * (box.high[0] - box.low[0]);
  for (int32_t b = 0; b < world->def.n_bodies && !failed(world); b++) {
    const double* X = world->mesh[b]->x;
    add_motion(world, b, X, -INFINITY, box.low[0] + handle, left);
    add_motion(world, b, X, box.high[0] - handle, INFINITY, right);
  }
}

void world_drag_right(World* world, double share, double speed, int32_t beyond) {
  if (failed(world)) {
    return;
  }
  Box box = world_box(world, 0, beyond);
  double grip = share * (box.high[0] - box.low[0]);
  for (int32_t b = 0; b < beyond && !failed(world); b++) {
    add_motion(world, b, world->x0[b], box.high[0] - grip, INFINITY,
               (WorldMotion){.velocity = {speed, 0.0, 0.0}});
  }
  world->release_x = world_box(world, beyond, 1).high[0];
}

void world_spin(World* world, int32_t body, int axis, double rate) {
  if (failed(world)) {
    return;
  }
  Box box = world_box(world, body, 1);
  WorldMotion rigid = {.axis = axis, .spin = rate};
  for (int k = 0; k < 3; k++) {
    rigid.centre[k] = 0.5 * (box.low[k] + box.high[k]);
  }
  add_motion(world, body, world->x0[body], -INFINITY, INFINITY, rigid);
}
