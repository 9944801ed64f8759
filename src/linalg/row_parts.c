#include "linalg/row_parts.h"

#include <string.h>

// Rows from which parts pay.
enum { LARGE = 2000 };

// Where a level may divide a part, as shares of its rows.
#define EARLIEST 0.4
#define LATEST 0.6

// The value that rows which separate parts have in place of a part.
enum { SEPARATOR = -1 };

// All arrays are scratch of the parts.
typedef struct Graph {
  int32_t n;
  const int64_t* start;     // (n + 1)
  const int32_t* neighbour; // (twice the blocks beside the diagonal)
  int32_t* part;            // (n)
  // of a search
  int32_t* level;    // (n) distance; NOLI_NULL_INDEX: not reached
  int32_t* queue;    // (n) rows in the order in which they are reached
  int32_t n_reached; // rows in the queue
} Graph;

static NoliStatus row_parts_reserve(NoliRowParts* parts, NoliContext* context,
                                    const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  int64_t n = matrix->n, links = 2 * (matrix->nnz - n), *capacity = parts->capacity;
  NOLI_TRY(noli_grow(context, (void**)&parts->row, &capacity[0], n, sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&parts->place, &capacity[1], n, sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&parts->start, &capacity[2], n + 1, sizeof(int64_t)));
  NOLI_TRY(noli_grow(context, (void**)&parts->fill, &capacity[3], n, sizeof(int64_t)));
  NOLI_TRY(noli_grow(context, (void**)&parts->neighbour, &capacity[4], links, sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&parts->part, &capacity[5], n + 1, sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&parts->level, &capacity[6], n, sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&parts->queue, &capacity[7], n, sizeof(int32_t)));
done:
  return status;
}

// All rows are in part 0.
static Graph make_graph(NoliRowParts* parts, const NoliBlockMatrix* matrix) {
  int32_t n = matrix->n;
  int64_t *start = parts->start, *fill = parts->fill;
  memset(start, 0, sizeof *start * ((size_t)n + 1));
  memset(parts->part, 0, sizeof(int32_t) * (size_t)n);
  for (int32_t i = 0; i < n; i++) {
    start[i + 1] += matrix->row[i + 1] - matrix->row[i] - 1;
    for (int64_t k = matrix->row[i] + 1; k < matrix->row[i + 1]; k++) {
      start[matrix->col[k] + 1]++;
    }
  }

  for (int32_t i = 0; i < n; i++) {
    start[i + 1] += start[i];
    fill[i] = start[i];
  }
  for (int32_t i = 0; i < n; i++) {
    for (int64_t k = matrix->row[i] + 1; k < matrix->row[i + 1]; k++) {
      parts->neighbour[fill[i]++] = matrix->col[k];
      parts->neighbour[fill[matrix->col[k]]++] = i;
    }
  }

  return (Graph){.n = n,
                 .start = start,
                 .neighbour = parts->neighbour,
                 .part = parts->part,
                 .level = parts->level,
                 .queue = parts->queue};
}

static void row_parts_reach(Graph* graph, int32_t i, int32_t level) {
  graph->level[i] = level;
  graph->queue[graph->n_reached++] = i;
}

// Reaches all rows of a part, level by level from `seed`; what is not connected to it follows in
// further levels.
static void row_parts_search(Graph* graph, int32_t part, int32_t seed) {
  graph->n_reached = 0;
  for (int32_t i = 0; i < graph->n; i++) {
    graph->level[i] = NOLI_NULL_INDEX;
  }
  row_parts_reach(graph, seed, 0);
  int32_t next_seed = 0;
  for (int32_t done = 0; done < graph->n_reached; done++) {
    int32_t i = graph->queue[done];
    for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++) {
      int32_t j = graph->neighbour[k];
      if (graph->part[j] == part && graph->level[j] == NOLI_NULL_INDEX) {
        row_parts_reach(graph, j, graph->level[i] + 1);
      }
    }
    while (done + 1 == graph->n_reached && next_seed < graph->n) {
      int32_t j = next_seed++;
      if (graph->part[j] == part && graph->level[j] == NOLI_NULL_INDEX) {
        row_parts_reach(graph, j, graph->level[i] + 1);
      }
    }
  }
}

// The smallest level near the middle of the rows that were reached.
static int32_t choose_level(const Graph* graph) {
  int32_t n = graph->n_reached, best = graph->level[graph->queue[n / 2]], least = n;
  for (int32_t begin = 0, end; begin < n; begin = end) {
    int32_t level = graph->level[graph->queue[begin]];
    for (end = begin; end < n && graph->level[graph->queue[end]] == level;) {
      end++;
    }
    bool near = begin >= EARLIEST * n && end <= LATEST * n;
    if (near && end - begin < least) {
      best = level;
      least = end - begin;
    }
  }
  return best;
}

// Leaves about half of a part in it, makes the others part `other` and separates them.
static void row_parts_divide(Graph* graph, int32_t part, int32_t other) {
  int32_t seed = NOLI_NULL_INDEX;
  for (int32_t i = 0; i < graph->n && seed == NOLI_NULL_INDEX; i++) {
    seed = graph->part[i] == part ? i : NOLI_NULL_INDEX;
  }
  if (seed == NOLI_NULL_INDEX) {
    return;
  }

  // from a row far from all others
  row_parts_search(graph, part, seed);
  row_parts_search(graph, part, graph->queue[graph->n_reached - 1]);
  int32_t level = choose_level(graph);
  for (int32_t k = 0; k < graph->n_reached; k++) {
    int32_t i = graph->queue[k];
    graph->part[i] = graph->level[i] > level ? other : part;
  }

  // the rows of this level that touch the other part
  for (int32_t k = 0; k < graph->n_reached; k++) {
    int32_t i = graph->queue[k];
    bool touches = false;
    for (int64_t p = graph->start[i]; graph->level[i] == level && p < graph->start[i + 1]; p++) {
      touches = touches || graph->part[graph->neighbour[p]] == other;
    }
    graph->part[i] = touches ? SEPARATOR : graph->part[i];
  }
}

// Parts one after the other, then the rest.
static void row_parts_number(const Graph* graph, NoliRowParts* parts) {
  int32_t at = 0;
  for (int32_t p = 0; p <= parts->n; p++) {
    int32_t wanted = p < parts->n ? p : SEPARATOR;
    parts->first[p] = at;
    for (int32_t i = 0; i < graph->n; i++) {
      if (graph->part[i] == wanted) {
        parts->row[at] = i;
        parts->place[i] = at++;
      }
    }
  }
}

NoliStatus noli_row_parts_find(NoliRowParts* parts, NoliContext* context,
                               const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(row_parts_reserve(parts, context, matrix));
  Graph graph = make_graph(parts, matrix);
  parts->n = 1;
  if (graph.n >= LARGE) {
    for (; parts->n < NOLI_ROW_PARTS; parts->n *= 2) {
      for (int32_t p = 0; p < parts->n; p++) {
        row_parts_divide(&graph, p, parts->n + p);
      }
    }
  }
  row_parts_number(&graph, parts);
done:
  return status;
}

void noli_row_parts_free(NoliContext* context, NoliRowParts* parts) {
  noli_free(context, parts->row);
  noli_free(context, parts->place);
  noli_free(context, parts->start);
  noli_free(context, parts->fill);
  noli_free(context, parts->neighbour);
  noli_free(context, parts->part);
  noli_free(context, parts->level);
  noli_free(context, parts->queue);
}
