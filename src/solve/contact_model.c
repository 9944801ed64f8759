#include "solve/contact_model.h"

#include <string.h>

const NoliContactModel* noli_contact_model_find(const char* name) {
  static const NoliContactModel* const models[] = {&noli_contact_barrier, &noli_contact_geometric,
                                                   &noli_contact_smooth};
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    if (strcmp(models[i]->name, name) == 0) {
      return models[i];
    }
  }
  return NULL;
}
