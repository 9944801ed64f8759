#include "fem/loads/volume.h"

#include "base/parallel.h"
#include "base/sort.h"
#include "math/vec3.h"

#include <string.h>

enum { TRI_BLOCK = 1024 };

// ---- regions ------------------------------------------------------------------------------------

// The side of a triangle from its corner k to the next as a key: lower and higher vertex, whether
// it ascends, and its index.
static uint64_t side_key(const int32_t* tri, int64_t side, int32_t bits) {
  uint64_t a = (uint64_t)tri[side], b = (uint64_t)tri[side - side % 3 + (side + 1) % 3];
  uint64_t low = a < b ? a : b, high = a < b ? b : a;
  return ((low << bits | high) << 1) | (a < b ? 0 : 1);
}

// The corner opposite to a side.
static int32_t corner_across(const int32_t* tri, int64_t side) {
  return tri[side - side % 3 + (side + 2) % 3];
}

typedef struct Side {
  uint64_t key;
  int64_t at;
} Side;

static int volume_compare_sides(const void* a, const void* b) {
  const Side *p = a, *q = b;
  int order = (p->key > q->key) - (p->key < q->key);
  return order != 0 ? order : noli_order(p->at, q->at);
}

// Sorts the sides of the triangles: for each edge the ascending ones, then the descending ones.
static NoliStatus sort_sides(NoliContext* context, const int32_t* tri, int32_t n_tri,
                             int32_t n_vert, Side** out) {
  NoliStatus status = NOLI_OK;
  Side* side = NULL;
  int32_t bits = noli_bits_of(n_vert);
  NOLI_NEW(context, side, 3 * (int64_t)n_tri);
  for (int64_t i = 0; i < 3 * (int64_t)n_tri; i++) {
    side[i] = (Side){side_key(tri, i, bits), i};
  }
  noli_sort(side, 3 * (int64_t)n_tri, sizeof *side, volume_compare_sides);
  *out = side;
done:
  return status;
}

static NoliStatus push_edge(NoliVolumes* volumes, NoliContext* context, const int32_t* tri,
                            int64_t up, int64_t down) {
  NoliStatus status = NOLI_OK;
  int64_t n = volumes->n_edge;
  NOLI_TRY(noli_grow(context, (void**)&volumes->node, &volumes->node_capacity, 2 * (n + 1),
                     sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&volumes->across, &volumes->across_capacity, 2 * (n + 1),
                     sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&volumes->edge_region, &volumes->edge_region_capacity, n + 1,
                     sizeof(int32_t)));
  volumes->node[2 * n] = tri[up];
  volumes->node[2 * n + 1] = tri[down];
  volumes->across[2 * n] = corner_across(tri, up);
  volumes->across[2 * n + 1] = corner_across(tri, down);
  volumes->edge_region[n] = volumes->n_region;
  volumes->n_edge++;
done:
  return status;
}

// Adds each edge once for every pair of triangles that meet there from both sides.
static NoliStatus add_edges(NoliVolumes* volumes, NoliContext* context, const char* name,
                            const int32_t* tri, int32_t n_tri, int32_t n_vert) {
  NoliStatus status = NOLI_OK;
  Side* side = NULL;
  NOLI_TRY(sort_sides(context, tri, n_tri, n_vert, &side));
  int64_t n_side = 3 * (int64_t)n_tri;
  for (int64_t first = 0, end = 0; first < n_side; first = end) {
    int64_t down = first;
    for (; down < n_side && side[down].key == side[first].key; down++) {
    }
    for (end = first; end < n_side && side[end].key >> 1 == side[first].key >> 1; end++) {
    }
    bool upwards = (side[first].key & 1) == 0;
    NOLI_CHECK(context, upwards && 2 * (down - first) == end - first, NOLI_ERROR_ARGUMENT,
               "%s: the surface is not closed at the edge of vertices %d and %d", name,
               tri[side[first].at],
               tri[side[first].at - side[first].at % 3 + (side[first].at + 1) % 3]);
    for (int64_t k = first; k < down; k++) {
      NOLI_TRY(push_edge(volumes, context, tri, side[k].at, side[down + k - first].at));
    }
  }
done:
  noli_free(context, side);
  return status;
}

NoliStatus noli_volumes_add(NoliVolumes* volumes, NoliContext* context, const char* name,
                            int32_t body, NoliVolumeLaw law, const int32_t* tri, int32_t n_tri,
                            int32_t n_vert, const double* X) {
  NoliStatus status = NOLI_OK;
  NoliVolumeRegion made = {.body = body,
                           .law = law,
                           .tri_first = volumes->n_tri,
                           .tri_end = volumes->n_tri + n_tri,
                           .edge_first = volumes->n_edge};
  NOLI_CHECK(context, n_tri > 0, NOLI_ERROR_ARGUMENT, "%s: there is no surface", name);
  made.law.rest = noli_volume_inside(tri, n_tri, X, 1);
  NOLI_TRY(add_edges(volumes, context, name, tri, n_tri, n_vert));
  NOLI_CHECK(context, made.law.rest > 0.0 && isfinite(made.law.rest), NOLI_ERROR_ARGUMENT,
             "%s: the volume at rest must be positive, got %g m^3", name, made.law.rest);
  made.edge_end = volumes->n_edge;
  NOLI_TRY(noli_grow(context, (void**)&volumes->region, &volumes->region_capacity,
                     volumes->n_region + 1, sizeof *volumes->region));
  NOLI_TRY(noli_grow(context, (void**)&volumes->tri, &volumes->tri_capacity,
                     3 * (volumes->n_tri + n_tri), sizeof *volumes->tri));
  memcpy(volumes->tri + 3 * volumes->n_tri, tri, 3 * sizeof *tri * (size_t)n_tri);
  volumes->n_tri = made.tri_end;
  volumes->region[volumes->n_region++] = made;
done:
  if (status != NOLI_OK) {
    volumes->n_edge = made.edge_first;
  }
  return status;
}

void noli_volumes_free(NoliContext* context, NoliVolumes* volumes) {
  noli_free(context, volumes->region);
  noli_free(context, volumes->tri);
  noli_free(context, volumes->node);
  noli_free(context, volumes->across);
  noli_free(context, volumes->edge_region);
  *volumes = (NoliVolumes){0};
}

// ---- volumes ------------------------------------------------------------------------------------

typedef struct VolumeJob {
  const int32_t* tri;
  const double* x;
  NoliVec3 origin;
} VolumeJob;

static NoliVec3 volume_position(const double* x, int32_t vertex) {
  return noli_load3(x + 3 * (int64_t)vertex);
}

static double sum_determinants(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const VolumeJob* job = user;
  double sum = 0.0;
  for (int64_t i = begin; i < end; i++) {
    NoliVec3 corner[3];
    for (int k = 0; k < 3; k++) {
      corner[k] = noli_sub3(volume_position(job->x, job->tri[3 * i + k]), job->origin);
    }
    sum += noli_dot3(corner[0], noli_cross3(corner[1], corner[2]));
  }
  return sum;
}

double noli_volume_inside(const int32_t* tri, int64_t n_tri, const double* x, int32_t n_threads) {
  if (n_tri == 0) {
    return 0.0;
  }
  // relative to a corner: the sum does not depend on the origin, but its rounding errors do
  VolumeJob job = {tri, x, volume_position(x, tri[0])};
  return noli_parallel_sum(n_threads, n_tri, TRI_BLOCK, sum_determinants, &job) / 6.0;
}

void noli_volume_states(const NoliVolumes* volumes, const double* x, int32_t n_threads,
                        NoliVolumeState* state) {
  for (int32_t r = 0; r < volumes->n_region; r++) {
    const NoliVolumeRegion* region = &volumes->region[r];
    double volume = noli_volume_inside(volumes->tri + 3 * region->tri_first,
                                       region->tri_end - region->tri_first, x, n_threads);
    state[r] = (NoliVolumeState){.volume = volume,
                                 .energy = noli_volume_law_energy(&region->law, volume),
                                 .pressure = noli_volume_law_pressure(&region->law, volume),
                                 .stiffness = noli_volume_law_stiffness(&region->law, volume)};
  }
}

// ---- derivatives --------------------------------------------------------------------------------

// Contribution of an edge to dV at each of its two nodes: a node receives a third of the area
// vector of a triangle, half of it from each of the triangle's two edges at the node.
static NoliVec3 edge_gradient(const NoliVolumes* volumes, int64_t edge, const double* x) {
  const int32_t* node = volumes->node + 2 * edge;
  const int32_t* across = volumes->across + 2 * edge;
  NoliVec3 a = volume_position(x, node[0]), b = volume_position(x, node[1]);
  NoliVec3 ab = noli_sub3(b, a);
  // (b - a) x (c - a) + (a - b) x (d - b)
  NoliVec3 c = noli_sub3(volume_position(x, across[0]), a),
           d = noli_sub3(volume_position(x, across[1]), b);
  return noli_scale3(1.0 / 12.0, noli_cross3(ab, noli_sub3(c, d)));
}

void noli_volume_add_gradient(const NoliVolumes* volumes, int32_t region, const double* x,
                              double* gradient) {
  for (int64_t i = volumes->region[region].edge_first; i < volumes->region[region].edge_end; i++) {
    NoliVec3 share = edge_gradient(volumes, i, x);
    for (int k = 0; k < 2; k++) {
      double* g = gradient + 3 * (int64_t)volumes->node[2 * i + k];
      noli_store3(g, noli_add3(noli_load3(g), share));
    }
  }
}

// The blocks (a, a), (a, b), (b, b) of an edge: [w]x at (a, b).
static void edge_blocks(NoliVec3 w, double block[27]) {
  memset(block, 0, 27 * sizeof *block);
  double* across = block + 9;
  across[1] = -w.z;
  across[2] = w.y;
  across[3] = w.z;
  across[5] = -w.x;
  across[6] = -w.y;
  across[7] = w.x;
}

static void evaluate_volume(const void* user, const double* x, int64_t begin, int64_t end,
                            unsigned what, const NoliLocal* out) {
  const NoliVolume* data = user;
  const NoliVolumes* volumes = data->regions;
  for (int64_t i = begin; i < end; i++) {
    int32_t region = volumes->edge_region[i];
    double derivative = -data->scale * data->state[region].pressure;
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      // assigned to the first edge
      bool first = i == volumes->region[region].edge_first;
      out->energy[i - begin] = first ? data->scale * data->state[region].energy : 0.0;
    }
    if ((what & NOLI_EVAL_GRADIENT) != 0) {
      NoliVec3 share = noli_scale3(derivative, edge_gradient(volumes, i, x));
      noli_store3(out->gradient + 6 * (i - begin), share);
      noli_store3(out->gradient + 6 * (i - begin) + 3, share);
    }
    if ((what & NOLI_EVAL_PROJECTED) != 0) {
      memset(out->hessian + 27 * (i - begin), 0, 27 * sizeof *out->hessian);
    } else if ((what & NOLI_EVAL_HESSIAN) != 0) {
      const int32_t* across = volumes->across + 2 * i;
      edge_blocks(noli_scale3(derivative / 6.0, noli_sub3(volume_position(x, across[1]),
                                                          volume_position(x, across[0]))),
                  out->hessian + 27 * (i - begin));
    }
  }
}

static void prepare_volume(const void* user, const double* x, int32_t n_threads) {
  const NoliVolume* data = user;
  noli_volume_states(data->regions, x, n_threads, data->state);
}

NoliEnergyTerm noli_volume_term(const NoliVolume* data) {
  return (NoliEnergyTerm){.name = "volume",
                          .data = data,
                          .evaluate = evaluate_volume,
                          .prepare = prepare_volume,
                          .size = 2,
                          .n_stencil = data->regions->n_edge,
                          .node = data->regions->node,
                          .fixed = true};
}

double noli_volume_magnitude(const NoliVolume* data) {
  double sum = 0.0;
  for (int32_t r = 0; r < data->regions->n_region; r++) {
    sum += data->scale * fabs(data->state[r].pressure * data->state[r].volume);
  }
  return sum;
}
