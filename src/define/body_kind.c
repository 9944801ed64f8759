#include "define/body_kind.h"

NoliBodyKind noli_body_kind(const NoliBodyDef* body) {
  if (body->plane_strain > 0.0) {
    return NOLI_BODY_PLANE_STRAIN;
  }
  if (body->rod.radius > 0.0) {
    return NOLI_BODY_ROD;
  }
  if (body->point.radius > 0.0) {
    return NOLI_BODY_POINTS;
  }
  return body->shell.thickness > 0.0 ? NOLI_BODY_SHELL : NOLI_BODY_SOLID;
}

NoliBodyCells noli_body_cells(NoliBodyKind kind, const NoliMesh* mesh) {
  switch (kind) {
  case NOLI_BODY_SOLID:
    break;
  case NOLI_BODY_PLANE_STRAIN:
  case NOLI_BODY_SHELL:
    return (NoliBodyCells){mesh->n_tri, 3, mesh->tri, mesh->tri_tag, "triangle"};
  case NOLI_BODY_ROD:
    return (NoliBodyCells){mesh->n_edge, 2, mesh->edge, NULL, "segment"};
  case NOLI_BODY_POINTS:
    return (NoliBodyCells){mesh->n_point, 1, mesh->point, NULL, "point"};
  }
  return (NoliBodyCells){mesh->n_tet, 4, mesh->tet, mesh->tet_tag, "tetrahedron"};
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
