#include "contact/contact_pairs.h"

const NoliFrictionLaw* noli_contact_pairs_law(const NoliContactPairs* pairs, int32_t a, int32_t b) {
  if (pairs == NULL || pairs->law == NULL) {
    return NULL;
  }
  const NoliFrictionLaw* law = &pairs->law[noli_pair_table_get(&pairs->number, a, b)];
  return noli_friction_law_acts(law) ? law : NULL;
}

const NoliFrictionGrain* noli_contact_pairs_grain(const NoliContactPairs* pairs, int32_t a,
                                                  int32_t b) {
  if (pairs == NULL || pairs->grain == NULL) {
    return NULL;
  }
  const NoliFrictionGrain* grain = &pairs->grain[noli_pair_table_get(&pairs->number, a, b)];
  return grain->acts ? grain : NULL;
}

const NoliAdhesionLaw* noli_contact_pairs_adhesion(const NoliContactPairs* pairs, int32_t a,
                                                   int32_t b) {
  if (pairs->adhesion == NULL) {
    return NULL;
  }
  const NoliAdhesionLaw* law = &pairs->adhesion[noli_pair_table_get(&pairs->number, a, b)];
  return law->work > 0.0 ? law : NULL;
}

bool noli_contact_pairs_rub(const NoliContactPairs* pairs) {
  const NoliPairTable* number = &pairs->number;
  int64_t n_listed = noli_pair_table_listed(number);
  // the default law counts only if some pair is not listed
  bool rub = pairs->law != NULL && n_listed < (int64_t)number->n * number->n &&
             noli_friction_law_acts(&pairs->law[number->most]);
  for (int64_t i = 0; i < n_listed && !rub; i++) {
    rub = noli_friction_law_acts(&pairs->law[number->number[i]]);
  }
  return rub;
}
