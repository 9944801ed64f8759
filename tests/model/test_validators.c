// Every validator (base/validate.h) accepts the structures that the library builds and rejects them
// after one change. Debug builds call them: in these, building an invalid structure fails.
#include "contact/gcp_cases.h"

#include "base/sort.h"
#include "base/validate.h"
#include "collide/broad_phase.h"
#include "collide/bvh.h"
#include "contact/constraints/active_set.h"
#include "contact/contact_set.h"
#include "fem/space.h"
#include "linalg/assembly/assembly_plan.h"
#include "linalg/assembly/pattern.h"
#include "linalg/expansion.h"
#include "linalg/followers.h"
#include "linalg/general_matrix.h"
#include "linalg/low_rank.h"
#include "linalg/supernodal/supernodal.h"
#include "mesh/topology.h"
#include "noli/noli.h"
#include "output/checkpoint.h"
#include "output/frames/frame.h"
#include "output/frames/frame_list.h"
#include "step/simulation.h"

// The validator names this rule, and nothing after the value is restored.
#define REFUSES(change, back, call, rule)                                                          \
  do {                                                                                             \
    change;                                                                                        \
    const char* refused = (call);                                                                  \
    assert_non_null(refused);                                                                      \
    if (strstr(refused, rule) == NULL) {                                                           \
      print_error("\"%s\" instead of \"%s\"\n", refused, rule);                                    \
      fail();                                                                                      \
    }                                                                                              \
    back;                                                                                          \
    assert_null(call);                                                                             \
  } while (0)

// ---- linalg ----

static void matrices(void** state) {
  (void)state;
  int64_t row[] = {0, 2, 3, 4};
  int32_t col[] = {0, 2, 1, 2};
  NoliBlockMatrix matrix = {.n = 3, .nnz = 4, .row = row, .col = col};
  assert_null(noli_block_matrix_defect(&matrix));
  REFUSES(col[1] = 3, col[1] = 2, noli_block_matrix_defect(&matrix), "out of range");
  REFUSES(col[1] = 0, col[1] = 2, noli_block_matrix_defect(&matrix), "do not ascend");
  REFUSES(col[2] = 2, col[2] = 1, noli_block_matrix_defect(&matrix), "diagonal");
  REFUSES(row[2] = 2, row[2] = 3, noli_block_matrix_defect(&matrix), "empty");
  REFUSES(matrix.nnz = 5, matrix.nnz = 4, noli_block_matrix_defect(&matrix), "all blocks");
}

static void patterns(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliPattern pattern = {.context = context};
  ASSERT_OK(noli_pattern_reset(&pattern, 4));
  const uint64_t keys[] = {noli_pattern_key(noli_bits_of(4), 0, 2),
                           noli_pattern_key(noli_bits_of(4), 1, 3)};
  ASSERT_OK(noli_pattern_merge(&pattern, keys, 2, NOLI_BLOCK_USED, true));
  assert_null(noli_pattern_defect(&pattern));
  int32_t now = pattern.now;
  REFUSES(pattern.matrix.col[1] = 9, pattern.matrix.col[1] = 2, noli_pattern_defect(&pattern),
          "out of range");
  REFUSES(pattern.flags[0] = NOLI_BLOCK_USED, pattern.flags[0] = NOLI_BLOCK_FIXED,
          noli_pattern_defect(&pattern), "not fixed");
  REFUSES(pattern.flags[1] = 64, pattern.flags[1] = NOLI_BLOCK_USED, noli_pattern_defect(&pattern),
          "unknown flags");
  REFUSES(pattern.now = 1 - now, pattern.now = now, noli_pattern_defect(&pattern), "in use");
  noli_pattern_free(&pattern);
  test_context_done(&context);
}

static void general_matrices(void** state) {
  (void)state;
  int64_t row[] = {0, 2, 4}, diagonal[] = {0, 3};
  int32_t col[] = {0, 1, 0, 1};
  NoliGeneralMatrix matrix = {.n = 2, .nnz = 4, .row = row, .col = col, .diagonal = diagonal};
  assert_null(noli_general_matrix_defect(&matrix));
  REFUSES(col[3] = 2, col[3] = 1, noli_general_matrix_defect(&matrix), "out of range");
  REFUSES(col[1] = 0, col[1] = 1, noli_general_matrix_defect(&matrix), "do not ascend");
  REFUSES(diagonal[1] = 2, diagonal[1] = 3, noli_general_matrix_defect(&matrix), "diagonal");
  REFUSES(row[2] = 3, row[2] = 4, noli_general_matrix_defect(&matrix), "all blocks");
}

static void plans(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliPattern pattern = {.context = context};
  NoliPlan plan = {0};
  const int32_t node[] = {0, 1, 1, 2}, dof[] = {0, 1, 2};
  const NoliEnergyTerm term = {.name = "springs", .size = 2, .n_stencil = 2, .node = node};
  const NoliUnknowns unknowns = {.n_node = 3, .dof = dof};
  const uint64_t keys[] = {noli_pattern_key(noli_bits_of(3), 0, 1),
                           noli_pattern_key(noli_bits_of(3), 1, 2)};
  uint64_t* scratch = malloc(2 * NOLI_PLAN_BATCH_BLOCKS * sizeof *scratch);
  int64_t n_missing = 0;
  assert_non_null(scratch);
  ASSERT_OK(noli_pattern_reset(&pattern, 3));
  ASSERT_OK(noli_pattern_merge(&pattern, keys, 2, NOLI_BLOCK_FIXED, true));
  ASSERT_OK(noli_plan_layout(context, &plan, &term, 0, 1));
  ASSERT_OK(noli_plan_locate(context, &plan, &term, &unknowns, &pattern.matrix, scratch,
                             NOLI_PLAN_BATCH_BLOCKS, &n_missing));
  assert_int_equal(n_missing, 0);
  assert_null(noli_plan_defect(&plan, &term, 3, &pattern.matrix));
  uint32_t target = plan.block_target[1], goes = plan.node[0];
  REFUSES(plan.block_target[1] = 99, plan.block_target[1] = target,
          noli_plan_defect(&plan, &term, 3, &pattern.matrix), "blocks of a batch");
  REFUSES(plan.node[0] = 4 * 77, plan.node[0] = goes,
          noli_plan_defect(&plan, &term, 3, &pattern.matrix), "nodes of a batch");
  REFUSES(plan.batch[0].end = 3, plan.batch[0].end = 2,
          noli_plan_defect(&plan, &term, 3, &pattern.matrix), "follow each other");
  REFUSES(plan.batch[0].first_node = 1, plan.batch[0].first_node = 0,
          noli_plan_defect(&plan, &term, 3, &pattern.matrix), "memory of a batch");
  free(scratch);
  noli_plan_free(context, &plan);
  noli_pattern_free(&pattern);
  test_context_done(&context);
}

// One vertex in the middle of nodes 0 and 2, not finished.
static NoliFollowers middle(NoliContext* context, double weight) {
  NoliFollowers followers = {0};
  ASSERT_OK(noli_followers_begin(context, 3, 1, 2, &followers));
  followers.row[0] = 0;
  followers.row[1] = 2;
  followers.node[0] = 0;
  followers.node[1] = 2;
  followers.weight[0] = 0.5;
  followers.weight[1] = weight;
  return followers;
}

static void followers_and_expansions(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliFollowers made = middle(context, 0.5);
  ASSERT_OK(noli_followers_finish(context, &made));
  assert_null(noli_followers_defect(&made));
  REFUSES(made.node[1] = 3, made.node[1] = 2, noli_followers_defect(&made), "another follower");
  REFUSES(made.node[1] = 0, made.node[1] = 2, noli_followers_defect(&made), "do not ascend");
  REFUSES(made.weight[0] = 0.6, made.weight[0] = 0.5, noli_followers_defect(&made), "sum to one");
  REFUSES(made.follower[0] = 1, made.follower[0] = 0, noli_followers_defect(&made), "column");

  const int32_t node[] = {1, 3};
  const NoliEnergyTerm term = {.name = "spring", .size = 2, .n_stencil = 1, .node = node};
  NoliEnergyTerm expanded;
  NoliExpansion expansion = {0};
  ASSERT_OK(noli_expansion_build(&expansion, context, &made, &term, &expanded));
  assert_null(noli_expansion_defect(&expansion, 3));
  REFUSES(expansion.node.data[2] = 3, expansion.node.data[2] = 2,
          noli_expansion_defect(&expansion, 3), "node is out of range");
  REFUSES(expansion.place.data[0] = 3, expansion.place.data[0] = 0,
          noli_expansion_defect(&expansion, 3), "no node of its stencil");
  REFUSES(expansion.row.data[2] = 2, expansion.row.data[2] = 3,
          noli_expansion_defect(&expansion, 3), "all weights");
  REFUSES(expansion.first.count = 1, expansion.first.count = 2,
          noli_expansion_defect(&expansion, 3), "length");
  noli_expansion_free(context, &expansion);
  noli_followers_destroy(context, &made);
  test_context_done(&context);
}

// Debug builds fail with a message where a defective structure is built.
static void defect_is_an_internal_error(void** state) {
  (void)state;
  if (!NOLI_VALIDATES) {
    print_message("validators are called in Debug builds only\n");
    skip();
  }
  NoliContext* context = test_context(1);
  NoliFollowers made = middle(context, 0.25);
  ASSERT_STATUS(noli_followers_finish(context, &made), NOLI_ERROR_INTERNAL);
  assert_non_null(strstr(noli_context_message(context), "followers.c:"));
  assert_non_null(strstr(noli_context_message(context), "weights do not sum to one"));
  noli_followers_destroy(context, &made);
  test_context_done(&context);
}

// An arrow: rows 0 and 1 are linked to row 2 only.
static void supernodes(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliOrderer* orderer = NULL;
  NoliSymbolic symbolic = {0};
  NoliSupernodal factor = {0};
  int64_t row[] = {0, 2, 4, 5};
  int32_t col[] = {0, 2, 1, 2, 2};
  const int32_t order[] = {0, 1, 2};
  const NoliBlockMatrix matrix = {.n = 3, .nnz = 5, .row = row, .col = col};
  ASSERT_OK(noli_orderer_create(context, NOLI_ORDERER_NARROW, &orderer));
  ASSERT_OK(noli_orderer_begin(orderer, &matrix));
  ASSERT_OK(noli_symbolic_make(orderer, order, &symbolic));
  ASSERT_OK(noli_supernodal_begin(context, &factor, &symbolic, false));
  assert_null(noli_supernodal_defect(&factor));

  int32_t last = factor.n_super - 1, n_super = factor.n_super;
  int32_t *first = factor.first.data, *rows = factor.row.data, *owner = factor.owner.data;
  int64_t *at = factor.at.data, size = factor.value.capacity;
  REFUSES(first[n_super]--, first[n_super]++, noli_supernodal_defect(&factor), "all columns");
  REFUSES(rows[0]++, rows[0]--, noli_supernodal_defect(&factor), "begin with");
  REFUSES(owner[2] = -1, owner[2] = last, noli_supernodal_defect(&factor), "another owner");
  REFUSES(at[n_super]++, at[n_super]--, noli_supernodal_defect(&factor), "panels");
  REFUSES(factor.value.capacity = at[n_super] - 1, factor.value.capacity = size,
          noli_supernodal_defect(&factor), "memory");
  noli_supernodal_free(context, &factor);
  noli_symbolic_free(orderer, &symbolic);
  noli_orderer_destroy(&orderer);
  test_context_done(&context);
}

// Supernodes {0}, {1} and {2, 3}; row 0 is linked to 2 and 3, row 1 to 2.
static void updates_of_supernodes(void** state) {
  (void)state;
  int32_t first[] = {0, 1, 2, 4}, row[] = {0, 2, 3, 1, 2, 2, 3}, owner[] = {0, 1, 2, 2};
  int64_t start[] = {0, 3, 5, 7}, at[] = {0, 27, 45, 81};
  const NoliSupernodal factor = {.n = 4,
                                 .n_super = 3,
                                 .first = {.data = first},
                                 .start = {.data = start},
                                 .row = {.data = row, .capacity = 7},
                                 .at = {.data = at},
                                 .value = {.capacity = 81},
                                 .owner = {.data = owner}};
  assert_null(noli_supernodal_defect(&factor));
  REFUSES(row[2] = 2, row[2] = 3, noli_supernodal_defect(&factor), "do not ascend");
  REFUSES(row[2] = 4, row[2] = 3, noli_supernodal_defect(&factor), "out of range");
  // row 3 of the first one does not exist in the second one
  REFUSES(row[1] = 1, row[1] = 2, noli_supernodal_defect(&factor), "updated row");
}

static NoliStatus copy_right_side(void* user, const double* b, double* x) {
  (void)user;
  memcpy(x, b, 3 * sizeof *x);
  return NOLI_OK;
}

// I + g g^T and another part, of one block row.
static void parts_of_rank_one(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliLowRank parts = {0};
  const double vector[] = {1.0, 2.0, 0.0, 0.0, 1.0, 3.0};
  ASSERT_OK(noli_low_rank_resize(&parts, context, 2, 1));
  parts.scale[0] = 1.0;
  parts.scale[1] = 0.5;
  memcpy(parts.vector, vector, sizeof vector);
  ASSERT_OK(noli_low_rank_factor(&parts, context, copy_right_side, NULL));
  assert_null(noli_low_rank_defect(&parts));
  int32_t exchanged = parts.pivot[1];
  double pivot = parts.system[3];
  int64_t room = parts.capacity[2];
  REFUSES(parts.pivot[1] = 0, parts.pivot[1] = exchanged, noli_low_rank_defect(&parts),
          "exchanged row");
  REFUSES(parts.pivot[1] = 2, parts.pivot[1] = exchanged, noli_low_rank_defect(&parts),
          "exchanged row");
  REFUSES(parts.system[3] = NAN, parts.system[3] = pivot, noli_low_rank_defect(&parts), "pivot");
  REFUSES(parts.capacity[2] = 5, parts.capacity[2] = room, noli_low_rank_defect(&parts), "memory");
  REFUSES(parts.n = -1, parts.n = 1, noli_low_rank_defect(&parts), "negative");
  noli_low_rank_free(context, &parts);
  test_context_done(&context);
}

// ---- collide ----

static void trees(void** state) {
  (void)state;
  enum { N = 30 };
  NoliContext* context = test_context(1);
  NoliForest forest;
  NoliBox box[N];
  const int32_t first[] = {0, 20, N};
  ASSERT_OK(noli_forest_create(context, 2, first, &forest));
  for (int i = 0; i < N; i++) {
    box[i] = (NoliBox){{(float)i, 0.0f, 0.0f}, {(float)i + 1.0f, 1.0f, 1.0f}};
  }
  noli_forest_refit(&forest, box);
  assert_null(noli_forest_defect(&forest));
  assert_null(noli_forest_box_defect(&forest, box));
  NoliNode root = forest.node[0];
  REFUSES(forest.node[0].child = 0, forest.node[0] = root, noli_forest_defect(&forest), "children");
  REFUSES(forest.node[0].end = 19, forest.node[0] = root, noli_forest_defect(&forest), "places");
  REFUSES(forest.item[3] = N, forest.item[3] = 3, noli_forest_defect(&forest), "item");
  float hi = box[4].hi[1];
  REFUSES(box[4].hi[1] = 2.0f, box[4].hi[1] = hi, noli_forest_box_defect(&forest, box), "box");
  noli_forest_release(context, &forest);
  test_context_done(&context);
}

// Two triangles above each other, 0.1 m apart, as two bodies.
static void surfaces_and_contacts(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliSurface* surface = NULL;
  NoliBroadPhase* broad_phase = NULL;
  NoliCandidates found = {0};
  NoliContactSet set;
  const double x[] = {0, 0, 0, 1, 0, 0, 0, 0, 1, 0.1, 0.1, 0.1, 1.1, 0.1, 0.1, 0.1, 0.1, 1.1};
  const int32_t first[] = {0, 3, 6}, tri[] = {0, 1, 2};
  const NoliSurfaceParts parts[] = {{.n_tri = 1, .tri = tri}, {.n_tri = 1, .tri = tri}};
  ASSERT_OK(noli_surface_create(context, 2, first, parts, &surface));
  assert_null(noli_surface_defect(surface));
  int32_t* edge = (int32_t*)(uintptr_t)surface->edge;
  int32_t* corner = (int32_t*)(uintptr_t)surface->tri;
  int32_t* point = (int32_t*)(uintptr_t)surface->point;
  REFUSES(corner[1] = 4, corner[1] = 1, noli_surface_defect(surface), "triangle");
  REFUSES((edge[0] = 1, edge[1] = 0), (edge[0] = 0, edge[1] = 1), noli_surface_defect(surface),
          "wrong order");
  REFUSES(edge[3] = 1, edge[3] = 2, noli_surface_defect(surface), "do not ascend");
  REFUSES(point[2] = 1, point[2] = 2, noli_surface_defect(surface), "points");

  ASSERT_OK(noli_broad_phase_create(context, surface, &broad_phase));
  ASSERT_OK(noli_broad_phase_find(broad_phase, x, x, 0.2, NULL, &found));
  assert_true(found.point_triangle.count > 0 && found.edge_edge.count > 1);
  assert_null(noli_candidates_defect(&found, surface));
  NoliPrimitivePair vertex = found.point_triangle.data[0], pair = found.edge_edge.data[1];
  REFUSES(found.point_triangle.data[0].a = 6, found.point_triangle.data[0] = vertex,
          noli_candidates_defect(&found, surface), "out of range");
  REFUSES(found.point_triangle.data[0].b = 1 - vertex.b, found.point_triangle.data[0] = vertex,
          noli_candidates_defect(&found, surface), "its triangle");
  REFUSES(found.edge_edge.data[1] = found.edge_edge.data[0], found.edge_edge.data[1] = pair,
          noli_candidates_defect(&found, surface), "edges do not ascend");

  noli_contact_set_init(&set);
  ASSERT_OK(noli_contact_set_build(&set, context, &(NoliColliders){.surface = surface}, x, &found,
                                   x, 0.2, 1));
  assert_true(set.contact.count > 1);
  assert_null(noli_contact_set_defect(&set, 6));
  int64_t last = set.contact.count - 1;
  NoliContactKey key = set.key.data[last];
  REFUSES(set.key.data[last].index = 0, set.key.data[last] = key, noli_contact_set_defect(&set, 6),
          "belongs to another");
  REFUSES(set.key.count--, set.key.count++, noli_contact_set_defect(&set, 6), "all of them");
  REFUSES(set.contact.data[0].node[0] = 6, set.contact.data[0].node[0] = set.node.data[0],
          noli_contact_set_defect(&set, 6), "out of range");
  double weight = set.contact.data[0].weight;
  REFUSES(set.contact.data[0].weight = 0.0, set.contact.data[0].weight = weight,
          noli_contact_set_defect(&set, 6), "weight");
  for (int k = 0; k < NOLI_CONTACT_CLASSES; k++) {
    int64_t i = set.class_first[k];
    if (set.class_first[k + 1] - i > 1) {
      NoliContactKey second = set.key.data[i + 1];
      REFUSES(set.key.data[i + 1] = set.key.data[i], set.key.data[i + 1] = second,
              noli_contact_set_defect(&set, 6), "occurs twice");
    }
  }
  noli_contact_set_free(context, &set);
  noli_candidates_free(context, &found);
  noli_broad_phase_destroy(&broad_phase);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

static void active_sets(void** state) {
  (void)state;
  NoliConstraint constraint[] = {{.key = {.a = 1, .b = 2}, .gamma = 1.0},
                                 {.key = {.a = 1, .b = 3}, .gamma = 0.5, .lambda = 2.0}};
  NoliActiveSet set = {.constraint = {.data = constraint, .count = 2}};
  assert_null(noli_active_set_defect(&set));
  REFUSES(constraint[1].key.b = 2, constraint[1].key.b = 3, noli_active_set_defect(&set), "keys");
  REFUSES(constraint[0].lambda = NAN, constraint[0].lambda = 0.0, noli_active_set_defect(&set),
          "multiplier");
  REFUSES(constraint[0].gamma = 0.0, constraint[0].gamma = 1.0, noli_active_set_defect(&set),
          "decay");
}

// Two boxes above each other.
static void geometric_pairs(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh *lower = NULL, *upper = NULL;
  const double size[] = {1.0, 1.0, 1.0};
  const int32_t cells[] = {1, 1, 1};
  ASSERT_OK(noli_mesh_make_box(context, size, cells, true, &lower));
  ASSERT_OK(noli_mesh_make_box(context, size, cells, true, &upper));
  int32_t n_first = lower->n_vert;
  lower =
      gcp_append(context, gcp_append(context, NULL, lower, 0.0, 0.0, 0.0), upper, 0.03, 0.02, 1.05);
  const NoliGcpParameters parameters = gcp_parameters(0.2, 0.5);
  GcpScene* scene = gcp_scene(context, lower, n_first, &parameters, NULL, 0);
  gcp_build(scene, scene->mesh->x, &gcp_two_bodies);
  NoliGcpSet* set = &scene->set;
  int32_t n_vert = scene->mesh->n_vert;
  int64_t n = set->pair.count;
  assert_true(n > 1 && set->slot.count > 0);
  assert_null(noli_gcp_set_defect(set, n_vert));

  NoliGcpPair second = set->pair.data[1];
  int32_t node = set->node.data[0], slot = set->slot.data[0];
  double d = set->d.data[0];
  REFUSES(set->pair.data[1] = set->pair.data[0], set->pair.data[1] = second,
          noli_gcp_set_defect(set, n_vert), "occurs twice");
  REFUSES(set->count[second.kind]++, set->count[second.kind]--, noli_gcp_set_defect(set, n_vert),
          "add up");
  REFUSES(set->d.count--, set->d.count++, noli_gcp_set_defect(set, n_vert), "all of them");
  REFUSES(set->node.data[0] = n_vert, set->node.data[0] = node, noli_gcp_set_defect(set, n_vert),
          "out of range");
  REFUSES(set->node.data[0] = set->node.data[1], set->node.data[0] = node,
          noli_gcp_set_defect(set, n_vert), "twice in a stencil");
  REFUSES(set->slot.data[0] = 100, set->slot.data[0] = slot, noli_gcp_set_defect(set, n_vert),
          "no vertex");
  REFUSES(set->first_block.data[n]++, set->first_block.data[n]--, noli_gcp_set_defect(set, n_vert),
          "blocks");
  REFUSES(set->d.data[0] = 0.5 * set->min_distance, set->d.data[0] = d,
          noli_gcp_set_defect(set, n_vert), "closer");
  REFUSES(set->scratch[0].capacity -= set->scratch[0].capacity,
          set->scratch[0].capacity = set->scratch_size, noli_gcp_set_defect(set, n_vert),
          "scratch");
  gcp_scene_done(&scene);
  test_context_done(&context);
}

// ---- meshes, models, files ----

static void meshes_and_spaces(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  NoliSpace space;
  const double size[] = {1.0, 1.0, 1.0};
  const int32_t cells[] = {1, 1, 1};
  ASSERT_OK(noli_mesh_make_box(context, size, cells, false, &mesh));
  assert_null(noli_mesh_defect(mesh));
  int32_t vertex = mesh->tet[1];
  double x = mesh->x[0];
  REFUSES(mesh->tet[1] = mesh->n_vert, mesh->tet[1] = vertex, noli_mesh_defect(mesh), "range");
  REFUSES(mesh->tet[1] = mesh->tet[0], mesh->tet[1] = vertex, noli_mesh_defect(mesh), "twice");
  REFUSES(mesh->x[0] = NAN, mesh->x[0] = x, noli_mesh_defect(mesh), "finite");

  ASSERT_OK(noli_space_create(context, mesh, 2, &space));
  assert_null(noli_space_defect(&space));
  int32_t node = space.node[5];
  REFUSES(space.node[5] = space.n_node, space.node[5] = node, noli_space_defect(&space), "range");
  REFUSES(space.node[5] = space.node[4], space.node[5] = node, noli_space_defect(&space), "twice");
  REFUSES(space.order = 3, space.order = 2, noli_space_defect(&space), "order");
  noli_space_destroy(context, &space);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void models_and_files(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  NoliSim* sim = NULL;
  NoliFrameLayout layout;
  const double size[] = {1.0, 1.0, 1.0};
  const int32_t cells[] = {1, 1, 1};
  ASSERT_OK(noli_mesh_make_box(context, size, cells, false, &mesh));
  NoliBodyDef body = noli_default_body_def();
  body.name = "box";
  body.mesh = mesh;
  NoliSimDef def = noli_default_sim_def();
  def.bodies = &body;
  def.n_bodies = 1;
  ASSERT_OK(noli_sim_create(context, &def, &sim));
  NoliModel* model = (NoliModel*)(uintptr_t)sim->model;
  assert_null(noli_model_defect(model));
  int32_t vertex = model->cell[2], n_node = model->vert_first[1];
  REFUSES(model->cell[2] = n_node, model->cell[2] = vertex, noli_model_defect(model),
          "another body");
  REFUSES(model->vert_first[1]++, model->vert_first[1]--, noli_model_defect(model), "all vertices");

  ASSERT_OK(noli_frame_layout_create(context, sim, &def, &layout));
  assert_null(noli_frame_layout_defect(&layout));
  int64_t offset = layout.offsets[1];
  vertex = layout.connectivity[3];
  REFUSES(layout.offsets[1] = layout.offsets[0], layout.offsets[1] = offset,
          noli_frame_layout_defect(&layout), "offsets");
  REFUSES(layout.connectivity[3] = layout.n_vert, layout.connectivity[3] = vertex,
          noli_frame_layout_defect(&layout), "out of range");
  REFUSES(layout.cell_body[0] = 1, layout.cell_body[0] = 0, noli_frame_layout_defect(&layout),
          "another body");
  noli_frame_layout_free(context, &layout);

  NoliStateField field[3];
  assert_true(noli_sim_state_field(sim, 0, &field[0]) && noli_sim_state_field(sim, 1, &field[1]));
  assert_null(noli_checkpoint_layout_defect(field, 2));
  const char* name = field[1].name;
  int64_t count = field[0].count;
  REFUSES(field[1].name = field[0].name, field[1].name = name,
          noli_checkpoint_layout_defect(field, 2), "same name");
  REFUSES(field[0].count = 0, field[0].count = count, noli_checkpoint_layout_defect(field, 2),
          "no values");
  noli_sim_destroy(&sim);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void states(void** unused) {
  (void)unused;
  NoliContext* context = test_context(1);
  NoliState state;
  const NoliStateSizes sizes = {
      .n = 6, .n_force = 6, .n_past = 1, .n_ends = 1, .n_constraints = 2, .n_behind = 3};
  ASSERT_OK(noli_state_create(context, &sizes, &state));
  assert_null(noli_state_defect(&state));
  REFUSES(state.x[8] = NAN, state.x[8] = 0.0, noli_state_defect(&state), "not finite");
  REFUSES(state.v[0] = INFINITY, state.v[0] = 0.0, noli_state_defect(&state), "not finite");
  REFUSES(state.time[0] = NAN, state.time[0] = 0.0, noli_state_defect(&state), "time");
  REFUSES(state.parts[0] = 0, state.parts[0] = 1, noli_state_defect(&state), "number of steps");
  REFUSES(state.past[0] = 2, state.past[0] = 0, noli_state_defect(&state), "past");
  REFUSES(state.ended[0] = -1, state.ended[0] = 1, noli_state_defect(&state), "an end");
  REFUSES(state.sizes.n_constraints = 3, state.sizes.n_constraints = 2, noli_state_defect(&state),
          "room");
  REFUSES(state.sizes.n_force = 3, state.sizes.n_force = 6, noli_state_defect(&state), "all nodes");
  REFUSES(state.sizes.n = 5, state.sizes.n = 6, noli_state_defect(&state), "three coordinates");
  noli_state_free(context, &state);
  test_context_done(&context);
}

static void lists_of_frames(void** state) {
  (void)state;
  NoliRunFrame frame[] = {
      {.step = 0, .time = 0.0}, {.step = 2, .time = 0.2}, {.step = 4, .time = 0.4}};
  NoliFrameList list = {.format = &noli_frame_format_vtu, .frames = {.data = frame, .count = 3}};
  assert_null(noli_frame_list_defect(&list));
  REFUSES(frame[2].step = 2, frame[2].step = 4, noli_frame_list_defect(&list), "do not ascend");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices),
      cmocka_unit_test(patterns),
      cmocka_unit_test(general_matrices),
      cmocka_unit_test(plans),
      cmocka_unit_test(followers_and_expansions),
      cmocka_unit_test(supernodes),
      cmocka_unit_test(updates_of_supernodes),
      cmocka_unit_test(parts_of_rank_one),
      cmocka_unit_test(defect_is_an_internal_error),
      cmocka_unit_test(trees),
      cmocka_unit_test(surfaces_and_contacts),
      cmocka_unit_test(active_sets),
      cmocka_unit_test(geometric_pairs),
      cmocka_unit_test(meshes_and_spaces),
      cmocka_unit_test(models_and_files),
      cmocka_unit_test(states),
      cmocka_unit_test(lists_of_frames),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
