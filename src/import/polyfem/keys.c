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

#define NO_FIELD "is not supported"

static const Keys keys[] = {
    {"", REFUSE, .name = {"root_path"}, .text = "relative paths start at the folder of the scene",
     .neutral = "\"\""},
    {"", READ, .name = {"units"}},
    {"/units", REFUSE, .name = {"length"}, .text = "scenes are in SI units: write \"m\"",
     .neutral = "\"m\""},
    {"/units", REFUSE, .name = {"mass"}, .text = "scenes are in SI units: write \"kg\"",
     .neutral = "\"kg\""},
    {"/units", REFUSE, .name = {"time"}, .text = "scenes are in SI units: write \"s\"",
     .neutral = "\"s\""},
    {"/units", TUNE, .name = {"characteristic_length"}},
    {"", REFUSE, .name = {"preset_problem"},
     .text = "problems with known solutions are not supported"},
    {"", SKIP, .name = {"tests", "authors", "author", "description", "doc", "comment", "defaults"}},
    // geometry
    {"", READ, .name = {"geometry"}},
    {"/geometry", READ, .name = {"*"}},
    {"/geometry/*", LEAF,
     .name = {"mesh", "type", "extract", "unit", "enabled", "is_obstacle", "n_refs", "point",
              "normal", "height", "mesh_sequence", "fps"}},
    {"/geometry/*", READ, .name = {"transformation", "advanced", "array"}},
    {"/geometry/*/transformation", LEAF,
     .name = {"translation", "rotation", "rotation_mode", "scale", "dimensions"}},
    {"/geometry/*", READ, .name = {"volume_selection", "surface_selection", "point_selection"},
     .text = "/selection"},
    {"/geometry/*", REFUSE, .name = {"curve_selection"},
     .text = "selections of curves are not supported"},
    {"/geometry/*/advanced", REFUSE, .name = {"normalize_mesh"},
     .text = "normalization is not supported: use \"scale\"", .neutral = "false"},
    {"/geometry/*/advanced", LEAF, .name = {"force_linear_geometry"}},
    {"/geometry/*/advanced", REFUSE, .name = {"refinement_location"},
     .text = "Noli cuts edges in the middle", .neutral = "0.5"},
    {"/geometry/*/advanced", REFUSE, .name = {"min_component"}, .text = NO_FIELD, .neutral = "-1"},
    {"/geometry/*/array", LEAF, .name = {"offset", "size", "relative"}},
    {"/selection", READ, .name = {"*"}},
    {"/selection/*", LEAF,
     .name = {"id", "box", "center", "radius", "p1", "p2", "point", "normal", "offset", "axis",
              "position", "threshold", "id_offset", "relative", "boundary_only"}},
    {"/selection/*", REFUSE, .name = {"file"}, .text = "selections from files are not supported"},
    // materials: other laws have other keys
    {"", LEAF, .name = {"materials"}},
    // space
    {"", READ, .name = {"space"}},
    {"/space", LEAF, .name = {"discr_order"}},
    {"/space", TUNE,
     .name = {"discr_orderq", "pressure_discr_order", "poly_basis_type", "advanced"}},
    {"/space", REFUSE, .name = {"basis_type"}, .text = "only Lagrange elements are there",
     .neutral = "\"Lagrange\""},
    {"/space", REFUSE, .name = {"use_p_ref"},
     .text = "elements of different order are not supported", .neutral = "false"},
    {"/space", READ, .name = {"remesh"}},
    {"/space/remesh", REFUSE, .name = {"enabled"}, .text = "remeshing is not supported",
     .neutral = "false"},
    {"/space/remesh", SKIP,
     .name = {"split", "collapse", "swap", "smooth", "local_relaxation", "type"}},
    // time
    {"", READ, .name = {"time"}},
    {"/time", LEAF, .name = {"t0", "tend", "dt", "time_steps", "integrator"}},
    {"/time", REFUSE, .name = {"quasistatic"},
     .text = "quasistatic problems are not imported: use a native scene with the integrator "
             "quasi_static",
     .neutral = "false"},
    // contact
    {"", READ, .name = {"contact"}},
    {"/contact", LEAF,
     .name = {"enabled", "dhat", "dhat_percentage", "epsv", "friction_coefficient",
              "use_gcp_formulation", "alpha_t", "alpha_n", "use_adaptive_dhat",
              "min_distance_ratio"}},
    {"/contact", REFUSE, .name = {"beta_t", "beta_n"},
     .text = "Noli has no offset of the smooth step: must be 0", .neutral = "0"},
    {"/contact", LEAF,
     .name = {"use_convergent_formulation", "use_area_weighting", "use_improved_max_operator",
              "use_physical_barrier"}},
    {"/contact", READ, .name = {"collision_mesh", "adhesion"}},
    {"/contact/collision_mesh", LEAF, .name = {"enabled", "mesh", "max_edge_length"}},
    {"/contact/collision_mesh", SKIP, .name = {"linear_map", "tessellation_type"}},
    {"/contact", REFUSE, .name = {"periodic"}, .text = "periodic contact is not supported",
     .neutral = "false"},
    {"/contact/adhesion", REFUSE, .name = {"adhesion_enabled"}, .text = "adhesion is not supported",
     .neutral = "false"},
    {"/contact/adhesion", SKIP,
     .name = {"dhat_p", "dhat_a", "adhesion_strength", "tangential_adhesion_coefficient", "epsa"}},
    // solver
    {"", READ, .name = {"solver"}},
    {"/solver", TUNE, .name = {"max_threads", "linear", "adjoint_linear", "augmented_lagrangian"}},
    {"/solver", LEAF, .name = {"nonlinear"}},
    {"/solver", READ, .name = {"contact", "rayleigh_damping", "advanced"}},
    {"/solver/contact", TUNE,
     .name = {"CCD", "friction_convergence_tol", "initial_barrier_stiffness"}},
    {"/solver/contact", LEAF, .name = {"friction_iterations", "barrier_stiffness"}},
    {"/solver/contact", SKIP, .name = {"tangential_adhesion_iterations"}},
    {"/solver/rayleigh_damping", READ, .name = {"*"}},
    {"/solver/rayleigh_damping/*", LEAF, .name = {"form", "stiffness_ratio", "stiffness"}},
    {"/solver/rayleigh_damping/*", REFUSE, .name = {"lagging_iterations"},
     .text = "Noli takes the stiffness at the start of the step", .neutral = "1"},
    {"/solver/advanced", LEAF, .name = {"lump_mass_matrix"}},
    {"/solver/advanced", TUNE,
     .name = {"check_inversion", "jacobian_threshold", "characteristic_length",
              "characteristic_force_density", "cache_size", "lagged_regularization_weight",
              "lagged_regularization_iterations"}},
    // conditions
    {"", READ, .name = {"boundary_conditions", "initial_conditions", "constraints", "input"}},
    {"/boundary_conditions", LEAF, .name = {"rhs"}},
    {"/boundary_conditions", READ, .name = {"dirichlet_boundary", "obstacle_displacements"},
     .text = "/condition"},
    {"/boundary_conditions", REFUSE, .name = {"neumann_boundary"},
     .text = "tractions are not supported", .neutral = "[]"},
    {"/boundary_conditions", REFUSE,
     .name = {"normal_aligned_neumann_boundary", "pressure_boundary", "pressure_cavity"},
     .text = "pressures are not supported", .neutral = "[]"},
    {"/boundary_conditions", READ, .name = {"periodic_boundary"}},
    {"/boundary_conditions/periodic_boundary", REFUSE, .name = {"enabled"},
     .text = "periodic boundaries are not supported", .neutral = "false"},
    {"/boundary_conditions/periodic_boundary", SKIP,
     .name = {"force_zero_mean", "tolerance", "correspondence", "fixed_macro_strain",
              "linear_displacement_offset"}},
    {"/condition", READ, .name = {"*"}},
    {"/condition/*", LEAF, .name = {"id", "value", "dimension", "interpolation"}},
    {"/condition/*", REFUSE, .name = {"time_reference"},
     .text = "tables of values in time are not supported: use an expression or an interpolation",
     .neutral = "[]"},
    {"/initial_conditions", READ, .name = {"velocity"}},
    {"/initial_conditions/velocity", READ, .name = {"*"}},
    {"/initial_conditions/velocity/*", LEAF, .name = {"id", "value"}},
    {"/initial_conditions", LEAF, .name = {"solution", "acceleration"}},
    {"/constraints", REFUSE, .name = {"hard", "soft"}, .text = "constraints are not supported",
     .neutral = "[]"},
    {"/input", READ, .name = {"data"}},
    {"/input/data", REFUSE, .name = {"state"}, .text = "states of other programs cannot be read",
     .neutral = "\"\""},
    {"/input/data", SKIP, .name = {"reorder"}},
    // output
    {"", READ, .name = {"output"}},
    {"/output", TUNE,
     .name = {"directory", "stats", "log", "json", "restart_json", "data", "reference",
              "advanced"}},
    {"/output", READ, .name = {"paraview"}},
    {"/output/paraview", TUNE,
     .name = {"file_name", "vismesh_rel_area", "high_order_mesh", "volume", "surface", "wireframe",
              "points", "fields", "options"}},
    {"/output/paraview", LEAF, .name = {"skip_frame"}},
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
static NoliStatus keys_refuse(NoliPolyfem* import, const NoliSceneNode* node, const Keys* key) {
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
    return keys_refuse(import, node, key);
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
