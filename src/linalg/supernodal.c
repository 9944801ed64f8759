#include "linalg/supernodal.h"

#include "base/parallel.h"
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

// Products from which a call of BLAS is faster than loops, and from which threads pay.
enum { LARGE_PRODUCT = 500, PARALLEL_PRODUCT = 1 << 21 };

// Room for fill beyond the present need, as contacts come one by one.
#define SPARE_ROOM 1.125

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
  RESERVE(context, &factor->first, n_super + 1);
  RESERVE(context, &factor->start, n_super + 1);
  RESERVE(context, &factor->row, symbolic->n_row);
  RESERVE(context, &factor->at, n_super + 1);
  RESERVE(context, &factor->value, 9 * symbolic->n_value);
  RESERVE(context, &factor->owner, n);
  RESERVE(context, &factor->map, n);
  RESERVE(context, &factor->head, n_super);
  RESERVE(context, &factor->next, n_super);
  RESERVE(context, &factor->from, n_super);
  RESERVE(context, &factor->update, 9 * symbolic->n_update + 3 * symbolic->n_below);
done:
  return status;
}

static int64_t width_of(const NoliSupernodal* factor, int32_t s) {
  return factor->first.data[s + 1] - factor->first.data[s];
}

static int64_t rows_of(const NoliSupernodal* factor, int32_t s) {
  return factor->start.data[s + 1] - factor->start.data[s];
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
  NOLI_VALIDATE(context, noli_supernodal_defect(factor));
done:
  return status;
}

void noli_supernodal_free(NoliContext* context, NoliSupernodal* factor) {
  NoliIndexArray* indices[] = {&factor->first, &factor->row,  &factor->owner, &factor->map,
                               &factor->head,  &factor->next, &factor->from};
  for (size_t k = 0; k < sizeof indices / sizeof indices[0]; k++) {
    noli_array_free(context, indices[k]);
  }
  noli_array_free(context, &factor->start);
  noli_array_free(context, &factor->at);
  noli_array_free(context, &factor->value);
  noli_array_free(context, &factor->update);
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

// Tiles begin..end, numbered column stripe by column stripe over the complete rectangle.
static void multiply_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Product* p = user;
  int64_t per_stripe = (p->m + ROWS - 1) / ROWS;
  for (int64_t t = begin; t < end; t++) {
    int64_t first = t / per_stripe * COLUMNS, row = first + t % per_stripe * ROWS;
    if (row < p->m) {
      multiply_tiles(p, first, least(COLUMNS, p->n - first), row, least(row + ROWS, p->m));
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

static void multiply(Product product, int32_t n_threads) {
  const Product* p = &product;
  int64_t products = p->m * p->n * p->k;
  if (products < LARGE_PRODUCT) {
    multiply_plainly(p);
  } else if (products < PARALLEL_PRODUCT) {
    for (int64_t first = 0; first < p->n; first += COLUMNS) {
      multiply_tiles(p, first, least(COLUMNS, p->n - first), first, p->m);
    }
  } else {
    int64_t tiles = (p->m + ROWS - 1) / ROWS * ((p->n + COLUMNS - 1) / COLUMNS);
    noli_parallel_for(n_threads, tiles, 1, multiply_range, &product);
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

static void solve_strips(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Strips* strips = user;
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

// The rows below a factored diagonal block of `n` columns from `first`.
static void solve_below(Panel panel, int64_t first, int64_t n, int32_t n_threads) {
  Strips strips = {.panel = panel, .first = first, .n = n};
  int64_t begin = first + n, left = panel.rows - begin;
  for (int64_t j = 0; j < n; j++) {
    for (int64_t k = 0; k <= j; k++) {
      strips.l[j][k] = panel.value[first + j + (first + k) * panel.rows];
    }
  }
  strips.panel.value += begin;
  noli_parallel_for(left * n * n < PARALLEL_PRODUCT ? 1 : n_threads, left, ROWS, solve_strips,
                    &strips);
}

static bool factor_panel(Panel panel, int32_t n_threads) {
  for (int64_t first = 0; first < panel.width; first += PANEL) {
    int64_t n = least(PANEL, panel.width - first), after = first + n;
    if (!factor_diagonal(n, panel.value + first + first * panel.rows, panel.rows)) {
      return false;
    }
    solve_below(panel, first, n, n_threads);
    const double* left = panel.value + after + first * panel.rows;
    multiply((Product){.m = panel.rows - after,
                       .n = panel.width - after,
                       .k = n,
                       .beta = 1.0,
                       .a = left,
                       .b = left,
                       .c = panel.value + after + after * panel.rows,
                       .lda = panel.rows,
                       .ldb = panel.rows,
                       .ldc = panel.rows},
             n_threads);
  }
  return true;
}

// --- all supernodes ---

// Clears the panel of a supernode and writes its columns of the matrix into it.
static void fill_panel(NoliSupernodal* factor, int32_t s, const NoliPermutedBlocks* matrix) {
  Panel panel = panel_of(factor, s);
  int32_t first = factor->first.data[s];
  memset(panel.value, 0, sizeof(double) * (size_t)(panel.width * panel.rows));
  for (int32_t c = first; c < factor->first.data[s + 1]; c++) {
    for (int64_t k = matrix->column[c]; k < matrix->column[c + 1]; k++) {
      const double* block = matrix->value + 9 * (matrix->source[k] / 2);
      // distance of neighbours in a row and in a column of the stored block
      int64_t across = matrix->source[k] % 2 == 0 ? 3 : 1, along = 4 - across;
      double* to = panel.value + 3 * (int64_t)factor->map.data[matrix->row[k]] +
                   3 * (int64_t)(c - first) * panel.rows;
      for (int64_t j = 0; j < 3; j++) {
        for (int64_t i = 0; i < 3; i++) {
          to[i + j * panel.rows] = block[i * along + j * across];
        }
      }
    }
  }
}

// An update to add: block columns are rows from..until of supernode d, rows go on to its end.
typedef struct Scatter {
  const NoliSupernodal* factor;
  const int32_t* row; // block rows of d from `from` on
  int64_t n_rows;     // how many
  int32_t s;          // the supernode that is updated
} Scatter;

static void add_columns(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Scatter* scatter = user;
  const NoliSupernodal* factor = scatter->factor;
  Panel panel = panel_of(factor, scatter->s);
  int64_t height = 3 * scatter->n_rows;
  for (int64_t j = begin; j < end; j++) {
    int64_t column = 3 * (int64_t)(scatter->row[j / 3] - factor->first.data[scatter->s]) + j % 3;
    double* to = panel.value + column * panel.rows;
    const double* update = factor->update.data + j * height;
    for (int64_t i = j / 3; i < scatter->n_rows; i++) {
      double* at = to + 3 * (int64_t)factor->map.data[scatter->row[i]];
      at[0] += update[3 * i];
      at[1] += update[3 * i + 1];
      at[2] += update[3 * i + 2];
    }
  }
}

// Adds to supernode s what the columns of d contribute to it.
static void update_from(NoliSupernodal* factor, int32_t s, int32_t d, int64_t from, int64_t until,
                        int32_t n_threads) {
  Panel source = panel_of(factor, d);
  int64_t m = source.rows - 3 * from, n = 3 * (until - from);
  const double* a = source.value + 3 * from;
  multiply((Product){.m = m,
                     .n = n,
                     .k = source.width,
                     .a = a,
                     .b = a,
                     .c = factor->update.data,
                     .lda = source.rows,
                     .ldb = source.rows,
                     .ldc = m},
           n_threads);
  Scatter scatter = {factor, factor->row.data + factor->start.data[d] + from, m / 3, s};
  noli_parallel_for(m * n * source.width < PARALLEL_PRODUCT ? 1 : n_threads, n, COLUMNS,
                    add_columns, &scatter);
}

// Puts a supernode into the list of the one that its rows from `from` on update next.
static void enlist(NoliSupernodal* factor, int32_t d, int64_t from) {
  if (from < rows_of(factor, d)) {
    int32_t s = factor->owner.data[factor->row.data[factor->start.data[d] + from]];
    factor->from.data[d] = (int32_t)from;
    factor->next.data[d] = factor->head.data[s];
    factor->head.data[s] = d;
  }
}

static void update_supernode(NoliSupernodal* factor, int32_t s, int32_t n_threads) {
  int32_t after;
  for (int32_t d = factor->head.data[s]; d != NOLI_NULL_INDEX; d = after) {
    after = factor->next.data[d];
    const int32_t* row = factor->row.data + factor->start.data[d];
    int64_t from = factor->from.data[d], until = from, n = rows_of(factor, d);
    while (until < n && row[until] < factor->first.data[s + 1]) {
      until++;
    }
    update_from(factor, s, d, from, until, n_threads);
    enlist(factor, d, until);
  }
}

bool noli_supernodal_factor(NoliSupernodal* factor, int32_t n_threads,
                            const NoliPermutedBlocks* matrix) {
  for (int32_t s = 0; s < factor->n_super; s++) {
    factor->head.data[s] = NOLI_NULL_INDEX;
  }
  for (int32_t s = 0; s < factor->n_super; s++) {
    const int32_t* row = factor->row.data + factor->start.data[s];
    for (int32_t k = 0; k < rows_of(factor, s); k++) {
      factor->map.data[row[k]] = k;
    }
    fill_panel(factor, s, matrix);
    update_supernode(factor, s, n_threads);
    if (!factor_panel(panel_of(factor, s), n_threads)) {
      return false;
    }
    enlist(factor, s, width_of(factor, s));
  }
  return true;
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

// L y = b for the columns of a supernode; their contributions to the rows below go to `below`.
static void solve_forwards(Panel panel, double* x, double* below) {
  for (int64_t j = 0; j < panel.width; j++) {
    const double* column = panel.value + j * panel.rows;
    x[j] /= column[j];
    for (int64_t i = j + 1; i < panel.width; i++) {
      x[i] -= column[i] * x[j];
    }
  }
  subtract_product(panel.rows - panel.width, panel.width, panel.value + panel.width, panel.rows, x,
                   1, below);
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

// Copies the rows of x below the columns of a supernode to factor->update, or back.
static void exchange_below(NoliSupernodal* factor, int32_t s, double* x, bool back) {
  const int32_t* row = factor->row.data + factor->start.data[s] + width_of(factor, s);
  double* below = factor->update.data;
  for (int64_t k = 0; k < rows_of(factor, s) - width_of(factor, s); k++) {
    double* at = x + 3 * (int64_t)row[k];
    memcpy(back ? at : below + 3 * k, back ? below + 3 * k : at, 3 * sizeof(double));
  }
}

void noli_supernodal_solve(NoliSupernodal* factor, double* x) {
  for (int32_t s = 0; s < factor->n_super; s++) {
    exchange_below(factor, s, x, false);
    solve_forwards(panel_of(factor, s), x + 3 * (int64_t)factor->first.data[s],
                   factor->update.data);
    exchange_below(factor, s, x, true);
  }
  for (int32_t s = factor->n_super - 1; s >= 0; s--) {
    exchange_below(factor, s, x, false);
    solve_backwards(panel_of(factor, s), x + 3 * (int64_t)factor->first.data[s],
                    factor->update.data);
  }
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
