#include "contact/derivatives/stick_derivatives.h"

#include <string.h>

enum { NODES = NOLI_SLIDING_NODES };

// ---- rotations ----------------------------------------------------------------------------------

// The frame of a triangle, and how it turns with its vertices: angular change by each.
typedef struct Frame {
  NoliMat3 axes;
  NoliMat3 turn[3];
} Frame;

static NoliVec3 edge_of(const double* x, int32_t a, int32_t b) {
  return noli_sub3(noli_load3(x + 3 * (int64_t)b), noli_load3(x + 3 * (int64_t)a));
}

static Frame frame_at(const double* x, int32_t a, const int32_t other[2]) {
  Frame frame;
  NoliVec3 one = edge_of(x, a, other[0]), two = edge_of(x, a, other[1]);
  NoliVec3 area = noli_cross3(one, two);
  double length = noli_norm3(one), twice = noli_norm3(area);
  NoliVec3 e = noli_normalize3(one), n = noli_normalize3(area), m = noli_cross3(n, e);
  frame.axes = noli_columns33(e, m, n);
  frame.turn[1] = noli_sub33(noli_scale33(1.0 / length, noli_cross33(e)),
                             noli_scale33(1.0 / twice, noli_outer33(e, noli_cross3(two, m))));
  frame.turn[2] = noli_scale33(length / twice, noli_outer33(e, n));
  frame.turn[0] = noli_scale33(-1.0, noli_add33(frame.turn[1], frame.turn[2]));
  return frame;
}

// How R v changes with the vertices that the mean rotation of a contact follows.
typedef struct Turning {
  int32_t n;
  int32_t node[6];
  NoliMat3 by_x[6];
  NoliMat3 by_start[6];
} Turning;

static void add_node(Turning* turning, int32_t node, NoliMat3 by_x, NoliMat3 by_start) {
  turning->node[turning->n] = node;
  turning->by_x[turning->n] = noli_scale33(0.5, by_x);
  turning->by_start[turning->n++] = noli_scale33(0.5, by_start);
}

static void turn_with_triangle(const NoliStickTable* table, int32_t a, const double* x, NoliVec3 v,
                               Turning* turning) {
  const int32_t* other = table->turns->other + 2 * (int64_t)a;
  Frame now = frame_at(x, a, other), before = frame_at(table->x, a, other);
  NoliMat3 R = noli_mul_transpose33(now.axes, before.axes);
  NoliMat3 of_end = noli_scale33(-1.0, noli_cross33(noli_mul33_vec(&R, v)));
  NoliMat3 of_start = noli_mul33(R, noli_cross33(v));
  for (int32_t k = 0; k < 3; k++) {
    add_node(turning, k == 0 ? a : other[k - 1], noli_mul33(of_end, now.turn[k]),
             noli_mul33(of_start, before.turn[k]));
  }
}

// The direction of an edge by its end.
static NoliMat3 direction_by_end(NoliVec3 edge) {
  NoliVec3 t = noli_normalize3(edge);
  return noli_scale33(1.0 / noli_norm3(edge), noli_sub33(noli_identity3(), noli_outer33(t, t)));
}

// R v = v + k x v + k x (k x v) / (1 + c) with k = f x t, c = f . t of the directions f, t of the
// edge before and now.
static void turn_with_edge(const NoliStickTable* table, int32_t a, const double* x, NoliVec3 v,
                           Turning* turning) {
  int32_t b = table->turns->other[2 * (int64_t)a];
  NoliVec3 from = edge_of(table->x, a, b), to = edge_of(x, a, b);
  NoliVec3 f = noli_normalize3(from), t = noli_normalize3(to);
  double c = noli_dot3(f, t);
  if (!noli_vertex_edge_turns(c)) {
    return;
  }
  NoliVec3 k = noli_cross3(f, t), kv = noli_cross3(k, v), kkv = noli_cross3(k, kv);
  NoliMat3 by_k = noli_add33(noli_cross33(kv), noli_mul33(noli_cross33(k), noli_cross33(v)));
  by_k = noli_add33(noli_scale33(-1.0, noli_cross33(v)), noli_scale33(-1.0 / (1.0 + c), by_k));
  NoliVec3 by_c = noli_scale3(-1.0 / ((1.0 + c) * (1.0 + c)), kkv);
  NoliMat3 by_t = noli_add33(noli_mul33(by_k, noli_cross33(f)), noli_outer33(by_c, f));
  NoliMat3 by_f = noli_sub33(noli_outer33(by_c, t), noli_mul33(by_k, noli_cross33(t)));
  by_t = noli_mul33(by_t, direction_by_end(to));
  by_f = noli_mul33(by_f, direction_by_end(from));
  add_node(turning, a, noli_scale33(-1.0, by_t), noli_scale33(-1.0, by_f));
  add_node(turning, b, by_t, by_f);
}

// The vertices of a contact whose rotation is the mean one.
static void ends_of(const NoliStickContact* of, int32_t end[2]) {
  const double* weight = of->sliding->closest.weight;
  end[0] = noli_stick_nearest(of->node, weight, 0, of->n_first);
  end[1] = noli_stick_nearest(of->node, weight, of->n_first, of->sliding->size);
}

static NoliMat3 rotation_at(const NoliStickContact* of, const double* x) {
  int32_t end[2];
  ends_of(of, end);
  return noli_stick_rotation(of->table, end[0], end[1], x);
}

static Turning turning_at(const NoliStickContact* of, const double* x, NoliVec3 v) {
  Turning turning = {.n = 0};
  int32_t end[2];
  ends_of(of, end);
  for (int k = 0; k < 2; k++) {
    const int32_t* other =
        end[k] != NOLI_NULL_INDEX ? of->table->turns->other + 2 * (int64_t)end[k] : NULL;
    if (other != NULL && other[1] != NOLI_NULL_INDEX) {
      turn_with_triangle(of->table, end[k], x, v, &turning);
    } else if (other != NULL && other[0] != NOLI_NULL_INDEX) {
      turn_with_edge(of->table, end[k], x, v, &turning);
    }
  }
  return turning;
}

// ---- blocks -------------------------------------------------------------------------------------

// Where the derivatives of one vector go: rows, each with a factor.
typedef struct Rows {
  NoliMixedList* list;
  int32_t n;
  int32_t node[NODES];
  double factor[NODES];
} Rows;

// Columns of one input that are being filled.
typedef struct Columns {
  const Rows* rows;
  NoliMixedBlocks blocks;
  int32_t n;
} Columns;

static NoliStatus begin_columns(const Rows* rows, NoliInput kind, int32_t n, Columns* columns) {
  NoliStatus status = NOLI_OK;
  NoliMixedBlocks* added;
  NOLI_TRY(noli_mixed_list_add(rows->list, kind, 1, rows->n, n, &added));
  *columns = (Columns){.rows = rows, .blocks = *added};
  memcpy(added->node, rows->node, sizeof *rows->node * (size_t)rows->n);
done:
  return status;
}

// Adds a matrix, by three numbers of the input from `first`.
static void put(Columns* columns, int64_t first, NoliMat3 matrix) {
  const Rows* rows = columns->rows;
  for (int32_t i = 0; i < rows->n; i++) {
    noli_mixed_add33(&columns->blocks, 0, i, columns->n, rows->factor[i], matrix);
  }
  for (int c = 0; c < 3; c++) {
    columns->blocks.input[columns->n++] = first + c;
  }
}

// The same by one number.
static void put_vector(Columns* columns, int64_t input, NoliVec3 vector) {
  const double of[3] = {vector.x, vector.y, vector.z};
  int32_t width = columns->blocks.n_input;
  for (int32_t k = 0; k < 3 * columns->rows->n; k++) {
    columns->blocks.value[(int64_t)width * k + columns->n] =
        columns->rows->factor[k / 3] * of[k % 3];
  }
  columns->blocks.input[columns->n++] = input;
}

// Adds matrix times the changes of a rotated vector, with one vertex after the other.
static void put_turning(Columns* columns, const Turning* turning, bool start, NoliMat3 matrix) {
  for (int32_t k = 0; k < turning->n; k++) {
    put(columns, 3 * (int64_t)turning->node[k],
        noli_mul33(matrix, start ? turning->by_start[k] : turning->by_x[k]));
  }
}

// ---- the offset ---------------------------------------------------------------------------------

// All of a contact that its derivatives share; the names are those of the header.
typedef struct Stuck {
  const NoliStickContact* of;
  double sign;
  NoliVec3 s; // turned by R_L it is y
  NoliMat3 R_L;
  NoliMat3 A;
  NoliMat3 B;
  Turning with_slip;             // R_L s
  NoliSlidingGeometry by[NODES]; // 0 on a half-space
  const NoliStickSources* source;
} Stuck;

static NoliMat3 across(NoliVec3 n) {
  return noli_sub33(noli_identity3(), noli_outer33(n, n));
}

static void set_offset(Stuck* at) {
  NoliVec3 n = at->of->sliding->n, y = noli_mul33_vec(&at->R_L, at->s);
  double along = noli_dot3(n, y), L = noli_norm3(y);
  NoliVec3 flat = noli_mul_add3(y, -along, n);
  double l = noli_norm3(flat);
  at->A = across(n);
  at->B = noli_scale33(-along, noli_identity3());
  if (noli_stick_keeps_length(L, l)) {
    NoliVec3 row = noli_mul_add3(noli_scale3(1.0 / (L * l), y), -L / (l * l * l), flat);
    at->A = noli_add33(noli_scale33(L / l, at->A), noli_outer33(flat, row));
    NoliMat3 share = noli_scale33(1.0 / (l * l), noli_outer33(flat, flat));
    at->B = noli_scale33(L / l * along, noli_sub33(share, noli_identity3()));
  }
}

static NoliStatus find_stuck(NoliContext* context, const NoliStickContact* of,
                             NoliStickSources* sources, Stuck* at) {
  NoliStatus status = NOLI_OK;
  const NoliSliding* sliding = of->sliding;
  int32_t node[4];
  NoliStickWay way;
  for (int32_t k = 0; k < 4; k++) {
    node[k] = k < sliding->size ? of->node[k] : NOLI_NULL_INDEX;
  }
  *at = (Stuck){.of = of, .source = sources};
  NOLI_TRY(noli_stick_sources(of->table, context, node, of->entity, of->n_first, sources));
  at->sign = noli_stick_sign(sliding->closest.weight, of->n_first);
  at->s = noli_scale3(at->sign, noli_stick_find(of->table, node, of->entity, of->n_first, &way));
  at->R_L = rotation_at(of, of->x_lag);
  at->with_slip = turning_at(of, of->x_lag, at->s);
  set_offset(at);
  for (int32_t j = 0; j < sliding->size && !of->on_plane; j++) {
    at->by[j] = noli_sliding_geometry(sliding, j);
  }
done:
  return status;
}

// The columns of the sources for a vector that changes by `by_slip` times s.
static NoliStatus list_sources(const Stuck* at, const Rows* rows, NoliMat3 by_slip) {
  NoliStatus status = NOLI_OK;
  const NoliStickSources* sources = at->source;
  const double* value = at->of->table->value.data;
  double force = 0.0;
  Columns columns;
  NOLI_TRY(begin_columns(rows, NOLI_INPUT_SLIP, (int32_t)(4 * sources->count), &columns));
  for (int64_t k = 0; k < sources->count; k++) {
    force += sources->data[k].force;
  }
  for (int64_t k = 0; k < sources->count; k++) {
    const NoliStickSource* source = &sources->data[k];
    NoliVec3 own = noli_load3(value + NOLI_STICK_NUMBERS * source->row);
    double sign = at->sign * source->sign;
    NoliVec3 by_force = noli_scale3(1.0 / force, noli_sub3(noli_scale3(sign, own), at->s));
    int64_t first = NOLI_SLIP_NUMBERS * source->row;
    put(&columns, first, noli_scale33(sign * source->force / force, by_slip));
    put_vector(&columns, first + 3, noli_mul33_vec(&by_slip, by_force));
  }
done:
  return status;
}

// ---- the force ----------------------------------------------------------------------------------

static NoliInput lagged_input(const NoliStickContact* of) {
  return of->x_lag == of->x ? NOLI_INPUT_END : NOLI_INPUT_LAGGED;
}

static NoliStatus list_force(NoliMixedList* list, const Stuck* at) {
  NoliStatus status = NOLI_OK;
  const NoliStickContact* of = at->of;
  const NoliSliding* sliding = of->sliding;
  Rows rows = {.list = list, .n = sliding->size};
  Columns columns;
  memcpy(rows.node, of->node, sizeof *rows.node * (size_t)rows.n);
  memcpy(rows.factor, sliding->closest.weight, sizeof *rows.factor * (size_t)rows.n);

  // F by o, and by what o changes along n, which viscosity does not see
  double drag = of->law->drag * sliding->lambda;
  NoliMat3 F = noli_mul33(noli_sliding_force_by_sliding(sliding, of->law), across(sliding->n));
  F = noli_sub33(F, noli_scale33(drag, noli_identity3()));
  NoliMat3 FA = noli_mul33(F, at->A), FB = noli_mul33(F, at->B);
  FB = noli_add33(FB, noli_scale33(drag, noli_outer33(sliding->n, sliding->held)));
  int32_t n_turn = 3 * at->with_slip.n;

  if (at->source->count > 0) {
    NOLI_TRY(begin_columns(&rows, lagged_input(of), 3 * sliding->size + n_turn, &columns));
    for (int32_t j = 0; j < sliding->size; j++) {
      put(&columns, 3 * (int64_t)of->node[j], noli_mul33(FB, at->by[j].normal));
    }
    put_turning(&columns, &at->with_slip, false, FA);
    NOLI_TRY(begin_columns(&rows, NOLI_INPUT_BEGIN, n_turn, &columns));
    put_turning(&columns, &at->with_slip, true, FA);
    NOLI_TRY(list_sources(at, &rows, noli_mul33(FA, at->R_L)));
  }
  if (noli_mixed_list_wants(list, NOLI_INPUT_CONTACT)) {
    double by_length =
        noli_sliding_over_y_by_length(of->law, noli_norm3(sliding->u), sliding->lambda);
    NOLI_TRY(begin_columns(&rows, NOLI_INPUT_CONTACT, 1, &columns));
    put_vector(&columns, NOLI_CONTACT_STICK, noli_scale3(by_length, sliding->u));
  }
done:
  return status;
}

// ---- the end of the step ------------------------------------------------------------------------

// The slip s' at the end: its changes by those of z, of n, of u, o and g_E - g_0 through p - b, and
// of R_E.
typedef struct End {
  NoliMat3 by_z;
  NoliMat3 by_n;
  NoliMat3 by_u;     // at constant o
  NoliMat3 by_o;     // with that of u
  NoliMat3 by_moved; // of g_E - g_0
  NoliMat3 by_slip;  // through X alone
  NoliMat3 by_g0;
  NoliMat3 by_Rn; // through N
  NoliVec3 by_length;
  Turning with_X; // R_E X and, unless late, R_E n
  Turning with_n;
} End;

// p = k u and K
static NoliVec3 plastic_part(const NoliStickContact* of, NoliMat3* K, NoliVec3* by_length) {
  const NoliVec3 u = of->sliding->u;
  double y = noli_norm3(u), length = of->table->length;
  *K = (NoliMat3){{{0.0}}};
  *by_length = (NoliVec3){0.0, 0.0, 0.0};
  if (!(y > length)) {
    return *by_length;
  }
  *K = noli_add33(noli_scale33(1.0 - length / y, noli_identity3()),
                  noli_scale33(length / (y * y * y), noli_outer33(u, u)));
  *by_length = noli_scale3(-1.0 / y, u);
  return noli_scale3(1.0 - length / y, u);
}

static NoliVec3 weighted(const NoliStickContact* of, const double* x) {
  NoliVec3 sum = {0.0, 0.0, 0.0};
  for (int32_t i = 0; i < of->sliding->size; i++) {
    double w = of->sliding->closest.weight[i];
    sum = noli_mul_add3(sum, w, noli_load3(x + 3 * (int64_t)of->node[i]));
  }
  return sum;
}

static End end_of(const Stuck* at, bool late) {
  const NoliStickContact* of = at->of;
  NoliVec3 n = of->sliding->n, g0 = weighted(of, of->table->x), by_length;
  NoliMat3 R = rotation_at(of, of->x), K, identity = noli_identity3(), P = across(n);
  NoliVec3 moved = noli_sub3(weighted(of, of->x), g0), o = of->sliding->held;
  NoliVec3 p = plastic_part(of, &K, &by_length), X = at->s;
  p = noli_sub3(p, noli_sub3(noli_sub3(of->sliding->u, o), noli_mul33_vec(&P, moved)));
  X = late ? X : noli_sub3(X, p);
  X = of->on_plane ? X : noli_sub3(X, g0);
  NoliVec3 z = noli_add3(noli_mul33_vec(&R, X), weighted(of, of->x));
  z = late ? noli_sub3(z, p) : z;
  z = of->on_plane ? noli_sub3(z, g0) : z;

  // N and s' by it
  NoliVec3 turned = late ? n : noli_mul33_vec(&R, n), N = noli_normalize3(turned);
  NoliMat3 by_N = noli_scale33(-noli_dot3(z, N), identity);
  by_N = noli_sub33(by_N, noli_outer33(N, z));
  NoliMat3 by_Rn = noli_mul33(by_N, noli_scale33(1.0 / noli_norm3(turned), across(N)));
  End end = {.by_z = across(N), .by_Rn = by_Rn};
  end.by_n = late ? by_N : noli_mul33(by_Rn, R);
  end.by_slip = noli_mul33(end.by_z, R);
  NoliMat3 minus_p = noli_scale33(-1.0, late ? end.by_z : end.by_slip);
  end.by_o = noli_mul33(minus_p, K);
  end.by_u = noli_sub33(end.by_o, minus_p);
  end.by_moved = noli_mul33(minus_p, P);
  NoliMat3 by_plane = noli_scale33(-noli_dot3(n, moved), identity);
  by_plane = noli_sub33(by_plane, noli_outer33(n, noli_add3(moved, o)));
  end.by_n = noli_add33(end.by_n, noli_mul33(minus_p, by_plane));
  end.by_length = noli_mul33_vec(&minus_p, by_length);
  end.by_g0 = noli_scale33(-1.0, of->on_plane ? end.by_z : end.by_slip);
  end.with_X = turning_at(of, of->x, X);
  end.with_n = late ? (Turning){.n = 0} : turning_at(of, of->x, n);
  return end;
}

// By the nodes at x, by x_0 and by x_hat.
static NoliStatus list_displacements(const Stuck* at, const End* end, const Rows* rows) {
  NoliStatus status = NOLI_OK;
  const NoliStickContact* of = at->of;
  const NoliSliding* sliding = of->sliding;
  NoliMat3 P = across(sliding->n), by_m = noli_mul33(end->by_u, P);
  NoliMat3 by_oy = noli_mul33(end->by_o, at->A);
  int32_t size = sliding->size, n_turn = end->with_X.n + end->with_n.n;
  Columns now, before, reference;
  NOLI_TRY(begin_columns(rows, NOLI_INPUT_END, 3 * (size + n_turn), &now));
  NOLI_TRY(begin_columns(rows, NOLI_INPUT_BEGIN, 3 * (size + n_turn + at->with_slip.n), &before));
  NOLI_TRY(begin_columns(rows, NOLI_INPUT_REFERENCE, 3 * size, &reference));
  for (int32_t j = 0; j < size; j++) {
    double w = sliding->closest.weight[j];
    NoliMat3 by_hat = noli_scale33(w * sliding->rate, by_m);
    int64_t first = 3 * (int64_t)of->node[j];
    NoliMat3 by_x = noli_scale33(w, noli_add33(end->by_z, end->by_moved));
    put(&now, first, noli_add33(by_x, by_hat));
    put(&before, first, noli_scale33(w, noli_sub33(end->by_g0, end->by_moved)));
    put(&reference, first, noli_scale33(-1.0, by_hat));
  }
  for (int start = 0; start < 2; start++) {
    Columns* columns = start == 1 ? &before : &now;
    put_turning(columns, &end->with_X, start == 1, end->by_z);
    put_turning(columns, &end->with_n, start == 1, end->by_Rn);
  }
  put_turning(&before, &at->with_slip, true, by_oy);
done:
  return status;
}

// By the positions of weights and normal, and of the rotation there.
static NoliStatus list_geometry(const Stuck* at, const End* end, const Rows* rows) {
  NoliStatus status = NOLI_OK;
  const NoliStickContact* of = at->of;
  const NoliSliding* sliding = of->sliding;
  int32_t size = of->on_plane ? 0 : sliding->size;
  Columns columns;
  NOLI_TRY(begin_columns(rows, lagged_input(of), 3 * (size + at->with_slip.n), &columns));
  for (int32_t j = 0; j < size; j++) {
    const NoliSlidingGeometry* by = &at->by[j];
    NoliMat3 sum = noli_add33(noli_mul33(end->by_n, by->normal), noli_mul33(end->by_u, by->u));
    sum = noli_add33(sum, noli_mul33(end->by_o, noli_mul33(at->B, by->normal)));
    for (int32_t i = 0; i < size; i++) {
      int64_t node = 3 * (int64_t)of->node[i];
      NoliVec3 x = noli_load3(of->x + node), x0 = noli_load3(of->table->x + node);
      NoliVec3 away = noli_sub3(x, x0);
      NoliVec3 by_weight =
          noli_add3(noli_mul33_vec(&end->by_z, x), noli_mul33_vec(&end->by_g0, x0));
      by_weight = noli_add3(by_weight, noli_mul33_vec(&end->by_moved, away));
      sum = noli_add33(sum, noli_outer33(by_weight, by->weight[i]));
    }
    put(&columns, 3 * (int64_t)of->node[j], sum);
  }
  put_turning(&columns, &at->with_slip, false, noli_mul33(end->by_o, at->A));
done:
  return status;
}

// The row of a contact among the slips at the end.
static NoliStatus find_end(const NoliMixedList* list, const NoliStickContact* of, int64_t* row) {
  NoliStatus status = NOLI_OK;
  int32_t node[4];
  int64_t key[NOLI_STICK_WORDS];
  for (int32_t k = 0; k < 4; k++) {
    node[k] = k < of->sliding->size ? of->node[k] : NOLI_NULL_INDEX;
  }
  noli_stick_key(node, of->entity, of->n_first, key);
  *row = noli_stick_row(list->slips->end, key);
  NOLI_CHECK(list->context, *row != NOLI_NULL_INDEX, NOLI_ERROR_INTERNAL,
             "derivatives: the contact of vertex %d has no slip at the end of its step",
             (int)of->node[0]);
done:
  return status;
}

static NoliStatus list_end(NoliMixedList* list, const Stuck* at) {
  NoliStatus status = NOLI_OK;
  const NoliStickContact* of = at->of;
  int64_t row;
  Columns columns;
  End end = end_of(at, list->slips->late);
  NOLI_TRY(find_end(list, of, &row));
  Rows rows = {.list = &list->slips->list, .n = 1};
  rows.node[0] = (int32_t)(2 * row);
  rows.factor[0] = at->sign;
  NOLI_TRY(list_displacements(at, &end, &rows));
  NOLI_TRY(list_geometry(at, &end, &rows));
  if (at->source->count > 0) {
    NoliMat3 by_offset = noli_mul33(end.by_o, noli_mul33(at->A, at->R_L));
    NOLI_TRY(list_sources(at, &rows, noli_add33(end.by_slip, by_offset)));
  }
  if (noli_mixed_list_wants(list, NOLI_INPUT_CONTACT)) {
    NOLI_TRY(begin_columns(&rows, NOLI_INPUT_CONTACT, 1, &columns));
    put_vector(&columns, NOLI_CONTACT_STICK, end.by_length);
  }
done:
  return status;
}

// ---- both ---------------------------------------------------------------------------------------

NoliStatus noli_stick_derivatives(NoliMixedList* list, const NoliStickContact* of) {
  NoliStatus status = NOLI_OK;
  NoliStickSources sources = {0};
  Stuck at;
  NOLI_TRY(find_stuck(list->context, of, &sources, &at));
  NOLI_TRY(list_force(list, &at));
  if (list->slips != NULL) {
    NOLI_TRY(list_end(list, &at));
  }
done:
  noli_array_free(list->context, &sources);
  return status;
}

NoliStatus noli_stick_force_derivatives(NoliMixedList* list, const NoliStickContact* of,
                                        NoliInput kind, int32_t n, const int64_t* input,
                                        const double* by_input) {
  NoliStatus status = NOLI_OK;
  int64_t row;
  if (list->slips == NULL) {
    return NOLI_OK;
  }
  NOLI_TRY(find_end(list, of, &row));
  Rows rows = {.list = &list->slips->list, .n = 1, .node = {(int32_t)(2 * row + 1)}};
  rows.factor[0] = 1.0 / list->slips->scale;
  Columns columns;
  NOLI_TRY(begin_columns(&rows, kind, n, &columns));
  for (int32_t k = 0; k < n; k++) {
    put_vector(&columns, input[k], noli_vec3(by_input[k], 0.0, 0.0));
  }
done:
  return status;
}
