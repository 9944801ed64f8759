#include "linalg/matrix_free.h"

// A term whose gradient is the product of another term's Jacobian with a vector, or a column of its
// diagonal blocks.
typedef struct ProductTerm {
  const NoliEnergyTerm* term;
  unsigned what;
  const double* p; // NULL: column `axis` of the diagonal blocks
  int32_t axis;
} ProductTerm;

enum { LOCAL_BLOCKS = NOLI_STENCIL_MAX * (NOLI_STENCIL_MAX + 1) / 2 };

// Entry (a r, b c) of a symmetric or skew matrix by its upper blocks.
static double entry(const double* upper, int32_t size, int32_t a, int32_t r, int32_t b, int32_t c,
                    double sign) {
  return a <= b ? upper[9 * noli_stencil_block(size, a, b) + 3 * r + c]
                : sign * upper[9 * noli_stencil_block(size, b, a) + 3 * c + r];
}

// y += A p of a stencil.
static void add_local(const ProductTerm* data, const double* upper, double sign,
                      const int32_t* node, double* y) {
  const int32_t size = data->term->size;
  for (int32_t a = 0; a < size; a++) {
    for (int32_t b = 0; b < size; b++) {
      // nodes that occur twice in a stencil share one diagonal block
      bool counts = node[a] != NOLI_NULL_INDEX && node[b] != NOLI_NULL_INDEX &&
                    (data->p != NULL || node[a] == node[b]);
      for (int32_t e = 0; counts && e < 9; e++) {
        int32_t r = e / 3, c = e % 3;
        double p = data->p != NULL ? data->p[3 * (int64_t)node[b] + c] : c == data->axis;
        y[3 * a + r] += entry(upper, size, a, r, b, c, sign) * p;
      }
    }
  }
}

static void evaluate_product(const void* user, const double* x, int64_t begin, int64_t end,
                             unsigned what, const NoliLocal* out) {
  const ProductTerm* data = user;
  const NoliEnergyTerm* term = data->term;
  const int32_t size = term->size, n_blocks = noli_stencil_blocks(size);
  for (int64_t i = begin; i < end && (what & NOLI_EVAL_GRADIENT) != 0; i++) {
    double* y = out->gradient + 3 * (int64_t)size * i;
    double upper[9 * LOCAL_BLOCKS];
    // a term writes stencil i at entry i: the address that entry 0 would have
    uintptr_t offset = (uintptr_t)i * (uintptr_t)n_blocks * 9 * sizeof(double);
    NoliLocal local = {.hessian = (double*)((uintptr_t)upper - offset)};
    for (int32_t k = 0; k < 3 * size; k++) {
      y[k] = 0.0;
    }
    term->evaluate(term->data, x, i, i + 1, data->what, &local);
    add_local(data, upper, 1.0, term->node + i * size, y);
    if (term->skew) {
      term->evaluate(term->data, x, i, i + 1, NOLI_EVAL_SKEW, &local);
      add_local(data, upper, -1.0, term->node + i * size, y);
    }
  }
}

static NoliStatus sum_products(NoliAssembler* assembler, const NoliEnergyTerm* terms,
                               int32_t n_terms, const double* x, unsigned what, const double* p,
                               int32_t axis, double* y) {
  NOLI_ASSERT(n_terms <= NOLI_MATRIX_FREE_TERMS);
  ProductTerm data[NOLI_MATRIX_FREE_TERMS];
  NoliEnergyTerm products[NOLI_MATRIX_FREE_TERMS];
  for (int32_t t = 0; t < n_terms; t++) {
    data[t] = (ProductTerm){.term = &terms[t], .what = what, .p = p, .axis = axis};
    products[t] = terms[t];
    products[t].data = &data[t];
    products[t].evaluate = evaluate_product;
  }
  return noli_assembler_linearize(assembler, products, n_terms, x, 0, y);
}

NoliStatus noli_matrix_free_product(NoliAssembler* assembler, const NoliEnergyTerm* terms,
                                    int32_t n_terms, const double* x, unsigned what,
                                    const double* p, double* y) {
  return sum_products(assembler, terms, n_terms, x, what, p, 0, y);
}

NoliStatus noli_matrix_free_diagonal(NoliAssembler* assembler, const NoliEnergyTerm* terms,
                                     int32_t n_terms, const double* x, unsigned what, int32_t axis,
                                     double* y) {
  return sum_products(assembler, terms, n_terms, x, what, NULL, axis, y);
}
