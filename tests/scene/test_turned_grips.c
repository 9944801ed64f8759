// Grips that lift, shake and turn what they hold by a full circle, and one that lets it go.
#include "scene_run.h"

// Bodies of turned_grips.json: the objects, then the pads of each on the left and on the right.
enum { CUBE, BAR, CLOTH, N_OBJECTS, N_SIDES = 2, FACE_MAX = 64 };

// The nodes of an object and of a pad that face each other.
typedef struct Face {
  int32_t n[2];
  int32_t node[2][FACE_MAX];
} Face;

static void add_to_face(Face* face, int side, int32_t node) {
  assert_true(face->n[side] < FACE_MAX);
  face->node[side][face->n[side]++] = node;
}

static int32_t pad_of(int32_t object, int32_t side) {
  return N_OBJECTS * (1 + side) + object;
}

// Those of a side, at the start: of the pad the inner ones, of the object the outer ones that the
// pad covers.
static Face face_of(const Run* run, int32_t object, int32_t side) {
  Face face = {.n = {0, 0}};
  double sign = side == 0 ? -1.0 : 1.0;
  const double* x = noli_sim_positions(run->sim);
  int32_t pad = pad_of(object, side), first, n;
  Extent of_pad = extent_of(run, pad), of_object = extent_of(run, object);
  double inner = side == 0 ? of_pad.high.x : of_pad.low.x;
  double outer = side == 0 ? of_object.low.x : of_object.high.x;
  noli_sim_body_range(run->sim, pad, &first, &n);
  for (int32_t v = first; v < first + n; v++) {
    if (sign * (x[3 * (int64_t)v] - inner) < 1e-9) {
      add_to_face(&face, 1, v);
    }
  }
  noli_sim_body_range(run->sim, object, &first, &n);
  for (int32_t v = first; v < first + n; v++) {
    NoliVec3 at = noli_load3(x + 3 * (int64_t)v);
    if (sign * (at.x - outer) > -1e-9 && at.y > of_pad.low.y - 1e-3 &&
        at.y < of_pad.high.y + 1e-3 && at.z > of_pad.low.z - 1e-3 && at.z < of_pad.high.z + 1e-3) {
      add_to_face(&face, 0, v);
    }
  }
  assert_true(face.n[0] >= 2 && face.n[1] >= 2);
  return face;
}

// Where the object is along the pad, m: the mean of its face less that of the pad. The grips are
// upright when it is taken, so that the pads lie in planes of y and z.
static NoliVec3 place_of(const Run* run, const Face* face) {
  NoliVec3 mean[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  for (int i = 0; i < 2; i++) {
    for (int32_t k = 0; k < face->n[i]; k++) {
      const double* x = noli_sim_positions(run->sim) + 3 * (int64_t)face->node[i][k];
      mean[i] = noli_mul_add3(mean[i], 1.0 / face->n[i], noli_load3(x));
    }
  }
  NoliVec3 place = noli_sub3(mean[0], mean[1]);
  return (NoliVec3){0.0, place.y, place.z};
}

typedef struct Slips {
  double all[N_OBJECTS];  // m, from the end of the lift to the end
  double turn[N_OBJECTS]; // m, by the full turn
} Slips;

static Slips slips_of(const char* law) {
  static const double times[] = {0.6, 1.5, 3.0}; // lifted, shaken, turned
  Run run = start("examples/turned_grips.json", 1, (const char* const[][2]){{"friction.law", law}});
  Face face[N_OBJECTS][N_SIDES];
  NoliVec3 place[3][N_OBJECTS][N_SIDES];
  Slips slips = {{0.0}, {0.0}};
  for (int32_t o = 0; o < N_OBJECTS; o++) {
    for (int32_t s = 0; s < N_SIDES; s++) {
      face[o][s] = face_of(&run, o, s);
    }
  }
  for (int t = 0; t < 3; t++) {
    run_until(&run, times[t]);
    for (int32_t o = 0; o < N_OBJECTS; o++) {
      for (int32_t s = 0; s < N_SIDES; s++) {
        place[t][o][s] = place_of(&run, &face[o][s]);
      }
    }
  }
  for (int32_t o = 0; o < N_OBJECTS; o++) {
    ASSERT_AT_LEAST(extent_of(&run, o).low.y, 0.0); // in the air
    for (int32_t s = 0; s < N_SIDES; s++) {
      NoliVec3 all = noli_sub3(place[2][o][s], place[0][o][s]);
      NoliVec3 turn = noli_sub3(place[2][o][s], place[1][o][s]);
      slips.all[o] = noli_larger(slips.all[o], noli_norm3(all));
      slips.turn[o] = noli_larger(slips.turn[o], noli_norm3(turn));
    }
  }
  finish(&run);
  return slips;
}

// What is held gives way by elastic slips of 2 um, and the rims of the pads, where squeezed rubber
// is pushed outwards, slide by as much.
static void turned_grips_hold(void** state) {
  (void)state;
  static const char* const name[N_OBJECTS] = {"cube", "bar", "cloth"};
  const double stick_length = 2e-6;
  Slips stick = slips_of("stick"), velocity = slips_of("velocity");
  for (int32_t o = 0; o < N_OBJECTS; o++) {
    print_message("%s: slips by %.2g m while it is shaken and turned, %.2g m of them in the turn; "
                  "with \"velocity\" by %.2g m and %.2g m\n",
                  name[o], stick.all[o], stick.turn[o], velocity.all[o], velocity.turn[o]);
    ASSERT_AT_MOST(stick.all[o], 4.0 * stick_length);
    ASSERT_AT_MOST(stick.turn[o], 4.0 * stick_length);
    ASSERT_AT_LEAST(velocity.all[o], 40.0 * stick_length);
  }
}

// A grip that loosens slowly: `closed`, m, of each pad, and how fast it opens from 0.7 s on, m/s.
static void write_motion(char* text, size_t size, const char* sign, double closed, double opens) {
  snprintf(text, size,
           "{\"displacement\": [\"%s(%g*smoothstep(0, 0.2, t) - %g*max(t - 0.7, 0))\", "
           "\"0.08*smoothstep(0.2, 0.6, t)\", 0]}",
           sign, closed, opens);
}

// Mean forces of the pads on a body, N.
static void pad_forces(Run* run, int32_t object, double* normal, double* friction) {
  const NoliPairForce* pair;
  int32_t n;
  *normal = *friction = 0.0;
  ASSERT_OK(noli_sim_pair_forces(run->sim, &pair, &n));
  for (int32_t i = 0; i < n; i++) {
    if (pair[i].a == object && (pair[i].b == pad_of(object, 0) || pair[i].b == pad_of(object, 1))) {
      *normal += 0.5 * noli_norm3(noli_load3(pair[i].normal));
      *friction += 0.5 * noli_norm3(noli_load3(pair[i].friction));
    }
  }
}

// The cube of a grip that opens slips when two pads with mu N bear less than its weight: the normal
// force over m g / (2 mu) when friction reaches its limit. It falls out then.
static double normal_force_at_onset(const char* coefficient, double closed) {
  char left[256], right[256];
  write_motion(left, sizeof left, "", closed, 3e-5);
  write_motion(right, sizeof right, "-", closed, 3e-5);
  Run run = start("examples/turned_grips.json", 4,
                  (const char* const[][2]){{"friction.coefficient", coefficient},
                                           {"prescribed[0].motion", left},
                                           {"prescribed[1].motion", right},
                                           {"time.duration", "20"}});
  double mu = strtod(coefficient, NULL), mass = 1000.0 * 0.04 * 0.04 * 0.04, normal, friction;
  run_until(&run, 0.7);
  do {
    step(&run);
    pad_forces(&run, CUBE, &normal, &friction);
  } while (friction < 0.9999 * mu * normal && noli_sim_time(run.sim) < 19.9);
  double onset = noli_sim_time(run.sim), height = extent_of(&run, CUBE).mean.y;
  double ratio = normal / (mass * 9.80665 / (2.0 * mu));
  ASSERT_AT_LEAST(height, 0.07);
  run_until(&run, onset + 0.6);
  print_message("coefficient %s: slips at %.2f s with %.4f m g / 2 mu, and falls by %.3f m\n",
                coefficient, onset, ratio, height - extent_of(&run, CUBE).mean.y);
  ASSERT_AT_MOST(extent_of(&run, CUBE).mean.y, height - 0.02);
  finish(&run);
  return ratio;
}

static void grips_slip_where_friction_bears_the_weight(void** state) {
  (void)state;
  ASSERT_NEAR(normal_force_at_onset("0.6", 6.2e-4), 1.0, 0.01);
  ASSERT_NEAR(normal_force_at_onset("0.3", 7.2e-4), 1.0, 0.01);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(turned_grips_hold),
      cmocka_unit_test(grips_slip_where_friction_bears_the_weight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
