#include "define/body_kind.h"

static bool is_solid(const NoliBodyDef* body) {
  (void)body;
  return true;
}

static NoliBodyCells tetrahedra(const NoliMesh* mesh) {
  return (NoliBodyCells){mesh->n_tet, 4, mesh->tet, mesh->tet_tag};
}

static bool is_plane_strain(const NoliBodyDef* body) {
  return body->plane_strain > 0.0;
}

static bool is_shell(const NoliBodyDef* body) {
  return body->shell.thickness > 0.0;
}

static NoliBodyCells triangles(const NoliMesh* mesh) {
  return (NoliBodyCells){mesh->n_tri, 3, mesh->tri, mesh->tri_tag};
}

static bool is_rod(const NoliBodyDef* body) {
  return body->rod.radius > 0.0;
}

static NoliBodyCells segments(const NoliMesh* mesh) {
  return (NoliBodyCells){mesh->n_edge, 2, mesh->edge, NULL};
}

static bool is_points(const NoliBodyDef* body) {
  return body->point.radius > 0.0;
}

static NoliBodyCells points(const NoliMesh* mesh) {
  return (NoliBodyCells){mesh->n_point, 1, mesh->point, NULL};
}

const NoliBodyKind noli_body_plane_strain = {.key = "plane_strain",
                                             .what = "in plane strain",
                                             .cell = "triangle",
                                             .cells_name = "triangles",
                                             .fills = true,
                                             .encloses = true,
                                             .planar = true,
                                             .is = is_plane_strain,
                                             .cells = triangles};

const NoliBodyKind noli_body_shell = {.key = "shell",
                                      .what = "a shell",
                                      .cell = "triangle",
                                      .cells_name = "triangles",
                                      .part = "surface",
                                      .encloses = true,
                                      .own_tri = true,
                                      .is = is_shell,
                                      .cells = triangles};

const NoliBodyKind noli_body_rod = {.key = "rod",
                                    .what = "a rod",
                                    .cell = "segment",
                                    .cells_name = "segments",
                                    .part = "edges",
                                    .own_edge = true,
                                    .is = is_rod,
                                    .cells = segments};

const NoliBodyKind noli_body_points = {.key = "point",
                                       .what = "made of points",
                                       .cell = "point",
                                       .cells_name = "points",
                                       .part = "points",
                                       .own_point = true,
                                       .is = is_points,
                                       .cells = points};

const NoliBodyKind noli_body_solid = {.what = "a solid",
                                      .cell = "tetrahedron",
                                      .cells_name = "tetrahedra",
                                      .fills = true,
                                      .encloses = true,
                                      .is = is_solid,
                                      .cells = tetrahedra};

#define KIND(name) &noli_body_##name,
static const NoliBodyKind* const kinds[] = {NOLI_BODY_KINDS(KIND)};
#undef KIND
enum { KINDS = sizeof kinds / sizeof *kinds };

const NoliBodyKind* noli_body_kind_at(int32_t index) {
  return index >= 0 && index < KINDS ? kinds[index] : NULL;
}

const NoliBodyKind* noli_body_kind(const NoliBodyDef* body) {
  int32_t k = 0;
  while (!kinds[k]->is(body)) {
    k++;
  }
  return kinds[k];
}

const NoliMesh* noli_body_given_mesh(const NoliBodyDef* body) {
  bool carries = !body->obstacle && noli_body_kind(body)->carried && body->proxy.mesh != NULL;
  return carries ? body->proxy.mesh : body->mesh;
}

NoliBodyCells noli_body_elements(const NoliBodyDef* body) {
  return noli_body_kind(body)->cells(body->mesh);
}

void noli_body_cell_centre(const NoliBodyCells* cells, const NoliMesh* mesh, int32_t cell,
                           double centre[3]) {
  const int32_t* vertex = cells->vertex + (int64_t)cells->size * cell;
  for (int k = 0; k < 3; k++) {
    double sum = 0.0;
    for (int32_t i = 0; i < cells->size; i++) {
      sum += mesh->x[3 * (int64_t)vertex[i] + k];
    }
    centre[k] = sum / cells->size;
  }
}
