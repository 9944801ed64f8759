#define _POSIX_C_SOURCE 200809L // sigaction
#include "mpi/partition.h"

#include "linalg/supernodal/metis_guard.h"

#include <metis.h>

// Cells are neighbours where they share this many vertices, or all but one of theirs.
enum { FACE = 3 };

// METIS adds up weights in 32 bits.
enum { LARGEST_SUM = 1 << 29 };

static NoliStatus judge(NoliContext* context, int code) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, code != METIS_ERROR_MEMORY, NOLI_ERROR_MEMORY,
             "METIS: out of memory in dividing a mesh");
  NOLI_CHECK(context, code == METIS_OK, NOLI_ERROR_BACKEND, "METIS: status %d in dividing a mesh",
             code);
done:
  return status;
}

static int64_t common_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// Weights whose sum METIS can hold; NULL where all are the same.
static NoliStatus scale_weights(NoliContext* context, const NoliCells* cells, idx_t** scaled) {
  NoliStatus status = NOLI_OK;
  int64_t divisor = 0, sum = 0;
  bool equal = true;
  for (int32_t e = 0; cells->weight != NULL && e < cells->n; e++) {
    divisor = common_divisor(cells->weight[e], divisor);
    sum += cells->weight[e];
    equal = equal && cells->weight[e] == cells->weight[0];
  }
  if (equal) {
    return NOLI_OK;
  }
  int64_t excess = sum / divisor / LARGEST_SUM + 1;
  NOLI_NEW(context, *scaled, cells->n);
  for (int32_t e = 0; e < cells->n; e++) {
    int64_t weight = cells->weight[e] / divisor / excess;
    (*scaled)[e] = (idx_t)(weight > 0 ? weight : 1);
  }
done:
  return status;
}

// Graph of a few parts: bisection keeps their weights equal within 0.1 %.
static int divide(const NoliCells* cells, idx_t n_part, idx_t* first, idx_t* vertex, idx_t* weight,
                  idx_t* part) {
  idx_t n = cells->n, n_vert = cells->n_vert, face = FACE, zero = 0, one = 1, cut = 0;
  idx_t *begin = NULL, *neighbour = NULL;
  NoliMetisGuard guard;
  noli_metis_begin(&guard);
  int code = METIS_MeshToDual(&n, &n_vert, first, vertex, &face, &zero, &begin, &neighbour);
  if (code == METIS_OK) {
    code = METIS_PartGraphRecursive(&n, &one, begin, neighbour, weight, NULL, NULL, &n_part, NULL,
                                    NULL, NULL, &cut, part);
  }
  METIS_Free(begin);
  METIS_Free(neighbour);
  noli_metis_end(&guard);
  return code;
}

NoliStatus noli_partition_cells(NoliContext* context, const NoliCells* cells, int32_t n_part,
                                int32_t* part) {
  NoliStatus status = NOLI_OK;
  int64_t n = cells->n, n_corner = cells->first[n];
  idx_t *first = NULL, *vertex = NULL, *weight = NULL, *found = NULL;
  if (n <= n_part) {
    for (int32_t e = 0; e < n; e++) {
      part[e] = e;
    }
    goto done;
  }

  NOLI_NEW(context, first, n + 1);
  NOLI_NEW(context, vertex, n_corner);
  NOLI_NEW(context, found, n);
  NOLI_TRY(scale_weights(context, cells, &weight));
  for (int64_t e = 0; e <= n; e++) {
    first[e] = cells->first[e];
  }
  for (int64_t i = 0; i < n_corner; i++) {
    vertex[i] = cells->vertex[i];
  }
  NOLI_TRY(judge(context, divide(cells, n_part, first, vertex, weight, found)));
  for (int64_t e = 0; e < n; e++) {
    part[e] = (int32_t)found[e];
  }
done:
  noli_free(context, first);
  noli_free(context, vertex);
  noli_free(context, weight);
  noli_free(context, found);
  return status;
}
