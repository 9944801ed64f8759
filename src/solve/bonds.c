#include "solve/bonds.h"

#include "base/profile.h"

NoliAdhesion noli_stage_adhesion(const NoliStage* stage) {
  return (NoliAdhesion){.set = &stage->adhesion.bonds,
                        .half_spaces = stage->problem->contact.half_spaces,
                        .scale = stage->time.h_e * stage->time.h_e};
}

NoliStatus noli_stage_find_bonds(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  const NoliContactSettings* contact = &problem->contact;
  NoliCandidates* candidates = &stage->adhesion.candidates;
  const NoliColliders colliders = noli_problem_colliders(problem);
  double reach = noli_adhesion_reach(&contact->pairs, contact->dhat);
  const double* x = stage->here->x;
  if (reach == 0.0 && stage->adhesion.bonds.bond.count == 0) {
    return NOLI_OK;
  }
  NoliWork before = noli_work(NOLI_WORK_CONTACTS);
  candidates->point_triangle.count = candidates->edge_edge.count = 0;
  if (reach > 0.0) {
    NOLI_TRY(noli_broad_phase_find(stage->contact.broad_phase, x, x, reach, &contact->body_pairs,
                                   candidates));
  }
  NOLI_TRY(noli_bonds_find(&stage->adhesion.bonds, stage->context, &colliders, &contact->pairs,
                           &contact->sampling, candidates, x, contact->dhat));
  noli_stage_list_terms(stage);
done:
  noli_work(before);
  return status;
}

NoliStatus noli_stage_normal_forces(const NoliStage* stage, double* force) {
  NoliStatus status = NOLI_OK;
  NoliAdhesion adhesion = noli_stage_adhesion(stage);
  noli_adhesion_forces(&adhesion, stage->here->x, force);
  NOLI_TRY(noli_stage_contact_forces(stage, force));
done:
  return status;
}
