#include "contact/sampling.h"

void noli_sampling_free(NoliContext* context, NoliSampling* sampling) {
  noli_free(context, sampling->facet);
  noli_free(context, sampling->first);
  noli_free(context, sampling->of_vertex);
  noli_free(context, sampling->point);
  noli_free(context, sampling->all);
  noli_free(context, sampling->one_sided);
}

NoliStatus noli_sampling_list_facets(NoliContext* context, const NoliSurface* surface,
                                     NoliSampling* sampling) {
  NoliStatus status = NOLI_OK;
  int64_t n_facet = (int64_t)surface->n_tri + surface->n_edge;
  NOLI_NEW_ZERO(context, sampling->first, (int64_t)surface->n_vert + 1);
  NOLI_NEW(context, sampling->of_vertex,
           3 * (int64_t)surface->n_tri + 2 * (int64_t)surface->n_edge);
  int64_t* first = sampling->first;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t f = n_facet - 1; f >= 0; f--) {
      int64_t e = f - surface->n_tri;
      const int32_t* vertex = e < 0 ? surface->tri + 3 * f : surface->edge + 2 * e;
      int n = e < 0 ? 3 : sampling->facet[f] > 0.0 ? noli_surface_edge_size(vertex) : 0;
      for (int k = 0; k < n; k++) {
        if (pass == 0) {
          first[vertex[k]]++;
        } else {
          sampling->of_vertex[--first[vertex[k]]] = (int32_t)f;
        }
      }
    }
    // the ends of the rows, from which the second pass goes down to their beginnings
    for (int32_t v = 1; v <= surface->n_vert && pass == 0; v++) {
      first[v] += first[v - 1];
    }
  }
done:
  return status;
}
