#include "model/bodies.h"

#include "base/ranks.h"
#include "collide/flat.h"
#include "collide/proxy.h"
#include "define/body_kind.h"
#include "define/body_proxy.h"
#include "define/definition.h"
#include "define/plane_strain.h"
#include "define/properties.h"
#include "fem/density_fit.h"
#include "math/vec3.h"
#include "model/rank_parts.h"

#include <stdio.h>
#include <string.h>

static bool bodies_is_flat(const NoliBodyDef* body) {
  return noli_body_kind(body)->planar;
}

// ---- elements and numbers -----------------------------------------------------------------------

// Segments and points of an obstacle; of a mesh of triangles in a plane its outline.
static NoliStatus count_obstacle(NoliModel* model, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  int32_t *edge = NULL, n_edge = body->mesh->n_edge;
  if (bodies_is_flat(body)) {
    NOLI_TRY(noli_mesh_outline(model->context, body->mesh, &edge, &n_edge));
  }
  model->n_segment += n_edge;
  model->n_lone_point += bodies_is_flat(body) ? 0 : body->mesh->n_point;
done:
  noli_free(model->context, edge);
  return status;
}

// Counts cells body by body.
static NoliStatus count_cells(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NOLI_NEW_ZERO(context, model->obstacle, model->n_body);
  NOLI_NEW_ZERO(context, model->carried, model->n_body);
  NOLI_NEW_ZERO(context, model->cell_first, model->n_body + 1);
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    int32_t n_element = noli_body_elements(body).n;
    model->obstacle[b] = body->obstacle;
    model->carried[b] = !body->obstacle && noli_body_kind(body)->carried;
    model->cell_first[b + 1] = model->cell_first[b] + (body->obstacle ? 0 : n_element);
    if (body->obstacle) {
      NOLI_TRY(count_obstacle(model, body));
    }
  }
  NOLI_NEW(context, model->cell, 4 * (int64_t)model->cell_first[model->n_body]);
  NOLI_NEW(context, model->segment, 2 * (int64_t)model->n_segment);
  NOLI_NEW(context, model->lone_point, model->n_lone_point);
done:
  return status;
}

NoliBlockBody noli_bodies_describe(const NoliModel* model, const NoliSimDef* def, int32_t b) {
  const NoliBodyDef* body = &def->bodies[b];
  return (NoliBlockBody){.mesh = body->mesh,
                         .order = body->order > 1 ? body->order : 1,
                         .first_node = model->vert_first[b],
                         .n_element = model->cell_first[b + 1] - model->cell_first[b],
                         .corner = model->cell + 4 * (int64_t)model->cell_first[b],
                         .mass_damping = body->material.mass_damping,
                         .shell = body->shell,
                         .rod = body->rod,
                         .point = body->point,
                         .rigid = body->rigid};
}

// Allocates law parameters, fibres and Prony series in the block of a body, if one of its materials
// has any.
static NoliStatus allocate_parameters(NoliBlock* block, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  bool parameters = noli_material_has_parameters(&body->material);
  bool fibres = body->fields.fibre != NULL;
  bool prony = body->material.prony != NULL;
  for (int32_t k = 0; k < body->n_parts; k++) {
    prony = prony || body->parts[k].material.prony != NULL;
    parameters = parameters || noli_material_has_parameters(&body->parts[k].material);
    fibres = fibres || body->parts[k].fields.fibre != NULL;
  }
  if (parameters && block->parameter == NULL) {
    NOLI_NEW_ZERO(block->context, block->parameter,
                  NOLI_LAW_PARAMETERS * (int64_t)block->n_element);
  }
  if (fibres && block->fibre == NULL) {
    NOLI_NEW_ZERO(block->context, block->fibre, NOLI_FIBRE_VALUES * (int64_t)block->n_element);
  }
  if (prony) {
    NOLI_TRY(noli_block_reserve_prony(block, 1 + body->n_parts));
  }
done:
  return status;
}

static bool has_history(const NoliMaterialDef* material) {
  const NoliMaterial* law = noli_material_find(material->law);
  return material->prony != NULL || (law->history_size != NULL &&
                                     law->history_size(noli_material_lame(material).parameter) > 0);
}

// Histories are part of the state, which is the same on all ranks: these hold all elements that
// have any.
static bool is_divisible(const NoliBlock* block, const NoliProblem* problem,
                         const NoliSimDef* def) {
  bool divisible = block->type->divisible;
  for (int32_t b = 0; b < def->n_bodies; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    int32_t of_body = problem->range[b].block;
    if (of_body == NOLI_NULL_INDEX || &problem->block[of_body] != block) {
      continue;
    }
    // the densities that balance a body depend on all its elements
    divisible = divisible && !has_history(&body->material) && !body->proxy.balance;
    for (int32_t k = 0; k < body->n_parts; k++) {
      divisible = divisible && !has_history(&body->parts[k].material);
    }
  }
  return divisible;
}

// Keeps the elements of a block that this rank has by `rank` (n_tet), body after body.
static NoliStatus divide_block(NoliModel* model, int32_t index, const int32_t* rank) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  NoliBlock* block = &problem->block[index];
  int32_t n = 0, own = noli_rank(model->context);
  for (int32_t b = 0; b < model->n_body; b++) {
    for (int32_t t = model->cell_first[b]; t < model->cell_first[b + 1]; t++) {
      n += problem->range[b].block == index && rank[t] == own ? 1 : 0;
    }
  }

  NOLI_NEW(model->context, block->number, n);
  n = 0;
  for (int32_t b = 0; b < model->n_body; b++) {
    NoliBlockRange* range = &problem->range[b];
    if (range->block != index) {
      continue;
    }
    range->begin = n;
    for (int32_t t = model->cell_first[b]; t < model->cell_first[b + 1]; t++) {
      if (rank[t] == own) {
        block->number[n++] = range->first + t - model->cell_first[b];
      }
    }
    range->end = n;
  }

  block->divided = true;
  block->n_element = n;
done:
  return status;
}

// Marks those elements of a block that this rank evaluates.
static NoliStatus mark_own(NoliModel* model, int32_t index, const int32_t* rank) {
  NoliStatus status = NOLI_OK;
  NoliBlock* block = &model->problem.block[index];
  NOLI_NEW(model->context, block->mine, block->n_element);
  for (int32_t b = 0; b < model->n_body; b++) {
    NoliBlockRange range = model->problem.range[b];
    for (int32_t e = range.begin; range.block == index && e < range.end; e++) {
      block->mine[e] = rank[model->cell_first[b] + e - range.begin] == noli_rank(model->context);
    }
  }
done:
  return status;
}

// Finds the ranks of all elements, `rank` (n_tet), and what each block holds of them; `divide` as
// in noli_bodies_build.
static NoliStatus share_out(NoliModel* model, const NoliSimDef* def, bool divide, int32_t* rank) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  problem->ranks.in_parts = divide;
  if (!divide) {
    noli_rank_parts_in_order(model, rank);
    return NOLI_OK;
  }
  NOLI_TRY(noli_rank_parts_divide(model, def, rank));
  for (int32_t i = 0; i < problem->n_block; i++) {
    NoliBlock* block = &problem->block[i];
    block->context = model->context;
    NOLI_TRY(is_divisible(block, problem, def) ? divide_block(model, i, rank)
                                               : mark_own(model, i, rank));
  }
done:
  return status;
}

// Finds the block of each body; blocks have the order of the table of types. `rank` (n_tet): writes
// which ranks evaluate the elements, where there are several.
static NoliStatus assign_blocks(NoliModel* model, const NoliSimDef* def, bool divide,
                                int32_t* rank) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  NOLI_NEW(model->context, problem->range, model->n_body);
  NOLI_NEW_ZERO(model->context, problem->block, model->n_body);
  for (int32_t b = 0; b < model->n_body; b++) {
    problem->range[b] = (NoliBlockRange){.block = NOLI_NULL_INDEX};
  }

  // all bodies of one type, then of the next
  for (int32_t k = 0; k < noli_block_type_count(); k++) {
    const NoliBlockType* type = noli_block_type_at(k);
    NoliBlock* block = NULL;
    for (int32_t b = 0; b < model->n_body; b++) {
      NoliBlockBody body = noli_bodies_describe(model, def, b);
      if (model->obstacle[b] || noli_block_type_for(&body) != type) {
        continue;
      }
      if (block == NULL || !type->shared) {
        block = &problem->block[problem->n_block++];
        block->type = type;
      }
      int32_t begin = block->n_element;
      block->n_element += body.n_element;
      problem->range[b] = (NoliBlockRange){problem->n_block - 1, begin, block->n_element, begin};
    }
  }

  // now that their sizes are known
  if (noli_rank_count(model->context) > 1) {
    NOLI_TRY(share_out(model, def, divide, rank));
  }
  for (int32_t i = 0; i < problem->n_block; i++) {
    NOLI_TRY(noli_block_create(model->context, &problem->block[i]));
  }
  for (int32_t b = 0; b < def->n_bodies; b++) {
    if (!model->obstacle[b]) {
      NOLI_TRY(allocate_parameters(&problem->block[problem->range[b].block], &def->bodies[b]));
    }
  }
done:
  return status;
}

// Vertices of the cells of a body in the scene.
static void set_corners(NoliModel* model, const NoliBodyDef* body, int32_t b) {
  int32_t* tet = model->cell + 4 * (int64_t)model->cell_first[b];
  int64_t n = 4 * (int64_t)(model->cell_first[b + 1] - model->cell_first[b]);
  if (bodies_is_flat(body)) {
    noli_plane_strain_elements(body->mesh, model->vert_first[b], tet);
    return;
  }
  NoliBodyCells cells = noli_body_elements(body);
  for (int64_t i = 0; i < n; i++) {
    const int32_t* cell = cells.vertex + i / 4 * cells.size;
    tet[i] = i % 4 < cells.size ? model->vert_first[b] + cell[i % 4] : NOLI_NULL_INDEX;
  }
}

// Sets the fibre of element t of a block; `given` NULL: none.
static void set_fibre(NoliBlock* block, int32_t t, const double* given) {
  double* fibre = block->fibre + NOLI_FIBRE_VALUES * (int64_t)t;
  memset(fibre, 0, NOLI_FIBRE_VALUES * sizeof *fibre);
  if (given != NULL && given[3] > 0.0) {
    noli_store3(fibre, noli_normalize3(noli_load3(given)));
    fibre[3] = given[3];
    fibre[4] = given[4];
  }
}

// `element`: those of a part; NULL: all n of the body.
static void set_material(NoliBlock* block, NoliBlockRange range, int32_t n, const int32_t* element,
                         const NoliMaterialDef* material, const NoliMaterialFields* fields) {
  const NoliMaterial* law = noli_material_find(material->law);
  for (int32_t i = 0; i < n; i++) {
    int32_t t = noli_block_find(block, range.first + (element != NULL ? element[i] : i));
    if (t == NOLI_NULL_INDEX) {
      continue; // of another rank
    }
    NoliMaterialDef own = noli_material_of_element(material, fields, i);
    NoliLame lame = noli_material_lame(&own);
    block->law[t] = law;
    block->lame_mu[t] = lame.mu;
    block->lame_lambda[t] = lame.lambda;
    if (lame.parameter != NULL) {
      memcpy(block->parameter + NOLI_LAW_PARAMETERS * (int64_t)t, lame.parameter,
             sizeof material->parameter);
    }
    if (block->fibre != NULL) {
      set_fibre(block, t,
                fields->fibre != NULL ? fields->fibre + NOLI_FIBRE_VALUES * (int64_t)i : NULL);
    }
    if (block->laws.prony != NULL) {
      noli_block_set_prony(block, t, material->prony);
    }
    block->density[t] = own.density;
    block->damping_time[t] = own.damping;
  }
}

static void set_materials(NoliBlock* block, NoliBlockRange range, int32_t n_element,
                          const NoliBodyDef* body) {
  set_material(block, range, n_element, NULL, &body->material, &body->fields);
  for (int32_t k = 0; k < body->n_parts; k++) {
    const NoliPartDef* part = &body->parts[k];
    set_material(block, range, part->n_element, part->element, &part->material, &part->fields);
  }
}

NoliStatus noli_bodies_materials(NoliContext* context, const NoliBodyDef* body, int32_t n_element,
                                 NoliBlock* block) {
  NoliStatus status = NOLI_OK;
  *block = (NoliBlock){.n_element = n_element};
  NOLI_TRY(noli_block_create(context, block));
  NOLI_TRY(allocate_parameters(block, body));
  set_materials(block, (NoliBlockRange){.end = n_element}, n_element, body);
done:
  return status;
}

// Adds the elements of a body that this rank has to their block.
static NoliStatus add_elements(NoliModel* model, const NoliSimDef* def, int32_t b) {
  NoliStatus status = NOLI_OK;
  NoliBlockRange range = model->problem.range[b];
  NoliBlock* block = &model->problem.block[range.block];
  NoliBlockBody described = noli_bodies_describe(model, def, b);
  int32_t* corner = NULL;
  if (block->divided) {
    described.n_element = range.end - range.begin;
    NOLI_NEW(model->context, corner, 4 * (int64_t)described.n_element);
    for (int32_t i = 0; i < described.n_element; i++) {
      int32_t cell = noli_model_cell(model, b, range.begin + i);
      memcpy(corner + 4 * (int64_t)i, model->cell + 4 * (int64_t)cell, 4 * sizeof *corner);
    }
    described.corner = corner;
  }
  NOLI_TRY(noli_definition_locate_body(model->context, &def->bodies[b], model->name[b],
                                       block->type->add(block, range.begin, &described)));
done:
  noli_free(model->context, corner);
  return status;
}

// Numbers nodes body by body, and assigns the elements to their blocks.
static NoliStatus bodies_number_nodes(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliProblem* problem = &model->problem;
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    int32_t n_node = body->mesh->n_vert;
    if (!body->obstacle) {
      NoliBlockRange range = problem->range[b];
      NoliBlock* block = &problem->block[range.block];
      set_corners(model, body, b);
      NOLI_TRY(add_elements(model, def, b));
      set_materials(block, range, model->cell_first[b + 1] - model->cell_first[b], body);
      n_node = (block->space != NULL ? block->space->n_node : n_node) + block->n_angle;
    }
    NOLI_CHECK(context, n_node <= INT32_MAX / 3 - model->vert_first[b], NOLI_ERROR_TOO_LARGE,
               "the nodes of all bodies exceed the index range");
    model->vert_first[b + 1] = model->vert_first[b] + n_node;
  }
  problem->n_node = model->vert_first[model->n_body];
done:
  return status;
}

// Appends the segments and points of an obstacle.
static NoliStatus copy_obstacle(NoliModel* model, const NoliBodyDef* body, int32_t first,
                                int32_t* n_segment, int32_t* n_point) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = body->mesh;
  int32_t *outline = NULL, n_edge = mesh->n_edge;
  if (bodies_is_flat(body)) {
    NOLI_TRY(noli_mesh_outline(model->context, mesh, &outline, &n_edge));
  }
  const int32_t* edge = outline != NULL ? outline : mesh->edge;
  for (int64_t i = 0; i < 2 * (int64_t)n_edge; i++) {
    model->segment[2 * (int64_t)*n_segment + i] = first + edge[i];
  }
  *n_segment += n_edge;
  for (int32_t i = 0; !bodies_is_flat(body) && i < mesh->n_point; i++) {
    model->lone_point[(*n_point)++] = first + mesh->point[i];
  }
done:
  noli_free(model->context, outline);
  return status;
}

// The segments and points of all obstacles.
static NoliStatus copy_obstacles(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  int32_t n_segment = 0, n_point = 0;
  for (int32_t b = 0; b < model->n_body; b++) {
    if (model->obstacle[b]) {
      NOLI_TRY(copy_obstacle(model, &def->bodies[b], model->vert_first[b], &n_segment, &n_point));
    }
  }
done:
  return status;
}

// ---- proxies ------------------------------------------------------------------------------------

typedef struct Proxies {
  NoliProxy* body;        // (n_body) the proxies; those of bodies without one are their nodes
  const NoliProxy** part; // (n_body) the same
  bool* has;              // (n_body)
  bool any;
  NoliProxy joined;
  int32_t* place; // (joined n_vert)
} Proxies;

// Densities of a body that give it the mass and the centre of the volume enclosed by its proxy.
static NoliStatus balance(const NoliModel* model, int32_t b, const NoliSpace* space,
                          const NoliProxy* proxy, double* density) {
  NoliStatus status = NOLI_OK;
  double *volume = NULL, *moment = NULL, enclosed = 0.0, first_moment[3];
  NoliDensityFit report;
  NOLI_NEW(model->context, volume, space->n_tet);
  NOLI_NEW(model->context, moment, 3 * (int64_t)space->n_tet);
  NOLI_TRY(noli_space_moments(model->context, space, volume, moment));
  noli_density_fit_enclosed(proxy->X, proxy->n_tri, proxy->tri, &enclosed, first_moment);
  NOLI_CHECK(model->context, enclosed > 0.0, NOLI_ERROR_ARGUMENT,
             "the triangles of the proxy enclose %g m^3: it cannot be balanced", enclosed);
  double centre[3] = {first_moment[0] / enclosed, first_moment[1] / enclosed,
                      first_moment[2] / enclosed};
  double mass = density[0] * enclosed;
  NOLI_TRY(noli_density_fit(model->context, space->n_tet, volume, moment, mass, centre, density,
                            &report));
  noli_log(model->context, NOLI_LOG_INFO,
           "body \"%s\": balanced from %.6g kg to %.6g kg, densities from %.6g to %.6g kg/m^3",
           model->name[b], report.mass_before, mass, report.least_density, report.largest_density);
done:
  noli_free(model->context, volume);
  noli_free(model->context, moment);
  return status;
}

// The nodes of a body if they are not the vertices of its mesh; otherwise NULL.
static const NoliSpace* space_of(const NoliModel* model, int32_t b) {
  const NoliBlock* block = noli_problem_block(&model->problem, b);
  return block != NULL ? block->space : NULL;
}

// The proxy of one body, or its nodes, and its densities.
static NoliStatus add_proxy(const NoliModel* model, const NoliSimDef* def, int32_t b,
                            Proxies* proxies) {
  NoliStatus status = NOLI_OK;
  const NoliBodyDef* body = &def->bodies[b];
  const NoliSpace* space = space_of(model, b);
  NoliSpace linear = {0};
  proxies->part[b] = &proxies->body[b];
  proxies->has[b] =
      space != NULL || (!body->obstacle && noli_proxy_kind(&body->proxy) != NOLI_PROXY_AUTOMATIC);
  if (!proxies->has[b]) {
    NOLI_TRY(noli_proxy_identity(model->context, body->mesh->n_vert, body->mesh->x, 0, NULL,
                                 &proxies->body[b]));
    // with the angles of rods, which have no vertices
    proxies->body[b].n_node = model->vert_first[b + 1] - model->vert_first[b];
    goto done;
  }

  proxies->any = true;
  if (space == NULL) {
    NOLI_TRY(noli_space_create(model->context, body->mesh, 1, &linear));
    space = &linear;
  }
  NOLI_TRY(noli_body_proxy_make(model->context, model->name[b], body, space, &proxies->body[b]));
  if (body->proxy.balance) {
    NOLI_TRY(
        balance(model, b, space, &proxies->body[b],
                noli_problem_block(&model->problem, b)->density + model->problem.range[b].begin));
  }
done:
  noli_space_destroy(model->context, &linear);
  return noli_definition_locate_body(model->context, body, model->name[b], status);
}

static NoliStatus make_proxies(NoliModel* model, const NoliSimDef* def, Proxies* proxies) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NOLI_NEW_ZERO(context, proxies->body, model->n_body);
  NOLI_NEW_ZERO(context, proxies->part, model->n_body);
  NOLI_NEW_ZERO(context, proxies->has, model->n_body);
  for (int32_t b = 0; b < model->n_body; b++) {
    NOLI_TRY(add_proxy(model, def, b, proxies));
  }
  model->problem.followers = (NoliFollowers){.n_node = model->problem.n_node};
  if (proxies->any) {
    NOLI_TRY(noli_proxy_join(context, model->n_body, proxies->part, &proxies->joined));
    NOLI_NEW(context, proxies->place, proxies->joined.n_vert);
    NOLI_TRY(
        noli_proxy_followers(context, &proxies->joined, &model->problem.followers, proxies->place));
  }
  model->problem.n_vert = model->problem.n_node + model->problem.followers.n;
done:
  return status;
}

// Numbers of followers body by body; the places of a proxy become numbers within its body.
static NoliStatus number_followers(NoliModel* model, Proxies* proxies) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW(model->context, model->follower_first, model->n_body + 1);
  model->follower_first[0] = model->problem.n_node;
  for (int32_t b = 0, v = 0; b < model->n_body; b++) {
    int32_t next = model->follower_first[b];
    int32_t first = model->vert_first[b], n_node = model->vert_first[b + 1] - first;
    for (int32_t i = 0; proxies->any && i < proxies->body[b].n_vert; i++, v++) {
      bool follows = proxies->place[v] >= model->problem.n_node;
      int32_t before = follows ? model->follower_first[b] - n_node : first;
      next += follows ? 1 : 0;
      proxies->place[v] -= before;
    }
    model->follower_first[b + 1] = next;
  }
done:
  return status;
}

static void free_proxies(const NoliModel* model, Proxies* proxies) {
  for (int32_t b = 0; proxies->body != NULL && b < model->n_body; b++) {
    noli_proxy_destroy(model->context, &proxies->body[b]);
  }
  noli_proxy_destroy(model->context, &proxies->joined);
  noli_free(model->context, proxies->body);
  noli_free(model->context, proxies->part);
  noli_free(model->context, proxies->has);
  noli_free(model->context, proxies->place);
}

// ---- positions ----------------------------------------------------------------------------------

// Initial positions of nodes that are not vertices: they move from rest with the straight
// tetrahedra.
static void move_nodes(const NoliSpace* space, const double* x0, double* x) {
  int32_t lattice[NOLI_TET_NODES_MAX][4];
  noli_tet_lattice(space->order, lattice);
  memcpy(x, x0, 3 * (size_t)space->n_vert * sizeof *x);
  for (int64_t t = 0; t < space->n_tet; t++) {
    const int32_t* node = space->node + t * space->n_local;
    for (int32_t a = 4; a < space->n_local; a++) {
      NoliVec3 to = noli_load3(space->X + 3 * (int64_t)node[a]);
      for (int32_t c = 0; c < 4; c++) {
        NoliVec3 u = noli_sub3(noli_load3(x0 + 3 * (int64_t)node[c]),
                               noli_load3(space->X + 3 * (int64_t)node[c]));
        to = noli_mul_add3(to, (double)lattice[a][c] / space->order, u);
      }
      noli_store3(x + 3 * (int64_t)node[a], to);
    }
  }
}

// Puts bodies in plane strain exactly into the plane of the first one.
static void level(NoliModel* model, const NoliSimDef* def) {
  const double* height = NULL;
  for (int32_t b = 0; b < model->n_body; b++) {
    if (!bodies_is_flat(&def->bodies[b])) {
      continue;
    }
    height = height != NULL ? height : &def->bodies[b].mesh->x[2];
    for (int64_t v = model->vert_first[b]; v < model->vert_first[b + 1]; v++) {
      model->problem.X[3 * v + 2] = model->x0[3 * v + 2] = *height;
    }
  }
}

static NoliStatus copy_positions(NoliModel* model, const NoliSimDef* def, const Proxies* proxies) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  NOLI_NEW(model->context, problem->X, 3 * (int64_t)problem->n_vert);
  NOLI_NEW(model->context, model->x0, 3 * (int64_t)problem->n_vert);

  // nodes, and vertices that follow them
  for (int32_t b = 0, v = 0; b < model->n_body; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    int64_t first = 3 * (int64_t)model->vert_first[b];
    int32_t n_angle = noli_model_angle_count(model, b);
    int64_t n_own = model->vert_first[b + 1] - model->vert_first[b] - n_angle;
    size_t bytes = 3 * sizeof(double) * (size_t)n_own;
    const NoliSpace* space = space_of(model, b);
    const double* X = space != NULL ? space->X : body->mesh->x;
    memcpy(problem->X + first, X, bytes);
    if (space != NULL && body->x0 != NULL) {
      memcpy(model->x0 + first, X, bytes);
      move_nodes(space, body->x0, model->x0 + first);
    } else {
      memcpy(model->x0 + first, body->x0 != NULL ? body->x0 : X, bytes);
    }
    memset(problem->X + first + 3 * n_own, 0, 3 * sizeof(double) * (size_t)n_angle);
    memset(model->x0 + first + 3 * n_own, 0, 3 * sizeof(double) * (size_t)n_angle);
    for (int32_t i = 0; proxies->any && i < proxies->body[b].n_vert; i++, v++) {
      int32_t n_node = model->vert_first[b + 1] - model->vert_first[b];
      if (proxies->place[v] >= n_node) {
        int64_t follower = model->follower_first[b] + (proxies->place[v] - n_node);
        memcpy(problem->X + 3 * follower, proxies->body[b].X + 3 * (int64_t)i, 3 * sizeof(double));
      }
    }
  }

  // move nodes into the plane, and followers to their places
  level(model, def);
  noli_followers_move(&problem->followers, problem->X, noli_context_threads(model->context),
                      model->x0);
done:
  return status;
}

// ---- surface ------------------------------------------------------------------------------------

// Triangles of a proxy, with the numbers within its body in `place` (from `first` on).
static NoliStatus proxy_triangles(NoliContext* context, const NoliProxy* proxy,
                                  const int32_t* place, int32_t** tri) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW(context, *tri, 3 * (int64_t)proxy->n_tri);
  for (int64_t i = 0; i < 3 * (int64_t)proxy->n_tri; i++) {
    (*tri)[i] = place[proxy->tri[i]];
  }
done:
  return status;
}

static NoliStatus build_surface(NoliModel* model, const NoliSimDef* def, const Proxies* proxies) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliSurfaceParts* parts = NULL;
  int32_t** boundary = NULL;
  NOLI_NEW_ZERO(context, parts, model->n_body);
  NOLI_NEW_ZERO(context, boundary, model->n_body);

  // triangles, segments and points of each body
  bool thin = false;
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBodyKind* kind = noli_body_kind(&def->bodies[b]);
    thin = thin || !kind->encloses;
  }
  for (int32_t b = 0, v = 0; b < model->n_body; v += proxies->body[b++].n_vert) {
    const NoliMesh* mesh = def->bodies[b].mesh;
    if (bodies_is_flat(&def->bodies[b])) {
      NOLI_TRY(noli_mesh_outline(context, mesh, &boundary[b], &parts[b].n_edge));
      parts[b].edge = boundary[b];
      parts[b].planar = true;
      continue;
    }
    const NoliBodyKind* kind = noli_body_kind(&def->bodies[b]);
    if (kind->own_tri || model->obstacle[b]) {
      parts[b].n_tri = mesh->n_tri;
      parts[b].tri = mesh->tri;
    }
    if (kind->own_edge || model->obstacle[b]) {
      parts[b].n_edge = mesh->n_edge;
      parts[b].edge = mesh->edge;
    }
    if (kind->own_point || model->obstacle[b]) {
      parts[b].n_point = mesh->n_point;
      parts[b].point = mesh->point;
      parts[b].points_are_edges = thin;
    }
    if (proxies->has[b]) {
      NOLI_TRY(proxy_triangles(context, &proxies->body[b], proxies->place + v, &boundary[b]));
      parts[b] = (NoliSurfaceParts){.n_tri = proxies->body[b].n_tri, .tri = boundary[b]};
    } else if (mesh->n_tet > 0 && (!model->obstacle[b] || mesh->n_tri == 0)) {
      NOLI_TRY(noli_mesh_boundary(context, mesh, &boundary[b], &parts[b].n_tri));
      parts[b].tri = boundary[b];
    }
  }

  // one surface
  NOLI_TRY(noli_surface_create_with_followers(context, model->n_body, model->vert_first,
                                              model->follower_first, parts,
                                              &model->problem.surface));
done:
  for (int32_t b = 0; boundary != NULL && b < model->n_body; b++) {
    noli_mesh_free_array(context, &boundary[b]);
  }
  noli_free(context, boundary);
  noli_free(context, parts);
  return status;
}

static NoliStatus set_offsets(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  double* offset = NULL;
  NOLI_NEW(model->context, offset, model->n_body);
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    // one of these is not 0
    double own = 0.5 * body->shell.thickness + body->rod.radius + body->point.radius;
    offset[b] = body->contact_offset == NOLI_OFFSET_THICKNESS ? own : body->contact_offset;
  }
  NOLI_TRY(noli_surface_set_offsets(model->context, model->problem.surface, offset));
done:
  noli_free(model->context, offset);
  return status;
}

NoliStatus noli_bodies_build(NoliModel* model, const NoliSimDef* def, bool divide) {
  NoliStatus status = NOLI_OK;
  Proxies proxies = {0};
  int32_t* rank = NULL;
  NOLI_NEW_ZERO(model->context, model->vert_first, model->n_body + 1);
  NOLI_TRY(count_cells(model, def));
  if (noli_rank_count(model->context) > 1) {
    NOLI_NEW(model->context, rank, model->cell_first[model->n_body]);
  }
  NOLI_TRY(assign_blocks(model, def, divide, rank));
  NOLI_TRY(bodies_number_nodes(model, def));
  NOLI_TRY(noli_rank_parts_own_nodes(model, rank));
  NOLI_TRY(copy_obstacles(model, def));
  NOLI_TRY(make_proxies(model, def, &proxies));
  NOLI_TRY(number_followers(model, &proxies));
  NOLI_TRY(copy_positions(model, def, &proxies));
  NOLI_TRY(build_surface(model, def, &proxies));
  NOLI_TRY(set_offsets(model, def));
  NOLI_TRY(
      noli_surface_find_flat(model->context, model->problem.surface, model->obstacle, model->x0));
done:
  free_proxies(model, &proxies);
  noli_free(model->context, rank);
  return status;
}

// ---- warnings -----------------------------------------------------------------------------------

static void report_rubber(const NoliModel* model, int32_t b, const NoliMaterialDef* material) {
  if (!noli_material_has_shear(material)) {
    return;
  }
  NoliStability stability =
      noli_material_stability(noli_material_find(material->law), noli_material_lame(material));
  if (stability.way != NULL) {
    noli_log(
        model->context, NOLI_LOG_WARNING,
        "body \"%s\": with these parameters the law \"%s\" is unstable from a stretch of %.3g on "
        "in %s: less stress stretches it more. Coefficients fitted to tests hold within the "
        "stretches of the tests; with positive ones the law is stable everywhere",
        model->name[b], material->law, stability.stretch, stability.way);
  }
}

void noli_bodies_report(const NoliModel* model, const NoliSimDef* def) {
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    if (body->obstacle) {
      continue;
    }
    report_rubber(model, b, &body->material);
    for (int32_t k = 0; k < body->n_parts; k++) {
      report_rubber(model, b, &body->parts[k].material);
    }
  }
}
