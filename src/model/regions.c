#include "model/regions.h"

#include "base/groups.h"
#include "define/body_kind.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 700 };

// Triangles of a surface and its connected parts.
typedef struct Surface {
  int32_t* tri; // (n_tri x 3) vertices of the body
  int32_t n_tri;
  int32_t* part; // (n_tri)
  int32_t n_part;
  double* volume; // (n_part) negative: the part faces a cavity
} Surface;

static void free_surface(NoliContext* context, Surface* surface) {
  noli_free(context, surface->tri);
  noli_free(context, surface->part);
  noli_free(context, surface->volume);
}

// Triangles that share vertices belong to the same part; parts in the order of first triangles.
static NoliStatus regions_find_parts(NoliContext* context, const NoliMesh* mesh, Surface* surface) {
  NoliStatus status = NOLI_OK;
  int32_t *parent = NULL, *number = NULL;
  NOLI_NEW(context, parent, mesh->n_vert);
  NOLI_NEW(context, number, mesh->n_vert);
  NOLI_NEW(context, surface->part, surface->n_tri);
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    parent[v] = v;
    number[v] = NOLI_NULL_INDEX;
  }
  for (int64_t i = 0; i < 3 * (int64_t)surface->n_tri; i++) {
    noli_group_join(parent, surface->tri[i - i % 3], surface->tri[i]);
  }

  for (int64_t t = 0; t < surface->n_tri; t++) {
    int32_t root = noli_group_root(parent, surface->tri[3 * t]);
    if (number[root] == NOLI_NULL_INDEX) {
      number[root] = surface->n_part++;
    }
    surface->part[t] = number[root];
  }
done:
  noli_free(context, parent);
  noli_free(context, number);
  return status;
}

// Keeps the triangles of one part, reversed if they face a cavity.
static void keep_part(Surface* surface, int32_t part) {
  bool inward = surface->volume[part] < 0.0;
  int32_t n = 0;
  for (int64_t t = 0; t < surface->n_tri; t++) {
    if (surface->part[t] == part) {
      int32_t tri[3] = {surface->tri[3 * t], surface->tri[3 * t + (inward ? 2 : 1)],
                        surface->tri[3 * t + (inward ? 1 : 2)]};
      memcpy(surface->tri + 3 * (int64_t)n++, tri, sizeof tri);
    }
  }
  surface->n_tri = n;
}

static NoliStatus measure_parts(NoliContext* context, const NoliMesh* mesh, Surface* surface) {
  NoliStatus status = NOLI_OK;
  int32_t* tri = NULL;
  NOLI_TRY(regions_find_parts(context, mesh, surface));
  NOLI_NEW(context, surface->volume, surface->n_part);
  NOLI_NEW(context, tri, 3 * (int64_t)surface->n_tri);
  for (int32_t p = 0; p < surface->n_part; p++) {
    int64_t n = 0;
    for (int64_t t = 0; t < surface->n_tri; t++) {
      if (surface->part[t] == p) {
        memcpy(tri + 3 * n++, surface->tri + 3 * t, 3 * sizeof *tri);
      }
    }
    surface->volume[p] = noli_volume_inside(tri, n, mesh->x, 1);
  }
done:
  noli_free(context, tri);
  return status;
}

// One connected part of the boundary: the only outer or inner one, or one given by number.
static NoliStatus choose_part(NoliContext* context, const char* name, const NoliVolumeDef* def,
                              const NoliMesh* mesh, Surface* surface) {
  NoliStatus status = NOLI_OK;
  int32_t region = noli_names_index(&noli_region_names, def->region);
  NOLI_TRY(measure_parts(context, mesh, surface));
  int32_t chosen = def->index, n_alike = 0;
  bool cavity = region == NOLI_REGION_CAVITY;
  for (int32_t p = 0; region != NOLI_REGION_COMPONENT && p < surface->n_part; p++) {
    if ((surface->volume[p] < 0.0) == cavity) {
      chosen = p;
      n_alike++;
    }
  }
  NOLI_CHECK(
      context, region == NOLI_REGION_COMPONENT || n_alike == 1, NOLI_ERROR_ARGUMENT,
      "%s: the boundary has %d %s surfaces of %d in all; unless there is exactly one, select a "
      "surface by number",
      name, n_alike, cavity ? "inner" : "outer", surface->n_part);
  NOLI_CHECK(context, chosen >= 0 && chosen < surface->n_part, NOLI_ERROR_ARGUMENT,
             "%s: the boundary has %d connected surfaces; there is no number %d", name,
             surface->n_part, chosen);
  keep_part(surface, chosen);
done:
  return status;
}

// Boundary of the tetrahedra with a tag.
static NoliStatus tagged_boundary(NoliContext* context, const char* name, int32_t tag,
                                  const NoliMesh* mesh, Surface* surface) {
  NoliStatus status = NOLI_OK;
  NoliMesh tagged = {.n_vert = mesh->n_vert, .x = mesh->x};
  NOLI_NEW(context, tagged.tet, 4 * (int64_t)mesh->n_tet);
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    if ((mesh->tet_tag != NULL ? mesh->tet_tag[t] : 0) == tag) {
      memcpy(tagged.tet + 4 * (int64_t)tagged.n_tet++, mesh->tet + 4 * t, 4 * sizeof *mesh->tet);
    }
  }
  NOLI_CHECK(context, tagged.n_tet > 0, NOLI_ERROR_ARGUMENT, "%s: no tetrahedron has the tag %d%s",
             name, tag, mesh->tet_tag == NULL ? "; the mesh has no tags" : "");
  NOLI_TRY(noli_mesh_boundary(context, &tagged, &surface->tri, &surface->n_tri));
done:
  noli_free(context, tagged.tet);
  return status;
}

static NoliStatus given_triangles(NoliContext* context, const char* name, const NoliVolumeDef* def,
                                  const NoliMesh* mesh, Surface* surface) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, def->tri != NULL && def->n_tri > 0, NOLI_ERROR_ARGUMENT,
             "%s: there are no triangles", name);
  for (int64_t i = 0; i < 3 * (int64_t)def->n_tri; i++) {
    NOLI_CHECK(context, def->tri[i] >= 0 && def->tri[i] < mesh->n_vert, NOLI_ERROR_ARGUMENT,
               "%s: triangle %lld names vertex %d, which does not exist", name, (long long)(i / 3),
               def->tri[i]);
  }
  NOLI_NEW(context, surface->tri, 3 * (int64_t)def->n_tri);
  memcpy(surface->tri, def->tri, 3 * sizeof *def->tri * (size_t)def->n_tri);
  surface->n_tri = def->n_tri;
done:
  return status;
}

// The region that a closed shell encloses.
static NoliStatus all_of_shell(NoliContext* context, const char* name, const NoliVolumeDef* def,
                               const NoliMesh* mesh, Surface* surface) {
  NoliStatus status = NOLI_OK;
  int32_t region = noli_names_index(&noli_region_names, def->region);
  NOLI_CHECK(
      context, region == NOLI_REGION_CAVITY || region == NOLI_REGION_OUTSIDE, NOLI_ERROR_ARGUMENT,
      "%s: a shell has no tetrahedra; its only region is the enclosed one, \"cavity\"", name);
  NOLI_NEW(context, surface->tri, 3 * (int64_t)mesh->n_tri);
  memcpy(surface->tri, mesh->tri, 3 * sizeof *mesh->tri * (size_t)mesh->n_tri);
  surface->n_tri = mesh->n_tri;
  if (noli_volume_inside(surface->tri, surface->n_tri, mesh->x, 1) < 0.0) {
    // it faces inward
    for (int64_t t = 0; t < surface->n_tri; t++) {
      int32_t second = surface->tri[3 * t + 1];
      surface->tri[3 * t + 1] = surface->tri[3 * t + 2];
      surface->tri[3 * t + 2] = second;
    }
  }
done:
  return status;
}

// The triangles that enclose a region, facing outward, with vertices of the body.
static NoliStatus enclose(NoliContext* context, const char* name, const NoliVolumeDef* def,
                          const NoliBodyDef* body, Surface* surface) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = body->mesh;
  NoliRegion region = (NoliRegion)noli_names_index(&noli_region_names, def->region);
  const NoliBodyKind* kind = noli_body_kind(body);
  NOLI_CHECK(context, kind->encloses, NOLI_ERROR_ARGUMENT, "%s: rods and points enclose no volume",
             name);
  if (kind == &noli_body_shell && region != NOLI_REGION_TRIANGLES) {
    return all_of_shell(context, name, def, mesh, surface);
  }

  switch (region) {
  case NOLI_REGION_TAG:
    return tagged_boundary(context, name, def->index, mesh, surface);
  case NOLI_REGION_TRIANGLES:
    return given_triangles(context, name, def, mesh, surface);
  case NOLI_REGION_BODY:
    return noli_mesh_boundary(context, mesh, &surface->tri, &surface->n_tri);
  case NOLI_REGION_OUTSIDE:
  case NOLI_REGION_CAVITY:
  case NOLI_REGION_COMPONENT:
    NOLI_TRY(noli_mesh_boundary(context, mesh, &surface->tri, &surface->n_tri));
    NOLI_TRY(choose_part(context, name, def, mesh, surface));
    return NOLI_OK;
  }
done:
  return status;
}

static NoliStatus regions_add_region(NoliModel* model, const NoliSimDef* sim_def, int32_t index) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  const NoliVolumeDef* def = &sim_def->volumes[index];
  const NoliBodyDef* body = &sim_def->bodies[def->body];
  Surface surface = {0};
  char name[NAME_SIZE];
  snprintf(name, sizeof name, "%.500s%svolume %d of body \"%.100s\"",
           def->where != NULL ? def->where : "", def->where != NULL ? ": " : "", index,
           model->name[def->body]);
  const NoliBlock* block = noli_problem_block(&model->problem, def->body);
  NOLI_CHECK(context, block == NULL || block->space == NULL, NOLI_ERROR_ARGUMENT,
             "%s: its elements are curved or of high order, and the volume within their faces is "
             "not computed: use linear elements, with a finer mesh",
             name);
  NOLI_TRY(enclose(context, name, def, body, &surface));
  for (int64_t i = 0; i < 3 * (int64_t)surface.n_tri; i++) {
    surface.tri[i] += model->vert_first[def->body];
  }
  NoliVolumeLaw law = {
      .model = (NoliVolumeModel)noli_names_index(&noli_volume_model_names, def->model),
      .compression =
          def->compression > 0.0 ? def->compression : 1.0 / (NOLI_ATMOSPHERE + def->pressure),
      .pressure = def->pressure};
  NOLI_TRY(noli_volumes_add(&model->problem.volumes, context, name, def->body, law, surface.tri,
                            surface.n_tri, model->problem.n_vert, model->problem.X));
done:
  free_surface(context, &surface);
  return status;
}

NoliStatus noli_regions_build(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < def->n_volumes; i++) {
    NOLI_TRY(regions_add_region(model, def, i));
  }
done:
  return status;
}
