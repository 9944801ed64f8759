#include "scene/select.h"

#include "base/sort.h"
#include "mesh/topology.h"
#include "noli/extend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

// Faces of boxes hit the vertices that are meant in spite of rounding: relative to the diagonal.
#define SLACK 1e-9

// A body while one region after the other marks its vertices, or the centres of its elements.
typedef struct Marker {
  const NoliMesh* mesh;
  const NoliSpace* space; // NULL: linear
  int32_t n_node;         // vertices of the mesh, or nodes of the space
  const double* x;        // (n_node x 3)
  double* centre;         // x of elements, owned; else NULL
  double low[3], high[3];
  double slack;
  bool* surface;   // (n_node); NULL until it is needed
  bool* in_region; // (n_node) by the present region
  bool* selected;  // (n_node) by any
} Marker;

static void release_marker(NoliContext* context, Marker* marker) {
  noli_free(context, marker->centre);
  noli_free(context, marker->surface);
  noli_free(context, marker->in_region);
  noli_free(context, marker->selected);
}

// `n` places x are marked, of a mesh with n_bound places that its box is around.
static NoliStatus start_marker(NoliContext* context, int32_t n, const double* x, int32_t n_bound,
                               const double* bound, Marker* marker) {
  NoliStatus status = NOLI_OK;
  marker->n_node = n;
  marker->x = x;
  noli_mesh_bounds(n_bound, bound, marker->low, marker->high);
  double diagonal = 0.0;
  for (int i = 0; i < 3; i++) {
    diagonal = hypot(diagonal, marker->high[i] - marker->low[i]);
  }
  marker->slack = SLACK * diagonal;
  NOLI_NEW(context, marker->in_region, marker->n_node);
  NOLI_NEW_ZERO(context, marker->selected, marker->n_node);
done:
  return status;
}

static NoliStatus make_marker(NoliContext* context, const NoliSceneTarget* target, Marker* marker) {
  int32_t n = noli_scene_target_count(target);
  const double* x = noli_scene_target_positions(target);
  marker->mesh = target->mesh;
  marker->space = target->space;
  return start_marker(context, n, x, n, x, marker);
}

static const double* select_vertex(const Marker* marker, int64_t v) {
  return marker->x + 3 * v;
}

static void mark_box(Marker* marker, const double low[3], const double high[3]) {
  for (int32_t v = 0; v < marker->n_node; v++) {
    const double* x = select_vertex(marker, v);
    bool inside = true;
    for (int i = 0; i < 3; i++) {
      inside = inside && x[i] >= low[i] - marker->slack && x[i] <= high[i] + marker->slack;
    }
    marker->in_region[v] = inside;
  }
}

static NoliStatus select_box(const NoliSceneSource* source, const NoliSceneNode* node,
                             Marker* marker) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode min = noli_scene_member(node, "min"), max = noli_scene_member(node, "max");
  NoliSceneNode relative = noli_scene_member(node, "relative");
  double low[3], high[3];
  noli_scene_vector(&min, low);
  noli_scene_vector(&max, high);
  for (int i = 0; i < 3; i++) {
    NOLI_SCENE_CHECK(source, node, low[i] <= high[i], "min must not exceed max, got %g and %g",
                     low[i], high[i]);
    if (noli_scene_true(&relative)) {
      double extent = marker->high[i] - marker->low[i];
      low[i] = marker->low[i] + extent * low[i];
      high[i] = marker->low[i] + extent * high[i];
    }
  }
  mark_box(marker, low, high);
done:
  return status;
}

static NoliStatus select_sphere(const NoliSceneSource* source, const NoliSceneNode* node,
                                Marker* marker) {
  (void)source;
  NoliSceneNode center = noli_scene_member(node, "center");
  NoliSceneNode radius = noli_scene_member(node, "radius");
  double c[3];
  noli_scene_vector(&center, c);
  for (int32_t v = 0; v < marker->n_node; v++) {
    const double* x = select_vertex(marker, v);
    double distance = hypot(hypot(x[0] - c[0], x[1] - c[1]), x[2] - c[2]);
    marker->in_region[v] = distance <= noli_scene_number(&radius) + marker->slack;
  }
  return NOLI_OK;
}

static NoliStatus select_half_space(const NoliSceneSource* source, const NoliSceneNode* node,
                                    Marker* marker) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode origin = noli_scene_member(node, "origin");
  NoliSceneNode normal = noli_scene_member(node, "normal");
  double o[3], n[3], length;
  noli_scene_vector(&origin, o);
  NOLI_TRY(noli_scene_read_direction(source, &normal, n, &length));
  for (int32_t v = 0; v < marker->n_node; v++) {
    const double* x = select_vertex(marker, v);
    double height = n[0] * (x[0] - o[0]) + n[1] * (x[1] - o[1]) + n[2] * (x[2] - o[2]);
    marker->in_region[v] = height >= -marker->slack * length;
  }
done:
  return status;
}

// `node` is the "side" member of its region, whose "depth" belongs to it.
static NoliStatus select_side(const NoliSceneSource* source, const NoliSceneNode* node,
                              Marker* marker) {
  (void)source;
  NoliSceneNode depth = noli_scene_member(node->parent, "depth");
  const char* side = noli_scene_string(node);
  int axis = side[1] - 'x';
  double low[3], high[3];
  memcpy(low, marker->low, sizeof low);
  memcpy(high, marker->high, sizeof high);
  double thickness = noli_scene_number(&depth) * (high[axis] - low[axis]);
  if (side[0] == '-') {
    high[axis] = low[axis] + thickness;
  } else {
    low[axis] = high[axis] - thickness;
  }
  mark_box(marker, low, high);
  return NOLI_OK;
}

static void mark_tagged(const int32_t* cell, const int32_t* cell_tag, int32_t n_cells, int size,
                        int32_t tag, const int32_t* new_index, bool* marked) {
  for (int64_t c = 0; cell_tag != NULL && c < n_cells; c++) {
    for (int k = 0; cell_tag[c] == tag && k < size; k++) {
      int32_t v = new_index[cell[size * c + k]];
      if (v != NOLI_NULL_INDEX) {
        marked[v] = true;
      }
    }
  }
}

// The key of a face of vertices of the body: in ascending order.
typedef struct FaceKey {
  int32_t vertex[3];
} FaceKey;

static int compare_faces(const void* a, const void* b) {
  return noli_compare_tuples(((const FaceKey*)a)->vertex, ((const FaceKey*)b)->vertex, 3);
}

static FaceKey face_key(int32_t a, int32_t b, int32_t c) {
  FaceKey key;
  noli_ascending_tuples((const int32_t[]){a, b, c}, 3, 1, key.vertex);
  return key;
}

// Marks the nodes of a face of a tetrahedron, the one opposite to `corner`, or all its nodes.
static void select_mark_nodes(const NoliSpace* space, int32_t lattice[][4], int64_t tet,
                              int32_t corner, bool* marked) {
  for (int32_t a = 0; a < space->n_local; a++) {
    if (corner == NOLI_NULL_INDEX || lattice[a][corner] == 0) {
      marked[space->node[tet * space->n_local + a]] = true;
    }
  }
}

// Nodes of tagged tetrahedra, which are numbered as in the file, and of tagged triangles.
static NoliStatus mark_tagged_nodes(NoliContext* context, const NoliSceneShape* shape, int32_t tag,
                                    Marker* marker) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = shape->source;
  const NoliSpace* space = marker->space;
  FaceKey* face = NULL;
  int32_t n_face = 0, lattice[NOLI_TET_NODES_MAX][4];
  noli_tet_lattice(space->order, lattice);
  NOLI_NEW(context, face, mesh->n_tri);
  for (int64_t t = 0; mesh->tri_tag != NULL && t < mesh->n_tri; t++) {
    if (mesh->tri_tag[t] == tag) {
      const int32_t* tri = mesh->tri + 3 * t;
      face[n_face++] =
          face_key(shape->new_index[tri[0]], shape->new_index[tri[1]], shape->new_index[tri[2]]);
    }
  }

  noli_sort(face, n_face, sizeof *face, compare_faces);
  for (int64_t t = 0; t < space->n_tet; t++) {
    if (mesh->tet_tag != NULL && t < mesh->n_tet && mesh->tet_tag[t] == tag) {
      select_mark_nodes(space, lattice, t, NOLI_NULL_INDEX, marker->in_region);
    }
    const int32_t* node = space->node + t * space->n_local;
    for (int32_t c = 0; n_face > 0 && c < 4; c++) {
      FaceKey key = face_key(node[(c + 1) % 4], node[(c + 2) % 4], node[(c + 3) % 4]);
      if (noli_find_sorted(&key, face, n_face, sizeof *face, compare_faces) != NULL) {
        select_mark_nodes(space, lattice, t, c, marker->in_region);
      }
    }
  }
done:
  noli_free(context, face);
  return status;
}

static NoliStatus select_tag(NoliContext* context, const NoliSceneNode* node,
                             const NoliSceneShape* shape, Marker* marker) {
  const NoliMesh* mesh = shape->source;
  int32_t tag = (int32_t)noli_scene_number(node);
  memset(marker->in_region, 0, (size_t)marker->n_node * sizeof *marker->in_region);
  mark_tagged(mesh->tet, mesh->tet_tag, mesh->n_tet, 4, tag, shape->new_index, marker->in_region);
  mark_tagged(mesh->tri, mesh->tri_tag, mesh->n_tri, 3, tag, shape->new_index, marker->in_region);
  return marker->space != NULL ? mark_tagged_nodes(context, shape, tag, marker) : NOLI_OK;
}

// With the vertices of a face of the boundary, or of a tetrahedron, its nodes are meant too.
static NoliStatus mark_nodes_between(NoliContext* context, Marker* marker) {
  NoliStatus status = NOLI_OK;
  const NoliSpace* space = marker->space;
  uint8_t* boundary = NULL;
  int32_t lattice[NOLI_TET_NODES_MAX][4];
  noli_tet_lattice(space->order, lattice);
  NOLI_NEW(context, boundary, 4 * (int64_t)space->n_tet);
  NOLI_TRY(noli_tet_boundary(context, space->n_tet, space->node, space->n_local, boundary));

  for (int64_t t = 0; t < space->n_tet; t++) {
    bool named[4], all = true;
    for (int32_t c = 0; c < 4; c++) {
      named[c] = marker->in_region[space->node[t * space->n_local + c]];
      all = all && named[c];
    }
    if (all) {
      select_mark_nodes(space, lattice, t, NOLI_NULL_INDEX, marker->in_region);
    }
    for (int32_t c = 0; c < 4; c++) {
      if (boundary[4 * t + c] && named[(c + 1) % 4] && named[(c + 2) % 4] && named[(c + 3) % 4]) {
        select_mark_nodes(space, lattice, t, c, marker->in_region);
      }
    }
  }
done:
  noli_free(context, boundary);
  return status;
}

static NoliStatus select_vertices(const NoliSceneSource* source, const NoliSceneNode* node,
                                  const NoliSceneShape* shape, Marker* marker) {
  NoliStatus status = NOLI_OK;
  memset(marker->in_region, 0, (size_t)marker->n_node * sizeof *marker->in_region);
  for (size_t i = 0; i < noli_scene_size(node); i++) {
    NoliSceneNode item = noli_scene_item(node, i);
    int32_t v = (int32_t)noli_scene_number(&item);
    NOLI_SCENE_CHECK(source, &item, v < shape->source->n_vert,
                     "there is no vertex %d; the mesh has %d", (int)v, (int)shape->source->n_vert);
    NOLI_SCENE_CHECK(source, &item, shape->new_index[v] != NOLI_NULL_INDEX,
                     "vertex %d belongs to no cell that takes part", (int)v);
    marker->in_region[shape->new_index[v]] = true;
  }
  if (marker->space != NULL) {
    NOLI_TRY(mark_nodes_between(source->context, marker));
  }
done:
  return status;
}

// Names are compared as written, then without case, which .inp files ignore.
static int32_t find_set(const NoliMeshSets* sets, const char* name) {
  for (int exact = 1; exact >= 0; exact--) {
    for (int32_t s = 0; s < sets->n; s++) {
      if ((exact ? strcmp(sets->name[s], name) : strcasecmp(sets->name[s], name)) == 0) {
        return s;
      }
    }
  }
  return NOLI_NULL_INDEX;
}

// Marks the vertices of a named set of the mesh file; none where the file has no such set.
static NoliStatus mark_set(const NoliSceneSource* source, const NoliSceneNode* node,
                           NoliSceneShape* shape, bool* marked) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_scene_read_sets(source, node, shape));
  int32_t set = find_set(&shape->sets, noli_scene_string(node));
  int64_t begin = set >= 0 ? shape->sets.first[set] : 0;
  int64_t end = set >= 0 ? shape->sets.first[set + 1] : 0;
  for (int64_t i = begin; i < end; i++) {
    int32_t v = shape->new_index[shape->sets.vertex[i]];
    if (v != NOLI_NULL_INDEX) {
      marked[v] = true;
    }
  }
done:
  return status;
}

static NoliStatus select_set(const NoliSceneSource* source, const NoliSceneNode* node,
                             NoliSceneShape* shape, Marker* marker) {
  NoliStatus status = NOLI_OK;
  memset(marker->in_region, 0, (size_t)marker->n_node * sizeof *marker->in_region);
  NOLI_TRY(mark_set(source, node, shape, marker->in_region));
  if (marker->space != NULL) {
    NOLI_TRY(mark_nodes_between(source->context, marker));
  }
done:
  return status;
}

typedef NoliStatus SelectRegionFn(const NoliSceneSource* source, const NoliSceneNode* node,
                                  Marker* marker);

// Regions that need positions only.
static const struct {
  const char* key;
  SelectRegionFn* select;
} regions[] = {
    {"box", select_box},
    {"sphere", select_sphere},
    {"half_space", select_half_space},
    {"side", select_side},
};

// Marks by position; leaves alone what is selected otherwise.
static NoliStatus mark_place(const NoliSceneSource* source, const NoliSceneNode* node,
                             Marker* marker) {
  NoliStatus status = NOLI_OK;
  for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
    NoliSceneNode region = noli_scene_member(node, regions[i].key);
    if (region.value != NULL) {
      NOLI_TRY(regions[i].select(source, &region, marker));
    }
  }
done:
  return status;
}

static NoliStatus mark_region(const NoliSceneSource* source, const NoliSceneNode* node,
                              NoliSceneShape* shape, Marker* marker) {
  NoliStatus status = NOLI_OK;
  if (json_is_string(node->value)) { // "all"
    memset(marker->in_region, 1, (size_t)marker->n_node * sizeof *marker->in_region);
    goto done;
  }
  NOLI_TRY(mark_place(source, node, marker));
  NoliSceneNode tag = noli_scene_member(node, "tag");
  if (tag.value != NULL) {
    NOLI_TRY(select_tag(source->context, &tag, shape, marker));
  }
  NoliSceneNode vertices = noli_scene_member(node, "vertices");
  if (vertices.value != NULL) {
    NOLI_TRY(select_vertices(source, &vertices, shape, marker));
  }
  NoliSceneNode set = noli_scene_member(node, "set");
  if (set.value != NULL) {
    NOLI_TRY(select_set(source, &set, shape, marker));
  }
done:
  return status;
}

static NoliStatus find_surface_nodes(NoliContext* context, Marker* marker) {
  NoliStatus status = NOLI_OK;
  const NoliSpace* space = marker->space;
  uint8_t* boundary = NULL;
  int32_t lattice[NOLI_TET_NODES_MAX][4];
  noli_tet_lattice(space->order, lattice);
  NOLI_NEW(context, boundary, 4 * (int64_t)space->n_tet);
  NOLI_TRY(noli_tet_boundary(context, space->n_tet, space->node, space->n_local, boundary));
  for (int64_t k = 0; k < 4 * (int64_t)space->n_tet; k++) {
    if (boundary[k]) {
      select_mark_nodes(space, lattice, k / 4, (int32_t)(k % 4), marker->surface);
    }
  }
done:
  noli_free(context, boundary);
  return status;
}

// Vertices of the boundary; of meshes without inside all of them.
static NoliStatus find_surface(NoliContext* context, bool flat, Marker* marker) {
  NoliStatus status = NOLI_OK;
  int32_t* tri = NULL; // or edges
  int32_t n_tri = 0;
  NOLI_NEW_ZERO(context, marker->surface, marker->n_node);
  if (flat) {
    NOLI_TRY(noli_mesh_outline(context, marker->mesh, &tri, &n_tri));
    for (int64_t i = 0; i < 2 * (int64_t)n_tri; i++) {
      marker->surface[tri[i]] = true;
    }
    goto done;
  }

  if (marker->mesh->n_tet == 0) {
    memset(marker->surface, 1, (size_t)marker->n_node * sizeof *marker->surface);
    goto done;
  }
  if (marker->space != NULL) {
    NOLI_TRY(find_surface_nodes(context, marker));
    goto done;
  }
  NOLI_TRY(noli_mesh_boundary(context, marker->mesh, &tri, &n_tri));
  for (int64_t i = 0; i < 3 * (int64_t)n_tri; i++) {
    marker->surface[tri[i]] = true;
  }
done:
  noli_mesh_free_array(context, &tri);
  return status;
}

// Adds one region to the selection; `*n_found` grows by the vertices it has in this body.
static NoliStatus select_add_region(const NoliSceneSource* source, const NoliSceneNode* node,
                                    NoliSceneShape* shape, Marker* marker, int64_t* n_found) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(mark_region(source, node, shape, marker));
  NoliSceneNode surface_only = noli_scene_member(node, "surface_only");
  if (noli_scene_true(&surface_only) && marker->surface == NULL) {
    NOLI_TRY(find_surface(source->context, shape->kind->planar, marker));
  }
  for (int32_t v = 0; v < marker->n_node; v++) {
    bool found = marker->in_region[v] && (!noli_scene_true(&surface_only) || marker->surface[v]);
    *n_found += found;
    marker->selected[v] = marker->selected[v] || found;
  }
done:
  return status;
}

static NoliStatus collect(NoliContext* context, const Marker* marker, NoliSceneTarget* target) {
  NoliStatus status = NOLI_OK;
  int32_t n = 0;
  for (int32_t v = 0; v < marker->n_node; v++) {
    n += marker->selected[v];
  }
  target->n_node = n;
  if (n < marker->n_node) {
    NOLI_NEW(context, target->node, n);
    n = 0;
    for (int32_t v = 0; v < marker->n_node; v++) {
      if (marker->selected[v]) {
        target->node[n++] = v;
      }
    }
  }
done:
  return status;
}

// The set of faces that a region names, or NOLI_NULL_INDEX.
static int32_t find_face_set(const NoliSceneNode* region, const NoliSceneShape* shape) {
  NoliSceneNode set = noli_scene_member(region, "set");
  if (set.value == NULL) {
    return NOLI_NULL_INDEX;
  }
  int32_t found = find_set(&shape->sets, noli_scene_string(&set));
  bool has_faces = found >= 0 && shape->sides.first[found] < shape->sides.first[found + 1];
  return has_faces ? found : NOLI_NULL_INDEX;
}

// Where all regions are sets of faces, a load acts on these only.
static NoliStatus collect_faces(NoliContext* context, const NoliSceneNode* selection,
                                NoliSceneTarget* target) {
  NoliStatus status = NOLI_OK;
  const NoliSceneShape* shape = target->shape;
  bool is_list = json_is_array(selection->value);
  size_t n_regions = is_list ? noli_scene_size(selection) : 1;
  int64_t n = 0;
  for (size_t i = 0; i < n_regions; i++) {
    NoliSceneNode region = is_list ? noli_scene_item(selection, i) : *selection;
    int32_t set = find_face_set(&region, shape);
    if (set < 0) {
      return NOLI_OK;
    }
    n += shape->sides.first[set + 1] - shape->sides.first[set];
  }

  NOLI_CHECK(context, n <= INT32_MAX, NOLI_ERROR_TOO_LARGE, "too many faces: %lld", (long long)n);
  NOLI_NEW(context, target->face, 3 * n);
  for (size_t i = 0; i < n_regions; i++) {
    NoliSceneNode region = is_list ? noli_scene_item(selection, i) : *selection;
    int32_t set = find_face_set(&region, shape);
    for (int64_t f = shape->sides.first[set]; f < shape->sides.first[set + 1]; f++) {
      int32_t* face = target->face + 3 * (int64_t)target->n_face;
      bool all = true;
      for (int k = 0; k < 3; k++) {
        face[k] = shape->new_index[shape->sides.tri[3 * f + k]];
        all = all && face[k] != NOLI_NULL_INDEX;
      }
      target->n_face += all;
    }
  }

  if (target->n_face == 0) {
    noli_free(context, target->face);
    target->face = NULL;
  }
done:
  return status;
}

// A set that the mesh of a body does not have, or that has no vertices or elements in it.
static NoliStatus fail_set(const NoliSceneSource* source, const NoliSceneNode* set,
                           const char* name, const NoliMeshSets* sets, const char* what) {
  NoliStatus status = NOLI_OK;
  const char* wanted = noli_scene_string(set);
  char known[400] = "";
  size_t used = 0;
  NOLI_SCENE_CHECK(source, set, sets->n > 0, "the mesh of \"%.80s\" has no named sets", name);
  NOLI_SCENE_CHECK(source, set, find_set(sets, wanted) < 0,
                   "the set \"%.80s\" has no %s in \"%.80s\"", wanted, what, name);
  for (int32_t s = 0; s < sets->n && used < sizeof known; s++) {
    used += (size_t)snprintf(known + used, sizeof known - used, "%s\"%.60s\"", s > 0 ? ", " : "",
                             sets->name[s]);
  }
  const char* nearest = noli_nearest(wanted, (const char* const*)sets->name, sets->n);
  NOLI_SCENE_CHECK(source, set, nearest == NULL,
                   "the mesh of \"%.80s\" has no set \"%.80s\"; did you mean \"%.80s\"? known: %s",
                   name, wanted, nearest, known);
  NOLI_SCENE_CHECK(source, set, false, "the mesh of \"%.80s\" has no set \"%.80s\"; known: %s",
                   name, wanted, known);
done:
  return status;
}

static NoliStatus fail_empty(const NoliSceneSource* source, const NoliSceneNode* region,
                             const NoliSceneTarget* target) {
  double low[3], high[3];
  NoliSceneNode set = noli_scene_member(region, "set");
  if (set.value != NULL) {
    return fail_set(source, &set, target->name, &target->shape->sets, "vertices");
  }
  noli_mesh_bounds(noli_scene_target_count(target), noli_scene_target_positions(target), low, high);
  return noli_scene_fail(source, region, NOLI_ERROR_FORMAT,
                         "selects no vertex of \"%s\", whose bounding box is [%g, %g, %g] to "
                         "[%g, %g, %g]",
                         target->name, low[0], low[1], low[2], high[0], high[1], high[2]);
}

NoliStatus noli_scene_select(const NoliSceneSource* source, const NoliSceneNode* selection,
                             NoliSceneTarget* targets, int64_t n_targets) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = source->context;
  bool is_list = json_is_array(selection->value);
  size_t n_regions = is_list ? noli_scene_size(selection) : 1;
  NOLI_ARRAY(int64_t) found = {0}; // (n_regions)
  NOLI_TRY(noli_array_reserve(context, &found, (int64_t)n_regions));
  memset(found.data, 0, n_regions * sizeof *found.data);
  for (int64_t k = 0; k < n_targets; k++) {
    Marker marker = {0};
    status = make_marker(context, &targets[k], &marker);
    for (size_t i = 0; i < n_regions && status == NOLI_OK; i++) {
      NoliSceneNode region = is_list ? noli_scene_item(selection, i) : *selection;
      status = select_add_region(source, &region, targets[k].shape, &marker, &found.data[i]);
    }
    if (status == NOLI_OK) {
      status = collect(context, &marker, &targets[k]);
    }
    if (status == NOLI_OK) {
      status = collect_faces(context, selection, &targets[k]);
    }
    release_marker(context, &marker);
    NOLI_TRY(status);
  }

  for (size_t i = 0; i < n_regions; i++) {
    NoliSceneNode region = is_list ? noli_scene_item(selection, i) : *selection;
    if (found.data[i] == 0) {
      NOLI_TRY(fail_empty(source, &region, &targets[0]));
    }
  }
done:
  noli_array_free(context, &found);
  return status;
}

// ---- elements -----------------------------------------------------------------------------------

static NoliStatus mark_centres(NoliContext* context, const NoliBodyCells* cells,
                               const NoliMesh* mesh, Marker* marker) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW_ZERO(context, marker->centre, 3 * (int64_t)cells->n);
  for (int64_t i = 0; i < (int64_t)cells->size * cells->n; i++) {
    for (int k = 0; k < 3; k++) {
      marker->centre[i / cells->size * 3 + k] +=
          mesh->x[3 * (int64_t)cells->vertex[i] + k] / cells->size;
    }
  }
  NOLI_TRY(start_marker(context, cells->n, marker->centre, mesh->n_vert, mesh->x, marker));
done:
  return status;
}

// Elements all of whose vertices are in a named set.
static NoliStatus mark_set_elements(const NoliSceneSource* source, const NoliSceneNode* node,
                                    NoliSceneShape* shape, const NoliMesh* mesh,
                                    const NoliBodyCells* cells, Marker* marker) {
  NoliStatus status = NOLI_OK;
  bool* in_set = NULL;
  NOLI_NEW_ZERO(source->context, in_set, mesh->n_vert);
  NOLI_TRY(mark_set(source, node, shape, in_set));
  for (int32_t t = 0; t < cells->n; t++) {
    bool all = true;
    for (int32_t k = 0; k < cells->size; k++) {
      all = all && in_set[cells->vertex[(int64_t)cells->size * t + k]];
    }
    marker->in_region[t] = all;
  }
done:
  noli_free(source->context, in_set);
  return status;
}

static NoliStatus mark_elements(const NoliSceneSource* source, const NoliSceneNode* node,
                                NoliSceneShape* shape, const NoliMesh* mesh,
                                const NoliBodyCells* cells, Marker* marker) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode set = noli_scene_member(node, "set");
  NoliSceneNode tag = noli_scene_member(node, "tag");
  NoliSceneNode elements = noli_scene_member(node, "elements");
  memset(marker->in_region, 0, (size_t)marker->n_node * sizeof *marker->in_region);
  NOLI_TRY(mark_place(source, node, marker));
  if (set.value != NULL) {
    NOLI_TRY(mark_set_elements(source, &set, shape, mesh, cells, marker));
  }
  for (int32_t t = 0; tag.value != NULL && cells->tag != NULL && t < cells->n; t++) {
    marker->in_region[t] = cells->tag[t] == (int32_t)noli_scene_number(&tag);
  }
  for (size_t i = 0; elements.value != NULL && i < noli_scene_size(&elements); i++) {
    NoliSceneNode item = noli_scene_item(&elements, i);
    int32_t t = (int32_t)noli_scene_number(&item);
    NOLI_SCENE_CHECK(source, &item, t < cells->n, "there is no element %d; the mesh has %d", (int)t,
                     (int)cells->n);
    marker->in_region[t] = true;
  }
done:
  return status;
}

// The tags that there are, for a message about one that there is not.
static void list_tags(const NoliBodyCells* cells, char* text, size_t size) {
  enum { LISTED = 8 };
  int32_t found[LISTED], n = 0;
  size_t length = (size_t)snprintf(text, size, "%s", cells->tag == NULL ? "it has no tags" : "");
  for (int32_t t = 0; cells->tag != NULL && t < cells->n && n < LISTED; t++) {
    int32_t k = 0;
    while (k < n && found[k] != cells->tag[t]) {
      k++;
    }
    if (k == n) {
      found[n++] = cells->tag[t];
      length += (size_t)snprintf(text + length, size - length, "%s%d",
                                 n == 1 ? "its tags are " : ", ", (int)cells->tag[t]);
    }
  }
  snprintf(text + length, size - length, "%s", n == LISTED ? ", ..." : "");
}

static NoliStatus fail_without_element(const NoliSceneSource* source, const NoliSceneNode* region,
                                       const char* name, const NoliBodyCells* cells,
                                       const Marker* marker) {
  NoliSceneNode tag = noli_scene_member(region, "tag");
  const double *low = marker->low, *high = marker->high;
  char tags[200];
  list_tags(cells, tags, sizeof tags);
  return tag.value != NULL
             ? noli_scene_fail(source, &tag, NOLI_ERROR_FORMAT, "selects no element of \"%s\"; %s",
                               name, tags)
             : noli_scene_fail(
                   source, region, NOLI_ERROR_FORMAT,
                   "selects no element of \"%s\", whose bounding box is [%g, %g, %g] to "
                   "[%g, %g, %g]",
                   name, low[0], low[1], low[2], high[0], high[1], high[2]);
}

NoliStatus noli_scene_select_elements(const NoliSceneSource* source, const NoliSceneNode* selection,
                                      const char* name, NoliSceneShape* shape, const NoliMesh* mesh,
                                      int32_t** element, int32_t* n_element) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = source->context;
  Marker marker = {0};
  NoliBodyCells cells = shape->kind->cells(mesh);
  bool is_list = json_is_array(selection->value);
  *n_element = 0;
  NOLI_TRY(mark_centres(context, &cells, mesh, &marker));
  NOLI_NEW(context, *element, cells.n);

  // the union of all regions
  for (size_t i = 0; i < (is_list ? noli_scene_size(selection) : 1); i++) {
    NoliSceneNode region = is_list ? noli_scene_item(selection, i) : *selection;
    int32_t n_found = 0;
    NOLI_TRY(mark_elements(source, &region, shape, mesh, &cells, &marker));
    for (int32_t t = 0; t < cells.n; t++) {
      n_found += marker.in_region[t];
      marker.selected[t] = marker.selected[t] || marker.in_region[t];
    }
    if (n_found == 0) {
      NoliSceneNode set = noli_scene_member(&region, "set");
      NOLI_TRY(set.value != NULL ? fail_set(source, &set, name, &shape->sets, "elements")
                                 : fail_without_element(source, &region, name, &cells, &marker));
    }
  }

  // their elements in ascending order
  for (int32_t t = 0; t < cells.n; t++) {
    if (marker.selected[t]) {
      (*element)[(*n_element)++] = t;
    }
  }
done:
  release_marker(context, &marker);
  return status;
}
