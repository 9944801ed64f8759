#include "support.h"

#include "noli/choice.h"

#include "collide/ccd.h"
#include "collide/closest_reference.h"

typedef bool CcdFunction(const NoliVec3 x_t0[4], const NoliVec3 x_t1[4],
                         const NoliCcdOptions* options, double t_max, double* toi);

typedef struct Motion {
  NoliVec3 x_t0[4];
  NoliVec3 x_t1[4];
  double contact;  // a time of contact up to rounding, or -1 where unknown
  bool degenerate; // flat or parallel there
} Motion;

typedef struct Kind {
  const char* name;
  CcdFunction* ccd;
  ReferenceDistance* distance;
  int n_a; // vertices of the first primitive
} Kind;

static const Kind point_triangle = {"point-triangle", noli_ccd_point_triangle,
                                    reference_point_triangle, 1};
static const Kind edge_edge = {"edge-edge", noli_ccd_edge_edge, reference_edge_edge, 2};

// A pair that meets: the point on the triangle, the edges crossing; possibly flat or parallel.
static void meet(TestRandom* random, const Kind* kind, bool degenerate, NoliVec3 x[4]) {
  for (int i = 0; i < 4; i++) {
    x[i] = random_vector(random, 1.0);
  }
  double a = test_random(random, 0.0, 1.0), b = test_random(random, 0.0, 1.0);
  if (kind->n_a == 1) {
    if (degenerate) {
      x[3] = noli_add3(noli_mul_add3(x[1], b, noli_sub3(x[2], x[1])),
                       random_vector(random, random_power(random, -16.0, 0.0)));
    }
    b *= 1.0 - a;
    x[0] = noli_mul_add3(noli_mul_add3(x[1], a, noli_sub3(x[2], x[1])), b, noli_sub3(x[3], x[1]));
  } else {
    NoliVec3 u = noli_sub3(x[1], x[0]), v = noli_sub3(x[3], x[2]);
    if (degenerate) {
      v = noli_add3(noli_scale3(1.3, u), random_vector(random, random_power(random, -16.0, 0.0)));
    }
    x[2] = noli_mul_add3(noli_mul_add3(x[0], a, u), -b, v);
    x[3] = noli_add3(x[2], v);
  }
}

// Random paths; paths through a known contact, rigid or not, fast or slow; all possibly far away
// and in fast common motion.
static Motion random_motion(TestRandom* random, const Kind* kind) {
  Motion motion = {.contact = -1.0};
  uint64_t shape = test_random_bits(random) % 4;
  NoliVec3 velocity_a = random_vector(random, 1.0);
  double speed = random_power(random, -10.0, 1.0), time = test_random(random, 0.05, 0.95);

  // the vertices at contact, or anywhere
  NoliVec3 at_contact[4];
  motion.degenerate = test_random_bits(random) % 3 == 0;
  meet(random, kind, motion.degenerate, at_contact);
  bool contact = test_random_bits(random) % 4 != 0;
  motion.contact = contact ? time : -1.0;
  for (int i = 0; i < 4; i++) {
    // rigid approach, one primitive at rest, or every vertex with a separate motion
    NoliVec3 velocity = i < kind->n_a ? velocity_a : noli_vec3(0.0, 0.0, 0.0);
    if (shape >= 2) {
      velocity = random_vector(random, 1.0);
    } else if (shape == 1) {
      velocity = noli_add3(velocity, random_vector(random, 0.1));
    }
    velocity = noli_scale3(speed, velocity);
    NoliVec3 x = contact ? at_contact[i] : random_vector(random, 1.0);
    motion.x_t0[i] = noli_mul_add3(x, -time, velocity);
    motion.x_t1[i] = noli_mul_add3(x, 1.0 - time, velocity);
  }

  // away from the origin, in fast common motion
  if (test_random_bits(random) % 4 == 0) {
    NoliVec3 offset = random_vector(random, random_power(random, 0.0, 6.0));
    NoliVec3 travel = random_vector(random, random_power(random, -3.0, 3.0));
    for (int i = 0; i < 4; i++) {
      motion.x_t0[i] = noli_add3(motion.x_t0[i], offset);
      motion.x_t1[i] = noli_add3(motion.x_t1[i], noli_add3(offset, travel));
    }
  }
  return motion;
}

static double largest_coordinate(const Motion* motion) {
  double largest = 0.0;
  for (int i = 0; i < 4; i++) {
    largest =
        noli_larger(largest, noli_larger(noli_norm3(motion->x_t0[i]), noli_norm3(motion->x_t1[i])));
  }
  return largest;
}

static double distance_at(const Kind* kind, const Motion* motion, double t) {
  return (double)reference_at(kind->distance, motion->x_t0, motion->x_t1, t);
}

// The size of the pair and its relative path.
static double extent(const Motion* motion) {
  double largest = 0.0;
  for (int i = 1; i < 4; i++) {
    largest = noli_larger(largest, noli_norm3(noli_sub3(motion->x_t0[i], motion->x_t0[0])));
    largest = noli_larger(largest, noli_norm3(noli_sub3(motion->x_t1[i], motion->x_t1[0])));
  }
  return largest;
}

// Positions of the caller's vertices after a step, with their rounding.
static double rounded_distance_at(const Kind* kind, const Motion* motion, double t) {
  Long3 x[4];
  for (int i = 0; i < 4; i++) {
    NoliVec3 path = noli_sub3(motion->x_t1[i], motion->x_t0[i]);
    x[i] = long_vec(noli_mul_add3(motion->x_t0[i], t, path));
  }
  return (double)kind->distance(x);
}

// The volume of the four vertices; it changes sign where they become coplanar.
static double volume_at(const Motion* motion, double t) {
  Long3 x[4];
  for (int i = 0; i < 4; i++) {
    Long3 from = long_vec(motion->x_t0[i]);
    x[i] = long_mul_add(from, (long double)t, long_sub(long_vec(motion->x_t1[i]), from));
  }
  return (double)long_dot(long_sub(x[1], x[0]),
                          long_cross(long_sub(x[2], x[0]), long_sub(x[3], x[0])));
}

typedef struct Tally {
  int n, n_hits, n_contacts, n_crossings, n_blunt;
} Tally;

// Contacts found by bisection between samples must not be earlier than toi.
static void check_crossings(const Kind* kind, const Motion* motion, double toi, bool hit,
                            Tally* tally) {
  enum { SAMPLES = 16 };
  for (int k = 0; k < SAMPLES; k++) {
    double low = (double)k / SAMPLES, high = (double)(k + 1) / SAMPLES;
    double sign = volume_at(motion, low);
    if (!(sign * volume_at(motion, high) < 0.0)) {
      continue;
    }
    for (int i = 0; i < 60; i++) {
      double middle = 0.5 * (low + high);
      *(sign * volume_at(motion, middle) > 0.0 ? &low : &high) = middle;
    }
    if (distance_at(kind, motion, low) < 4e-16 * extent(motion)) {
      assert_true(hit && toi < high);
      tally->n_crossings++;
    }
  }
}

static void check_motion(const Kind* kind, const Motion* motion, const NoliCcdOptions* options,
                         Tally* tally) {
  enum { SAMPLES = 32 };
  double toi = -1.0;
  bool hit = kind->ccd(motion->x_t0, motion->x_t1, options, 1.0, &toi);
  assert_true(toi >= 0.0 && (hit ? toi < 1.0 : toi == 1.0));
  double separation = options->min_separation;
  double d = distance_at(kind, motion, 0.0), room = d - separation;
  double low = separation + (1.0 - options->safety) * room;
  // the guarantee: above `low` on the full path
  for (int k = 0; k <= SAMPLES && toi > 0.0; k++) {
    ASSERT_AT_LEAST(distance_at(kind, motion, toi * k / SAMPLES), low);
  }
  if (toi > 0.0) {
    ASSERT_AT_LEAST(rounded_distance_at(kind, motion, toi), low);
    assert_true(room > 0.0);
  }
  double rounding = 2e-14 * largest_coordinate(motion);
  if (motion->contact >= 0.0) {
    assert_true(hit && toi < motion->contact);
    tally->n_contacts++;
  }
  check_crossings(kind, motion, toi, hit, tally);
  // steps are not shorter than necessary, unless the gap is rounding
  bool hard = strcmp(options->method, "inclusion") == 0 && motion->degenerate;
  if (hit && !hard && room > 10.0 * rounding) {
    tally->n_blunt += distance_at(kind, motion, toi) > low + 0.1 * room + rounding;
  }
  tally->n++;
  tally->n_hits += hit;
}

static void fuzz(const Kind* kind, const char* method, double min_separation, double safety) {
  TestRandom random = {31};
  Tally tally = {0};
  NoliCcdOptions options = noli_default_ccd_options();
  options.method = method;
  options.min_separation = min_separation;
  options.safety = safety;
  int n = strcmp(method, "additive") == 0 ? 10000 : 3000;
  for (int k = 0; k < n; k++) {
    Motion motion = random_motion(&random, kind);
    check_motion(kind, &motion, &options, &tally);
  }
  print_message("%-14s %-9s separation %g, safety %g: %d motions, %d hits, %d known contacts, "
                "%d crossings, %d stopped early\n",
                kind->name, method, min_separation, safety, tally.n, tally.n_hits, tally.n_contacts,
                tally.n_crossings, tally.n_blunt);
  assert_true(tally.n_contacts > n / 3 && tally.n_crossings > n / 3 && tally.n_hits < tally.n);
  assert_true(tally.n_blunt <= tally.n / 100);
}

static void random_motions_never_lose_the_distance(void** state) {
  (void)state;
  for (int m = 0; m < 2; m++) {
    const char* method = noli_choice_name(NOLI_CHOICE_CCD, m);
    fuzz(&point_triangle, method, 0.0, 0.9);
    fuzz(&edge_edge, method, 0.0, 0.9);
    fuzz(&point_triangle, method, 0.0, 0.5);
    fuzz(&edge_edge, method, 0.0, 0.99);
  }
}

static void minimum_separation_is_kept(void** state) {
  (void)state;
  for (int m = 0; m < 2; m++) {
    const char* method = noli_choice_name(NOLI_CHOICE_CCD, m);
    fuzz(&point_triangle, method, 1e-2, 0.9);
    fuzz(&edge_edge, method, 1e-2, 0.9);
  }
}

// A translation at height h with speed v may continue for safety * h / v.
static void check_translation(const Kind* kind, const NoliVec3 x[4], NoliVec3 path, double h,
                              double fall) {
  Motion motion = {.contact = h / fall};
  for (int i = 0; i < 4; i++) {
    motion.x_t0[i] = x[i];
    motion.x_t1[i] = i < kind->n_a ? noli_add3(x[i], path) : x[i];
  }
  NoliCcdOptions options = noli_default_ccd_options();
  double toi;
  assert_int_equal(kind->ccd(motion.x_t0, motion.x_t1, &options, 1.0, &toi), 0.9 * h < fall);
  double rounding = 64.0 * 2.3e-16 * largest_coordinate(&motion) / fall;
  ASSERT_NEAR(toi, 0.9 * h < fall ? 0.9 * h / fall : 1.0, rounding);
}

static void translations_have_the_analytic_time(void** state) {
  (void)state;
  TestRandom random = {32};
  for (int k = 0; k < 2000; k++) {
    double h = random_power(&random, -8.0, 0.0), fall = h * random_power(&random, -1.0, 2.0);
    NoliVec3 offset = noli_vec3(k % 2 * 1024.0, k % 2 * -512.0, 0.0);
    NoliVec3 path = {0.01 * h, -0.02 * h, -fall};
    NoliVec3 triangle[4] = {{0.3, 0.3, h}, {0.0, 0.0, 0.0}, {1.0, 0.1, 0.0}, {0.2, 1.0, 0.0}};
    NoliVec3 edges[4] = {{-1.0, 0.1, h}, {1.0, 0.1, h}, {0.1, -1.0, 0.0}, {0.2, 1.0, 0.0}};
    for (int i = 0; i < 4; i++) {
      triangle[i] = noli_add3(triangle[i], offset);
      edges[i] = noli_add3(edges[i], offset);
    }
    check_translation(&point_triangle, triangle, path, h, fall);
    check_translation(&edge_edge, edges, path, h, fall);
  }
}

static void points_and_edges_stop_in_time(void** state) {
  (void)state;
  double toi;

  // a point falls onto an edge
  NoliVec3 x_t0[3] = {{0.0, 0.0, 1.0}, {-1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
  NoliVec3 x_t1[3] = {{0.0, 0.0, -1.0}, {-1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
  assert_true(noli_ccd_point_edge(x_t0, x_t1, NULL, 1.0, &toi));
  ASSERT_NEAR(toi, 0.45, 1e-14);
  assert_false(noli_ccd_point_edge(x_t0, x_t1, NULL, 0.4, &toi));
  ASSERT_NEAR(toi, 0.4, 0.0);
  NoliCcdOptions inclusion = noli_default_ccd_options();
  inclusion.method = "inclusion";
  assert_true(noli_ccd_point_edge(x_t0, x_t1, &inclusion, 1.0, &toi));
  ASSERT_NEAR(toi, 0.45, 0.03);
  assert_true(toi <= 0.45);
  assert_false(noli_ccd_point_edge(x_t0, x_t1, &inclusion, 0.4, &toi));
  ASSERT_NEAR(toi, 0.4, 0.0);

  // two points
  double p_t0[3] = {0.0, 0.0, 0.0}, p_t1[3] = {4.0, 0.0, 0.0};
  double q_t0[3] = {2.0, 0.0, 0.0}, q_t1[3] = {2.0, 0.0, 0.0}, aside[3] = {2.0, 1.0, 0.0};
  assert_true(noli_point_point_ccd(p_t0, q_t0, p_t1, q_t1, NULL, 1.0, &toi));
  ASSERT_NEAR(toi, 0.45, 1e-14);
  assert_false(noli_point_point_ccd(p_t0, aside, p_t1, aside, NULL, 1.0, &toi));
  assert_true(noli_point_point_ccd(p_t0, q_t0, p_t1, q_t1, &inclusion, 1.0, &toi));
  ASSERT_NEAR(toi, 0.45, 0.03);
  assert_false(noli_point_point_ccd(p_t0, aside, p_t1, aside, &inclusion, 1.0, &toi));

  // the public functions take the vertices in the same order
  double ends[2][3] = {{-1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}}, side[3] = {0.0, 1.0, 0.0};
  double from[3] = {0.0, 0.2, 1.0}, to[3] = {0.0, 0.2, -1.0};
  double other_from[3] = {0.0, -0.5, 1.0}, other_to[3] = {0.0, -0.5, -1.0};
  assert_true(noli_point_edge_ccd(q_t0, p_t0, aside, q_t0, p_t1, aside, NULL, 1.0, &toi));
  assert_true(noli_point_triangle_ccd(from, ends[0], ends[1], side, to, ends[0], ends[1], side,
                                      NULL, 1.0, &toi));
  ASSERT_NEAR(toi, 0.45, 1e-14);
  assert_true(noli_edge_edge_ccd(ends[0], ends[1], from, other_from, ends[0], ends[1], to, other_to,
                                 NULL, 1.0, &toi));
  ASSERT_NEAR(toi, 0.45, 1e-14);
}

// Pairs that only slide, or move together, are free, for any gap and length of the path.
static void slide(const char* method) {
  double toi;
  NoliCcdOptions options = noli_default_ccd_options();
  options.method = method;
  for (double gap = 1e-10; gap < 1.0; gap *= 10.0) {
    NoliVec3 x_t0[4] = {{0.2, 0.2, gap}, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    NoliVec3 x_t1[4];
    memcpy(x_t1, x_t0, sizeof x_t1);
    x_t1[0].x = 100.0;
    assert_false(noli_ccd_point_triangle(x_t0, x_t1, &options, 1.0, &toi));
    for (int i = 0; i < 4; i++) {
      x_t1[i] = noli_add3(x_t0[i], noli_vec3(16.0, -32.0, -64.0));
    }
    assert_false(noli_ccd_point_triangle(x_t0, x_t1, &options, 1.0, &toi));
    NoliVec3 edges_t0[4] = {{0.0, 0.0, gap}, {1.0, 0.0, gap}, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
    NoliVec3 edges_t1[4] = {{0.5, 3.0, gap}, {-1.0, 0.3, gap}, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
    assert_false(noli_ccd_edge_edge(edges_t0, edges_t1, &options, 1.0, &toi));
  }
}

static void sliding_pairs_are_free(void** state) {
  (void)state;
  slide("additive");
  slide("inclusion");
}

// Faces in contact that tilt together, by far more than their gap: free after a few steps if the
// gap stays, a hit when nine tenths of it are used up if it closes.
static void tilting_pairs_take_few_steps(void** state) {
  (void)state;
  NoliCcdOptions options = noli_default_ccd_options();
  double toi;
  for (double gap = 1e-8; gap < 1e-3; gap *= 10.0) {
    for (double tilt = 1e-3; tilt < 1.0; tilt *= 4.0) {
      NoliVec3 x_t0[2][4] = {{{0.2, 0.3, gap}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}},
                             {{-0.4, 0.1, gap}, {0.5, 0.1, gap}, {0.1, -0.6, 0}, {0.1, 0.4, 0}}};
      for (int k = 0; k < 4; k++) {
        bool edges = k / 2 == 1, closes = k % 2 == 1;
        NoliVec3 x_t1[4];
        for (int i = 0; i < 4; i++) {
          x_t1[i] = x_t0[edges][i];
          x_t1[i].z +=
              tilt * (x_t1[i].x - 0.5 * x_t1[i].y) - (closes && x_t1[i].z > 0.0 ? 2.0 * gap : 0.0);
        }
        options.max_iterations = closes ? 100 : 4;
        bool hit = edges ? noli_ccd_edge_edge(x_t0[1], x_t1, &options, 1.0, &toi)
                         : noli_ccd_point_triangle(x_t0[0], x_t1, &options, 1.0, &toi);
        assert_true(hit == closes);
        ASSERT_AT_MOST(toi, closes ? 0.451 * sqrt(1.0 + 2.0 * tilt * tilt) : 1.0);
        ASSERT_AT_LEAST(toi, closes ? 0.9 * 0.45 : 1.0);
      }
    }
  }
}

static void bad_starts_and_numbers_give_a_hit_at_zero(void** state) {
  (void)state;
  NoliVec3 touching[4] = {{0.2, 0.2, 0.0}, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
  NoliVec3 away[4];
  double toi = -1.0;
  memcpy(away, touching, sizeof away);
  away[0].z = 1.0;
  assert_true(noli_ccd_point_triangle(touching, away, NULL, 1.0, &toi));
  ASSERT_NEAR(toi, 0.0, 0.0);
  const double bad[2] = {(double)NAN, (double)INFINITY};
  for (int k = 0; k < 48; k++) {
    double ends[24];
    NoliVec3 x_t0[4], x_t1[4];
    memcpy(ends, away, sizeof away);
    memcpy(ends + 12, away, sizeof away);
    ends[k / 2] = bad[k % 2];
    memcpy(x_t0, ends, sizeof x_t0);
    memcpy(x_t1, ends + 12, sizeof x_t1);
    toi = -1.0;
    assert_true(noli_ccd_point_triangle(x_t0, x_t1, NULL, 1.0, &toi));
    ASSERT_NEAR(toi, 0.0, 0.0);
    toi = -1.0;
    assert_true(noli_ccd_edge_edge(x_t0, x_t1, NULL, 1.0, &toi));
    ASSERT_NEAR(toi, 0.0, 0.0);
  }
}

static void few_iterations_are_safe(void** state) {
  (void)state;
  TestRandom random = {33};
  Tally tally = {0};
  NoliCcdOptions options = noli_default_ccd_options();
  for (int k = 0; k < 3000; k++) {
    options.max_iterations = k % 4;
    Motion motion = random_motion(&random, &edge_edge);
    check_motion(&edge_edge, &motion, &options, &tally);
  }
  assert_true(tally.n_hits > 1000);
}

// Contact at t = 1/2 in exact arithmetic: coordinates are small integers times a power of two.
static Motion exact_contact(TestRandom* random, const Kind* kind, int shape, double scale) {
  Motion motion = {.contact = 0.5};
  NoliVec3 x[4], v;
  for (int i = 0; i < 4; i++) {
    // multiples of 8, so that quarters are exact
    double c[3];
    for (int k = 0; k < 3; k++) {
      c[k] = 8.0 * floor(test_random(random, -20.0, 21.0));
    }
    // flat, parallel, or of no length
    x[i] = noli_vec3(c[0], shape == 1 ? 0.0 : c[1], c[2]);
    x[i] = shape == 2 && i == 3 ? x[2] : x[i];
  }
  if (kind->n_a == 1) {
    x[0] = noli_scale3(0.25, noli_add3(noli_add3(x[1], x[1]), noli_add3(x[2], x[3])));
  } else {
    NoliVec3 along = shape == 3 ? noli_sub3(x[1], x[0]) : noli_sub3(x[3], x[2]);
    NoliVec3 middle = noli_scale3(0.5, noli_add3(x[0], x[1]));
    x[2] = noli_sub3(middle, noli_scale3(0.25, along));
    x[3] = noli_add3(x[2], along);
  }
  for (int i = 0; i < 4; i++) {
    v = noli_vec3(floor(test_random(random, -9.0, 10.0)), floor(test_random(random, -9.0, 10.0)),
                  floor(test_random(random, -9.0, 10.0)));
    motion.x_t0[i] = noli_scale3(scale, noli_sub3(x[i], v));
    motion.x_t1[i] = noli_scale3(scale, noli_add3(x[i], v));
  }
  return motion;
}

// General position, flat, points as edges, parallel edges; sizes from a micrometre to a hundred
// metres. Neither method reports a time after the true contact.
static void exact_contacts_are_never_late(void** state) {
  (void)state;
  TestRandom random = {35};
  const Kind* const kinds[2] = {&point_triangle, &edge_edge};
  int n_late = 0, n_started[2] = {0, 0};
  for (int trial = 0; trial < 12000; trial++) {
    double scale = ldexp(1.0, -27 + trial % 27);
    Motion motion = exact_contact(&random, kinds[trial % 2], trial / 2 % 4, scale);
    double toi[2];
    for (int m = 0; m < 2; m++) {
      NoliCcdOptions options = noli_default_ccd_options();
      options.method = noli_choice_name(NOLI_CHOICE_CCD, m);
      bool hit = kinds[trial % 2]->ccd(motion.x_t0, motion.x_t1, &options, 1.0, &toi[m]);
      n_late += !hit || !(toi[m] <= 0.5);
      n_started[m] += toi[m] > 0.0;
    }
  }
  print_message("%d exact contacts, %d with distance left (additive), %d (inclusion)\n", 12000,
                n_started[0], n_started[1]);
  assert_int_equal(n_late, 0);
  assert_true(n_started[0] > 6000 && n_started[1] > 6000);
}

// Both keep the same distance, so both end within the margin of the point where the pair reaches
// it.
static void both_methods_agree(void** state) {
  (void)state;
  TestRandom random = {36};
  const Kind* const kinds[2] = {&point_triangle, &edge_edge};
  int n = 0, n_apart = 0, n_verdicts = 0;
  for (int trial = 0; trial < 8000; trial++) {
    const Kind* kind = kinds[trial % 2];
    Motion motion = random_motion(&random, kind);
    NoliCcdOptions options = noli_default_ccd_options();
    double toi[2], d0 = distance_at(kind, &motion, 0.0);
    bool hit[2];
    for (int m = 0; m < 2; m++) {
      options.method = noli_choice_name(NOLI_CHOICE_CCD, m);
      hit[m] = kind->ccd(motion.x_t0, motion.x_t1, &options, 1.0, &toi[m]);
    }
    // the methods differ at gaps of the size of rounding errors
    if (d0 < 1e-12 * largest_coordinate(&motion) || motion.degenerate) {
      continue;
    }
    n++;
    n_verdicts += hit[0] != hit[1];
    double d[2] = {distance_at(kind, &motion, toi[0]), distance_at(kind, &motion, toi[1])};
    n_apart += hit[0] && hit[1] && !(fabs(d[0] - d[1]) <= 0.06 * d0);
  }
  print_message("%d motions: %d verdicts differ, %d distances\n", n, n_verdicts, n_apart);
  assert_true(n > 4000);
  ASSERT_AT_MOST(n_verdicts, 0.02 * n);
  ASSERT_AT_MOST(n_apart, 0.01 * n);
}

// The limit of a search is what other pairs have left of the step. Where a pair is hit before it,
// its time does not depend on it, so that steps do not depend on the order of pairs, nor on which
// rank has them.
static void times_do_not_depend_on_the_limit(void** state) {
  (void)state;
  TestRandom random = {31};
  static const char* const method[] = {"additive", "inclusion"};
  for (int m = 0; m < 2; m++) {
    NoliCcdOptions options = noli_default_ccd_options();
    options.method = method[m];
    int n_hits = 0;
    for (int k = 0; k < 4000; k++) {
      const Kind* kind = k % 2 == 0 ? &point_triangle : &edge_edge;
      options.min_separation = k % 3 == 0 ? random_power(&random, -6.0, -2.0) : 0.0;
      Motion motion = random_motion(&random, kind);
      double whole, part;
      if (!kind->ccd(motion.x_t0, motion.x_t1, &options, 1.0, &whole) || whole == 0.0) {
        continue;
      }
      n_hits++;
      double limit = whole + (1.0 - whole) * random_power(&random, -6.0, 0.0);
      assert_true(kind->ccd(motion.x_t0, motion.x_t1, &options, limit, &part));
      assert_true(part == whole);
      limit = whole * test_random(&random, 0.0, 1.0);
      assert_false(kind->ccd(motion.x_t0, motion.x_t1, &options, limit, &part));
      assert_true(part == limit);
    }
    print_message("%s: %d hits\n", method[m], n_hits);
    assert_true(n_hits > 1000);
  }
}

// For any budget the answer is safe and its cost is within the budget.
static void few_boxes_are_safe(void** state) {
  (void)state;
  TestRandom random = {37};
  Tally tally = {0};
  NoliCcdOptions options = noli_default_ccd_options();
  options.method = "inclusion";
  for (int k = 0; k < 4000; k++) {
    options.max_boxes = (k % 8) * (k % 8) * 5;
    const Kind* kind = k % 2 == 0 ? &edge_edge : &point_triangle;
    Motion motion = random_motion(&random, kind);
    check_motion(kind, &motion, &options, &tally);
  }
  assert_true(tally.n_hits > 1000);
}

static void half_spaces_have_a_closed_form(void** state) {
  (void)state;
  const NoliVec3 origin = {1.0, 2.0, 3.0}, up = {0.0, 0.6, 0.8};
  NoliVec3 x_t0 = noli_mul_add3(origin, 0.5, up), x_t1 = noli_mul_add3(origin, -0.5, up);
  NoliCcdOptions apart = noli_default_ccd_options(), near = apart;
  apart.min_separation = 0.1;
  near.gap_cap = 0.01;
  ASSERT_NEAR(noli_ccd_half_space(x_t0, x_t1, origin, up, NULL, 1.0), 0.45, 1e-13);
  ASSERT_NEAR(noli_ccd_half_space(x_t0, x_t1, origin, up, &apart, 1.0), 0.36, 1e-13);
  ASSERT_NEAR(noli_ccd_half_space(x_t0, x_t1, origin, up, NULL, 0.3), 0.3, 0.0);
  ASSERT_NEAR(noli_ccd_half_space(x_t0, x_t1, origin, up, &near, 1.0), 0.49, 1e-13);
  // climbing, sliding, touching, below, not a number
  ASSERT_NEAR(noli_ccd_half_space(x_t0, noli_mul_add3(x_t0, 9.0, up), origin, up, NULL, 1.0), 1.0,
              0.0);
  NoliVec3 aside = noli_add3(x_t0, noli_vec3(1e3, 0.0, 0.0));
  ASSERT_NEAR(noli_ccd_half_space(x_t0, aside, origin, up, NULL, 1.0), 1.0, 0.0);
  ASSERT_NEAR(noli_ccd_half_space(origin, x_t0, origin, up, NULL, 1.0), 0.0, 0.0);
  ASSERT_NEAR(noli_ccd_half_space(x_t1, x_t0, origin, up, NULL, 1.0), 0.0, 0.0);
  NoliVec3 bad = {(double)NAN, 0.0, 0.0};
  ASSERT_NEAR(noli_ccd_half_space(bad, x_t0, origin, up, NULL, 1.0), 0.0, 0.0);
  ASSERT_NEAR(noli_ccd_half_space(x_t0, bad, origin, up, NULL, 1.0), 0.0, 0.0);
}

// Edges in a plane that slide along each other at a gap far below their motion: the budget of boxes
// is exhausted, but the answer is not 0 if additive advancement makes progress.
static void boxes_that_run_out_do_not_block(void** state) {
  (void)state;
  TestRandom random = {281};
  int n_advanced = 0;
  for (int i = 0; i < 300; i++) {
    double gap = random_power(&random, -9.0, -5.0), slide = test_random(&random, 0.1, 1.0);
    double tilt = gap * test_random(&random, 0.0, 0.5);
    NoliVec3 x_t0[4] = {{0.0, 0.0, 0.0}, {1.0, tilt, 0.0}, {0.2, gap, 0.0}, {0.9, gap + tilt, 0.0}};
    NoliVec3 x_t1[4];
    memcpy(x_t1, x_t0, sizeof x_t1);
    double sink = gap * test_random(&random, 1.5, 30.0);
    for (int k = 2; k < 4; k++) {
      x_t1[k] = noli_add3(x_t0[k], noli_vec3(slide, -sink, 0.0));
    }
    double toi[2];
    for (int m = 0; m < 2; m++) {
      NoliCcdOptions options = noli_default_ccd_options();
      options.method = m == 0 ? "additive" : "inclusion";
      toi[m] = 1.0;
      noli_ccd_edge_edge(x_t0, x_t1, &options, 1.0, &toi[m]);
    }
    n_advanced += toi[0] > 1e-6;
    if (!(toi[1] >= 0.5 * toi[0])) {
      print_error("gap %g: inclusion stops at %g, additive at %g\n", gap, toi[1], toi[0]);
      fail();
    }
  }
  assert_true(n_advanced > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_that_run_out_do_not_block),
      cmocka_unit_test(random_motions_never_lose_the_distance),
      cmocka_unit_test(minimum_separation_is_kept),
      cmocka_unit_test(translations_have_the_analytic_time),
      cmocka_unit_test(points_and_edges_stop_in_time),
      cmocka_unit_test(sliding_pairs_are_free),
      cmocka_unit_test(tilting_pairs_take_few_steps),
      cmocka_unit_test(bad_starts_and_numbers_give_a_hit_at_zero),
      cmocka_unit_test(few_iterations_are_safe),
      cmocka_unit_test(exact_contacts_are_never_late),
      cmocka_unit_test(both_methods_agree),
      cmocka_unit_test(few_boxes_are_safe),
      cmocka_unit_test(times_do_not_depend_on_the_limit),
      cmocka_unit_test(half_spaces_have_a_closed_form),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
