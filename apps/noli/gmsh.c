// Surfaces filled with tetrahedra by Gmsh. Gmsh is under the GPL: this file is only in builds that
// ask for it (NOLI_GMSH).
#include "solid.h"

#include "noli/extend.h"

#include <gmshc.h>
#include <stdio.h>
#include <string.h>

// Where the normals of neighbouring triangles differ by more, surfaces that are meshed anew keep an
// edge.
#define SHARP_DEGREES 40.0

bool solid_can_fill(void) {
  return true;
}

// Leaves through `done` with what Gmsh said.
static NoliStatus fail_with_gmsh(NoliContext* context, const char* call) {
  char* text = NULL;
  int error = 0;
  gmshLoggerGetLastError(&text, &error);
  NoliStatus status =
      noli_fail(context, NOLI_ERROR_BACKEND, "Gmsh cannot fill the surface: %s (%s)",
                text != NULL && text[0] != '\0' ? text : "no reason given", call);
  gmshFree(text);
  return status;
}

#define GMSH(...)                                                                                  \
  do {                                                                                             \
    int error = 0;                                                                                 \
    __VA_ARGS__;                                                                                   \
    if (error != 0) {                                                                              \
      status = fail_with_gmsh(context, #__VA_ARGS__);                                              \
      goto done;                                                                                   \
    }                                                                                              \
  } while (0)

// Gives Gmsh each part as a surface of its own; numbers are those of parts and vertices, from 1 on.
static NoliStatus add_surfaces(NoliContext* context, const Surface* surface) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = surface->mesh;
  size_t *node = NULL, *corner = NULL, n;
  bool* added = NULL;
  double* x = NULL;
  NOLI_NEW(context, node, mesh->n_vert);
  NOLI_NEW(context, corner, 3 * (int64_t)mesh->n_tri);
  NOLI_NEW(context, x, 3 * (int64_t)mesh->n_vert);
  NOLI_NEW_ZERO(context, added, mesh->n_vert);

  for (int32_t c = 0; c < surface->n_components; c++) {
    size_t n_corner = 0;
    n = 0;
    for (int64_t i = 0; i < 3 * (int64_t)mesh->n_tri; i++) {
      int32_t v = mesh->tri[i];
      if (surface->component[i / 3] != c) {
        continue;
      }
      corner[n_corner++] = (size_t)v + 1;
      if (!added[v]) {
        memcpy(&x[3 * n], &mesh->x[3 * (int64_t)v], 3 * sizeof *x);
        node[n++] = (size_t)v + 1;
        added[v] = true;
      }
    }
    GMSH(gmshModelAddDiscreteEntity(2, c + 1, NULL, 0, &error));
    GMSH(gmshModelMeshAddNodes(2, c + 1, node, n, x, 3 * n, NULL, 0, &error));
    GMSH(gmshModelMeshAddElementsByType(c + 1, 2, NULL, 0, corner, n_corner, &error));
  }
done:
  noli_free(context, node);
  noli_free(context, corner);
  noli_free(context, added);
  noli_free(context, x);
  return status;
}

// Splits the surfaces at sharp edges and parametrizes the pieces, so that they are meshed anew.
static NoliStatus make_geometry(NoliContext* context, double size) {
  NoliStatus status = NOLI_OK;
  const double pi = 3.14159265358979323846;
  GMSH(gmshModelMeshClassifySurfaces(SHARP_DEGREES * pi / 180.0, 1, 1, pi, 0, &error));
  GMSH(gmshModelMeshCreateGeometry(NULL, 0, &error));
  GMSH(gmshOptionSetNumber("Mesh.MeshSizeMin", size, &error));
  GMSH(gmshOptionSetNumber("Mesh.MeshSizeMax", size, &error));
done:
  return status;
}

// The part that a surface of the model comes from: that of its first triangle's vertex.
static NoliStatus part_of_surface(NoliContext* context, const Surface* surface,
                                  const int32_t* part_of_vertex, int tag, int32_t* part) {
  NoliStatus status = NOLI_OK;
  size_t *element = NULL, *node = NULL, n_element = 0, n_node = 0;
  *part = NOLI_NULL_INDEX;
  GMSH(gmshModelMeshGetElementsByType(2, &element, &n_element, &node, &n_node, tag, 0, 1, &error));
  for (size_t i = 0; i < n_node && *part == NOLI_NULL_INDEX; i++) {
    if (node[i] >= 1 && node[i] <= (size_t)surface->mesh->n_vert) {
      *part = part_of_vertex[node[i] - 1];
    }
  }
  NOLI_CHECK(context, *part != NOLI_NULL_INDEX, NOLI_ERROR_BACKEND,
             "Gmsh made a surface without vertices of the given one");
done:
  gmshFree(element);
  gmshFree(node);
  return status;
}

// One volume for each solid, bounded by all its parts; its group has the number of the solid.
static NoliStatus add_volumes(NoliContext* context, const Surface* surface) {
  NoliStatus status = NOLI_OK;
  int *entity = NULL, *tag = NULL, *loop = NULL;
  int32_t *part = NULL, *part_of_vertex = NULL;
  size_t n_entity = 0;
  GMSH(gmshModelGetEntities(&entity, &n_entity, 2, &error));
  NOLI_NEW(context, tag, (int64_t)n_entity);
  NOLI_NEW(context, part, (int64_t)n_entity);
  NOLI_NEW(context, loop, surface->n_components);
  NOLI_NEW(context, part_of_vertex, surface->mesh->n_vert);
  for (int64_t i = 0; i < 3 * (int64_t)surface->mesh->n_tri; i++) {
    part_of_vertex[surface->mesh->tri[i]] = surface->component[i / 3];
  }
  for (size_t i = 0; i < n_entity / 2; i++) {
    NOLI_TRY(part_of_surface(context, surface, part_of_vertex, entity[2 * i + 1], &part[i]));
  }

  for (int32_t s = 0; s < surface->n_solids; s++) {
    size_t n_loops = 0;
    // the outer part comes first
    for (int32_t k = 0; k < 2 * surface->n_components; k++) {
      int32_t c = k % surface->n_components;
      bool wanted = surface->solid[c] == s && surface->cavity[c] == (k >= surface->n_components);
      size_t n = 0;
      for (size_t i = 0; i < n_entity / 2 && wanted; i++) {
        if (part[i] == c) {
          tag[n++] = entity[2 * i + 1];
        }
      }
      if (n > 0) {
        GMSH(loop[n_loops] = gmshModelGeoAddSurfaceLoop(tag, n, -1, &error));
        n_loops++;
      }
    }
    GMSH(gmshModelGeoAddVolume(loop, n_loops, s + 1, &error));
  }
  GMSH(gmshModelGeoSynchronize(&error));
  for (int32_t s = 0; s < surface->n_solids; s++) {
    GMSH(gmshModelAddPhysicalGroup(3, (int[]){s + 1}, 1, s + 1, &error));
  }
done:
  gmshFree(entity);
  noli_free(context, tag);
  noli_free(context, loop);
  noli_free(context, part);
  noli_free(context, part_of_vertex);
  return status;
}

static NoliStatus generate(NoliContext* context, const Surface* surface,
                           const SolidOptions* options, const char* scratch) {
  NoliStatus status = NOLI_OK;
  GMSH(gmshOptionSetNumber("General.Terminal", 0.0, &error));
  GMSH(gmshOptionSetNumber("General.NumThreads", 1.0, &error));
  GMSH(gmshOptionSetNumber("Mesh.Binary", 1.0, &error));
  NOLI_TRY(add_surfaces(context, surface));
  NOLI_TRY(options->size > 0.0 ? make_geometry(context, options->size) : NOLI_OK);
  NOLI_TRY(add_volumes(context, surface));
  GMSH(gmshModelMeshGenerate(3, &error));
  GMSH(gmshModelMeshOptimize("", 0, 1, NULL, 0, &error));
  if (options->order > 1) {
    GMSH(gmshModelMeshSetOrder(options->order, &error));
    GMSH(gmshModelMeshOptimize("HighOrder", 0, 1, NULL, 0, &error));
  }
  GMSH(gmshWrite(scratch, &error));
done:
  return status;
}

NoliStatus solid_fill(NoliContext* context, const Surface* surface, const SolidOptions* options,
                      const char* scratch, NoliMesh** solid) {
  NoliStatus status = NOLI_OK;
  int ended = 0;
  GMSH(gmshInitialize(0, NULL, 0, &error));
  NOLI_TRY(generate(context, surface, options, scratch));
  NOLI_TRY(noli_mesh_read(context, scratch, solid));
  NOLI_CHECK(context, (*solid)->n_tet > 0, NOLI_ERROR_BACKEND, "Gmsh made no tetrahedra");
  (void)noli_mesh_orient(*solid);
done:
  gmshFinalize(&ended);
  (void)remove(scratch);
  return status;
}
