// The keys of PolyFEM scenes as data: keys that are read, ignored, or refused.
#include "import/polyfem/polyfem.h"
#include "text/json.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 200, MAX_WORDS = 64, MOST_NAMES = 24 };

typedef enum Action {
  READ,  // by another part; the keys within are checked too
  LEAF,  // by another part, as a whole
  TUNE,  // steers the other program only: named in the log
  SKIP,  // of no meaning for a simulation
  REFUSE // unless it has the neutral value
} Action;

// Keys of one object that are treated alike.
typedef struct Keys {
  const char* path; // of the object; * stands for the items of a list
  Action action;
  const char* name[MOST_NAMES];
  const char* text;    // READ: where the keys within are listed, if not here; REFUSE: why
  const char* neutral; // REFUSE: JSON that is harmless
} Keys;

#define OTHER_CONTACT "another contact model; Noli has those of [Li2020] and [Huang2025]"
#define NO_FIELD "is not supported"

static const Keys keys[] = {
    {"", REFUSE, {"root_path"}, "relative paths start at the folder of the scene", "\"\""},
    {"", READ, {"units"}},
    {"/units", REFUSE, {"length"}, "scenes are in SI units: write \"m\"", "\"m\""},
    {"/units", REFUSE, {"mass"}, "scenes are in SI units: write \"kg\"", "\"kg\""},
    {"/units", REFUSE, {"time"}, "scenes are in SI units: write \"s\"", "\"s\""},
    {"/units", TUNE, {"characteristic_length"}},
    {"", REFUSE, {"preset_problem"}, "problems with known solutions are not supported"},
    {"", SKIP, {"tests", "authors", "author", "description", "doc", "comment", "defaults"}},
    // geometry
    {"", READ, {"geometry"}},
    {"/geometry", READ, {"*"}},
    {"/geometry/*",
     LEAF,
     {"mesh", "type", "extract", "unit", "enabled", "is_obstacle", "n_refs", "point", "normal",
      "height", "mesh_sequence", "fps"}},
    {"/geometry/*", READ, {"transformation", "advanced", "array"}},
    {"/geometry/*/transformation",
     LEAF,
     {"translation", "rotation", "rotation_mode", "scale", "dimensions"}},
    {"/geometry/*",
     READ,
     {"volume_selection", "surface_selection", "point_selection"},
     "/selection"},
    {"/geometry/*", REFUSE, {"curve_selection"}, "selections of curves are not supported"},
    {"/geometry/*/advanced",
     REFUSE,
     {"normalize_mesh"},
     "normalization is not supported: use \"scale\"",
     "false"},
    {"/geometry/*/advanced", LEAF, {"force_linear_geometry"}},
    {"/geometry/*/advanced",
     REFUSE,
     {"refinement_location"},
     "Noli cuts edges in the middle",
     "0.5"},
    {"/geometry/*/advanced", REFUSE, {"min_component"}, NO_FIELD, "-1"},
    {"/geometry/*/array", LEAF, {"offset", "size", "relative"}},
    {"/selection", READ, {"*"}},
    {"/selection/*",
     LEAF,
     {"id", "box", "center", "radius", "p1", "p2", "point", "normal", "offset", "axis", "position",
      "threshold", "id_offset", "relative", "boundary_only"}},
    {"/selection/*", REFUSE, {"file"}, "selections from files are not supported"},
    // materials: other laws have other keys
    {"", LEAF, {"materials"}},
    // space
    {"", READ, {"space"}},
    {"/space", LEAF, {"discr_order"}},
    {"/space", TUNE, {"discr_orderq", "pressure_discr_order", "poly_basis_type", "advanced"}},
    {"/space", REFUSE, {"basis_type"}, "only Lagrange elements are there", "\"Lagrange\""},
    {"/space", REFUSE, {"use_p_ref"}, "elements of different order are not supported", "false"},
    {"/space", READ, {"remesh"}},
    {"/space/remesh", REFUSE, {"enabled"}, "remeshing is not supported", "false"},
    {"/space/remesh", SKIP, {"split", "collapse", "swap", "smooth", "local_relaxation", "type"}},
    // time
    {"", READ, {"time"}},
    {"/time", LEAF, {"t0", "tend", "dt", "time_steps", "integrator"}},
    {"/time",
     REFUSE,
     {"quasistatic"},
     "quasistatic problems are not imported: use a native scene with the integrator quasi_static",
     "false"},
    // contact
    {"", READ, {"contact"}},
    {"/contact",
     LEAF,
     {"enabled", "dhat", "dhat_percentage", "epsv", "friction_coefficient", "use_gcp_formulation",
      "alpha_t", "alpha_n", "use_adaptive_dhat", "min_distance_ratio"}},
    {"/contact",
     REFUSE,
     {"beta_t", "beta_n"},
     "Noli has no offset of the smooth step: must be 0",
     "0"},
    {"/contact", REFUSE, {"use_convergent_formulation"}, OTHER_CONTACT, "false"},
    {"/contact", SKIP, {"use_area_weighting", "use_improved_max_operator", "use_physical_barrier"}},
    {"/contact", READ, {"collision_mesh", "adhesion"}},
    {"/contact/collision_mesh", LEAF, {"enabled", "mesh", "max_edge_length"}},
    {"/contact/collision_mesh", SKIP, {"linear_map", "tessellation_type"}},
    {"/contact", REFUSE, {"periodic"}, "periodic contact is not supported", "false"},
    {"/contact/adhesion", REFUSE, {"adhesion_enabled"}, "adhesion is not supported", "false"},
    {"/contact/adhesion",
     SKIP,
     {"dhat_p", "dhat_a", "adhesion_strength", "tangential_adhesion_coefficient", "epsa"}},
    // solver
    {"", READ, {"solver"}},
    {"/solver", TUNE, {"max_threads", "linear", "adjoint_linear", "augmented_lagrangian"}},
    {"/solver", LEAF, {"nonlinear"}},
    {"/solver", READ, {"contact", "rayleigh_damping", "advanced"}},
    {"/solver/contact", TUNE, {"CCD", "friction_convergence_tol", "initial_barrier_stiffness"}},
    {"/solver/contact", LEAF, {"friction_iterations", "barrier_stiffness"}},
    {"/solver/contact", SKIP, {"tangential_adhesion_iterations"}},
    {"/solver/rayleigh_damping", READ, {"*"}},
    {"/solver/rayleigh_damping/*", LEAF, {"form", "stiffness_ratio", "stiffness"}},
    {"/solver/rayleigh_damping/*",
     REFUSE,
     {"lagging_iterations"},
     "Noli takes the stiffness at the start of the step",
     "1"},
    {"/solver/advanced", LEAF, {"lump_mass_matrix"}},
    {"/solver/advanced",
     TUNE,
     {"check_inversion", "jacobian_threshold", "characteristic_length",
      "characteristic_force_density", "cache_size", "lagged_regularization_weight",
      "lagged_regularization_iterations"}},
    // conditions
    {"", READ, {"boundary_conditions", "initial_conditions", "constraints", "input"}},
    {"/boundary_conditions", LEAF, {"rhs"}},
    {"/boundary_conditions", READ, {"dirichlet_boundary", "obstacle_displacements"}, "/condition"},
    {"/boundary_conditions", REFUSE, {"neumann_boundary"}, "tractions are not supported", "[]"},
    {"/boundary_conditions",
     REFUSE,
     {"normal_aligned_neumann_boundary", "pressure_boundary", "pressure_cavity"},
     "pressures are not supported",
     "[]"},
    {"/boundary_conditions", READ, {"periodic_boundary"}},
    {"/boundary_conditions/periodic_boundary",
     REFUSE,
     {"enabled"},
     "periodic boundaries are not supported",
     "false"},
    {"/boundary_conditions/periodic_boundary",
     SKIP,
     {"force_zero_mean", "tolerance", "correspondence", "fixed_macro_strain",
      "linear_displacement_offset"}},
    {"/condition", READ, {"*"}},
    {"/condition/*", LEAF, {"id", "value", "dimension", "interpolation"}},
    {"/condition/*",
     REFUSE,
     {"time_reference"},
     "tables of values in time are not supported: use an expression or an interpolation",
     "[]"},
    {"/initial_conditions", READ, {"velocity"}},
    {"/initial_conditions/velocity", READ, {"*"}},
    {"/initial_conditions/velocity/*", LEAF, {"id", "value"}},
    {"/initial_conditions", LEAF, {"solution", "acceleration"}},
    {"/constraints", REFUSE, {"hard", "soft"}, "constraints are not supported", "[]"},
    {"/input", READ, {"data"}},
    {"/input/data", REFUSE, {"state"}, "states of other programs cannot be read", "\"\""},
    {"/input/data", SKIP, {"reorder"}},
    // output
    {"", READ, {"output"}},
    {"/output",
     TUNE,
     {"directory", "stats", "log", "json", "restart_json", "data", "reference", "advanced"}},
    {"/output", READ, {"paraview"}},
    {"/output/paraview",
     TUNE,
     {"file_name", "vismesh_rel_area", "high_order_mesh", "volume", "surface", "wireframe",
      "points", "fields", "options"}},
    {"/output/paraview", LEAF, {"skip_frame"}},
};

enum { N_KEYS = sizeof keys / sizeof *keys };

static const Keys* find_keys(const char* path, const char* name) {
  for (int32_t i = 0; i < N_KEYS; i++) {
    for (int k = 0; strcmp(keys[i].path, path) == 0 && keys[i].name[k] != NULL; k++) {
      if (strcmp(keys[i].name[k], name) == 0) {
        return &keys[i];
      }
    }
  }
  return NULL;
}

static NoliStatus fail_unknown_key(NoliPolyfem* import, const NoliSceneNode* node,
                                   const char* path) {
  const char* words[MAX_WORDS];
  int32_t n_words = 0;
  for (int32_t i = 0; i < N_KEYS; i++) {
    for (int k = 0; strcmp(keys[i].path, path) == 0 && keys[i].name[k] != NULL; k++) {
      if (n_words < MAX_WORDS) {
        words[n_words++] = keys[i].name[k];
      }
    }
  }
  return noli_scene_fail_unknown(&import->source, node, "unknown key", node->step.key, words,
                                 n_words);
}

// Fails unless the value is null or the neutral one.
static NoliStatus refuse(NoliPolyfem* import, const NoliSceneNode* node, const Keys* key) {
  NoliStatus status = NOLI_OK;
  json_error_t error;
  json_t* neutral = NULL;
  if (key->neutral != NULL) {
    NOLI_TRY(noli_scene_read_json(import->source.context, key->neutral, strlen(key->neutral),
                                  JSON_DECODE_ANY, &neutral, &error));
  }
  bool harmless = json_is_null(node->value) || json_equal(node->value, neutral) ||
                  (json_is_number(node->value) && json_is_number(neutral) &&
                   noli_scene_number(node) == json_number_value(neutral));
  NOLI_POLYFEM_CHECK(import, node, harmless, "%s", key->text);
done:
  json_decref(neutral);
  return status;
}

static NoliStatus check_value(NoliPolyfem* import, const NoliSceneNode* node, const char* path,
                              NoliSceneText* tuned);

static NoliStatus check_member(NoliPolyfem* import, const NoliSceneNode* node, const char* path,
                               NoliSceneText* tuned) {
  NoliStatus status = NOLI_OK;
  char inner[PATH_SIZE];
  snprintf(inner, sizeof inner, "%.80s/%.80s", path, node->step.key);
  const Keys* key = find_keys(path, node->step.key);
  if (key == NULL) {
    return fail_unknown_key(import, node, path);
  }
  if (key->action == REFUSE) {
    return refuse(import, node, key);
  }
  if (key->action == TUNE) {
    NOLI_TRY(noli_scene_append(import->source.context, tuned, "%s%s", tuned->count > 0 ? ", " : "",
                               inner + 1));
  }
  if (key->action == READ) {
    NOLI_TRY(check_value(import, node, key->text != NULL ? key->text : inner, tuned));
  }
done:
  return status;
}

// Checks the keys within a value; where a list of objects is expected, one object will do.
static NoliStatus check_value(NoliPolyfem* import, const NoliSceneNode* node, const char* path,
                              NoliSceneText* tuned) {
  NoliStatus status = NOLI_OK;
  char item_path[PATH_SIZE];
  snprintf(item_path, sizeof item_path, "%.80s/*", path);
  bool listed = find_keys(path, "*") != NULL;
  for (size_t i = 0; listed && i < noli_scene_size(node); i++) {
    NoliSceneNode item = noli_scene_item(node, i);
    NOLI_TRY(check_value(import, &item, item_path, tuned));
  }
  if (!json_is_object(node->value)) {
    goto done;
  }
  const char* key;
  json_t* value;
  json_object_foreach(node->value, key, value) {
    NoliSceneNode member = noli_scene_member(node, key);
    NOLI_TRY(check_member(import, &member, listed ? item_path : path, tuned));
  }
done:
  return status;
}

NoliStatus noli_polyfem_check_keys(NoliPolyfem* import) {
  NoliStatus status = NOLI_OK;
  NoliSceneText tuned = {0};
  NOLI_TRY(check_value(import, &import->root, "", &tuned));
  if (tuned.count > 0) {
    noli_log(import->source.context, NOLI_LOG_INFO,
             "%.300s: these have no meaning here and were left out: %s", import->source.name,
             tuned.data);
  }
done:
  noli_array_free(import->source.context, &tuned);
  return status;
}
