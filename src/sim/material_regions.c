#include "sim/material_regions.h"

#include "base/context.h"
#include "sim/body_kind.h"
#include "sim/properties.h"

NoliStatus noli_material_regions_find(NoliContext* context, const NoliBodyDef* body,
                                      NoliMaterialRegions* regions) {
  NoliStatus status = NOLI_OK;
  int32_t n = noli_body_cells(noli_body_kind(body), body->mesh).n;
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

int32_t noli_region_size(const NoliBodyDef* body, const NoliMaterialRegions* regions,
                         int32_t region) {
  return region > 0 ? body->parts[region - 1].n_element : regions->n_element;
}

NoliStatus noli_region_values(NoliContext* context, const NoliBodyDef* body,
                              const NoliMaterialRegions* regions, int32_t region, int32_t property,
                              const int32_t* index, int32_t n_index, const double* value,
                              double** values) {
  NoliStatus status = NOLI_OK;
  const NoliProperty* of = noli_property_at(property);
  NoliMaterialDef material = *noli_region_material(body, region);
  NoliMaterialFields fields = *noli_region_fields(body, region);
  const double* field = *noli_property_values(of, &fields);
  double *made = NULL, number = *noli_property_number(of, &material);
  int32_t n = noli_region_size(body, regions, region);
  *values = NULL;
  for (int32_t i = 0; i < n_index; i++) {
    if (regions->region[index[i]] != region) {
      continue;
    }
    if (made == NULL) {
      NOLI_NEW(context, made, n);
      for (int32_t e = 0; e < n; e++) {
        made[e] = field != NULL ? field[e] : number;
      }
    }
    made[regions->local[index[i]]] = value[i];
  }
  *values = made;
done:
  return status;
}
