// Derivatives of runs by the parameters of rubbers, fibres and Prony series: both modes against
// each other and against central differences of runs.
#include "gradient_runs.h"

static int32_t add_box(World* world, double height) {
  int32_t body = add_plain_box(world, height);
  NoliMaterialDef* material = &world->body[body].material;
  material->young = 2e4;
  material->poisson = 0.3;
  material->density = 900;
  return body;
}

static void beam(World* world) {
  int32_t body = add_box(world, 1.0);
  world->body[body].angular_velocity[2] = 5.0;
  hold_left(world, body, 4);
}

static void set_ogden(World* world) {
  NoliMaterialDef* material = &world->body[0].material;
  material->law = "ogden";
  memcpy(material->parameter, (double[]){9e3, 1.7, -2e3, -2.4}, 4 * sizeof(double));
}

static void set_mooney(World* world) {
  NoliMaterialDef* material = &world->body[0].material;
  material->law = "mooney_rivlin";
  memcpy(material->parameter, (double[]){3e3, 1e3}, 2 * sizeof(double));
}

static void ogden_beam(World* world) {
  beam(world);
  set_ogden(world);
}

static void mooney_beam(World* world) {
  beam(world);
  set_mooney(world);
}

static void damped_ogden(World* world) {
  ogden_beam(world);
  world->body[0].material.damping = 0.01;
}

static void damped_mooney(World* world) {
  mooney_beam(world);
  world->body[0].material.damping = 0.01;
  world->body[0].order = 2;
}

static void set_fibres(World* world, bool vary) {
  static double fibre[64 * NOLI_FIBRE_VALUES];
  assert_true(world->body[0].mesh->n_tet <= 64);
  for (int32_t e = 0; e < 64; e++) {
    double k1 = vary ? 2e4 + 1e3 * e : 4e4;
    memcpy(fibre + NOLI_FIBRE_VALUES * e, (double[]){0.6, 0.0, 0.8, k1, 2.0},
           NOLI_FIBRE_VALUES * sizeof *fibre);
  }
  world->body[0].fields.fibre = fibre;
}

static void fibre_beam(World* world) {
  beam(world);
  set_fibres(world, false);
}

static void fibres_of_elements(World* world) {
  beam(world);
  set_fibres(world, true);
}

static void damped_fibres(World* world) {
  fibre_beam(world);
  world->body[0].material.damping = 0.01;
}

static void landing(World* world) {
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  int32_t body = add_box(world, 1.5e-3);
  world->body[body].velocity[0] = 0.5;
  world->body[body].velocity[1] = -1.0;
}

static void ogden_landing(World* world) {
  landing(world);
  set_ogden(world);
}

static const NoliProny prony = {.n = 2, .share = {0.4, 0.2}, .time = {0.01, 0.2}};

static void relaxing_beam(World* world) {
  beam(world);
  world->body[0].material.prony = &prony;
}

static void relaxing_at_rest(World* world) {
  relaxing_beam(world);
  world->body[0].angular_velocity[2] = 0.0;
}

static void relaxing_quadratic(World* world) {
  relaxing_beam(world);
  world->body[0].order = 2;
}

static void relaxing_landing(World* world) {
  landing(world);
  world->body[0].material.prony = &prony;
}

static void relaxing_rubber(World* world) {
  relaxing_beam(world);
  set_ogden(world);
  set_fibres(world, false);
}

static void relaxing_metal(World* world) {
  relaxing_beam(world);
  world->body[0].material.law = "hencky";
  memcpy(world->body[0].material.parameter, (double[]){400.0, 1500.0, 300.0, 20.0},
         4 * sizeof(double));
}

static void relaxing_plane(World* world) {
  int32_t body = add_flat_landing(world);
  world->body[body].material.young = 2e4;
  world->body[body].material.prony = &prony;
}

// A beam with two parts, the second one on elements that the first one has, too.
static NoliPartDef parts[2];
static const int32_t first_part[4] = {0, 1, 2, 4}, second_part[3] = {6, 4, 7};

static void parted_beam(World* world) {
  beam(world);
  for (int k = 0; k < 2; k++) {
    parts[k] = (NoliPartDef){.element = k == 0 ? first_part : second_part,
                             .n_element = k == 0 ? 4 : 3,
                             .material = world->body[0].material};
  }
  parts[0].material.young = 5e4;
  parts[0].material.poisson = 0.2;
  parts[1].material.density = 2500.0;
  world->body[0].parts = parts;
  world->body[0].n_parts = 2;
}

static void parted_quadratic(World* world) {
  parted_beam(world);
  world->body[0].order = 2;
}

// Parts of rubber, of metal and with a Prony series.
static void parted_laws(World* world) {
  parted_beam(world);
  parts[0].material.law = "ogden";
  memcpy(parts[0].material.parameter, (double[]){9e3, 1.7, -2e3, -2.4}, 4 * sizeof(double));
  parts[1].material.law = "hencky";
  memcpy(parts[1].material.parameter, (double[]){400.0, 1500.0, 300.0, 20.0}, 4 * sizeof(double));
  parts[1].material.prony = &prony;
}

#define PART(kind_, part_)                                                                         \
  { .kind = (kind_), .of = "body0", .part = (part_) }

static void materials_of_parts(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"parts, young of the body", parted_beam, NULL, 0.01, 6, PART("young", 0), 2, 1e-6},
      {"parts, young of the first", parted_beam, NULL, 0.01, 6, PART("young", 1), 5, 1e-6},
      {"parts, poisson of the first", parted_beam, "bdf2", 0.01, 6, PART("poisson", 1), 1e-4, 1e-6},
      {"parts, density of the body", parted_beam, NULL, 0.01, 6, PART("density", 0), 0.1, 1e-6},
      {"parts, density of the second", parted_beam, NULL, 0.01, 6, PART("density", 2), 0.2, 1e-6},
      {"parts, young of elements", parted_beam, NULL, 0.01, 6, ELEMENTS("young", "body0"), 5, 1e-6},
      {"parts, density of elements", parted_beam, NULL, 0.01, 6, ELEMENTS("density", "body0"), 0.3,
       1e-6},
      {"quadratic parts, density of the second", parted_quadratic, NULL, 0.01, 4,
       PART("density", 2), 0.2, 1e-6},
      {"quadratic parts, density of the body", parted_quadratic, NULL, 0.01, 4, PART("density", 0),
       0.1, 1e-6},
      {"parts, mu of the first", parted_laws, NULL, 0.01, 6, PART("ogden_mu", 1), 5, 1e-6},
      {"parts, poisson of rubber", parted_laws, NULL, 0.01, 6, PART("poisson", 1), 1e-4, 1e-6},
      {"parts, yield of the second", parted_laws, NULL, 0.01, 6, PART("yield", 2), 0.05, 1e-6},
      {"parts, times of the second", parted_laws, NULL, 0.01, 6, PART("prony_tau", 2), 1e-5, 1e-6},
  };
  COMPARE(cases);
}

static void numbers_of_rubbers(void** state) {
  (void)state;
  static const int32_t second[] = {1};
  static const GradientCase cases[] = {
      {"mooney, c10", mooney_beam, NULL, 0.01, 6, OF("c10", "body0"), 5, 1e-6},
      {"mooney, c01", mooney_beam, "bdf2", 0.01, 6, OF("c01", "body0"), 2, 1e-6},
      {"ogden, mu", ogden_beam, NULL, 0.01, 6, OF("ogden_mu", "body0"), 5, 1e-6},
      {"ogden, alpha", ogden_beam, "sdirk2", 0.01, 5, OF("ogden_alpha", "body0"), 1e-2, 1e-6},
      {"ogden trapezoidal, mu", ogden_beam, "trapezoidal", 0.01, 5, OF("ogden_mu", "body0"), 5,
       1e-6},
      {"ogden, second alpha",
       ogden_beam,
       NULL,
       0.01,
       5,
       {.kind = "ogden_alpha", .of = "body0", .index = second, .n_index = 1},
       1e-2,
       1e-6},
      {"ogden, landing, alpha", ogden_landing, NULL, 0.002, 10, OF("ogden_alpha", "body0"), 1e-2,
       1e-5},
      {"damped ogden, mu", damped_ogden, NULL, 0.01, 5, OF("ogden_mu", "body0"), 5, 1e-6},
      {"damped ogden, alpha", damped_ogden, "bdf2", 0.01, 5, OF("ogden_alpha", "body0"), 1e-2,
       1e-6},
      {"damped mooney, c01", damped_mooney, NULL, 0.01, 5, OF("c01", "body0"), 2, 1e-6},
      {"fibres, k1", fibre_beam, NULL, 0.01, 6, OF("fibre_k1", "body0"), 10, 1e-6},
      {"fibres, k2", fibre_beam, "bdf2", 0.01, 6, OF("fibre_k2", "body0"), 0.05, 1e-6},
      {"fibres of elements, k1", fibres_of_elements, NULL, 0.01, 5, ELEMENTS("fibre_k1", "body0"),
       10, 1e-6},
      {"damped fibres, k1", damped_fibres, NULL, 0.01, 5, OF("fibre_k1", "body0"), 10, 1e-6},
      {"damped fibres, k2", damped_fibres, "bdf2", 0.01, 5, OF("fibre_k2", "body0"), 0.05, 1e-6},
      {"relaxing, g", relaxing_beam, NULL, 0.005, 8, OF("prony_g", "body0"), 1e-4, 1e-6},
      {"relaxing, tau", relaxing_beam, NULL, 0.005, 8, OF("prony_tau", "body0"), 1e-5, 1e-6},
      {"relaxing bdf2, tau", relaxing_beam, "bdf2", 0.005, 8, OF("prony_tau", "body0"), 1e-5, 1e-6},
      {"relaxing sdirk2, g", relaxing_quadratic, "sdirk2", 0.005, 4, OF("prony_g", "body0"), 1e-4,
       1e-6},
      {"relaxing tr_bdf2, tau", relaxing_beam, "tr_bdf2", 0.005, 5, OF("prony_tau", "body0"), 1e-5,
       1e-6},
      {"relaxing trapezoidal, g", relaxing_beam, "trapezoidal", 0.005, 5, OF("prony_g", "body0"),
       1e-4, 1e-6},
      {"relaxing quasi-static, tau", relaxing_at_rest, "quasi_static", 0.005, 4,
       OF("prony_tau", "body0"), 1e-5, 1e-6},
      {"relaxing, landing, tau", relaxing_landing, NULL, 0.002, 10, OF("prony_tau", "body0"), 1e-5,
       1e-5},
      {"relaxing, landing, g", relaxing_landing, "sdirk2", 0.002, 8, OF("prony_g", "body0"), 1e-4,
       1e-5},
      {"relaxing in a plane, tau", relaxing_plane, NULL, 0.002, 8, OF("prony_tau", "body0"), 1e-5,
       1e-5},
      {"relaxing rubber, alpha", relaxing_rubber, NULL, 0.005, 6, OF("ogden_alpha", "body0"), 1e-2,
       1e-6},
      {"relaxing rubber, mu", relaxing_rubber, NULL, 0.005, 6, OF("ogden_mu", "body0"), 5, 1e-6},
      {"relaxing rubber, k1", relaxing_rubber, NULL, 0.005, 6, OF("fibre_k1", "body0"), 10, 1e-6},
      {"relaxing metal, tau", relaxing_metal, NULL, 0.005, 8, OF("prony_tau", "body0"), 1e-5, 1e-5},
  };
  COMPARE(cases);
}

static const NoliGoalDef energy = ENERGY_GOAL, stress = STRESS_GOAL;

static void stresses_and_energies(void** state) {
  (void)state;
  static const char* const kinds[] = {"ogden_mu", "ogden_alpha", "fibre_k1",
                                      "fibre_k2", "prony_g",     "prony_tau"};
  static const double steps[] = {5, 1e-2, 30, 0.05, 1e-4, 3e-5};
  for (int k = 0; k < 12; k++) {
    GradientCase run = {kinds[k / 2], relaxing_rubber, NULL, 0.005, 4, {0}, steps[k / 2], 1e-6};
    run.parameter = (NoliParameterDef)OF(kinds[k / 2], "body0");
    compare_case(&run, k % 2 == 0 ? &energy : &stress);
  }
}

static void what_there_is_not(void** state) {
  (void)state;
  static const int32_t third[] = {2};
  static const struct {
    void (*build)(World* world);
    NoliParameterDef parameter;
    const char* words;
  } cases[] = {
      {beam, OF("c10", "body0"), "give it material.c10"},
      {ogden_beam, OF("c01", "body0"), "does not have the law \"mooney_rivlin\""},
      {beam, OF("ogden_mu", "body0"), "give it a material.ogden"},
      {beam, OF("prony_g", "body0"), "has no material.prony"},
      {beam, OF("fibre_k1", "body0"), "has no material.fibre"},
      {fibres_of_elements, OF("fibre_k1", "body0"), "choose the scope \"elements\""},
      {relaxing_beam, {.kind = "prony_g", .of = "body0", .scope = "body"}, "has no scope \"body\""},
      {relaxing_beam,
       {.kind = "prony_g", .of = "body0", .index = third, .n_index = 1},
       "has no term 2"},
      {beam, {.kind = "young", .of = "body0", .scope = "terms"}, "has no scope \"terms\""},
      {parted_beam, PART("young", 3), "has no part 2, it has 2"},
      {parted_beam, PART("young", -1), "the part must be >= 0, got -1"},
      {parted_laws, PART("young", 1), "parameters of rubber"},
      {parted_laws, PART("yield", 1), "does not yield"},
      {parted_laws, ELEMENTS("young", "body0"), "parameters of rubber"},
      {parted_beam,
       {.kind = "density", .of = "body0", .scope = "elements", .part = 1},
       "leave the part out"},
      {parted_beam, {.kind = "rest_position", .of = "body0", .part = 1}, "is of no material"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const GradientCase c = {"refused", cases[i].build, NULL, 0.01, 1, {0}, 0, 0};
    World world = built_world(&c);
    expect_refusal(&world, 1, &cases[i].parameter, cases[i].words);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_of_rubbers), cmocka_unit_test(materials_of_parts),
      cmocka_unit_test(stresses_and_energies), cmocka_unit_test(what_there_is_not)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
