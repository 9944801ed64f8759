// Contexts are independent: four threads use all of the library at the same time, each with its own
// context, and get the results of a single thread; all settings of the host process are preserved.
// Under ThreadSanitizer, the test also finds data shared without a lock.
#define _GNU_SOURCE // dlsym with RTLD_DEFAULT
#include "support.h"

#include "noli/import.h"
#include "noli/audit.h"
#include "noli/live.h"
#include "noli/noli.h"
#include "noli/run.h"

#include <dlfcn.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include <hdf5.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { N_THREADS = 4, LOADS = 100, TEXT_ROOM = 4096 };

// Threads may not use cmocka's assertions: they count failures and check the results themselves.
typedef struct Worker {
  int32_t id;        // what is computed depends on it
  uint64_t hash;     // of all results of the present task
  int32_t failures;  // calls that should have worked
  char message[200]; // of the first one
  NoliContext* context;
} Worker;

static void mix(Worker* worker, const void* data, size_t size) {
  const unsigned char* byte = data;
  for (size_t i = 0; i < size; i++) {
    worker->hash = (worker->hash ^ byte[i]) * UINT64_C(1099511628211);
  }
}

static void mix_text(Worker* worker, const char* text) {
  mix(worker, text, strlen(text));
}

// True if a call worked.
static bool works(Worker* worker, NoliStatus status) {
  if (status != NOLI_OK && worker->failures++ == 0) {
    snprintf(worker->message, sizeof worker->message, "%s", noli_context_message(worker->context));
  }
  return status == NOLI_OK;
}

// A call that must fail with the expected message.
static void refuses(Worker* worker, NoliStatus status) {
  if (status == NOLI_OK) {
    worker->failures++;
  }
  mix(worker, &status, sizeof status);
  mix_text(worker, noli_context_message(worker->context));
}

static void mix_file(Worker* worker, const char* path) {
  char buffer[TEXT_ROOM];
  size_t n;
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    worker->failures++;
    return;
  }
  while ((n = fread(buffer, 1, sizeof buffer, file)) > 0) {
    mix(worker, buffer, n);
  }
  fclose(file);
}

static void mix_mesh(Worker* worker, const NoliMesh* mesh) {
  mix(worker, mesh->x, 3 * sizeof *mesh->x * (size_t)mesh->n_vert);
  mix(worker, mesh->tet, 4 * sizeof *mesh->tet * (size_t)mesh->n_tet);
  mix(worker, mesh->tri, 3 * sizeof *mesh->tri * (size_t)mesh->n_tri);
}

// ---- tasks --------------------------------------------------------------------------------------

// Writes a mesh, reads it back and releases both.
static void exchange_mesh(Worker* worker, NoliMesh** mesh, const char* suffix) {
  char path[64];
  NoliMesh* read = NULL;
  NoliMeshCheck check;
  snprintf(path, sizeof path, "threads_%d.%s", (int)worker->id, suffix);
  if (*mesh != NULL && works(worker, noli_mesh_write(worker->context, path, *mesh)) &&
      works(worker, noli_mesh_read(worker->context, path, &read)) &&
      works(worker, noli_mesh_check(worker->context, read, &check))) {
    mix_mesh(worker, *mesh);
    mix_mesh(worker, read);
    mix(worker, &check, sizeof check);
  }
  noli_mesh_destroy(worker->context, &read);
  noli_mesh_destroy(worker->context, mesh);
}

static void make_meshes(Worker* worker) {
  NoliContext* context = worker->context;
  NoliMesh *mesh = NULL, *surface = NULL;
  double length = 1.0 + 0.1 * worker->id;
  works(worker, noli_mesh_make_sphere(context, length, 4, false, &mesh));
  exchange_mesh(worker, &mesh, "msh");
  works(worker, noli_mesh_make_torus(context, length, 0.2, 12, 4, false, &mesh));
  exchange_mesh(worker, &mesh, "vtk");
  works(worker, noli_mesh_make_cylinder(context, 0.3, length, 4, 3, false, &mesh));
  if (works(worker, noli_mesh_extract(context, mesh, "surface", &surface))) {
    exchange_mesh(worker, &surface, "obj");
  }
  exchange_mesh(worker, &mesh, "msh");
  works(worker, noli_mesh_make_plane(context, length, 1.0, 3, 2, &mesh));
  exchange_mesh(worker, &mesh, "ply");
}

// A body falls onto another one and a floor; an upper side is moved by an expression.
static const char scene_text[] =
    "{'name': 'worker %d', 'time': {'step': 0.01, 'steps': 5},"
    " 'bodies': [{'name': 'low', 'mesh': {'box': {'size': [1, 1, 1], 'cells': [2, 2, 2]}},"
    "             'translate': [0, 0.505, 0], 'material': {'young': 1e5, 'law': '%s'}},"
    "            {'name': 'high', 'mesh': {'box': {'size': [0.6, 0.6, 0.6], 'cells': [2, 2, 2]}},"
    "             'translate': [0.%d, 1.315, 0.05], 'velocity': [0.5, -1, 0]}],"
    " 'half_spaces': [{'name': 'floor'}],"
    " 'prescribed': [{'body': 'low', 'select': {'side': '-y'},"
    "                 'motion': {'displacement': ['0.%d*t', 0, '0.01*sin(20*t)']}}],"
    " 'contact': {'distance': 0.02 %s},"
    " 'friction': {'coefficient': 0.3}, 'solver': {'tolerance': 0.05, 'max_iterations': 40, "
    "'max_substeps': 1 %s},"
    " 'output': {'every': 2}}";

static bool load_scene(Worker* worker, const char* law, const char* contact, const char* solver,
                       NoliScene** scene) {
  char text[TEXT_ROOM];
  snprintf(text, sizeof text, scene_text, (int)worker->id, law, (int)worker->id, (int)worker->id,
           contact, solver);
  for (char* at = text; *at != '\0'; at++) {
    *at = *at == '\'' ? '"' : *at;
  }
  return works(worker,
               noli_scene_parse(worker->context, text, "worker.json", NULL, NULL, 0, scene));
}

static void mix_forces(Worker* worker, NoliSim* sim) {
  const NoliPairForce* pair = NULL;
  int32_t n = 0;
  if (works(worker, noli_sim_pair_forces(sim, &pair, &n))) {
    for (int32_t i = 0; i < n; i++) {
      mix(worker, pair[i].normal, sizeof pair[i].normal);
      mix(worker, pair[i].friction, sizeof pair[i].friction);
    }
  }
}

static void simulate(Worker* worker, const char* law, const char* contact, const char* solver) {
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliStepReport report;
  if (load_scene(worker, law, contact, solver, &scene) &&
      works(worker, noli_sim_create(worker->context, noli_scene_sim_def(scene), &sim))) {
    NoliStatus status = NOLI_OK;
    for (int64_t k = 0; k < noli_scene_step_count(scene) && status == NOLI_OK; k++) {
      // a step that does not converge fails in every thread
      status = noli_sim_step(sim, &report);
      worker->failures += status < 0;
      mix(worker, &status, sizeof status);
      uint64_t hash = noli_sim_state_hash(sim);
      mix(worker, &hash, sizeof hash);
    }
    mix_forces(worker, sim);
  }
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
}

static void simulate_methods(Worker* worker) {
  simulate(worker, "stable_neo_hookean", "", "");
  simulate(worker, "neo_hookean", "", ", 'method': 'augmented_lagrangian'");
  simulate(worker, "stvk", "", ", 'method': 'implicit_newton'");
  simulate(worker, "fixed_corotated", "", ", 'linear': 'pcg_incomplete'");
  simulate(worker, "fixed_corotated", "", ", 'linear': 'multigrid'");
}

static void simulate_contacts(Worker* worker) {
  simulate(worker, "neo_hookean", ", 'model': 'gcp'", ", 'linear': 'auto'");
  simulate(worker, "corotated_linear", ", 'model': 'implicit_surface'", ", 'linear': 'dense'");
}

// A body large enough that its ordering is METIS's and its factor has products above the size from
// which BLAS would use its threads.
static void factor_large(Worker* worker) {
  NoliContext* context = worker->context;
  NoliMesh* mesh = NULL;
  NoliSim* sim = NULL;
  NoliBodyDef body = noli_default_body_def();
  NoliHalfSpaceDef floor = {.size = sizeof(NoliHalfSpaceDef),
                            .name = "floor",
                            .normal = {0, 1, 0},
                            .origin = {0, -0.505, 0}};
  NoliSimDef def = noli_default_sim_def();
  if (works(worker,
            noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){9, 9, 9}, false, &mesh))) {
    body.mesh = mesh;
    body.velocity[1] = -1.0 - 0.1 * worker->id;
    def.bodies = &body;
    def.n_bodies = 1;
    def.half_spaces = &floor;
    def.n_half_spaces = 1;
    works(worker, noli_sim_create(context, &def, &sim));
  }
  if (sim != NULL && works(worker, noli_sim_step(sim, NULL))) {
    uint64_t hash = noli_sim_state_hash(sim);
    mix(worker, &hash, sizeof hash);
  }
  noli_sim_destroy(&sim);
  noli_mesh_destroy(context, &mesh);
}

// Loads two files in turn: each must restore its own state and text.
static void load_often(Worker* worker, NoliSim* sim, const char path[2][64],
                       const uint64_t hash[2]) {
  for (int32_t k = 0; k < LOADS; k++) {
    NoliCheckpointInfo info = {0};
    works(worker, noli_checkpoint_load(worker->context, sim, path[k % 2]));
    if (noli_sim_state_hash(sim) != hash[k % 2]) {
      worker->failures++;
      snprintf(worker->message, sizeof worker->message, "%s: another state", path[k % 2]);
    }
    if (k % 10 == 0 && works(worker, noli_checkpoint_info(worker->context, path[k % 2], &info))) {
      mix_text(worker, info.scene_json);
      mix(worker, &info.hash, sizeof info.hash);
    }
    noli_checkpoint_info_free(worker->context, &info);
  }
}

static void exchange_checkpoints(Worker* worker) {
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  char* json = NULL;
  char path[2][64];
  uint64_t hash[2] = {0};
  if (load_scene(worker, "neo_hookean", "", "", &scene) &&
      works(worker, noli_scene_json(scene, &json)) &&
      works(worker, noli_sim_create(worker->context, noli_scene_sim_def(scene), &sim))) {
    for (int32_t k = 0; k < 2; k++) {
      snprintf(path[k], sizeof path[k], "threads_%d_%d.h5", (int)worker->id, (int)k);
      works(worker, noli_sim_step(sim, NULL));
      hash[k] = noli_sim_state_hash(sim);
      works(worker, noli_checkpoint_save(worker->context, sim, json, path[k]));
      mix_file(worker, path[k]);
    }
    load_often(worker, sim, (const char(*)[64])path, hash);
    refuses(worker, noli_checkpoint_load(worker->context, sim, "threads_none.h5"));
  }
  noli_scene_free_text(worker->context, &json);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
}

// Records a run in its own folder.
static void record(Worker* worker, NoliScene* scene, const char* directory) {
  NoliSim* sim = NULL;
  NoliRun* run = NULL;
  char* json = NULL;
  NoliRunDef def = noli_default_run_def();
  def.directory = directory;
  def.scene_name = noli_scene_name(scene);
  def.sim_def = noli_scene_sim_def(scene);
  def.frame_interval = 2;
  def.checkpoint_seconds = -1.0;
  def.replace_unfinished = true; // of a test that was killed
  mkdir(directory, 0777);
  if (works(worker, noli_scene_json(scene, &json)) &&
      works(worker, noli_sim_create(worker->context, def.sim_def, &sim))) {
    def.scene_json = json;
    works(worker, noli_run_open(worker->context, &def, sim, &run));
  }
  for (int32_t k = 0; run != NULL && k < 4; k++) {
    NoliStepReport report;
    works(worker, noli_sim_step(sim, &report));
    works(worker, noli_run_step(run, sim));
  }
  if (run != NULL) {
    works(worker, noli_run_save(run, sim, true, NULL));
  }
  noli_run_close(&run);
  noli_sim_destroy(&sim);
  noli_scene_free_text(worker->context, &json);
}

static void record_and_audit(Worker* worker) {
  char directory[64], path[100];
  NoliScene* scene = NULL;
  NoliRunAudit audit;
  snprintf(directory, sizeof directory, "threads_run_%d", (int)worker->id);
  if (load_scene(worker, "neo_hookean", "", "", &scene)) {
    record(worker, scene, directory);
    snprintf(path, sizeof path, "%s/frame_000004.vtu", directory);
    mix_file(worker, path);
  }
  if (works(worker, noli_run_audit(worker->context, directory, &audit))) {
    mix(worker, &audit.n_frames, sizeof audit.n_frames);
    mix(worker, &audit.n_rows, sizeof audit.n_rows);
    worker->failures += audit.n_found > 0 || audit.n_frames != 3;
    noli_run_audit_free(worker->context, &audit);
  }
  noli_scene_destroy(&scene);
}

// Scenes of other programs become native ones.
static void import_scenes(Worker* worker) {
  static const char* const text[] = {
      "shapes input 1\nthreads_cube_%d.msh 0 %d 0  0 0 0  1 1 1\ntime 1 0.01\nground 0.1 -1\n",
      "{\"geometry\": [{\"mesh\": \"threads_cube_%d.msh\", \"transformation\": {\"translation\": "
      "[0, %d, 0]}}], \"time\": {\"tend\": 1, \"dt\": 0.01}, \"materials\": {\"type\": "
      "\"NeoHookean\", \"E\": 1e5, \"nu\": 0.4, \"rho\": 1000}, \"boundary_conditions\": "
      "{\"rhs\": [0, \"9.8*t^0\", 0]}}"};
  char path[64], scene_json[TEXT_ROOM];
  NoliMesh* mesh = NULL;
  snprintf(path, sizeof path, "threads_cube_%d.msh", (int)worker->id);
  if (works(worker, noli_mesh_make_box(worker->context, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1},
                                       false, &mesh))) {
    works(worker, noli_mesh_write(worker->context, path, mesh));
  }
  for (int32_t k = 0; k < 2; k++) {
    NoliScene* scene = NULL;
    char* json = NULL;
    snprintf(scene_json, sizeof scene_json, text[k], (int)worker->id, (int)worker->id);
    if (works(worker, noli_import_parse(worker->context, scene_json, strlen(scene_json),
                                        k == 0 ? "a.txt" : "a.json", NULL, NULL, 0, &scene)) &&
        works(worker, noli_scene_json(scene, &json))) {
      mix_text(worker, json);
    }
    noli_scene_free_text(worker->context, &json);
    noli_scene_destroy(&scene);
  }
  noli_mesh_destroy(worker->context, &mesh);
}

// Modes of several states: random starts and restarts.
static void find_modes(Worker* worker) {
  enum { N = 9 };
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliStepReport report;
  double frequency[N], shape[3 * N * 54];
  if (load_scene(worker, "neo_hookean", "", "", &scene) &&
      works(worker, noli_sim_create(worker->context, noli_scene_sim_def(scene), &sim))) {
    for (int32_t k = 0; k < 2 + worker->id; k++) {
      works(worker, noli_sim_step(sim, &report));
      works(worker, noli_sim_modes(sim, N, frequency, shape));
      mix(worker, frequency, sizeof frequency);
      mix(worker, shape, sizeof shape);
    }
  }
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
}

// Two boxes, one above the other, as one surface.
typedef struct TwoBoxes {
  int32_t n_vert, n_tri;
  double x[3 * 200];
  int32_t tri[3 * 400];
} TwoBoxes;

static bool make_two_boxes(Worker* worker, double gap, TwoBoxes* boxes) {
  NoliMesh* mesh = NULL;
  if (!works(worker, noli_mesh_make_box(worker->context, (double[]){1, 1, 1}, (int32_t[]){3, 3, 3},
                                        true, &mesh))) {
    return false;
  }
  boxes->n_vert = 2 * mesh->n_vert;
  boxes->n_tri = 2 * mesh->n_tri;
  for (int32_t i = 0; i < 3 * boxes->n_vert; i++) {
    int32_t k = i % (3 * mesh->n_vert);
    boxes->x[i] = mesh->x[k] + (i != k && k % 3 == 1 ? 1.0 + gap : 0.0);
  }
  for (int32_t i = 0; i < 3 * boxes->n_tri; i++) {
    int32_t k = i % (3 * mesh->n_tri);
    boxes->tri[i] = mesh->tri[k] + (i != k ? mesh->n_vert : 0);
  }
  noli_mesh_destroy(worker->context, &mesh);
  return true;
}

static void evaluate_barrier(Worker* worker, const TwoBoxes* boxes, double dhat) {
  NoliBarrierPotential* barrier = NULL;
  if (works(worker, noli_barrier_potential_create(worker->context, boxes->x, boxes->n_vert,
                                                  boxes->tri, boxes->n_tri, dhat, &barrier)) &&
      works(worker, noli_barrier_potential_update(barrier, boxes->x))) {
    double value = noli_barrier_potential_value(barrier);
    worker->failures += !(value > 0.0);
    mix(worker, &value, sizeof value);
  }
  noli_barrier_potential_destroy(&barrier);
}

static void evaluate_gcp(Worker* worker, const TwoBoxes* apart, const TwoBoxes* near, double eps) {
  NoliGcpPotential* gcp = NULL;
  NoliGcpDef def = noli_default_gcp_def();
  def.eps_target = eps;
  if (works(worker, noli_gcp_potential_create(worker->context, &def, apart->x, apart->n_vert,
                                              apart->tri, apart->n_tri, &gcp)) &&
      works(worker, noli_gcp_potential_update(gcp, near->x))) {
    double value = noli_gcp_potential_value(gcp);
    worker->failures += !(value > 0.0);
    mix(worker, &value, sizeof value);
  }
  noli_gcp_potential_destroy(&gcp);
}

static void evaluate_potentials(Worker* worker) {
  TwoBoxes apart, near, crossed;
  NoliMeshIntersection* crossing = NULL;
  int64_t n_crossing = 0;
  if (!make_two_boxes(worker, 0.5, &apart) ||
      !make_two_boxes(worker, 0.01 + 0.001 * worker->id, &near) ||
      !make_two_boxes(worker, -0.1, &crossed)) {
    return;
  }
  evaluate_barrier(worker, &near, 0.02);
  evaluate_gcp(worker, &apart, &near, 0.02);
  if (works(worker, noli_mesh_intersections(worker->context, crossed.n_vert, crossed.x,
                                            crossed.n_tri, crossed.tri, &crossing, &n_crossing))) {
    worker->failures += n_crossing == 0;
    mix(worker, &n_crossing, sizeof n_crossing);
    noli_mesh_intersections_free(worker->context, &crossing);
  }
}

// Distances and collision detection of random primitives.
static void evaluate_primitives(Worker* worker) {
  TestRandom random = {(uint64_t)worker->id + 17};
  for (int32_t k = 0; k < 500; k++) {
    double p[8][3], toi, value[3];
    for (int32_t i = 0; i < 24; i++) {
      p[i / 3][i % 3] = test_random(&random, -1.0, 1.0);
    }
    value[0] = noli_point_triangle_distance_sqr(p[0], p[1], p[2], p[3]);
    value[1] = noli_edge_edge_distance_sqr(p[4], p[5], p[6], p[7]);
    bool hit =
        noli_point_triangle_ccd(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], NULL, 1.0, &toi);
    value[2] = hit ? toi : 2.0;
    mix(worker, value, sizeof value);
    hit = noli_edge_edge_ccd(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], NULL, 1.0, &toi);
    value[2] = hit ? toi : 2.0;
    mix(worker, value, sizeof value);
  }
}

// Messages belong to their context.
static void make_errors(Worker* worker) {
  NoliContext* context = worker->context;
  NoliScene* scene = NULL;
  NoliMesh* mesh = NULL;
  char text[200];
  snprintf(text, sizeof text, "{\"time\": {\"stepp\": %d}}", (int)worker->id);
  refuses(worker, noli_scene_parse(context, text, "bad.json", NULL, NULL, 0, &scene));
  snprintf(text, sizeof text, "no_such_folder_%d/mesh.msh", (int)worker->id);
  refuses(worker, noli_mesh_read(context, text, &mesh));
  refuses(worker, noli_scene_load(context, text, NULL, 0, &scene));
  snprintf(text, sizeof text, "threads_bad_%d.h5", (int)worker->id);
  FILE* file = fopen(text, "wb");
  if (file != NULL) {
    fprintf(file, "%s", text);
    fclose(file);
  }
  NoliCheckpointInfo info;
  refuses(worker, noli_checkpoint_info(context, text, &info));
}

// A simulation of the scene; NULL where that fails.
static NoliSim* start(Worker* worker, const char* contact, NoliScene** scene) {
  NoliSim* sim = NULL;
  if (load_scene(worker, "neo_hookean", contact, "", scene)) {
    works(worker, noli_sim_create(worker->context, noli_scene_sim_def(*scene), &sim));
  }
  return sim;
}

// Derivatives, and a search of one run.
static void differentiate(Worker* worker) {
  NoliScene* scene = NULL;
  NoliSim* sim = start(worker, ", 'stiffness': 1e7", &scene);
  NoliDesign* design = NULL;
  NoliGoalDef goal = noli_default_goal_def();
  NoliVariableDef variable = noli_default_variable_def();
  NoliDesignDef def = noli_default_design_def();
  goal.quantity = "position";
  goal.of = "high";
  variable.parameter.kind = "young";
  variable.parameter.of = "low";
  variable.lower[0] = 1e4;
  variable.upper[0] = 1e6;
  def.variables = &variable;
  def.n_variables = def.objective.n_goals = 1;
  def.objective.goals = &goal;
  def.gradient.n_steps = 2;
  def.max_evaluations = 2;
  if (sim != NULL && works(worker, noli_design_create(sim, &def, &design))) {
    double start_at, value, gradient;
    NoliDesignResult result;
    noli_design_range(design, &start_at, NULL, NULL);
    works(worker, noli_design_evaluate(design, &start_at, &value, &gradient));
    works(worker, noli_design_search(design, NULL, NULL, &start_at, &result));
    mix(worker, &value, sizeof value);
    mix(worker, &gradient, sizeof gradient);
    mix(worker, &start_at, sizeof start_at);
  }
  noli_design_destroy(&design);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
}

static void read_results(Worker* worker, NoliSim* sim) {
  NoliBodyState state;
  NoliWrench wrench;
  NoliEnergies energies;
  NoliSurfacePoint hit;
  const NoliContactInfo* contact;
  const NoliDiagnosis* diagnosis;
  int64_t n_contacts = 0;
  int32_t n = 0;
  works(worker, noli_sim_body_state(sim, 1, &state));
  works(worker, noli_sim_wrench(sim, 1, NULL, &wrench));
  works(worker, noli_sim_energies(sim, &energies));
  works(worker, noli_sim_contacts(sim, &contact, &n_contacts));
  works(worker, noli_sim_diagnosis(sim, &diagnosis, &n));
  works(worker, noli_sim_cast_ray(sim, (double[]){0.3, 9, 0.05}, (double[]){0, -1, 0}, 99, &hit));
  mix(worker, &state, sizeof state);
  mix(worker, &wrench, sizeof wrench);
  mix(worker, &energies, sizeof energies);
  mix(worker, hit.position, sizeof hit.position);
  mix(worker, &n_contacts, sizeof n_contacts);
}

// Changes that hosts make between steps.
static void change_simulations(Worker* worker) {
  NoliScene* scene = NULL;
  NoliSim *sim = start(worker, "", &scene), *clone = NULL;
  NoliMesh* mesh = NULL;
  NoliBodyDef body = noli_default_body_def();
  NoliMaterialDef material = noli_default_material_def();
  if (sim != NULL && works(worker, noli_sim_step(sim, NULL)) &&
      works(worker, noli_mesh_make_box(worker->context, (double[]){0.2, 0.2, 0.2},
                                       (int32_t[]){1, 1, 1}, false, &mesh))) {
    noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){0, 0, 0}, (double[]){0, 5, 0});
    body.mesh = mesh;
    body.name = "added";
    material.young = 2e5 + worker->id;
    works(worker, noli_sim_add_body(sim, &body, NULL));
    works(worker, noli_sim_set_material(sim, 1, NOLI_NULL_INDEX, &material));
    works(worker, noli_sim_set_gravity(sim, (double[]){0, -5, 0}));
    works(worker, noli_sim_step(sim, NULL));
    read_results(worker, sim);
    works(worker, noli_sim_clone(sim, worker->context, &clone));
    works(worker, noli_sim_remove_body(sim, 2));
    works(worker, noli_sim_reset(sim));
    works(worker, noli_sim_step(clone, NULL));
    uint64_t hash[2] = {noli_sim_state_hash(sim), noli_sim_state_hash(clone)};
    mix(worker, hash, sizeof hash);
  }
  noli_sim_destroy(&clone);
  noli_sim_destroy(&sim);
  noli_mesh_destroy(worker->context, &mesh);
  noli_scene_destroy(&scene);
}

// Threads within threads.
static void step_batches(Worker* worker) {
  enum { N = 3 };
  NoliScene* scene = NULL;
  NoliSim* sim = start(worker, "", &scene);
  NoliBatch* batch = NULL;
  if (sim != NULL && works(worker, noli_batch_create(worker->context, sim, N, 2, &batch))) {
    NoliBodyState state[N];
    works(worker, noli_batch_step(batch, NULL, NULL, NULL));
    works(worker, noli_batch_step(batch, (bool[]){true, false, true}, NULL, NULL));
    works(worker, noli_batch_body_states(batch, 1, state));
    mix(worker, state, sizeof state);
    NoliSim* copy = noli_batch_sim(batch, 1);
    worker->failures += noli_sim_remove_body(copy, 0) != NOLI_ERROR_ARGUMENT;
  }
  noli_batch_destroy(&batch);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
}

// Checks, a repair, and the schema.
static void check_and_repair(Worker* worker) {
  NoliScene* scene = NULL;
  NoliDefect* defects = NULL;
  NoliRepair repair = {0};
  NoliSimMeasures measures = {0};
  NoliRepairDef def = noli_default_repair_def();
  char* schema = NULL;
  int64_t n = 0;
  if (load_scene(worker, "neo_hookean", "", "", &scene)) {
    NoliSimDef wrong = *noli_scene_sim_def(scene);
    NoliBodyDef body[2] = {wrong.bodies[0], wrong.bodies[1]};
    body[0].x0 = body[1].x0 = NULL;
    wrong.bodies = body;
    wrong.n_motions = 0;
    body[1].mesh->x[1] -= 0.05 + 0.001 * worker->id; // into the other one
    works(worker, noli_sim_check(worker->context, &wrong, &defects, &n));
    works(worker, noli_sim_measure(worker->context, &wrong, &measures));
    works(worker, noli_sim_check_conditions(worker->context, &wrong, 5));
    works(worker, noli_sim_repair(worker->context, &wrong, &def, &repair));
    works(worker, noli_scene_schema(worker->context, &schema));
    mix(worker, &n, sizeof n);
    mix(worker, measures.volume, 2 * sizeof(double));
    mix(worker, &repair.n_defects, sizeof repair.n_defects);
  }
  noli_scene_free_text(worker->context, &schema);
  noli_repair_free(worker->context, &repair);
  noli_sim_measures_free(worker->context, &measures);
  noli_sim_check_free(worker->context, &defects);
  noli_scene_destroy(&scene);
}

// A run for other programs, as a page and as a report.
static void export_runs(Worker* worker) {
  char directory[64], path[100];
  NoliScene* scene = NULL;
  int64_t n_frames = 0;
  snprintf(directory, sizeof directory, "threads_export_%d", (int)worker->id);
  if (load_scene(worker, "neo_hookean", "", "", &scene)) {
    record(worker, scene, directory);
    const char* suffix;
    for (int32_t i = 0; (suffix = noli_run_export_suffix(i)) != NULL; i++) {
      snprintf(path, sizeof path, "threads_%d_%%04d%s", (int)worker->id, suffix);
      works(worker, noli_run_export(worker->context, directory, path, &n_frames));
    }
    snprintf(path, sizeof path, "threads_%d.html", (int)worker->id);
    works(worker, noli_output_write_page(worker->context, directory, path));
    works(worker, noli_output_write_report(worker->context, directory, path));
    works(worker, noli_output_write_scene_page(worker->context, scene, path));
    mix(worker, &n_frames, sizeof n_frames);
    mix_text(worker, directory);
  }
  noli_scene_destroy(&scene);
}

typedef struct Task {
  const char* name;
  void (*run)(Worker* worker);
} Task;

static const Task tasks[] = {
    {"meshes", make_meshes},
    {"methods", simulate_methods},
    {"checkpoints", exchange_checkpoints},
    {"large factor", factor_large},
    {"contact models", simulate_contacts},
    {"run and audit", record_and_audit},
    {"imports", import_scenes},
    {"potentials", evaluate_potentials},
    {"primitives", evaluate_primitives},
    {"errors", make_errors},
    {"modes", find_modes},
    {"derivatives", differentiate},
    {"changes", change_simulations},
    {"batches", step_batches},
    {"checks and repairs", check_and_repair},
    {"exports", export_runs},
};
enum { N_TASKS = sizeof tasks / sizeof tasks[0] };

// ---- the host -----------------------------------------------------------------------------------

static int get_blas_threads(void) {
  int (*get)(void) = NULL;
  *(void**)&get = dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
  return get != NULL ? get() : 0;
}

static void set_blas_threads(int n) {
  void (*set)(int) = NULL;
  *(void**)&set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
  if (set != NULL) {
    set(n);
  }
}

static herr_t quiet_2(hid_t stack, void* user) {
  (void)stack, (void)user;
  return 0;
}

static herr_t quiet_1(void* user) {
  (void)user;
  return 0;
}

static void on_signal(int number, siginfo_t* info, void* more) {
  (void)number, (void)info, (void)more;
}

// Settings of the process, as a host may have made them.
typedef struct Settings {
  int blas_threads;
  unsigned hdf5_version_2;
  H5E_auto2_t hdf5_print;
  void* hdf5_user;
  char locale[100];
  int rounding;
  int omp_threads, omp_levels, omp_dynamic;
  void (*handler[2])(int, siginfo_t*, void*);
  int handler_flags[2];
} Settings;

static Settings get_settings(void) {
  Settings now;
  memset(&now, 0, sizeof now);
  now.blas_threads = get_blas_threads();
  H5Eauto_is_v2(H5E_DEFAULT, &now.hdf5_version_2);
  if (now.hdf5_version_2) {
    H5Eget_auto2(H5E_DEFAULT, &now.hdf5_print, &now.hdf5_user);
  }
  snprintf(now.locale, sizeof now.locale, "%s", setlocale(LC_ALL, NULL));
  now.rounding = fegetround();
#ifdef _OPENMP
  now.omp_threads = omp_get_max_threads();
  now.omp_levels = omp_get_max_active_levels();
  now.omp_dynamic = omp_get_dynamic();
#endif
  const int number[2] = {SIGABRT, SIGTERM};
  for (int i = 0; i < 2; i++) {
    struct sigaction action;
    sigaction(number[i], NULL, &action);
    now.handler[i] = action.sa_sigaction;
    const int kept = SA_SIGINFO | SA_RESTART | (int)SA_RESETHAND | SA_NODEFER;
    now.handler_flags[i] = action.sa_flags & kept;
  }
  return now;
}

static void make_settings(void) {
  static int user;
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  set_blas_threads(3);
  H5Eset_auto2(H5E_DEFAULT, quiet_2, &user);
  sigaction(SIGTERM, &action, NULL);
}

// ---- tests --------------------------------------------------------------------------------------

typedef struct Job {
  int32_t id;
  int32_t n_threads; // of the context
  uint64_t hash[N_TASKS];
  int32_t failures;
  char message[300];
} Job;

// All tasks; each thread starts with another one, so that different ones meet.
static void* do_tasks(void* user) {
  Job* job = user;
  for (int32_t k = 0; k < N_TASKS; k++) {
    int32_t at = (k + 3 * job->id) % N_TASKS;
    Worker worker = {.id = job->id, .hash = UINT64_C(14695981039346656037)};
    NoliContextDef def = noli_default_context_def();
    def.n_threads = job->n_threads;
    if (noli_context_create(&def, &worker.context) == NOLI_OK) {
      tasks[at].run(&worker);
      worker.failures += noli_context_destroy(&worker.context) != 0;
    }
    if (worker.failures > 0 && job->failures == 0) {
      snprintf(job->message, sizeof job->message, "%s: %s", tasks[at].name, worker.message);
    }
    job->hash[at] = worker.hash;
    job->failures += worker.failures;
  }
  return NULL;
}

static void make_jobs(int32_t n_threads, Job job[N_THREADS]) {
  for (int32_t i = 0; i < N_THREADS; i++) {
    job[i] = (Job){.id = i, .n_threads = n_threads};
  }
}

static void compare_jobs(const Job got[N_THREADS], const Job want[N_THREADS]) {
  for (int32_t i = 0; i < N_THREADS; i++) {
    if (got[i].failures > 0) {
      print_error("thread %d: %d failures, the first one: %s\n", (int)i, (int)got[i].failures,
                  got[i].message);
    }
    assert_int_equal(got[i].failures, 0);
    for (int32_t k = 0; k < N_TASKS; k++) {
      if (got[i].hash[k] != want[i].hash[k]) {
        print_error("thread %d: %s differ from those of one thread alone\n", (int)i, tasks[k].name);
      }
      assert_true(got[i].hash[k] == want[i].hash[k]);
      assert_true(i == 0 || got[i].hash[k] != got[0].hash[k]);
    }
  }
}

static void four_threads_get_what_one_gets(void** state) {
  (void)state;
  Job alone[N_THREADS], together[N_THREADS];
  pthread_t thread[N_THREADS];
  make_settings();
  Settings before = get_settings();
  make_jobs(1, alone);
  for (int32_t i = 0; i < N_THREADS; i++) {
    do_tasks(&alone[i]);
  }
  compare_jobs(alone, alone);

  // two threads in each context besides
  make_jobs(2, together);
  for (int32_t i = 0; i < N_THREADS; i++) {
    assert_int_equal(pthread_create(&thread[i], NULL, do_tasks, &together[i]), 0);
  }
  for (int32_t i = 0; i < N_THREADS; i++) {
    assert_int_equal(pthread_join(thread[i], NULL), 0);
  }
  compare_jobs(together, alone);
  Settings after = get_settings();
  assert_memory_equal(&after, &before, sizeof before);
}

// The sequence of rand() is undisturbed, and HDF5 error handlers of the old kind are also
// preserved.
static void random_numbers_and_old_handlers_stay(void** state) {
  (void)state;
  int want[3], got[3];
  srand(5);
  for (int k = 0; k < 3; k++) {
    want[k] = rand();
  }
  int user = 0;
  H5E_auto1_t print = NULL;
  void* kept = NULL;
  H5Eset_auto1(quiet_1, &user);
  Worker worker = {.id = 1};
  worker.context = test_context(1);
  srand(5);
  for (int k = 0; k < 3; k++) {
    got[k] = rand();
    factor_large(&worker);
    exchange_checkpoints(&worker);
  }
  assert_int_equal(worker.failures, 0);
  assert_memory_equal(got, want, sizeof want);
  unsigned version_2 = 1;
  H5Eauto_is_v2(H5E_DEFAULT, &version_2);
  assert_int_equal(version_2, 0);
  H5Eget_auto1(&print, &kept);
  assert_true(print == quiet_1 && kept == &user);
  test_context_done(&worker.context);
}

// The threads of BLAS change no bit of a factor.
static void threads_of_blas_change_no_bit(void** state) {
  (void)state;
  uint64_t hash[2];
  for (int k = 0; k < 2; k++) {
    Worker worker = {.id = 2};
    worker.context = test_context(1);
    set_blas_threads(k == 0 ? 1 : 4);
    factor_large(&worker);
    assert_int_equal(worker.failures, 0);
    hash[k] = worker.hash;
    test_context_done(&worker.context);
  }
  assert_true(hash[0] == hash[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(four_threads_get_what_one_gets),
      cmocka_unit_test(random_numbers_and_old_handlers_stay),
      cmocka_unit_test(threads_of_blas_change_no_bit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
