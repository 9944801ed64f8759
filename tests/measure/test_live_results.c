// Results of live simulations (noli/live.h), which agree with closed forms and with the report of
// the step, and queries of what is near.
#include "step/pushed.h"

// ---- results ------------------------------------------------------------------------------------

// A spinning box of many small cells: moments of inertia a^2 + b^2 over 12.
static void inertia_is_that_of_a_box(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.1, 0.2, 0.4}, (int32_t[]){8, 12, 16},
                               false, &mesh));
  world_add(&world, mesh, (double[]){1, 2, 3});
  world.body[0].velocity[2] = 0.5;
  world.body[0].angular_velocity[0] = 2.0;
  world.body[0].angular_velocity[1] = -3.0;
  world_start(&world);
  NoliBodyState body;
  ASSERT_OK(noli_sim_body_state(world.sim, 0, &body));
  double mass = 1000.0 * 0.1 * 0.2 * 0.4;
  const double size_sqr[] = {0.01, 0.04, 0.16}, omega[] = {2.0, -3.0, 0.0}, centre[] = {1, 2, 3};
  ASSERT_NEAR(body.mass, mass, 1e-12);
  ASSERT_NEAR(body.rest_volume, 0.008, 1e-14);
  for (int k = 0; k < 3; k++) {
    double moment = mass * (size_sqr[(k + 1) % 3] + size_sqr[(k + 2) % 3]) / 12.0;
    ASSERT_NEAR(body.inertia[4 * k] / moment, 1.0, 0.02); // lumped masses
    ASSERT_NEAR(body.centre[k], centre[k], 1e-12);
    ASSERT_NEAR(body.angular_velocity[k], omega[k], 1e-11);
    ASSERT_NEAR(body.angular_momentum[k],
                body.inertia[3 * k] * omega[0] + body.inertia[3 * k + 1] * omega[1], 1e-12);
  }
  ASSERT_NEAR(body.velocity[2], 0.5, 1e-12);
  ASSERT_STATUS(noli_sim_body_state(world.sim, 1, &body), NOLI_ERROR_ARGUMENT);
  world_done(&world);
}

static void energies_are_those_of_the_report(void** state) {
  (void)state;
  Pushed pushed;
  pushed_start(&pushed, NULL, "backward_euler");
  World* world = &pushed.world;
  move_hand(world->sim, 0.05);
  for (int i = 0; i < 3; i++) {
    world_step(world);
  }
  NoliEnergies energies;
  const NoliStepReport* report = &world->report;
  ASSERT_OK(noli_sim_energies(world->sim, &energies));
  assert_true(report->elastic > 0.0 && report->contact_energy > 0.0);
  ASSERT_NEAR(energies.kinetic, report->kinetic, 1e-12 * report->kinetic);
  ASSERT_NEAR(energies.elastic, report->elastic, 1e-9 * report->elastic);
  ASSERT_NEAR(energies.gravity, report->gravity, 1e-12 * report->gravity);
  ASSERT_NEAR(energies.contact, report->contact_energy, 0.0);

  // a state that was loaded has them without a step
  NoliSim* clone = NULL;
  ASSERT_OK(noli_sim_clone(world->sim, world->context, &clone));
  ASSERT_OK(noli_sim_energies(clone, &energies));
  ASSERT_NEAR(energies.elastic, report->elastic, 1e-9 * report->elastic);
  noli_sim_destroy(&clone);
  world_done(world);
}

// The hand pushes the block: the force on the hand is opposite to that on the block, and the ground
// bears the weight.
static void wrenches_balance(void** state) {
  (void)state;
  Pushed pushed;
  pushed_start(&pushed, NULL, "backward_euler");
  World* world = &pushed.world;
  const double origin[3] = {0.3, -0.2, 0.1};
  move_hand(world->sim, 0.01);
  for (int i = 0; i < 60; i++) {
    world_step(world);
  }
  // at rest: weight and ground are in balance, in force and moment about the centre of mass
  NoliWrench block, hand;
  NoliBodyState body;
  ASSERT_OK(noli_sim_body_state(world->sim, BLOCK, &body));
  double weight = body.mass * 9.80665;
  ASSERT_OK(noli_sim_wrench(world->sim, BLOCK, NULL, &block));
  ASSERT_NEAR((block.normal[1] + block.friction[1]) / weight, 1.0, 1e-2);
  for (int k = 0; k < 3; k++) {
    ASSERT_NEAR((block.normal_moment[k] + block.friction_moment[k]) / (weight * 0.1), 0.0, 2e-2);
  }

  // while the hand pushes: resultants of the pairs
  double sum[3], on_hand[3] = {0};
  for (int i = 0; i < 100 && on_hand[0] == 0.0; i++) {
    const NoliPairForce* pair = NULL;
    int32_t n = 0;
    move_hand(world->sim, 0.01 + 0.001 * i);
    world_step(world);
    ASSERT_OK(noli_sim_pair_forces(world->sim, &pair, &n));
    memset(sum, 0, sizeof sum);
    for (int32_t p = 0; p < n; p++) {
      for (int k = 0; k < 3; k++) {
        sum[k] += pair[p].a == BLOCK ? pair[p].normal[k] : 0.0;
        on_hand[k] -= pair[p].b == PLATE ? pair[p].normal[k] : 0.0;
      }
    }
  }
  ASSERT_OK(noli_sim_wrench(world->sim, PLATE, origin, &hand));
  ASSERT_OK(noli_sim_wrench(world->sim, BLOCK, origin, &block));
  double size = fabs(on_hand[0]);
  ASSERT_AT_LEAST(size, 1.0);
  for (int k = 0; k < 3; k++) {
    ASSERT_NEAR(block.normal[k], sum[k], 1e-9 * size);
    ASSERT_NEAR(hand.normal[k], on_hand[k], 1e-9 * size);
  }
  // moment about the origin: that of the normal force of every vertex of the hand
  double force[3 * 200], moment = 0.0;
  int32_t first, count;
  assert_in_range(noli_sim_vertex_count(world->sim), 1, 200);
  ASSERT_OK(noli_sim_contact_forces(world->sim, force));
  noli_sim_body_range(world->sim, PLATE, &first, &count);
  for (int32_t i = first; i < first + count; i++) {
    const double* x = noli_sim_positions(world->sim) + 3 * i;
    moment += (x[2] - origin[2]) * force[3 * i] - (x[0] - origin[0]) * force[3 * i + 2];
  }
  ASSERT_AT_LEAST(fabs(moment), 0.01 * size);
  ASSERT_NEAR(hand.normal_moment[1], moment, 1e-12 * size);
  world_done(world);
}

// A bar is held at one end: force and moment are those of its weight.
static void reactions_hold_a_bar(void** state) {
  (void)state;
  static const char* const all[] = {"quasi_static", "backward_euler", "bdf2"};
  for (int k = 0; k < COUNT(all); k++) {
    for (int32_t order = 1; order <= 2; order++) {
      World world = world_new(1);
      NoliMesh* mesh = NULL;
      ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.4, 0.1, 0.1}, (int32_t[]){4, 1, 1},
                                   false, &mesh));
      world_add(&world, mesh, (double[]){0.2, 0, 0});
      world.body[0].order = order;
      world.body[0].material.young = 1e7;
      world.body[0].material.mass_damping = k > 0 ? 60.0 : 0.0;
      world.def.integrator = all[k];
      world.def.tolerance = (NoliScaled){1e-7, false};
      int32_t held[8], n = 0;
      for (int32_t i = 0; i < mesh->n_vert; i++) {
        if (mesh->x[3 * i] < 1e-9) {
          held[n++] = i;
        }
      }
      NoliMotionDef* motion = world_add_motion(&world, 0, NULL, NULL);
      motion->node = held;
      motion->n_node = n;
      world_start(&world);
      NoliReaction reaction;
      ASSERT_OK(noli_sim_reaction(world.sim, 0, (double[]){0, 0, 0}, &reaction));
      ASSERT_NEAR(reaction.force[1], 0.0, 0.0); // before the first step
      take_steps(world.sim, k > 0 ? 80 : 1);
      ASSERT_OK(noli_sim_reaction(world.sim, 0, (double[]){0, 0, 0}, &reaction));

      double weight = 1000.0 * 0.004 * 9.80665;
      NoliBodyState body;
      ASSERT_OK(noli_sim_body_state(world.sim, 0, &body));
      ASSERT_NEAR(reaction.force[0] / weight, 0.0, 1e-3);
      ASSERT_NEAR(reaction.force[1] / weight, 1.0, 1e-3);
      ASSERT_NEAR(reaction.force[2] / weight, 0.0, 1e-3);
      ASSERT_NEAR(reaction.moment[2] / (weight * body.centre[0]), 1.0, 1e-3);
      world_done(&world);
    }
  }

  // an obstacle that presses needs the opposite of contact
  Pushed pushed;
  pushed_start(&pushed, NULL, "backward_euler");
  NoliSim* sim = pushed.world.sim;
  NoliReaction reaction;
  NoliWrench hand = {.normal = {0}};
  for (int i = 0; i < 100 && hand.normal[0] == 0.0; i++) {
    move_hand(sim, 0.001 * i);
    take_steps(sim, 1);
    ASSERT_OK(noli_sim_wrench(sim, PLATE, NULL, &hand));
  }
  assert_true(hand.normal[0] < 0.0);
  ASSERT_OK(noli_sim_reaction(sim, 0, NULL, &reaction));
  for (int k = 0; k < 3; k++) {
    double contact = hand.normal[k] + hand.friction[k];
    ASSERT_NEAR(reaction.force[k], -contact, 1e-9 * fabs(hand.normal[0]));
  }
  world_done(&pushed.world);
}

// The ground bears a ball of curved elements, whose proxy touches it.
static void curved_bodies_have_wrenches(void** state) {
  (void)state;
  World world = world_new(1);
  world_add(&world, make_sphere(&world, 0.1, 2), (double[]){0, 0.1001, 0});
  world.body[0].order = 2;
  world.body[0].material.mass_damping = 40.0;
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world_start(&world);
  take_steps(world.sim, 80);
  NoliBodyState body;
  NoliWrench wrench;
  ASSERT_OK(noli_sim_body_state(world.sim, 0, &body));
  ASSERT_OK(noli_sim_wrench(world.sim, 0, NULL, &wrench));
  ASSERT_NEAR(wrench.normal[1] / (9.80665 * body.mass), 1.0, 1e-2);
  world_done(&world);
}

// The ground is a half-space: its wrench is the opposite of the forces of all on it, and contact
// has no moment as a whole.
static void check_ground(NoliSim* sim, const NoliPairForce* pair, int32_t n_pairs, bool balances) {
  const double origin[3] = {0.3, -0.2, 0.1};
  double normal[3] = {0}, friction[3] = {0}, moment[3] = {0}, largest = 0.0;
  NoliWrench wrench[3];
  for (int32_t e = 0; e <= GROUND; e++) {
    ASSERT_OK(noli_sim_wrench(sim, e, origin, &wrench[e]));
  }
  for (int32_t p = 0; p < n_pairs; p++) {
    for (int k = 0; k < 3 && pair[p].b == GROUND; k++) {
      normal[k] += pair[p].normal[k];
      friction[k] += pair[p].friction[k];
    }
  }
  for (int k = 0; k < 3; k++) {
    largest = noli_larger(largest, fabs(normal[k]));
    for (int32_t e = 0; e <= GROUND; e++) {
      moment[k] += wrench[e].normal_moment[k];
    }
  }
  assert_true(largest > 0.0);
  for (int k = 0; k < 3; k++) {
    ASSERT_NEAR(wrench[GROUND].normal[k], -normal[k], 1e-9 * largest);
    ASSERT_NEAR(wrench[GROUND].friction[k], -friction[k], 1e-9 * largest);
    ASSERT_NEAR(balances ? moment[k] : 0.0, 0.0, 1e-9 * largest);
  }
  // by default about a point of its plane; behind it there is nothing
  NoliWrench plain;
  double arm[3] = {-origin[0], -origin[1], -origin[2]};
  ASSERT_OK(noli_sim_wrench(sim, GROUND, NULL, &plain));
  double moved =
      wrench[GROUND].normal_moment[0] - arm[1] * plain.normal[2] + arm[2] * plain.normal[1];
  ASSERT_NEAR(plain.normal_moment[0], moved, 1e-9 * largest);
  ASSERT_STATUS(noli_sim_wrench(sim, GROUND + 1, NULL, &plain), NOLI_ERROR_ARGUMENT);
}

// Pushes the block until the plate carries some of it: the resultants of pairs then.
static int32_t push_until_contact(NoliSim* sim, const NoliPairForce** pairs) {
  const NoliPairForce* pair = NULL;
  int32_t n_pairs = 0;
  double pushes = 0.0;
  for (int step = 0; step < 60 && pushes == 0.0; step++) {
    move_hand(sim, 0.002 * step);
    take_steps(sim, 1);
    ASSERT_OK(noli_sim_pair_forces(sim, &pair, &n_pairs));
    for (int32_t p = 0; p < n_pairs; p++) {
      pushes += pair[p].b == PLATE ? fabs(pair[p].normal[0]) : 0.0;
    }
  }
  assert_true(pushes > 0.0);
  *pairs = pair;
  return n_pairs;
}

// Subtracts a contact from the resultant of its pair; returns its largest force.
static double take_away(const NoliContactInfo* at, NoliPairForce* kept, int32_t n_pairs) {
  double largest = 0.0;
  for (int k = 0; k < 3; k++) {
    largest = noli_larger(largest, fabs(at->normal_force[k]));
    for (int32_t p = 0; p < n_pairs; p++) {
      bool same = (kept[p].a == at->entity[0] && kept[p].b == at->entity[1]);
      bool turned = (kept[p].a == at->entity[1] && kept[p].b == at->entity[0]);
      double sign = same ? 1.0 : turned ? -1.0 : 0.0;
      kept[p].normal[k] -= sign * at->normal_force[k];
      kept[p].friction[k] -= sign * at->friction_force[k];
    }
  }
  return largest;
}

// Surfaces push along the normal; where they are those of the bodies, points are as far apart as
// the gap says.
static void check_surfaces(NoliSim* sim, const NoliContactInfo* at, bool own) {
  double gap = 0.0, along = 0.0, size = 0.0, normal = 0.0;
  for (int k = 0; k < 3; k++) {
    double difference = at->position[0][k] - at->position[1][k];
    gap += difference * difference;
    along += at->normal[k] * at->normal_force[k];
    size += at->normal_force[k] * at->normal_force[k];
    normal += at->normal[k] * at->normal[k];
  }
  ASSERT_NEAR(along, sqrt(size), 1e-9 * (1.0 + sqrt(size)));
  if (size > 0.0) {
    ASSERT_NEAR(normal, 1.0, 1e-12);
  }
  if (isfinite(at->gap) && at->gap > 0.0 && own) {
    ASSERT_NEAR(sqrt(gap), at->gap, 1e-3 * noli_sim_contact_distance(sim));
  }
}

// A block that slides and is pushed: for every solver, contact model and friction method, contacts
// lie on both sides at their gap, and their forces add up to those of the pairs and vertices.
static void contacts_add_up(void** state) {
  (void)state;
  static const struct {
    const char *solver, *model, *friction;
  } of[] = {
      {"projected_newton", "ipc", "lagged"},  {"augmented_lagrangian", "ipc", "lagged"},
      {"implicit_newton", "ipc", "implicit"}, {"projected_newton", "gcp", "lagged"},
      {"implicit_newton", "gcp", "implicit"}, {"projected_newton", "implicit_surface", "lagged"}};
  for (int c = 0; c < COUNT(of); c++) {
    Pushed pushed;
    pushed_start(&pushed, of[c].solver, "backward_euler");
    World* world = &pushed.world;
    NoliSim* sim = NULL;
    world->def.contact_model = of[c].model;
    world->def.friction_method = of[c].friction;
    world->def.audit = strcmp(of[c].model, "implicit_surface") == 0 ? "off" : "every_step";
    ASSERT_OK(noli_sim_create(world->context, &world->def, &sim));
    const NoliContactInfo* contact = NULL;
    const NoliPairForce* pair = NULL;
    int64_t n = -1;
    ASSERT_OK(noli_sim_contacts(sim, &contact, &n));
    assert_int_equal(n, 0);
    int32_t n_pairs = push_until_contact(sim, &pair);

    // resultants of pairs, kept before the list takes their place
    NoliPairForce kept[8];
    assert_in_range(n_pairs, 2, 8);
    memcpy(kept, pair, sizeof *kept * (size_t)n_pairs);
    double largest = 0.0;
    check_ground(sim, kept, n_pairs, strcmp(of[c].model, "implicit_surface") != 0);
    ASSERT_OK(noli_sim_contacts(sim, &contact, &n));
    assert_true(n >= 4);
    for (int64_t i = 0; i < n; i++) {
      const NoliContactInfo* at = &contact[i];
      largest = noli_larger(largest, take_away(at, kept, n_pairs));
      check_surfaces(sim, at, strcmp(of[c].model, "implicit_surface") != 0);
      assert_true(at->n_first >= 1 && at->vertex[0] != NOLI_NULL_INDEX);
    }
    for (int32_t p = 0; p < n_pairs; p++) {
      for (int k = 0; k < 3; k++) {
        ASSERT_NEAR(kept[p].normal[k], 0.0, 1e-9 * largest);
        ASSERT_NEAR(kept[p].friction[k], 0.0, 1e-9 * largest);
      }
    }
    noli_sim_destroy(&sim);
    world_done(world);
  }
}

// ---- queries ------------------------------------------------------------------------------------

// Distance along the ray to a triangle by solving three equations; INFINITY beside it.
static double meet(const double o[3], const double d[3], const double* a, const double* b,
                   const double* c) {
  double e[3], f[3], s[3], p[3], q[3];
  for (int k = 0; k < 3; k++) {
    e[k] = b[k] - a[k], f[k] = c[k] - a[k], s[k] = o[k] - a[k];
  }
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    p[k] = d[i] * f[j] - d[j] * f[i];
    q[k] = s[i] * e[j] - s[j] * e[i];
  }
  double det = e[0] * p[0] + e[1] * p[1] + e[2] * p[2];
  double u = (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]) / det;
  double v = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / det;
  double t = (f[0] * q[0] + f[1] * q[1] + f[2] * q[2]) / det;
  return u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t >= 0.0 ? t : (double)INFINITY;
}

static void queries_find_the_nearest(void** state) {
  (void)state;
  TestRandom random = {7};
  Pushed pushed;
  pushed_start(&pushed, NULL, "backward_euler");
  World* world = &pushed.world;
  NoliSim* sim = world->sim;
  int n_hits = 0, n_planes = 0;
  for (int i = 0; i < 400; i++) {
    if (i % 100 == 50) {
      take_steps(sim, 1); // queries follow the state
    }
    double o[3], d[3], norm = 0.0;
    for (int k = 0; k < 3; k++) {
      o[k] = test_random(&random, -0.3, 0.3) + (k == 1 ? 0.31 : 0.0);
      d[k] = test_random(&random, -0.12, 0.12) + (k == 1 ? 0.06 : 0.0) - o[k];
      norm += d[k] * d[k];
    }
    for (int k = 0; k < 3; k++) {
      d[k] /= sqrt(norm);
    }
    const double* x = noli_sim_positions(sim);
    const int32_t* tri = noli_sim_surface_triangles(sim);
    double want = d[1] < 0.0 ? -o[1] / d[1] : (double)INFINITY;
    double nearest = fabs(o[1]);
    for (int64_t t = 0; t < noli_sim_surface_triangle_count(sim); t++) {
      const double *a = x + 3 * tri[3 * t], *b = x + 3 * tri[3 * t + 1],
                   *c = x + 3 * tri[3 * t + 2];
      want = noli_smaller(want, meet(o, d, a, b, c));
      nearest = noli_smaller(nearest, sqrt(noli_point_triangle_distance_sqr(o, a, b, c)));
    }
    NoliSurfacePoint hit, closest;
    ASSERT_OK(noli_sim_cast_ray(sim, o, d, (double)INFINITY, &hit));
    ASSERT_OK(noli_sim_closest_point(sim, o, (double)INFINITY, &closest));
    assert_true(isinf(want) == (hit.entity == NOLI_NULL_INDEX));
    ASSERT_NEAR(closest.distance, nearest, 1e-14);
    double gap = 0.0;
    for (int k = 0; k < 3; k++) {
      gap += pow(closest.position[k] - o[k], 2.0);
    }
    ASSERT_NEAR(sqrt(gap), nearest, 1e-14);
    if (!isinf(want)) {
      ASSERT_NEAR(hit.distance, want, 1e-12);
      for (int k = 0; k < 3; k++) {
        ASSERT_NEAR(hit.position[k], o[k] + want * d[k], 1e-12);
      }
      n_hits += hit.entity < N_BODIES;
      n_planes += hit.entity == GROUND;
      // a shorter ray does not reach it
      ASSERT_OK(noli_sim_cast_ray(sim, o, d, 0.99 * want, &hit));
      assert_int_equal(hit.entity, NOLI_NULL_INDEX);
    }
    ASSERT_OK(noli_sim_closest_point(sim, o, 0.99 * nearest, &closest));
    assert_int_equal(closest.entity, NOLI_NULL_INDEX);
  }
  assert_true(n_hits > 100 && n_planes > 50);

  // a ray through a vertex and one along an edge of the mesh meet it
  NoliSurfacePoint hit;
  const double* corner = noli_sim_positions(sim);
  const double above[3] = {corner[0], corner[1] + 1.0, corner[2]}, down[3] = {0, -2, 0};
  ASSERT_OK(noli_sim_cast_ray(sim, above, down, 2.0, &hit));
  assert_int_equal(hit.entity, BLOCK);
  ASSERT_STATUS(noli_sim_cast_ray(sim, above, (double[]){0, 0, 0}, 1.0, &hit), NOLI_ERROR_ARGUMENT);
  world_done(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inertia_is_that_of_a_box),
      cmocka_unit_test(energies_are_those_of_the_report),
      cmocka_unit_test(wrenches_balance),
      cmocka_unit_test(reactions_hold_a_bar),
      cmocka_unit_test(curved_bodies_have_wrenches),
      cmocka_unit_test(contacts_add_up),
      cmocka_unit_test(queries_find_the_nearest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
