#include "linalg/rows.h"

#include "base/ranks.h"
#include "base/sort.h"

#include <string.h>

// Values are sent in pieces of this many rows of every rank, as all at once would take as much
// memory as the matrix, twice.
enum { PIECE_ROWS = 4096 };

void noli_rows_free(NoliContext* context, NoliRows* rows) {
  void* owned[] = {rows->row,      rows->col,    rows->value,  rows->diagonal, rows->n_in,
                   rows->sent_row, rows->source, rows->target, rows->first};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
    noli_free(context, owned[i]);
  }
  *rows = (NoliRows){0};
}

static NoliStatus rows_reserve_values(NoliRows* rows, NoliContext* context) {
  return noli_grow(context, (void**)&rows->value, &rows->capacity[7], 9 * rows->nnz,
                   sizeof *rows->value);
}

// Finds the first row of each rank.
static NoliStatus place_ranks(NoliRows* rows, NoliContext* context, const NoliShare* share,
                              NoliRowsKind kind) {
  NoliStatus status = NOLI_OK;
  int64_t size = noli_rank_count(context), n = share->n;
  const int64_t* given = share->rank_row;
  NOLI_TRY(
      noli_grow(context, (void**)&rows->first, &rows->capacity[8], size + 1, sizeof *rows->first));
  for (int64_t r = 0; r <= size; r++) {
    if (kind == NOLI_ROWS_FIRST) {
      rows->first[r] = r == 0 ? 0 : n;
    } else {
      rows->first[r] = given != NULL ? given[r] : n * r / size;
    }
  }
done:
  return status;
}

// The rows of a piece of a rank, and how many pieces a matrix has.
static int64_t piece_row(const NoliRows* rows, int32_t rank, int64_t piece) {
  int64_t row = rows->first[rank] + piece * PIECE_ROWS, end = rows->first[rank + 1];
  return row < end ? row : end;
}
static int64_t piece_count(const NoliRows* rows, int32_t size) {
  int64_t most = 0;
  for (int32_t r = 0; r < size; r++) {
    int64_t n = rows->first[r + 1] - rows->first[r];
    most = n > most ? n : most;
  }
  return (most + PIECE_ROWS - 1) / PIECE_ROWS;
}

// ---- what is sent -------------------------------------------------------------------------------

// Counts the blocks of the share beside the diagonal for every row, twice if mirrored: where each
// row begins.
static void count_sent(NoliRows* rows, const NoliShare* share, bool mirrored) {
  int64_t* begin = rows->sent_row;
  memset(begin, 0, (size_t)(share->n + 1) * sizeof *begin);
  for (int64_t i = 0; i < share->n; i++) {
    for (int64_t k = share->row[i]; k < share->row[i + 1]; k++) {
      bool beside = share->col[k] != i;
      begin[i + 1] += beside ? 1 : 0;
      begin[share->col[k] + 1] += mirrored && beside ? 1 : 0;
    }
  }
  for (int64_t i = 0; i < share->n; i++) {
    begin[i + 1] += begin[i];
  }
  rows->n_sent = begin[share->n];
}

// Lists these blocks by the row that gets them; `key`: (row, column).
static void sort_sent(NoliRows* rows, const NoliShare* share, bool mirrored, uint64_t* key) {
  int64_t* at = rows->sent_row;
  for (int64_t i = 0; i < share->n; i++) {
    for (int64_t k = share->row[i]; k < share->row[i + 1]; k++) {
      int64_t j = share->col[k];
      if (i == j) {
        continue;
      }
      key[at[i]] = (uint64_t)i << 32 | (uint64_t)j;
      rows->source[at[i]++] = (uint32_t)(2 * k);
      if (mirrored) {
        key[at[j]] = (uint64_t)j << 32 | (uint64_t)i;
        rows->source[at[j]++] = (uint32_t)(2 * k + 1);
      }
    }
  }
  memmove(at + 1, at, (size_t)share->n * sizeof *at);
  at[0] = 0;
}

static NoliStatus list_sent(NoliRows* rows, NoliContext* context, const NoliShare* share,
                            NoliRowsKind kind, uint64_t** key) {
  NoliStatus status = NOLI_OK;
  int32_t size = noli_rank_count(context);
  bool mirrored = kind == NOLI_ROWS_SHARED_MIRRORED;
  int64_t* capacity = rows->capacity;
  NOLI_CHECK(context, share->nnz <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "a rank has %lld blocks of the matrix: use more ranks", (long long)share->nnz);
  NOLI_TRY(noli_grow(context, (void**)&rows->n_in, &capacity[0], size, sizeof *rows->n_in));
  NOLI_TRY(noli_grow(context, (void**)&rows->sent_row, &capacity[1], (int64_t)share->n + 1,
                     sizeof *rows->sent_row));
  count_sent(rows, share, mirrored);
  NOLI_TRY(
      noli_grow(context, (void**)&rows->source, &capacity[2], rows->n_sent, sizeof *rows->source));
  NOLI_NEW(context, *key, rows->n_sent);
  sort_sent(rows, share, mirrored, *key);
done:
  return status;
}

// How many blocks a rank gets of a piece.
static int64_t piece_size(const NoliRows* rows, int32_t rank, int64_t piece) {
  return rows->sent_row[piece_row(rows, rank, piece + 1)] -
         rows->sent_row[piece_row(rows, rank, piece)];
}

// ---- the pattern of the own rows ----------------------------------------------------------------

static int rows_compare(const void* a, const void* b) {
  uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
  return left < right ? -1 : left > right ? 1 : 0;
}

// The diagonal block of a row, in place of the number of a received one.
#define DIAGONAL UINT32_MAX

// Sorts received blocks and those of the diagonal by row: (column, number) of each in `order`, rows
// begin at `row`.
static void sort_by_row(NoliRows* rows, const uint64_t* key, uint64_t* order) {
  int64_t n_own = rows->end - rows->begin;
  rows->row[0] = 0;
  for (int64_t i = 0; i < n_own; i++) {
    rows->row[i + 1] = 1;
  }
  for (int64_t k = 0; k < rows->n_received; k++) {
    rows->row[(int64_t)(key[k] >> 32) - rows->begin + 1]++;
  }
  for (int64_t i = 0; i < n_own; i++) {
    rows->row[i + 1] += rows->row[i];
    order[rows->row[i]++] = (uint64_t)(rows->begin + i) << 32 | DIAGONAL;
  }
  for (int64_t k = 0; k < rows->n_received; k++) {
    int64_t i = (int64_t)(key[k] >> 32) - rows->begin;
    order[rows->row[i]++] = key[k] << 32 | (uint64_t)k;
  }
  for (int64_t i = n_own; i > 0; i--) {
    rows->row[i] = rows->row[i - 1];
  }
  rows->row[0] = 0;
}

// Gives equal places one block.
static void rows_merge(NoliRows* rows, uint64_t* order) {
  int64_t n_own = rows->end - rows->begin, nnz = 0;
  for (int64_t i = 0, k = 0; i < n_own; i++) {
    int64_t last = rows->row[i + 1], first = nnz;
    noli_sort(order + k, last - k, sizeof *order, rows_compare);
    rows->row[i] = nnz;
    for (; k < last; k++) {
      int32_t col = (int32_t)(order[k] >> 32);
      uint32_t number = (uint32_t)(order[k] & UINT32_MAX);
      if (nnz == first || rows->col[nnz - 1] != col) {
        rows->col[nnz++] = col;
      }
      if (number == DIAGONAL) {
        rows->diagonal[i] = nnz - 1;
      } else {
        rows->target[number] = (uint32_t)(nnz - 1);
      }
    }
  }
  rows->row[n_own] = nnz;
  rows->nnz = nnz;
}

static NoliStatus make_pattern(NoliRows* rows, NoliContext* context, const uint64_t* key) {
  NoliStatus status = NOLI_OK;
  int64_t* capacity = rows->capacity;
  int64_t n_own = rows->end - rows->begin, n = rows->n_received;
  uint64_t* order = NULL;
  NOLI_CHECK(context, n + n_own < UINT32_MAX, NOLI_ERROR_TOO_LARGE,
             "a rank would get %lld blocks of the matrix: use more ranks", (long long)n);
  NOLI_TRY(noli_grow(context, (void**)&rows->row, &capacity[3], n_own + 1, sizeof *rows->row));
  NOLI_TRY(
      noli_grow(context, (void**)&rows->diagonal, &capacity[4], n_own, sizeof *rows->diagonal));
  NOLI_TRY(noli_grow(context, (void**)&rows->target, &capacity[5], n, sizeof *rows->target));
  NOLI_TRY(noli_grow(context, (void**)&rows->col, &capacity[6], n + n_own, sizeof *rows->col));
  NOLI_NEW(context, order, n + n_own);
  sort_by_row(rows, key, order);
  rows_merge(rows, order);
done:
  noli_free(context, order);
  return status;
}

// Whether the share of any rank has a new pattern.
static NoliStatus is_new(const NoliRows* rows, NoliContext* context, const NoliShare* share,
                         bool* any) {
  int64_t known = rows->known && rows->n == share->n && rows->share_id == share->pattern_id;
  NoliStatus status = noli_ranks_smallest(context, &known, 1);
  *any = known == 0;
  return status;
}

NoliStatus noli_rows_gather_pattern(NoliRows* rows, NoliContext* context, const NoliShare* share,
                                    NoliRowsKind kind) {
  NoliStatus status = NOLI_OK;
  bool any = false;
  void* in = NULL;
  uint64_t* key = NULL;
  int64_t *n_out = NULL, capacity = 0;
  int32_t rank = noli_rank(context), size = noli_rank_count(context);

  NOLI_TRY(is_new(rows, context, share, &any));
  if (!any) {
    goto done;
  }
  rows->known = false;
  rows->n = share->n;
  n_out = noli_alloc(context, size, sizeof *n_out);
  status = n_out != NULL ? place_ranks(rows, context, share, kind) : NOLI_ERROR_MEMORY;
  status = status == NOLI_OK ? list_sent(rows, context, share, kind, &key) : status;
  NOLI_TRY(noli_ranks_join(context, status));
  rows->begin = (int32_t)rows->first[rank];
  rows->end = (int32_t)rows->first[rank + 1];
  for (int32_t r = 0; r < size; r++) {
    n_out[r] = rows->sent_row[rows->first[r + 1]] - rows->sent_row[rows->first[r]];
  }
  NOLI_TRY(noli_ranks_exchange(context, sizeof *key, key, n_out, &in, &capacity, rows->n_in));
  noli_free(context, key);
  key = NULL;
  rows->n_received = 0;
  for (int32_t r = 0; r < size; r++) {
    rows->n_received += rows->n_in[r];
  }
  NOLI_TRY(noli_ranks_join(context, make_pattern(rows, context, in)));
  rows->share_id = share->pattern_id;
  rows->pattern_id++;
  rows->known = true;
done:
  noli_free(context, n_out);
  noli_free(context, key);
  noli_free(context, in);
  return status;
}

// ---- values -------------------------------------------------------------------------------------

// A block of the diagonal. Every share has all of them, but most are zero: those that are not are
// sent with their rows.
typedef struct Diagonal {
  int64_t row;
  double value[9];
} Diagonal;

// A piece under way. What a rank has for its own rows does not go through messages.
typedef struct Piece {
  double* value;  // of the own rows of the piece, or of all of them
  int64_t base;   // own block with which it begins
  int64_t* n_out; // (ranks) blocks
  int64_t* n_in;  // (ranks)
  int64_t* at;    // (ranks) received blocks before the next piece, in the numbers of `target`
  double* out;
  void* in;
  Diagonal* diagonal_out;
  void* diagonal_in;
  int64_t capacity[4]; // of these
} Piece;

// A block of the share, transposed if it is mirrored.
static void copy_block(const NoliShare* share, uint32_t source, double to[9]) {
  const double* from = share->value + 9 * (int64_t)(source / 2);
  for (int32_t e = 0; e < 9; e++) {
    to[e] = source % 2 == 0 ? from[e] : from[3 * (e % 3) + e / 3];
  }
}

// Writes the blocks of a piece beside the diagonal as they are sent.
static NoliStatus rows_pack(const NoliRows* rows, NoliContext* context, const NoliShare* share,
                            int64_t number, Piece* piece) {
  NoliStatus status = NOLI_OK;
  int32_t size = noli_rank_count(context);
  int64_t n = 0;
  for (int32_t r = 0; r < size; r++) {
    piece->n_out[r] = r == noli_rank(context) ? 0 : piece_size(rows, r, number);
    n += piece->n_out[r];
  }
  NOLI_TRY(noli_grow(context, (void**)&piece->out, &piece->capacity[0], 9 * n, sizeof(double)));
  double* to = piece->out;
  for (int32_t r = 0; r < size; r++) {
    const uint32_t* source = rows->source + rows->sent_row[piece_row(rows, r, number)];
    for (int64_t k = 0; k < piece->n_out[r]; k++, to += 9) {
      copy_block(share, source[k], to);
    }
  }
done:
  return status;
}

// The block of the diagonal of a row of a share; NULL: all its values are zero.
static const double* diagonal_of(const NoliShare* share, int64_t row) {
  int64_t k = share->row[row];
  while (share->col[k] != row) {
    k++;
  }
  const double* value = share->value + 9 * k;
  bool any = false;
  for (int32_t e = 0; e < 9; e++) {
    any = any || value[e] != 0.0;
  }
  return any ? value : NULL;
}

// Writes the blocks of the diagonal of a piece as they are sent.
static NoliStatus pack_diagonals(const NoliRows* rows, NoliContext* context, const NoliShare* share,
                                 int64_t number, Piece* piece) {
  NoliStatus status = NOLI_OK;
  int32_t size = noli_rank_count(context);
  int64_t n = 0;
  for (int32_t r = 0; r < size; r++) {
    int64_t begin = piece_row(rows, r, number), end = piece_row(rows, r, number + 1), first = n;
    for (int64_t i = begin; i < end; i++) {
      n += diagonal_of(share, i) != NULL ? 1 : 0;
    }
    piece->n_out[r] = n - first;
  }

  NOLI_TRY(noli_grow(context, (void**)&piece->diagonal_out, &piece->capacity[2], n,
                     sizeof *piece->diagonal_out));
  Diagonal* to = piece->diagonal_out;
  for (int32_t r = 0; r < size; r++) {
    for (int64_t i = piece_row(rows, r, number); i < piece_row(rows, r, number + 1); i++) {
      const double* value = diagonal_of(share, i);
      if (value != NULL) {
        to->row = i;
        memcpy((to++)->value, value, sizeof to->value);
      }
    }
  }
done:
  return status;
}

// Adds the blocks of a piece; a row is within one piece, and gets those of ranks in their order.
static void rows_add_up(const NoliRows* rows, NoliContext* context, const NoliShare* share,
                        int64_t number, Piece* piece) {
  const double* in = piece->in;
  int32_t rank = noli_rank(context);
  const uint32_t* source = rows->source + rows->sent_row[piece_row(rows, rank, number)];
  int64_t n_own = piece_size(rows, rank, number);
  for (int32_t r = 0; r < noli_rank_count(context); r++) {
    int64_t n = r == rank ? n_own : piece->n_in[r];
    for (int64_t k = 0; k < n; k++) {
      double* to = piece->value + 9 * ((int64_t)rows->target[piece->at[r]++] - piece->base);
      double own[9];
      const double* from = r == rank ? own : in;
      if (r == rank) {
        copy_block(share, source[k], own);
      } else {
        in += 9;
      }
      for (int32_t e = 0; e < 9; e++) {
        to[e] += from[e];
      }
    }
  }
}

static void add_diagonals(const NoliRows* rows, int32_t size, const Piece* piece) {
  const Diagonal* in = piece->diagonal_in;
  for (int32_t r = 0; r < size; r++) {
    for (int64_t k = 0; k < piece->n_in[r]; k++, in++) {
      double* to = piece->value + 9 * (rows->diagonal[in->row - rows->begin] - piece->base);
      for (int32_t e = 0; e < 9; e++) {
        to[e] += in->value[e];
      }
    }
  }
}

// `before`: the status of this rank after the last piece.
static NoliStatus move_piece(const NoliRows* rows, NoliContext* context, const NoliShare* share,
                             int64_t number, NoliStatus before, Piece* piece) {
  NoliStatus status = NOLI_OK;
  int32_t size = noli_rank_count(context);
  status = before == NOLI_OK ? rows_pack(rows, context, share, number, piece) : before;
  NOLI_TRY(noli_ranks_join(context, status));
  NOLI_TRY(noli_ranks_exchange(context, 9 * sizeof *piece->out, piece->out, piece->n_out,
                               &piece->in, &piece->capacity[1], piece->n_in));
  rows_add_up(rows, context, share, number, piece);
  NOLI_TRY(noli_ranks_join(context, pack_diagonals(rows, context, share, number, piece)));
  NOLI_TRY(noli_ranks_exchange(context, sizeof *piece->diagonal_out, piece->diagonal_out,
                               piece->n_out, &piece->diagonal_in, &piece->capacity[3],
                               piece->n_in));
  add_diagonals(rows, size, piece);
done:
  return status;
}

static void free_piece(NoliContext* context, Piece* piece) {
  noli_free(context, piece->diagonal_in);
  noli_free(context, piece->diagonal_out);
  noli_free(context, piece->in);
  noli_free(context, piece->out);
  noli_free(context, piece->n_out);
}

// Makes room for the numbers of a piece; a failure is that of this rank.
static NoliStatus begin_pieces(const NoliRows* rows, NoliContext* context, Piece* piece) {
  NoliStatus status = NOLI_OK;
  int64_t size = noli_rank_count(context);
  NOLI_NEW(context, piece->n_out, 3 * size);
  piece->n_in = piece->n_out + size;
  piece->at = piece->n_out + 2 * size;
  piece->at[0] = 0;
  for (int64_t r = 1; r < size; r++) {
    piece->at[r] = piece->at[r - 1] + rows->n_in[r - 1];
  }
done:
  return status;
}

NoliStatus noli_rows_gather_values(NoliRows* rows, NoliContext* context, const NoliShare* share) {
  NoliStatus status = NOLI_OK;
  Piece piece = {0};
  status = begin_pieces(rows, context, &piece);
  status = status == NOLI_OK ? rows_reserve_values(rows, context) : status;
  NOLI_TRY(noli_ranks_join(context, status));
  piece.value = rows->value;
  memset(rows->value, 0, 9 * (size_t)rows->nnz * sizeof *rows->value);
  for (int64_t k = 0; k < piece_count(rows, noli_rank_count(context)); k++) {
    NOLI_TRY(move_piece(rows, context, share, k, NOLI_OK, &piece));
  }
done:
  free_piece(context, &piece);
  return status;
}

// Room for the values of any piece of the own rows.
static NoliStatus reserve_piece(const NoliRows* rows, NoliContext* context, Piece* piece) {
  NoliStatus status = NOLI_OK;
  int64_t n_own = rows->end - rows->begin, most = 0;
  for (int64_t i = 0; i < n_own; i += PIECE_ROWS) {
    int64_t end = i + PIECE_ROWS < n_own ? i + PIECE_ROWS : n_own;
    int64_t n = rows->row[end] - rows->row[i];
    most = n > most ? n : most;
  }
  NOLI_NEW(context, piece->value, 9 * most);
done:
  return status;
}

NoliStatus noli_rows_pass_values(NoliRows* rows, NoliContext* context, const NoliShare* share,
                                 NoliRowsTakeFn* take, void* user) {
  NoliStatus status = NOLI_OK;
  Piece piece = {0};
  int32_t rank = noli_rank(context);
  NoliStatus own = begin_pieces(rows, context, &piece);
  own = own == NOLI_OK ? reserve_piece(rows, context, &piece) : own;
  for (int64_t k = 0; k < piece_count(rows, noli_rank_count(context)); k++) {
    int64_t begin = piece_row(rows, rank, k) - rows->begin;
    int64_t end = piece_row(rows, rank, k + 1) - rows->begin;
    if (own == NOLI_OK) {
      piece.base = rows->row[begin];
      memset(piece.value, 0, 9 * (size_t)(rows->row[end] - piece.base) * sizeof *piece.value);
    }
    NOLI_TRY(move_piece(rows, context, share, k, own, &piece));
    own = take(user, rows, begin, end, piece.value);
  }
  NOLI_TRY(noli_ranks_join(context, own));
done:
  free_piece(context, &piece);
  noli_free(context, piece.value);
  return status;
}
