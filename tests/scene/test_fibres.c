// Fibres in scenes: their values in elements and parts, what they resist, and what is refused.
#include "scene_support.h"

#include "noli/noli.h"

#define HEAD                                                                                       \
  "'time': {'step': 1, 'steps': 1, 'integrator': 'quasi_static'}, 'gravity': [0, 0, 0],"           \
  "'contact': {'enabled': false}, 'solver': {'tolerance': 1e-9}"
#define BAR(mesh, rest)                                                                            \
  "{" HEAD ", 'bodies': [{'name': 'bar', 'mesh': " mesh ", 'material': {'young': 1e5,"             \
  "'poisson': 0" rest "}]}"
#define BOX "{'box': {'size': [1, 1, 1], 'cells': [2, 2, 2]}}"
#define ALONG ", 'fibre': {'direction': [2, 0, 0], 'k1': 1e5, 'k2': 0.5}}"

static NoliScene* read_scene(NoliContext* context, const char* text) {
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(context, text, &scene));
  return scene;
}

static void values_depend_on_the_place(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = read_scene(
      context, BAR(BOX, ", 'fibre': {'direction': ['X', 'Y', 1], 'k1': '1e5*(2 + Z)'}},"
                        "'parts': [{'select': {'box': {'min': [-1, -1, -1], 'max': [0, 1, 1]}},"
                        "'material': {'young': 2e5}},"
                        "{'select': {'box': {'min': [0, 0, -1], 'max': [1, 1, 1]}},"
                        "'material': {'fibre': {'direction': [1, 0, 0], 'k1': 0}}}]"));
  const NoliBodyDef* body = noli_scene_sim_def(scene)->bodies;
  const NoliMesh* mesh = body->mesh;
  const double* fibre = body->fields.fibre;
  assert_non_null(fibre);
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    double at[3] = {0};
    for (int i = 0; i < 12; i++) {
      at[i % 3] += 0.25 * mesh->x[3 * mesh->tet[4 * t + i / 3] + i % 3];
    }
    const double want[] = {at[0], at[1], 1.0, 1e5 * (2.0 + at[2]), 0.0};
    for (int i = 0; i < NOLI_FIBRE_VALUES; i++) {
      ASSERT_NEAR(fibre[NOLI_FIBRE_VALUES * t + i], want[i], 1e-12 * (1.0 + fabs(want[i])));
    }
  }

  // one part has those of the body, the other its own
  assert_int_equal(body->n_parts, 2);
  const NoliPartDef* part = body->parts;
  assert_true(part[0].n_element > 0 && part[1].n_element > 0);
  for (int64_t i = 0; i < part[0].n_element; i++) {
    assert_memory_equal(part[0].fields.fibre + NOLI_FIBRE_VALUES * i,
                        fibre + NOLI_FIBRE_VALUES * (int64_t)part[0].element[i],
                        NOLI_FIBRE_VALUES * sizeof(double));
  }
  for (int64_t i = 0; i < part[1].n_element; i++) {
    assert_true(part[1].fields.fibre[NOLI_FIBRE_VALUES * i + 3] == 0.0);
  }
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// The mean of P_xx and of Cauchy's stress after a cube without lateral strain has the stretch.
static void stretch(const char* material, const char* more, double stretch_x, double got[2]) {
  NoliContext* context = test_context(1);
  char text[2000];
  snprintf(text, sizeof text,
           "{" HEAD ", 'bodies': [{'name': 'bar', 'mesh': " BOX ", %s 'material': {'young': 1e5,"
           "'poisson': 0%s}], 'prescribed': ["
           "{'body': 'bar', 'select': {'side': '-x'}, 'motion': {'displacement': [0, 0, 0]}},"
           "{'body': 'bar', 'select': {'side': '+x'}, 'motion': {'displacement': [%.17g, 0, 0]}}]}",
           more, material, stretch_x - 1.0);
  NoliScene* scene = read_scene(context, text);
  NoliSim* sim = NULL;
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  ASSERT_OK(noli_sim_step(sim, NULL));
  int32_t n = noli_sim_tet_count(sim);
  NoliStress* stress = malloc(sizeof *stress * (size_t)n);
  ASSERT_OK(noli_sim_stresses(sim, stress));
  got[0] = got[1] = 0.0;
  for (int32_t t = 0; t < n; t++) {
    got[0] += stress[t].first_piola[0] / n;
    got[1] += stress[t].cauchy[0] / n;
    // uniaxial
    ASSERT_NEAR(stress[t].von_mises, fabs(stress[t].cauchy[0]), 1e-5 * stress[t].von_mises);
  }
  free(stress);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// P without lateral strain, for Poisson's ratio 0, and fibres along x.
static void stress_is_that_of_the_formula(void** state) {
  (void)state;
  const double stretches[] = {1.2, 0.8};
  const char* const orders[] = {"", "'order': 2,"};
  for (int o = 0; o < 2; o++) {
    for (int k = 0; k < 2; k++) {
      double s = stretches[k], e = s * s - 1.0, w = 0.01, plain[2], along[2], across[2];
      double matrix = 5e4 * (s - 1.0 / s);
      double fibre = s > 1.0 ? 2e5 * e * s * exp(0.5 * (e * e - w * w / 6.0)) : 0.0;
      stretch("}", orders[o], s, plain);
      stretch(ALONG, orders[o], s, along);
      stretch(", 'fibre': {'direction': [0, 1, 0], 'k1': 1e5}}", orders[o], s, across);
      ASSERT_NEAR(plain[0], matrix, 1e-5 * fabs(matrix));
      ASSERT_NEAR(along[0], matrix + fibre, 1e-5 * fabs(matrix + fibre));
      ASSERT_NEAR(along[1], along[0], 1e-5 * fabs(along[0]) + 1e-2);
      ASSERT_NEAR(across[0], matrix, 1e-5 * fabs(matrix));
    }
  }
}

// A simulation keeps its fibres when the caller's change, in clones and when materials change: the
// same material again changes no bit of what follows.
static void simulations_own_their_fibres(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = read_scene(
      context,
      "{'time': {'step': 0.01, 'steps': 3}, 'contact': {'enabled': false}, 'bodies': [{"
      "'name': 'bar', 'mesh': " BOX ", 'material': {'damping': 0.01, 'young': 1e4, 'fibre':"
      "{'direction': [1, 'Y', 0], 'k1': 1e5}}, 'parts': [{'select': {'side': '+y', 'depth': 0.4},"
      "'material': {'young': 2e4}}]}], 'prescribed': [{'body': 'bar', 'select':"
      "{'side': '-x'}, 'motion': {'displacement': ['-t', 0, 0]}}]}");
  NoliSim *sim[4] = {NULL}, *clone = NULL;
  NoliSimDef def = *noli_scene_sim_def(scene);
  NoliBodyDef body = def.bodies[0];
  NoliPartDef part_def = body.parts[0];
  size_t size = NOLI_FIBRE_VALUES * sizeof(double);
  size_t sizes[] = {size * (size_t)body.mesh->n_tet, size * (size_t)part_def.n_element};
  double *of_body = malloc(sizes[0]), *of_part = malloc(sizes[1]);
  memcpy(of_body, body.fields.fibre, sizes[0]);
  memcpy(of_part, part_def.fields.fibre, sizes[1]);
  body.fields.fibre = of_body;
  part_def.fields.fibre = of_part;
  body.parts = &part_def;
  def.bodies = &body;
  for (int k = 0; k < 3; k++) {
    ASSERT_OK(noli_sim_create(context, &def, &sim[k]));
  }
  memset(of_body, 0, sizes[0]);
  memset(of_part, 0, sizes[1]);
  // one without fibres, whose result must differ
  body.fields.fibre = part_def.fields.fibre = NULL;
  ASSERT_OK(noli_sim_create(context, &def, &sim[3]));

  ASSERT_OK(noli_sim_clone(sim[1], context, &clone));
  noli_sim_destroy(&sim[1]);
  sim[1] = clone;
  for (int32_t part = NOLI_NULL_INDEX; part <= 0; part++) {
    NoliMaterialDef material;
    ASSERT_OK(noli_sim_material(sim[2], 0, part, &material));
    ASSERT_OK(noli_sim_set_material(sim[2], 0, part, &material));
  }
  uint64_t hash[4];
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < 3; i++) {
      ASSERT_OK(noli_sim_step(sim[k], NULL));
    }
    hash[k] = noli_sim_state_hash(sim[k]);
    noli_sim_destroy(&sim[k]);
  }
  assert_true(hash[1] == hash[0]);
  assert_true(hash[2] == hash[0]);
  assert_true(hash[3] != hash[0]);
  free(of_body);
  free(of_part);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void refuse(const char* text, const char* message) {
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  assert_true(parse_quoted(context, text, &scene) != NOLI_OK);
  if (strstr(noli_context_message(context), message) == NULL) {
    fail_msg("\"%s\" is not in: %s", message, noli_context_message(context));
  }
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void bad_input_is_refused(void** state) {
  (void)state;
  refuse(BAR(BOX, ", 'fibre': {'direction': [0, 0, 0], 'k1': 1e5}}"),
         "bodies[0].material.fibre.direction: must be finite and not 0, got (0, 0, 0) at (");
  refuse(BAR(BOX, ", 'fibre': {'direction': ['1/0', 0, 0], 'k1': 1e5}}"),
         "material.fibre.direction");
  refuse(BAR(BOX, ", 'fibre': {'direction': [1, 0, 0], 'k1': 'X'}}"),
         "bodies[0].material.fibre.k1: must be in [0, 1e+40], got -");
  refuse(BAR(BOX, ", 'fibre': {'direction': [1, 0, 0], 'k1': 1, 'k2': -1}}"),
         "bodies[0].material.fibre.k2: must be in [0, 10000], got -1 at (");
  refuse(BAR(BOX, ", 'fibre': {'direction': [1, 0, 0], 'k1': 't'}}"), "material.fibre.k1");
  refuse(BAR(BOX, ", 'fibre': {'direction': [1, 0, 0]}}"), "k1");
  refuse(BAR(BOX, ", 'fibre': {'direction': [1, 0, 0], 'k1': 1, 'k3': 1}}"), "k3");
  refuse(BAR("{'rectangle': {'size': [1, 1], 'cells': [2, 2]}}",
             ALONG ", 'shell': {'thickness': 0.1}"),
         "bodies[0].material.fibre: is for solids and bodies in plane strain, not for shells");

  // definitions
  NoliContext* context = test_context(1);
  NoliScene* scene = read_scene(context, BAR(BOX, ALONG));
  NoliSimDef def = *noli_scene_sim_def(scene);
  NoliBodyDef body = def.bodies[0];
  int64_t n = NOLI_FIBRE_VALUES * (int64_t)body.mesh->n_tet;
  double* fibre = malloc(sizeof *fibre * (size_t)n);
  const struct {
    int index;
    double value;
    const char* message;
  } bad[] = {{0, 0.0, "element 1 at ("},
             {0, (double)NAN, "the direction of fibres must be finite and not 0, got (nan"},
             {3, -1.0, "k1 of fibres must be in [0, 1e+40], got -1"},
             {3, (double)NAN, "k1 of fibres"},
             {4, (double)INFINITY, "k2 of fibres must be in [0, 10000], got inf"}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    NoliSim* sim = NULL;
    memcpy(fibre, body.fields.fibre, sizeof *fibre * (size_t)n);
    fibre[NOLI_FIBRE_VALUES + bad[k].index] = bad[k].value;
    NoliBodyDef changed = body;
    changed.fields.fibre = fibre;
    def.bodies = &changed;
    ASSERT_STATUS(noli_sim_create(context, &def, &sim), NOLI_ERROR_ARGUMENT);
    if (strstr(noli_context_message(context), bad[k].message) == NULL) {
      fail_msg("\"%s\" is not in: %s", bad[k].message, noli_context_message(context));
    }
  }
  free(fibre);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_depend_on_the_place),
      cmocka_unit_test(stress_is_that_of_the_formula),
      cmocka_unit_test(simulations_own_their_fibres),
      cmocka_unit_test(bad_input_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
