// Every integrator with contact, friction, prescribed motion and damping, with both solvers: runs
// are free of intersections, resume with the same bits, and have the same bits for any number of
// threads; the dissipation of mass damping. (Energy over time: validation/energy.c.)
#include "world.h"

#include "noli/output.h"

static const char* const solvers[] = {"projected_newton", "augmented_lagrangian"};

static bool is_static(int32_t k) {
  return noli_integrator_at(k)->quasi_static;
}

// The decoupled rule is for the barrier only.
static bool is_refused(int32_t k, int solver) {
  return noli_integrator_at(k)->decoupled && solver == 1;
}

// Two blocks are pressed onto each other and then dragged: the lower one is held at its bottom, the
// upper one moved at its top.
static void press_and_drag(void* user, double t0, double t1, int32_t n, const int32_t* node,
                           const double* X, const double* x_t0, double* x_t1) {
  (void)user;
  (void)node;
  (void)t0;
  (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i] + 1.0 * fmax(t1 - 0.03, 0.0);
    x_t1[3 * i + 1] = X[3 * i + 1] - fmin(t1, 0.04);
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

static int32_t side(const NoliMesh* mesh, double height, int32_t* node) {
  int32_t n = 0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (fabs(mesh->x[3 * i + 1] - height) < 1e-9) {
      node[n++] = i;
    }
  }
  return n;
}

static World blocks(const char* integrator, const char* solver, int32_t threads) {
  static int32_t bottom[9], top[9];
  World world = world_new(threads);
  world_add(&world, make_box(&world, 0.4, 0.2, 0.4, 2), (double[]){0, 0.1, 0});
  world_add(&world, make_box(&world, 0.3, 0.2, 0.3, 2), (double[]){0.03, 0.3005, 0.01});
  for (int b = 0; b < 2; b++) {
    world.body[b].material.young = 2e5;
    world.body[b].material.poisson = 0.3;
    world.body[b].material.damping = 2e-3;
    world.body[b].material.mass_damping = 0.5;
  }
  NoliMotionDef* held = world_add_motion(&world, 0, NULL, NULL);
  held->node = bottom;
  held->n_node = side(world.mesh[0], 0.0, bottom);
  NoliMotionDef* moved = world_add_motion(&world, 1, press_and_drag, NULL);
  moved->node = top;
  moved->n_node = side(world.mesh[1], 0.4005, top);
  world.def.contact_distance = (NoliScaled){1e-3, false};
  world.def.friction = 0.4;
  world.def.friction_iterations = 1;
  world.def.integrator = integrator;
  world.def.solver = solver;
  world.def.time_step = 0.005;
  world_start(&world);
  return world;
}

// The dragged block pulls the other one: both solvers and all integrators nearly agree.
static void contact_friction_and_motion_work_with_all(void** state) {
  (void)state;

  // both solvers and all integrators
  for (int32_t k = 0; k < noli_integrator_count(); k++) {
    for (int s = 0; s < 2; s++) {
      if (is_refused(k, s)) {
        continue;
      }
      World world = blocks(noli_integrator_at(k)->name, solvers[s], 1);
      double normal = 0.0, tangent = 0.0;
      int64_t newton = 0;
      for (int i = 0; i < 30; i++) {
        world_step(&world);
        newton += world.report.newton_iterations;
        ASSERT_NEAR(world.report.motion_done, 1.0, 1e-3);
        const NoliPairForce* pair;
        int32_t n_pairs;
        ASSERT_OK(noli_sim_pair_forces(world.sim, &pair, &n_pairs));
        for (int p = 0; p < n_pairs && i >= 15; p++) {
          double sign = pair[p].a == 0 ? 1.0 : -1.0;
          normal -= sign * pair[p].normal[1] / 15;
          tangent += sign * pair[p].friction[0] / 15;
        }
      }
      print_message("%s, %s: %lld Newton iterations, normal %.1f N, friction %.1f N\n",
                    noli_integrator_at(k)->name, solvers[s], (long long)newton, normal, tangent);
      // 0.04 m on 0.4 m of height: about 0.1 x 2e5 Pa x 0.09 m^2, on less than the full section
      // (the decoupled rule gives contact half the weight of other forces, so it pushes twice as
      // hard)
      double share = noli_integrator_at(k)->decoupled ? 0.5 : 1.0;
      ASSERT_AT_LEAST(share * normal, 1800.0);
      ASSERT_AT_MOST(share * normal, 2800.0);
      // with the trapezoidal rules stiff contact oscillates: lagged normal forces are not those of
      // the step
      bool swings = strncmp(noli_integrator_at(k)->name, "trapezoidal", 11) == 0;
      ASSERT_AT_LEAST(tangent, (swings ? 0.2 : 0.34) * normal);
      ASSERT_AT_MOST(tangent, 0.46 * normal);
      if (is_static(k)) {
        ASSERT_NEAR(world.report.kinetic, 0.0, 0.0);
        ASSERT_NEAR(world.report.damping_loss, 0.0, 0.0);
      }
      world_done(&world);
    }
  }
}

// From a copy of the state, from a file, and with another number of threads.
static void all_resume_to_the_same_bits(void** state) {
  (void)state;

  // both solvers and all integrators
  for (int32_t k = 0; k < noli_integrator_count(); k++) {
    for (int s = 0; s < 2; s++) {
      if (is_refused(k, s)) {
        continue;
      }
      const char* name = noli_integrator_at(k)->name;
      World whole = blocks(name, solvers[s], 1), copy = blocks(name, solvers[s], 2),
            file = blocks(name, solvers[s], 1);
      World* all[3] = {&whole, &copy, &file};
      for (int stop = 0; stop < 2; stop++) {
        ASSERT_OK(noli_sim_copy_state(copy.sim, whole.sim));
        ASSERT_OK(noli_checkpoint_save(whole.context, whole.sim, NULL, "integrators.h5"));
        // a simulation in another state discards it
        world_step(&file);
        ASSERT_OK(noli_checkpoint_load(file.context, file.sim, "integrators.h5"));
        for (int i = 0; i < (stop == 0 ? 1 : 3); i++) {
          for (int w = 0; w < 3; w++) {
            world_step(all[w]);
            assert_true(noli_sim_state_hash(all[w]->sim) == noli_sim_state_hash(whole.sim));
          }
        }
      }
      for (int w = 0; w < 3; w++) {
        world_done(all[w]);
      }
    }
  }
  remove("integrators.h5");
}

// ---- stages and past ----------------------------------------------------------------------------

static void statistics_name_the_stage(void** state) {
  (void)state;
  World world = blocks("sdirk2", "projected_newton", 1);
  world_step(&world);
  int32_t last = 0;
  for (int32_t i = 0; i < world.report.newton_iterations; i++) {
    assert_true(world.report.newton[i].stage == last || world.report.newton[i].stage == last + 1);
    last = world.report.newton[i].stage;
  }
  assert_int_equal(last, 1);
  assert_int_equal(world.report.friction_iterations, 2);
  world_done(&world);
}

// A state that is set has no history: the run continues as if it had started there.
static void a_new_state_has_no_past(void** state) {
  (void)state;
  for (int32_t k = 0; k < noli_integrator_count(); k++) {
    World fresh = blocks(noli_integrator_at(k)->name, "projected_newton", 1);
    World used = blocks(noli_integrator_at(k)->name, "projected_newton", 1);
    int32_t n = 3 * noli_sim_vertex_count(fresh.sim);
    double x[300], v[300];
    assert_in_range(n, 1, 300);
    memcpy(x, noli_sim_positions(fresh.sim), (size_t)n * sizeof *x);
    memcpy(v, noli_sim_velocities(fresh.sim), (size_t)n * sizeof *v);
    for (int i = 0; i < 3; i++) {
      world_step(&used);
    }
    NoliStateField field;
    for (int32_t i = 0; noli_sim_state_field(used.sim, i, &field); i++) {
      if (strcmp(field.name, "step") == 0 || strcmp(field.name, "time") == 0) {
        memset(field.data, 0, 8);
      }
    }
    ASSERT_OK(noli_sim_set_state(used.sim, x, v));
    for (int i = 0; i < 3; i++) {
      world_step(&fresh);
      world_step(&used);
      assert_true(noli_sim_state_hash(fresh.sim) == noli_sim_state_hash(used.sim));
    }
    world_done(&fresh);
    world_done(&used);
  }
}

// A ball that is held and released, or pulled for a while, falls according to the closed form,
// without a first-order error from its history: constant forces are exact between the events.
static void pull(void* user, double t, const double X[3], double value[3]) {
  (void)user;
  (void)t;
  (void)X;
  value[0] = 6.0, value[1] = 0.0, value[2] = 0.0;
}

static void events_start_again(void** state) {
  (void)state;
  static const char* const names[] = {"bdf2", "trapezoidal", "sdirk2", "tr_bdf2"};
  for (int k = 0; k < 4; k++) {
    World world = world_new(1);
    int32_t ball = world_add(&world, make_sphere(&world, 0.1, 2), (double[]){0, 0, 0});
    NoliMotionDef* held = world_add_motion(&world, ball, NULL, NULL);
    held->t_end = 0.0999;
    NoliForceDef force = {.size = sizeof(NoliForceDef),
                          .kind = "acceleration",
                          .t_begin = 0.2001,
                          .t_end = 0.3001,
                          .value = pull};
    world.def.forces = &force;
    world.def.n_forces = 1;
    world.def.gravity[1] = -10.0;
    world.def.integrator = names[k];
    world_start(&world);
    for (int i = 0; i < 40; i++) {
      world_step(&world);
    }
    double centre[3];
    world_centre(&world, ball, centre);
    ASSERT_NEAR(centre[1], -5.0 * 0.3 * 0.3, 1e-9);
    ASSERT_NEAR(centre[0], 3.0 * 0.1 * 0.1 + 0.6 * 0.1, 1e-9);
    world_done(&world);
  }
}

// ---- energies -----------------------------------------------------------------------------------

// A body that flies freely with mass damping: v' = -alpha v, and the loss is reported.
static void mass_damping_slows_rigid_motion(void** state) {
  (void)state;
  for (int32_t k = 0; k < noli_integrator_count(); k++) {
    if (is_static(k)) {
      continue;
    }
    const NoliIntegrator* integrator = noli_integrator_at(k);
    World world = world_new(1);
    int32_t ball = world_add(&world, make_sphere(&world, 0.1, 2), (double[]){0, 0, 0});
    world.body[ball].velocity[0] = 2.0;
    world.body[ball].material.mass_damping = 3.0;
    world.def.gravity[1] = 0.0;
    world.def.integrator = integrator->name;
    world_start(&world);
    double lost = 0.0, mass = 0.0;
    for (int32_t i = 0; i < noli_sim_vertex_count(world.sim); i++) {
      mass += noli_sim_masses(world.sim)[i];
    }
    for (int i = 0; i < 30; i++) {
      world_step(&world);
      lost += world.report.damping_loss;
    }
    double want = 2.0 * exp(-0.9), v = world.report.momentum[0] / mass;
    ASSERT_NEAR(v, want, (integrator->order == 2 ? 5e-4 : 0.02) * want);
    // to the order of the method
    double balance = world.report.kinetic + lost;
    ASSERT_NEAR(balance, 0.5 * mass * 4.0, (integrator->order == 2 ? 1e-3 : 0.03) * 2.0 * mass);
    world_done(&world);
  }
}

// ---- refusals -----------------------------------------------------------------------------------

static void combinations_without_sense_are_refused(void** state) {
  (void)state;
  World world = world_new(1);
  world_add(&world, make_box(&world, 1, 1, 1, 1), (double[]){0, 0, 0});
  world.def.integrator = "quasi_static";
  world.body[0].angular_velocity[1] = 1.0;
  world_expect_refusal(&world,
                       "body \"body0\": an initial velocity has no effect with the integrator "
                       "\"quasi_static\"");
  world = world_new(1);
  world_add(&world, make_box(&world, 1, 1, 1, 1), (double[]){0, 0, 0});
  world.def.integrator = "trapezoidal_decoupled";
  world.def.solver = "augmented_lagrangian";
  world_expect_refusal(&world,
                       "\"trapezoidal_decoupled\" exists to compare contact by the barrier");
  world = world_new(1);
  world_add(&world, make_box(&world, 1, 1, 1, 1), (double[]){0, 0, 0});
  world.body[0].material.mass_damping = -1.0;
  world_expect_refusal(&world, "mass damping must be >= 0");
}

// A checkpoint belongs to its integrator, also if another one has the same fields.
static void checkpoints_of_other_integrators_are_refused(void** state) {
  (void)state;
  World first = blocks("trapezoidal", "projected_newton", 1);
  World second = blocks("tr_bdf2", "projected_newton", 1);
  world_step(&first);
  uint64_t hash = noli_sim_state_hash(second.sim);
  ASSERT_OK(noli_checkpoint_save(first.context, first.sim, NULL, "other.h5"));
  ASSERT_STATUS(noli_checkpoint_load(second.context, second.sim, "other.h5"), NOLI_ERROR_FORMAT);
  assert_non_null(
      strstr(noli_context_message(second.context), "of the integrator \"trapezoidal\""));
  assert_true(noli_sim_state_hash(second.sim) == hash);
  remove("other.h5");
  world_done(&first);
  world_done(&second);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(contact_friction_and_motion_work_with_all),
      cmocka_unit_test(all_resume_to_the_same_bits),
      cmocka_unit_test(statistics_name_the_stage),
      cmocka_unit_test(a_new_state_has_no_past),
      cmocka_unit_test(events_start_again),
      cmocka_unit_test(mass_damping_slows_rigid_motion),
      cmocka_unit_test(combinations_without_sense_are_refused),
      cmocka_unit_test(checkpoints_of_other_integrators_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
