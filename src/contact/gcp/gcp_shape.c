#include "contact/gcp/gcp_shape.h"

typedef struct Found {
  NoliContext* context;
  NOLI_ARRAY(NoliGcpShapeDerivative) derivative;
} Found;

static NoliStatus add_weight(void* user, int64_t weight, int32_t vertex, NoliVec3 by_vertex) {
  NoliStatus status = NOLI_OK;
  Found* found = user;
  NoliGcpShapeDerivative derivative = {
      .input = NOLI_INPUT_WEIGHT, .index = weight, .vertex = vertex};
  noli_store3(derivative.derivative, by_vertex);
  NOLI_PUSH(found->context, &found->derivative, derivative);
done:
  return status;
}

static NoliStatus add_supports(Found* found, const NoliGcpModel* model) {
  NoliStatus status = NOLI_OK;
  for (int32_t v = 0; v < model->surface->n_vert; v++) {
    int32_t index = model->vert_limit[v];
    if (index == NOLI_NULL_INDEX || !(model->vert_weight[v] > 0.0)) {
      continue;
    }
    const NoliGcpLimit* limit = &model->limit.data[index];
    for (int32_t k = 0; k < limit->n; k++) {
      NoliGcpShapeDerivative derivative = {.input = NOLI_INPUT_SUPPORT,
                                           .index = v,
                                           .vertex = limit->vertex[k],
                                           .at_start = !limit->within};
      noli_store3(derivative.derivative, limit->derivative[k]);
      NOLI_PUSH(found->context, &found->derivative, derivative);
    }
  }
done:
  return status;
}

// Counts, then places: in the order of vertices.
static NoliStatus sort(const Found* found, int32_t n_vert, NoliGcpShape* shape) {
  NoliStatus status = NOLI_OK;
  int64_t n = found->derivative.count;
  NOLI_NEW(found->context, shape->derivative, n);
  NOLI_NEW_ZERO(found->context, shape->first, (int64_t)n_vert + 2);
  for (int64_t i = 0; i < n; i++) {
    shape->first[found->derivative.data[i].vertex + 2]++;
  }
  for (int64_t v = 2; v <= n_vert; v++) {
    shape->first[v] += shape->first[v - 1];
  }
  for (int64_t i = 0; i < n; i++) {
    const NoliGcpShapeDerivative* derivative = &found->derivative.data[i];
    shape->derivative[shape->first[derivative->vertex + 1]++] = *derivative;
  }
done:
  return status;
}

NoliStatus noli_gcp_shape_create(NoliContext* context, const NoliGcpModel* model, const double* X,
                                 NoliGcpShape* shape) {
  NoliStatus status = NOLI_OK;
  Found found = {.context = context};
  *shape = (NoliGcpShape){NULL, NULL};
  NOLI_TRY(noli_gcp_model_weight_derivatives(context, model, X, add_weight, &found));
  NOLI_TRY(add_supports(&found, model));
  NOLI_TRY(sort(&found, model->surface->n_vert, shape));
done:
  noli_array_free(context, &found.derivative);
  if (status != NOLI_OK) {
    noli_gcp_shape_free(context, shape);
  }
  return status;
}

void noli_gcp_shape_free(NoliContext* context, NoliGcpShape* shape) {
  noli_free(context, shape->derivative);
  noli_free(context, shape->first);
  *shape = (NoliGcpShape){NULL, NULL};
}
