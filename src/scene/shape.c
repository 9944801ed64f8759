#include "scene/shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_CELLS 1e8

enum { NOTE_SIZE = 160 };

// ---- files and built-in shapes ------------------------------------------------------------------

NoliStatus noli_scene_file_path(const NoliSceneSource* source, const char* name, char** path) {
  NoliStatus status = NOLI_OK;
  const char* directory = source->directory;
  bool relative = name[0] != '/' && directory != NULL && directory[0] != '\0';
  size_t size = strlen(name) + (relative ? strlen(directory) + 1 : 0) + 1;
  NOLI_NEW(source->context, *path, (int64_t)size);
  snprintf(*path, size, "%s%s%s", relative ? directory : "", relative ? "/" : "", name);
done:
  return status;
}

NoliStatus noli_scene_read_mesh_file(const NoliSceneSource* source, const NoliSceneNode* node,
                                     const char* path, NoliMesh** mesh) {
  NoliStatus status = noli_mesh_read(source->context, path, mesh);
  if (status != NOLI_OK && status != NOLI_ERROR_MEMORY) {
    // the message moves into a longer one, which overwrites it
    char message[1000];
    snprintf(message, sizeof message, "%s", noli_context_message(source->context));
    status = noli_scene_fail(source, node, status, "%s", message);
  }
  return status;
}

static int32_t member_integer(const NoliSceneNode* parent, const char* key) {
  NoliSceneNode node = noli_scene_member(parent, key);
  return (int32_t)noli_scene_number(&node);
}

static double member_number(const NoliSceneNode* parent, const char* key) {
  NoliSceneNode node = noli_scene_member(parent, key);
  return noli_scene_number(&node);
}

static void member_vector(const NoliSceneNode* parent, const char* key, double out[3]) {
  NoliSceneNode node = noli_scene_member(parent, key);
  noli_scene_vector(&node, out);
}

static void member_cells(const NoliSceneNode* parent, const char* key, int32_t out[3]) {
  double values[3];
  member_vector(parent, key, values);
  for (int i = 0; i < 3; i++) {
    out[i] = (int32_t)values[i];
  }
}

// Fails when a shape would have absurdly many cells: a x b x c.
static NoliStatus check_cells(const NoliSceneSource* source, const NoliSceneNode* node, double a,
                              double b, double c) {
  NoliStatus status = NOLI_OK;
  NOLI_SCENE_CHECK(source, node, a * b * c <= MAX_CELLS, "%g cells are more than %g", a * b * c,
                   MAX_CELLS);
done:
  return status;
}

static NoliStatus make_box(const NoliSceneSource* source, const NoliSceneNode* node,
                           NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  double size[3];
  int32_t cells[3];
  member_vector(node, "size", size);
  member_cells(node, "cells", cells);
  NOLI_TRY(check_cells(source, node, cells[0], cells[1], cells[2]));
  NOLI_TRY(noli_mesh_make_box(source->context, size, cells, false, mesh));
done:
  return status;
}

static NoliStatus make_sphere(const NoliSceneSource* source, const NoliSceneNode* node,
                              NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t cells = member_integer(node, "cells");
  NOLI_TRY(check_cells(source, node, cells, cells, cells));
  NOLI_TRY(noli_mesh_make_sphere(source->context, member_number(node, "radius"), cells, false,
                                 mesh));
done:
  return status;
}

static NoliStatus make_cylinder(const NoliSceneSource* source, const NoliSceneNode* node,
                                NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t across = member_integer(node, "cells_across"), along = member_integer(node, "cells_along");
  NOLI_TRY(check_cells(source, node, across, across, along));
  NOLI_TRY(noli_mesh_make_cylinder(source->context, member_number(node, "radius"),
                                   member_number(node, "height"), across, along, false, mesh));
done:
  return status;
}

static NoliStatus make_rod(const NoliSceneSource* source, const NoliSceneNode* node,
                           NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t across = member_integer(node, "cells_across"), along = member_integer(node, "cells_along");
  NOLI_TRY(check_cells(source, node, across, across, along));
  NOLI_TRY(noli_mesh_make_rod(source->context, member_number(node, "length"),
                              member_number(node, "width"), along, across, false, mesh));
done:
  return status;
}

static NoliStatus make_mat(const NoliSceneSource* source, const NoliSceneNode* node,
                           NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  double size[3];
  int32_t cells[3];
  member_vector(node, "size", size);
  member_cells(node, "cells", cells);
  NOLI_TRY(check_cells(source, node, cells[0], cells[1], 1.0));
  NOLI_TRY(noli_mesh_make_mat(source->context, size[0], size[1], member_number(node, "thickness"),
                              cells[0], cells[1], false, mesh));
done:
  return status;
}

static NoliStatus make_torus(const NoliSceneSource* source, const NoliSceneNode* node,
                             NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t around = member_integer(node, "cells_around");
  int32_t across = member_integer(node, "cells_across");
  double ring = member_number(node, "ring_radius"), tube = member_number(node, "tube_radius");
  NOLI_SCENE_CHECK(source, node, tube < ring,
                   "tube_radius must be smaller than ring_radius, got %g and %g", tube, ring);
  NOLI_TRY(check_cells(source, node, around, across, across));
  NOLI_TRY(noli_mesh_make_torus(source->context, ring, tube, around, across, false, mesh));
done:
  return status;
}

static NoliStatus make_plane(const NoliSceneSource* source, const NoliSceneNode* node,
                             NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  double size[3];
  int32_t cells[3];
  member_vector(node, "size", size);
  member_cells(node, "cells", cells);
  NOLI_TRY(check_cells(source, node, cells[0], cells[1], 1.0));
  int32_t n_x = cells[0] + 1, n_z = cells[1] + 1;
  NOLI_TRY(noli_mesh_create(source->context, n_x * n_z, 0, 2 * cells[0] * cells[1], 0, 0, false,
                            mesh));
  for (int32_t k = 0; k < n_x * n_z; k++) {
    (*mesh)->x[3 * (int64_t)k + 0] = size[0] * ((double)(k % n_x) / cells[0] - 0.5);
    (*mesh)->x[3 * (int64_t)k + 1] = 0.0;
    (*mesh)->x[3 * (int64_t)k + 2] = size[1] * ((double)(k / n_x) / cells[1] - 0.5);
  }
  // two triangles for each cell, looking up
  int32_t* tri = (*mesh)->tri;
  for (int32_t j = 0; j < cells[1]; j++) {
    for (int32_t i = 0; i < cells[0]; i++) {
      int32_t a = j * n_x + i, b = a + 1, c = a + n_x, d = c + 1;
      int32_t both[6] = {a, c, b, b, c, d};
      memcpy(tri, both, sizeof both);
      tri += 6;
    }
  }
done:
  return status;
}

typedef NoliStatus MakeShapeFn(const NoliSceneSource* source, const NoliSceneNode* node,
                               NoliMesh** mesh);

// The keys of "body_shape" and "obstacle_shape" in format.c.
static const struct {
  const char* key;
  MakeShapeFn* make;
} shape_makers[] = {
    {"box", make_box}, {"sphere", make_sphere}, {"cylinder", make_cylinder}, {"rod", make_rod},
    {"mat", make_mat}, {"torus", make_torus},   {"plane", make_plane},
};

static NoliStatus load(const NoliSceneSource* source, const NoliSceneNode* node, NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  if (json_is_string(node->value)) {
    NOLI_TRY(noli_scene_file_path(source, noli_scene_string(node), &path));
    NOLI_TRY(noli_scene_read_mesh_file(source, node, path, mesh));
    goto done;
  }
  for (size_t i = 0; i < sizeof shape_makers / sizeof *shape_makers; i++) {
    NoliSceneNode shape = noli_scene_member(node, shape_makers[i].key);
    if (shape.value != NULL) {
      NOLI_TRY(shape_makers[i].make(source, &shape, mesh));
    }
  }
done:
  noli_free(source->context, path);
  return status;
}

// ---- reduction to what takes part ---------------------------------------------------------------

// Cells that take part. Arrays that are `owned` were made here.
typedef struct Part {
  int32_t n_tet, n_tri, n_edge, n_point;
  const int32_t *tet, *tri, *edge, *point;
  int32_t *owned_tri, *owned_edge, *owned_point;
} Part;

static void release_part(NoliContext* context, Part* part) {
  noli_mesh_free_array(context, &part->owned_tri);
  noli_mesh_free_array(context, &part->owned_edge);
  noli_free(context, part->owned_point);
}

static void mark(bool* used, const int32_t* cell, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    used[cell[i]] = true;
  }
}

static void mark_part(bool* used, const Part* part) {
  mark(used, part->tet, 4 * (int64_t)part->n_tet);
  mark(used, part->tri, 3 * (int64_t)part->n_tri);
  mark(used, part->edge, 2 * (int64_t)part->n_edge);
  mark(used, part->point, part->n_point);
}

// Every vertex that the part uses becomes a point, and nothing else is left.
static NoliStatus to_points(NoliContext* context, const NoliMesh* mesh, Part* part) {
  NoliStatus status = NOLI_OK;
  bool* used = NULL;
  NOLI_NEW_ZERO(context, used, mesh->n_vert);
  mark_part(used, part);
  NOLI_NEW(context, part->owned_point, mesh->n_vert);
  int32_t n = 0;
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    if (used[v]) {
      part->owned_point[n++] = v;
    }
  }
  part->n_tri = part->n_edge = 0;
  part->point = part->owned_point;
  part->n_point = n;
done:
  noli_free(context, used);
  return status;
}

// The edges of the triangles join the segments of the mesh, which then hold both.
static NoliStatus to_edges(NoliContext* context, const NoliMesh* mesh, Part* part) {
  NoliStatus status = NOLI_OK;
  int32_t* joined = NULL;
  int32_t n = 0;
  if (part->n_tri > 0) {
    NOLI_TRY(noli_mesh_edges(context, part->tri, part->n_tri, &part->owned_edge, &n));
    if (mesh->n_edge > 0) {
      NOLI_CHECK(context, n <= INT32_MAX - mesh->n_edge, NOLI_ERROR_TOO_LARGE, "too many segments");
      NOLI_NEW(context, joined, 2 * ((int64_t)n + mesh->n_edge));
      memcpy(joined, part->owned_edge, 2 * (size_t)n * sizeof *joined);
      memcpy(joined + 2 * (int64_t)n, mesh->edge, 2 * (size_t)mesh->n_edge * sizeof *joined);
      noli_mesh_free_array(context, &part->owned_edge);
      part->owned_edge = joined;
      n += mesh->n_edge;
    }
    part->edge = part->owned_edge;
    part->n_edge = n;
  }
  part->n_tri = 0;
done:
  return status;
}

// Bodies keep their tetrahedra; obstacles what "as" says.
static NoliStatus choose_part(NoliContext* context, const NoliMesh* mesh, const char* as,
                              Part* part) {
  NoliStatus status = NOLI_OK;
  if (as == NULL) {
    part->n_tet = mesh->n_tet;
    part->tet = mesh->tet;
    goto done;
  }
  part->n_tri = mesh->n_tri;
  part->tri = mesh->tri;
  part->n_edge = mesh->n_edge;
  part->edge = mesh->edge;
  part->n_point = mesh->n_point;
  part->point = mesh->point;
  if (mesh->n_tet > 0) {
    NOLI_TRY(noli_mesh_boundary(context, mesh, &part->owned_tri, &part->n_tri));
    part->tri = part->owned_tri;
  }
  if (strcmp(as, "points") == 0) {
    NOLI_TRY(to_points(context, mesh, part));
  } else if (strcmp(as, "edges") == 0) {
    NOLI_TRY(to_edges(context, mesh, part));
  }
done:
  return status;
}

static void renumber(const int32_t* new_index, const int32_t* cell, int64_t n, int32_t* out) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = new_index[cell[i]];
  }
}

static void copy_cells(int32_t* to, const int32_t* from, int64_t n) {
  if (to != NULL && from != NULL && n > 0) {
    memcpy(to, from, (size_t)n * sizeof *to);
  }
}

// Copies the part with its vertices, in their order.
static NoliStatus extract(NoliContext* context, NoliSceneShape* shape, const Part* part) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* from = shape->source;
  bool* used = NULL;
  NOLI_NEW_ZERO(context, used, from->n_vert);
  NOLI_NEW(context, shape->new_index, from->n_vert);
  mark_part(used, part);
  int32_t n_vert = 0;
  for (int32_t v = 0; v < from->n_vert; v++) {
    shape->new_index[v] = used[v] ? n_vert++ : NOLI_NULL_INDEX;
  }
  bool tet_tags = part->n_tet > 0 && from->tet_tag != NULL;
  bool tri_tags = part->n_tri > 0 && part->tri == from->tri && from->tri_tag != NULL;
  NOLI_TRY(noli_mesh_create(context, n_vert, part->n_tet, part->n_tri, part->n_edge, part->n_point,
                            tet_tags || tri_tags, &shape->mesh));
  for (int32_t v = 0; v < from->n_vert; v++) {
    if (used[v]) {
      memcpy(shape->mesh->x + 3 * (int64_t)shape->new_index[v], from->x + 3 * (int64_t)v,
             3 * sizeof *from->x);
    }
  }
  renumber(shape->new_index, part->tet, 4 * (int64_t)part->n_tet, shape->mesh->tet);
  renumber(shape->new_index, part->tri, 3 * (int64_t)part->n_tri, shape->mesh->tri);
  renumber(shape->new_index, part->edge, 2 * (int64_t)part->n_edge, shape->mesh->edge);
  renumber(shape->new_index, part->point, part->n_point, shape->mesh->point);
  // a part has tetrahedra or triangles, never both
  copy_cells(shape->mesh->tet_tag, tet_tags ? from->tet_tag : NULL, part->n_tet);
  copy_cells(shape->mesh->tri_tag, tri_tags ? from->tri_tag : NULL, part->n_tri);
done:
  noli_free(context, used);
  return status;
}

// ---- checks -------------------------------------------------------------------------------------

// What to call a mesh in messages: the file, or "the mesh".
static void mesh_label(const NoliSceneNode* node, char label[NOTE_SIZE]) {
  if (json_is_string(node->value)) {
    snprintf(label, NOTE_SIZE, "\"%.140s\"", noli_scene_string(node));
  } else {
    snprintf(label, NOTE_SIZE, "the mesh");
  }
}

// Indices and coordinates, before anything is done with them.
static NoliStatus check_source(const NoliSceneSource* source, const NoliSceneNode* node,
                               const NoliMesh* mesh, bool obstacle) {
  NoliStatus status = NOLI_OK;
  char label[NOTE_SIZE];
  mesh_label(node, label);
  NoliMeshCheck found;
  NOLI_TRY(noli_mesh_check(source->context, mesh, &found));
  NOLI_SCENE_CHECK(source, node, found.n_bad_coordinates == 0,
                   "%s: vertex %d is not finite (%d such vertices)", label,
                   (int)found.first_bad_vertex, (int)found.n_bad_coordinates);
  NOLI_SCENE_CHECK(source, node, found.n_bad_indices == 0,
                   "%s: cell %d names a vertex that does not exist, or one twice (%d such cells)",
                   label, (int)found.first_bad_cell, (int)found.n_bad_indices);
  int64_t n_cells = (int64_t)mesh->n_tet + mesh->n_tri + mesh->n_edge + mesh->n_point;
  NOLI_SCENE_CHECK(source, node, obstacle || mesh->n_tet > 0,
                   "%s has no tetrahedra: list it under \"obstacles\", or fill it with "
                   "tetrahedra first",
                   label);
  NOLI_SCENE_CHECK(source, node, n_cells > 0, "%s is empty", label);
done:
  return status;
}

static void tet_centre(const NoliMesh* mesh, int32_t tet, double centre[3]) {
  for (int i = 0; i < 3; i++) {
    centre[i] = 0.0;
    for (int k = 0; k < 4; k++) {
      centre[i] += 0.25 * mesh->x[3 * (int64_t)mesh->tet[4 * (int64_t)tet + k] + i];
    }
  }
}

// Tetrahedra and triangles of what takes part. Turns a mesh that is inverted as a whole.
static NoliStatus check_part(const NoliSceneSource* source, const NoliSceneNode* node,
                             NoliMesh* mesh) {
  NoliStatus status = NOLI_OK;
  char label[NOTE_SIZE];
  mesh_label(node, label);
  double centre[3];
  NoliMeshCheck found;
  NOLI_TRY(noli_mesh_check(source->context, mesh, &found));
  if (found.n_flat > 0) {
    tet_centre(mesh, found.first_flat, centre);
    NOLI_SCENE_CHECK(source, node, false,
                     "%s: tetrahedron %d at (%g, %g, %g) has no volume (%d such tetrahedra)", label,
                     (int)found.first_flat, centre[0], centre[1], centre[2], (int)found.n_flat);
  }
  if (found.n_inverted > 0 && found.n_inverted < mesh->n_tet) {
    tet_centre(mesh, found.first_inverted, centre);
    NOLI_SCENE_CHECK(source, node, false,
                     "%s: tetrahedron %d at (%g, %g, %g) is inverted (%d of %d tetrahedra)", label,
                     (int)found.first_inverted, centre[0], centre[1], centre[2],
                     (int)found.n_inverted, (int)mesh->n_tet);
  }
  if (found.n_inverted > 0) {
    noli_scene_log(source, node, NOLI_LOG_WARNING,
                   "%s: all tetrahedra are inverted; their vertices were exchanged", label);
    (void)noli_mesh_orient(mesh);
  }
  NOLI_SCENE_CHECK(source, node, found.n_degenerate == 0,
                   "%s: %d triangles or segments have no size", label, (int)found.n_degenerate);
  NOLI_SCENE_CHECK(source, node, found.n_duplicate_cells == 0 || mesh->n_tet == 0,
                   "%s: %d tetrahedra occur twice", label, (int)found.n_duplicate_cells);
  if (found.n_non_manifold_edges > 0) {
    noli_scene_log(source, node, NOLI_LOG_WARNING,
                   "%s: %d edges have more than two triangles; this does not harm contact", label,
                   (int)found.n_non_manifold_edges);
  }
done:
  return status;
}

// ---- placement ----------------------------------------------------------------------------------

void noli_scene_bounds(const NoliMesh* mesh, double low[3], double high[3]) {
  for (int i = 0; i < 3; i++) {
    low[i] = HUGE_VAL;
    high[i] = -HUGE_VAL;
  }
  for (int64_t v = 0; v < mesh->n_vert; v++) {
    for (int i = 0; i < 3; i++) {
      low[i] = fmin(low[i], mesh->x[3 * v + i]);
      high[i] = fmax(high[i], mesh->x[3 * v + i]);
    }
  }
}

static NoliStatus read_scale(const NoliSceneSource* source, const NoliSceneNode* entry,
                             const NoliMesh* mesh, double scale[3]) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, "scale");
  scale[0] = scale[1] = scale[2] = noli_scene_number(&node);
  if (json_is_array(node.value)) {
    noli_scene_vector(&node, scale);
  }
  NOLI_SCENE_CHECK(source, &node, scale[0] != 0.0 && scale[1] != 0.0 && scale[2] != 0.0,
                   "must not be 0");
  NoliSceneNode fit = noli_scene_member(entry, "fit");
  if (fit.value != NULL) {
    double low[3], high[3], extent = 0.0;
    noli_scene_bounds(mesh, low, high);
    for (int i = 0; i < 3; i++) {
      extent = fmax(extent, fabs(scale[i]) * (high[i] - low[i]));
    }
    double factor = noli_scene_number(&fit) / extent;
    NOLI_SCENE_CHECK(source, &fit, extent > 0.0 && isfinite(factor),
                     "the mesh has no extent that could be made %g", noli_scene_number(&fit));
    for (int i = 0; i < 3; i++) {
      scale[i] *= factor;
    }
  }
done:
  return status;
}

static NoliStatus read_placement(const NoliSceneSource* source, const NoliSceneNode* entry,
                                 const NoliMesh* mesh, NoliScenePlacement* placement) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(read_scale(source, entry, mesh, placement->scale));
  member_vector(entry, "rotate", placement->rotate);
  member_vector(entry, "translate", placement->translate);
  NoliSceneNode copies = noli_scene_member(entry, "copies");
  placement->n_copies = copies.value != NULL ? member_integer(&copies, "count") : 1;
  member_vector(&copies, "translate", placement->copy_translate);
  member_vector(&copies, "rotate", placement->copy_rotate);
done:
  return status;
}

void noli_scene_place(const NoliScenePlacement* placement, int32_t index, NoliMesh* mesh) {
  static const double zero[3] = {0.0, 0.0, 0.0}, one[3] = {1.0, 1.0, 1.0};
  double rotate[3], translate[3];
  for (int i = 0; i < 3; i++) {
    rotate[i] = index * placement->copy_rotate[i];
    translate[i] = placement->translate[i] + index * placement->copy_translate[i];
  }
  noli_mesh_transform(mesh, placement->scale, placement->rotate, zero);
  noli_mesh_transform(mesh, one, rotate, translate);
}

NoliStatus noli_scene_place_copy(const NoliSceneSource* source, const NoliSceneNode* entry,
                                 const NoliSceneShape* shape, int32_t index, NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* from = shape->mesh;
  const double* scale = shape->placement.scale;
  NOLI_TRY(noli_mesh_create(source->context, from->n_vert, from->n_tet, from->n_tri, from->n_edge,
                            from->n_point, from->tet_tag != NULL || from->tri_tag != NULL, mesh));
  memcpy((*mesh)->x, from->x, 3 * (size_t)from->n_vert * sizeof *from->x);
  copy_cells((*mesh)->tet, from->tet, 4 * (int64_t)from->n_tet);
  copy_cells((*mesh)->tri, from->tri, 3 * (int64_t)from->n_tri);
  copy_cells((*mesh)->edge, from->edge, 2 * (int64_t)from->n_edge);
  copy_cells((*mesh)->point, from->point, from->n_point);
  copy_cells((*mesh)->tet_tag, from->tet_tag, from->n_tet);
  copy_cells((*mesh)->tri_tag, from->tri_tag, from->n_tri);
  noli_scene_place(&shape->placement, index, *mesh);
  // a reflection turns all tetrahedra inside out
  if ((scale[0] < 0.0) != ((scale[1] < 0.0) != (scale[2] < 0.0))) {
    (void)noli_mesh_orient(*mesh);
  }
  for (int64_t i = 0; i < 3 * (int64_t)from->n_vert; i++) {
    NOLI_SCENE_CHECK(source, entry, isfinite((*mesh)->x[i]),
                     "scale, rotate and translate lead beyond the range of numbers");
  }
done:
  return status;
}

// ---- all together -------------------------------------------------------------------------------

NoliStatus noli_scene_read_shape(const NoliSceneSource* source, const NoliSceneNode* entry,
                                 bool obstacle, NoliSceneShape* shape) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = source->context;
  Part part = {0};
  NoliSceneNode node = noli_scene_member(entry, "mesh");
  NoliSceneNode as = noli_scene_member(entry, "as");
  NOLI_TRY(load(source, &node, &shape->source));
  NOLI_TRY(check_source(source, &node, shape->source, obstacle));
  NOLI_TRY(choose_part(context, shape->source, noli_scene_string(&as), &part));
  NOLI_TRY(extract(context, shape, &part));
  NOLI_SCENE_CHECK(source, &node, shape->mesh->n_vert > 0,
                   "nothing is left of the mesh as \"%s\"", noli_scene_string(&as));
  int32_t n_unused = shape->source->n_vert - shape->mesh->n_vert;
  if (n_unused > 0 && !obstacle) {
    noli_scene_log(source, &node, NOLI_LOG_INFO, "%d vertices belong to no tetrahedron; left out",
                   (int)n_unused);
  }
  NOLI_TRY(check_part(source, &node, shape->mesh));
  NOLI_TRY(read_placement(source, entry, shape->mesh, &shape->placement));
done:
  release_part(context, &part);
  return status;
}

void noli_scene_release_shape(NoliContext* context, NoliSceneShape* shape) {
  noli_mesh_destroy(context, &shape->source);
  noli_mesh_destroy(context, &shape->mesh);
  noli_free(context, shape->new_index);
  shape->new_index = NULL;
}
