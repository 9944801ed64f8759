#include "mesh/parts.h"

#include "base/sort.h"
#include "mesh/polygon.h"
#include "mesh/topology.h"

#include <stdio.h>
#include <string.h>

void noli_parts_free(NoliContext* context, NoliMeshParts* parts) {
  noli_array_free(context, &parts->x);
  noli_array_free(context, &parts->tet);
  noli_array_free(context, &parts->tri);
  noli_array_free(context, &parts->edge);
  noli_array_free(context, &parts->point);
  noli_array_free(context, &parts->tet_tag);
  noli_array_free(context, &parts->tri_tag);
  noli_array_free(context, &parts->curve);
  noli_array_free(context, &parts->bent);
  for (int64_t i = 0; i < parts->sets.name.count; i++) {
    noli_free(context, parts->sets.name.data[i]);
  }
  noli_array_free(context, &parts->sets.name);
  noli_array_free(context, &parts->sets.member);
  noli_array_free(context, &parts->sets.face);
  noli_array_free(context, &parts->polygon);
  noli_array_free(context, &parts->corner);
  noli_looks_parts_free(context, &parts->looks);
}

// ---- what is not used

void noli_parts_note_unused(NoliMeshParts* parts, const char* kind, NoliSpan name) {
  NoliPartsUnused* unused = &parts->unused;
  size_t length = strlen(unused->text), left = sizeof unused->text - length;
  enum { LENGTH_OF_ONE = 90 };
  if (left < LENGTH_OF_ONE) {
    unused->n_more++;
    return;
  }
  snprintf(unused->text + length, left, "%s%s%s%s", length > 0 ? ", " : "", kind,
           name.n > 0 ? " " : "", name.n > 0 ? noli_show(name).text : "");
}

void noli_parts_log_unused(NoliContext* context, const char* path, const NoliMeshParts* parts) {
  const NoliPartsUnused* unused = &parts->unused;
  char more[40] = "";
  if (unused->n_more > 0) {
    snprintf(more, sizeof more, " and %lld more", (long long)unused->n_more);
  }
  if (unused->text[0] != '\0') {
    noli_log(context, NOLI_LOG_INFO, "%s: not used: %s%s", path, unused->text, more);
  }
}

// ---- sets

NoliStatus noli_parts_add_set(NoliContext* context, NoliMeshParts* parts, NoliSpan name) {
  NoliStatus status = NOLI_OK;
  char* copy = NULL;
  NOLI_CHECK(context, parts->sets.name.count < INT32_MAX, NOLI_ERROR_TOO_LARGE, "too many sets");
  NOLI_NEW(context, copy, name.n + 1);
  memcpy(copy, name.at, (size_t)name.n);
  copy[name.n] = '\0';
  NOLI_PUSH(context, &parts->sets.name, copy);
  copy = NULL;
done:
  noli_free(context, copy);
  return status;
}

NoliStatus noli_parts_add_member(NoliContext* context, NoliMeshParts* parts, int32_t set,
                                 int32_t vertex) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(context, &parts->sets.member, ((NoliSetMember){set, vertex}));
done:
  return status;
}

static NoliStatus add_set_face(NoliContext* context, NoliMeshParts* parts, int32_t set, int32_t tri,
                               const int32_t vertex[3]) {
  NoliStatus status = NOLI_OK;
  NoliSetFace face = {.set = set, .tri = tri, .vertex = {vertex[0], vertex[1], vertex[2]}};
  NOLI_PUSH(context, &parts->sets.face, face);
  for (int i = 0; i < 3; i++) {
    NOLI_TRY(noli_parts_add_member(context, parts, set, vertex[i]));
  }
done:
  return status;
}

NoliStatus noli_parts_add_face(NoliContext* context, NoliMeshParts* parts, int32_t set,
                               const int32_t vertex[3]) {
  return add_set_face(context, parts, set, NOLI_NULL_INDEX, vertex);
}

NoliStatus noli_parts_add_triangles_to_set(NoliContext* context, NoliMeshParts* parts, int32_t set,
                                           int64_t first, int64_t n) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, first + n <= INT32_MAX, NOLI_ERROR_TOO_LARGE, "too many triangles");
  for (int64_t t = first; t < first + n; t++) {
    NOLI_TRY(add_set_face(context, parts, set, (int32_t)t, parts->tri.data + 3 * t));
  }
done:
  return status;
}

NoliStatus noli_parts_to_sides(NoliContext* context, NoliMeshParts* parts, NoliMeshSides* sides) {
  NoliStatus status = NOLI_OK;
  int64_t n = parts->sets.name.count, n_face = parts->sets.face.count;
  const NoliSetFace* face = parts->sets.face.data;
  *sides = (NoliMeshSides){.n = (int32_t)n};
  NOLI_NEW_ZERO(context, sides->first, n + 1);
  NOLI_NEW(context, sides->tri, 3 * n_face);
  for (int64_t i = 0; i < n_face; i++) {
    sides->first[face[i].set + 1]++;
  }
  for (int64_t s = 0; s < n; s++) {
    sides->first[s + 1] += sides->first[s];
  }

  // place them from the end of each set, which moves to its beginning
  for (int64_t i = n_face - 1; i >= 0; i--) {
    int64_t at = --sides->first[face[i].set + 1];
    memcpy(sides->tri + 3 * at, face[i].vertex, sizeof face[i].vertex);
  }
  memmove(sides->first, sides->first + 1, (size_t)n * sizeof *sides->first);
  sides->first[n] = n_face;
done:
  if (status != NOLI_OK) {
    noli_mesh_sides_free(context, sides);
  }
  return status;
}

void noli_mesh_sides_free(NoliContext* context, NoliMeshSides* sides) {
  if (context == NULL || sides == NULL) {
    return;
  }
  noli_free(context, sides->first);
  noli_free(context, sides->tri);
  *sides = (NoliMeshSides){0};
}

static int compare_members(const void* one, const void* other) {
  const NoliSetMember *a = one, *b = other;
  int order = noli_order(a->set, b->set);
  return order != 0 ? order : noli_order(a->vertex, b->vertex);
}

NoliStatus noli_parts_to_sets(NoliContext* context, NoliMeshParts* parts, NoliMeshSets* sets) {
  NoliStatus status = NOLI_OK;
  NoliPartsSets* from = &parts->sets;
  int64_t n = from->name.count, n_member = from->member.count, used = 0;
  const NoliSetMember* member = from->member.data;
  *sets = (NoliMeshSets){0};
  NOLI_NEW_ZERO(context, sets->first, n + 1);
  NOLI_NEW_ZERO(context, sets->name, n);
  NOLI_NEW(context, sets->vertex, n_member);
  noli_sort(from->member.data, n_member, sizeof *member, compare_members);
  for (int64_t i = 0; i < n_member; i++) {
    bool again = i > 0 && compare_members(&member[i - 1], &member[i]) == 0;
    if (!again && member[i].vertex != NOLI_NULL_INDEX) {
      sets->vertex[used++] = member[i].vertex;
      sets->first[member[i].set + 1]++;
    }
  }

  for (int64_t s = 0; s < n; s++) {
    sets->first[s + 1] += sets->first[s];
    sets->name[s] = from->name.data[s];
  }
  sets->n = (int32_t)n;
  from->name.count = from->member.count = 0;
done:
  if (status != NOLI_OK) {
    noli_mesh_sets_free(context, sets);
  }
  return status;
}

void noli_mesh_sets_free(NoliContext* context, NoliMeshSets* sets) {
  if (context == NULL || sets == NULL) {
    return;
  }
  for (int32_t s = 0; s < sets->n; s++) {
    noli_free(context, sets->name[s]);
  }
  noli_free(context, sets->name);
  noli_free(context, sets->first);
  noli_free(context, sets->vertex);
  *sets = (NoliMeshSets){0};
}

NoliStatus noli_parts_add_vertices(NoliContext* context, NoliMeshParts* parts, int64_t n,
                                   double** x) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_array_reserve(context, &parts->x, parts->x.count + 3 * n));
  *x = parts->x.data + parts->x.count;
  parts->x.count += 3 * n;
done:
  return status;
}

NoliStatus noli_parts_add_cell(NoliContext* context, NoliMeshParts* parts, int32_t n_vertex,
                               const int32_t* vertex, int32_t tag) {
  NoliStatus status = NOLI_OK;
  switch (n_vertex) {
  case 1:
    NOLI_PUSH(context, &parts->point, vertex[0]);
    break;
  case 2:
    NOLI_PUSH(context, &parts->edge, vertex[0]);
    NOLI_PUSH(context, &parts->edge, vertex[1]);
    break;
  case 3:
    for (int i = 0; i < 3; i++) {
      NOLI_PUSH(context, &parts->tri, vertex[i]);
    }
    NOLI_PUSH(context, &parts->tri_tag, tag);
    break;
  case 4:
    for (int i = 0; i < 4; i++) {
      NOLI_PUSH(context, &parts->tet, vertex[i]);
    }
    NOLI_PUSH(context, &parts->tet_tag, tag);
    break;
  default:
    status = noli_fail(context, NOLI_ERROR_INTERNAL, "a cell of %d vertices", n_vertex);
  }
done:
  return status;
}

static bool repeats(int64_t n, const int32_t* vertex, int64_t i) {
  return vertex[i] == vertex[i > 0 ? i - 1 : n - 1];
}

int64_t noli_parts_polygon_triangles(int64_t n, const int32_t* vertex) {
  int64_t n_corner = 0;
  for (int64_t i = 0; i < n; i++) {
    n_corner += repeats(n, vertex, i) ? 0 : 1;
  }
  return n <= 3 ? n - 2 : n_corner >= 3 ? n_corner - 2 : 1;
}

NoliStatus noli_parts_add_polygon(NoliContext* context, NoliMeshParts* parts, int64_t n,
                                  const int32_t* vertex, int32_t tag) {
  NoliStatus status = NOLI_OK;
  NoliPartsPolygon polygon = {parts->tri.count / 3, parts->corner.count, 0};
  NOLI_CHECK(context, n <= INT32_MAX, NOLI_ERROR_TOO_LARGE, "a polygon of %lld vertices",
             (long long)n);
  for (int64_t i = 0; n > 3 && i < n; i++) {
    if (!repeats(n, vertex, i)) {
      NOLI_PUSH(context, &parts->corner, vertex[i]);
      polygon.n++;
    }
  }

  // a fan takes the places; the checks of meshes find what is wrong with less than a triangle
  bool is_polygon = polygon.n >= 3;
  const int32_t* corner = is_polygon ? parts->corner.data + polygon.first_corner : vertex;
  int64_t n_corner = is_polygon ? polygon.n : n < 3 ? n : 3;
  for (int64_t i = 2; i < n_corner; i++) {
    const int32_t tri[3] = {corner[0], corner[i - 1], corner[i]};
    NOLI_TRY(noli_parts_add_cell(context, parts, 3, tri, tag));
  }
  if (polygon.n > 3) {
    NOLI_PUSH(context, &parts->polygon, polygon);
  } else {
    parts->corner.count = polygon.first_corner;
  }
done:
  return status;
}

// Polygons of a file that were not cut as they are, and where the first is.
typedef struct Odd {
  int64_t n;
  double at[3];
  double worst; // distance from the plane, relative to the size
} Odd;

static void count_odd(Odd* odd, const double x[3], double how) {
  if (odd->n == 0 || how > odd->worst) {
    memcpy(odd->at, x, sizeof odd->at);
    odd->worst = how;
  }
  odd->n++;
}

static void log_odd(NoliContext* context, const char* path, const NoliMeshParts* parts,
                    const Odd* bent, const Odd* crossed) {
  if (bent->n > 0) {
    noli_log(context, NOLI_LOG_WARNING,
             "%s: %lld of %lld polygons are not planar, the worst by %.2g of its size at (%g, %g, "
             "%g): their triangles depend on how they are cut",
             path, (long long)bent->n, (long long)parts->polygon.count, bent->worst, bent->at[0],
             bent->at[1], bent->at[2]);
  }
  if (crossed->n > 0) {
    noli_log(context, NOLI_LOG_WARNING,
             "%s: %lld of %lld polygons cross themselves or have no area, as at (%g, %g, %g): they "
             "become fans of their first vertices",
             path, (long long)crossed->n, (long long)parts->polygon.count, crossed->at[0],
             crossed->at[1], crossed->at[2]);
  }
}

// Replaces the fans of polygons by triangles that lie in the polygons, also in sets.
static NoliStatus cut_polygons(NoliContext* context, const char* path, NoliMeshParts* parts) {
  // files round coordinates, but not to this
  const double planar = 1e-3;
  NoliStatus status = NOLI_OK;
  Odd bent = {0}, crossed = {0};
  NOLI_ARRAY(double) x = {0};
  NOLI_ARRAY(int32_t) tri = {0};
  for (int64_t p = 0; p < parts->polygon.count; p++) {
    NoliPartsPolygon polygon = parts->polygon.data[p];
    const int32_t* corner = parts->corner.data + polygon.first_corner;
    NoliPolygonShape shape;
    NOLI_TRY(noli_array_reserve(context, &x, 3 * (int64_t)polygon.n));
    NOLI_TRY(noli_array_reserve(context, &tri, 3 * (int64_t)polygon.n));
    for (int64_t i = 0; i < polygon.n; i++) {
      memcpy(x.data + 3 * i, parts->x.data + 3 * (int64_t)corner[i], 3 * sizeof *x.data);
    }
    NOLI_TRY(noli_polygon_split(context, x.data, polygon.n, tri.data, &shape));
    for (int64_t i = 0; i < 3 * ((int64_t)polygon.n - 2); i++) {
      parts->tri.data[3 * polygon.first_tri + i] = corner[tri.data[i]];
    }
    if (!shape.is_simple) {
      count_odd(&crossed, x.data, 0.0);
    } else if (shape.off_plane > planar * shape.size) {
      count_odd(&bent, x.data, shape.off_plane / shape.size);
    }
  }

  for (int64_t i = 0; i < parts->sets.face.count; i++) {
    NoliSetFace* face = &parts->sets.face.data[i];
    if (face->tri != NOLI_NULL_INDEX) {
      memcpy(face->vertex, parts->tri.data + 3 * (int64_t)face->tri, sizeof face->vertex);
    }
  }

  log_odd(context, path, parts, &bent, &crossed);
done:
  noli_array_free(context, &x);
  noli_array_free(context, &tri);
  return status;
}

// Keeps the segments that are not edges of a triangle or tetrahedron.
static NoliStatus keep_lone_segments(NoliContext* context, NoliMesh* mesh) {
  NoliStatus status = NOLI_OK;
  int32_t *pair = NULL, *order = NULL;
  uint8_t* covered = NULL;
  if (mesh->n_edge == 0 || (mesh->n_tet == 0 && mesh->n_tri == 0)) {
    return NOLI_OK;
  }
  int64_t n_side = 6 * (int64_t)mesh->n_tet + 3 * (int64_t)mesh->n_tri;
  int64_t n_all = n_side + mesh->n_edge;
  NOLI_CHECK(context, n_all <= INT32_MAX, NOLI_ERROR_TOO_LARGE, "too many edges: %lld",
             (long long)n_all);
  NOLI_NEW(context, pair, 2 * n_all);
  NOLI_NEW(context, order, n_all);
  noli_list_sides(mesh, pair);
  NOLI_TRY(noli_sort_tuples(context, pair, 2, (int32_t)n_all, order));

  // the order is stable: a side of a cell comes first among equals
  NOLI_NEW_ZERO(context, covered, mesh->n_edge);
  const int32_t* leader = order;
  for (const int32_t* k = order; k < order + n_all; k++) {
    if (noli_compare_tuples(pair + 2 * (int64_t)*leader, pair + 2 * (int64_t)*k, 2) != 0) {
      leader = k;
    }
    if (*k >= n_side) {
      covered[*k - n_side] = *leader < n_side;
    }
  }

  // move the others to the front
  int32_t n_kept = 0;
  for (int32_t e = 0; e < mesh->n_edge; e++) {
    if (!covered[e]) {
      memmove(mesh->edge + 2 * (int64_t)n_kept++, mesh->edge + 2 * (int64_t)e, 2 * sizeof(int32_t));
    }
  }
  mesh->n_edge = n_kept;
done:
  noli_free(context, pair);
  noli_free(context, order);
  noli_free(context, covered);
  return status;
}

// Keeps the points that are not vertices of another cell.
static NoliStatus keep_lone_points(NoliContext* context, NoliMesh* mesh) {
  NoliStatus status = NOLI_OK;
  uint8_t* used = NULL;
  NoliCells cells[NOLI_N_CELL_KINDS];
  noli_mesh_cells(mesh, cells);
  if (mesh->n_point == 0) {
    return NOLI_OK;
  }
  NOLI_NEW_ZERO(context, used, mesh->n_vert);
  for (int kind = 0; kind < NOLI_N_CELL_KINDS - 1; kind++) {
    for (int64_t i = 0; i < (int64_t)cells[kind].n * cells[kind].width; i++) {
      used[cells[kind].vertex[i]] = 1;
    }
  }
  int32_t n_kept = 0;
  for (int32_t p = 0; p < mesh->n_point; p++) {
    if (!used[mesh->point[p]]) {
      mesh->point[n_kept++] = mesh->point[p];
    }
  }
  mesh->n_point = n_kept;
done:
  noli_free(context, used);
  return status;
}

enum { USE_NONE, USE_CURVE, USE_VERTEX };

// Sets use (n_vert): whether a cell has the node as a vertex, only a curve has it, or nothing has.
static NoliStatus mark_uses(NoliContext* context, const char* path, const NoliMesh* mesh,
                            const NoliMeshParts* parts, uint8_t* use) {
  NoliStatus status = NOLI_OK;
  NoliCells cells[NOLI_N_CELL_KINDS];
  noli_mesh_cells(mesh, cells);
  for (int64_t i = 0; i < parts->curve.count; i++) {
    use[parts->curve.data[i]] = USE_CURVE;
  }
  for (int kind = 0; kind < NOLI_N_CELL_KINDS; kind++) {
    for (int64_t i = 0; i < (int64_t)cells[kind].n * cells[kind].width; i++) {
      // points that stand on nodes of curves are points of the file's geometry, not of the mesh
      uint8_t* node = &use[cells[kind].vertex[i]];
      *node = kind == 3 && *node == USE_CURVE ? USE_CURVE : USE_VERTEX;
    }
  }
  for (int64_t i = 0; i < parts->bent.count; i++) {
    NOLI_CHECK(context, use[parts->bent.data[i]] != USE_NONE, NOLI_ERROR_FORMAT,
               "%s: a curved triangle or segment bounds no curved tetrahedron", path);
  }
done:
  return status;
}

// Moves the nodes that only curves use from the vertices to the curve nodes. A vertex that is also
// a curve node, as at hanging nodes, is copied.
static NoliStatus split_nodes(NoliContext* context, const char* path, NoliMesh* mesh,
                              NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  uint8_t* use = NULL;
  int32_t *vertex = NULL, *curve = NULL, n_vert = 0, n_curve = 0, n_point = 0;
  NoliCells cells[NOLI_N_CELL_KINDS];
  NOLI_NEW_ZERO(context, use, mesh->n_vert);
  NOLI_NEW(context, vertex, mesh->n_vert);
  NOLI_NEW(context, curve, mesh->n_vert);
  NOLI_TRY(mark_uses(context, path, mesh, parts, use));

  // number the curve nodes in the order of their use
  memset(curve, 0xff, (size_t)mesh->n_vert * sizeof *curve);
  for (int64_t i = 0; i < parts->curve.count; i++) {
    int32_t* number = &curve[parts->curve.data[i]];
    *number = *number < 0 ? n_curve++ : *number;
  }

  // split the positions
  NOLI_NEW(context, mesh->curve_x, 3 * (int64_t)n_curve);
  for (int64_t v = 0; v < mesh->n_vert; v++) {
    if (curve[v] >= 0) {
      memcpy(mesh->curve_x + 3 * (int64_t)curve[v], mesh->x + 3 * v, 3 * sizeof *mesh->x);
    }
    vertex[v] = use[v] == USE_CURVE ? NOLI_NULL_INDEX : n_vert;
    if (use[v] != USE_CURVE) {
      memmove(mesh->x + 3 * (int64_t)n_vert++, mesh->x + 3 * v, 3 * sizeof *mesh->x);
    }
  }

  // renumber the cells, without points at curve nodes
  for (int32_t p = 0; p < mesh->n_point; p++) {
    if (use[mesh->point[p]] == USE_VERTEX) {
      mesh->point[n_point++] = mesh->point[p];
    }
  }
  mesh->n_point = n_point;
  noli_mesh_cells(mesh, cells);
  for (int kind = 0; kind < NOLI_N_CELL_KINDS; kind++) {
    for (int64_t i = 0; i < (int64_t)cells[kind].n * cells[kind].width; i++) {
      cells[kind].vertex[i] = vertex[cells[kind].vertex[i]];
    }
  }
  for (int64_t i = 0; i < parts->curve.count; i++) {
    parts->curve.data[i] = curve[parts->curve.data[i]];
  }

  for (int64_t i = 0; i < parts->sets.member.count; i++) {
    parts->sets.member.data[i].vertex = vertex[parts->sets.member.data[i].vertex];
  }
  for (int64_t i = 0; i < parts->sets.face.count; i++) {
    int32_t* corner = parts->sets.face.data[i].vertex;
    for (int k = 0; k < 3; k++) {
      corner[k] = vertex[corner[k]];
    }
  }

  // the mesh takes over the curve
  mesh->n_vert = n_vert;
  mesh->n_curve = n_curve;
  mesh->order = parts->order;
  mesh->curve = parts->curve.data;
  parts->curve.data = NULL;
done:
  noli_free(context, use);
  noli_free(context, vertex);
  noli_free(context, curve);
  return status;
}

// Releases the arrays of absent kinds, and tags if every one is zero.
static void drop_empty(NoliContext* context, NoliMesh* mesh) {
  bool tagged = false;
  for (int32_t t = 0; t < mesh->n_tet && !tagged; t++) {
    tagged = mesh->tet_tag[t] != 0;
  }
  for (int32_t t = 0; t < mesh->n_tri && !tagged; t++) {
    tagged = mesh->tri_tag[t] != 0;
  }
  struct {
    int32_t** array;
    bool kept;
  } arrays[] = {
      {&mesh->tet, mesh->n_tet > 0},   {&mesh->tet_tag, mesh->n_tet > 0 && tagged},
      {&mesh->tri, mesh->n_tri > 0},   {&mesh->tri_tag, mesh->n_tri > 0 && tagged},
      {&mesh->edge, mesh->n_edge > 0}, {&mesh->point, mesh->n_point > 0},
  };
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
    if (!arrays[i].kept) {
      noli_mesh_free_array(context, arrays[i].array);
    }
  }
}

NoliStatus noli_parts_to_mesh(NoliContext* context, const char* path, NoliMeshParts* parts,
                              NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  NoliMesh* made = NULL;
  int64_t n_vert = parts->x.count / 3, n_tet = parts->tet.count / 4;
  int64_t n_tri = parts->tri.count / 3, n_edge = parts->edge.count / 2;
  int64_t n_point = parts->point.count;
  NOLI_CHECK(context, n_vert > 0, NOLI_ERROR_FORMAT, "%s: the file has no vertices", path);
  NOLI_CHECK(context,
             n_vert <= INT32_MAX && n_tet <= INT32_MAX && n_tri <= INT32_MAX &&
                 n_edge <= INT32_MAX && n_point <= INT32_MAX,
             NOLI_ERROR_TOO_LARGE, "%s: the mesh exceeds the index range", path);
  NOLI_TRY(cut_polygons(context, path, parts));

  // the mesh takes over the arrays
  NOLI_NEW_ZERO(context, made, 1);
  *made = (NoliMesh){
      .n_vert = (int32_t)n_vert,
      .n_tet = (int32_t)n_tet,
      .n_tri = (int32_t)n_tri,
      .n_edge = (int32_t)n_edge,
      .n_point = (int32_t)n_point,
      .x = parts->x.data,
      .tet = parts->tet.data,
      .tri = parts->tri.data,
      .edge = parts->edge.data,
      .point = parts->point.data,
      .tet_tag = parts->tet_tag.data,
      .tri_tag = parts->tri_tag.data,
  };
  NoliMeshParts rest = {.order = parts->order, .sets = parts->sets, .looks = parts->looks};
  rest.curve.data = parts->curve.data;
  rest.curve.count = parts->curve.count;
  rest.bent.data = parts->bent.data;
  rest.bent.count = parts->bent.count;
  noli_array_free(context, &parts->polygon);
  noli_array_free(context, &parts->corner);
  *parts = rest;

  // curves and redundant cells
  if (parts->order > 1 || parts->bent.count > 0) {
    NOLI_TRY(split_nodes(context, path, made, parts));
  }
  NOLI_TRY(keep_lone_segments(context, made));
  NOLI_TRY(keep_lone_points(context, made));
  drop_empty(context, made);
  *mesh = made;
  made = NULL;
done:
  noli_mesh_destroy(context, &made);
  return status;
}
