#include "linalg/mixed_term.h"

// Nodes and inputs of a stencil, and where they begin.
typedef struct Shape {
  int64_t node_first;
  int64_t input_first;
  int32_t n_rows; // 3 for each node
  int32_t n_columns;
} Shape;

static Shape shape_of(const NoliMixedTerm* term, int64_t s) {
  Shape shape = {.node_first = s * term->size,
                 .input_first = s * term->n_input,
                 .n_rows = 3 * term->size,
                 .n_columns = term->n_input};
  if (term->first != NULL) {
    shape.node_first = term->first[s];
    shape.n_rows = 3 * (int32_t)(term->first[s + 1] - term->first[s]);
  }
  if (term->first_input != NULL) {
    shape.input_first = term->first_input[s];
    shape.n_columns = (int32_t)(term->first_input[s + 1] - term->first_input[s]);
  }
  return shape;
}

// nodes += block change, or inputs += block^T nodes.
static void add_stencil(const NoliMixedTerm* term, const Shape* shape, const double* block,
                        bool transposed, const double* from, double* to) {
  for (int32_t row = 0; row < shape->n_rows; row++) {
    int32_t node = term->node[shape->node_first + row / 3];
    int64_t at = 3 * (int64_t)node + row % 3;
    for (int32_t k = 0; k < shape->n_columns && node != NOLI_NULL_INDEX; k++) {
      int64_t input = term->input[shape->input_first + k];
      double value = block[(int64_t)row * shape->n_columns + k];
      if (input != NOLI_NULL_INDEX) {
        to[transposed ? input : at] += value * from[transposed ? at : input];
      }
    }
  }
}

// The order of sums is that of stencils.
static NoliStatus multiply(NoliContext* context, const NoliMixedTerm* term, const double* x,
                           bool transposed, const double* from, double* to) {
  NoliStatus status = NOLI_OK;
  double* block = NULL;
  NOLI_NEW(context, block, 3 * (int64_t)term->size * term->n_input);
  for (int64_t s = 0; s < term->n_stencil; s++) {
    Shape shape = shape_of(term, s);
    term->evaluate(term->data, x, s, s + 1, block);
    add_stencil(term, &shape, block, transposed, from, to);
  }
done:
  noli_free(context, block);
  return status;
}

NoliStatus noli_mixed_multiply(NoliContext* context, const NoliMixedTerm* term, const double* x,
                               const double* change, double* nodes) {
  return multiply(context, term, x, false, change, nodes);
}

NoliStatus noli_mixed_multiply_transposed(NoliContext* context, const NoliMixedTerm* term,
                                          const double* x, const double* nodes, double* inputs) {
  return multiply(context, term, x, true, nodes, inputs);
}
