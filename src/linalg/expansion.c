#include "linalg/expansion.h"

#include "base/validate.h"

#include <string.h>

void noli_expansion_free(NoliContext* context, NoliExpansion* expansion) {
  noli_array_free(context, &expansion->node);
  noli_array_free(context, &expansion->first);
  noli_array_free(context, &expansion->first_block);
  noli_array_free(context, &expansion->row);
  noli_array_free(context, &expansion->place);
  noli_array_free(context, &expansion->weight);
  noli_array_free(context, &expansion->place_of_node);
  noli_array_free(context, &expansion->stencil_of_node);
  *expansion = (NoliExpansion){0};
}

// ---- making

// Adds a weight of the vertex that is being listed in stencil s.
static NoliStatus add_weight(NoliExpansion* expansion, NoliContext* context, int64_t s,
                             int32_t node, double weight) {
  NoliStatus status = NOLI_OK;
  if (expansion->stencil_of_node.data[node] != s) {
    expansion->stencil_of_node.data[node] = s;
    expansion->place_of_node.data[node] =
        (int32_t)(expansion->node.count - expansion->first.data[s]);
    NOLI_PUSH(context, &expansion->node, node);
  }
  NOLI_PUSH(context, &expansion->place, expansion->place_of_node.data[node]);
  NOLI_PUSH(context, &expansion->weight, weight);
done:
  return status;
}

static NoliStatus expansion_add_stencil(NoliExpansion* expansion, NoliContext* context,
                                        const NoliFollowers* followers, int64_t s) {
  NoliStatus status = NOLI_OK;
  const NoliEnergyTerm* term = &expansion->inner;
  for (int64_t i = noli_term_first(term, s); i < noli_term_first(term, s + 1); i++) {
    int32_t vertex = term->node[i];
    int32_t follower =
        vertex != NOLI_NULL_INDEX ? noli_followers_find(followers, vertex) : NOLI_NULL_INDEX;
    NOLI_PUSH(context, &expansion->row, expansion->place.count);
    if (vertex != NOLI_NULL_INDEX && follower == NOLI_NULL_INDEX) {
      NOLI_TRY(add_weight(expansion, context, s, vertex, 1.0));
    }
    for (int64_t k = follower >= 0 ? followers->row[follower] : 0;
         follower >= 0 && k < followers->row[follower + 1]; k++) {
      NOLI_TRY(add_weight(expansion, context, s, followers->node[k], followers->weight[k]));
    }
  }
  int64_t n_node = expansion->node.count - expansion->first.data[s];
  NOLI_PUSH(context, &expansion->first, expansion->node.count);
  NOLI_PUSH(context, &expansion->first_block,
            expansion->first_block.data[s] + noli_stencil_blocks((int32_t)n_node));
  int64_t n_block = noli_term_first_block(term, s + 1) - noli_term_first_block(term, s);
  expansion->largest = n_block > expansion->largest ? n_block : expansion->largest;
done:
  return status;
}

NoliStatus noli_expansion_build(NoliExpansion* expansion, NoliContext* context,
                                const NoliFollowers* followers, const NoliEnergyTerm* term,
                                NoliEnergyTerm* expanded) {
  NoliStatus status = NOLI_OK;
  expansion->inner = *term;
  expansion->largest = 1;
  expansion->node.count = expansion->first.count = expansion->first_block.count = 0;
  expansion->row.count = expansion->place.count = expansion->weight.count = 0;
  NOLI_TRY(noli_array_reserve(context, &expansion->place_of_node, followers->n_node));
  NOLI_TRY(noli_array_reserve(context, &expansion->stencil_of_node, followers->n_node));
  for (int32_t i = 0; i < followers->n_node; i++) {
    expansion->stencil_of_node.data[i] = NOLI_NULL_INDEX;
  }
  NOLI_PUSH(context, &expansion->first, 0);
  NOLI_PUSH(context, &expansion->first_block, 0);
  for (int64_t s = 0; s < term->n_stencil; s++) {
    NOLI_TRY(expansion_add_stencil(expansion, context, followers, s));
  }
  NOLI_PUSH(context, &expansion->row, expansion->place.count);
  NOLI_VALIDATE(context, noli_expansion_defect(expansion, followers->n_node));
  noli_expansion_renew(expansion, term, expanded);
done:
  return status;
}

void noli_expansion_renew(NoliExpansion* expansion, const NoliEnergyTerm* term,
                          NoliEnergyTerm* expanded) {
  expansion->inner = *term;
  *expanded = *term;
  expanded->node = expansion->node.data;
  expanded->first = expansion->first.data;
  expanded->first_block = expansion->first_block.data;
  expanded->expansion = expansion;
}

// ---- evaluation

// The weights of vertex `i` among those of all stencils.
typedef struct Row {
  const int32_t* place;
  const double* weight;
  int64_t n;
} Row;

static inline Row expansion_row_of(const NoliExpansion* expansion, int64_t i) {
  int64_t first = expansion->row.data[i];
  return (Row){expansion->place.data + first, expansion->weight.data + first,
               expansion->row.data[i + 1] - first};
}

// Whether stencil s names nodes alone: its vertices are the nodes behind them, in their order.
static bool names_nodes(const NoliExpansion* expansion, int64_t s) {
  const NoliEnergyTerm* term = &expansion->inner;
  int64_t begin = noli_term_first(term, s), end = noli_term_first(term, s + 1);
  int64_t n = expansion->first.data[s + 1] - expansion->first.data[s];
  if (n != end - begin) {
    return false;
  }
  for (int64_t i = begin; i < end; i++) {
    if (expansion->row.data[i + 1] != expansion->row.data[i] + 1) {
      return false;
    }
  }
  return true;
}

static void expand_gradient(const NoliExpansion* expansion, int64_t s, const double* gradient,
                            double* out) {
  const NoliEnergyTerm* term = &expansion->inner;
  int64_t vertex = noli_term_first(term, s);
  int64_t n = expansion->first.data[s + 1] - expansion->first.data[s];
  if (names_nodes(expansion, s)) {
    memcpy(out, gradient, 3 * (size_t)n * sizeof *out);
    return;
  }
  memset(out, 0, 3 * (size_t)n * sizeof *out);
  for (int32_t i = 0; i < noli_term_size(term, s); i++) {
    Row row = expansion_row_of(expansion, vertex + i);
    for (int64_t k = 0; k < row.n; k++) {
      for (int32_t c = 0; c < 3; c++) {
        out[3 * row.place[k] + c] += row.weight[k] * gradient[3 * i + c];
      }
    }
  }
}

static inline void expansion_add_block(double* to, double factor, const double* block) {
  for (int32_t e = 0; e < 9; e++) {
    to[e] += factor * block[e];
  }
}

static inline void add_transposed(double* to, double factor, const double* block) {
  for (int32_t r = 0; r < 3; r++) {
    for (int32_t c = 0; c < 3; c++) {
      to[3 * r + c] += factor * block[3 * c + r];
    }
  }
}

// Adds block (i, j), i <= j, of a stencil of n nodes, and where i < j the block below the diagonal,
// which is the transpose times `sign`.
static void expand_block(Row a, Row b, bool diagonal, double sign, int32_t n, const double* block,
                         double* out) {
  for (int64_t k = 0; k < a.n; k++) {
    for (int64_t l = 0; l < b.n; l++) {
      int32_t p = a.place[k], q = b.place[l];
      double factor = a.weight[k] * b.weight[l];
      if (p <= q) {
        expansion_add_block(out + 9 * noli_stencil_block(n, p, q), factor, block);
      }
      if (p >= q && !diagonal) {
        add_transposed(out + 9 * noli_stencil_block(n, q, p), sign * factor, block);
      }
    }
  }
}

static void expand_hessian(const NoliExpansion* expansion, int64_t s, double sign,
                           const double* hessian, double* out) {
  const NoliEnergyTerm* term = &expansion->inner;
  int64_t vertex = noli_term_first(term, s);
  int32_t size = noli_term_size(term, s);
  int32_t n = (int32_t)(expansion->first.data[s + 1] - expansion->first.data[s]);
  if (names_nodes(expansion, s)) {
    memcpy(out, hessian, 9 * (size_t)noli_stencil_blocks(n) * sizeof *out);
    return;
  }
  memset(out, 0, 9 * (size_t)noli_stencil_blocks(n) * sizeof *out);
  for (int32_t i = 0; i < size; i++) {
    Row a = expansion_row_of(expansion, vertex + i);
    for (int32_t j = i; j < size; j++, hessian += 9) {
      expand_block(a, expansion_row_of(expansion, vertex + j), i == j, sign, n, hessian, out);
    }
  }
}

void noli_expansion_evaluate(const NoliExpansion* expansion, const double* x, int64_t begin,
                             int64_t end, unsigned what, const NoliLocal* out, double* gradient,
                             double* hessian) {
  const NoliEnergyTerm* term = &expansion->inner;
  bool needs_hessian = (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED | NOLI_EVAL_SKEW)) != 0;
  double sign = (what & NOLI_EVAL_SKEW) != 0 ? -1.0 : 1.0;
  const int64_t *first = expansion->first.data, *first_block = expansion->first_block.data;
  const NoliLocal local = {.gradient = gradient, .hessian = hessian};
  for (int64_t s = begin; s < end; s++) {
    term->evaluate(term->data, x, s, s + 1, what, &local);
    if ((what & NOLI_EVAL_GRADIENT) != 0) {
      expand_gradient(expansion, s, gradient, out->gradient + 3 * (first[s] - first[begin]));
    }
    if (needs_hessian) {
      expand_hessian(expansion, s, sign, hessian,
                     out->hessian + 9 * (first_block[s] - first_block[begin]));
    }
  }
}

// ---- validation

const char* noli_expansion_defect(const NoliExpansion* expansion, int32_t n_node) {
  const NoliEnergyTerm* term = &expansion->inner;
  int64_t n_vertex = noli_term_first(term, term->n_stencil);
  NOLI_RULE(expansion->first.count == term->n_stencil + 1 &&
                expansion->first_block.count == term->n_stencil + 1 &&
                expansion->row.count == n_vertex + 1,
            "expansion: lists have not the length of the term");
  NOLI_RULE(expansion->row.data[n_vertex] == expansion->place.count &&
                expansion->place.count == expansion->weight.count,
            "expansion: rows do not hold all weights");

  for (int64_t s = 0; s < term->n_stencil; s++) {
    int64_t begin = expansion->first.data[s], end = expansion->first.data[s + 1];
    NOLI_RULE(begin <= end && end <= expansion->node.count, "expansion: stencils do not ascend");
    for (int64_t k = begin; k < end; k++) {
      NOLI_RULE(expansion->node.data[k] >= 0 && expansion->node.data[k] < n_node,
                "expansion: a node is out of range");
    }
    int64_t last = noli_term_first(term, s + 1);
    for (int64_t v = noli_term_first(term, s); v < last; v++) {
      NOLI_RULE(expansion->row.data[v] <= expansion->row.data[v + 1],
                "expansion: rows do not ascend");
      for (int64_t k = expansion->row.data[v]; k < expansion->row.data[v + 1]; k++) {
        NOLI_RULE(expansion->place.data[k] >= 0 && expansion->place.data[k] < end - begin,
                  "expansion: a weight belongs to no node of its stencil");
      }
    }
  }
  return NULL;
}
