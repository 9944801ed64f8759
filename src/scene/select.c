#include "scene/select.h"

#include "sim/plane.h"

#include <math.h>
#include <string.h>

// Faces of boxes hit the vertices that are meant in spite of rounding: relative to the diagonal.
#define SLACK 1e-9

// A body while one region after the other marks its vertices.
typedef struct Marker {
  const NoliMesh* mesh;
  double low[3], high[3];
  double slack;
  bool* surface;   // (n_vert); NULL until it is needed
  bool* in_region; // (n_vert) by the present region
  bool* selected;  // (n_vert) by any
} Marker;

static void release_marker(NoliContext* context, Marker* marker) {
  noli_free(context, marker->surface);
  noli_free(context, marker->in_region);
  noli_free(context, marker->selected);
}

static NoliStatus make_marker(NoliContext* context, const NoliMesh* mesh, Marker* marker) {
  NoliStatus status = NOLI_OK;
  marker->mesh = mesh;
  noli_scene_bounds(mesh, marker->low, marker->high);
  double diagonal = 0.0;
  for (int i = 0; i < 3; i++) {
    diagonal = hypot(diagonal, marker->high[i] - marker->low[i]);
  }
  marker->slack = SLACK * diagonal;
  NOLI_NEW(context, marker->in_region, mesh->n_vert);
  NOLI_NEW_ZERO(context, marker->selected, mesh->n_vert);
done:
  return status;
}

static const double* vertex(const Marker* marker, int64_t v) {
  return marker->mesh->x + 3 * v;
}

static void mark_box(Marker* marker, const double low[3], const double high[3]) {
  for (int32_t v = 0; v < marker->mesh->n_vert; v++) {
    const double* x = vertex(marker, v);
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
  for (int32_t v = 0; v < marker->mesh->n_vert; v++) {
    const double* x = vertex(marker, v);
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
  for (int32_t v = 0; v < marker->mesh->n_vert; v++) {
    const double* x = vertex(marker, v);
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

static void select_tag(const NoliSceneNode* node, const NoliSceneShape* shape, Marker* marker) {
  const NoliMesh* mesh = shape->source;
  int32_t tag = (int32_t)noli_scene_number(node);
  memset(marker->in_region, 0, (size_t)marker->mesh->n_vert * sizeof *marker->in_region);
  mark_tagged(mesh->tet, mesh->tet_tag, mesh->n_tet, 4, tag, shape->new_index, marker->in_region);
  mark_tagged(mesh->tri, mesh->tri_tag, mesh->n_tri, 3, tag, shape->new_index, marker->in_region);
}

static NoliStatus select_vertices(const NoliSceneSource* source, const NoliSceneNode* node,
                                  const NoliSceneShape* shape, Marker* marker) {
  NoliStatus status = NOLI_OK;
  memset(marker->in_region, 0, (size_t)marker->mesh->n_vert * sizeof *marker->in_region);
  for (size_t i = 0; i < noli_scene_size(node); i++) {
    NoliSceneNode item = noli_scene_item(node, i);
    int32_t v = (int32_t)noli_scene_number(&item);
    NOLI_SCENE_CHECK(source, &item, v < shape->source->n_vert,
                     "there is no vertex %d; the mesh has %d", (int)v, (int)shape->source->n_vert);
    NOLI_SCENE_CHECK(source, &item, shape->new_index[v] != NOLI_NULL_INDEX,
                     "vertex %d belongs to no cell that takes part", (int)v);
    marker->in_region[shape->new_index[v]] = true;
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

static NoliStatus mark_region(const NoliSceneSource* source, const NoliSceneNode* node,
                              const NoliSceneShape* shape, Marker* marker) {
  NoliStatus status = NOLI_OK;
  if (json_is_string(node->value)) { // "all"
    memset(marker->in_region, 1, (size_t)marker->mesh->n_vert * sizeof *marker->in_region);
    goto done;
  }
  for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
    NoliSceneNode region = noli_scene_member(node, regions[i].key);
    if (region.value != NULL) {
      NOLI_TRY(regions[i].select(source, &region, marker));
    }
  }
  NoliSceneNode tag = noli_scene_member(node, "tag");
  if (tag.value != NULL) {
    select_tag(&tag, shape, marker);
  }
  NoliSceneNode vertices = noli_scene_member(node, "vertices");
  if (vertices.value != NULL) {
    NOLI_TRY(select_vertices(source, &vertices, shape, marker));
  }
done:
  return status;
}

// Vertices of the boundary; of meshes without inside all of them.
static NoliStatus find_surface(NoliContext* context, bool flat, Marker* marker) {
  NoliStatus status = NOLI_OK;
  int32_t* tri = NULL; // or edges
  int32_t n_tri = 0;
  NOLI_NEW_ZERO(context, marker->surface, marker->mesh->n_vert);
  if (flat) {
    NOLI_TRY(noli_plane_boundary(context, marker->mesh, &tri, &n_tri));
    for (int64_t i = 0; i < 2 * (int64_t)n_tri; i++) {
      marker->surface[tri[i]] = true;
    }
    goto done;
  }
  if (marker->mesh->n_tet == 0) {
    memset(marker->surface, 1, (size_t)marker->mesh->n_vert * sizeof *marker->surface);
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
static NoliStatus add_region(const NoliSceneSource* source, const NoliSceneNode* node,
                             const NoliSceneShape* shape, Marker* marker, int64_t* n_found) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(mark_region(source, node, shape, marker));
  NoliSceneNode surface_only = noli_scene_member(node, "surface_only");
  if (noli_scene_true(&surface_only) && marker->surface == NULL) {
    NOLI_TRY(find_surface(source->context, shape->flat, marker));
  }
  for (int32_t v = 0; v < marker->mesh->n_vert; v++) {
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
  for (int32_t v = 0; v < marker->mesh->n_vert; v++) {
    n += marker->selected[v];
  }
  target->n_node = n;
  if (n < marker->mesh->n_vert) {
    NOLI_NEW(context, target->node, n);
    n = 0;
    for (int32_t v = 0; v < marker->mesh->n_vert; v++) {
      if (marker->selected[v]) {
        target->node[n++] = v;
      }
    }
  }
done:
  return status;
}

static NoliStatus fail_empty(const NoliSceneSource* source, const NoliSceneNode* region,
                             const NoliSceneTarget* target) {
  double low[3], high[3];
  noli_scene_bounds(target->mesh, low, high);
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
    status = make_marker(context, targets[k].mesh, &marker);
    for (size_t i = 0; i < n_regions && status == NOLI_OK; i++) {
      NoliSceneNode region = is_list ? noli_scene_item(selection, i) : *selection;
      status = add_region(source, &region, targets[k].shape, &marker, &found.data[i]);
    }
    if (status == NOLI_OK) {
      status = collect(context, &marker, &targets[k]);
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
