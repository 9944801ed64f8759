#include "scene/built_in.h"

#include "scene/expression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_CELLS 1e8

enum { NOTE_SIZE = 160 };

static int32_t member_integer(const NoliSceneNode* parent, const char* key) {
  NoliSceneNode node = noli_scene_member(parent, key);
  return (int32_t)noli_scene_number(&node);
}

static double member_number(const NoliSceneNode* parent, const char* key) {
  NoliSceneNode node = noli_scene_member(parent, key);
  return noli_scene_number(&node);
}

static void member_vector(const NoliSceneNode* parent, const char* key, double out[3]) {
  NoliSceneNode node = noli_scene_member(parent, key);
  noli_scene_vector(&node, out);
}

static void member_cells(const NoliSceneNode* parent, const char* key, int32_t out[3]) {
  double values[3];
  member_vector(parent, key, values);
  for (int i = 0; i < 3; i++) {
    out[i] = (int32_t)values[i];
  }
}

// Fails when a shape would have absurdly many cells: a x b x c.
static NoliStatus check_cells(const NoliSceneSource* source, const NoliSceneNode* node, double a,
                              double b, double c) {
  NoliStatus status = NOLI_OK;
  NOLI_SCENE_CHECK(source, node, a * b * c <= MAX_CELLS, "%g cells are more than %g", a * b * c,
                   MAX_CELLS);
done:
  return status;
}

// A shape that could not be made as its numbers say: the message moves into one that says where.
static NoliStatus located(const NoliSceneSource* source, const NoliSceneNode* node,
                          NoliStatus status) {
  if (status == NOLI_ERROR_ARGUMENT) {
    char message[NOTE_SIZE];
    snprintf(message, sizeof message, "%s", noli_context_message(source->context));
    status = noli_scene_fail(source, node, NOLI_ERROR_FORMAT, "%s", message);
  }
  return status;
}

static NoliStatus make_box(const NoliSceneSource* source, const NoliSceneNode* node,
                           NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  double size[3];
  int32_t cells[3];
  member_vector(node, "size", size);
  member_cells(node, "cells", cells);
  NOLI_TRY(check_cells(source, node, cells[0], cells[1], cells[2]));
  NOLI_TRY(noli_mesh_make_box(source->context, size, cells, false, mesh));
done:
  return status;
}

static NoliStatus make_sphere(const NoliSceneSource* source, const NoliSceneNode* node,
                              NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t cells = member_integer(node, "cells"), layers = member_integer(node, "layers");
  int32_t order = member_integer(node, "geometry_order");
  double radius = member_number(node, "radius");
  NoliSceneNode inner = noli_scene_member(node, "inner_radius");
  NOLI_TRY(check_cells(source, node, cells, cells, inner.value != NULL ? 6.0 * layers : cells));
  if (inner.value == NULL) {
    NOLI_TRY(noli_mesh_make_curved_sphere(source->context, radius, cells, order, mesh));
    goto done;
  }
  double inner_radius = noli_scene_number(&inner);
  NOLI_SCENE_CHECK(source, &inner, inner_radius < radius,
                   "must be smaller than the radius, %g, got %g", radius, inner_radius);
  NOLI_SCENE_CHECK(source, node, order == 1,
                   "a hollow ball has straight elements: no \"geometry_order\" above 1, got %d",
                   order);
  NOLI_TRY(noli_mesh_make_hollow_sphere(source->context, radius, inner_radius, cells, layers, false,
                                        mesh));
done:
  return status;
}

static NoliStatus make_cylinder(const NoliSceneSource* source, const NoliSceneNode* node,
                                NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t across = member_integer(node, "cells_across"),
          along = member_integer(node, "cells_along");
  NOLI_TRY(check_cells(source, node, across, across, along));
  NOLI_TRY(noli_mesh_make_curved_cylinder(source->context, member_number(node, "radius"),
                                          member_number(node, "height"), across, along,
                                          member_integer(node, "geometry_order"), mesh));
done:
  return status;
}

static NoliStatus make_rod(const NoliSceneSource* source, const NoliSceneNode* node,
                           NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t across = member_integer(node, "cells_across"),
          along = member_integer(node, "cells_along");
  NOLI_TRY(check_cells(source, node, across, across, along));
  NOLI_TRY(noli_mesh_make_rod(source->context, member_number(node, "length"),
                              member_number(node, "width"), along, across, false, mesh));
done:
  return status;
}

static NoliStatus make_mat(const NoliSceneSource* source, const NoliSceneNode* node,
                           NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  double size[3];
  int32_t cells[3];
  member_vector(node, "size", size);
  member_cells(node, "cells", cells);
  NOLI_TRY(check_cells(source, node, cells[0], cells[1], 1.0));
  NOLI_TRY(noli_mesh_make_mat(source->context, size[0], size[1], member_number(node, "thickness"),
                              cells[0], cells[1], false, mesh));
done:
  return status;
}

static NoliStatus make_torus(const NoliSceneSource* source, const NoliSceneNode* node,
                             NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t around = member_integer(node, "cells_around");
  int32_t across = member_integer(node, "cells_across");
  double ring = member_number(node, "ring_radius"), tube = member_number(node, "tube_radius");
  NOLI_SCENE_CHECK(source, node, tube < ring,
                   "tube_radius must be smaller than ring_radius, got %g and %g", tube, ring);
  NOLI_TRY(check_cells(source, node, around, across, across));
  NOLI_TRY(noli_mesh_make_torus(source->context, ring, tube, around, across, false, mesh));
done:
  return status;
}

// Marks the cells for whose centres the expression is not 0.
static NoliStatus fill_cells(const NoliSceneSource* source, const NoliSceneNode* node,
                             const double size[3], const int32_t cells[3], bool* filled) {
  NoliStatus status = NOLI_OK;
  NoliSceneVariables variables = {0};
  NoliSceneExpression expression = {0};
  NOLI_TRY(noli_scene_compile(source, node, false, &variables, &expression));
  int64_t n = (int64_t)cells[0] * cells[1] * cells[2], n_filled = 0;
  for (int64_t c = 0; c < n; c++) {
    int64_t at[3] = {c / cells[2] / cells[1], c / cells[2] % cells[1], c % cells[2]};
    for (int i = 0; i < 3; i++) {
      variables.position[i] = 0.5 * size[i] * ((double)(2 * at[i] + 1 - cells[i]) / cells[i]);
    }
    double value = noli_scene_evaluate(&expression, 0.0);
    NOLI_SCENE_CHECK(source, node, isfinite(value), "has no finite value at (%g, %g, %g)",
                     variables.position[0], variables.position[1], variables.position[2]);
    filled[c] = value != 0.0;
    n_filled += filled[c];
  }
  NOLI_SCENE_CHECK(source, node, n_filled > 0, "is 0 at the centres of all cells");
done:
  noli_scene_release_expression(&expression);
  return status;
}

static NoliStatus make_voxels(const NoliSceneSource* source, const NoliSceneNode* node,
                              NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode inside = noli_scene_member(node, "inside");
  bool* filled = NULL;
  double size[3];
  int32_t cells[3];
  member_vector(node, "size", size);
  member_cells(node, "cells", cells);
  NOLI_TRY(check_cells(source, node, cells[0], cells[1], cells[2]));
  NOLI_NEW(source->context, filled, (int64_t)cells[0] * cells[1] * cells[2]);
  NOLI_TRY(fill_cells(source, &inside, size, cells, filled));
  NOLI_TRY(noli_mesh_make_voxels(source->context, size, cells, filled, false, mesh));
done:
  noli_free(source->context, filled);
  return status;
}

// A list of pairs of numbers, owned by the caller.
static NoliStatus read_pairs(const NoliSceneSource* source, const NoliSceneNode* list,
                             double** pairs, int32_t* n) {
  NoliStatus status = NOLI_OK;
  *n = (int32_t)noli_scene_size(list);
  NOLI_NEW(source->context, *pairs, 2 * (int64_t)*n);
  for (int32_t i = 0; i < *n; i++) {
    NoliSceneNode item = noli_scene_item(list, (size_t)i);
    double point[3];
    noli_scene_vector(&item, point);
    (*pairs)[2 * i] = point[0];
    (*pairs)[2 * i + 1] = point[1];
  }
done:
  return status;
}

// An error about a list moves into a message that says where the list is.
static NoliStatus built_in_locate(const NoliSceneSource* source, const NoliSceneNode* list,
                                  NoliStatus status) {
  if (status != NOLI_ERROR_ARGUMENT) {
    return status;
  }
  char message[NOTE_SIZE];
  snprintf(message, sizeof message, "%s", noli_context_message(source->context));
  return noli_scene_fail(source, list, NOLI_ERROR_FORMAT, "%s", message);
}

static NoliStatus make_revolution(const NoliSceneSource* source, const NoliSceneNode* node,
                                  NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode list = noli_scene_member(node, "profile");
  double* profile = NULL;
  int32_t n = 0, around = member_integer(node, "cells_around");
  NOLI_TRY(read_pairs(source, &list, &profile, &n));
  NOLI_TRY(check_cells(source, node, n, around, 1.0));
  NOLI_TRY(
      located(source, &list, noli_mesh_make_revolution(source->context, profile, n, around, mesh)));
done:
  noli_free(source->context, profile);
  return status;
}

static NoliStatus make_bowl(const NoliSceneSource* source, const NoliSceneNode* node,
                            NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  double radius = member_number(node, "radius"), thickness = member_number(node, "thickness");
  double angle = member_number(node, "angle");
  int32_t cells = member_integer(node, "cells"), through = member_integer(node, "cells_through");
  NOLI_TRY(check_cells(source, node, cells, cells, through));
  NOLI_SCENE_CHECK(source, node, thickness < radius,
                   "thickness must be below the radius, %g, got %g", radius, thickness);
  NOLI_TRY(
      noli_mesh_make_bowl(source->context, radius, thickness, angle, cells, through, false, mesh));
done:
  return status;
}

static NoliStatus make_bolt(const NoliSceneSource* source, const NoliSceneNode* node,
                            NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t across = member_integer(node, "cells_across"),
          along = member_integer(node, "cells_along");
  NOLI_TRY(check_cells(source, node, across, across, along));
  NOLI_TRY(located(source, node,
                   noli_mesh_make_bolt(source->context, member_number(node, "radius"),
                                       member_number(node, "length"), member_number(node, "pitch"),
                                       member_number(node, "depth"), across, along, false, mesh)));
done:
  return status;
}

static NoliStatus make_nut(const NoliSceneSource* source, const NoliSceneNode* node,
                           NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t around = member_integer(node, "cells_around");
  int32_t through = member_integer(node, "cells_through");
  int32_t along = member_integer(node, "cells_along");
  NOLI_TRY(check_cells(source, node, around, through, along));
  NOLI_TRY(
      located(source, node,
              noli_mesh_make_nut(source->context, member_number(node, "inner_radius"),
                                 member_number(node, "outer_radius"), member_number(node, "height"),
                                 member_number(node, "pitch"), member_number(node, "depth"), around,
                                 through, along, false, mesh)));
done:
  return status;
}

static NoliStatus make_truss(const NoliSceneSource* source, const NoliSceneNode* node,
                             NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t across = member_integer(node, "cells_across"),
          along = member_integer(node, "cells_along"), joints[3];
  member_cells(node, "joints", joints);
  double period = (double)across + along;
  NOLI_TRY(check_cells(source, node, joints[0] * period, joints[1] * period, joints[2] * period));
  NOLI_TRY(located(source, node,
                   noli_mesh_make_truss(source->context, joints, member_number(node, "spacing"),
                                        member_number(node, "joint_radius"),
                                        member_number(node, "strut_radius"), across, along,
                                        member_integer(node, "geometry_order"), false, mesh)));
done:
  return status;
}

// A rectangle of triangles, by the generator that knows its plane, or in a pattern.
typedef NoliStatus MakeRectangle(NoliContext* context, double length_1, double length_2,
                                 int32_t cells_1, int32_t cells_2, NoliMesh** mesh);

static NoliStatus make_flat(const NoliSceneSource* source, const NoliSceneNode* node,
                            MakeRectangle* make, NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  double size[3];
  int32_t cells[3];
  member_vector(node, "size", size);
  member_cells(node, "cells", cells);
  NOLI_TRY(check_cells(source, node, cells[0], cells[1], 1.0));
  NoliSceneNode pattern = noli_scene_member(node, "pattern");
  if (pattern.value == NULL) {
    NOLI_TRY(make(source->context, size[0], size[1], cells[0], cells[1], mesh));
    goto done;
  }
  NOLI_TRY(noli_mesh_make_sheet(source->context, size[0], size[1], cells[0], cells[1],
                                noli_scene_string(&pattern), mesh));
  if (make == noli_mesh_make_plane) {
    const double unit[3] = {1, 1, 1}, lie_down[3] = {-90, 0, 0}, here[3] = {0, 0, 0};
    noli_mesh_transform(*mesh, unit, lie_down, here);
  }
done:
  return status;
}

static NoliStatus make_plane(const NoliSceneSource* source, const NoliSceneNode* node,
                             NoliMesh** mesh) {
  return make_flat(source, node, noli_mesh_make_plane, mesh);
}

static NoliStatus make_rectangle(const NoliSceneSource* source, const NoliSceneNode* node,
                                 NoliMesh** mesh) {
  return make_flat(source, node, noli_mesh_make_rectangle, mesh);
}

static NoliStatus make_disk(const NoliSceneSource* source, const NoliSceneNode* node,
                            NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t cells = member_integer(node, "cells");
  double radius = member_number(node, "radius");
  NoliSceneNode rings = noli_scene_member(node, "rings");
  if (rings.value != NULL) {
    int32_t n = (int32_t)noli_scene_number(&rings);
    NOLI_TRY(check_cells(source, node, 3.0 * n, n, 1.0));
    NOLI_TRY(noli_mesh_make_ring_disk(source->context, radius, n, mesh));
    goto done;
  }
  NOLI_TRY(check_cells(source, node, cells, cells, 1.0));
  NOLI_TRY(noli_mesh_make_disk(source->context, radius, cells, mesh));
done:
  return status;
}

static NoliStatus make_polygon(const NoliSceneSource* source, const NoliSceneNode* node,
                               NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode list = noli_scene_member(node, "corners");
  double* corner = NULL;
  int32_t n = 0, cells = member_integer(node, "cells");
  NOLI_TRY(read_pairs(source, &list, &corner, &n));
  NOLI_TRY(check_cells(source, node, n, cells, cells));
  NOLI_TRY(built_in_locate(source, &list,
                           noli_mesh_make_polygon(source->context, corner, n, cells, mesh)));
done:
  noli_free(source->context, corner);
  return status;
}

static NoliStatus make_line(const NoliSceneSource* source, const NoliSceneNode* node,
                            NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t n = member_integer(node, "segments");
  NOLI_TRY(check_cells(source, node, n, 1.0, 1.0));
  NOLI_TRY(noli_mesh_make_line(source->context, member_number(node, "length"), n, mesh));
done:
  return status;
}

static NoliStatus make_ring(const NoliSceneSource* source, const NoliSceneNode* node,
                            NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t n = member_integer(node, "segments");
  NOLI_TRY(check_cells(source, node, n, 1.0, 1.0));
  NOLI_TRY(noli_mesh_make_helix(source->context, member_number(node, "radius"), 0.0, 1.0, n, mesh));
done:
  return status;
}

static NoliStatus make_helix(const NoliSceneSource* source, const NoliSceneNode* node,
                             NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t n = member_integer(node, "segments");
  double radius = member_number(node, "radius"), pitch = member_number(node, "pitch");
  NOLI_TRY(check_cells(source, node, n, 1.0, 1.0));
  NOLI_TRY(located(
      source, node,
      noli_mesh_make_helix(source->context, radius, pitch, member_number(node, "turns"), n, mesh)));
done:
  return status;
}

// Points of a curve for each of its segments.
enum { CURVE_POINTS = 32 };

// `point` (n x 3) on the curve, at equal steps of the parameter t from 0 to 1.
static NoliStatus trace_curve(const NoliSceneSource* source, const NoliSceneNode* node, int64_t n,
                              double* point) {
  NoliStatus status = NOLI_OK;
  NoliSceneVariables variables = {0};
  NoliSceneExpression position[3] = {{0}};
  NOLI_TRY(noli_scene_compile_vector(source, node, true, &variables, position));
  for (int64_t i = 0; i < n; i++) {
    double t = (double)i / (double)(n - 1);
    for (int k = 0; k < 3; k++) {
      point[3 * i + k] = noli_scene_evaluate(&position[k], t);
      NOLI_SCENE_CHECK(source, node, isfinite(point[3 * i + k]), "is not finite at t = %g", t);
    }
  }
done:
  for (int k = 0; k < 3; k++) {
    noli_scene_release_expression(&position[k]);
  }
  return status;
}

static NoliStatus make_curve(const NoliSceneSource* source, const NoliSceneNode* node,
                             NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode position = noli_scene_member(node, "position");
  int32_t n_segment = member_integer(node, "segments");
  double* point = NULL;
  NOLI_TRY(check_cells(source, node, n_segment, CURVE_POINTS, 1.0));
  int32_t n_point = CURVE_POINTS * n_segment + 1;
  NOLI_NEW(source->context, point, 3 * (int64_t)n_point);
  NOLI_TRY(trace_curve(source, &position, n_point, point));
  NOLI_TRY(located(source, node,
                   noli_mesh_make_curve(source->context, point, n_point, n_segment, mesh)));
done:
  noli_free(source->context, point);
  return status;
}

static NoliStatus make_tube(const NoliSceneSource* source, const NoliSceneNode* node,
                            NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t around = member_integer(node, "cells_around");
  int32_t along = member_integer(node, "cells_along");
  NOLI_TRY(check_cells(source, node, around, along, 1.0));
  NOLI_TRY(noli_mesh_make_tube(source->context, member_number(node, "radius"),
                               member_number(node, "height"), around, along, mesh));
done:
  return status;
}

static NoliStatus make_icosphere(const NoliSceneSource* source, const NoliSceneNode* node,
                                 NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t n = member_integer(node, "subdivision");
  NOLI_TRY(check_cells(source, node, 10.0 * n, n, 1.0));
  NOLI_TRY(noli_mesh_make_icosphere(source->context, member_number(node, "radius"), n, mesh));
done:
  return status;
}

static NoliStatus make_torus_shell(const NoliSceneSource* source, const NoliSceneNode* node,
                                   NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t around = member_integer(node, "cells_around");
  int32_t across = member_integer(node, "cells_across");
  NOLI_TRY(check_cells(source, node, around, across, 1.0));
  NOLI_TRY(located(source, node,
                   noli_mesh_make_torus_shell(source->context, member_number(node, "ring_radius"),
                                              member_number(node, "tube_radius"), around, across,
                                              mesh)));
done:
  return status;
}

static NoliStatus make_moebius(const NoliSceneSource* source, const NoliSceneNode* node,
                               NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t around = member_integer(node, "cells_around");
  int32_t across = member_integer(node, "cells_across");
  NOLI_TRY(check_cells(source, node, around, across, 1.0));
  NOLI_TRY(located(source, node,
                   noli_mesh_make_moebius(source->context, member_number(node, "radius"),
                                          member_number(node, "width"), around, across, mesh)));
done:
  return status;
}

static NoliStatus make_chain_mail(const NoliSceneSource* source, const NoliSceneNode* node,
                                  NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode tube = noli_scene_member(node, "tube_radius");
  int32_t rings[3], around = member_integer(node, "cells_around");
  int32_t across = tube.value != NULL ? member_integer(node, "cells_across") : 1;
  double radius = member_number(node, "radius");
  member_cells(node, "rings", rings);
  NOLI_TRY(check_cells(source, node, (double)rings[0] * rings[1], around, (double)across * across));
  status = tube.value != NULL
               ? noli_mesh_make_solid_chain_mail(source->context, rings, radius,
                                                 noli_scene_number(&tube), around, across, mesh)
               : noli_mesh_make_chain_mail(source->context, rings, radius, around, mesh);
  NOLI_TRY(located(source, node, status));
done:
  return status;
}

// Copies the integers of a list of cells of `size` vertices.
static void built_in_copy_cells(const NoliSceneNode* list, int size, int32_t* out) {
  for (size_t i = 0; i < noli_scene_size(list); i++) {
    json_t* item = json_array_get(list->value, i);
    for (int k = 0; k < size; k++) {
      json_t* number = size > 1 ? json_array_get(item, (size_t)k) : item;
      out[(size_t)size * i + (size_t)k] = (int32_t)json_number_value(number);
    }
  }
}

// Tags of all cells, or none.
static NoliStatus copy_tags(const NoliSceneSource* source, const NoliSceneNode* node,
                            const char* key, int32_t n_cell, int32_t* out) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode list = noli_scene_member(node, key);
  NOLI_SCENE_CHECK(source, &list, list.value == NULL || noli_scene_size(&list) == (size_t)n_cell,
                   "has %zu tags for %d cells", noli_scene_size(&list), (int)n_cell);
  if (list.value != NULL) {
    built_in_copy_cells(&list, 1, out);
  } else if (out != NULL) {
    memset(out, 0, (size_t)n_cell * sizeof *out);
  }
done:
  return status;
}

// Vertices and cells as they are; shape.c checks every mesh.
static NoliStatus make_arrays(const NoliSceneSource* source, const NoliSceneNode* node,
                              NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode positions = noli_scene_member(node, "positions");
  NoliSceneNode tets = noli_scene_member(node, "tets");
  NoliSceneNode triangles = noli_scene_member(node, "triangles");
  NoliSceneNode segments = noli_scene_member(node, "segments");
  NoliSceneNode points = noli_scene_member(node, "points");
  bool with_tags = noli_scene_member(node, "tet_tags").value != NULL ||
                   noli_scene_member(node, "triangle_tags").value != NULL;

  NOLI_TRY(noli_mesh_create(source->context, (int32_t)noli_scene_size(&positions),
                            (int32_t)noli_scene_size(&tets), (int32_t)noli_scene_size(&triangles),
                            (int32_t)noli_scene_size(&segments), (int32_t)noli_scene_size(&points),
                            with_tags, mesh));
  NoliMesh* made = *mesh;
  for (size_t i = 0; i < noli_scene_size(&positions); i++) {
    NoliSceneNode item = noli_scene_item(&positions, i);
    noli_scene_vector(&item, &made->x[3 * i]);
  }

  built_in_copy_cells(&tets, 4, made->tet);
  built_in_copy_cells(&triangles, 3, made->tri);
  built_in_copy_cells(&segments, 2, made->edge);
  built_in_copy_cells(&points, 1, made->point);
  NOLI_TRY(copy_tags(source, node, "tet_tags", made->n_tet, made->tet_tag));
  NOLI_TRY(copy_tags(source, node, "triangle_tags", made->n_tri, made->tri_tag));
done:
  return status;
}

typedef NoliStatus MakeShapeFn(const NoliSceneSource* source, const NoliSceneNode* node,
                               NoliMesh** mesh);

// The keys of "shape" in format_shapes.c.
static const struct {
  const char* key;
  MakeShapeFn* make;
} shape_makers[] = {
    {"box", make_box},
    {"sphere", make_sphere},
    {"cylinder", make_cylinder},
    {"rod", make_rod},
    {"mat", make_mat},
    {"torus", make_torus},
    {"bowl", make_bowl},
    {"voxels", make_voxels},
    {"plane", make_plane},
    {"tube", make_tube},
    {"icosphere", make_icosphere},
    {"torus_shell", make_torus_shell},
    {"moebius", make_moebius},
    {"chain_mail", make_chain_mail},
    {"revolution", make_revolution},
    {"rectangle", make_rectangle},
    {"disk", make_disk},
    {"line", make_line},
    {"ring", make_ring},
    {"helix", make_helix},
    {"curve", make_curve},
    {"polygon", make_polygon},
    {"bolt", make_bolt},
    {"nut", make_nut},
    {"truss", make_truss},
    {"arrays", make_arrays},
};

NoliStatus noli_scene_make_shape(const NoliSceneSource* source, const NoliSceneNode* node,
                                 NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  for (size_t i = 0; i < sizeof shape_makers / sizeof *shape_makers; i++) {
    NoliSceneNode shape = noli_scene_member(node, shape_makers[i].key);
    if (shape.value != NULL) {
      NOLI_TRY(shape_makers[i].make(source, &shape, mesh));
    }
  }
done:
  return status;
}
