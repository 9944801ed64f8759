// Yield stress in scenes: closed forms with all elements and integrators, states that are saved and
// restored, the results, and what is refused.
#include "scene_support.h"

#include "noli/extend.h"
#include "noli/live.h"
#include "noli/noli.h"
#include "noli/output.h"

#define METAL "'law': 'hencky', 'young': 1e6, 'poisson': 0.3, 'yield': 1e4"

static void start(NoliContext* context, const char* text, NoliScene** scene, NoliSim** sim) {
  *scene = NULL;
  *sim = NULL;
  ASSERT_OK(parse_quoted(context, text, scene));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(*scene), sim));
}

static void steps(NoliSim* sim, int n) {
  for (int i = 0; i < n; i++) {
    ASSERT_OK(noli_sim_step(sim, NULL));
  }
}

// ---- closed forms -------------------------------------------------------------------------------

// Where a rod of stiffness E, linear hardening H and yield stress y0 is after one more strain.
typedef struct Scalar {
  double plastic;
  double accumulated;
} Scalar;

// The stress of the scalar model that is loaded to `strain`; `modulus` of elastic loading.
static double scalar_stress(Scalar* at, double modulus, double hardening, double strain) {
  double trial = modulus * (strain - at->plastic);
  double excess = fabs(trial) - 1e4 - hardening * at->accumulated;
  if (excess > 0.0) {
    double growth = excess / (modulus + hardening);
    at->accumulated += growth;
    at->plastic += trial > 0.0 ? growth : -growth;
  }
  return modulus * (strain - at->plastic);
}

// The stretch along x is 0.1 t up to t = 3, goes back to -0.1 and returns to 0.
#define STRAIN "(t < 3 ? 0.1*t : t < 7 ? 0.6 - 0.1*t : 0.1*t - 0.8)"
static double strain_at(double t) {
  return t < 3.0 ? 0.1 * t : t < 7.0 ? 0.6 - 0.1 * t : 0.1 * t - 0.8;
}

// A cube pulled and pressed along x with free sides: its Kirchhoff stress is that of the scalar
// model in the logarithmic strain, E = 1e6.
static void tension_and_compression_follow_the_scalar_model(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    NoliContext* context = test_context(1);
    NoliScene* scene;
    NoliSim* sim;
    char text[2000];
    double hardening = k == 0 ? 0.0 : 1e5;
    snprintf(text, sizeof text,
             "{'time': {'step': 1, 'steps': 8, 'integrator': 'quasi_static'}, 'gravity': [0, 0, 0],"
             "'contact': {'enabled': false}, 'solver': {'tolerance': 1e-8}, 'bodies': [{'name':"
             "'bar', 'mesh': {'box': {'size': [1, 1, 1], 'cells': [2, 2, 2]}}, 'material': {" METAL
             ", 'hardening': %g}}], 'prescribed': ["
             "{'body': 'bar', 'select': {'side': '-x'}, 'motion': {'displacement': [0, 'free', "
             "'free']}},"
             "{'body': 'bar', 'select': {'side': '-y'}, 'motion': {'displacement': ['free', 0, "
             "'free']}},"
             "{'body': 'bar', 'select': {'side': '-z'}, 'motion': {'displacement': ['free', "
             "'free', 0]}},"
             "{'body': 'bar', 'select': {'side': '+x'}, 'motion': {'displacement':"
             "['exp(" STRAIN ") - 1', 'free', 'free']}}]}",
             hardening);
    start(context, text, &scene, &sim);
    Scalar at = {0.0, 0.0};
    double strains[48];
    NoliStress stress[48];
    assert_int_equal(noli_sim_tet_count(sim), 48);
    for (int i = 1; i <= 8; i++) {
      double want = scalar_stress(&at, 1e6, hardening, strain_at(i));
      ASSERT_OK(noli_sim_step(sim, NULL));
      ASSERT_OK(noli_sim_stresses(sim, stress));
      ASSERT_OK(noli_sim_plastic_strains(sim, strains));
      for (int t = 0; t < 48; t++) {
        double tau = stress[t].first_piola[0] * exp(strain_at(i));
        ASSERT_NEAR(tau, want, 1e-5 * 1e4);
        ASSERT_NEAR(strains[t], at.accumulated, 1e-7);
      }
    }
    assert_true(at.accumulated > 0.5);
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
    test_context_done(&context);
  }
}

// All nodes prescribed, stretched along x as much as shortened along y: q = 2 sqrt(3) mu (e - p'),
// where the plastic shear p' grows by sqrt(3)/2 of the equivalent strain.
static void check_shear(const char* body, const char* integrator) {
  NoliContext* context = test_context(1);
  NoliScene* scene;
  NoliSim* sim;
  char text[2000];
  const double mu = 1e6 / 2.6;
  snprintf(text, sizeof text,
           "{'time': {'step': 1, 'steps': 8, 'integrator': '%s'}, 'gravity': [0, 0, 0],"
           "'contact': {'enabled': false}, 'bodies': [{'name': 'bar', %s, 'material': {" METAL
           ", 'density': 1, 'hardening': 1e5}}], 'prescribed': [{'body': 'bar', 'motion': {"
           "'displacement': ['X*(exp(" STRAIN ") - 1)', 'Y*(exp(-" STRAIN ") - 1)', 0]}}]}",
           integrator, body);
  start(context, text, &scene, &sim);
  int32_t n = noli_sim_tet_count(sim);
  NoliStress* stress = malloc(sizeof *stress * (size_t)n);
  double* strain = malloc(sizeof *strain * (size_t)n);
  Scalar at = {0.0, 0.0};
  for (int i = 1; i <= 8; i++) {
    // q over the equivalent strain 2/sqrt(3) e
    double q = scalar_stress(&at, 3.0 * mu, 1e5, 2.0 / sqrt(3.0) * strain_at(i));
    ASSERT_OK(noli_sim_step(sim, NULL));
    ASSERT_OK(noli_sim_stresses(sim, stress));
    ASSERT_OK(noli_sim_plastic_strains(sim, strain));
    for (int32_t t = 0; t < n; t++) {
      ASSERT_NEAR(stress[t].cauchy[0], q / sqrt(3.0), 1e-7 * mu);
      ASSERT_NEAR(stress[t].cauchy[1], -q / sqrt(3.0), 1e-7 * mu);
      ASSERT_NEAR(strain[t], at.accumulated, 1e-9);
    }
  }
  free(stress);
  free(strain);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void all_elements_and_integrators_agree(void** state) {
  (void)state;
  const char* const boxes[] = {
      "'mesh': {'box': {'size': [1, 1, 1], 'cells': [2, 2, 2]}}",
      "'mesh': {'box': {'size': [1, 1, 1], 'cells': [1, 1, 1]}}, 'order': 2",
      "'mesh': {'box': {'size': [1, 1, 1], 'cells': [1, 1, 1]}}, 'order': 3",
      "'mesh': {'box': {'size': [1, 1, 1], 'cells': [1, 1, 1]}}, 'order': 4",
      "'mesh': {'rectangle': {'size': [1, 1], 'cells': [2, 2]}}, 'plane_strain': 0.5"};
  for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++) {
    check_shear(boxes[k], "quasi_static");
  }
  const char* const integrators[] = {"backward_euler", "bdf2", "trapezoidal", "sdirk2", "tr_bdf2"};
  for (size_t k = 0; k < sizeof integrators / sizeof *integrators; k++) {
    check_shear(boxes[0], integrators[k]);
  }
}

// ---- states -------------------------------------------------------------------------------------

// A bar of metal, partly viscous too, hits the floor with one end, beside a plain one.
#define DROP                                                                                       \
  "{'time': {'step': 0.002, 'steps': 60}, 'bodies': ["                                             \
  "{'name': 'plain', 'mesh': {'box': {'size': [0.1, 0.1, 0.1], 'cells': [2, 2, 2]}}, 'translate':" \
  "[0, 0.06, 0]},"                                                                                 \
  "{'name': 'metal', 'mesh': {'box': {'size': [0.4, 0.1, 0.1], 'cells': [6, 2, 2]}}, 'rotate':"    \
  "[0, 0, 30], 'translate': [0.5, 0.17, 0], 'velocity': [0, -3, 0], 'material': {" METAL           \
  ", 'hardening': 1e4, 'saturation': 5e3, 'saturation_rate': 20}, 'parts': [{'select':"            \
  "{'side': '-x', 'depth': 0.3}, 'material': {'prony': [[0.5, 0.02]]}}]}],"                        \
  "'friction': {'coefficient': 0.2}, 'half_spaces': [{'name': 'floor'}]}"

static double largest_strain(NoliSim* sim) {
  int32_t n = noli_sim_tet_count(sim);
  double *strain = malloc(sizeof *strain * (size_t)n), largest = 0.0;
  ASSERT_OK(noli_sim_plastic_strains(sim, strain));
  for (int32_t t = 0; t < n; t++) {
    largest = noli_larger(largest, strain[t]);
    assert_true(t >= 48 || strain[t] == 0.0);
  }
  free(strain);
  return largest;
}

static void states_are_complete(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  NoliScene* scene;
  NoliSim *sim, *clone = NULL, *read = NULL;
  start(context, DROP, &scene, &sim);
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &read));
  assert_true(largest_strain(sim) == 0.0);
  double energy = (double)INFINITY;
  for (int i = 0; i < 30; i++) {
    NoliStepReport report;
    ASSERT_OK(noli_sim_step(sim, &report));
    double now = report.kinetic + report.elastic + report.gravity + report.contact_energy +
                 report.friction_stored;
    ASSERT_AT_MOST(now, energy * (1.0 + 1e-6));
    energy = now;
  }
  double bent = largest_strain(sim);
  assert_true(bent > 0.01);

  void* image = NULL;
  size_t size = 0;
  ASSERT_OK(noli_checkpoint_to_memory(context, sim, NULL, &image, &size));
  ASSERT_OK(noli_checkpoint_from_memory(context, read, image, size));
  noli_free(context, image);
  ASSERT_OK(noli_sim_clone(sim, context, &clone));
  assert_true(largest_strain(read) == bent && largest_strain(clone) == bent);
  NoliSim* all[] = {sim, clone, read};
  uint64_t hash[3];
  for (int k = 0; k < 3; k++) {
    steps(all[k], 5);
    hash[k] = noli_sim_state_hash(all[k]);
  }
  assert_true(hash[1] == hash[0] && hash[2] == hash[0]);
  ASSERT_OK(noli_sim_reset(sim));
  steps(sim, 35);
  assert_true(noli_sim_state_hash(sim) == hash[0]);

  // the other body removed
  double after = largest_strain(clone);
  ASSERT_OK(noli_sim_remove_body(clone, 0));
  int32_t n = noli_sim_tet_count(clone);
  double *strain = malloc(sizeof *strain * (size_t)n), largest = 0.0;
  ASSERT_OK(noli_sim_plastic_strains(clone, strain));
  for (int32_t t = 0; t < n; t++) {
    largest = noli_larger(largest, strain[t]);
  }
  assert_true(largest == after);
  free(strain);

  // numbers may change, the history stays
  NoliMaterialDef material;
  ASSERT_OK(noli_sim_material(read, 1, NOLI_NULL_INDEX, &material));
  material.parameter[0] = 2e4;
  ASSERT_OK(noli_sim_set_material(read, 1, NOLI_NULL_INDEX, &material));
  assert_true(largest_strain(read) == after);
  // what was got may be set again: the name of the law stays
  NoliMaterialDef again;
  ASSERT_OK(noli_sim_material(read, 1, NOLI_NULL_INDEX, &again));
  assert_ptr_equal(again.law, material.law);
  memset(material.parameter, 0, sizeof material.parameter);
  ASSERT_STATUS(noli_sim_set_material(read, 1, NOLI_NULL_INDEX, &material), NOLI_ERROR_ARGUMENT);
  material.law = "neo_hookean";
  ASSERT_STATUS(noli_sim_set_material(read, 1, NOLI_NULL_INDEX, &material), NOLI_ERROR_ARGUMENT);
  steps(read, 1);
  noli_sim_destroy(&clone);
  noli_sim_destroy(&read);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// ---- refusals -----------------------------------------------------------------------------------

static void refuse(const char* body, const char* message) {
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  char text[1000];
  snprintf(text, sizeof text, "{'time': {'step': 1, 'steps': 1}, 'bodies': [{%s}]}", body);
  assert_true(parse_quoted(context, text, &scene) != NOLI_OK);
  if (strstr(noli_context_message(context), message) == NULL) {
    fail_msg("\"%s\" is not in: %s", message, noli_context_message(context));
  }
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

#define BOX "'mesh': {'box': {'size': [1, 1, 1], 'cells': [1, 1, 1]}}, 'material': "

static void bad_input_is_refused(void** state) {
  (void)state;
  refuse(BOX "{'yield': 1e4}",
         "material.yield: is for the law \"hencky\", not for \"neo_hookean\"");
  refuse(BOX "{'law': 'hencky', 'yield': 0}", "bodies[0].material.yield: must be");
  refuse(BOX "{'law': 'hencky', 'hardening': 1e4}",
         "bodies[0].material.hardening: needs \"yield\"");
  refuse(BOX "{" METAL ", 'saturation': 1}", "material.saturation: needs \"saturation_rate\"");
  refuse(BOX "{" METAL ", 'saturation_rate': 1}", "material.saturation_rate: needs \"saturation\"");
  refuse(BOX "{" METAL ", 'hardening': -1}", "bodies[0].material.hardening: must be >= 0");
  refuse(BOX "{" METAL ", 'damping': 0.1}", "bodies[0].material.damping");
  refuse(BOX "{" METAL ", 'bulk': 1e6}", "bodies[0].material.bulk");
  refuse(BOX "{" METAL ", 'yeild': 1}", "did you mean \"yield\"");
  refuse(BOX "{" METAL ", 'fibre': {'direction': [1, 0, 0], 'k1': 1}}",
         "bodies[0].material.fibre: is not used with \"yield\"");
  refuse(
      "'mesh': {'line': {'length': 1, 'segments': 4}}, 'rod': {'radius': 0.01}, 'material': {" METAL
      "}",
      "bodies[0].material.yield: is for solids and bodies in plane strain, not for shells");

  // definitions
  NoliContext* context = test_context(1);
  NoliScene* scene;
  NoliSim *sim, *made = NULL;
  start(context, DROP, &scene, &sim);
  NoliSimDef def = *noli_scene_sim_def(scene);
  NoliBodyDef body = def.bodies[1];
  const double bad[][NOLI_LAW_PARAMETERS] = {
      {0.0, 1.0}, {1e4, -1.0}, {(double)NAN}, {1e4, 0.0, 1.0, 0.0}, {1e4, 0.0, 0.0, 0.0, 1.0}};
  const char* const message[] = {"hardens without a yield stress", "must be >= 0, got -1", "nan",
                                 "needs a rate", "has 4 parameters"};
  body.n_parts = 0;
  def.bodies = &body;
  def.n_bodies = 1;
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    memcpy(body.material.parameter, bad[k], sizeof bad[k]);
    ASSERT_STATUS(noli_sim_create(context, &def, &made), NOLI_ERROR_ARGUMENT);
    if (strstr(noli_context_message(context), message[k]) == NULL) {
      fail_msg("\"%s\" is not in: %s", message[k], noli_context_message(context));
    }
  }
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tension_and_compression_follow_the_scalar_model),
      cmocka_unit_test(all_elements_and_integrators_agree),
      cmocka_unit_test(states_are_complete),
      cmocka_unit_test(bad_input_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
