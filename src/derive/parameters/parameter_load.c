// Parameters of what acts on bodies: gravity, forces, motions, springs and closed volumes.
#include "derive/parameters/parameter_type.h"

#include <string.h>

// ---- gravity ------------------------------------------------------------------------------------

static void read_gravity(const NoliSim* sim, const NoliParameter* def, double* value) {
  (void)def;
  memcpy(value, sim->model->gravity, sizeof sim->model->gravity);
}

static NoliStatus map_gravity(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                              int32_t point, int32_t component) {
  (void)def, (void)point;
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &sim->model->problem;
  for (int64_t i = 0; i < problem->n_vert; i++) {
    NOLI_TRY(
        noli_parameter_add(self, NOLI_INPUT_LOAD, 3 * i + component, problem->inertia.weight[i]));
  }
done:
  return status;
}

static NoliStatus apply_gravity(NoliContext* context, const NoliParameter* def, const double* value,
                                NoliOwnedDefinition* definition) {
  (void)context, (void)def;
  memcpy(definition->def->gravity, value, sizeof definition->def->gravity);
  return NOLI_OK;
}

const NoliParameterType noli_parameter_gravity = {.of = NOLI_OF_SCENE,
                                                  .n_component = 3,
                                                  .read = read_gravity,
                                                  .map = map_gravity,
                                                  .apply = apply_gravity};

// ---- forces -------------------------------------------------------------------------------------

static void read_force(const NoliSim* sim, const NoliParameter* def, double* value) {
  *value = 1.0 + sim->definition.def->forces[def->of].change;
}

static NoliStatus map_force(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                            int32_t point, int32_t component) {
  (void)sim, (void)point, (void)component;
  return noli_parameter_add(self, NOLI_INPUT_FORCE, def->of, 1.0 / self->value[def->first]);
}

static NoliStatus apply_force(NoliContext* context, const NoliParameter* def, const double* value,
                              NoliOwnedDefinition* definition) {
  (void)context;
  definition->forces[def->of].change = *value - 1.0;
  return NOLI_OK;
}

const NoliParameterType noli_parameter_force = {.of = NOLI_OF_FORCE,
                                                .n_component = 1,
                                                .read = read_force,
                                                .map = map_force,
                                                .apply = apply_force};

// ---- motions ------------------------------------------------------------------------------------

static NoliMotionDef* motion_of(const NoliParameter* def, NoliOwnedDefinition* definition) {
  return &definition->motions[def->of];
}

static const char* motion_rate_defect(const NoliSim* sim, const NoliParameter* def) {
  return sim->definition.def->motions[def->of].controlled
             ? "is set from outside, and has no numbers of its own: give it a target"
             : NULL;
}

static const char* motion_defect(const NoliSim* sim, const NoliParameter* def) {
  return sim->definition.def->motions[def->of].target == NULL &&
                 !sim->definition.def->motions[def->of].controlled
             ? "holds its vertices, which no factor moves: use \"motion_velocity\""
             : motion_rate_defect(sim, def);
}

static void read_motion(const NoliSim* sim, const NoliParameter* def, double* value) {
  *value = 1.0 + sim->definition.def->motions[def->of].change;
}

static NoliStatus map_motion(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                             int32_t point, int32_t component) {
  (void)sim, (void)point, (void)component;
  int64_t first = NOLI_MOTION_NUMBERS * (int64_t)def->of;
  return noli_parameter_add(self, NOLI_INPUT_MOTION, first + NOLI_MOTION_CHANGE, 1.0);
}

static NoliStatus apply_motion(NoliContext* context, const NoliParameter* def, const double* value,
                               NoliOwnedDefinition* definition) {
  (void)context;
  motion_of(def, definition)->change = *value - 1.0;
  return NOLI_OK;
}

const NoliParameterType noli_parameter_motion = {.of = NOLI_OF_MOTION,
                                                 .n_component = 1,
                                                 .defect = motion_defect,
                                                 .read = read_motion,
                                                 .map = map_motion,
                                                 .apply = apply_motion};

// Numbers of three components: the velocity and the spin that are added.
static double* motion_rate(NoliParameterKind kind, NoliMotionDef* motion) {
  return kind == NOLI_PARAMETER_MOTION_SPIN ? motion->spin : motion->velocity;
}

static void read_motion_rate(const NoliSim* sim, const NoliParameter* def, double* value) {
  NoliMotionDef motion = sim->definition.def->motions[def->of];
  memcpy(value, motion_rate(def->kind, &motion), 3 * sizeof *value);
}

static NoliStatus map_motion_rate(NoliParameters* self, const NoliSim* sim,
                                  const NoliParameter* def, int32_t point, int32_t component) {
  (void)sim, (void)point;
  int64_t first = def->kind == NOLI_PARAMETER_MOTION_SPIN ? NOLI_MOTION_SPIN : NOLI_MOTION_VELOCITY;
  first += NOLI_MOTION_NUMBERS * (int64_t)def->of;
  return noli_parameter_add(self, NOLI_INPUT_MOTION, first + component, 1.0);
}

static NoliStatus apply_motion_rate(NoliContext* context, const NoliParameter* def,
                                    const double* value, NoliOwnedDefinition* definition) {
  (void)context;
  memcpy(motion_rate(def->kind, motion_of(def, definition)), value, 3 * sizeof *value);
  return NOLI_OK;
}

const NoliParameterType noli_parameter_motion_rate = {.of = NOLI_OF_MOTION,
                                                      .n_component = 3,
                                                      .defect = motion_rate_defect,
                                                      .read = read_motion_rate,
                                                      .map = map_motion_rate,
                                                      .apply = apply_motion_rate};

// ---- springs ------------------------------------------------------------------------------------

static const char* spring_defect(const NoliSim* sim, const NoliParameter* def) {
  const NoliSpringDef* spring = &sim->definition.def->springs[def->of];
  if (def->kind == NOLI_PARAMETER_SPRING_LENGTH && !(spring->length > 0.0)) {
    return "has no length of its own: give it one";
  }
  return def->kind == NOLI_PARAMETER_SPRING_DAMPING && !(spring->damping > 0.0)
             ? "has no damper: give it a damping"
             : NULL;
}

// The number of a spring that a kind varies.
static double* spring_number(NoliParameterKind kind, NoliSpringDef* spring) {
  return kind == NOLI_PARAMETER_SPRING_STIFFNESS ? &spring->stiffness
         : kind == NOLI_PARAMETER_SPRING_LENGTH  ? &spring->length
                                                 : &spring->damping;
}

static void read_spring(const NoliSim* sim, const NoliParameter* def, double* value) {
  NoliSpringDef spring = sim->definition.def->springs[def->of];
  *value = *spring_number(def->kind, &spring);
}

// All springs of a definition, which share stiffness and damping.
static NoliStatus map_spring(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                             int32_t point, int32_t component) {
  (void)point, (void)component;
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  static const NoliSpringNumber numbers[] = {NOLI_SPRING_STIFFNESS, NOLI_SPRING_LENGTH,
                                             NOLI_SPRING_DAMPING};
  int which = (int)def->kind - NOLI_PARAMETER_SPRING_STIFFNESS;
  const int64_t* first_of = model->problem.connection[NOLI_CONNECTION_SPRING].first;
  int64_t first = first_of[def->of], end = first_of[def->of + 1];
  double share = numbers[which] == NOLI_SPRING_LENGTH ? 1.0 : 1.0 / (double)(end - first);
  for (int64_t s = first; s < end; s++) {
    NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_SPRING, NOLI_SPRING_NUMBERS * s + numbers[which],
                                share));
  }
done:
  return status;
}

static NoliStatus apply_spring(NoliContext* context, const NoliParameter* def, const double* value,
                               NoliOwnedDefinition* definition) {
  (void)context;
  NoliSpringDef* spring = &definition->springs[def->of];
  *spring_number(def->kind, spring) = *value;
  return NOLI_OK;
}

const NoliParameterType noli_parameter_spring = {.of = NOLI_OF_SPRING,
                                                 .n_component = 1,
                                                 .defect = spring_defect,
                                                 .read = read_spring,
                                                 .map = map_spring,
                                                 .apply = apply_spring};

// ---- closed volumes -----------------------------------------------------------------------------

// The number of the only closed volume of a body; NOLI_NULL_INDEX where there are none or several.
static int32_t parameter_load_volume_of(const NoliSim* sim, int32_t body) {
  const NoliSimDef* def = sim->definition.def;
  int32_t found = NOLI_NULL_INDEX, n = 0;
  for (int32_t i = 0; i < def->n_volumes; i++) {
    found = def->volumes[i].body == body ? i : found;
    n += def->volumes[i].body == body ? 1 : 0;
  }
  return n == 1 ? found : NOLI_NULL_INDEX;
}

static const char* volume_defect(const NoliSim* sim, const NoliParameter* def) {
  return parameter_load_volume_of(sim, def->of) == NOLI_NULL_INDEX
             ? "does not have exactly one closed volume"
             : NULL;
}

static double* volume_number(NoliParameterKind kind, NoliVolumeDef* volume) {
  return kind == NOLI_PARAMETER_VOLUME_PRESSURE ? &volume->pressure : &volume->compression;
}

static void read_volume(const NoliSim* sim, const NoliParameter* def, double* value) {
  const NoliVolumeLaw* law =
      &sim->model->problem.volumes.region[parameter_load_volume_of(sim, def->of)].law;
  *value = def->kind == NOLI_PARAMETER_VOLUME_PRESSURE ? law->pressure : law->compression;
}

// The compression of a gas follows its pressure where it is not given.
static NoliStatus map_volume(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                             int32_t point, int32_t component) {
  (void)point, (void)component;
  NoliStatus status = NOLI_OK;
  int32_t volume = parameter_load_volume_of(sim, def->of);
  int64_t first = NOLI_REGION_NUMBERS * (int64_t)volume;
  double compression = sim->model->problem.volumes.region[volume].law.compression;
  bool pressure = def->kind == NOLI_PARAMETER_VOLUME_PRESSURE;
  if (pressure) {
    NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_REGION, first + NOLI_REGION_PRESSURE, 1.0));
  }
  if (!pressure || !(sim->definition.def->volumes[volume].compression > 0.0)) {
    double factor = pressure ? -compression * compression : 1.0;
    NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_REGION, first + NOLI_REGION_COMPRESSION, factor));
  }
done:
  return status;
}

static NoliStatus apply_volume(NoliContext* context, const NoliParameter* def, const double* value,
                               NoliOwnedDefinition* definition) {
  (void)context;
  for (int32_t i = 0; i < definition->def->n_volumes; i++) {
    NoliVolumeDef* volume = &definition->volumes[i];
    if (volume->body == def->of) {
      *volume_number(def->kind, volume) = *value;
    }
  }
  return NOLI_OK;
}

const NoliParameterType noli_parameter_volume = {.of = NOLI_OF_BODY,
                                                 .n_component = 1,
                                                 .defect = volume_defect,
                                                 .read = read_volume,
                                                 .map = map_volume,
                                                 .apply = apply_volume};
