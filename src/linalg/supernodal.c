#include "linalg/supernodal.h"

#include "base/parallel.h"
#include "base/profile.h"
#include "base/validate.h"

#include <float.h>
#include <math.h>
#include <string.h>

// BLAS as Fortran has it: C = alpha op(A) op(B) + beta C.
void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);

// A tile has at most 2^18 products: above that OpenBLAS starts threads. Tiles reach 70 to 95 % of
// the speed of one large product.
enum { ROWS = 128, COLUMNS = 32, INNER = 64, TILE_PRODUCTS = ROWS * COLUMNS * INNER };

// Columns that are eliminated at a time, and rows that are solved for at a time.
enum { PANEL = 32, STRIP = 32 };

// Sums that a processor can add up side by side.
enum { LANES = 8 };

// Products from which a call of BLAS is faster than loops, and from which tiles are cut into rows.
enum { LARGE_PRODUCT = 500, TILED_PRODUCT = 1 << 21 };

// Room for fill beyond the present need, as contacts come one by one.
#define SPARE_ROOM 1.125

// Operations from which threads factor subtrees, and those of a supernode from which they share it.
#define PARALLEL_OPERATIONS 2e6
#define SHARED_OPERATIONS 2e5

// Entries of updates that threads compute before they add them, beside the largest one.
enum { SHARED_ENTRIES = 1 << 17, SHARED_UPDATES = 128 };

// --- structure ---

// Makes room without keeping the content.
#define RESERVE(context, array, need)                                                              \
  do {                                                                                             \
    if ((need) > (array)->capacity) {                                                              \
      noli_array_free((context), (array));                                                         \
      NOLI_TRY(noli_array_reserve((context), (array), (int64_t)(SPARE_ROOM * (double)(need))));    \
    }                                                                                              \
  } while (0)

static NoliStatus reserve(NoliContext* context, NoliSupernodal* factor,
                          const NoliSymbolic* symbolic) {
  NoliStatus status = NOLI_OK;
  int64_t n = symbolic->n, n_super = symbolic->n_super;
  while (factor->scratch.count < noli_context_threads(context)) {
    NOLI_PUSH(context, &factor->scratch, (NoliFactorScratch){0});
  }
  RESERVE(context, &factor->first, n_super + 1);
  RESERVE(context, &factor->start, n_super + 1);
  RESERVE(context, &factor->row, symbolic->n_row);
  RESERVE(context, &factor->at, n_super + 1);
  RESERVE(context, &factor->value, 9 * symbolic->n_value);
  RESERVE(context, &factor->owner, n);
  RESERVE(context, &factor->head, n_super);
  RESERVE(context, &factor->next, n_super);
  RESERVE(context, &factor->from, n_super);
  NoliFactorScratch* own = &factor->scratch.data[0];
  RESERVE(context, &own->map, n);
  int64_t more = factor->scratch.count > 1 ? SHARED_ENTRIES : 0;
  RESERVE(context, &own->update, 9 * symbolic->n_update + 3 * symbolic->n_below + more);
done:
  return status;
}

static int64_t width_of(const NoliSupernodal* factor, int32_t s) {
  return factor->first.data[s + 1] - factor->first.data[s];
}

static int64_t rows_of(const NoliSupernodal* factor, int32_t s) {
  return factor->start.data[s + 1] - factor->start.data[s];
}

// The supernode that the columns of s update first; NOLI_NULL_INDEX: none.
static int32_t parent_of(const NoliSupernodal* factor, int32_t s) {
  int64_t width = width_of(factor, s);
  return width == rows_of(factor, s)
             ? NOLI_NULL_INDEX
             : factor->owner.data[factor->row.data[factor->start.data[s] + width]];
}

// Entries of the largest update within a subtree, and of a solution below its supernodes.
static int64_t scratch_of(const NoliSupernodal* factor, const NoliSubtree* tree) {
  int64_t most = 0;
  for (int32_t d = tree->begin; d < tree->end; d++) {
    const int32_t* row = factor->row.data + factor->start.data[d];
    int64_t n = rows_of(factor, d), from = width_of(factor, d), until;
    most = 3 * (n - from) > most ? 3 * (n - from) : most;
    for (; from < n && factor->owner.data[row[from]] < tree->end; from = until) {
      int32_t s = factor->owner.data[row[from]];
      for (until = from; until < n && factor->owner.data[row[until]] == s;) {
        until++;
      }
      int64_t size = 9 * (until - from) * (n - from);
      most = size > most ? size : most;
    }
  }
  return most;
}

// Cuts the block rows into one range for each thread, with about as many products of subtrees with
// rows above them.
static NoliStatus find_shares(NoliContext* context, NoliSupernodal* factor) {
  NoliStatus status = NOLI_OK;
  int64_t n_threads = factor->scratch.count;
  double *weight = NULL, total = 0.0, sum = 0.0;
  NOLI_NEW_ZERO(context, weight, factor->n);
  for (int64_t t = 0; t < factor->subtrees.tree.count; t++) {
    NoliSubtree tree = factor->subtrees.tree.data[t];
    int32_t end = factor->first.data[tree.end];
    for (int32_t s = tree.begin; s < tree.end; s++) {
      const int32_t* row = factor->row.data + factor->start.data[s];
      for (int64_t k = rows_of(factor, s) - 1; k >= 0 && row[k] >= end; k--) {
        weight[row[k]] += (double)width_of(factor, s);
        total += (double)width_of(factor, s);
      }
    }
  }
  RESERVE(context, &factor->share, n_threads + 1);
  int32_t* share = factor->share.data;
  int64_t k = 0;
  share[0] = 0;
  for (int32_t i = 0; i < factor->n; i++) {
    sum += weight[i];
    while (k + 1 < n_threads && sum * (double)n_threads > total * (double)(k + 1)) {
      share[++k] = i;
    }
  }
  while (k < n_threads) {
    share[++k] = factor->n;
  }
done:
  noli_free(context, weight);
  return status;
}

// Chooses the subtrees of threads, and makes their scratch.
static NoliStatus find_subtrees(NoliContext* context, NoliSupernodal* factor, double operations) {
  NoliStatus status = NOLI_OK;
  int32_t n = factor->n_super, *parent = NULL;
  double* cost = NULL;
  factor->subtrees.tree.count = 0;
  factor->shares_top = false;
  if (factor->scratch.count < 2 || operations < PARALLEL_OPERATIONS) {
    goto done;
  }
  NOLI_NEW(context, parent, n);
  NOLI_NEW(context, cost, n);
  for (int32_t s = 0; s < n; s++) {
    double width = (double)width_of(factor, s), rows = (double)rows_of(factor, s);
    parent[s] = parent_of(factor, s);
    cost[s] = width * rows * rows;
  }
  NOLI_TRY(noli_subtrees_find(context, n, parent, cost, (int32_t)factor->scratch.count,
                              &factor->subtrees));
  // there are few supernodes above subtrees
  factor->shares_top =
      factor->subtrees.tree.count > 0 || operations > SHARED_OPERATIONS * (double)n;

  // scratch of any thread fits any subtree
  int64_t most = 0;
  for (int64_t t = 0; t < factor->subtrees.tree.count; t++) {
    int64_t need = scratch_of(factor, &factor->subtrees.tree.data[t]);
    most = need > most ? need : most;
  }
  for (int64_t k = 1; k < factor->scratch.count && factor->subtrees.tree.count > 0; k++) {
    RESERVE(context, &factor->scratch.data[k].map, factor->n);
    RESERVE(context, &factor->scratch.data[k].update, most);
  }
  RESERVE(context, &factor->queue, factor->subtrees.tree.count);
  NOLI_TRY(find_shares(context, factor));
done:
  noli_free(context, parent);
  noli_free(context, cost);
  return status;
}

NoliStatus noli_supernodal_begin(NoliContext* context, NoliSupernodal* factor,
                                 const NoliSymbolic* symbolic) {
  NoliStatus status = NOLI_OK;
  factor->n = 0;
  NOLI_TRY(reserve(context, factor, symbolic));
  factor->n = (int32_t)symbolic->n;
  factor->n_super = (int32_t)symbolic->n_super;
  noli_symbolic_structure(symbolic, factor->first.data, factor->start.data, factor->row.data);
  factor->at.data[0] = 0;
  for (int32_t s = 0; s < factor->n_super; s++) {
    factor->at.data[s + 1] = factor->at.data[s] + 9 * width_of(factor, s) * rows_of(factor, s);
    for (int32_t c = factor->first.data[s]; c < factor->first.data[s + 1]; c++) {
      factor->owner.data[c] = s;
    }
  }
  NOLI_TRY(find_subtrees(context, factor, symbolic->operations));
  NOLI_VALIDATE(context, noli_supernodal_defect(factor));
done:
  return status;
}

void noli_supernodal_free(NoliContext* context, NoliSupernodal* factor) {
  NoliIndexArray* indices[] = {&factor->first, &factor->row,  &factor->owner, &factor->head,
                               &factor->next,  &factor->from, &factor->share};
  for (size_t k = 0; k < sizeof indices / sizeof indices[0]; k++) {
    noli_array_free(context, indices[k]);
  }
  noli_array_free(context, &factor->start);
  noli_array_free(context, &factor->at);
  noli_array_free(context, &factor->value);
  noli_subtrees_free(context, &factor->subtrees);
  noli_array_free(context, &factor->queue);
  for (int64_t k = 0; k < factor->scratch.count; k++) {
    noli_array_free(context, &factor->scratch.data[k].map);
    noli_array_free(context, &factor->scratch.data[k].update);
  }
  noli_array_free(context, &factor->scratch);
}

int64_t noli_supernodal_bytes(const NoliSupernodal* factor) {
  return factor->n == 0 ? 0
                        : factor->at.data[factor->n_super] * (int64_t)sizeof(double) +
                              factor->start.data[factor->n_super] * (int64_t)sizeof(int32_t);
}

// --- products ---

// C = beta C - A B', column-major, the lower trapezoid only: entries (i, j) with i >= j.
typedef struct Product {
  int64_t m, n, k;
  double beta;
  const double* a; // (m x k)
  const double* b; // (n x k)
  double* c;       // (m x n)
  int64_t lda, ldb, ldc;
} Product;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// x -= A y with A (n x k), four columns at a time; neighbours in y are `stride` apart.
static void subtract_product(int64_t n, int64_t k, const double* restrict a, int64_t lda,
                             const double* restrict y, int64_t stride, double* restrict x) {
  int64_t j = 0;
  for (; j + 4 <= k; j += 4, a += 4 * lda, y += 4 * stride) {
    const double *a1 = a + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    double y0 = y[0], y1 = y[stride], y2 = y[2 * stride], y3 = y[3 * stride];
    for (int64_t i = 0; i < n; i++) {
      x[i] = x[i] - a[i] * y0 - a1[i] * y1 - a2[i] * y2 - a3[i] * y3;
    }
  }
  for (; j < k; j++, a += lda, y += stride) {
    double y0 = y[0];
    for (int64_t i = 0; i < n; i++) {
      x[i] -= a[i] * y0;
    }
  }
}

// Rows begin..end of columns first..first + n, cut into tiles along the inner dimension too.
static void multiply_tiles(const Product* p, int64_t first, int64_t n, int64_t begin, int64_t end) {
  const double minus_one = -1.0;
  for (int64_t inner = 0; inner < p->k; inner += INNER) {
    int64_t k = least(INNER, p->k - inner), most = TILE_PRODUCTS / (n * k);
    double beta = inner == 0 ? p->beta : 1.0;
    for (int64_t i = begin; i < end; i += most) {
      dgemm_("N", "T", &(int){(int)least(most, end - i)}, &(int){(int)n}, &(int){(int)k},
             &minus_one, p->a + i + inner * p->lda, &(int){(int)p->lda},
             p->b + first + inner * p->ldb, &(int){(int)p->ldb}, &beta, p->c + i + first * p->ldc,
             &(int){(int)p->ldc});
    }
  }
}

static void multiply_plainly(const Product* p) {
  for (int64_t j = 0; j < p->n; j++) {
    double* c = p->c + j * p->ldc;
    if (p->beta == 0.0) {
      memset(c + j, 0, sizeof *c * (size_t)(p->m - j));
    }
    subtract_product(p->m - j, p->k, p->a + j, p->lda, p->b + j, p->ldb, c + j);
  }
}

// Tiles that threads may compute in any order: the whole product, stripes of columns, or tiles of
// these, numbered stripe by stripe over the complete rectangle. Their size depends on the product
// alone, so that the bits do.
static int64_t tile_count(const Product* p) {
  int64_t products = p->m * p->n * p->k, stripes = (p->n + COLUMNS - 1) / COLUMNS;
  return products < LARGE_PRODUCT   ? 1
         : products < TILED_PRODUCT ? stripes
                                    : stripes * ((p->m + ROWS - 1) / ROWS);
}

static void multiply_tile(const Product* p, int64_t tile) {
  int64_t products = p->m * p->n * p->k;
  if (products < LARGE_PRODUCT) {
    multiply_plainly(p);
  } else if (products < TILED_PRODUCT) {
    int64_t first = tile * COLUMNS;
    multiply_tiles(p, first, least(COLUMNS, p->n - first), first, p->m);
  } else {
    int64_t per_stripe = (p->m + ROWS - 1) / ROWS;
    int64_t first = tile / per_stripe * COLUMNS, row = first + tile % per_stripe * ROWS;
    if (row < p->m) {
      multiply_tiles(p, first, least(COLUMNS, p->n - first), row, least(row + ROWS, p->m));
    }
  }
}

static void multiply(Product product) {
  int64_t n = tile_count(&product);
  for (int64_t t = 0; t < n; t++) {
    multiply_tile(&product, t);
  }
}

// --- one supernode ---

// The panel of a supernode in scalar rows and columns.
typedef struct Panel {
  int64_t width, rows;
  double* value; // (rows x width) column-major
} Panel;

static Panel panel_of(const NoliSupernodal* factor, int32_t s) {
  return (Panel){3 * width_of(factor, s), 3 * rows_of(factor, s),
                 factor->value.data + factor->at.data[s]};
}

// Cholesky factorization of the (n x n) lower triangle at `a`; false without a positive pivot.
static bool factor_diagonal(int64_t n, double* a, int64_t lda) {
  for (int64_t j = 0; j < n; j++) {
    double* column = a + j * lda + j;
    subtract_product(n - j, j, a + j, lda, a + j, lda, column);
    if (!(column[0] > 0.0 && column[0] <= DBL_MAX)) {
      return false;
    }
    column[0] = sqrt(column[0]);
    for (int64_t i = 1; i < n - j; i++) {
      column[i] /= column[0];
    }
  }
  return true;
}

// Solves X L' = B in place for rows begin..end of a panel, `n` columns from `first`.
typedef struct Strips {
  Panel panel;
  int64_t first, n;
  double l[PANEL][PANEL]; // by rows
} Strips;

static void solve_strips(const Strips* strips, int64_t begin, int64_t end) {
  int64_t rows = strips->panel.rows;
  for (int64_t row = begin; row < end; row += STRIP) {
    double x[PANEL][STRIP] = {{0.0}}; // stays in the nearest cache
    int64_t height = least(STRIP, end - row);
    double* b = strips->panel.value + row + strips->first * rows;

    for (int64_t j = 0; j < strips->n; j++) {
      memcpy(x[j], b + j * rows, (size_t)height * sizeof(double));
      subtract_product(STRIP, j, x[0], STRIP, strips->l[j], 1, x[j]);
      for (int64_t i = 0; i < STRIP; i++) {
        x[j][i] /= strips->l[j][j];
      }
      memcpy(b + j * rows, x[j], (size_t)height * sizeof(double));
    }
  }
}

// For the rows below a factored diagonal block of `n` columns from `first`.
static Strips strips_below(Panel panel, int64_t first, int64_t n) {
  Strips strips = {.panel = panel, .first = first, .n = n};
  for (int64_t j = 0; j < n; j++) {
    for (int64_t k = 0; k <= j; k++) {
      strips.l[j][k] = panel.value[first + j + (first + k) * panel.rows];
    }
  }
  strips.panel.value += first + n;
  return strips;
}

// What `n` columns from `first`, which are done, contribute to those after them.
static Product product_after(Panel panel, int64_t first, int64_t n) {
  int64_t after = first + n;
  const double* left = panel.value + after + first * panel.rows;
  return (Product){.m = panel.rows - after,
                   .n = panel.width - after,
                   .k = n,
                   .beta = 1.0,
                   .a = left,
                   .b = left,
                   .c = panel.value + after + after * panel.rows,
                   .lda = panel.rows,
                   .ldb = panel.rows,
                   .ldc = panel.rows};
}

static bool factor_panel(Panel panel) {
  for (int64_t first = 0; first < panel.width; first += PANEL) {
    int64_t n = least(PANEL, panel.width - first);
    if (!factor_diagonal(n, panel.value + first + first * panel.rows, panel.rows)) {
      return false;
    }
    Strips strips = strips_below(panel, first, n);
    solve_strips(&strips, 0, panel.rows - first - n);
    multiply(product_after(panel, first, n));
  }
  return true;
}

// --- all supernodes ---

// What a thread factors with.
typedef struct Worker {
  NoliSupernodal* factor;
  const NoliPermutedBlocks* matrix;
  int32_t* map;
  double* update;
  int32_t end;            // of the supernodes that it factors
  NoliUpdateQueue* queue; // of those that update later ones; NULL: there are none
} Worker;

static Worker worker_with(NoliSupernodal* factor, const NoliPermutedBlocks* matrix, int32_t index) {
  const NoliFactorScratch* scratch = &factor->scratch.data[index];
  return (Worker){.factor = factor,
                  .matrix = matrix,
                  .map = scratch->map.data,
                  .update = scratch->update.data,
                  .end = factor->n_super};
}

// Where the block rows of a supernode are.
static void map_rows(const Worker* worker, int32_t s) {
  const int32_t* row = worker->factor->row.data + worker->factor->start.data[s];
  for (int32_t k = 0; k < rows_of(worker->factor, s); k++) {
    worker->map[row[k]] = k;
  }
}

// Clears block column c of the panel of supernode s and writes that of the matrix into it.
static void fill_column(const Worker* worker, int32_t s, int32_t c) {
  const NoliPermutedBlocks* matrix = worker->matrix;
  Panel panel = panel_of(worker->factor, s);
  double* column = panel.value + 3 * (int64_t)(c - worker->factor->first.data[s]) * panel.rows;
  memset(column, 0, 3 * sizeof(double) * (size_t)panel.rows);
  for (int64_t k = matrix->column[c]; k < matrix->column[c + 1]; k++) {
    const double* block = matrix->value + 9 * (matrix->source[k] / 2);
    // distance of neighbours in a row and in a column of the stored block
    int64_t across = matrix->source[k] % 2 == 0 ? 3 : 1, along = 4 - across;
    double* to = column + 3 * (int64_t)worker->map[matrix->row[k]];
    for (int64_t j = 0; j < 3; j++) {
      for (int64_t i = 0; i < 3; i++) {
        to[i + j * panel.rows] = block[i * along + j * across];
      }
    }
  }
}

// What supernode d contributes to supernode s: block columns are rows from..until of d, block rows
// go on to its end.
typedef struct Update {
  Product product;
  const int32_t* row; // block rows of d from `from` on
  int64_t n_rows;     // how many
  int64_t tiles_end;  // of the tiles of this update and those before it
} Update;

static Update update_of(const NoliSupernodal* factor, int32_t d, int64_t from, int64_t until,
                        double* to) {
  Panel source = panel_of(factor, d);
  int64_t m = source.rows - 3 * from;
  const double* a = source.value + 3 * from;
  return (Update){.product = {.m = m,
                              .n = 3 * (until - from),
                              .k = source.width,
                              .a = a,
                              .b = a,
                              .c = to,
                              .lda = source.rows,
                              .ldb = source.rows,
                              .ldc = m},
                  .row = factor->row.data + factor->start.data[d] + from,
                  .n_rows = m / 3};
}

// Adds block columns low .. high - 1 of an update to supernode s.
static void add_update(const Worker* worker, int32_t s, const Update* update, int32_t low,
                       int32_t high) {
  Panel panel = panel_of(worker->factor, s);
  int64_t n = update->product.n / 3;
  int32_t first = worker->factor->first.data[s];
  for (int64_t c = 0; c < n; c++) {
    if (update->row[c] < low || update->row[c] >= high) {
      continue;
    }
    for (int64_t j = 3 * c; j < 3 * c + 3; j++) {
      double* to = panel.value + (3 * (int64_t)(update->row[c] - first) + j % 3) * panel.rows;
      const double* from = update->product.c + j * update->product.ldc;
      for (int64_t i = c; i < update->n_rows; i++) {
        double* at = to + 3 * (int64_t)worker->map[update->row[i]];
        at[0] += from[3 * i];
        at[1] += from[3 * i + 1];
        at[2] += from[3 * i + 2];
      }
    }
  }
}

// Puts supernode d at the head of the list of the one that it updates next.
static void enlist(NoliSupernodal* factor, int32_t d) {
  int32_t s = factor->owner.data[factor->row.data[factor->start.data[d] + factor->from.data[d]]];
  factor->next.data[d] = factor->head.data[s];
  factor->head.data[s] = d;
}

// Enlists a supernode that has updated those of its rows before `from`, now or, if another worker
// factors what it updates next, when the queue is enlisted.
static void pass_on(Worker* worker, int32_t d, int64_t from) {
  NoliSupernodal* factor = worker->factor;
  if (from == rows_of(factor, d)) {
    return;
  }
  factor->from.data[d] = (int32_t)from;
  if (factor->owner.data[factor->row.data[factor->start.data[d] + from]] < worker->end) {
    enlist(factor, d);
    return;
  }
  NoliUpdateQueue* queue = worker->queue;
  factor->next.data[d] = NOLI_NULL_INDEX;
  if (queue->first == NOLI_NULL_INDEX) {
    queue->first = d;
  } else {
    factor->next.data[queue->last] = d;
  }
  queue->last = d;
}

// The row after those with which d updates s next.
static int64_t rows_until(const NoliSupernodal* factor, int32_t s, int32_t d) {
  const int32_t* row = factor->row.data + factor->start.data[d];
  int64_t until = factor->from.data[d], n = rows_of(factor, d);
  while (until < n && row[until] < factor->first.data[s + 1]) {
    until++;
  }
  return until;
}

static void update_supernode(Worker* worker, int32_t s) {
  NoliSupernodal* factor = worker->factor;
  int32_t after;
  for (int32_t d = factor->head.data[s]; d != NOLI_NULL_INDEX; d = after) {
    after = factor->next.data[d];
    int64_t until = rows_until(factor, s, d);
    Update update = update_of(factor, d, factor->from.data[d], until, worker->update);
    multiply(update.product);
    add_update(worker, s, &update, factor->first.data[s], factor->first.data[s + 1]);
    pass_on(worker, d, until);
  }
}

// Factors one supernode; false if it has no positive pivot.
static bool factor_supernode(Worker* worker, int32_t s) {
  NoliSupernodal* factor = worker->factor;
  map_rows(worker, s);
  for (int32_t c = factor->first.data[s]; c < factor->first.data[s + 1]; c++) {
    fill_column(worker, s, c);
  }
  update_supernode(worker, s);
  if (!factor_panel(panel_of(factor, s))) {
    return false;
  }
  pass_on(worker, s, width_of(factor, s));
  return true;
}

typedef struct SubtreeJob {
  NoliSupernodal* factor;
  const NoliPermutedBlocks* matrix;
} SubtreeJob;

// A queue whose subtree has failed starts with this.
#define FAILED (-2)

static void factor_subtrees(void* user, int64_t begin, int64_t end, int32_t thread) {
  const SubtreeJob* job = user;
  NoliSupernodal* factor = job->factor;
  for (int64_t k = begin; k < end; k++) {
    int32_t t = factor->subtrees.order.data[k];
    const NoliSubtree* tree = &factor->subtrees.tree.data[t];
    Worker worker = worker_with(factor, job->matrix, thread);
    worker.end = tree->end;
    worker.queue = &factor->queue.data[t];
    *worker.queue = (NoliUpdateQueue){NOLI_NULL_INDEX, NOLI_NULL_INDEX};
    for (int32_t s = tree->begin; s < tree->end; s++) {
      if (!factor_supernode(&worker, s)) {
        worker.queue->first = FAILED;
        break;
      }
    }
  }
}

// Enlists what a subtree has queued, in that order.
static void enlist_queue(NoliSupernodal* factor, const NoliUpdateQueue* queue) {
  int32_t after;
  for (int32_t d = queue->first; d != NOLI_NULL_INDEX; d = after) {
    after = factor->next.data[d];
    enlist(factor, d);
  }
}

// --- the top, by a team ---

// Block columns of a supernode that a thread fills, or adds updates to, at a time.
enum { SHARED_COLUMNS = 4 };

// What the members of a team share; the first one decides, the others wait for it.
typedef struct Top {
  Worker worker;
  int32_t s; // the supernode
  Update update[SHARED_UPDATES];
  int32_t n_update;
  int32_t next;    // supernode whose update follows these; NOLI_NULL_INDEX: none
  Strips strips;   // below the present diagonal block
  Product product; // of the columns that are done with those after them
  bool failed;
} Top;

static void fill_columns(void* user, int64_t begin, int64_t end, int32_t rank) {
  (void)rank;
  const Top* top = user;
  int32_t first = top->worker.factor->first.data[top->s];
  int32_t last = top->worker.factor->first.data[top->s + 1];
  int64_t until = first + SHARED_COLUMNS * end;
  for (int64_t c = first + SHARED_COLUMNS * begin; c < until && c < last; c++) {
    fill_column(&top->worker, top->s, (int32_t)c);
  }
}

// Lists updates, in order, as far as there is room for them.
static void list_updates(Top* top) {
  Worker* worker = &top->worker;
  NoliSupernodal* factor = worker->factor;
  int64_t used = 0, room = factor->scratch.data[0].update.capacity;
  int32_t d = top->next;
  top->n_update = 0;
  while (d != NOLI_NULL_INDEX && top->n_update < SHARED_UPDATES) {
    int64_t until = rows_until(factor, top->s, d);
    Update update = update_of(factor, d, factor->from.data[d], until, worker->update + used);
    int64_t size = update.product.m * update.product.n;
    if (used + size > room) {
      break;
    }
    int64_t before = top->n_update > 0 ? top->update[top->n_update - 1].tiles_end : 0;
    update.tiles_end = before + tile_count(&update.product);
    top->update[top->n_update++] = update;
    used += size;
    int32_t after = factor->next.data[d];
    pass_on(worker, d, until);
    d = after;
  }
  top->next = d;
}

static void multiply_updates(void* user, int64_t begin, int64_t end, int32_t rank) {
  (void)rank;
  const Top* top = user;
  for (int64_t t = begin; t < end; t++) {
    int32_t k = 0;
    while (top->update[k].tiles_end <= t) {
      k++;
    }
    multiply_tile(&top->update[k].product, t - (k > 0 ? top->update[k - 1].tiles_end : 0));
  }
}

// Every column receives its updates in their order.
static void add_updates(void* user, int64_t begin, int64_t end, int32_t rank) {
  (void)rank;
  const Top* top = user;
  int32_t first = top->worker.factor->first.data[top->s];
  for (int32_t k = 0; k < top->n_update; k++) {
    add_update(&top->worker, top->s, &top->update[k], first + (int32_t)(SHARED_COLUMNS * begin),
               first + (int32_t)(SHARED_COLUMNS * end));
  }
}

static void solve_shared_strips(void* user, int64_t begin, int64_t end, int32_t rank) {
  (void)rank;
  const Top* top = user;
  int64_t left = top->strips.panel.rows - top->strips.first - top->strips.n;
  solve_strips(&top->strips, ROWS * begin, least(ROWS * end, left));
}

static void multiply_tiles_after(void* user, int64_t begin, int64_t end, int32_t rank) {
  (void)rank;
  const Top* top = user;
  for (int64_t t = begin; t < end; t++) {
    multiply_tile(&top->product, t);
  }
}

// factor_panel by a team.
static bool share_panel(Top* top, NoliTeam* team, int32_t rank, Panel panel) {
  for (int64_t first = 0; first < panel.width; first += PANEL) {
    int64_t n = least(PANEL, panel.width - first);
    if (rank == 0) {
      noli_work_join(); // alone
      top->failed = !factor_diagonal(n, panel.value + first + first * panel.rows, panel.rows);
      top->strips = strips_below(panel, first, n);
      top->product = product_after(panel, first, n);
      noli_work_share();
    }
    noli_team_wait(team);
    if (top->failed) {
      return false;
    }
    int64_t left = panel.rows - first - n;
    noli_team_for(team, rank, (left + ROWS - 1) / ROWS, solve_shared_strips, top);
    noli_team_for(team, rank, tile_count(&top->product), multiply_tiles_after, top);
  }
  return true;
}

// factor_supernode by a team.
static bool share_supernode(Top* top, NoliTeam* team, int32_t rank, int32_t s) {
  NoliSupernodal* factor = top->worker.factor;
  int64_t shares = (width_of(factor, s) + SHARED_COLUMNS - 1) / SHARED_COLUMNS;
  if (rank == 0) {
    noli_work_join(); // alone
    top->s = s;
    top->next = factor->head.data[s];
    map_rows(&top->worker, s);
    list_updates(top);
    noli_work_share();
  }
  noli_team_wait(team);
  noli_team_for(team, rank, shares, fill_columns, top);
  for (bool more = true; more;) {
    int64_t tiles = top->n_update > 0 ? top->update[top->n_update - 1].tiles_end : 0;
    more = top->next != NOLI_NULL_INDEX;
    noli_team_for(team, rank, tiles, multiply_updates, top);
    noli_team_for(team, rank, shares, add_updates, top);
    if (more && rank == 0) {
      list_updates(top);
    }
    if (more) {
      noli_team_wait(team);
    }
  }
  if (!share_panel(top, team, rank, panel_of(factor, s))) {
    return false;
  }
  if (rank == 0) {
    pass_on(&top->worker, s, width_of(factor, s));
  }
  return true;
}

// The supernodes above subtrees; updates arrive in the order of supernodes.
static void factor_top(void* user, NoliTeam* team, int32_t rank, int32_t size) {
  Top* top = user;
  NoliSupernodal* factor = top->worker.factor;
  const NoliSubtree* tree = factor->subtrees.tree.data;
  int64_t n_tree = factor->subtrees.tree.count, t = 0;
  bool good = true;
  for (int32_t s = 0; good && s < factor->n_super;) {
    if (t < n_tree && tree[t].begin == s) {
      if (rank == 0) {
        enlist_queue(factor, &factor->queue.data[t]);
      }
      s = tree[t++].end;
    } else {
      good = size > 1 ? share_supernode(top, team, rank, s) : factor_supernode(&top->worker, s);
      s++;
    }
  }
  if (rank == 0) {
    top->failed = !good;
  }
}

static bool subtrees_failed(const NoliSupernodal* factor) {
  bool failed = false;
  for (int64_t t = 0; t < factor->subtrees.tree.count; t++) {
    failed = failed || factor->queue.data[t].first == FAILED;
  }
  return failed;
}

bool noli_supernodal_factor(NoliSupernodal* factor, const NoliPermutedBlocks* matrix) {
  int32_t n_threads = (int32_t)factor->scratch.count;
  for (int32_t s = 0; s < factor->n_super; s++) {
    factor->head.data[s] = NOLI_NULL_INDEX;
  }

  // subtrees, each by one thread
  SubtreeJob job = {factor, matrix};
  noli_parallel_tasks(n_threads, factor->subtrees.tree.count, factor_subtrees, &job);
  if (subtrees_failed(factor)) {
    return false;
  }

  // the top, by all threads
  Top top = {.worker = worker_with(factor, matrix, 0)};
  noli_parallel_team(factor->shares_top ? n_threads : 1, factor_top, &top);
  return !top.failed;
}

// --- solution ---

static double dot(int64_t n, const double* a, const double* b) {
  double sum[LANES] = {0.0}, rest = 0.0;
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    for (int64_t k = 0; k < LANES; k++) {
      sum[k] += a[i + k] * b[i + k];
    }
  }
  for (; i < n; i++) {
    rest += a[i] * b[i];
  }
  for (int64_t k = 0; k < LANES; k++) {
    rest += sum[k];
  }
  return rest;
}

// L y = b for the columns of a supernode.
static void solve_forwards(Panel panel, double* x) {
  for (int64_t j = 0; j < panel.width; j++) {
    const double* column = panel.value + j * panel.rows;
    x[j] /= column[j];
    for (int64_t i = j + 1; i < panel.width; i++) {
      x[i] -= column[i] * x[j];
    }
  }
}

// L' x = y for the columns of a supernode, with the solution `below` for its other rows.
static void solve_backwards(Panel panel, double* x, const double* below) {
  for (int64_t j = panel.width - 1; j >= 0; j--) {
    const double* column = panel.value + j * panel.rows;
    double sum = dot(panel.rows - panel.width, column + panel.width, below) +
                 dot(panel.width - j - 1, column + j + 1, x + j + 1);
    x[j] = (x[j] - sum) / column[j];
  }
}

// The first of rows begin .. end - 1, which ascend, that is not less than `least_row`.
static int64_t place_of(const int32_t* row, int64_t begin, int64_t end, int32_t least_row) {
  if (begin < end && row[begin] >= least_row) {
    return begin;
  }
  if (begin < end && row[end - 1] < least_row) {
    return end;
  }
  while (begin < end) {
    int64_t middle = begin + (end - begin) / 2;
    if (row[middle] < least_row) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

// Copies some block rows of x to `packed`, or back.
static void exchange_rows(const int32_t* row, int64_t n, double* x, double* packed, bool back) {
  for (int64_t k = 0; k < n; k++) {
    double* at = x + 3 * (int64_t)row[k];
    memcpy(back ? at : packed + 3 * k, back ? packed + 3 * k : at, 3 * sizeof(double));
  }
}

// Subtracts from block rows low .. high - 1 below the columns of a supernode what its solution
// contributes to them.
static void update_rows(const NoliSupernodal* factor, int32_t s, int32_t low, int32_t high,
                        double* x, double* below) {
  Panel panel = panel_of(factor, s);
  const int32_t* row = factor->row.data + factor->start.data[s];
  int64_t n = rows_of(factor, s), begin = place_of(row, width_of(factor, s), n, low);
  int64_t end = place_of(row, begin, n, high);
  if (begin < end) {
    exchange_rows(row + begin, end - begin, x, below, false);
    subtract_product(3 * (end - begin), panel.width, panel.value + 3 * begin, panel.rows,
                     x + 3 * (int64_t)factor->first.data[s], 1, below);
    exchange_rows(row + begin, end - begin, x, below, true);
  }
}

static void solve_back_from(const NoliSupernodal* factor, int32_t s, double* x, double* below) {
  int64_t width = width_of(factor, s);
  exchange_rows(factor->row.data + factor->start.data[s] + width, rows_of(factor, s) - width, x,
                below, false);
  solve_backwards(panel_of(factor, s), x + 3 * (int64_t)factor->first.data[s], below);
}

typedef struct SolveJob {
  const NoliSupernodal* factor;
  double* x;
  int64_t first, last; // subtrees
} SolveJob;

// The columns of subtrees, and what they contribute to each other.
static void solve_subtrees(void* user, int64_t begin, int64_t end, int32_t thread) {
  const SolveJob* job = user;
  const NoliSupernodal* factor = job->factor;
  for (int64_t k = begin; k < end; k++) {
    const NoliSubtree* tree = &factor->subtrees.tree.data[factor->subtrees.order.data[k]];
    int32_t high = factor->first.data[tree->end];
    for (int32_t s = tree->begin; s < tree->end; s++) {
      solve_forwards(panel_of(factor, s), job->x + 3 * (int64_t)factor->first.data[s]);
      update_rows(factor, s, 0, high, job->x, factor->scratch.data[thread].update.data);
    }
  }
}

// What subtrees first .. last - 1 contribute to the rows of the top, each row by one thread.
static void update_top(void* user, int64_t begin, int64_t end, int32_t thread) {
  const SolveJob* job = user;
  const NoliSupernodal* factor = job->factor;
  const int32_t* share = factor->share.data;
  for (int64_t k = begin; k < end; k++) {
    for (int64_t t = job->first; t < job->last; t++) {
      const NoliSubtree* tree = &factor->subtrees.tree.data[t];
      int32_t low =
          factor->first.data[tree->end] > share[k] ? factor->first.data[tree->end] : share[k];
      for (int32_t s = tree->begin; s < tree->end; s++) {
        update_rows(factor, s, low, share[k + 1], job->x, factor->scratch.data[thread].update.data);
      }
    }
  }
}

// Subtrees need nothing from others. What they contribute to the top has to come in the order of
// supernodes: those that follow each other at once, then the supernodes of the top behind them.
static void solve_all_forwards(NoliSupernodal* factor, double* x) {
  int32_t n_threads = (int32_t)factor->scratch.count;
  const NoliSubtree* tree = factor->subtrees.tree.data;
  int64_t n_tree = factor->subtrees.tree.count, t = 0;
  SolveJob job = {factor, x, 0, 0};
  noli_parallel_tasks(n_threads, n_tree, solve_subtrees, &job);
  for (int32_t s = 0; s < factor->n_super;) {
    if (t < n_tree && tree[t].begin == s) {
      for (job.first = t; t < n_tree && tree[t].begin == s; t++) {
        s = tree[t].end;
      }
      job.last = t;
      noli_parallel_tasks(n_threads, n_threads, update_top, &job);
    } else {
      solve_forwards(panel_of(factor, s), x + 3 * (int64_t)factor->first.data[s]);
      update_rows(factor, s, 0, factor->n, x, factor->scratch.data[0].update.data);
      s++;
    }
  }
}

static void solve_back_subtrees(void* user, int64_t begin, int64_t end, int32_t thread) {
  const SolveJob* job = user;
  const NoliSupernodal* factor = job->factor;
  for (int64_t k = begin; k < end; k++) {
    const NoliSubtree* tree = &factor->subtrees.tree.data[factor->subtrees.order.data[k]];
    for (int32_t s = tree->end - 1; s >= tree->begin; s--) {
      solve_back_from(factor, s, job->x, factor->scratch.data[thread].update.data);
    }
  }
}

void noli_supernodal_solve(NoliSupernodal* factor, double* x) {
  double* below = factor->scratch.data[0].update.data;
  solve_all_forwards(factor, x);

  // backwards the top, then subtrees, which need only it
  const NoliSubtree* tree = factor->subtrees.tree.data;
  int64_t n_tree = factor->subtrees.tree.count, t = n_tree - 1;
  for (int32_t s = factor->n_super - 1; s >= 0;) {
    if (t >= 0 && tree[t].end - 1 == s) {
      s = tree[t--].begin - 1;
    } else {
      solve_back_from(factor, s--, x, below);
    }
  }
  SolveJob job = {factor, x, 0, 0};
  noli_parallel_tasks((int32_t)factor->scratch.count, n_tree, solve_back_subtrees, &job);
}

// --- validation ---

// Whether the rows of d below its columns are rows of the supernode of the first one, which they
// update first. Those of other supernodes follow from that supernode's own rows.
static bool updates_fit(const NoliSupernodal* factor, int32_t d) {
  const int32_t* row = factor->row.data + factor->start.data[d];
  int64_t n = rows_of(factor, d), from = width_of(factor, d);
  if (from == n) {
    return true;
  }
  int32_t s = factor->owner.data[row[from]];
  const int32_t* other = factor->row.data + factor->start.data[s];
  int64_t j = 0, n_other = rows_of(factor, s);
  for (int64_t k = from; k < n; k++) {
    while (j < n_other && other[j] < row[k]) {
      j++;
    }
    if (j == n_other || other[j] != row[k]) {
      return false;
    }
  }
  return true;
}

static const char* supernode_defect(const NoliSupernodal* factor, int32_t s) {
  int32_t first = factor->first.data[s], end = factor->first.data[s + 1];
  int64_t width = width_of(factor, s), n = rows_of(factor, s);
  const int32_t* row = factor->row.data + factor->start.data[s];
  NOLI_RULE(n >= width, "supernodes: one has fewer rows than columns");
  NOLI_RULE(factor->at.data[s + 1] == factor->at.data[s] + 9 * width * n,
            "supernodes: panels do not follow each other");
  for (int64_t k = 0; k < n; k++) {
    NOLI_RULE(k >= width || row[k] == first + k,
              "supernodes: the rows do not begin with those of the columns");
    NOLI_RULE(k == 0 || row[k] > row[k - 1], "supernodes: rows do not ascend");
    NOLI_RULE(row[k] < factor->n, "supernodes: a row is out of range");
  }
  for (int32_t c = first; c < end; c++) {
    NOLI_RULE(factor->owner.data[c] == s, "supernodes: a column has another owner");
  }
  return NULL;
}

const char* noli_supernodal_defect(const NoliSupernodal* factor) {
  int32_t n_super = factor->n_super;
  NOLI_RULE(factor->first.data[0] == 0 && factor->first.data[n_super] == factor->n &&
                factor->start.data[0] == 0 && factor->at.data[0] == 0,
            "supernodes: they do not hold all columns");
  for (int32_t s = 0; s < n_super; s++) {
    NOLI_RULE(factor->first.data[s] < factor->first.data[s + 1], "supernodes: one has no columns");
    const char* defect = supernode_defect(factor, s);
    NOLI_RULE(defect == NULL, defect);
  }
  NOLI_RULE(factor->start.data[n_super] <= factor->row.capacity &&
                factor->at.data[n_super] <= factor->value.capacity,
            "supernodes: the panels are larger than their memory");

  // every owner is known
  for (int32_t d = 0; d < n_super; d++) {
    NOLI_RULE(updates_fit(factor, d), "supernodes: an updated row does not exist");
  }
  return NULL;
}
