// The numbers of faces, points and bodies by PolyFEM's rules: of the selections of a mesh, the
// first one that holds the barycentre of a face (the barycentre of a tetrahedron, the position of a
// point) gives its number.
#include "import/polyfem/polyfem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// No selection.
#define NO_ID INT32_MAX

typedef enum RegionKind {
  EVERYWHERE,
  BOX,
  SIDES,
  BALL,
  CYLINDER,
  BESIDE_AXIS,
  BESIDE_PLANE,
} RegionKind;

typedef struct Region {
  RegionKind kind;
  int32_t id; // SIDES: offset
  double a[3], b[3];
  double radius; // SIDES: tolerance; BESIDE_AXIS: position
  int32_t axis;  // 1 to 3, negative: below
  double low[3], high[3];
  bool boundary_only;
} Region;

// ---- reading ------------------------------------------------------------------------------------

// A required vector; relative ones are fractions of the bounding box.
static NoliStatus read_point(NoliPolyfem* import, const NoliSceneNode* node, bool relative,
                             const Region* region, double point[3]) {
  NoliStatus status = NOLI_OK;
  int32_t n;
  NOLI_TRY(noli_polyfem_vector(import, node, NOLI_POLYFEM_LENGTH, point, &n));
  NOLI_POLYFEM_CHECK(import, node, n == 3, "must be a list of %d numbers", import->flat ? 2 : 3);
  for (int i = 0; relative && i < 3; i++) {
    point[i] = (region->high[i] - region->low[i]) * point[i] + region->low[i];
  }
done:
  return status;
}

static NoliStatus read_radius(NoliPolyfem* import, const NoliSceneNode* node, bool relative,
                              Region* region) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode radius = noli_scene_member(node, "radius");
  region->radius = -1.0;
  NOLI_TRY(noli_polyfem_number(import, &radius, NOLI_POLYFEM_LENGTH, &region->radius));
  NOLI_POLYFEM_CHECK(import, node, region->radius >= 0.0, "needs a \"radius\" >= 0");
  if (relative) {
    double diagonal = 0.0;
    for (int i = 0; i < 3; i++) {
      diagonal = hypot(diagonal, region->high[i] - region->low[i]);
    }
    region->radius *= diagonal;
  }
done:
  return status;
}

static NoliStatus read_box(NoliPolyfem* import, const NoliSceneNode* node, bool relative,
                           Region* region) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode box = noli_scene_member(node, "box");
  NOLI_POLYFEM_CHECK(import, &box, noli_scene_size(&box) == 2, "must be two corners");
  NoliSceneNode low = noli_scene_item(&box, 0), high = noli_scene_item(&box, 1);
  NOLI_TRY(read_point(import, &low, relative, region, region->a));
  NOLI_TRY(read_point(import, &high, relative, region, region->b));
done:
  return status;
}

static NoliStatus read_sides(NoliPolyfem* import, const NoliSceneNode* node, Region* region) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode threshold = noli_scene_member(node, "threshold");
  NoliSceneNode offset = noli_scene_member(node, "id_offset");
  region->id = 0;
  NOLI_TRY(noli_polyfem_number(import, &threshold, NOLI_POLYFEM_LENGTH, &region->radius));
  NOLI_TRY(noli_polyfem_integer(import, &offset, &region->id));
  if (region->radius < 0.0) {
    region->radius = 1e-7;
  }
done:
  return status;
}

static NoliStatus read_cylinder(NoliPolyfem* import, const NoliSceneNode* node, bool relative,
                                Region* region) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode p1 = noli_scene_member(node, "p1"), p2 = noli_scene_member(node, "p2");
  NOLI_TRY(read_point(import, &p1, relative, region, region->a));
  NOLI_TRY(read_point(import, &p2, relative, region, region->b));
  NOLI_TRY(read_radius(import, node, relative, region));
done:
  return status;
}

// "-y", "x", 2, -1.
static NoliStatus read_axis(NoliPolyfem* import, const NoliSceneNode* node, bool relative,
                            Region* region) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode axis = noli_scene_member(node, "axis");
  NoliSceneNode position = noli_scene_member(node, "position");
  if (json_is_string(axis.value)) {
    const char* text = noli_scene_string(&axis);
    size_t n = strlen(text);
    char name = n > 0 ? text[n - 1] : '\0';
    int32_t number = name >= 'X' && name <= 'Z' ? name - 'X' + 1 : name - 'x' + 1;
    region->axis = text[0] == '-' ? -number : number;
  } else {
    NOLI_TRY(noli_polyfem_integer(import, &axis, &region->axis));
  }
  NOLI_POLYFEM_CHECK(import, &axis, abs(region->axis) >= 1 && abs(region->axis) <= 3,
                     "must be an axis: \"x\", \"-y\", 3, -1, ...");
  NOLI_POLYFEM_CHECK(import, node, position.value != NULL, "\"position\" is missing");
  NOLI_TRY(noli_polyfem_number(import, &position, NOLI_POLYFEM_LENGTH, &region->radius));
  if (relative) {
    int i = abs(region->axis) - 1;
    region->radius = (region->high[i] - region->low[i]) * region->radius + region->low[i];
  }
done:
  return status;
}

static NoliStatus read_plane(NoliPolyfem* import, const NoliSceneNode* node, bool relative,
                             Region* region) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode normal = noli_scene_member(node, "normal");
  NoliSceneNode point = noli_scene_member(node, "point");
  NoliSceneNode offset = noli_scene_member(node, "offset");
  NOLI_TRY(read_point(import, &normal, false, region, region->b));
  double length = hypot(hypot(region->b[0], region->b[1]), region->b[2]);
  NOLI_POLYFEM_CHECK(import, &normal, length > 0.0, "must not be 0");
  double distance = 0.0;
  NOLI_TRY(noli_polyfem_number(import, &offset, NOLI_POLYFEM_LENGTH, &distance));
  for (int i = 0; i < 3; i++) {
    region->b[i] /= length;
    region->a[i] = region->b[i] * distance;
  }
  if (point.value != NULL) {
    NOLI_TRY(read_point(import, &point, relative, region, region->a));
  }
done:
  return status;
}

static NoliStatus read_shape(NoliPolyfem* import, const NoliSceneNode* node, bool relative,
                             Region* region) {
  const json_t* value = node->value;
  NoliSceneNode center = noli_scene_member(node, "center");
  if (json_object_get(value, "box") != NULL) {
    region->kind = BOX;
    return read_box(import, node, relative, region);
  }
  if (json_object_get(value, "threshold") != NULL) {
    region->kind = SIDES;
    return read_sides(import, node, region);
  }
  if (center.value != NULL) {
    region->kind = BALL;
    NoliStatus status = read_point(import, &center, relative, region, region->a);
    return status != NOLI_OK ? status : read_radius(import, node, relative, region);
  }

  if (json_object_get(value, "radius") != NULL) {
    region->kind = CYLINDER;
    return read_cylinder(import, node, relative, region);
  }
  if (json_object_get(value, "axis") != NULL) {
    region->kind = BESIDE_AXIS;
    return read_axis(import, node, relative, region);
  }
  if (json_object_get(value, "normal") != NULL) {
    region->kind = BESIDE_PLANE;
    return read_plane(import, node, relative, region);
  }
  region->kind = EVERYWHERE;
  return NOLI_OK;
}

static NoliStatus read_region(NoliPolyfem* import, const NoliSceneNode* node, Region* region) {
  NoliStatus status = NOLI_OK;
  NOLI_POLYFEM_CHECK(import, node, !json_is_string(node->value),
                     "selections from files are not supported");
  if (json_is_number(node->value)) {
    region->kind = EVERYWHERE;
    NOLI_TRY(noli_polyfem_integer(import, node, &region->id));
    goto done;
  }

  NOLI_POLYFEM_CHECK(import, node, json_is_object(node->value),
                     "must be a number, a selection or a list of selections");
  NoliSceneNode id = noli_scene_member(node, "id");
  NoliSceneNode relative = noli_scene_member(node, "relative");
  NoliSceneNode boundary_only = noli_scene_member(node, "boundary_only");
  bool is_relative = false;
  NOLI_TRY(noli_polyfem_bool(import, &relative, &is_relative));
  NOLI_TRY(noli_polyfem_bool(import, &boundary_only, &region->boundary_only));
  NOLI_POLYFEM_CHECK(import, &id, !json_is_string(id.value),
                     "selections from files are not supported");
  NOLI_TRY(read_shape(import, node, is_relative, region));
  if (region->kind != SIDES) {
    NOLI_POLYFEM_CHECK(import, node, id.value != NULL, "\"id\" is missing");
    NOLI_TRY(noli_polyfem_integer(import, &id, &region->id));
  }
done:
  return status;
}

// `*regions` (n_regions) is owned by the caller; bounds are those of the placed mesh.
static NoliStatus read_regions(NoliPolyfem* import, const NoliSceneNode* node, const NoliMesh* mesh,
                               Region** regions, int32_t* n_regions) {
  NoliStatus status = NOLI_OK;
  *n_regions = (int32_t)noli_polyfem_count(node);
  NOLI_NEW_ZERO(import->source.context, *regions, *n_regions);
  for (int32_t i = 0; i < *n_regions; i++) {
    Region* region = &(*regions)[i];
    NoliSceneNode entry = noli_polyfem_entry(node, (size_t)i);
    noli_mesh_bounds(mesh->n_vert, mesh->x, region->low, region->high);
    region->boundary_only = true;
    NOLI_TRY(read_region(import, &entry, region));
  }
done:
  return status;
}

// ---- choosing -----------------------------------------------------------------------------------

static int32_t side_of(const Region* region, const double p[3]) {
  // left, bottom, right, top, back, front
  static const struct {
    int axis;
    bool high;
  } sides[] = {{0, false}, {1, false}, {0, true}, {1, true}, {2, false}, {2, true}};
  int32_t n = region->high[2] > region->low[2] ? 6 : 4;
  for (int32_t i = 0; i < n; i++) {
    int axis = sides[i].axis;
    double wall = sides[i].high ? region->high[axis] : region->low[axis];
    if (fabs(p[axis] - wall) < region->radius) {
      return i + 1;
    }
  }
  return 7;
}

static bool in_cylinder(const Region* region, const double p[3]) {
  double axis[3], v[3], height = 0.0, along = 0.0, across = 0.0;
  for (int i = 0; i < 3; i++) {
    axis[i] = region->b[i] - region->a[i];
    v[i] = p[i] - region->a[i];
    height += axis[i] * axis[i];
  }
  height = sqrt(height);
  for (int i = 0; i < 3; i++) {
    along += axis[i] / height * v[i];
  }
  for (int i = 0; i < 3; i++) {
    double d = v[i] - axis[i] / height * along;
    across += d * d;
  }
  return along >= 0.0 && along <= height && across <= region->radius * region->radius;
}

static bool holds(const Region* region, const double p[3]) {
  double sum = 0.0;
  switch (region->kind) {
  case BOX:
    return p[0] >= region->a[0] && p[0] <= region->b[0] && p[1] >= region->a[1] &&
           p[1] <= region->b[1] && p[2] >= region->a[2] && p[2] <= region->b[2];
  case BALL:
    for (int i = 0; i < 3; i++) {
      sum += (p[i] - region->a[i]) * (p[i] - region->a[i]);
    }
    return sum <= region->radius * region->radius;
  case CYLINDER:
    return in_cylinder(region, p);
  case BESIDE_AXIS:
    return region->axis > 0 ? p[region->axis - 1] >= region->radius
                            : p[-region->axis - 1] <= region->radius;
  case BESIDE_PLANE:
    for (int i = 0; i < 3; i++) {
      sum += (p[i] - region->a[i]) * region->b[i];
    }
    return sum >= 0.0;
  case EVERYWHERE:
  case SIDES:
    break;
  }
  return true;
}

static int32_t select_choose(const Region* regions, int32_t n_regions, const double p[3],
                             bool on_boundary) {
  for (int32_t i = 0; i < n_regions; i++) {
    const Region* region = &regions[i];
    if ((on_boundary || !region->boundary_only) && holds(region, p)) {
      return region->kind == SIDES ? side_of(region, p) + region->id : region->id;
    }
  }
  return NO_ID;
}

static void barycentre(const NoliMesh* mesh, const int32_t* cell, int n, double p[3]) {
  for (int i = 0; i < 3; i++) {
    p[i] = 0.0;
    for (int k = 0; k < n; k++) {
      p[i] += mesh->x[3 * (int64_t)cell[k] + i];
    }
    p[i] /= n;
  }
}

// ---- bodies -------------------------------------------------------------------------------------

static NoliStatus number_faces(NoliPolyfem* import, const NoliSceneNode* selection,
                               NoliPolyfemBody* body) {
  NoliStatus status = NOLI_OK;
  Region* regions = NULL;
  int32_t n_regions;
  NOLI_TRY(read_regions(import, selection, body->mesh, &regions, &n_regions));
  if (n_regions > 0) {
    NOLI_NEW(import->source.context, body->face_id, body->n_face);
    for (int64_t f = 0; f < body->n_face; f++) {
      double p[3];
      barycentre(body->mesh, body->face + body->face_size * f, body->face_size, p);
      body->face_id[f] = select_choose(regions, n_regions, p, true);
    }
  }
done:
  noli_free(import->source.context, regions);
  return status;
}

static NoliStatus number_points(NoliPolyfem* import, const NoliSceneNode* selection,
                                NoliPolyfemBody* body) {
  NoliStatus status = NOLI_OK;
  Region* regions = NULL;
  int32_t n_regions;
  NOLI_TRY(read_regions(import, selection, body->mesh, &regions, &n_regions));
  if (n_regions > 0) {
    NOLI_NEW(import->source.context, body->node_id, body->mesh->n_vert);
    for (int64_t v = 0; v < body->mesh->n_vert; v++) {
      body->node_id[v] =
          select_choose(regions, n_regions, body->mesh->x + 3 * v, body->boundary[v]);
    }
  }
done:
  noli_free(import->source.context, regions);
  return status;
}

// Tags of the file come last; a body has a single number.
static NoliStatus number_body(NoliPolyfem* import, const NoliSceneNode* selection,
                              NoliPolyfemBody* body) {
  NoliStatus status = NOLI_OK;
  Region* regions = NULL;
  int32_t n_regions = 0, offset = 0;
  NoliSceneNode id_offset = noli_scene_member(selection, "id_offset");
  bool shifts = id_offset.value != NULL && json_object_size(selection->value) == 1;
  if (shifts) {
    NOLI_TRY(noli_polyfem_integer(import, &id_offset, &offset));
  } else {
    NOLI_TRY(read_regions(import, selection, body->mesh, &regions, &n_regions));
  }

  const NoliMesh* mesh = body->mesh;
  bool one_material = json_is_object(json_object_get(import->tree, "materials"));
  const int32_t* cell = import->flat ? mesh->tri : mesh->tet;
  const int32_t* tag = import->flat ? mesh->tri_tag : mesh->tet_tag;
  int32_t n_cell = import->flat ? mesh->n_tri : mesh->n_tet, size = import->flat ? 3 : 4;
  for (int64_t t = 0; t < n_cell; t++) {
    double p[3];
    barycentre(mesh, cell + size * t, size, p);
    int32_t id = select_choose(regions, n_regions, p, true);
    id = id != NO_ID ? id : (tag != NULL ? tag[t] : 0) + offset;
    NOLI_POLYFEM_CHECK(import, selection->parent, t == 0 || one_material || id == body->body_id,
                       "parts of the volume have the numbers %d and %d; a body has one material: "
                       "split the mesh",
                       (int)body->body_id, (int)id);
    body->body_id = id;
  }
done:
  noli_free(import->source.context, regions);
  return status;
}

NoliStatus noli_polyfem_select(NoliPolyfem* import, NoliPolyfemBody* body) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode entry = noli_polyfem_entry(&import->geometry, body->entry);
  NoliSceneNode volume = noli_scene_member(&entry, "volume_selection");
  NoliSceneNode surface = noli_scene_member(&entry, "surface_selection");
  NoliSceneNode point = noli_scene_member(&entry, "point_selection");
  NOLI_TRY(number_body(import, &volume, body));
  NOLI_TRY(number_faces(import, &surface, body));
  NOLI_TRY(number_points(import, &point, body));
done:
  return status;
}
