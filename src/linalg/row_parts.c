#include "linalg/row_parts.h"

#include "base/array.h"

#include <string.h>

// Rows from which parts pay.
enum { LARGE = 2000 };

// Where a level may divide a part, as shares of its rows.
#define EARLIEST 0.4
#define LATEST 0.6

// What a row belongs to that separates parts.
enum { SEPARATOR = -1 };

typedef struct Graph {
  int32_t n;
  int64_t* start;     // (n + 1)
  int32_t* neighbour; // (twice the blocks beside the diagonal)
  int32_t* part;      // (n)
  // of a search
  int32_t* level;    // (n) distance; NOLI_NULL_INDEX: not reached
  int32_t* queue;    // (n) rows in the order in which they are reached
  int32_t n_reached; // rows in the queue
} Graph;

static NoliStatus make_graph(NoliContext* context, const NoliBlockMatrix* matrix, Graph* graph) {
  NoliStatus status = NOLI_OK;
  int64_t* fill = NULL;
  int32_t n = graph->n = matrix->n;
  NOLI_NEW_ZERO(context, graph->start, (int64_t)n + 1);
  NOLI_NEW(context, graph->neighbour, 2 * (matrix->nnz - n) + 1);
  NOLI_NEW_ZERO(context, graph->part, n);
  NOLI_NEW(context, graph->level, n);
  NOLI_NEW(context, graph->queue, n);
  NOLI_NEW(context, fill, n);
  for (int32_t i = 0; i < n; i++) {
    graph->start[i + 1] += matrix->row[i + 1] - matrix->row[i] - 1;
    for (int64_t k = matrix->row[i] + 1; k < matrix->row[i + 1]; k++) {
      graph->start[matrix->col[k] + 1]++;
    }
  }
  for (int32_t i = 0; i < n; i++) {
    graph->start[i + 1] += graph->start[i];
    fill[i] = graph->start[i];
  }
  for (int32_t i = 0; i < n; i++) {
    for (int64_t k = matrix->row[i] + 1; k < matrix->row[i + 1]; k++) {
      graph->neighbour[fill[i]++] = matrix->col[k];
      graph->neighbour[fill[matrix->col[k]]++] = i;
    }
  }
done:
  noli_free(context, fill);
  return status;
}

static void free_graph(NoliContext* context, Graph* graph) {
  noli_free(context, graph->start);
  noli_free(context, graph->neighbour);
  noli_free(context, graph->part);
  noli_free(context, graph->level);
  noli_free(context, graph->queue);
}

static void reach(Graph* graph, int32_t i, int32_t level) {
  graph->level[i] = level;
  graph->queue[graph->n_reached++] = i;
}

// Reaches all rows of a part, level by level from `seed`; what is not connected to it follows in
// further levels.
static void search(Graph* graph, int32_t part, int32_t seed) {
  graph->n_reached = 0;
  for (int32_t i = 0; i < graph->n; i++) {
    graph->level[i] = NOLI_NULL_INDEX;
  }
  reach(graph, seed, 0);
  int32_t next_seed = 0;
  for (int32_t done = 0; done < graph->n_reached; done++) {
    int32_t i = graph->queue[done];
    for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++) {
      int32_t j = graph->neighbour[k];
      if (graph->part[j] == part && graph->level[j] == NOLI_NULL_INDEX) {
        reach(graph, j, graph->level[i] + 1);
      }
    }
    while (done + 1 == graph->n_reached && next_seed < graph->n) {
      int32_t j = next_seed++;
      if (graph->part[j] == part && graph->level[j] == NOLI_NULL_INDEX) {
        reach(graph, j, graph->level[i] + 1);
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
static void divide(Graph* graph, int32_t part, int32_t other) {
  int32_t seed = NOLI_NULL_INDEX;
  for (int32_t i = 0; i < graph->n && seed == NOLI_NULL_INDEX; i++) {
    seed = graph->part[i] == part ? i : NOLI_NULL_INDEX;
  }
  if (seed == NOLI_NULL_INDEX) {
    return;
  }
  // from a row far from all others
  search(graph, part, seed);
  search(graph, part, graph->queue[graph->n_reached - 1]);
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
static void number(const Graph* graph, NoliRowParts* parts) {
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
  Graph graph = {0};
  int64_t n = matrix->n;
  NOLI_TRY(noli_grow(context, (void**)&parts->row, &parts->capacity[0], n, sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&parts->place, &parts->capacity[1], n, sizeof(int32_t)));
  NOLI_TRY(make_graph(context, matrix, &graph));
  parts->n = 1;
  if (n >= LARGE) {
    for (; parts->n < NOLI_ROW_PARTS; parts->n *= 2) {
      for (int32_t p = 0; p < parts->n; p++) {
        divide(&graph, p, parts->n + p);
      }
    }
  }
  number(&graph, parts);
done:
  free_graph(context, &graph);
  return status;
}

void noli_row_parts_free(NoliContext* context, NoliRowParts* parts) {
  noli_free(context, parts->row);
  noli_free(context, parts->place);
}
