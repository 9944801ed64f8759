#include "scene/shape.h"

#include "base/sort.h"
#include "scene/built_in.h"
#include "scene/files.h"
#include "scene/origins.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NOTE_SIZE = 160 };

#define MERGE_HINT ": \"merge\": 0 drops cells without size and those that occur twice"

// ---- files --------------------------------------------------------------------------------------

static int32_t member_integer(const NoliSceneNode* parent, const char* key) {
  NoliSceneNode node = noli_scene_member(parent, key);
  return (int32_t)noli_scene_number(&node);
}

static void member_vector(const NoliSceneNode* parent, const char* key, double out[3]) {
  NoliSceneNode node = noli_scene_member(parent, key);
  noli_scene_vector(&node, out);
}

// `keep` (may be NULL) receives the path of a file, which the caller owns.
static NoliStatus shape_load(const NoliSceneSource* source, const NoliSceneNode* node,
                             NoliMesh** mesh, char** keep) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  if (json_is_string(node->value)) {
    const char* name = noli_scene_string(node);
    NOLI_TRY(noli_scene_find_file(source, node, &name));
    NOLI_TRY(noli_scene_file_path(source, name, &path));
    NOLI_TRY(noli_scene_locate_failure(source, node, noli_mesh_read(source->context, path, mesh)));
    NOLI_TRY(noli_scene_note_file(source, node, name));
    if (keep != NULL) {
      *keep = path;
      path = NULL;
    }
    goto done;
  }
  NOLI_TRY(noli_scene_make_shape(source, node, mesh));
done:
  noli_free(source->context, path);
  return status;
}

// ---- merging ------------------------------------------------------------------------------------

// Appends the numbers of cells that were dropped, as many as fit.
static void append_cells(char* text, size_t size, const char* why, int32_t n, const int32_t* cell) {
  enum { SHOWN = 8 };
  size_t used = strlen(text);
  if (n == 0) {
    return;
  }
  used += (size_t)snprintf(text + used, size - used, "; dropped %s (%d):", why, (int)n);
  for (int32_t i = 0; i < n && i < SHOWN; i++) {
    used += (size_t)snprintf(text + used, size - used, "%s %d", i > 0 ? "," : "", (int)cell[i]);
  }
  snprintf(text + used, size - used, "%s", n > SHOWN ? ", ..." : "");
}

// Mends a mesh where the entry asks for it, and logs what it did.
static NoliStatus shape_merge(const NoliSceneSource* source, const NoliSceneNode* entry,
                              NoliMesh* mesh, NoliMeshCleaned* cleaned) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, "merge");
  char text[600];
  if (node.value == NULL) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_scene_locate_failure(
      source, &node, noli_mesh_clean(source->context, mesh, noli_scene_number(&node), cleaned)));
  snprintf(text, sizeof text, "merged %d of %d vertices, by at most %g", (int)cleaned->n_merged,
           (int)cleaned->n_vert, cleaned->largest_move);
  append_cells(text, sizeof text, "cells without size", cleaned->n_degenerate, cleaned->degenerate);
  append_cells(text, sizeof text, "cells that occurred before", cleaned->n_duplicate,
               cleaned->duplicate);
  noli_scene_log(source, &node, NOLI_LOG_INFO, "%s", text);
done:
  return status;
}

void noli_scene_follow_merging(const NoliSceneShape* shape, NoliMesh* mesh) {
  const NoliMeshCleaned* cleaned = &shape->cleaned;
  int32_t n_kept = 0;
  if (cleaned->n_merged == 0 || mesh->n_vert != cleaned->n_vert) {
    return;
  }
  // the first vertex of each number was kept
  for (int32_t v = 0; v < cleaned->n_vert; v++) {
    if (cleaned->new_index[v] == n_kept) {
      memmove(mesh->x + 3 * (int64_t)n_kept++, mesh->x + 3 * (int64_t)v, 3 * sizeof *mesh->x);
    }
  }
  mesh->n_vert = n_kept;
}

// ---- reduction to what takes part ---------------------------------------------------------------

static void shape_copy_cells(int32_t* to, const int32_t* from, int64_t n) {
  if (to != NULL && from != NULL && n > 0) {
    memcpy(to, from, (size_t)n * sizeof *to);
  }
}

// The nodes of curved tetrahedra.
static NoliStatus copy_curve(NoliContext* context, const NoliMesh* from, NoliMesh* to) {
  NoliStatus status = NOLI_OK;
  to->order = from->order;
  if (from->order > 1) {
    static const int64_t inner[] = {0, 0, 6, 16, 31}; // nodes besides the corners, by order
    int64_t width = inner[from->order];
    NOLI_NEW(context, to->curve_x, 3 * (int64_t)from->n_curve);
    NOLI_NEW(context, to->curve, width * from->n_tet);
    memcpy(to->curve_x, from->curve_x, 3 * (size_t)from->n_curve * sizeof *from->curve_x);
    shape_copy_cells(to->curve, from->curve, width * from->n_tet);
    to->n_curve = from->n_curve;
  }
done:
  return status;
}

static NoliStatus copy_mesh(NoliContext* context, const NoliMesh* from, NoliMesh** out) {
  NoliStatus status = NOLI_OK;
  bool tags = from->tet_tag != NULL || from->tri_tag != NULL;
  NOLI_TRY(noli_mesh_create(context, from->n_vert, from->n_tet, from->n_tri, from->n_edge,
                            from->n_point, tags, out));
  NoliMesh* to = *out;
  memcpy(to->x, from->x, 3 * (size_t)from->n_vert * sizeof *from->x);
  shape_copy_cells(to->tet, from->tet, 4 * (int64_t)from->n_tet);
  shape_copy_cells(to->tri, from->tri, 3 * (int64_t)from->n_tri);
  shape_copy_cells(to->edge, from->edge, 2 * (int64_t)from->n_edge);
  shape_copy_cells(to->point, from->point, from->n_point);
  // where only one kind of cells has tags, the other gets zeros
  if (to->tet_tag != NULL) {
    memset(to->tet_tag, 0, (size_t)from->n_tet * sizeof *to->tet_tag);
    shape_copy_cells(to->tet_tag, from->tet_tag, from->n_tet);
  }
  if (to->tri_tag != NULL) {
    memset(to->tri_tag, 0, (size_t)from->n_tri * sizeof *to->tri_tag);
    shape_copy_cells(to->tri_tag, from->tri_tag, from->n_tri);
  }
  NOLI_TRY(copy_curve(context, from, to));
done:
  return status;
}

// Bodies keep their tetrahedra (`as` is NULL), flat and thin ones their triangles, obstacles what
// `as` says.
static NoliStatus choose_part(NoliContext* context, const NoliMesh* mesh, const char* as,
                              const NoliBodyKind* kind, NoliMesh** out) {
  NoliStatus status = NOLI_OK;
  if (as != NULL) {
    NOLI_TRY(noli_mesh_extract(context, mesh, as, out));
    goto done;
  }

  NoliMesh cells = *mesh;
  int32_t size = kind->cells(mesh).size;
  if (size != 4) {
    cells.n_tet = 0;
    cells.tet = cells.tet_tag = NULL;
  }
  if (size != 3) {
    cells.n_tri = 0;
    cells.tri = cells.tri_tag = NULL;
  }
  if (size != 2) {
    cells.n_edge = 0;
    cells.edge = NULL;
  }
  if (size != 1) {
    cells.n_point = 0;
    cells.point = NULL;
  }

  NOLI_TRY(copy_mesh(context, &cells, out));
  NOLI_TRY(noli_mesh_remove_unused(context, *out));
done:
  return status;
}

// Makes the mesh that takes part, and the numbers of its vertices. They are found by letting the
// old number of each vertex travel in place of its coordinates.
static NoliStatus reduce(NoliContext* context, const char* as, NoliSceneShape* shape) {
  NoliStatus status = NOLI_OK;
  double* numbers = NULL;
  int32_t n = shape->source->n_vert;
  NOLI_NEW_ZERO(context, numbers, 3 * (int64_t)n);
  NOLI_NEW(context, shape->new_index, n);
  for (int32_t v = 0; v < n; v++) {
    numbers[3 * (int64_t)v] = (double)v;
    shape->new_index[v] = NOLI_NULL_INDEX;
  }

  // thin bodies of other cells are what bounds these
  const char* part = as;
  if (shape->kind->part != NULL && shape->kind->cells(shape->source).n == 0) {
    part = shape->kind->part;
  }
  NoliMesh numbered = *shape->source;
  numbered.x = numbers;
  NOLI_TRY(choose_part(context, &numbered, part, shape->kind, &shape->mesh));
  for (int32_t v = 0; v < shape->mesh->n_vert; v++) {
    double* x = shape->mesh->x + 3 * (int64_t)v;
    int32_t old = (int32_t)x[0];
    shape->new_index[old] = v;
    memcpy(x, shape->source->x + 3 * (int64_t)old, 3 * sizeof *x);
  }
done:
  noli_free(context, numbers);
  return status;
}

// ---- checks -------------------------------------------------------------------------------------

// The name of a mesh in messages: the file, or "the mesh".
static void mesh_label(const NoliSceneNode* node, char label[NOTE_SIZE]) {
  if (json_is_string(node->value)) {
    snprintf(label, NOTE_SIZE, "\"%.140s\"", noli_scene_string(node));
  } else {
    snprintf(label, NOTE_SIZE, "the mesh");
  }
}

// Whether a mesh has cells of a kind, or larger ones that have such parts.
static bool gives_cells(const NoliBodyKind* kind, const NoliMesh* mesh) {
  const int32_t of_size[4] = {mesh->n_vert, mesh->n_edge, mesh->n_tri, mesh->n_tet};
  int32_t size = kind->cells(mesh).size;
  bool any = of_size[size - 1] > 0;
  for (; kind->part != NULL && size < 4; size++) {
    any = any || of_size[size] > 0;
  }
  return any;
}

// Indices and coordinates, before anything is done with them.
static NoliStatus check_source(const NoliSceneSource* source, const NoliSceneNode* node,
                               const NoliMesh* mesh, bool obstacle, const NoliBodyKind* kind) {
  NoliStatus status = NOLI_OK;
  char label[NOTE_SIZE];
  mesh_label(node, label);
  NoliMeshCheck found;
  NOLI_TRY(noli_mesh_check(source->context, mesh, &found));
  NOLI_SCENE_CHECK(source, node, found.n_bad_coordinates == 0,
                   "%s: vertex %d is not finite (%d such vertices)", label,
                   (int)found.first_bad_vertex, (int)found.n_bad_coordinates);
  NOLI_SCENE_CHECK(source, node, found.n_bad_indices == 0,
                   "%s: cell %d names a vertex that does not exist, or one twice (%d such cells)%s",
                   label, (int)found.first_bad_cell, (int)found.n_bad_indices, MERGE_HINT);
  bool has_cells = gives_cells(kind, mesh);
  NOLI_SCENE_CHECK(
      source, node, obstacle || kind->key != NULL || has_cells,
      "%s has no tetrahedra: list it under \"obstacles\", fill it with tetrahedra "
      "first, make it a \"shell\" or a \"rod\", or give it \"plane_strain\" if it lies in a plane",
      label);
  NOLI_SCENE_CHECK(source, node, mesh->n_vert > 0, "%s is empty", label);
  NOLI_SCENE_CHECK(source, node, kind->key == NULL || has_cells, "%s has no %s, which \"%s\" needs",
                   label, kind->cells_name, kind->key);
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

// The first vertex of a triangle or segment, counted behind the tetrahedra.
static const double* first_corner(const NoliMesh* mesh, int32_t cell) {
  int32_t triangle = cell - mesh->n_tet, segment = triangle - mesh->n_tri;
  int32_t vertex =
      segment < 0 ? mesh->tri[3 * (int64_t)triangle] : mesh->edge[2 * (int64_t)segment];
  return &mesh->x[3 * (int64_t)vertex];
}

static NoliStatus fail_inverted(const NoliSceneSource* source, const NoliSceneNode* node,
                                const NoliMesh* mesh, const NoliMeshCheck* found) {
  char label[NOTE_SIZE];
  double centre[3];
  mesh_label(node, label);
  tet_centre(mesh, found->first_inverted, centre);
  return noli_scene_fail(source, node, NOLI_ERROR_FORMAT,
                         "%s: tetrahedron %d at (%g, %g, %g) is inverted%s (%d of %d tetrahedra)",
                         label, (int)found->first_inverted, centre[0], centre[1], centre[2],
                         mesh->order > 1 ? " somewhere" : "", (int)found->n_inverted,
                         (int)mesh->n_tet);
}

// Checks the tetrahedra and triangles that take part. Reorients a mesh whose tetrahedra are all
// inverted.
static NoliStatus check_part(const NoliSceneSource* source, const NoliSceneNode* node,
                             NoliMesh* mesh) {
  NoliStatus status = NOLI_OK;
  char label[NOTE_SIZE];
  mesh_label(node, label);
  double centre[3];
  NoliMeshCheck found;
  NOLI_TRY(noli_mesh_check(source->context, mesh, &found));

  // tetrahedra have volume, and the same sign all over
  bool all_inverted = found.n_inverted > 0 && found.n_inverted == mesh->n_tet;
  if (found.n_flat > 0) {
    tet_centre(mesh, found.first_flat, centre);
    NOLI_SCENE_CHECK(source, node, false,
                     "%s: tetrahedron %d at (%g, %g, %g) has no volume (%d such tetrahedra)", label,
                     (int)found.first_flat, centre[0], centre[1], centre[2], (int)found.n_flat);
  }
  if (found.n_inverted > 0 && !all_inverted) {
    NOLI_TRY(fail_inverted(source, node, mesh, &found));
  }
  if (all_inverted) {
    noli_scene_log(source, node, NOLI_LOG_WARNING,
                   "%s: all tetrahedra are inverted; their vertices were exchanged", label);
    (void)noli_mesh_orient(mesh);
    NOLI_TRY(noli_mesh_check(source->context, mesh, &found));
    NOLI_TRY(found.n_inverted > 0 ? fail_inverted(source, node, mesh, &found) : NOLI_OK);
  }

  // cells have size and occur once
  if (found.n_degenerate > 0) {
    const double* x = first_corner(mesh, found.first_degenerate);
    NOLI_SCENE_CHECK(source, node, false,
                     "%s: cell %d at (%g, %g, %g) has no size (%d such triangles or segments)%s",
                     label, (int)found.first_degenerate, x[0], x[1], x[2], (int)found.n_degenerate,
                     MERGE_HINT);
  }
  NOLI_SCENE_CHECK(source, node, found.n_duplicate_cells == 0 || mesh->n_tet == 0,
                   "%s: tetrahedron %d occurs twice (%d such tetrahedra)%s", label,
                   (int)found.first_duplicate, (int)found.n_duplicate_cells, MERGE_HINT);

  // what contact can bear
  if (found.n_non_manifold_edges > 0) {
    noli_scene_log(source, node, NOLI_LOG_WARNING,
                   "%s: %d edges have more than two triangles; this does not harm contact, which "
                   "only the model \"gcp\" refuses",
                   label, (int)found.n_non_manifold_edges);
  }
done:
  return status;
}

typedef struct Point {
  double x[3];
  int32_t vertex;
} Point;

static int compare_points(const void* a, const void* b) {
  const Point *p = a, *q = b;
  int order = 0;
  for (int k = 0; k < 3 && order == 0; k++) {
    order = noli_order_of_doubles(p->x[k], q->x[k]);
  }
  return order != 0 ? order : noli_order(p->vertex, q->vertex);
}

// Triangles that meet at different vertices in one place touch, but are not joined: many files of
// surfaces repeat vertices along seams of textures.
static NoliStatus warn_of_seams(const NoliSceneSource* source, const NoliSceneNode* node,
                                const NoliMesh* mesh) {
  NoliStatus status = NOLI_OK;
  char label[NOTE_SIZE];
  mesh_label(node, label);
  Point* point = NULL;
  const Point* first = NULL;
  int32_t n_repeated = 0;
  NOLI_NEW(source->context, point, mesh->n_vert);
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    memcpy(point[v].x, &mesh->x[3 * (int64_t)v], sizeof point[v].x);
    point[v].vertex = v;
  }
  noli_sort(point, mesh->n_vert, sizeof *point, compare_points);
  for (int32_t i = 1; i < mesh->n_vert; i++) {
    bool repeated = memcmp(point[i].x, point[i - 1].x, sizeof point->x) == 0;
    n_repeated += repeated ? 1 : 0;
    first = repeated && (first == NULL || point[i].vertex < first->vertex) ? &point[i] : first;
  }

  if (first != NULL) {
    noli_scene_log(source, node, NOLI_LOG_WARNING,
                   "%s: vertices %d and %d are both at (%g, %g, %g), so that triangles touch there "
                   "without being joined (%d such vertices): merge them by \"merge\": 0, or join "
                   "them by \"ties\"",
                   label, (int)first[-1].vertex, (int)first->vertex, first->x[0], first->x[1],
                   first->x[2], (int)n_repeated);
  }
done:
  noli_free(source->context, point);
  return status;
}

// Triangles of a shell have area, and each counts once.
static NoliStatus check_shell(const NoliSceneSource* source, const NoliSceneNode* node,
                              const NoliMesh* mesh) {
  NoliStatus status = NOLI_OK;
  char label[NOTE_SIZE];
  mesh_label(node, label);
  NoliMeshCheck found;
  NOLI_TRY(noli_mesh_check(source->context, mesh, &found));
  int32_t bad = found.n_degenerate > 0 ? found.first_degenerate : found.first_duplicate;
  if (found.n_degenerate > 0 || found.n_duplicate_cells > 0) {
    const int32_t* tri = &mesh->tri[3 * (int64_t)bad];
    const double* x = &mesh->x[3 * (int64_t)tri[0]];
    NOLI_SCENE_CHECK(source, node, false,
                     "%s: triangle %d (vertices %d, %d, %d) at (%g, %g, %g) %s (%d such "
                     "triangles)%s",
                     label, (int)bad, (int)tri[0], (int)tri[1], (int)tri[2], x[0], x[1], x[2],
                     found.n_degenerate > 0 ? "has no area" : "occurs twice",
                     found.n_degenerate > 0 ? (int)found.n_degenerate
                                            : (int)found.n_duplicate_cells,
                     MERGE_HINT);
  }
  NOLI_TRY(warn_of_seams(source, node, mesh));
done:
  return status;
}

// ---- placement ----------------------------------------------------------------------------------

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
    noli_mesh_bounds(mesh->n_vert, mesh->x, low, high);
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

NoliStatus noli_scene_place_proxy(const NoliSceneSource* source, const NoliSceneShape* shape,
                                  int32_t index, NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(copy_mesh(source->context, shape->proxy, mesh));
  noli_scene_place(&shape->placement, index, *mesh);
done:
  return status;
}

NoliStatus noli_scene_place_copy(const NoliSceneSource* source, const NoliSceneNode* entry,
                                 const NoliSceneShape* shape, int32_t index, NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(copy_mesh(source->context, shape->mesh, mesh));
  noli_scene_place(&shape->placement, index, *mesh);
  for (int64_t i = 0; i < 3 * (int64_t)shape->mesh->n_vert; i++) {
    NOLI_SCENE_CHECK(source, entry, isfinite((*mesh)->x[i]),
                     "scale, rotate and translate lead beyond the range of numbers");
  }
done:
  return status;
}

// ---- all together -------------------------------------------------------------------------------

// The triangles of the proxy's mesh, or the boundary of its tetrahedra.
static NoliStatus shape_read_proxy(const NoliSceneSource* source, const NoliSceneNode* entry,
                                   NoliMesh** proxy) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, "proxy");
  NoliSceneNode mesh = noli_scene_member(&node, "mesh");
  NoliMesh* whole = NULL;
  NoliMeshCleaned cleaned = {0};
  if (mesh.value == NULL) {
    return NOLI_OK;
  }
  NOLI_TRY(shape_load(source, &mesh, &whole, NULL));
  NOLI_TRY(shape_merge(source, &node, whole, &cleaned));
  NOLI_TRY(check_source(source, &mesh, whole, true, &noli_body_solid));
  NOLI_TRY(noli_mesh_extract(source->context, whole, "surface", proxy));
  NOLI_TRY(noli_mesh_remove_unused(source->context, *proxy));
  NOLI_SCENE_CHECK(source, &mesh, (*proxy)->n_tri > 0, "the mesh has no triangles");
done:
  noli_mesh_cleaned_free(source->context, &cleaned);
  noli_mesh_destroy(source->context, &whole);
  return status;
}

// A list of positions as points of a mesh.
static NoliStatus list_points(const NoliSceneSource* source, const NoliSceneNode* node,
                              NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  size_t n = noli_scene_size(node);
  NOLI_SCENE_CHECK(source, node, n <= INT32_MAX / 3, "has %zu positions, too many", n);
  NOLI_TRY(noli_mesh_create(source->context, (int32_t)n, 0, 0, 0, 0, false, mesh));
  for (size_t i = 0; i < n; i++) {
    NoliSceneNode item = noli_scene_item(node, i);
    noli_scene_vector(&item, (*mesh)->x + 3 * i);
  }
done:
  return status;
}

// Where the vertices of all copies are, given by "start" or "rest"; needs the placement.
static NoliStatus read_places(const NoliSceneSource* source, const NoliSceneNode* entry,
                              const char* key, const NoliSceneShape* shape, double** place) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, key);
  NoliMesh* mesh = NULL;
  int64_t n = (int64_t)shape->placement.n_copies * shape->mesh->n_vert;
  if (node.value == NULL) {
    return NOLI_OK;
  }
  NOLI_TRY(json_is_array(node.value) ? list_points(source, &node, &mesh)
                                     : shape_load(source, &node, &mesh, NULL));
  NOLI_SCENE_CHECK(source, &node, mesh->n_vert == n,
                   "has %d positions; the %s %lld vertices in the simulation", (int)mesh->n_vert,
                   shape->placement.n_copies > 1 ? "copies have" : "body has", (long long)n);
  for (int64_t i = 0; i < 3 * n; i++) {
    NOLI_SCENE_CHECK(source, &node, isfinite(mesh->x[i]), "position %lld is not finite",
                     (long long)(i / 3));
  }
  *place = mesh->x;
  mesh->x = NULL;
done:
  noli_mesh_destroy(source->context, &mesh);
  return status;
}

// Raises or lowers the order of the shape of the tetrahedra where the scene asks for it.
static NoliStatus set_geometry_order(const NoliSceneSource* source, const NoliSceneNode* entry,
                                     NoliMesh* mesh) {
  NoliSceneNode node = noli_scene_member(entry, "geometry_order");
  return node.value != NULL
             ? noli_mesh_set_order(source->context, mesh, (int32_t)noli_scene_number(&node))
             : NOLI_OK;
}

NoliStatus noli_scene_refine(const NoliSceneSource* source, const NoliSceneNode* node,
                             int32_t times, NoliMesh* mesh) {
  return times == 0 ? NOLI_OK
                    : noli_scene_locate_failure(source, node,
                                                noli_mesh_refine(source->context, mesh, times));
}

// A body is of one kind: without such a key it is solid.
static NoliStatus read_kind(const NoliSceneSource* source, const NoliSceneNode* entry,
                            const NoliBodyKind** kind) {
  NoliStatus status = NOLI_OK;
  const char* before = NULL;
  *kind = &noli_body_solid;
  for (int32_t k = 0; noli_body_kind_at(k) != NULL; k++) {
    const char* key = noli_body_kind_at(k)->key;
    NoliSceneNode node = noli_scene_member(entry, key != NULL ? key : "");
    if (node.value != NULL && !json_is_false(node.value)) {
      NOLI_SCENE_CHECK(source, &node, before == NULL,
                       "a body is of one kind; this one has \"%s\", too", before);
      before = key;
      *kind = noli_body_kind_at(k);
    }
  }
done:
  return status;
}

NoliStatus noli_scene_read_shape(const NoliSceneSource* source, const NoliSceneNode* entry,
                                 bool obstacle, NoliSceneShape* shape) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = source->context;
  NoliSceneNode node = noli_scene_member(entry, "mesh");
  NoliSceneNode as = noli_scene_member(entry, "as");
  NoliSceneNode refine = noli_scene_member(entry, "refine");

  NOLI_TRY(shape_load(source, &node, &shape->source, &shape->path));
  NOLI_TRY(shape_merge(source, entry, shape->source, &shape->cleaned));
  NOLI_TRY(read_kind(source, entry, &shape->kind));
  NOLI_TRY(check_source(source, &node, shape->source, obstacle, shape->kind));

  if (refine.value != NULL) {
    shape->refine = (int32_t)noli_scene_number(&refine);
    NOLI_TRY(noli_scene_refine(source, &refine, shape->refine, shape->source));
  }

  NOLI_TRY(reduce(context, noli_scene_string(&as), shape));
  NOLI_SCENE_CHECK(source, &node, shape->mesh->n_vert > 0, "nothing is left of the mesh as \"%s\"",
                   noli_scene_string(&as));
  int32_t n_unused = shape->source->n_vert - shape->mesh->n_vert;
  if (n_unused > 0 && !obstacle) {
    noli_scene_log(source, &node, NOLI_LOG_INFO, "%d vertices belong to no %s; left out",
                   (int)n_unused, shape->kind->cell);
  }
  if (shape->kind == &noli_body_shell) {
    NOLI_TRY(check_shell(source, &node, shape->mesh));
  }
  NOLI_TRY(check_part(source, &node, shape->mesh));
  NOLI_TRY(set_geometry_order(source, entry, shape->mesh));
  NOLI_TRY(shape_read_proxy(source, entry, &shape->proxy));
  NOLI_TRY(read_placement(source, entry, shape->mesh, &shape->placement));
  NOLI_TRY(read_places(source, entry, "start", shape, &shape->start));
  NOLI_TRY(read_places(source, entry, "rest", shape, &shape->rest));
done:
  return status;
}

NoliStatus noli_scene_read_sets(const NoliSceneSource* source, const NoliSceneNode* node,
                                NoliSceneShape* shape) {
  NoliStatus status = NOLI_OK;
  NoliMesh* mesh = NULL;
  if (shape->has_sets || shape->path == NULL) {
    return NOLI_OK;
  }
  NOLI_SCENE_CHECK(source, node, shape->refine == 0,
                   "the sets of \"%.140s\" are those of its own vertices: refine the file, or "
                   "select by tag or place",
                   shape->path);
  NOLI_TRY(noli_scene_locate_failure(
      source, node,
      noli_mesh_read_sides(source->context, shape->path, &mesh, &shape->sets, &shape->sides)));
  shape->has_sets = true;

  // the sets name vertices of the file
  for (int64_t i = 0; shape->cleaned.n_vert > 0 && i < shape->sets.first[shape->sets.n]; i++) {
    shape->sets.vertex[i] = shape->cleaned.new_index[shape->sets.vertex[i]];
  }
  for (int64_t i = 0; shape->cleaned.n_vert > 0 && i < 3 * shape->sides.first[shape->sides.n];
       i++) {
    shape->sides.tri[i] = shape->cleaned.new_index[shape->sides.tri[i]];
  }
done:
  noli_mesh_destroy(source->context, &mesh);
  return status;
}

void noli_scene_release_shape(NoliContext* context, NoliSceneShape* shape) {
  noli_mesh_destroy(context, &shape->source);
  noli_mesh_destroy(context, &shape->mesh);
  noli_mesh_destroy(context, &shape->proxy);
  noli_free(context, shape->new_index);
  noli_free(context, shape->path);
  noli_mesh_sets_free(context, &shape->sets);
  noli_mesh_sides_free(context, &shape->sides);
  noli_mesh_cleaned_free(context, &shape->cleaned);
  shape->new_index = NULL;
}
