// Derivatives of runs by their parameters: of small scenes with contact that opens and closes,
// sticks and slides, the derivative of an objective along one direction of all variables, from the
// adjoint, beside central differences of complete runs, and beside the tangent mode.
#include "cases.h"
#include "direction.h"
#include "run.h"

#include <math.h>
#include <string.h>

enum { N_REPLACED = 7 };

// Everything that a case changes in its scene.
typedef struct DerivativeCase {
  const char* scene;
  const char* what;
  NoliSceneOverride replaced[N_REPLACED];
} DerivativeCase;

static const DerivativeCase cases[] = {
    {"land", "contact begins and ends", {{NULL, NULL}}},
    {"land",
     "contact begins and ends",
     {{"time.integrator", "bdf2"},
      {"design.variables", "[{\"parameter\": \"gravity\", \"lower\": -20, \"upper\": 20}]"},
      {"design.objective", "[{\"quantity\": \"centre\", \"body\": \"cube\", \"component\": \"y\", "
                           "\"form\": \"value\"}]"}}},
    {"land",
     "contact begins and ends",
     {{"time.integrator", "sdirk2"},
      {"design.variables",
       "[{\"parameter\": \"young\", \"of\": \"cube\", \"lower\": 10000.0, \"upper\": 1000000.0}]"},
      {"design.objective", "[{\"quantity\": \"elastic_energy\", \"body\": \"cube\", \"over\": [0, "
                           "1], \"form\": \"value\"}]"}}},
    {"land",
     "contact begins and ends",
     {{"time.integrator", "tr_bdf2"},
      {"design.variables",
       "[{\"parameter\": \"density\", \"of\": \"cube\", \"lower\": 100, \"upper\": 5000}]"},
      {"design.objective", "[{\"quantity\": \"contact_force\", \"body\": \"cube\", \"component\": "
                           "\"y\", \"over\": [0, 1], \"form\": \"value\"}]"}}},
    {"slide", "slides, lagged friction", {{NULL, NULL}}},
    {"slide",
     "slides, implicit friction",
     {{"friction.method", "implicit"},
      {"solver.method", "implicit_newton"},
      {"design.objective[0].quantity", "velocity"}}},
    {"slide", "comes to rest", {{"time.steps", "50"}}},
    {"slide",
     "slides, lagged friction",
     {{"design.variables",
       "[{\"parameter\": \"initial_velocity\", \"of\": \"block\", \"lower\": -1, \"upper\": 1}]"},
      {"design.objective",
       "[{\"quantity\": \"kinetic_energy\", \"body\": \"block\", \"form\": \"value\"}]"}}},
    {"slide",
     "is pushed and slides",
     {{"design.variables",
       "[{\"parameter\": \"force\", \"of\": \"push\", \"lower\": 0, \"upper\": 10}]"},
      {"design.objective[0].component", "z"}}},
    {"slide",
     "slides, lagged friction",
     {{"design.variables",
       "[{\"parameter\": \"contact_distance\", \"lower\": 0.0001, \"upper\": 0.01}]"},
      {"design.objective", "[{\"quantity\": \"contact_pressure\", \"body\": \"block\", \"of\": "
                           "\"norm\", \"form\": \"value\", \"over\": [0, 1]}]"}}},
    {"stack", "sticks", {{NULL, NULL}}},
    {"stack",
     "upper block slides",
     {{"pairs", "[{\"a\": \"lower\", \"b\": \"upper\", \"friction\": 0.1}]"},
      {"design.variables", "[{\"parameter\": \"friction\", \"of\": \"lower\", \"with\": \"upper\", "
                           "\"lower\": 0.05, \"upper\": 0.15}]"},
      {"design.objective", "[{\"quantity\": \"displacement\", \"body\": \"upper\", \"component\": "
                           "\"x\", \"form\": \"value\"}]"}}},
    {"press", "pressed, load steps", {{NULL, NULL}}},
    {"press",
     "pressed, load steps",
     {{"design.variables",
       "[{\"parameter\": \"poisson\", \"of\": \"ball\", \"lower\": 0.1, \"upper\": 0.45}]"},
      {"design.objective", "[{\"quantity\": \"von_mises\", \"body\": \"ball\", \"of\": \"norm\", "
                           "\"form\": \"value\"}]"}}},
    {"press",
     "pressed, load steps",
     {{"design.variables",
       "[{\"parameter\": \"rest_position\", \"of\": \"ball\", \"control\": \"cage\", \"cage\": [2, "
       "3, 2], \"lower\": -0.002, \"upper\": 0.002}]"}}},
    {"press",
     "pressed, load steps",
     {{"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"ball\", \"control\": "
                           "\"cage\", \"cage\": [2, 3, 2], \"lower\": -0.002, \"upper\": 0.002}]"},
      {"design.objective", "[{\"quantity\": \"contact_pressure\", \"body\": \"ball\", \"of\": "
                           "\"norm\", \"form\": \"value\"}]"}}},
    {"strike", "impact, lagged friction", {{NULL, NULL}}},
    {"strike",
     "impact, implicit friction",
     {{"friction.method", "implicit"},
      {"solver.method", "implicit_newton"},
      {"design.variables",
       "[{\"parameter\": \"density\", \"of\": \"ball\", \"lower\": 100, \"upper\": 5000}]"},
      {"design.objective", "[{\"quantity\": \"velocity\", \"body\": \"cube\", \"component\": "
                           "\"x\", \"form\": \"value\"}]"}}},
    {"beam", "vibrates", {{NULL, NULL}}},
    {"beam",
     "vibrates",
     {{"time.integrator", "trapezoidal"},
      {"design.variables", "[{\"parameter\": \"young\", \"of\": \"beam\", \"scope\": \"elements\", "
                           "\"lower\": 100000.0, \"upper\": 10000000.0}]"},
      {"design.objective[0].quantity", "velocity"}}},
    {"beam",
     "bends, load steps",
     {{"time.integrator", "quasi_static"},
      {"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"beam\", \"control\": "
                           "\"cage\", \"lower\": -0.01, \"upper\": 0.01}]"}}},
    {"land",
     "order 2",
     {{"bodies[0].order", "2"},
      {"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"cube\", \"control\": "
                           "\"cage\", \"cage\": [2, 2, 1], \"lower\": -0.01, \"upper\": 0.01}]"}}},
    {"slide",
     "is pushed and slides, total force, order 2",
     {{"bodies[0].order", "2"},
      {"forces", "[{\"body\": \"block\", \"total\": [0, 0, 2], \"select\": {\"side\": \"-x\"}}]"},
      {"design.variables", "[{\"parameter\": \"density\", \"of\": \"block\", \"scope\": "
                           "\"elements\", \"lower\": 100, \"upper\": 5000}]"},
      {"design.objective", "[{\"quantity\": \"displacement\", \"body\": \"block\", \"component\": "
                           "\"z\", \"form\": \"value\"}]"}}},
    {"land",
     "total force, order 3",
     {{"time.integrator", "bdf2"},
      {"bodies[0].order", "3"},
      {"forces", "[{\"body\": \"cube\", \"total\": [3, 0, 0], \"select\": {\"side\": \"+y\"}}]"},
      {"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"cube\", \"control\": "
                           "\"cage\", \"cage\": [2, 2, 1], \"lower\": -0.01, \"upper\": 0.01}]"}}},
    {"press",
     "pressed, load steps, curved mesh of linear elements",
     {{"bodies[0].mesh.sphere.geometry_order", "2"},
      {"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"ball\", \"control\": "
                           "\"cage\", \"cage\": [2, 3, 2], \"lower\": -0.002, \"upper\": 0.002}]"},
      {"design.objective", "[{\"quantity\": \"von_mises\", \"body\": \"ball\", \"of\": \"norm\", "
                           "\"form\": \"value\"}]"}}},
    {"land",
     "order 2, a finer surface around it",
     {{"bodies[0].order", "2"},
      {"bodies[0].proxy",
       "{\"mesh\": {\"box\": {\"size\": [0.102, 0.102, 0.102], \"cells\": [3, 3, 3]}}}"},
      {"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"cube\", \"control\": "
                           "\"cage\", \"cage\": [2, 2, 1], \"lower\": -0.01, \"upper\": 0.01}]"}}},
    {"land",
     "surface of a length of edges, geometric potential",
     {{"contact.model", "gcp"},
      {"contact.stiffness", "1e5"},
      {"bodies[0].proxy", "{\"edge_length\": 0.03}"},
      {"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"cube\", \"control\": "
                           "\"cage\", \"cage\": [2, 2, 1], \"lower\": -0.01, \"upper\": 0.01}]"}}},
    {"land",
     "damping in proportion to stiffness",
     {{"bodies[0].material.damping", "0.002"},
      {"design.variables",
       "[{\"parameter\": \"density\", \"of\": \"cube\", \"lower\": 100, \"upper\": 5000}]"}}},
    {"slide",
     "slides, geometric potential",
     {{"contact.model", "gcp"}, {"contact.stiffness", "1e5"}}},
    {"press",
     "a motion presses more, load steps",
     {{"design.variables",
       "[{\"parameter\": \"motion\", \"of\": \"plate\", \"lower\": 0.5, \"upper\": 2}]"}}},
    {"land",
     "metal, flows",
     {{"bodies[0].material.law", "hencky"},
      {"bodies[0].material.yield", "500"},
      {"bodies[0].material.hardening", "2e3"},
      {"design.variables",
       "[{\"parameter\": \"yield\", \"of\": \"cube\", \"lower\": 100, \"upper\": 1000}]"}}},
    {"land",
     "metal, flows",
     {{"time.integrator", "bdf2"},
      {"bodies[0].material.law", "hencky"},
      {"bodies[0].material.yield", "500"},
      {"bodies[0].material.hardening", "2e3"},
      {"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"cube\", \"control\": "
                           "\"cage\", \"cage\": [2, 2, 1], \"lower\": -0.01, \"upper\": 0.01}]"},
      {"design.objective", "[{\"quantity\": \"von_mises\", \"body\": \"cube\", \"of\": \"norm\", "
                           "\"form\": \"value\"}]"}}},
    {"land",
     "relaxes, order 2",
     {{"bodies[0].order", "2"},
      {"bodies[0].material.prony", "[[0.4, 0.01], [0.2, 0.2]]"},
      {"design.variables",
       "[{\"parameter\": \"young\", \"of\": \"cube\", \"lower\": 10000.0, \"upper\": 1000000.0}]"},
      {"design.objective", "[{\"quantity\": \"elastic_energy\", \"body\": \"cube\", \"over\": [0, "
                           "1], \"form\": \"value\"}]"}}},
    {"sheet", "a shell bends over a ball", {{NULL, NULL}}},
    {"sheet",
     "a shell bends over a ball",
     {{"design.variables", "[{\"parameter\": \"poisson\", \"of\": \"sheet\", \"lower\": 0.1, "
                           "\"upper\": 0.45}]"}}},
    {"sheet",
     "a woven shell bends over a ball",
     {{"bodies[0].shell", "{\"thickness\": 0.002, \"woven\": true, \"weft\": 0.5, \"warp\": [1, "
                          "0.5, 0]}"},
      {"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"sheet\", \"control\": "
                           "\"cage\", \"cage\": [2, 1, 2], \"lower\": -0.01, \"upper\": 0.01}]"}}},
    {"rod", "a rod falls on a floor", {{NULL, NULL}}},
    {"rod",
     "a rod with twist falls on a floor",
     {{"bodies[0].rod", "{\"radius\": 0.004, \"twist\": 1}"}}},
    {"rod",
     "a rod with twist falls on a floor",
     {{"bodies[0].rod", "{\"radius\": 0.004, \"twist\": 1}"},
      {"time.integrator", "bdf2"},
      {"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"rod\", \"control\": "
                           "\"cage\", \"cage\": [2, 2, 1], \"lower\": -0.01, \"upper\": 0.01}]"}}},
    {"rod",
     "a damped tape with twist falls on a floor",
     {{"bodies[0].rod",
       "{\"radius\": 0.004, \"second_radius\": 0.002, \"normal\": [0, 1, 0], \"twist\": 1}"},
      {"bodies[0].material.damping", "0.003"},
      {"design.variables",
       "[{\"parameter\": \"radius\", \"of\": \"rod\", \"lower\": 0.003, \"upper\": 0.005}]"}}},
    {"rod",
     "a rod with twist falls on a floor, turned at one end",
     {{"bodies[0].rod", "{\"radius\": 0.004, \"twist\": 1}"},
      {"prescribed[0].select",
       "{\"half_space\": {\"origin\": [-0.11, 0, 0], \"normal\": [-1, 0, 0]}}"},
      {"prescribed[0].motion", "{\"name\": \"drive\", \"rotation\": {\"axis\": [1, 0.2, 0], "
                               "\"speed\": 200}}"},
      {"design.variables",
       "[{\"parameter\": \"motion_spin\", \"of\": \"drive\", \"lower\": [-5, -5, "
       "-5], \"upper\": [5, 5, 5]}]"}}},
    {"rod",
     "a rod falls on a floor",
     {{"design.variables", "[{\"parameter\": \"contact_offset\", \"of\": \"rod\", \"lower\": "
                           "0.001, \"upper\": 0.01}]"}}},
    {"drive", "slips on a driven table, smooth surfaces", {{"debug.audit", "false"}}},
    {"drive",
     "slips on a driven table, smooth surfaces, implicit friction",
     {{"debug.audit", "false"},
      {"friction.method", "implicit"},
      {"solver.method", "implicit_newton"},
      {"design.variables", "[{\"parameter\": \"initial_position\", \"of\": \"table\", \"lower\": "
                           "[-0.1, -0.001, -0.1], \"upper\": [0.1, 0, 0.1]}]"}}},
    {"stack",
     "tied, the lower block sticks",
     {{"time.integrator", "bdf2"},
      {"bodies[1].translate", "[0.013, 0.1512, 0.007]"},
      {"ties", "[{\"body\": \"upper\", \"select\": {\"side\": \"-y\"}, \"to\": \"lower\", "
               "\"distance\": 0.002}]"},
      {"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"upper\", \"control\": "
                           "\"cage\", \"cage\": [2, 2, 1], \"lower\": -0.01, \"upper\": 0.01}]"}}},
    {"stack",
     "tied, the lower block sticks",
     {{"time.integrator", "tr_bdf2"},
      {"bodies[1].translate", "[0.013, 0.1512, 0.007]"},
      {"ties", "[{\"body\": \"upper\", \"select\": {\"side\": \"-y\"}, \"to\": \"lower\", "
               "\"distance\": 0.002}]"},
      {"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"upper\", \"control\": "
                           "\"cage\", \"cage\": [2, 2, 1], \"lower\": -0.01, \"upper\": 0.01}]"}}},
    {"stack",
     "tied, the lower block of order 2 sticks",
     {{"time.integrator", "trapezoidal"},
      {"time.step", "0.002"},
      {"bodies[0].order", "2"},
      {"bodies[1].translate", "[0.013, 0.1512, 0.007]"},
      {"ties", "[{\"body\": \"upper\", \"select\": {\"side\": \"-y\"}, \"to\": \"lower\", "
               "\"distance\": 0.002}]"},
      {"design.variables",
       "[{\"parameter\": \"density\", \"of\": \"lower\", \"lower\": 100, \"upper\": 5000}]"}}},
    {"land",
     "rubber, contact begins and ends",
     {{"bodies[0].material", "{\"law\": \"ogden\", \"ogden\": [[40000.0, 2], [2000.0, -2]], "
                             "\"bulk\": 1000000.0, \"density\": 1000}"},
      {"design.variables", "[{\"parameter\": \"ogden_mu\", \"of\": \"cube\", \"lower\": 1000.0, "
                           "\"upper\": 100000.0}]"}}},
    {"land",
     "rubber, contact begins and ends",
     {{"time.integrator", "tr_bdf2"},
      {"bodies[0].material", "{\"law\": \"mooney_rivlin\", \"c10\": 10000.0, \"c01\": 2000.0, "
                             "\"bulk\": 1000000.0, \"density\": 1000}"},
      {"design.variables", "[{\"parameter\": \"c01\", \"of\": \"cube\", \"lower\": 1000.0, "
                           "\"upper\": 100000.0}]"}}},
    {"beam",
     "a traction that varies with place",
     {{"forces[0]",
       "{\"name\": \"end\", \"body\": \"beam\", \"select\": {\"side\": \"+y\"}, "
       "\"traction\": [\"20*sin(9*Z)\", \"-100*(1 + 20*X*X)*exp(3*X)\", \"300*X*t\"]}"},
      {"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"beam\", \"control\": "
                           "\"cage\", \"lower\": -0.01, \"upper\": 0.01}]"}}},
    {"beam",
     "order 2, a pressure that varies with place",
     {{"time.integrator", "bdf2"},
      {"bodies[0].order", "2"},
      {"forces[0]", "{\"name\": \"end\", \"body\": \"beam\", \"select\": {\"side\": \"+y\"}, "
                    "\"pressure\": \"150*smoothstep(-0.13, 0.11, X)*cos(30*Z)\"}"},
      {"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"beam\", \"control\": "
                           "\"cage\", \"lower\": -0.01, \"upper\": 0.01}]"}}},
    {"beam",
     "a motion bends one half",
     {{"prescribed[0].select",
       "{\"half_space\": {\"origin\": [-0.01, 0, 0], \"normal\": [-1, 0, 0]}}"},
      {"prescribed[0].motion", "{\"name\": \"drive\", \"displacement\": [\"-8*t*(X + 0.2)*Y\", "
                               "\"4*t*(X + 0.2)^2\", \"t*t*sin(20*X)\"]}"},
      {"design.variables", "[{\"parameter\": \"rest_position\", \"of\": \"beam\", \"control\": "
                           "\"cage\", \"lower\": -0.01, \"upper\": 0.01}]"}}},
    {"beam",
     "a motion bends one half",
     {{"time.integrator", "bdf2"},
      {"prescribed[0].select",
       "{\"half_space\": {\"origin\": [-0.01, 0, 0], \"normal\": [-1, 0, 0]}}"},
      {"prescribed[0].motion",
       "{\"name\": \"drive\", \"factor\": 1.2, \"from\": 0.02, \"velocity\": [0, "
       "\"2*t*(X + 0.2)^2\", \"0.1*exp(5*X)\"]}"},
      {"design.variables",
       "[{\"parameter\": \"motion\", \"of\": \"drive\", \"lower\": 0.5, \"upper\": 2}]"}}},
    {"examples/design/finger", "slips, plane strain", {{NULL, NULL}}},
};
enum { N_CASES = sizeof cases / sizeof *cases, N_QUICK = 2 };

typedef struct Derivative {
  const NoliDesignDef* def;
  double value;      // of the objective
  double adjoint;    // its derivative along the direction
  double tangent;    // likewise
  double difference; // the nearest of several
} Derivative;

static bool fail(const Run* run, const DerivativeCase* from) {
  fprintf(stderr, "noli_validate: derivatives: %s: %s\n", from->scene,
          noli_context_message(run->context));
  return false;
}

// The derivative along the direction, in a mode; with a difference where it is wanted.
static bool derivative_in(Run* run, const NoliDesignDef* def, const char* mode, double* value,
                          double* derivative, double* difference) {
  NoliDesign* design = NULL;
  NoliDesignDef other = *def;
  double start[DIRECTION_VARIABLES], direction[DIRECTION_VARIABLES];
  double values[DIRECTION_FUNCTIONS], derivatives[DIRECTION_FUNCTIONS], found[DIRECTION_FUNCTIONS];
  other.gradient.mode = mode;
  bool good = noli_design_create(run->sim, &other, &design) == NOLI_OK &&
              direction_of(design, start, direction) &&
              direction_derivatives(design, start, direction, values, derivatives) == NOLI_OK;
  if (good) {
    *value = values[0];
    *derivative = derivatives[0];
  }
  if (good && difference != NULL) {
    good = direction_differences(design, start, direction, derivatives, found) == NOLI_OK;
    *difference = found[0];
  }
  noli_design_destroy(&design);
  return good;
}

static bool start(Run* run, const DerivativeCase* from) {
  Settings settings = {0};
  char name[128];
  bool example = strncmp(from->scene, "examples/", 9) == 0;
  snprintf(name, sizeof name, "%s%s", example ? "" : "derivatives/", from->scene);
  for (int k = 0; k < N_REPLACED && from->replaced[k].path != NULL; k++) {
    set(&settings, from->replaced[k].path, "%s", from->replaced[k].value);
  }
  return run_start(run, name, &settings);
}

static bool measure(Report* report, const DerivativeCase* from, double* worst, double* apart) {
  Run run;
  Derivative derivative = {0};
  bool good = start(&run, from);
  derivative.def = good ? noli_scene_design(run.scene) : NULL;
  good = good && ((derivative_in(&run, derivative.def, "adjoint", &derivative.value,
                                 &derivative.adjoint, &derivative.difference) &&
                   derivative_in(&run, derivative.def, "tangent", &derivative.value,
                                 &derivative.tangent, NULL)) ||
                  fail(&run, from));
  if (good) {
    double size = fabs(derivative.adjoint),
           error = fabs(derivative.difference - derivative.adjoint) / size;
    double modes = fabs(derivative.tangent - derivative.adjoint) / size;
    const char* integrator = noli_scene_sim_def(run.scene)->integrator;
    report_row(report, "%s | %s | %s | `%s` | `%s` | %.6g | %.6g | %.0e | %.0e", from->scene,
               from->what, integrator != NULL ? integrator : "backward_euler",
               derivative.def->variables[0].parameter.kind,
               derivative.def->objective.goals[0].quantity, derivative.value, derivative.adjoint,
               error, modes);
    *worst = report_worse(*worst, error);
    *apart = report_worse(*apart, modes);
  }
  run_end(&run);
  return good;
}

bool validate_derivatives(Report* report) {
  double worst = 0.0, apart = 0.0;
  int n = report->quick ? N_QUICK : (int)N_CASES;
  report_table(report, "Derivatives along one direction of all variables",
               "scene | what happens | integrator | parameter | objective | value | derivative | "
               "error of differences | adjoint less tangent");
  for (int k = 0; k < n; k++) {
    if (!measure(report, &cases[k], &worst, &apart)) {
      return false;
    }
  }
  report_check(report, worst, 1e-5, "central differences less adjoint, relative");
  report_check(report, apart, 1e-8, "tangent less adjoint, relative");
  return true;
}
