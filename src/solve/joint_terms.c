// The terms of what acts in the coordinates of joints: one type for each part, by its role. Dry
// friction has that of dampers: like theirs, and unlike that of contacts, its stiffness is always
// part of the matrix.
#include "solve/stage.h"

static NoliStatus create(void* self, NoliStage* stage, NoliCoordinatePart part) {
  NoliCoordinateEnergy* energy = self;
  *energy = (NoliCoordinateEnergy){
      .all = &stage->problem->coordinates, .step = stage->coordinates, .part = part};
  return NOLI_OK;
}

static NoliEnergyTerm list_part(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  NoliCoordinateEnergy* energy = self;
  energy->scale =
      energy->part == NOLI_COORDINATE_ARMATURE ? 1.0 : stage->time.h_e * stage->time.h_e;
  energy->h_v = stage->time.h_v;
  energy->moves = stage->time.inertia;
  return noli_coordinates_term(energy);
}

static double damping_of_joints(const void* self, const double* x0, const double* x1,
                                int32_t n_threads) {
  (void)n_threads;
  const NoliCoordinateEnergy* energy = self;
  double loss = 0.0;
  for (int32_t k = 0; k < energy->all->n; k++) {
    const NoliCoordinateStep* step = &energy->step[k];
    double turned = noli_coordinate_value(energy->all, k, x1, step->near) -
                    noli_coordinate_value(energy->all, k, x0, step->begin);
    loss += energy->all->item[k].damping * turned * turned;
  }
  return loss;
}

// ---- couplings ----------------------------------------------------------------------------------

NoliCouplingEnergy noli_stage_couplings(const NoliStage* stage) {
  return (NoliCouplingEnergy){.couplings = &stage->problem->couplings,
                              .coordinates = &stage->problem->coordinates,
                              .step = stage->coordinates,
                              .scale = stage->search.share * stage->time.h_e * stage->time.h_e};
}

static NoliEnergyTerm list_couplings(const NoliStage* stage, void* self, const NoliPoint* at) {
  (void)at;
  NoliCouplingEnergy* energy = self;
  *energy = noli_stage_couplings(stage);
  return noli_couplings_term(energy);
}

void noli_stage_track_coordinates(NoliStage* stage) {
  const NoliCoordinates* all = &stage->problem->coordinates;
  for (int32_t k = 0; k < all->n; k++) {
    double* near = &stage->coordinates[k].near;
    *near = noli_coordinate_value(all, k, stage->here->x, *near);
  }
}

#define CREATE(name, part)                                                                         \
  static NoliStatus create_##name(NoliStage* stage, void* self, int32_t index) {                   \
    (void)index;                                                                                   \
    return create(self, stage, part);                                                              \
  }
CREATE(springs, NOLI_COORDINATE_SPRING)
CREATE(motors, NOLI_COORDINATE_MOTOR)
CREATE(friction, NOLI_COORDINATE_FRICTION)
CREATE(dampers, NOLI_COORDINATE_DAMPING)
CREATE(armatures, NOLI_COORDINATE_ARMATURE)

#define TYPE(name_, role_)                                                                         \
  .name = #name_ " of joints", .role = (role_), .on_vertices = true, .in_joints = true,            \
  .size = sizeof(NoliCoordinateEnergy), .create = create_##name_, .list = list_part
const NoliTermType noli_term_joint_springs = {TYPE(springs, NOLI_ROLE_ELASTIC)};
const NoliTermType noli_term_joint_motors = {TYPE(motors, NOLI_ROLE_LOAD)};
const NoliTermType noli_term_joint_friction = {TYPE(friction, NOLI_ROLE_DRAG)};
const NoliTermType noli_term_joint_dampers = {TYPE(dampers, NOLI_ROLE_DRAG),
                                              .loss = damping_of_joints};
const NoliTermType noli_term_joint_armatures = {TYPE(armatures, NOLI_ROLE_INERTIA)};
const NoliTermType noli_term_joint_couplings = {.name = "couplings of joints",
                                                .role = NOLI_ROLE_ELASTIC,
                                                .on_vertices = true,
                                                .in_joints = true,
                                                .size = sizeof(NoliCouplingEnergy),
                                                .list = list_couplings};
