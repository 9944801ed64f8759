// Numeric factorization and solution over supernodes (linalg/supernodal/supernodal.h) in one
// precision. A file that includes this says which: Real, REAL_MAX, REAL_SQRT, REAL_GEMM, and
// REAL_NAME for the two functions that others call.
#include "base/parallel.h"
#include "base/profile.h"
#include "base/wide.h"
#include "linalg/supernodal/supernodal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// BLAS as Fortran has it: C = alpha op(A) op(B) + beta C.
void REAL_GEMM(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
               const Real* alpha, const Real* a, const int* lda, const Real* b, const int* ldb,
               const Real* beta, Real* c, const int* ldc);

// A tile has at most 2^18 products: above that OpenBLAS starts threads. Tiles reach 70 to 95 % of
// the speed of one large product.
enum { ROWS = 128, COLUMNS = 32, INNER = 64, TILE_PRODUCTS = ROWS * COLUMNS * INNER };

// Columns that are eliminated at a time, and rows that are solved for at a time.
enum { PANEL = 32, STRIP = 32 };

// Sums that a processor can add up side by side.
enum { LANES = 64 / sizeof(Real) };

// Products from which a call of BLAS is faster than loops, and from which tiles are cut into rows.
enum { LARGE_PRODUCT = 500, TILED_PRODUCT = 1 << 21 };

// The most updates that threads compute before they add them.
enum { SHARED_UPDATES = 128 };

// --- products ---

// C = beta C - A B', column-major, the lower trapezoid only: entries (i, j) with i >= j.
typedef struct Product {
  int64_t m, n, k;
  Real beta;
  const Real* a; // (m x k)
  const Real* b; // (n x k)
  Real* c;       // (m x n)
  int64_t lda, ldb, ldc;
} Product;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// x -= A y with A (n x k), four columns at a time; neighbours in y are `stride` apart.
NOLI_INLINE void subtract_product(int64_t n, int64_t k, const Real* restrict a, int64_t lda,
                                  const Real* restrict y, int64_t stride, Real* restrict x) {
  int64_t j = 0;
  for (; j + 4 <= k; j += 4, a += 4 * lda, y += 4 * stride) {
    const Real *a1 = a + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    Real y0 = y[0], y1 = y[stride], y2 = y[2 * stride], y3 = y[3 * stride];
    for (int64_t i = 0; i < n; i++) {
      x[i] = x[i] - a[i] * y0 - a1[i] * y1 - a2[i] * y2 - a3[i] * y3;
    }
  }
  for (; j < k; j++, a += lda, y += stride) {
    Real y0 = y[0];
    for (int64_t i = 0; i < n; i++) {
      x[i] -= a[i] * y0;
    }
  }
}

// Rows begin..end of columns first..first + n, cut into tiles along the inner dimension too.
static void multiply_tiles(const Product* p, int64_t first, int64_t n, int64_t begin, int64_t end) {
  const Real minus_one = -1.0;
  for (int64_t inner = 0; inner < p->k; inner += INNER) {
    int64_t k = least(INNER, p->k - inner), most = TILE_PRODUCTS / (n * k);
    Real beta = inner == 0 ? p->beta : (Real)1.0;
    for (int64_t i = begin; i < end; i += most) {
      REAL_GEMM("N", "T", &(int){(int)least(most, end - i)}, &(int){(int)n}, &(int){(int)k},
                &minus_one, p->a + i + inner * p->lda, &(int){(int)p->lda},
                p->b + first + inner * p->ldb, &(int){(int)p->ldb}, &beta,
                p->c + i + first * p->ldc, &(int){(int)p->ldc});
    }
  }
}

NOLI_WIDE static void multiply_plainly(const Product* p) {
  for (int64_t j = 0; j < p->n; j++) {
    Real* c = p->c + j * p->ldc;
    if (p->beta == (Real)0.0) {
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
  Real* value; // (rows x width) column-major
} Panel;

static Panel panel_of(const NoliSupernodal* factor, int32_t s) {
  return (Panel){3 * noli_supernodal_width(factor, s), 3 * noli_supernodal_rows(factor, s),
                 (Real*)factor->value.data + factor->at.data[s]};
}

// Cholesky factorization of the (n x n) lower triangle at `a`; false without a positive pivot.
NOLI_WIDE static bool factor_diagonal(int64_t n, Real* a, int64_t lda) {
  for (int64_t j = 0; j < n; j++) {
    Real* column = a + j * lda + j;
    subtract_product(n - j, j, a + j, lda, a + j, lda, column);
    if (!(column[0] > (Real)0.0 && column[0] <= REAL_MAX)) {
      return false;
    }
    column[0] = REAL_SQRT(column[0]);
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
  Real l[PANEL][PANEL]; // by rows
} Strips;

NOLI_WIDE static void solve_strips(const Strips* strips, int64_t begin, int64_t end) {
  int64_t rows = strips->panel.rows;
  for (int64_t row = begin; row < end; row += STRIP) {
    Real x[PANEL][STRIP] = {{0.0}}; // stays in the nearest cache
    int64_t height = least(STRIP, end - row);
    Real* b = strips->panel.value + row + strips->first * rows;

    for (int64_t j = 0; j < strips->n; j++) {
      memcpy(x[j], b + j * rows, (size_t)height * sizeof(Real));
      subtract_product(STRIP, j, x[0], STRIP, strips->l[j], 1, x[j]);
      for (int64_t i = 0; i < STRIP; i++) {
        x[j][i] /= strips->l[j][j];
      }
      memcpy(b + j * rows, x[j], (size_t)height * sizeof(Real));
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

// The contribution of `n` columns from `first`, which are done, to those after them.
static Product product_after(Panel panel, int64_t first, int64_t n) {
  int64_t after = first + n;
  const Real* left = panel.value + after + first * panel.rows;
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

// The scratch of a thread for updates, and for rows of a solution; that of the first one has room
// for the largest of all supernodes.
static Real* numbers_of(const NoliSupernodal* factor, int32_t thread) {
  return (Real*)factor->scratch.data[thread].update.data;
}

static int64_t room_of(const NoliSupernodal* factor) {
  return factor->scratch.data[0].update.capacity * (int64_t)(sizeof(double) / sizeof(Real));
}

// The data of a thread that factors.
typedef struct Worker {
  NoliSupernodal* factor;
  const NoliPermutedBlocks* matrix;
  int32_t* map;
  Real* update;
  int32_t end;            // of the supernodes that it factors
  NoliUpdateQueue* queue; // of those that update later ones; NULL: there are none
} Worker;

static Worker worker_with(NoliSupernodal* factor, const NoliPermutedBlocks* matrix, int32_t index) {
  const NoliFactorScratch* scratch = &factor->scratch.data[index];
  return (Worker){.factor = factor,
                  .matrix = matrix,
                  .map = scratch->map.data,
                  .update = numbers_of(factor, index),
                  .end = factor->n_super};
}

// Where the block rows of a supernode are.
static void map_rows(const Worker* worker, int32_t s) {
  const int32_t* row = worker->factor->row.data + worker->factor->start.data[s];
  for (int32_t k = 0; k < noli_supernodal_rows(worker->factor, s); k++) {
    worker->map[row[k]] = k;
  }
}

// Writes a stored block, whose neighbours in a row and in a column of the lower triangle are
// `across` and `along` apart, into a panel; with the scales of its rows and columns, or NULL.
NOLI_INLINE void fill_block(const double* block, int64_t along, int64_t across, const double* row,
                            const double* column, Real* to, int64_t rows) {
  for (int64_t j = 0; j < 3; j++) {
    for (int64_t i = 0; i < 3; i++) {
      double entry = block[i * along + j * across];
      to[i + j * rows] = (Real)(row != NULL ? entry * row[i] * column[j] : entry);
    }
  }
}

// Clears block column c of the panel of supernode s and writes that of the matrix into it.
static void fill_column(const Worker* worker, int32_t s, int32_t c) {
  const NoliPermutedBlocks* matrix = worker->matrix;
  const double* scale = matrix->scale;
  Panel panel = panel_of(worker->factor, s);
  Real* column = panel.value + 3 * (int64_t)(c - worker->factor->first.data[s]) * panel.rows;
  memset(column, 0, 3 * sizeof(Real) * (size_t)panel.rows);
  for (int64_t k = matrix->column[c]; k < matrix->column[c + 1]; k++) {
    const double* block = matrix->value + 9 * (matrix->source[k] / 2);
    int64_t across = matrix->source[k] % 2 == 0 ? 3 : 1, along = 4 - across;
    Real* to = column + 3 * (int64_t)worker->map[matrix->row[k]];
    if (scale != NULL) {
      fill_block(block, along, across, scale + 3 * (int64_t)matrix->row[k], scale + 3 * (int64_t)c,
                 to, panel.rows);
    } else {
      fill_block(block, along, across, NULL, NULL, to, panel.rows);
    }
  }
}

// The contribution of supernode d to supernode s: block columns are rows from..until of d, block
// rows go on to its end.
typedef struct Update {
  Product product;
  const int32_t* row; // block rows of d from `from` on
  int64_t n_rows;     // how many
  int64_t tiles_end;  // of the tiles of this update and those before it
} Update;

static Update update_of(const NoliSupernodal* factor, int32_t d, int64_t from, int64_t until,
                        Real* to) {
  Panel source = panel_of(factor, d);
  int64_t m = source.rows - 3 * from;
  const Real* a = source.value + 3 * from;
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
NOLI_WIDE static void add_update(const Worker* worker, int32_t s, const Update* update, int32_t low,
                                 int32_t high) {
  Panel panel = panel_of(worker->factor, s);
  int64_t n = update->product.n / 3;
  int32_t first = worker->factor->first.data[s];
  for (int64_t c = 0; c < n; c++) {
    if (update->row[c] < low || update->row[c] >= high) {
      continue;
    }
    for (int64_t j = 3 * c; j < 3 * c + 3; j++) {
      Real* to = panel.value + (3 * (int64_t)(update->row[c] - first) + j % 3) * panel.rows;
      const Real* from = update->product.c + j * update->product.ldc;
      for (int64_t i = c; i < update->n_rows; i++) {
        Real* at = to + 3 * (int64_t)worker->map[update->row[i]];
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
  if (from == noli_supernodal_rows(factor, d)) {
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
  int64_t until = factor->from.data[d], n = noli_supernodal_rows(factor, d);
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
  pass_on(worker, s, noli_supernodal_width(factor, s));
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

// The data shared by the members of a team; the first one decides, the others wait for it.
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
  int64_t used = 0, room = room_of(factor);
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
  int64_t shares = (noli_supernodal_width(factor, s) + SHARED_COLUMNS - 1) / SHARED_COLUMNS;
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
    pass_on(&top->worker, s, noli_supernodal_width(factor, s));
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

bool REAL_NAME(noli_supernodal_factor)(NoliSupernodal* factor, const NoliPermutedBlocks* matrix) {
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

NOLI_INLINE Real dot(int64_t n, const Real* a, const Real* b) {
  Real sum[LANES] = {0.0}, rest = 0.0;
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
NOLI_WIDE static void solve_forwards(Panel panel, Real* x) {
  for (int64_t j = 0; j < panel.width; j++) {
    const Real* column = panel.value + j * panel.rows;
    x[j] /= column[j];
    for (int64_t i = j + 1; i < panel.width; i++) {
      x[i] -= column[i] * x[j];
    }
  }
}

// L' x = y for the columns of a supernode, with the solution `below` for its other rows.
NOLI_WIDE static void solve_backwards(Panel panel, Real* x, const Real* below) {
  for (int64_t j = panel.width - 1; j >= 0; j--) {
    const Real* column = panel.value + j * panel.rows;
    Real sum = dot(panel.rows - panel.width, column + panel.width, below) +
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
static void exchange_rows(const int32_t* row, int64_t n, Real* x, Real* packed, bool back) {
  for (int64_t k = 0; k < n; k++) {
    Real* at = x + 3 * (int64_t)row[k];
    memcpy(back ? at : packed + 3 * k, back ? packed + 3 * k : at, 3 * sizeof(Real));
  }
}

// Subtracts from block rows low .. high - 1 below the columns of a supernode what its solution
// contributes to them.
NOLI_WIDE static void update_rows(const NoliSupernodal* factor, int32_t s, int32_t low,
                                  int32_t high, Real* x, Real* below) {
  Panel panel = panel_of(factor, s);
  const int32_t* row = factor->row.data + factor->start.data[s];
  int64_t n = noli_supernodal_rows(factor, s),
          begin = place_of(row, noli_supernodal_width(factor, s), n, low);
  int64_t end = place_of(row, begin, n, high);
  if (begin < end) {
    exchange_rows(row + begin, end - begin, x, below, false);
    subtract_product(3 * (end - begin), panel.width, panel.value + 3 * begin, panel.rows,
                     x + 3 * (int64_t)factor->first.data[s], 1, below);
    exchange_rows(row + begin, end - begin, x, below, true);
  }
}

static void solve_back_from(const NoliSupernodal* factor, int32_t s, Real* x, Real* below) {
  int64_t width = noli_supernodal_width(factor, s);
  exchange_rows(factor->row.data + factor->start.data[s] + width,
                noli_supernodal_rows(factor, s) - width, x, below, false);
  solve_backwards(panel_of(factor, s), x + 3 * (int64_t)factor->first.data[s], below);
}

typedef struct SolveJob {
  const NoliSupernodal* factor;
  Real* x;
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
      update_rows(factor, s, 0, high, job->x, numbers_of(factor, thread));
    }
  }
}

// Adds the contributions of subtrees first .. last - 1 to the rows of the top, each row by one
// thread.
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
        update_rows(factor, s, low, share[k + 1], job->x, numbers_of(factor, thread));
      }
    }
  }
}

// Subtrees need nothing from others. What they contribute to the top has to come in the order of
// supernodes: those that follow each other at once, then the supernodes of the top behind them.
static void solve_all_forwards(NoliSupernodal* factor, Real* x) {
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
      update_rows(factor, s, 0, factor->n, x, numbers_of(factor, 0));
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
      solve_back_from(factor, s, job->x, numbers_of(factor, thread));
    }
  }
}

void REAL_NAME(noli_supernodal_solve)(NoliSupernodal* factor, Real* x) {
  Real* below = numbers_of(factor, 0);
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
