#include "derive/parameters/material_regions.h"

#include "base/context.h"
#include "define/body_kind.h"

NoliStatus noli_material_regions_find(NoliContext* context, const NoliBodyDef* body,
                                      NoliMaterialRegions* regions) {
  NoliStatus status = NOLI_OK;
  int32_t n = noli_region_size(body, 0);
  *regions = (NoliMaterialRegions){.n_element = n};
  NOLI_NEW_ZERO(context, regions->region, n);
  NOLI_NEW(context, regions->local, n);
  for (int32_t e = 0; e < n; e++) {
    regions->local[e] = e;
  }
  for (int32_t k = 0; k < body->n_parts; k++) {
    for (int32_t i = 0; i < body->parts[k].n_element; i++) {
      regions->region[body->parts[k].element[i]] = k + 1;
      regions->local[body->parts[k].element[i]] = i;
    }
  }
done:
  return status;
}

void noli_material_regions_free(NoliContext* context, NoliMaterialRegions* regions) {
  noli_free(context, regions->region);
  noli_free(context, regions->local);
  *regions = (NoliMaterialRegions){0};
}

const NoliMaterialDef* noli_region_material(const NoliBodyDef* body, int32_t region) {
  return region > 0 ? &body->parts[region - 1].material : &body->material;
}

const NoliMaterialFields* noli_region_fields(const NoliBodyDef* body, int32_t region) {
  return region > 0 ? &body->parts[region - 1].fields : &body->fields;
}

int32_t noli_region_size(const NoliBodyDef* body, int32_t region) {
  return region > 0 ? body->parts[region - 1].n_element : noli_body_elements(body).n;
}
