#include "solve/contact_model.h"

#include <string.h>

static const NoliContactModel* const models[] = {
    &noli_contact_barrier,          //
    &noli_contact_gcp,              //
    &noli_contact_implicit_surface, //
};
enum { N_MODELS = sizeof models / sizeof *models };

const NoliContactModel* noli_contact_model_at(int32_t index) {
  return index >= 0 && index < N_MODELS ? models[index] : NULL;
}

const NoliContactModel* noli_contact_model_find(const char* name) {
  for (int32_t i = 0; name != NULL && i < N_MODELS; i++) {
    if (strcmp(models[i]->name, name) == 0) {
      return models[i];
    }
  }
  return NULL;
}
