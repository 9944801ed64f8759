#include "mesh/looks.h"

#include "mesh/formats/io.h"

#include <string.h>

void noli_mesh_free_looks(NoliContext* context, NoliMeshLooks* looks) {
  noli_look_names_free(context, &looks->materials);
  noli_look_names_free(context, &looks->groups);
  noli_look_names_free(context, &looks->libraries);
  noli_free(context, looks->vertex);
  noli_free(context, looks->x);
  noli_array_free(context, &looks->uv);
  noli_free(context, looks->corner_uv);
  noli_free(context, looks->material);
  noli_free(context, looks->group);
  *looks = (NoliMeshLooks){0};
}

// ---- reading ------------------------------------------------------------------------------------

static NoliStatus looks_allocate(NoliContext* context, const NoliMesh* mesh, NoliMeshLooks* looks) {
  NoliStatus status = NOLI_OK;
  int64_t n = mesh->n_tri;
  looks->n_tri = mesh->n_tri;
  NOLI_NEW(context, looks->vertex, 3 * n);
  NOLI_NEW(context, looks->x, 9 * n);
  NOLI_NEW(context, looks->corner_uv, 3 * n);
  NOLI_NEW(context, looks->material, n);
  NOLI_NEW(context, looks->group, n);
  for (int64_t i = 0; i < 3 * n; i++) {
    looks->vertex[i] = mesh->tri[i];
    looks->corner_uv[i] = looks->material[i / 3] = looks->group[i / 3] = NOLI_NULL_INDEX;
    memcpy(looks->x + 3 * i, mesh->x + 3 * (int64_t)mesh->tri[i], 3 * sizeof *looks->x);
  }
done:
  return status;
}

// The texture coordinate of a corner of a face; NOLI_NULL_INDEX where the file does not have it.
static int32_t uv_at(const NoliPartsLooks* parts, const NoliLooksFace* face, int32_t vertex) {
  const NoliLooksCorner* corner = parts->corner.data + face->first_corner;
  for (int64_t i = 0; i < face->n_corner; i++) {
    if (corner[i].vertex == vertex) {
      return corner[i].uv < parts->uv.count / 2 ? corner[i].uv : NOLI_NULL_INDEX;
    }
  }
  return NOLI_NULL_INDEX;
}

// Takes over what the parts have of the triangles of a mesh.
static void take_parts(NoliPartsLooks* parts, NoliMeshLooks* looks) {
  for (int64_t f = 0; f < parts->face.count; f++) {
    const NoliLooksFace* face = &parts->face.data[f];
    for (int64_t t = face->first_tri; t < face->first_tri + face->n_tri; t++) {
      for (int64_t k = 3 * t; k < 3 * t + 3; k++) {
        looks->corner_uv[k] = uv_at(parts, face, looks->vertex[k]);
      }
      looks->material[t] = face->material;
      looks->group[t] = face->group;
    }
  }
  looks->uv.data = parts->uv.data;
  looks->uv.count = parts->uv.count;
  looks->uv.capacity = parts->uv.capacity;
  looks->materials = parts->materials;
  looks->groups = parts->groups;
  looks->libraries = parts->libraries;
  memset(&parts->uv, 0, sizeof parts->uv);
  parts->materials = parts->groups = parts->libraries = (NoliLookNames){0};
}

NoliStatus noli_mesh_read_looks(NoliContext* context, const char* path, NoliMeshLooks* looks) {
  NoliStatus status = NOLI_OK;
  NoliMesh* mesh = NULL;
  NoliMeshParts parts = {.looks.wanted = true};
  *looks = (NoliMeshLooks){0};
  NOLI_TRY(noli_mesh_read_parts(context, path, &parts, &mesh));
  if (parts.looks.uv.count + parts.looks.materials.count + parts.looks.groups.count > 0) {
    NOLI_TRY(looks_allocate(context, mesh, looks));
    take_parts(&parts.looks, looks);
  }
done:
  if (status != NOLI_OK) {
    noli_mesh_free_looks(context, looks);
  }
  noli_parts_free(context, &parts);
  noli_mesh_destroy(context, &mesh);
  return status;
}

// ---- refinement ---------------------------------------------------------------------------------

// The texture coordinate in the middle of two; NOLI_NULL_INDEX where one of them is missing.
static NoliStatus middle_uv(NoliContext* context, NoliMeshLooks* looks, int32_t a, int32_t b,
                            int32_t* middle) {
  NoliStatus status = NOLI_OK;
  *middle = NOLI_NULL_INDEX;
  if (a == NOLI_NULL_INDEX || b == NOLI_NULL_INDEX) {
    return NOLI_OK;
  }
  for (int k = 0; k < 2; k++) {
    double value =
        0.5 * looks->uv.data[2 * (int64_t)a + k] + 0.5 * looks->uv.data[2 * (int64_t)b + k];
    NOLI_PUSH(context, &looks->uv, value);
  }
  *middle = (int32_t)(looks->uv.count / 2 - 1);
done:
  return status;
}

// Corners of the children, as numbers of corners (0 to 2) and of midpoints behind them, as
// cut_cells in mesh/refine.c has them.
static const int children[12] = {0, 3, 5, 3, 1, 4, 5, 4, 2, 3, 4, 5};

// Positions of corners and midpoints, with the bits of the refined mesh: sums of two commute.
static void looks_place(const double* corner, double x[18]) {
  memcpy(x, corner, 9 * sizeof *x);
  for (int m = 0; m < 3; m++) {
    for (int k = 0; k < 3; k++) {
      x[9 + 3 * m + k] = 0.5 * x[3 * m + k] + 0.5 * x[3 * ((m + 1) % 3) + k];
    }
  }
}

NoliStatus noli_mesh_refine_looks(NoliContext* context, NoliMeshLooks* looks) {
  NoliStatus status = NOLI_OK;
  NoliMeshLooks fine = {.n_tri = 4 * looks->n_tri};
  int64_t n = fine.n_tri;
  NOLI_NEW(context, fine.vertex, 3 * n);
  NOLI_NEW(context, fine.x, 9 * n);
  NOLI_NEW(context, fine.corner_uv, 3 * n);
  NOLI_NEW(context, fine.material, n);
  NOLI_NEW(context, fine.group, n);
  for (int64_t t = 0; t < looks->n_tri; t++) {
    double x[18];
    int32_t uv[6];
    looks_place(looks->x + 9 * t, x);
    memcpy(uv, looks->corner_uv + 3 * t, 3 * sizeof *uv);
    for (int m = 0; m < 3; m++) {
      NOLI_TRY(middle_uv(context, looks, uv[m], uv[(m + 1) % 3], &uv[3 + m]));
    }
    for (int64_t i = 0; i < 12; i++) {
      memcpy(fine.x + 36 * t + 3 * i, x + 3 * children[i], 3 * sizeof *x);
      fine.corner_uv[12 * t + i] = uv[children[i]];
      fine.vertex[12 * t + i] =
          children[i] < 3 ? looks->vertex[3 * t + children[i]] : NOLI_NULL_INDEX;
    }
    for (int64_t c = 4 * t; c < 4 * t + 4; c++) {
      fine.material[c] = looks->material[t];
      fine.group[c] = looks->group[t];
    }
  }

  // the names stay
  int32_t** lists[][2] = {{&looks->vertex, &fine.vertex},
                          {&looks->corner_uv, &fine.corner_uv},
                          {&looks->material, &fine.material},
                          {&looks->group, &fine.group}};
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    int32_t* old = *lists[k][0];
    *lists[k][0] = *lists[k][1];
    *lists[k][1] = old;
  }

  double* old = looks->x;
  looks->x = fine.x;
  fine.x = old;
  looks->n_tri = fine.n_tri;
done:
  noli_mesh_free_looks(context, &fine);
  return status;
}
