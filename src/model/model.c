#include "model/model.h"

#include "base/ranks.h"
#include "base/validate.h"
#include "linalg/solver.h"
#include "collide/ccd.h"
#include "fem/blocks/block_rigid.h"
#include "fem/loads/joint_constraints.h"
#include "fem/own_stencils.h"
#include "math/smallest_ball.h"
#include "math/vec3.h"
#include "noli/extend.h"
#include "model/bodies.h"
#include "model/clearance.h"
#include "model/convergent_build.h"
#include "define/connection.h"
#include "define/definition.h"
#include "model/connections/bindings.h"
#include "model/connections/joint_coordinates.h"
#include "model/face_loads.h"
#include "model/gcp_build.h"
#include "model/rank_parts.h"
#include "model/sampling.h"
#include "model/sheets.h"
#include "model/regions.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

// Largest rounding error allowed, as a fraction of the contact distance and of edges.
#define COARSEST 0.01

// A relative tolerance is relative to the size of the scene per second, or, if larger, to this
// fraction of the largest speed: small fast bodies need no more digits than large ones.
#define SPEED_SHARE 1e-4
// The smallest contact distance of a pair over that of the scene; its inverse is the largest.
#define RANGE_MIN 1e-3

// Default of the residual force on a body, relative to the force that acts on it. With inertia the
// next step makes up for what is left of it.
#define IMBALANCE_OF_STATICS 1e-3
#define IMBALANCE_OF_DYNAMICS 1e-2

// Stiffness of rigid bodies over the inertia of a step.
#define STIFF 4e6

static NoliStatus copy_names(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW_ZERO(model->context, model->name, model->n_entity);
  for (int32_t e = 0; e < model->n_entity; e++) {
    const char* given =
        e < model->n_body ? def->bodies[e].name : def->half_spaces[e - model->n_body].name;
    char numbered[32];
    if (given == NULL) {
      snprintf(numbered, sizeof numbered, "%s %d", e < model->n_body ? "body" : "half_space", e);
    }
    model->name[e] = noli_strdup(model->context, given != NULL ? given : numbered);
    NOLI_CHECK(model->context, model->name[e] != NULL, NOLI_ERROR_MEMORY, "out of memory");
  }
done:
  return status;
}

// Rest data of all elements.
static NoliStatus build_elements(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  for (int32_t b = 0; b < model->n_body; b++) {
    NoliBlockRange range = problem->range[b];
    if (!model->obstacle[b] && problem->block[range.block].type->set_rest != NULL) {
      NoliBlock* block = &problem->block[range.block];
      status = block->type->set_rest(block, range.begin, range.end, range.first, problem->X,
                                     def->bodies[b].plane_strain);
      NOLI_TRY(
          noli_definition_locate_body(model->context, &def->bodies[b], model->name[b], status));
    }
  }

  for (int32_t i = 0; i < problem->n_block; i++) {
    NoliBlock* block = &problem->block[i];
    NOLI_TRY(block->type->finish(block));
    NOLI_TRY(noli_own_stencils_list(block));
    if (block->divided) {
      int64_t damped = noli_block_is_damped(block) ? 1 : 0;
      NOLI_TRY(noli_ranks_largest(model->context, &damped));
      block->damped_elsewhere = damped != 0;
    }
  }
done:
  return status;
}

// Whether terms of single nodes list a node on this rank: where ranks have parts, its owner does,
// which has its row of the matrix.
static bool lists(const NoliModel* model, int32_t node) {
  return !model->problem.ranks.in_parts ||
         model->problem.ranks.owner[node] == noli_rank(model->context);
}

// Masses of nodes, and the nodes with inertia of their own; unused nodes and obstacles get the
// mean.
static NoliStatus build_masses(NoliModel* model) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliProblem* problem = &model->problem;
  NOLI_NEW_ZERO(context, problem->inertia.mass, problem->n_vert);
  NOLI_NEW_ZERO(context, problem->inertia.weight, problem->n_vert);
  NOLI_NEW(context, problem->inertia.vert, problem->n_vert);
  NOLI_NEW(context, problem->inertia.lumped, problem->n_vert);
  NOLI_NEW(context, problem->inertia.own_lumped, problem->n_vert);
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    if (noli_model_counts(model, block)) {
      block->type->add_mass(block, problem->inertia.mass);
    }
  }
  NOLI_TRY(noli_model_gather(model, sizeof *problem->inertia.mass, problem->inertia.mass,
                             problem->n_vert));

  // nodes with a mass, and those of them whose mass is lumped
  double total = 0.0;
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBlock* block = noli_problem_block(problem, b);
    bool lumped = block != NULL && block->n_consistent == 0;
    for (int32_t i = model->vert_first[b]; i < model->vert_first[b + 1]; i++) {
      if (problem->inertia.mass[i] > 0.0) {
        problem->inertia.vert[problem->inertia.n_vert++] = i;
        total += problem->inertia.mass[i];
      }
      if (problem->inertia.mass[i] > 0.0 && lumped) {
        problem->inertia.lumped[problem->inertia.n_lumped++] = i;
        if (lists(model, i)) {
          problem->inertia.own_lumped[problem->inertia.n_own_lumped++] = i;
        }
      }
    }
  }

  // contributions to the momentum: masses, or row sums of matrices
  problem->inertia.mean_mass = problem->inertia.n_vert > 0 ? total / problem->inertia.n_vert : 1.0;
  for (int32_t i = 0; i < problem->n_vert; i++) {
    problem->inertia.mass[i] =
        problem->inertia.mass[i] > 0.0 ? problem->inertia.mass[i] : problem->inertia.mean_mass;
    problem->inertia.weight[i] = i < problem->n_node ? problem->inertia.mass[i] : 0.0;
  }
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    if (block->n_consistent > 0) {
      block->type->set_weight(block, problem->inertia.weight);
    }
    for (int32_t k = 0; k < block->n_angle; k++) {
      problem->inertia.weight[block->first_angle + k] = 0.0;
    }
  }
done:
  return status;
}

// Mass damping of each lumped mass; bodies share no node.
static NoliStatus build_drag(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  NOLI_NEW_ZERO(model->context, problem->inertia.drag, problem->n_vert);
  NOLI_NEW(model->context, problem->inertia.drag_vert, problem->inertia.n_lumped);
  for (int32_t b = 0, next = 0; b < model->n_body; b++) {
    double rate = def->bodies[b].material.mass_damping;
    for (; next < problem->inertia.n_lumped &&
           problem->inertia.lumped[next] < model->vert_first[b + 1];
         next++) {
      int32_t node = problem->inertia.lumped[next];
      problem->inertia.drag[node] = rate * problem->inertia.mass[node];
      if (rate > 0.0 && lists(model, node)) {
        problem->inertia.drag_vert[problem->inertia.n_drag++] = node;
      }
    }
  }
done:
  return status;
}

// h_e without inertia: its square is the mean over the volume of density times size^2 over the
// stiffness against pressure waves. Masses are then of the order of h_e^2 times stiffnesses, as in
// a dynamic simulation, and quantities relative to masses (the barrier's stiffness, springs) are
// well scaled.
static NoliStatus set_static_time(NoliModel* model) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  double sum[2] = {0.0, 0.0}; // and the volume
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    if (noli_model_counts(model, block) && block->type != &noli_block_rigid) {
      sum[0] += noli_block_wave_time_sqr(block);
      sum[1] += noli_block_rest_volume(block, 0, block->n_element);
    }
  }
  NOLI_TRY(noli_model_gather(model, sizeof sum, sum, 1));
  problem->inertia.static_time = sum[0] > 0.0 ? sqrt(sum[0] / sum[1]) : 1.0;
done:
  return status;
}

// A joint resists a motion of its bodies against each other as the larger of them would a stretch.
static void stiffen_joints(NoliProblem* problem, double time, double gravity) {
  NoliJointConstraints* joints = problem->connection[NOLI_CONNECTION_CONSTRAINTS].data;
  for (int32_t s = 0; joints != NULL && s < joints->n; s++) {
    double rate = fmax(1.0 / (time * time), gravity / joints->size[s]);
    joints->stiffness[s] = 8.0 * STIFF * joints->borne[s] * rate;
  }
}

// Stiffness of rigid bodies, and of limits of joints: about STIFF times what a step gives their
// masses to do, so that their stretch is below 1e-6 unless something moves them by more than their
// size in a step. Gravity alone, as in long steps and without inertia, stretches no body by more
// than that either.
void noli_model_stiffen_rigid(NoliModel* model) {
  NoliProblem* problem = &model->problem;
  double time = model->integrator->quasi_static ? problem->inertia.static_time : model->h;
  double gravity = noli_norm3(noli_load3(model->gravity));
  for (int32_t i = 0; i < problem->n_block; i++) {
    NoliBlock* block = &problem->block[i];
    for (int32_t e = 0; block->type == &noli_block_rigid && e < block->n_element; e++) {
      double radius_sqr = noli_rigid_radius_sqr(block, e);
      double rate = fmax(1.0 / (time * time), gravity / sqrt(radius_sqr));
      noli_rigid_set_stiffness(block, e, STIFF * noli_rigid_borne(block, e) * radius_sqr * rate);
    }
  }
  stiffen_joints(problem, time, gravity);
  noli_coordinates_stiffen(&problem->coordinates, time, gravity);
  noli_couplings_stiffen(&problem->couplings, &problem->coordinates, 8.0 * STIFF, time, gravity);
}

NoliSceneSize noli_model_size(const NoliModel* model, const double* X) {
  NoliVec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
  NoliBall ball = noli_ball_empty();
  bool any = model->problem.inertia.n_vert > 0, grows = true;
  for (int pass = 0; grows; pass++) {
    grows = false;
    for (int32_t b = 0; b < model->n_body; b++) {
      const double* own = X + 3 * (int64_t)noli_model_vertex(model, b, 0);
      int32_t n = noli_model_vertex_count(model, b);
      if (any && model->obstacle[b]) {
        continue;
      }
      grows = noli_ball_include(&ball, n, own) || grows;
      for (int32_t i = 0; pass == 0 && i < n; i++) {
        low = noli_min3(low, noli_load3(own + 3 * (int64_t)i));
        high = noli_max3(high, noli_load3(own + 3 * (int64_t)i));
      }
    }
  }
  return (NoliSceneSize){.l = noli_norm3(noli_sub3(high, low)), .d = 2.0 * fmax(0.0, ball.radius)};
}

double noli_resolve(NoliScaled scaled, const NoliSceneSize* size) {
  const double unit[] = {[NOLI_ABSOLUTE] = 1.0, [NOLI_OF_BOX] = size->l, [NOLI_OF_BALL] = size->d};
  return scaled.value * unit[scaled.relative];
}

// Where the coefficients of a pair depend on a direction, its law acts with the larger one, and the
// static one in proportion.
static void set_direction(const NoliPairDef* pair, NoliFrictionLaw* law, NoliFrictionGrain* grain) {
  NoliVec3 axis = noli_load3(pair->direction);
  double along = pair->friction, across = pair->friction_across, most = fmax(along, across);
  memset(grain, 0, sizeof *grain);
  if (noli_norm3(axis) == 0.0 || along == across) {
    return;
  }
  grain->acts = true;
  grain->entity = pair->a;
  grain->factor[0] = along / most;
  grain->factor[1] = across / most;
  noli_store3(grain->axis, noli_normalize3(axis));
  law->mu_s = along > 0.0 ? law->mu_s * (most / along) : most;
  law->mu_d = most;
}

// The friction law of a pair. Speeds can be compared only after the size of the scene is known;
// `where` starts the message.
static NoliStatus make_law(NoliModel* model, const NoliSimDef* def, const char* where,
                           const NoliPairDef* pair, NoliFrictionLaw* law,
                           NoliFrictionGrain* grain) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  NoliScaled given = pair->stribeck_speed.value > 0.0 ? pair->stribeck_speed : def->stribeck_speed;
  *law = (NoliFrictionLaw){.mu_d = pair->friction,
                           .mu_s =
                               pair->static_friction > 0.0 ? pair->static_friction : pair->friction,
                           .v_s = given.value > 0.0 ? noli_resolve(given, &problem->size)
                                                    : 10.0 * problem->friction.speed,
                           .mu_v = pair->viscosity};
  set_direction(pair, law, grain);
  NOLI_CHECK(
      model->context, law->mu_s == law->mu_d || law->v_s > problem->friction.speed,
      NOLI_ERROR_ARGUMENT,
      "%sthe Stribeck speed, %g m/s, must be above the speed that counts as sticking, %g m/s",
      where, law->v_s, problem->friction.speed);
done:
  return status;
}

// The contact distance of a pair over that of the scene.
static NoliStatus make_range(NoliModel* model, const NoliSimDef* def, int32_t index,
                             double* range) {
  NoliStatus status = NOLI_OK;
  const NoliPairDef* pair = &def->pairs[index];
  const NoliProblem* problem = &model->problem;
  double given = noli_resolve(pair->distance, &problem->size);
  *range = given > 0.0 ? given / problem->contact.dhat : 1.0;
  NOLI_CHECK(model->context, *range == 1.0 || problem->contact.model->ranges, NOLI_ERROR_ARGUMENT,
             "pair %d, \"%s\" and \"%s\": the contact model \"%s\" has one contact distance for "
             "all pairs, %g m: leave the distance of the pair out, or choose \"ipc\"",
             (int)index, model->name[pair->a], model->name[pair->b], problem->contact.model->name,
             problem->contact.dhat);
  NOLI_CHECK(model->context, *range >= RANGE_MIN && *range <= 1.0 / RANGE_MIN, NOLI_ERROR_ARGUMENT,
             "pair %d, \"%s\" and \"%s\": a contact distance of %g m differs from that of the "
             "scene, %g m, by more than a factor of %g",
             (int)index, model->name[pair->a], model->name[pair->b], given, problem->contact.dhat,
             1.0 / RANGE_MIN);
done:
  return status;
}

double noli_model_adhesion_range(const NoliModel* model, const NoliSimDef* def,
                                 const NoliPairDef* pair, double distance) {
  NoliScaled given = pair->adhesion_range.value > 0.0 ? pair->adhesion_range : def->adhesion_range;
  double own = noli_resolve(given, &model->problem.size);
  return own > 0.0 ? own : distance;
}

// How a pair adheres, whose contact distance is `range` times that of the scene.
static NoliAdhesionLaw make_adhesion(const NoliModel* model, const NoliSimDef* def,
                                     const NoliPairDef* pair, double range) {
  double distance = range * model->problem.contact.dhat;
  return (NoliAdhesionLaw){.work = pair->adhesion,
                           .range = noli_model_adhesion_range(model, def, pair, distance)};
}

// Takes the ranges (n), unless all are 1.
static void take_ranges(NoliBodyPairs* pairs, double** range, int64_t n) {
  bool any = false;
  pairs->largest_range = 1.0;
  for (int64_t i = 0; i < n; i++) {
    any = any || (*range)[i] != 1.0;
    pairs->largest_range = fmax(pairs->largest_range, (*range)[i]);
  }
  pairs->range = any ? *range : NULL;
  *range = any ? NULL : *range;
}

void noli_model_set_tolerance(NoliModel* model, NoliScaled tolerance) {
  NoliProblem* problem = &model->problem;
  problem->solver.tolerance = noli_resolve(tolerance, &problem->size);
  problem->solver.speed_share = tolerance.relative ? SPEED_SHARE * tolerance.value : 0.0;
}

// The friction law and the contact distance of each pair: law 0 by default, then those of pairs.
NoliStatus noli_model_set_pairs(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliPairTable number = {0};
  NOLI_ARRAY(NoliFrictionLaw) laws = {0};
  NOLI_ARRAY(NoliFrictionGrain) grains = {0};
  NOLI_ARRAY(NoliAdhesionLaw) adhesions = {0};
  NOLI_ARRAY(double) range = {0};
  NoliFrictionLaw law;
  NoliFrictionGrain grain;
  NoliAdhesionLaw adhesion;
  bool has_grain = false, adheres;
  NoliPairNumber* exception = NULL;
  NOLI_NEW(model->context, exception, def->n_pairs);
  const NoliPairDef most = {.friction = def->friction,
                            .static_friction = def->static_friction,
                            .viscosity = def->viscosity,
                            .adhesion = def->adhesion,
                            .adhesion_range = def->adhesion_range};
  NOLI_TRY(make_law(model, def, "friction: ", &most, &law, &grain));
  NOLI_PUSH(model->context, &laws, law);
  NOLI_PUSH(model->context, &grains, grain);
  NOLI_PUSH(model->context, &range, 1.0);
  adhesion = make_adhesion(model, def, &most, 1.0);
  NOLI_PUSH(model->context, &adhesions, adhesion);
  adheres = adhesion.work > 0.0;
  for (int32_t i = 0; i < def->n_pairs; i++) {
    const NoliPairDef* pair = &def->pairs[i];
    double own = 1.0;
    char where[32];
    snprintf(where, sizeof where, "pair %d: ", i);
    status = make_law(model, def, where, pair, &law, &grain);
    status = status == NOLI_OK ? make_range(model, def, i, &own) : status;
    NOLI_TRY(noli_fail_at(model->context, pair->where, status));
    adhesion = make_adhesion(model, def, pair, own);
    // one entry of a scene makes many consecutive equal pairs
    if (memcmp(&law, &laws.data[laws.count - 1], sizeof law) != 0 ||
        memcmp(&grain, &grains.data[grains.count - 1], sizeof grain) != 0 ||
        memcmp(&adhesion, &adhesions.data[adhesions.count - 1], sizeof adhesion) != 0 ||
        own != range.data[range.count - 1]) {
      NOLI_PUSH(model->context, &laws, law);
      NOLI_PUSH(model->context, &grains, grain);
      NOLI_PUSH(model->context, &adhesions, adhesion);
      NOLI_PUSH(model->context, &range, own);
    }
    exception[i] = (NoliPairNumber){pair->a, pair->b, (int32_t)laws.count - 1};
    has_grain = has_grain || grain.acts;
    adheres = adheres || adhesion.work > 0.0;
  }
  if (adheres) {
    NOLI_TRY(noli_sampling_build(model, def));
  }
  NOLI_TRY(
      noli_pair_table_build(model->context, model->n_entity, 0, def->n_pairs, exception, &number));

  // replace the former laws
  NoliContactPairs* pairs = &model->problem.contact.pairs;
  NoliBodyPairs* touch = &model->problem.contact.body_pairs;
  noli_pair_table_free(model->context, &pairs->number);
  noli_free(model->context, pairs->law);
  noli_free(model->context, pairs->grain);
  noli_free(model->context, pairs->adhesion);
  noli_free(model->context, touch->range);
  pairs->number = number;
  pairs->law = laws.data;
  pairs->grain = has_grain ? grains.data : NULL;
  grains.data = has_grain ? NULL : grains.data;
  pairs->adhesion = adheres ? adhesions.data : NULL;
  adhesions.data = adheres ? NULL : adhesions.data;
  touch->range_number = &pairs->number;
  take_ranges(touch, &range.data, range.count);
  number = (NoliPairTable){0};
  laws.data = NULL;
  model->problem.friction.acts = noli_contact_pairs_rub(pairs);
done:
  noli_pair_table_free(model->context, &number);
  noli_free(model->context, laws.data);
  noli_free(model->context, grains.data);
  noli_free(model->context, adhesions.data);
  noli_free(model->context, range.data);
  noli_free(model->context, exception);
  return status;
}

// Which entities collide: defaults, then exceptions. Immobile entities do not collide with each
// other.
static NoliStatus build_body_pairs(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliBodyPairs* pairs = &model->problem.contact.body_pairs;
  NoliPairNumber* exception = NULL;
  uint8_t* self = NULL;
  int64_t n_exceptions = 0;
  *pairs = (NoliBodyPairs){.n_body = model->n_body, .still = model->obstacle};
  NOLI_NEW(context, self, model->n_body);
  pairs->self = self;
  NOLI_NEW(context, exception, (int64_t)def->n_pairs + def->n_joints);

  // joined bodies do not collide, unless they or pairs say so
  for (int32_t i = 0; i < def->n_joints; i++) {
    const NoliJointDef* joint = &def->joints[i];
    if (joint->to != NOLI_NULL_INDEX && !joint->contact) {
      exception[n_exceptions++] = (NoliPairNumber){joint->body, joint->to, 0};
    }
  }

  // bodies with themselves, where their parts move against each other
  for (int32_t b = 0; b < model->n_body; b++) {
    bool deforms = !model->obstacle[b] && !model->carried[b];
    self[b] = def->contact && def->bodies[b].self_contact && deforms;
  }
  for (int32_t i = 0; i < def->n_pairs; i++) {
    const NoliPairDef* pair = &def->pairs[i];
    if (pair->a != pair->b) {
      exception[n_exceptions++] = (NoliPairNumber){pair->a, pair->b, pair->contact};
    } else if (pair->a < model->n_body) {
      self[pair->a] = pair->contact && !model->obstacle[pair->a] && !model->carried[pair->a];
    }
  }

  // and with each other
  NOLI_TRY(noli_pair_table_build(context, model->n_entity, def->contact, n_exceptions, exception,
                                 &pairs->others));
done:
  noli_free(context, exception);
  return status;
}

static NoliStatus build_contact(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  NOLI_TRY(build_body_pairs(model, def));
  problem->contact.pairs =
      (NoliContactPairs){.n_body = model->n_body, .touch = &problem->contact.body_pairs};
  NOLI_NEW(model->context, problem->contact.half_spaces, def->n_half_spaces);
  problem->contact.n_half_spaces = def->n_half_spaces;
  for (int32_t i = 0; i < def->n_half_spaces; i++) {
    const NoliHalfSpaceDef* given = &def->half_spaces[i];
    NoliVec3 origin = noli_load3(given->origin);
    NoliVec3 normal = noli_normalize3(noli_load3(given->normal));
    if (given->contact_offset > 0.0) {
      origin = noli_mul_add3(origin, given->contact_offset, normal);
    }
    problem->contact.half_spaces[i] = (NoliHalfSpace){origin, normal};
  }
done:
  return status;
}

static void set_velocities(NoliModel* model, const NoliSimDef* def) {
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    // centre of mass
    NoliVec3 centre = {0};
    double mass = 0.0;
    for (int32_t i = model->vert_first[b]; i < model->vert_first[b + 1]; i++) {
      centre = noli_mul_add3(centre, model->problem.inertia.weight[i],
                             noli_load3(&model->x0[3 * (int64_t)i]));
      mass += model->problem.inertia.weight[i];
    }
    centre = noli_scale3(mass > 0.0 ? 1.0 / mass : 0.0, centre);
    // v + omega x (x - c)
    int32_t end = model->vert_first[b + 1] - noli_model_angle_count(model, b);
    for (int32_t i = model->vert_first[b]; !body->obstacle && i < end; i++) {
      NoliVec3 arm = noli_sub3(noli_load3(&model->x0[3 * (int64_t)i]), centre);
      NoliVec3 v = noli_add3(noli_load3(body->velocity),
                             noli_cross3(noli_load3(body->angular_velocity), arm));
      noli_store3(&model->v0[3 * (int64_t)i], v);
    }
  }
  noli_followers_move_vectors(&model->problem.followers, noli_context_threads(model->context),
                              model->v0);
}

NoliStatus noli_model_list_vertices(const NoliModel* model, const char* where, int32_t body,
                                    const int32_t* node, int32_t n_node, int32_t** vertex,
                                    int32_t* n_vertex) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  int32_t n_all = noli_model_vertex_count(model, body);
  NOLI_CHECK(context, node == NULL || n_node > 0, NOLI_ERROR_ARGUMENT,
             "%sno vertices of body \"%s\" are selected", where, model->name[body]);
  *n_vertex = node != NULL ? n_node : n_all;
  NOLI_NEW(context, *vertex, *n_vertex);
  for (int32_t i = 0; i < *n_vertex; i++) {
    int32_t local = node != NULL ? node[i] : i;
    NOLI_CHECK(context, local >= 0 && local < n_all, NOLI_ERROR_ARGUMENT,
               "%sbody \"%s\" has no vertex %d", where, model->name[body], (int)local);
    (*vertex)[i] = noli_model_vertex(model, body, local);
  }
done:
  return status;
}

// Lists the nodes of a body that are positions, or the given ones, by their numbers in the body.
static NoliStatus copy_nodes(NoliModel* model, int32_t body, const int32_t* node, int32_t n_node,
                             int32_t** copy, int32_t* n_copy) {
  NoliStatus status = NOLI_OK;
  int32_t n_all = model->vert_first[body + 1] - model->vert_first[body];
  for (int32_t i = 0; node != NULL && i < n_node; i++) {
    NOLI_CHECK(model->context, node[i] >= 0 && node[i] < n_all, NOLI_ERROR_ARGUMENT,
               "body \"%s\" has no node %d", model->name[body], node[i]);
  }
  *n_copy = node != NULL ? n_node : n_all - noli_model_angle_count(model, body);
  NOLI_NEW(model->context, *copy, *n_copy);
  for (int32_t i = 0; i < *n_copy; i++) {
    (*copy)[i] = node != NULL ? node[i] : i;
  }
done:
  return status;
}

// The nodes that a motion prescribes: of a body that is carried all or none.
static NoliStatus copy_moved(NoliModel* model, const NoliMotionDef* def, NoliMotion* motion) {
  NoliStatus status = NOLI_OK;
  const int32_t* node = def->node;
  bool* given = NULL;
  int32_t n = model->carried[def->body] ? noli_model_vertex_count(model, def->body) : 0,
          n_given = 0;
  NOLI_NEW_ZERO(model->context, given, n);
  for (int32_t i = 0; n > 0 && node != NULL && i < def->n_node; i++) {
    NOLI_CHECK(model->context, node[i] < n, NOLI_ERROR_ARGUMENT, "body \"%s\" has no vertex %d",
               model->name[def->body], (int)node[i]);
    n_given += given[node[i]] ? 0 : 1;
    given[node[i]] = true;
  }
  NOLI_CHECK(model->context, n == 0 || node == NULL || n_given == n, NOLI_ERROR_ARGUMENT,
             "%s%sbody \"%s\" is rigid: a motion prescribes all of it, not %d of its %d vertices",
             def->where != NULL ? def->where : "", def->where != NULL ? ": " : "",
             model->name[def->body], (int)n_given, (int)n);
  NOLI_TRY(copy_nodes(model, def->body, n > 0 ? NULL : node, def->n_node, &motion->node,
                      &motion->n_node));
done:
  noli_free(model->context, given);
  return status;
}

static NoliStatus copy_motions(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NOLI_NEW_ZERO(context, model->motion, def->n_motions);

  for (int32_t m = 0; m < def->n_motions; m++) {
    NoliMotion* motion = &model->motion[model->n_motion++];
    motion->def = def->motions[m];
    motion->calls = model->calls;
    motion->end = motion->def.ends_beyond ? model->n_ends++ : NOLI_NULL_INDEX;
    int32_t body = motion->def.body;
    NOLI_TRY(copy_moved(model, &def->motions[m], motion));
    motion->def.node = NULL;
    motion->def.name = NULL;
    NOLI_NEW(context, motion->X, 3 * (int64_t)motion->n_node);
    for (int32_t i = 0; i < motion->n_node; i++) {
      int64_t node = model->vert_first[body] + motion->node[i];
      memcpy(&motion->X[3 * i], &model->problem.X[3 * node], 3 * sizeof(double));
    }
  }
done:
  return status;
}

// The vertices that a force acts on. Bodies that are carried have their mass at their nodes, and
// their faces between the vertices of the host.
static NoliStatus copy_loaded(NoliModel* model, const NoliForceDef* def, NoliForce* force) {
  NoliStatus status = NOLI_OK;
  bool on_faces = force->kind == NOLI_FORCE_TRACTION || force->kind == NOLI_FORCE_PRESSURE;
  if (model->carried[def->body] && (def->node != NULL || on_faces)) {
    NOLI_CHECK(model->context, force->kind != NOLI_FORCE_ACCELERATION, NOLI_ERROR_ARGUMENT,
               "%s%sbody \"%s\" is rigid: an acceleration acts on all of it; leave out the "
               "vertices",
               def->where != NULL ? def->where : "", def->where != NULL ? ": " : "",
               model->name[def->body]);
    return noli_model_list_vertices(model, "", def->body, def->node, def->n_node, &force->node,
                                    &force->n_node);
  }
  NOLI_TRY(copy_nodes(model, def->body, def->node, def->n_node, &force->node, &force->n_node));
  for (int32_t i = 0; i < force->n_node; i++) {
    force->node[i] += model->vert_first[def->body];
  }
done:
  return status;
}

static NoliStatus copy_forces(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW_ZERO(model->context, model->force, def->n_forces);
  for (int32_t f = 0; f < def->n_forces; f++) {
    NoliForce* force = &model->force[model->n_force++];
    force->def = def->forces[f];
    force->kind = (NoliForceKind)noli_names_index(&noli_force_names, force->def.kind);
    NOLI_TRY(copy_loaded(model, &def->forces[f], force));
    force->def.node = NULL;
    force->def.name = NULL;
    for (int32_t i = 0; i < force->n_node; i++) {
      force->total_mass += model->problem.inertia.mass[force->node[i]];
    }
    if (force->kind == NOLI_FORCE_TRACTION || force->kind == NOLI_FORCE_PRESSURE) {
      NOLI_TRY(noli_face_loads_build(model, def, f));
    }
    force->def.where = NULL;
  }
done:
  return status;
}

// The shortest edge of a body's surface at rest.
static double shortest_edge(const NoliProblem* problem, int32_t body) {
  const NoliSurface* surface = problem->surface;
  double shortest = INFINITY;
  for (int64_t e = surface->edge_first[body]; e < surface->edge_first[body + 1]; e++) {
    NoliVec3 a = noli_load3(&problem->X[3 * (int64_t)surface->edge[2 * e]]);
    NoliVec3 b = noli_load3(&problem->X[3 * (int64_t)surface->edge[2 * e + 1]]);
    double length = noli_norm3(noli_sub3(a, b));
    shortest = length > 0.0 ? fmin(shortest, length) : shortest; // points have no length
  }
  return shortest;
}

// Far from the origin, coordinates are too coarse for gaps and strains; later failures would not
// name this cause.
static NoliStatus check_rounding(const NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &model->problem;
  const char* where = NULL;
  for (int32_t b = 0; b < model->n_body; b++) {
    where = def->bodies[b].where;
    double largest = noli_surface_offset_of(problem->surface, b);
    double edge = shortest_edge(problem, b);
    for (int64_t i = 3 * (int64_t)model->vert_first[b]; i < 3 * (int64_t)model->vert_first[b + 1];
         i++) {
      largest = fmax(largest, fabs(problem->X[i]));
    }
    double rounding = DBL_EPSILON * largest;
    bool fine_gaps = !def->contact || rounding <= COARSEST * problem->contact.dhat;
    NOLI_CHECK(
        model->context, fine_gaps && rounding <= COARSEST * edge, NOLI_ERROR_ARGUMENT,
        "body \"%s\": coordinates of %.3g m are rounded to %.2g m, too coarse for %s of %.2g "
        "m; move everything towards the origin",
        model->name[b], largest, rounding, fine_gaps ? "edges" : "the contact distance",
        fine_gaps ? edge : problem->contact.dhat);
  }
done:
  return noli_fail_at(model->context, where, status);
}

// The solver and its termination criterion.
static void set_method(NoliModel* model, const NoliSimDef* def) {
  NoliProblem* problem = &model->problem;
  problem->friction.implicit = noli_definition_has_implicit_friction(def);
  problem->friction.basis_derivatives = def->friction_basis_derivatives;
  problem->solver.max_substeps = def->max_substeps;
  model->problem.solver.method =
      noli_solver_method_find(def->solver != NULL          ? def->solver
                              : problem->friction.implicit ? "implicit_newton"
                                                           : "projected_newton");
  problem->contact.model = model->problem.solver.method->contact != NULL
                               ? model->problem.solver.method->contact
                               : noli_contact_model_find(def->contact_model);
  problem->solver.toi_termination =
      def->termination != NULL
          ? noli_names_index(&noli_termination_names, def->termination) == NOLI_TERMINATION_TOI
          : model->problem.solver.method->toi_termination;
  problem->solver.toi_tolerance = def->toi_tolerance;
  problem->solver.imbalance_allowed = def->imbalance > 0.0              ? def->imbalance
                                      : model->integrator->quasi_static ? IMBALANCE_OF_STATICS
                                                                        : IMBALANCE_OF_DYNAMICS;
  problem->solver.min_iterations = def->min_iterations;
  problem->solver.augmented_lagrangian = def->augmented_lagrangian;
}

// Sizes, names, bodies with their elements and masses, contact.
static NoliStatus build_bodies(NoliModel* model, const NoliSimDef* def, bool divide) {
  NoliStatus status = NOLI_OK;
  model->n_body = def->n_bodies;
  model->n_entity = def->n_bodies + def->n_half_spaces;
  model->h = def->time_step;
  model->increments = def->increments;
  if (def->increments.smallest == 0.0) {
    model->increments.smallest = 1e-3 * def->increments.initial;
  }
  model->audit = (NoliAudit)noli_names_index(&noli_audit_names, def->audit);
  memcpy(model->gravity, def->gravity, sizeof model->gravity);
  model->integrator = noli_integrator_find(def->integrator);
  NOLI_TRY(copy_names(model, def));
  NOLI_TRY(noli_bodies_build(model, def, divide));
  NOLI_TRY(build_elements(model, def));
  NOLI_TRY(build_masses(model));
  NOLI_TRY(build_drag(model, def));
  NOLI_TRY(set_static_time(model));
  NOLI_TRY(noli_regions_build(model, def));
  NOLI_TRY(build_contact(model, def));
  model->problem.size = noli_model_size(model, model->problem.X);
done:
  return status;
}

// Nodes that follow others move with these: no motion may prescribe them.
static NoliStatus check_followers(const NoliModel* model) {
  NoliStatus status = NOLI_OK;
  const char* where = NULL;
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotion* motion = &model->motion[m];
    where = motion->def.where;
    int32_t body = motion->def.body;
    for (int32_t i = 0; i < motion->n_node; i++) {
      int32_t node = model->vert_first[body] + motion->node[i];
      int32_t follower = noli_followers_find(&model->problem.followers, node);
      const char* noun = follower != NOLI_NULL_INDEX
                             ? noli_connection_list(model->bound[follower].kind)->noun
                             : "";
      NOLI_CHECK(model->context, follower == NOLI_NULL_INDEX, NOLI_ERROR_ARGUMENT,
                 "motion %d prescribes vertex %d of \"%s\", which a %s binds: leave out the %s of "
                 "this vertex, or its motion",
                 m, (int)motion->node[i], model->name[body], noun, noun);
    }
  }
done:
  return noli_fail_at(model->context, where, status);
}

// Makes nodes followers, as connections of all types bind them.
static NoliStatus bind(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliBindings bindings;
  NOLI_TRY(noli_bindings_begin(model, def, &bindings));
  for (int32_t kind = 0; kind < NOLI_CONNECTION_KINDS; kind++) {
    const NoliConnectionType* type = noli_connection_list(kind)->type;
    if (type->bind != NULL && noli_connection_count(kind, def) > 0) {
      NOLI_TRY(type->bind(model, def, &bindings));
    }
  }
  NOLI_TRY(noli_bindings_finish(&bindings));
done:
  noli_bindings_free(&bindings);
  return status;
}

static NoliStatus add_forces(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  for (int32_t kind = 0; kind < NOLI_CONNECTION_KINDS; kind++) {
    const NoliConnectionType* type = noli_connection_list(kind)->type;
    if (type->add_forces != NULL && noli_connection_count(kind, def) > 0) {
      NOLI_TRY(type->add_forces(model, def));
    }
  }
done:
  return status;
}

// Connections, start velocities, motions, loads.
static NoliStatus build_conditions(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(bind(model, def));
  NOLI_NEW_ZERO(model->context, model->v0, 3 * (int64_t)model->problem.n_vert);
  set_velocities(model, def);
  NOLI_TRY(copy_motions(model, def));
  NOLI_TRY(check_followers(model));
  NOLI_TRY(copy_forces(model, def));
  NOLI_TRY(add_forces(model, def));
  NOLI_TRY(noli_model_add_coordinates(model, def));
done:
  return status;
}

// Whether contacts stick, and the length at which they yield: as stiff as friction that depends on
// the velocity, by default.
static void set_sticking(NoliModel* model, const NoliSimDef* def) {
  NoliFrictionSettings* friction = &model->problem.friction;
  double time = model->integrator->quasi_static ? NOLI_STATIC_TOLERANCE_TIME : model->h;
  friction->speed_scale = friction->speed;
  friction->sticks = noli_definition_sticks(def);
  if (friction->sticks) {
    double length = noli_resolve(def->stick_length, &model->problem.size);
    friction->stick_length = length > 0.0 ? length : friction->speed * time;
    friction->speed_scale = friction->stick_length / time;
  }
}

// Parameters that depend on the size of the scene.
static NoliStatus set_parameters(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliProblem* problem = &model->problem;
  problem->friction.speed = noli_resolve(def->friction_speed, &problem->size);
  set_sticking(model, def);
  noli_model_set_tolerance(model, def->tolerance);
  problem->contact.fixed_stiffness = def->barrier_stiffness;
  problem->contact.surface_radius = noli_resolve(def->surface_radius, &problem->size);
  problem->contact.ccd = noli_ccd_methods[noli_names_index(&noli_ccd_names, def->ccd)].name;
  problem->contact.still = model->obstacle;
  problem->friction.iterations = def->friction_iterations;
  problem->solver.max_iterations = def->max_iterations;
  set_method(model, def);
  NOLI_TRY(noli_clearance_set_distance(model, def));

  // the square of the distance must be representable
  NOLI_CHECK(context,
             problem->contact.dhat < 1e15 &&
                 (problem->contact.dhat > 1e-100 || problem->inertia.n_vert == 0),
             NOLI_ERROR_ARGUMENT, "the contact distance must be in (1e-100, 1e15) m, got %g m",
             problem->contact.dhat);
  NOLI_TRY(noli_model_set_pairs(model, def));
  NOLI_TRY(noli_convergent_build(model, def));
  NOLI_TRY(check_rounding(model, def));
  NOLI_CHECK(context,
             problem->contact.surface_radius == 0.0 ||
                 problem->contact.surface_radius > problem->contact.dhat,
             NOLI_ERROR_ARGUMENT,
             "the radius of surfaces, %g m, must be larger than the contact distance, %g m",
             problem->contact.surface_radius, problem->contact.dhat);
done:
  return status;
}

static bool is_petsc(const char* name) {
  return strncmp(name, "petsc:", 6) == 0;
}

// Options without effect are refused. On several ranks PETSc stands in for other solvers.
static NoliStatus set_petsc_options(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  const char* options = def->petsc_options;
  if (options == NULL || options[0] == '\0') {
    return NOLI_OK;
  }
  NOLI_CHECK(model->context,
             is_petsc(problem->linear.solver) || is_petsc(problem->linear.general_solver) ||
                 noli_rank_count(model->context) > 1,
             NOLI_ERROR_ARGUMENT,
             "options of PETSc (\"%s\") need one of its linear solvers, not \"%s\"", options,
             problem->linear.solver);
  model->petsc_options = noli_strdup(model->context, options);
  NOLI_CHECK(model->context, model->petsc_options != NULL, NOLI_ERROR_MEMORY,
             "out of memory: the options of PETSc");
  problem->linear.petsc_options = model->petsc_options;
done:
  return status;
}

static NoliStatus build_solvers(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliProblem* problem = &model->problem;
  if (problem->contact.model == &noli_contact_gcp) {
    NOLI_TRY(noli_gcp_model_build(model, def));
  }
  if (problem->contact.model == &noli_contact_implicit_surface) {
    NOLI_TRY(noli_sheets_find(model, def));
  }
  problem->linear.tolerance = def->linear_tolerance;
  NOLI_TRY(noli_lin_solver_find(context, def->linear_solver, false, &problem->linear.solver));
  NOLI_TRY(noli_lin_solver_find(context, def->implicit_newton.linear, true,
                                &problem->linear.general_solver));
  NOLI_TRY(set_petsc_options(model, def));
done:
  return status;
}

// Rigid bodies in joints, and those that motions prescribe, take straight steps.
static void join_rigid(NoliModel* model, const NoliSimDef* def) {
  const NoliProblem* problem = &model->problem;
  for (int32_t i = 0; i < 2 * def->n_joints + def->n_motions; i++) {
    int32_t k = i - 2 * def->n_joints;
    int32_t body = k >= 0       ? def->motions[k].body
                   : i % 2 == 0 ? def->joints[i / 2].body
                                : def->joints[i / 2].to;
    if (body != NOLI_NULL_INDEX && model->carried[body]) {
      noli_rigid_join(&model->problem.block[problem->range[body].block],
                      problem->range[body].begin);
    }
  }
}

// Joints are told where bodies start, and made there, even if these have moved since.
static NoliStatus place_joints(NoliModel* model, const NoliSimDef* def,
                               const double* const* starts) {
  NoliStatus status = NOLI_OK;
  int64_t n = def->n_joints > 0 ? 3 * (int64_t)model->problem.n_vert : 0;
  NOLI_NEW(model->context, model->joint_x, n);
  memcpy(model->joint_x, model->x0, sizeof(double) * (size_t)n);
  for (int32_t b = 0; n > 0 && starts != NULL && b < model->n_body; b++) {
    int64_t first = 3 * (int64_t)model->vert_first[b], end = 3 * (int64_t)model->vert_first[b + 1];
    if (starts[b] != NULL) {
      memcpy(model->joint_x + first, starts[b], sizeof(double) * (size_t)(end - first));
    }
  }
done:
  return status;
}

NoliStatus noli_model_create(NoliContext* context, const NoliSimDef* def,
                             const double* const* starts, bool divide, NoliHostCalls* calls,
                             NoliModel** out) {
  NoliStatus status = NOLI_OK;
  NoliModel* model = NULL;
  *out = NULL;
  NOLI_TRY(noli_definition_check(context, def));
  NOLI_NEW_ZERO(context, model, 1);
  model->context = context;
  model->calls = calls;
  NOLI_TRY(build_bodies(model, def, divide));
  NOLI_TRY(place_joints(model, def, starts));
  NOLI_TRY(build_conditions(model, def));
  join_rigid(model, def);
  noli_model_stiffen_rigid(model);
  NOLI_TRY(set_parameters(model, def));
  NOLI_TRY(build_solvers(model, def));
  NOLI_TRY(noli_rank_parts_divide_contacts(model));
  NOLI_VALIDATE(context, noli_model_defect(model));
done:
  if (status != NOLI_OK) {
    noli_model_destroy(&model);
  }
  *out = model;
  return status;
}

// Lists whose items own lists, and objects.
static void release_parts(NoliModel* model) {
  NoliContext* context = model->context;
  NoliProblem* problem = &model->problem;
  for (int32_t e = 0; model->name != NULL && e < model->n_entity; e++) {
    noli_free(context, model->name[e]);
  }
  for (int32_t m = 0; m < model->n_motion; m++) {
    noli_free(context, model->motion[m].node);
    noli_free(context, model->motion[m].X);
  }

  for (int32_t f = 0; f < model->n_force; f++) {
    noli_free(context, model->force[f].node);
    noli_curved_faces_free(context, &model->force[f].curved);
    noli_free(context, model->force[f].faces.tri);
  }

  noli_gcp_model_release(model);
  for (int32_t i = 0; i < problem->n_block; i++) {
    noli_block_destroy(&problem->block[i]);
  }
  noli_followers_destroy(context, &problem->followers);
  noli_free(context, model->bound);
  noli_free(context, model->tie);
  noli_surface_destroy(context, &problem->surface);
  noli_volumes_free(context, &problem->volumes);
  noli_free(context, problem->pressed.flat.tri);
  noli_free(context, problem->pressed.curved);
  for (int32_t kind = 0; kind < NOLI_CONNECTION_FORCES; kind++) {
    NoliConnections* connections = &problem->connection[kind];
    if (connections->data != NULL) {
      connections->forces->destroy(context, connections->data);
    }
    noli_free(context, connections->first);
  }
  noli_coordinates_free(context, &problem->coordinates);
  noli_free(context, problem->couplings.item);
  noli_free(context, problem->couplings.node);
  noli_pair_table_free(context, &problem->contact.body_pairs.others);
  noli_pair_table_free(context, &problem->contact.pairs.number);
}

int64_t noli_model_element(const NoliModel* model, NoliBlockingElement element, int32_t* body) {
  const NoliBlockRange* range = model->problem.range;
  if (element.block == NOLI_NULL_INDEX) {
    return NOLI_NULL_INDEX;
  }
  // the bodies of a block have its elements one after the other
  int64_t left = element.element;
  for (*body = 0;; (*body)++) {
    int32_t n = model->cell_first[*body + 1] - model->cell_first[*body];
    if (range[*body].block == element.block) {
      if (left < n) {
        return model->cell_first[*body] + left;
      }
      left -= n;
    }
  }
}

bool noli_model_counts(const NoliModel* model, const NoliBlock* block) {
  return block->divided || noli_rank(model->context) == 0 ||
         !noli_problem_is_divided(&model->problem);
}

NoliStatus noli_model_gather(const NoliModel* model, size_t size, void* value, int64_t n) {
  return noli_problem_is_divided(&model->problem)
             ? noli_ranks_sum(model->context, value, n * (int64_t)(size / sizeof(double)))
             : NOLI_OK;
}

NoliStatus noli_model_rest_volume(const NoliModel* model, int32_t body, double* volume) {
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  NoliBlockRange range = model->problem.range[body];
  *volume =
      noli_model_counts(model, block) ? noli_block_rest_volume(block, range.begin, range.end) : 0.0;
  return noli_model_gather(model, sizeof *volume, volume, 1);
}

void noli_model_destroy(NoliModel** owner) {
  NoliModel* model = *owner;
  if (model == NULL) {
    return;
  }
  NoliContext* context = model->context;
  NoliProblem* problem = &model->problem;
  release_parts(model);
  void* owned[] = {model->name,
                   model->petsc_options,
                   model->obstacle,
                   model->carried,
                   model->sheet,
                   model->vert_first,
                   model->follower_first,
                   model->cell_first,
                   model->cell,
                   model->element_digest,
                   model->segment,
                   model->lone_point,
                   model->x0,
                   model->joint_x,
                   model->v0,
                   model->motion,
                   model->force,
                   problem->X,
                   problem->inertia.mass,
                   problem->inertia.weight,
                   problem->block,
                   problem->range,
                   problem->ranks.owner,
                   problem->ranks.home,
                   problem->inertia.vert,
                   problem->inertia.lumped,
                   problem->inertia.own_lumped,
                   problem->inertia.drag,
                   problem->inertia.drag_vert,
                   problem->contact.half_spaces,
                   problem->contact.body_pairs.self,
                   problem->contact.pairs.law,
                   problem->contact.pairs.grain,
                   problem->contact.pairs.adhesion,
                   problem->contact.body_pairs.range};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) {
    noli_free(context, owned[i]);
  }
  noli_sampling_free(context, &problem->contact.sampling);
  noli_convergent_free(context, &problem->contact.convergent);
  noli_free(context, model);
  *owner = NULL;
}

const char* noli_model_defect(const NoliModel* model) {
  NOLI_RULE(model->vert_first[0] == 0 && model->cell_first[0] == 0, "model: no first body");
  NOLI_RULE(model->vert_first[model->n_body] == model->problem.n_node &&
                model->follower_first[model->n_body] == model->problem.n_vert,
            "model: the bodies do not hold all vertices");
  for (int32_t b = 0; b < model->n_body; b++) {
    int32_t begin = model->vert_first[b], end = model->vert_first[b + 1];
    NOLI_RULE(begin <= end && model->cell_first[b] <= model->cell_first[b + 1] &&
                  model->follower_first[b] <= model->follower_first[b + 1],
              "model: bodies do not ascend");
    for (int64_t i = 4 * (int64_t)model->cell_first[b];
         model->cell != NULL && i < 4 * (int64_t)model->cell_first[b + 1]; i++) {
      // cells with fewer than four vertices are padded
      bool none = i % 4 > 0 && model->cell[i] == NOLI_NULL_INDEX;
      NOLI_RULE(none || (model->cell[i] >= begin && model->cell[i] < end),
                "model: an element has a vertex of another body");
    }
  }
  return NULL;
}
