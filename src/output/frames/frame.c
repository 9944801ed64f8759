#include "output/frames/frame.h"

#include "base/ranks.h"
#include "base/validate.h"
#include "define/body_kind.h"
#include "define/definition.h"
#include "fem/thin/twist.h"
#include "output/frames/lagrange_cells.h"
#include "output/frames/proxy_cells.h"
#include "output/frames/vtu.h"
#include "step/simulation.h"

#include <string.h>

static void number_bodies(const NoliSim* sim, int32_t* vertex_body) {
  for (int32_t i = 0; i < noli_sim_vertex_count(sim); i++) {
    vertex_body[i] = sim->model->problem.surface->body[i];
  }
}

// Whether the triangles with which a body collides are not just the faces of its cells.
static bool has_proxy(const NoliSim* sim, int32_t body) {
  const NoliModel* model = sim->model;
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  return (block != NULL && block->space != NULL) ||
         model->follower_first[body + 1] > model->follower_first[body];
}

// Appends one cell; its body is that of its first vertex.
static void append_cell(NoliFrameLayout* layout, int32_t n_vert, const int32_t* vertex,
                        uint8_t type) {
  int64_t cell = layout->n_cells++;
  int64_t begin = cell > 0 ? layout->offsets[cell - 1] : 0;
  memcpy(layout->connectivity + begin, vertex, sizeof *vertex * (size_t)n_vert);
  layout->offsets[cell] = begin + n_vert;
  layout->types[cell] = type;
  layout->cell_body[cell] = layout->vertex_body[vertex[0]];
  layout->cell_tag[cell] = 0;
  layout->cell_proxy[cell] = 0;
}

// Appends the cells of a body whose elements have nodes beside vertices.
static void append_elements(int32_t body, int32_t first_node, const NoliSpace* space,
                            NoliFrameLayout* layout) {
  int64_t cell = layout->n_cells, begin = cell > 0 ? layout->offsets[cell - 1] : 0;
  noli_lagrange_cells(space, first_node, begin, layout->connectivity + begin,
                      layout->offsets + cell, layout->types + cell);
  for (int32_t t = 0; t < space->n_tet; t++) {
    layout->cell_body[cell + t] = body;
    layout->cell_tag[cell + t] = 0;
    layout->cell_proxy[cell + t] = 0;
  }
  layout->n_cells += space->n_tet;
}

// Elements of all bodies, tetrahedra of whatever order.
static void append_bodies(const NoliSim* sim, bool* is_solid, NoliFrameLayout* layout) {
  static const uint8_t types[] = {0, NOLI_CELL_VERTEX, NOLI_CELL_LINE, NOLI_CELL_TRIANGLE,
                                  NOLI_CELL_TETRAHEDRON};
  const NoliModel* model = sim->model;
  for (int32_t b = 0; b < model->n_body; b++) {
    is_solid[b] = model->cell_first[b + 1] > model->cell_first[b];
    const NoliBlock* block = noli_problem_block(&model->problem, b);
    if (block != NULL && block->space != NULL) {
      append_elements(b, model->vert_first[b], block->space, layout);
      continue;
    }
    for (int32_t t = model->cell_first[b]; t < model->cell_first[b + 1]; t++) {
      const int32_t* tet = model->cell + 4 * (int64_t)t;
      int32_t n = noli_model_cell_size(tet);
      append_cell(layout, n, tet, model->carried[b] ? NOLI_CELL_POLY_VERTEX : types[n]);
    }
  }
}

// The surfaces with which bodies collide, where they are others than the faces of their cells.
static NoliStatus append_proxies(NoliContext* context, const NoliSim* sim,
                                 NoliFrameLayout* layout) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = sim->model->problem.surface;
  for (int32_t b = 0; b < sim->model->n_body; b++) {
    if (!has_proxy(sim, b)) {
      continue;
    }
    int32_t n_tri = surface->tri_first[b + 1] - surface->tri_first[b];
    const int32_t* tri = surface->tri + 3 * (int64_t)surface->tri_first[b];
    for (int32_t i = 0; i < n_tri; i++) {
      append_cell(layout, 3, tri + 3 * (int64_t)i, NOLI_CELL_TRIANGLE);
      layout->cell_proxy[layout->n_cells - 1] = 1;
    }
    NOLI_TRY(noli_proxy_cells_find(context, sim->model, b, n_tri, tri,
                                   layout->proxy_tet + 3 * layout->n_proxy));
    layout->n_proxy += n_tri;
  }
done:
  return status;
}

// Copies the tags of a mesh to the cells of a body from `*cell` on, and moves on to the next body.
// A mesh whose cells are not those of the simulation (an obstacle may be made of the boundary of
// tetrahedra) leaves tags 0.
static void tag_body(NoliFrameLayout* layout, int32_t body, const int32_t* tag, int32_t count,
                     int64_t end, int64_t* cell) {
  int64_t first = *cell;
  while (*cell < end && layout->cell_body[*cell] == body) {
    (*cell)++;
  }
  if (tag != NULL && *cell - first == count && count > 0) {
    memcpy(layout->cell_tag + first, tag, sizeof *tag * (size_t)count);
  }
}

// Tetrahedra come body after body, as the meshes list them; then triangles, in the same order.
static void tag_cells(const NoliSimDef* def, int64_t n_triangles, NoliFrameLayout* layout) {
  int64_t tet = 0, triangle = layout->n_tet;
  for (int32_t body = 0; body < def->n_bodies; body++) {
    const NoliMesh* mesh = def->bodies[body].mesh;
    NoliBodyCells cells = noli_body_elements(&def->bodies[body]);
    tag_body(layout, body, cells.tag, cells.n, layout->n_tet, &tet);
    tag_body(layout, body, mesh->tri_tag, mesh->n_tri, layout->n_tet + n_triangles, &triangle);
  }
}

// Tetrahedra, then triangles, segments and points that bound none, then collision proxies.
static NoliStatus frame_list_cells(NoliContext* context, const NoliSim* sim, const NoliSimDef* def,
                                   NoliFrameLayout* layout) {
  NoliStatus status = NOLI_OK;
  bool* is_solid = NULL;
  int32_t n_segments, n_points;
  const int32_t* tri = noli_sim_surface_triangles(sim);
  const int32_t* segment = noli_sim_segments(sim, &n_segments);
  const int32_t* point = noli_sim_points(sim, &n_points);
  NOLI_NEW_ZERO(context, is_solid, noli_sim_body_count(sim) + 1);
  append_bodies(sim, is_solid, layout);

  // the boundary of a solid would only hide behind its tetrahedra
  for (int32_t i = 0; i < noli_sim_surface_triangle_count(sim); i++) {
    const int32_t* vertex = tri + 3 * (int64_t)i;
    if (!is_solid[layout->vertex_body[vertex[0]]]) {
      append_cell(layout, 3, vertex, NOLI_CELL_TRIANGLE);
    }
  }

  int64_t n_triangles = layout->n_cells - layout->n_tet;
  for (int32_t i = 0; i < n_segments; i++) {
    append_cell(layout, 2, segment + 2 * (int64_t)i, NOLI_CELL_LINE);
  }
  for (int32_t i = 0; i < n_points; i++) {
    append_cell(layout, 1, point + i, NOLI_CELL_VERTEX);
  }
  NOLI_TRY(append_proxies(context, sim, layout));
  if (def != NULL) {
    tag_cells(def, n_triangles, layout);
  }
done:
  noli_free(context, is_solid);
  return status;
}

// How many elements have this number of corners.
static int64_t count_cells(const NoliFrameLayout* layout, const NoliSim* sim, int32_t n_corner) {
  int64_t n = 0;
  for (int64_t t = 0; t < layout->n_tet; t++) {
    n += noli_model_cell_size(sim->model->cell + 4 * t) == n_corner ? 1 : 0;
  }
  return n;
}

// Segments and points that bound nothing: those of obstacles, then rods and free points.
static NoliStatus list_thin(NoliContext* context, const NoliSim* sim, NoliFrameLayout* layout) {
  NoliStatus status = NOLI_OK;
  int32_t n_segments, n_points;
  const int32_t* segment = noli_sim_segments(sim, &n_segments);
  const int32_t* point = noli_sim_points(sim, &n_points);
  NOLI_NEW(context, layout->segments, 2 * (n_segments + count_cells(layout, sim, 2)));
  NOLI_NEW(context, layout->points, n_points + count_cells(layout, sim, 1));
  for (int64_t i = 0; i < 2 * (int64_t)n_segments; i++) {
    layout->segments[i] = segment[i];
  }
  for (int64_t i = 0; i < n_points; i++) {
    layout->points[i] = point[i];
  }
  for (int64_t t = 0; t < layout->n_tet; t++) {
    const int32_t* cell = sim->model->cell + 4 * t;
    if (noli_model_cell_size(cell) == 2) {
      memcpy(layout->segments + 2 * (int64_t)n_segments++, cell, 2 * sizeof *cell);
    } else if (noli_model_cell_size(cell) == 1) {
      layout->points[n_points++] = cell[0];
    }
  }

  layout->n_segments = n_segments;
  layout->n_points = n_points;
done:
  return status;
}

// The triangles with which bodies collide; bodies in plane strain, which have none, show their
// elements.
static NoliStatus list_triangles(NoliContext* context, const NoliSim* sim,
                                 NoliFrameLayout* layout) {
  NoliStatus status = NOLI_OK;
  int32_t n = noli_sim_surface_triangle_count(sim);
  NOLI_NEW(context, layout->triangles, 3 * (n + count_cells(layout, sim, 3)));
  if (n > 0) {
    memcpy(layout->triangles, noli_sim_surface_triangles(sim), 3 * sizeof(int32_t) * (size_t)n);
  }
  const NoliSurface* surface = sim->model->problem.surface;
  for (int64_t t = 0; t < layout->n_tet; t++) {
    // those of shells are triangles of the surface
    const int32_t* tet = sim->model->cell + 4 * t;
    if (noli_model_cell_size(tet) == 3 && surface->planar[surface->body[tet[0]]]) {
      memcpy(layout->triangles + 3 * (int64_t)n++, tet, 3 * sizeof *tet);
    }
  }
  layout->n_triangles = n;
done:
  return status;
}

// Leaves the angles of rods out, which are no points in space, and numbers the lists of primitives
// again.
static NoliStatus leave_out_angles(NoliContext* context, const NoliSim* sim,
                                   NoliFrameLayout* layout) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &sim->model->problem;
  int32_t *place = NULL, n = 0;
  NOLI_NEW_ZERO(context, place, layout->n_node);
  for (int32_t b = 0; b < problem->n_block; b++) {
    const NoliBlock* block = &problem->block[b];
    for (int32_t i = 0; i < block->n_angle; i++) {
      place[block->first_angle + i] = NOLI_NULL_INDEX;
    }
  }
  for (int32_t i = 0; i < layout->n_node; i++) {
    if (place[i] != NOLI_NULL_INDEX) {
      if (layout->vertex_body != NULL) {
        layout->vertex_body[n] = layout->vertex_body[i];
      }
      layout->node[n] = i;
      place[i] = n++;
    }
  }
  layout->n_vert = n;

  if (layout->offsets == NULL) {
    goto done;
  }

  // all lists
  const struct {
    int32_t* vertex;
    int64_t count;
  } lists[] = {
      {layout->connectivity, layout->n_cells > 0 ? layout->offsets[layout->n_cells - 1] : 0},
      {layout->triangles, 3 * (int64_t)layout->n_triangles},
      {layout->segments, 2 * (int64_t)layout->n_segments},
      {layout->points, layout->n_points}};
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
    for (int64_t i = 0; i < lists[l].count; i++) {
      lists[l].vertex[i] = place[lists[l].vertex[i]];
    }
  }
done:
  noli_free(context, place);
  return status;
}

// Which fields of shells and rods there are.
static void find_thin_fields(const NoliSim* sim, NoliFrameLayout* layout) {
  const NoliProblem* problem = &sim->model->problem;
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    bool any = block->n_element > 0;
    layout->has_sheets = layout->has_sheets || (block->type->sheet_forces != NULL && any);
    layout->has_rods = layout->has_rods || (block->type->rod_forces != NULL && any);
    layout->has_angles = layout->has_angles || block->n_angle > 0;
    layout->has_normals = layout->has_normals || block->elliptic;
  }
}

// Makes the lists, on a rank that has the elements.
static NoliStatus make_lists(NoliContext* context, const NoliSim* sim, const NoliSimDef* def,
                             NoliFrameLayout* layout) {
  NoliStatus status = NOLI_OK;
  int32_t n_segments, n_points;
  (void)noli_sim_segments(sim, &n_segments);
  (void)noli_sim_points(sim, &n_points);
  // not all surface triangles become cells
  int64_t n_tri = noli_sim_surface_triangle_count(sim);
  int64_t n_cells = layout->n_tet + n_tri + n_segments + n_points;
  int64_t n_connectivity = 4 * (int64_t)layout->n_tet + 3 * n_tri + 2 * (int64_t)n_segments;
  for (int32_t i = 0; i < sim->model->problem.n_block; i++) {
    const NoliBlock* block = &sim->model->problem.block[i];
    n_connectivity += block->space != NULL ? (int64_t)(block->n_local - 4) * block->n_element : 0;
  }

  // allocate, then list
  NOLI_NEW(context, layout->connectivity, n_connectivity + n_points);
  NOLI_NEW(context, layout->offsets, n_cells);
  NOLI_NEW(context, layout->types, n_cells);
  NOLI_NEW_ZERO(context, layout->vertex_body, layout->n_node);
  NOLI_NEW(context, layout->cell_body, n_cells);
  NOLI_NEW(context, layout->cell_tag, n_cells);
  NOLI_NEW(context, layout->cell_proxy, n_cells);
  NOLI_NEW(context, layout->proxy_tet, 3 * n_tri);
  number_bodies(sim, layout->vertex_body);
  NOLI_TRY(frame_list_cells(context, sim, def, layout));
  NOLI_TRY(list_triangles(context, sim, layout));
  NOLI_TRY(list_thin(context, sim, layout));
done:
  return status;
}

// Shares the counts of the lists of the first rank with all ranks.
static NoliStatus share_numbers(NoliContext* context, NoliFrameLayout* layout) {
  NoliStatus status = NOLI_OK;
  int64_t number[] = {layout->n_cells, layout->n_proxy, layout->n_triangles, layout->n_segments,
                      layout->n_points};
  NOLI_TRY(noli_ranks_broadcast(context, 0, sizeof *number, number, 5));
  layout->n_cells = number[0];
  layout->n_proxy = number[1];
  layout->n_triangles = (int32_t)number[2];
  layout->n_segments = (int32_t)number[3];
  layout->n_points = (int32_t)number[4];
done:
  return status;
}

NoliStatus noli_frame_layout_create(NoliContext* context, const NoliSim* sim, const NoliSimDef* def,
                                    NoliFrameLayout* layout) {
  NoliStatus status = NOLI_OK;
  *layout = (NoliFrameLayout){0};
  NOLI_CHECK(context, def == NULL || def->n_bodies == noli_sim_body_count(sim), NOLI_ERROR_ARGUMENT,
             "the definition has %d bodies, the simulation %d", (int)def->n_bodies,
             (int)noli_sim_body_count(sim));
  layout->n_node = noli_sim_vertex_count(sim);
  layout->n_tet = noli_sim_tet_count(sim);
  NOLI_NEW(context, layout->node, layout->n_node);
  find_thin_fields(sim, layout);
  if (sim->model->cell != NULL) {
    NOLI_TRY(make_lists(context, sim, def, layout));
  }
  NOLI_TRY(leave_out_angles(context, sim, layout));
  if (sim->model->cells_on_first) {
    NOLI_TRY(share_numbers(context, layout));
  }
  NOLI_VALIDATE(context, noli_frame_layout_defect(layout));
done:
  if (status != NOLI_OK) {
    noli_frame_layout_free(context, layout);
  }
  return status;
}

NoliStatus noli_frame_layout_add(NoliContext* context, NoliFrameLayout* layout, int32_t n,
                                 const char* const* name) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW_ZERO(context, layout->field, n + 1);
  for (int32_t i = 0; i < n; i++) {
    const NoliFrameField* field = noli_frame_field_find(name[i]);
    NOLI_CHECK(context, field != NULL, NOLI_ERROR_ARGUMENT, "unknown field of frames \"%s\"",
               name[i] != NULL ? name[i] : "NULL");
    for (int32_t k = 0; k < i; k++) {
      NOLI_CHECK(context, layout->field[k] != field, NOLI_ERROR_ARGUMENT,
                 "the field \"%s\" is named twice", field->name);
    }
    layout->field[i] = field;
    layout->n_field = i + 1;
  }
done:
  return status;
}

void noli_frame_layout_free_lists(NoliContext* context, NoliFrameLayout* layout) {
  void** lists[] = {
      (void**)&layout->connectivity, (void**)&layout->offsets,   (void**)&layout->types,
      (void**)&layout->vertex_body,  (void**)&layout->cell_body, (void**)&layout->cell_tag,
      (void**)&layout->cell_proxy,   (void**)&layout->proxy_tet, (void**)&layout->triangles,
      (void**)&layout->segments,     (void**)&layout->points};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    noli_free(context, *lists[i]);
    *lists[i] = NULL;
  }
  layout->n_proxy = 0; // nor do they need the means of elements
}

void noli_frame_layout_free(NoliContext* context, NoliFrameLayout* layout) {
  noli_frame_layout_free_lists(context, layout);
  noli_free(context, (void*)layout->field);
  noli_free(context, layout->node);
  noli_vtu_cache_free(context, &layout->cache);
  *layout = (NoliFrameLayout){0};
}

static void narrow(const double* values, int64_t count, float* narrowed) {
  for (int64_t i = 0; i < count; i++) {
    narrowed[i] = (float)values[i];
  }
}

// Takes the vectors of the vertices out of those of all nodes.
static void narrow_vectors(const NoliFrameLayout* layout, const double* of_nodes, float* narrowed) {
  for (int32_t i = 0; i < layout->n_vert; i++) {
    narrow(of_nodes + 3 * (int64_t)layout->node[i], 3, narrowed + 3 * (int64_t)i);
  }
}

// First axes of elliptic sections; 0 in all other cells.
static void fill_normals(const NoliSim* sim, NoliFrameValues* values) {
  const NoliModel* model = sim->model;
  const double* x = noli_sim_positions(sim);
  for (int32_t b = 0; values->normal_fields != NULL && b < model->n_body; b++) {
    const NoliBlock* block = noli_problem_block(&model->problem, b);
    for (int32_t s = 0; block != NULL && block->elliptic && s < block->n_angle; s++) {
      double axis[3], angle = x[3 * ((int64_t)block->first_angle + s)] / block->angle_radius;
      noli_store3(axis, noli_segment_axis(block->history, s, angle));
      narrow(axis, 3, values->normal_fields + 3 * ((int64_t)model->cell_first[b] + s));
    }
  }
}

// Angles of rods and their rates, rad and rad/s; 0 in all other cells.
static void fill_angles(const NoliSim* sim, const NoliFrameLayout* layout,
                        NoliFrameValues* values) {
  const NoliModel* model = sim->model;
  const double *x = noli_sim_positions(sim), *v = noli_sim_velocities(sim);
  for (int32_t b = 0; values->angle_fields != NULL && b < model->n_body; b++) {
    const NoliBlock* block = noli_problem_block(&model->problem, b);
    for (int32_t s = 0; block != NULL && s < block->n_angle; s++) {
      int64_t node = block->first_angle + s, cell = model->cell_first[b] + s;
      values->angle_fields[cell] = (float)(x[3 * node] / block->angle_radius);
      values->angle_fields[layout->n_cells + cell] = (float)(v[3 * node] / block->angle_radius);
    }
  }
}

void noli_frame_layout_expand(const NoliFrameLayout* layout, const NoliModel* model,
                              const NoliReadFrame* frame, double* x, double* v, bool* has_rates) {
  const NoliReadArray* points =
      noli_read_frame_find(frame, "Points", "Points", NOLI_FRAME_FLOAT64, 3, layout->n_vert);
  const NoliReadArray* velocity =
      noli_read_frame_find(frame, "PointData", "velocity", NOLI_FRAME_FLOAT32, 3, layout->n_vert);
  const NoliReadArray* rate = noli_read_frame_find(frame, "CellData", "rod_angle_rate",
                                                   NOLI_FRAME_FLOAT32, 1, layout->n_cells);
  *has_rates = rate != NULL || layout->n_vert == layout->n_node;
  memset(x, 0, 3 * sizeof *x * (size_t)layout->n_node);
  memset(v, 0, 3 * sizeof *v * (size_t)layout->n_node);
  for (int64_t i = 0; i < 3 * (int64_t)layout->n_vert; i++) {
    int64_t to = 3 * (int64_t)layout->node[i / 3] + i % 3;
    x[to] = ((const double*)points->data)[i];
    v[to] = (double)((const float*)velocity->data)[i];
  }
  for (int32_t b = 0; rate != NULL && b < model->n_body; b++) {
    const NoliBlock* block = noli_problem_block(&model->problem, b);
    for (int32_t s = 0; block != NULL && s < block->n_angle; s++) {
      float of_cell = ((const float*)rate->data)[model->cell_first[b] + s];
      v[3 * ((int64_t)block->first_angle + s)] = block->angle_radius * (double)of_cell;
    }
  }
}

// Forces and moments inside thin elements, which are the first cells; 0 in all others.
static NoliStatus fill_thin_fields(NoliSim* sim, const NoliFrameLayout* layout,
                                   NoliFrameValues* values) {
  NoliStatus status = NOLI_OK;
  int64_t n = layout->n_cells;
  if (values->sheet != NULL) {
    NOLI_TRY(noli_sim_sheet_forces(sim, values->sheet));
    for (int64_t t = 0; t < layout->n_tet; t++) {
      narrow(values->sheet[t].membrane, 6, values->sheet_fields + 6 * t);
      narrow(values->sheet[t].bending, 6, values->sheet_fields + 6 * (n + t));
    }
  }
  if (values->rod != NULL) {
    NOLI_TRY(noli_sim_rod_forces(sim, values->rod));
    for (int64_t t = 0; t < layout->n_tet; t++) {
      narrow(&values->rod[t].tension, 1, values->rod_fields + t);
      narrow(values->rod[t].bending, 3, values->rod_fields + n + 3 * t);
      narrow(&values->rod[t].twist, 1, values->rod_fields + 4 * n + t);
    }
  }
done:
  return status;
}

// Triangles of proxies have the mean of the elements in which their corners lie.
static void fill_proxies(const NoliFrameLayout* layout, int32_t n_components, float* values) {
  // ranks that write nothing have no lists
  for (int64_t i = 0; layout->proxy_tet != NULL && i < layout->n_proxy; i++) {
    const int32_t* tet = layout->proxy_tet + 3 * i;
    float* value = values + n_components * (layout->n_cells - layout->n_proxy + i);
    for (int32_t k = 0; k < n_components; k++) {
      double sum = 0.0;
      for (int corner = 0; corner < 3; corner++) {
        sum += (double)values[(int64_t)n_components * tet[corner] + k];
      }
      value[k] = (float)(sum / 3.0);
    }
  }
}

// Fields that were asked for.
static NoliStatus fill_chosen(NoliSim* sim, const NoliFrameLayout* layout,
                              const NoliFrameValues* values) {
  NoliStatus status = NOLI_OK;
  NoliFieldResults results = {0};
  for (int32_t i = 0; i < layout->n_field; i++) {
    const NoliFrameField* field = layout->field[i];
    float* own = values->of_field[i];
    NOLI_TRY(field->fill(sim, &results, own));
    if (field->of_cells) {
      fill_proxies(layout, field->n_components, own);
      continue;
    }
    for (int64_t v = 0; v < layout->n_vert; v++) {
      memmove(own + field->n_components * v, own + field->n_components * layout->node[v],
              sizeof *own * (size_t)field->n_components);
    }
  }
done:
  noli_field_results_free(sim->context, &results);
  return status;
}

// Positions; displacement, velocity, contact force, friction force (n_vert x 3 each), stress
// (n_cells).
static NoliStatus fill_fields(NoliSim* sim, const NoliFrameLayout* layout,
                              NoliFrameValues* values) {
  NoliStatus status = NOLI_OK;
  int64_t n = 3 * (int64_t)layout->n_vert;
  const double* x = noli_sim_positions(sim);
  const double* X = noli_sim_rest_positions(sim);
  for (int64_t i = 0; i < n; i++) {
    int64_t from = 3 * (int64_t)layout->node[i / 3] + i % 3;
    values->x[i] = x[from];
    values->fields[i] = (float)(x[from] - X[from]);
  }
  narrow_vectors(layout, noli_sim_velocities(sim), values->fields + n);
  NOLI_TRY(noli_sim_contact_forces(sim, values->vector));
  narrow_vectors(layout, values->vector, values->fields + 2 * n);
  NOLI_TRY(noli_sim_friction_forces(sim, values->vector));
  narrow_vectors(layout, values->vector, values->fields + 3 * n);
  NOLI_TRY(noli_sim_von_mises(sim, values->stress));
  float* stress = values->fields + 4 * n;
  memset(stress, 0, sizeof(float) * (size_t)layout->n_cells);
  narrow(values->stress, layout->n_tet, stress);
  fill_proxies(layout, 1, stress);
done:
  return status;
}

enum { MAX_POINT_DATA = 5, MAX_CELL_DATA = 12 };

// Appends the chosen fields of cells or vertices.
static int32_t list_chosen(const NoliFrameLayout* layout, const NoliFrameValues* values,
                           bool of_cells, NoliFrameArray* array, int32_t n) {
  for (int32_t i = 0; i < layout->n_field; i++) {
    const NoliFrameField* field = layout->field[i];
    if (field->of_cells == of_cells) {
      array[n++] = (NoliFrameArray){field->name, NOLI_FRAME_FLOAT32, field->n_components,
                                    values->of_field[i], false};
    }
  }
  return n;
}

static int32_t list_point_data(const NoliFrameLayout* layout, const NoliFrameValues* values,
                               NoliFrameArray* array) {
  int32_t n = 0;
  int64_t size = 3 * (int64_t)layout->n_vert;
  const float* own = values->fields;
  array[n++] = (NoliFrameArray){"displacement", NOLI_FRAME_FLOAT32, 3, own, false};
  array[n++] = (NoliFrameArray){"velocity", NOLI_FRAME_FLOAT32, 3, own + size, false};
  array[n++] = (NoliFrameArray){"body", NOLI_FRAME_INT32, 1, layout->vertex_body, true};
  array[n++] = (NoliFrameArray){"contact_force", NOLI_FRAME_FLOAT32, 3, own + 2 * size, false};
  array[n++] = (NoliFrameArray){"friction_force", NOLI_FRAME_FLOAT32, 3, own + 3 * size, false};
  return list_chosen(layout, values, false, array, n);
}

// Proxies, shells and rods have arrays only where there are some.
static int32_t list_cell_data(const NoliFrameLayout* layout, const NoliFrameValues* values,
                              NoliFrameArray* array) {
  int32_t n = 0;
  int64_t n_cells = layout->n_cells;
  const float* stress = values->fields + 12 * (int64_t)layout->n_vert;
  array[n++] = (NoliFrameArray){"von_mises", NOLI_FRAME_FLOAT32, 1, stress, false};
  array[n++] = (NoliFrameArray){"body", NOLI_FRAME_INT32, 1, layout->cell_body, true};
  array[n++] = (NoliFrameArray){"tag", NOLI_FRAME_INT32, 1, layout->cell_tag, true};
  if (layout->n_proxy > 0) {
    array[n++] = (NoliFrameArray){"proxy", NOLI_FRAME_UINT8, 1, layout->cell_proxy, true};
  }
  if (values->sheet != NULL) {
    const float* own = values->sheet_fields;
    array[n++] = (NoliFrameArray){"membrane_force", NOLI_FRAME_FLOAT32, 6, own, false};
    own += 6 * n_cells;
    array[n++] = (NoliFrameArray){"bending_moment", NOLI_FRAME_FLOAT32, 6, own, false};
  }

  if (values->rod != NULL) {
    const float* own = values->rod_fields;
    array[n++] = (NoliFrameArray){"rod_tension", NOLI_FRAME_FLOAT32, 1, own, false};
    array[n++] = (NoliFrameArray){"rod_bending", NOLI_FRAME_FLOAT32, 3, own + n_cells, false};
    array[n++] = (NoliFrameArray){"rod_twist", NOLI_FRAME_FLOAT32, 1, own + 4 * n_cells, false};
  }

  if (values->angle_fields != NULL) {
    const float* own = values->angle_fields;
    array[n++] = (NoliFrameArray){"rod_angle", NOLI_FRAME_FLOAT32, 1, own, false};
    array[n++] = (NoliFrameArray){"rod_angle_rate", NOLI_FRAME_FLOAT32, 1, own + n_cells, false};
  }

  if (values->normal_fields != NULL) {
    array[n++] =
        (NoliFrameArray){"rod_normal", NOLI_FRAME_FLOAT32, 3, values->normal_fields, false};
  }
  return list_chosen(layout, values, true, array, n);
}

// Room for the values; those of shells, rods and chosen fields are 0 where nothing is filled in.
static NoliStatus allocate_values(NoliContext* context, const NoliFrameLayout* layout,
                                  NoliFrameValues* values) {
  NoliStatus status = NOLI_OK;
  int64_t n_cells = layout->n_cells;
  NOLI_NEW_ZERO(context, values->of_field, layout->n_field + 1);
  NOLI_NEW(context, values->x, 3 * (int64_t)layout->n_node);
  NOLI_NEW(context, values->vector, 3 * (int64_t)layout->n_node);
  NOLI_NEW(context, values->stress, layout->n_tet);
  NOLI_NEW(context, values->fields, 12 * (int64_t)layout->n_node + n_cells);

  if (layout->has_sheets) {
    NOLI_NEW(context, values->sheet, layout->n_tet);
    NOLI_NEW_ZERO(context, values->sheet_fields, 12 * n_cells);
  }
  if (layout->has_rods) {
    NOLI_NEW(context, values->rod, layout->n_tet);
    NOLI_NEW_ZERO(context, values->rod_fields, 5 * n_cells);
  }
  if (layout->has_angles) {
    NOLI_NEW_ZERO(context, values->angle_fields, 2 * n_cells);
  }
  if (layout->has_normals) {
    NOLI_NEW_ZERO(context, values->normal_fields, 3 * n_cells);
  }
  for (int32_t i = 0; i < layout->n_field; i++) {
    const NoliFrameField* field = layout->field[i];
    int64_t count = field->of_cells ? n_cells : layout->n_node;
    NOLI_NEW_ZERO(context, values->of_field[i], count * field->n_components);
  }
done:
  return status;
}

NoliStatus noli_frame_values_take(NoliContext* context, NoliSim* sim, const NoliFrameLayout* layout,
                                  NoliFrameValues* values) {
  NoliStatus status = NOLI_OK;
  *values = (NoliFrameValues){0};
  NOLI_TRY(allocate_values(context, layout, values));
  NOLI_TRY(fill_fields(sim, layout, values));
  NOLI_TRY(fill_thin_fields(sim, layout, values));
  fill_angles(sim, layout, values);
  fill_normals(sim, values);
  NOLI_TRY(fill_chosen(sim, layout, values));
done:
  return status;
}

void noli_frame_values_free(NoliContext* context, const NoliFrameLayout* layout,
                            NoliFrameValues* values) {
  for (int32_t i = 0; values->of_field != NULL && i < layout->n_field; i++) {
    noli_free(context, values->of_field[i]);
  }
  void* owned[] = {values->of_field,     values->x,
                   values->vector,       values->stress,
                   values->fields,       values->sheet,
                   values->rod,          values->sheet_fields,
                   values->rod_fields,   values->angle_fields,
                   values->normal_fields};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
    noli_free(context, owned[i]);
  }
  *values = (NoliFrameValues){0};
}

// Gives the lists of the first rank to all, each of which writes a part of a frame.
static NoliStatus lend_lists(NoliContext* context, NoliFrameLayout* layout) {
  NoliStatus status = NOLI_OK;
  int64_t n_cells = layout->n_cells;
  int64_t n_corner = layout->offsets != NULL && n_cells > 0 ? layout->offsets[n_cells - 1] : 0;
  NOLI_TRY(noli_ranks_broadcast(context, 0, sizeof n_corner, &n_corner, 1));
  const struct {
    void** data;
    size_t size;
    int64_t n;
  } lists[] = {{(void**)&layout->connectivity, sizeof *layout->connectivity, n_corner},
               {(void**)&layout->offsets, sizeof *layout->offsets, n_cells},
               {(void**)&layout->types, sizeof *layout->types, n_cells},
               {(void**)&layout->vertex_body, sizeof *layout->vertex_body, layout->n_vert},
               {(void**)&layout->cell_body, sizeof *layout->cell_body, n_cells},
               {(void**)&layout->cell_tag, sizeof *layout->cell_tag, n_cells},
               {(void**)&layout->cell_proxy, sizeof *layout->cell_proxy, n_cells},
               {(void**)&layout->proxy_tet, sizeof *layout->proxy_tet, 3 * layout->n_proxy}};

  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    if (*lists[i].data == NULL) {
      *lists[i].data = noli_alloc(context, lists[i].n, lists[i].size);
    }
    NOLI_TRY(noli_ranks_join(context, *lists[i].data != NULL ? NOLI_OK : NOLI_ERROR_MEMORY));
    NOLI_TRY(noli_ranks_broadcast(context, 0, lists[i].size, *lists[i].data, lists[i].n));
  }
done:
  return status;
}

// Frees what is not needed before the next frame on several ranks: lists that were lent, and those
// that are in the cache now.
static void free_idle_lists(NoliContext* context, const NoliSim* sim, const NoliFrameFormat* format,
                            NoliFrameLayout* layout) {
  int64_t n_proxy = layout->n_proxy;
  int32_t* proxy_tet = layout->proxy_tet;
  if (sim->model->cell == NULL) {
    noli_frame_layout_free_lists(context, layout);
  } else if (format->caches && noli_rank_count(context) > 1) {
    layout->proxy_tet = NULL;
    noli_frame_layout_free_lists(context, layout);
    layout->proxy_tet = proxy_tet;
  }
  layout->n_proxy = n_proxy;
}

NoliStatus noli_frame_write(NoliContext* context, NoliSim* sim, NoliFrameLayout* layout,
                            const NoliFrameFormat* format, const char* path) {
  NoliStatus status = NOLI_OK;
  NoliFrameArray *point_data = NULL, *cell_data = NULL;
  NoliFrameValues values = {0};
  if (sim->model->cells_on_first && format->part_name != NULL) {
    NOLI_TRY(lend_lists(context, layout));
  }
  NOLI_TRY(noli_frame_values_take(context, sim, layout, &values));
  if (!noli_frame_is_written(context, format)) {
    goto done;
  }
  NOLI_NEW(context, point_data, MAX_POINT_DATA + layout->n_field);
  NOLI_NEW(context, cell_data, MAX_CELL_DATA + layout->n_field);
  int32_t n_point_data = list_point_data(layout, &values, point_data);
  int32_t n_cell_data = list_cell_data(layout, &values, cell_data);

  // the frame, as a format takes it
  const NoliFrame frame = {
      .time = noli_sim_time(sim),
      .n_vert = layout->n_vert,
      .x = values.x,
      .n_cells = layout->n_cells,
      .connectivity = layout->connectivity,
      .offsets = layout->offsets,
      .types = layout->types,
      .n_triangles = layout->n_triangles,
      .triangles = layout->triangles,
      .n_segments = layout->n_segments,
      .segments = layout->segments,
      .n_points = layout->n_points,
      .points = layout->points,
      .point_data = point_data,
      .n_point_data = n_point_data,
      .cell_data = cell_data,
      .n_cell_data = n_cell_data,
      .cache = &layout->cache,
  };
  NOLI_TRY(format->write(context, path, &frame));
  free_idle_lists(context, sim, format, layout);
done:
  noli_frame_values_free(context, layout, &values);
  noli_free(context, point_data);
  noli_free(context, cell_data);
  return status;
}

NoliStatus noli_output_write_vtu(NoliContext* context, NoliSim* sim, const NoliSimDef* given,
                                 const char* path) {
  NOLI_REQUIRE(context, context != NULL && sim != NULL && path != NULL);
  NoliStatus status = NOLI_OK;
  NoliFrameLayout layout = {0};
  NoliSimDef* def = NULL;
  if (given != NULL) {
    NOLI_TRY(noli_definition_take(context, given, &def));
  }
  NOLI_TRY(noli_frame_layout_create(context, sim, def, &layout));
  status = noli_frame_write(context, sim, &layout, &noli_frame_format_vtu, path);
  noli_frame_layout_free(context, &layout);
done:
  noli_definition_free(context, &def);
  return status;
}

const char* noli_frame_layout_defect(const NoliFrameLayout* layout) {
  int64_t begin = 0;
  if (layout->offsets == NULL) {
    return NULL; // of the first rank
  }
  for (int64_t c = 0; c < layout->n_cells; c++) {
    NOLI_RULE(layout->offsets[c] > begin, "frame: offsets of cells do not ascend");
    for (int64_t k = begin; k < layout->offsets[c]; k++) {
      int32_t vertex = layout->connectivity[k];
      NOLI_RULE(vertex >= 0 && vertex < layout->n_vert, "frame: a cell has a vertex out of range");
      NOLI_RULE(layout->vertex_body[vertex] == layout->cell_body[c],
                "frame: a cell has a vertex of another body");
    }
    begin = layout->offsets[c];
  }
  for (int64_t i = 0; i < 3 * (int64_t)layout->n_triangles; i++) {
    NOLI_RULE(layout->triangles[i] >= 0 && layout->triangles[i] < layout->n_vert,
              "frame: a triangle has a vertex out of range");
  }
  NOLI_RULE(layout->n_proxy <= layout->n_cells, "frame: there are more proxies than cells");
  return NULL;
}
