#include "base/ranks.h"
#include "base/sized.h"
#include "define/definition.h"
#include "model/model.h"

static NoliStatus measure_body(const NoliModel* model, int32_t body, double* volume, double* mass) {
  *mass = 0.0;
  for (int32_t v = model->vert_first[body]; v < model->vert_first[body + 1]; v++) {
    *mass += model->problem.inertia.weight[v];
  }
  return noli_model_rest_volume(model, body, volume);
}

NoliStatus noli_sim_measure_sized(NoliContext* context, const NoliSimDef* given,
                                  NoliSimMeasures* measures, size_t size) {
  NOLI_REQUIRE(context, context != NULL && given != NULL && measures != NULL);
  NoliStatus status = NOLI_OK;
  NoliModel* model = NULL;
  NoliSimDef* def = NULL;
  NoliSimMeasures own = {0};

  NOLI_TRY(noli_definition_take(context, given, &def));
  NOLI_TRY(noli_model_create(context, def, NULL, false, NULL, &model));
  NOLI_NEW_ZERO(context, own.volume, def->n_bodies);
  NOLI_NEW_ZERO(context, own.mass, def->n_bodies);
  own.contact_distance = model->problem.contact.dhat;
  own.box = model->problem.size.l;
  own.ball = model->problem.size.d;
  own.stick_length = model->problem.friction.sticks ? model->problem.friction.stick_length : 0.0;

  for (int32_t i = 0; i < def->n_bodies; i++) {
    if (!def->bodies[i].obstacle) {
      NOLI_TRY(measure_body(model, i, &own.volume[i], &own.mass[i]));
    }
  }
done:
  status = noli_ranks_agree(context, status);
  noli_model_destroy(&model);
  noli_definition_free(context, &def);
  if (status != NOLI_OK) {
    noli_sim_measures_free(context, &own);
  }
  noli_sized_give(measures, size, &own, sizeof own);
  return status;
}

void noli_sim_measures_free(NoliContext* context, NoliSimMeasures* measures) {
  if (measures != NULL) {
    noli_free(context, measures->volume);
    noli_free(context, measures->mass);
    measures->volume = NULL;
    measures->mass = NULL;
  }
}
