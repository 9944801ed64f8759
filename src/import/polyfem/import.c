#include "import/import.h"
#include "import/polyfem/polyfem.h"

#include <math.h>
#include <string.h>

static NoliSceneNode section(const NoliPolyfem* import, const char* key) {
  return noli_scene_member(&import->root, key);
}

// ---- dimension ----------------------------------------------------------------------------------

static bool has_two(const json_t* list) {
  return json_array_size(list) == 2;
}

static bool any_has_two(const NoliSceneNode* list, const char* key) {
  for (size_t i = 0; i < noli_polyfem_count(list); i++) {
    NoliSceneNode item = noli_polyfem_entry(list, i);
    NoliSceneNode value = noli_scene_member(&item, key);
    if (has_two(value.value)) {
      return true;
    }
  }
  return false;
}

// Vectors of two components say that a scene lies in a plane, before anything else is looked at.
static bool import_is_flat(const NoliPolyfem* import) {
  static const char* const lists[] = {"dirichlet_boundary", "obstacle_displacements"};
  static const char* const placements[] = {"translation", "dimensions", "scale"};
  NoliSceneNode conditions = section(import, "boundary_conditions");
  NoliSceneNode rhs = noli_scene_member(&conditions, "rhs");
  NoliSceneNode initial = section(import, "initial_conditions");
  NoliSceneNode velocity = noli_scene_member(&initial, "velocity");
  bool flat = has_two(rhs.value) || any_has_two(&velocity, "value");
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    NoliSceneNode list = noli_scene_member(&conditions, lists[k]);
    flat = flat || any_has_two(&list, "value");
  }
  for (size_t i = 0; i < noli_polyfem_count(&import->geometry); i++) {
    NoliSceneNode entry = noli_polyfem_entry(&import->geometry, i);
    NoliSceneNode transformation = noli_scene_member(&entry, "transformation");
    for (size_t k = 0; k < sizeof placements / sizeof *placements; k++) {
      flat = flat || any_has_two(&transformation, placements[k]);
    }
  }
  return flat;
}

// ---- time ---------------------------------------------------------------------------------------

// Names of integrators there and here; NULL where there is none.
static const char* find_integrator(const char* name, int32_t n_steps) {
  static const struct {
    const char* theirs;
    int32_t n_steps; // 0: any
    const char* ours;
  } known[] = {
      {"ImplicitEuler", 0, "backward_euler"},
      {"implict_euler", 0, "backward_euler"},
      {"BDF1", 0, "backward_euler"},
      {"BDF", 1, "backward_euler"},
      {"BDF2", 0, "bdf2"},
      {"BDF", 2, "bdf2"},
      {"ImplicitNewmark", 0, "trapezoidal"},
      {"implict_newmark", 0, "trapezoidal"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(name, known[i].theirs) == 0 &&
        (known[i].n_steps == 0 || known[i].n_steps == n_steps)) {
      return known[i].ours;
    }
  }
  return NULL;
}

static NoliStatus read_integrator(NoliPolyfem* import, const NoliSceneNode* time, json_t* native) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(time, "integrator");
  NoliSceneNode type = json_is_object(node.value) ? noli_scene_member(&node, "type") : node;
  NoliSceneNode beta_node = noli_scene_member(&node, "beta");
  NoliSceneNode gamma_node = noli_scene_member(&node, "gamma");
  NoliSceneNode steps = noli_scene_member(&node, "steps");
  const char* name = "ImplicitEuler";
  double beta = 0.25, gamma = 0.5;
  int32_t n_steps = 1;

  NOLI_TRY(noli_polyfem_text(import, &type, &name));
  NOLI_TRY(noli_polyfem_number(import, &beta_node, NOLI_POLYFEM_NONE, &beta));
  NOLI_TRY(noli_polyfem_number(import, &gamma_node, NOLI_POLYFEM_NONE, &gamma));
  NOLI_TRY(noli_polyfem_integer(import, &steps, &n_steps));
  const char* integrator = find_integrator(name, n_steps);
  NOLI_POLYFEM_CHECK(
      import, &type, integrator != NULL,
      "integrator \"%.40s\" of %d steps is not supported; Noli has ImplicitEuler, BDF of 1 "
      "and 2 steps, and ImplicitNewmark with beta 0.25 and gamma 0.5",
      name, n_steps);
  NOLI_POLYFEM_CHECK(import, &node,
                     strcmp(integrator, "trapezoidal") != 0 || (beta == 0.25 && gamma == 0.5),
                     "Noli has ImplicitNewmark with beta 0.25 and gamma 0.5 only");
  NOLI_TRY(noli_polyfem_set(import, native, "integrator", json_string(integrator)));
done:
  return status;
}

// Two of end, step and number of steps; a third must agree.
static NoliStatus import_read_time(NoliPolyfem* import) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode time = section(import, "time");
  NOLI_POLYFEM_CHECK(import, &import->root, json_is_object(time.value),
                     "there is no \"time\": static problems are not supported");
  NoliSceneNode t0 = noli_scene_member(&time, "t0"), tend = noli_scene_member(&time, "tend");
  NoliSceneNode dt = noli_scene_member(&time, "dt");
  NoliSceneNode steps = noli_scene_member(&time, "time_steps");
  double end = 0.0, step = 0.0;
  int32_t n_steps = 0;

  // two of end, step and number of steps
  NOLI_TRY(noli_polyfem_number(import, &t0, NOLI_POLYFEM_TIME, &import->t0));
  NOLI_TRY(noli_polyfem_number(import, &tend, NOLI_POLYFEM_TIME, &end));
  NOLI_TRY(noli_polyfem_number(import, &dt, NOLI_POLYFEM_TIME, &step));
  NOLI_TRY(noli_polyfem_integer(import, &steps, &n_steps));
  double duration = end - import->t0;
  NOLI_POLYFEM_CHECK(import, &time,
                     (tend.value != NULL) + (dt.value != NULL) + (steps.value != NULL) >= 2,
                     "needs two of \"tend\", \"dt\", \"time_steps\"");
  NOLI_POLYFEM_CHECK(import, &tend, tend.value == NULL || duration > 0.0, "must be after \"t0\"");
  NOLI_POLYFEM_CHECK(import, &dt, dt.value == NULL || step > 0.0, "must be > 0");
  NOLI_POLYFEM_CHECK(import, &steps, steps.value == NULL || n_steps >= 1, "must be >= 1");
  NOLI_POLYFEM_CHECK(import, &time,
                     tend.value == NULL || dt.value == NULL || steps.value == NULL ||
                         fabs(step * n_steps - duration) <= 1e-12,
                     "\"tend\", \"dt\" and \"time_steps\" do not agree");

  // write the native time
  import->time_step = dt.value != NULL ? step : duration / n_steps;
  json_t* native = json_object();
  NOLI_TRY(noli_polyfem_set(import, import->scene, "time", native));
  NOLI_TRY(noli_polyfem_set(import, native, "step", noli_polyfem_json_number(import->time_step)));
  if (steps.value != NULL) {
    NOLI_TRY(noli_polyfem_set(import, native, "steps", json_integer(n_steps)));
  } else {
    NOLI_TRY(noli_polyfem_set(import, native, "duration", noli_polyfem_json_number(duration)));
  }
  NOLI_TRY(read_integrator(import, &time, native));
done:
  return status;
}

// ---- space --------------------------------------------------------------------------------------

static NoliStatus read_order(NoliPolyfem* import, const NoliSceneNode* node, int32_t* order) {
  NoliStatus status = NOLI_OK;
  NOLI_POLYFEM_CHECK(import, node, !json_is_string(node->value),
                     "orders from files are not supported");
  NOLI_TRY(noli_polyfem_integer(import, node, order));
  NOLI_POLYFEM_CHECK(import, node, *order >= 1 && *order <= 4,
                     "elements have order 1 to 4 here, got %d", (int)*order);
done:
  return status;
}

// One order for all bodies, or a list of orders by the numbers of bodies.
static NoliStatus find_order(NoliPolyfem* import, int32_t body_id, int32_t* order) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode space = section(import, "space");
  NoliSceneNode node = noli_scene_member(&space, "discr_order");
  *order = 1;
  if (!json_is_array(node.value)) {
    return read_order(import, &node, order);
  }
  for (size_t i = 0; i < noli_scene_size(&node); i++) {
    NoliSceneNode item = noli_scene_item(&node, i);
    NoliSceneNode item_order = noli_scene_member(&item, "order");
    NoliSceneNode item_id = noli_scene_member(&item, "id");
    int32_t id = body_id, found = 1;
    NOLI_TRY(read_order(import, &item_order, &found));
    NOLI_TRY(noli_polyfem_integer(import, &item_id, &id));
    *order = id == body_id ? found : *order;
  }
done:
  return status;
}

// The surface of all bodies for contact: their boundary cut into short edges, or none of its own.
static NoliStatus import_read_proxy(NoliPolyfem* import, json_t* native) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode contact = section(import, "contact");
  NoliSceneNode proxy = noli_scene_member(&contact, "collision_mesh");
  NoliSceneNode enabled = noli_scene_member(&proxy, "enabled");
  NoliSceneNode mesh = noli_scene_member(&proxy, "mesh");
  NoliSceneNode length_node = noli_scene_member(&proxy, "max_edge_length");
  bool has_proxy = json_is_object(proxy.value);
  double length = 0.0;
  NOLI_TRY(noli_polyfem_bool(import, &enabled, &has_proxy));
  if (!has_proxy) {
    goto done;
  }
  NOLI_POLYFEM_CHECK(
      import, &mesh, mesh.value == NULL || json_is_null(mesh.value),
      "collision meshes from files are not supported: give the native body a \"proxy\"");
  NOLI_POLYFEM_CHECK(import, &proxy, length_node.value != NULL, "\"max_edge_length\" is missing");
  NOLI_TRY(noli_polyfem_number(import, &length_node, NOLI_POLYFEM_LENGTH, &length));
  NOLI_POLYFEM_CHECK(import, &length_node, length > 0.0, "must be positive");
  json_t* object = json_object();
  NOLI_TRY(noli_polyfem_set(import, native, "proxy", object));
  NOLI_TRY(noli_polyfem_set(import, object, "edge_length", noli_polyfem_json_number(length)));
done:
  return status;
}

NoliStatus noli_polyfem_read_elements(NoliPolyfem* import, int32_t body_id, json_t* native) {
  NoliStatus status = NOLI_OK;
  int32_t order = 1;
  NOLI_TRY(find_order(import, body_id, &order));
  if (order > 1) {
    NOLI_TRY(noli_polyfem_set(import, native, "order", json_integer(order)));
  }
  NOLI_TRY(import_read_proxy(import, native));
done:
  return status;
}

// ---- contact ------------------------------------------------------------------------------------

// Without "dhat" it is 1e-3, or, where edges are shorter, a part of the shortest.
static NoliStatus read_distance(NoliPolyfem* import, const NoliSceneNode* contact, double* dhat) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(contact, "dhat");
  NoliSceneNode part_node = noli_scene_member(contact, "dhat_percentage");
  double part = 0.8;
  *dhat = 1e-3;
  NOLI_TRY(noli_polyfem_number(import, &node, NOLI_POLYFEM_LENGTH, dhat));
  NOLI_TRY(noli_polyfem_number(import, &part_node, NOLI_POLYFEM_NONE, &part));
  if (node.value == NULL && *dhat > import->shortest_edge) {
    *dhat = part * import->shortest_edge;
  }
done:
  return status;
}

// The barrier is kappa b(d^2) in both programs, so its stiffness needs no conversion: `factor` 1.
static NoliStatus read_stiffness(NoliPolyfem* import, double factor, json_t* native) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode solver = section(import, "solver");
  NoliSceneNode contact = noli_scene_member(&solver, "contact");
  NoliSceneNode node = noli_scene_member(&contact, "barrier_stiffness");
  if (json_is_string(node.value)) {
    NOLI_POLYFEM_CHECK(import, &node, strcmp(noli_scene_string(&node), "adaptive") == 0,
                       "must be a number or \"adaptive\"");
  } else if (node.value != NULL) {
    double stiffness = 0.0;
    NOLI_TRY(noli_polyfem_number(import, &node, NOLI_POLYFEM_NONE, &stiffness));
    NOLI_TRY(noli_polyfem_set(import, native, "stiffness",
                              noli_polyfem_json_number(factor * stiffness)));
  }
done:
  return status;
}

static NoliStatus read_friction(NoliPolyfem* import, const NoliSceneNode* contact) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode solver = section(import, "solver");
  NoliSceneNode solver_contact = noli_scene_member(&solver, "contact");
  NoliSceneNode iterations_node = noli_scene_member(&solver_contact, "friction_iterations");
  NoliSceneNode coefficient_node = noli_scene_member(contact, "friction_coefficient");
  NoliSceneNode speed_node = noli_scene_member(contact, "epsv");
  double coefficient = 0.0, speed = 1e-3;
  int32_t iterations = 1; // theirs; ours where they say nothing

  NOLI_TRY(noli_polyfem_number(import, &coefficient_node, NOLI_POLYFEM_NONE, &coefficient));
  NOLI_TRY(noli_polyfem_number(import, &speed_node, NOLI_POLYFEM_VELOCITY, &speed));
  NOLI_TRY(noli_polyfem_integer(import, &iterations_node, &iterations));
  if (coefficient == 0.0 || iterations == 0) {
    goto done;
  }
  json_t* native = json_object();
  NOLI_TRY(noli_polyfem_set(import, import->scene, "friction", native));
  NOLI_TRY(noli_polyfem_set(import, native, "coefficient", noli_polyfem_json_number(coefficient)));
  NOLI_TRY(noli_polyfem_set(import, native, "speed", noli_polyfem_json_number(speed)));
  NOLI_TRY(noli_polyfem_set(import, native, "law", json_string("velocity")));

  if (iterations_node.value != NULL) {
    NOLI_TRY(noli_polyfem_set(import, native, "iterations",
                              iterations < 0 ? json_string("until_convergence")
                                             : json_integer(iterations)));
  }
done:
  return status;
}

// One of the parameters of smoothness, which may also be negative there.
static NoliStatus read_smoothness(NoliPolyfem* import, const NoliSceneNode* contact,
                                  const char* theirs, const char* ours, json_t* native) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(contact, theirs);
  double value = 0.5;
  NOLI_TRY(noli_polyfem_number(import, &node, NOLI_POLYFEM_NONE, &value));
  NOLI_POLYFEM_CHECK(import, &node, value > 0.0 && value <= 1.0,
                     "Noli takes numbers in (0, 1], got %g", value);
  NOLI_TRY(noli_polyfem_set(import, native, ours, noli_polyfem_json_number(value)));
done:
  return status;
}

// The geometric contact potential of [Huang2025]. Its barrier is B3(2 d / dhat) (dhat / d)^(n-1)
// there and (3/2) B3(2 d / eps) / d^(n-1) here, so that `*factor` converts the stiffness.
static NoliStatus read_geometric(NoliPolyfem* import, const NoliSceneNode* contact, double dhat,
                                 json_t* native, double* factor) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode adaptive_node = noli_scene_member(contact, "use_adaptive_dhat");
  NoliSceneNode ratio_node = noli_scene_member(contact, "min_distance_ratio");
  bool adaptive = false;
  double ratio = 0.5;
  NOLI_TRY(noli_polyfem_bool(import, &adaptive_node, &adaptive));
  NOLI_TRY(noli_polyfem_number(import, &ratio_node, NOLI_POLYFEM_NONE, &ratio));
  NOLI_POLYFEM_CHECK(import, &ratio_node, !adaptive || ratio == 0.5,
                     "Noli reaches half the distance at rest: must be 0.5, got %g", ratio);
  NOLI_TRY(noli_polyfem_set(import, native, "model", json_string("gcp")));
  NOLI_TRY(noli_polyfem_set(import, native, "act_at_rest", json_boolean(!adaptive)));
  NOLI_TRY(noli_polyfem_set(import, native, "eps_target", noli_polyfem_json_number(dhat)));
  NOLI_TRY(read_smoothness(import, contact, "alpha_t", "alpha", native));
  NOLI_TRY(read_smoothness(import, contact, "alpha_n", "beta", native));
  *factor = (import->flat ? dhat : dhat * dhat) / 1.5;
done:
  return status;
}

// One of the parts of the convergent formulation, which it has unless the scene says otherwise.
static NoliStatus read_convergent_part(NoliPolyfem* import, const NoliSceneNode* contact,
                                       const char* key, bool* has) {
  NoliSceneNode node = noli_scene_member(contact, key);
  *has = true;
  return noli_polyfem_bool(import, &node, has);
}

// Convergent contact [Li2023]. Without its barrier, that of [Li2020] is dhat^3 times as large.
static NoliStatus read_convergent(NoliPolyfem* import, const NoliSceneNode* contact, double dhat,
                                  json_t* native, double* factor) {
  NoliStatus status = NOLI_OK;
  static const char* const needed[] = {"use_area_weighting", "use_improved_max_operator"};
  for (int k = 0; k < 2; k++) {
    NoliSceneNode node = noli_scene_member(contact, needed[k]);
    bool has;
    NOLI_TRY(read_convergent_part(import, contact, needed[k], &has));
    NOLI_POLYFEM_CHECK(import, &node, has,
                       "Noli's convergent contact has both areas and the improved maximum: must be "
                       "true where use_convergent_formulation is");
  }
  bool physical;
  NOLI_TRY(read_convergent_part(import, contact, "use_physical_barrier", &physical));
  NOLI_TRY(noli_polyfem_set(import, native, "convergent", json_true()));
  *factor = physical ? 1.0 : dhat * dhat * dhat;
done:
  return status;
}

static NoliStatus read_contact(NoliPolyfem* import) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode contact = section(import, "contact");
  NoliSceneNode enabled_node = noli_scene_member(&contact, "enabled");
  NoliSceneNode geometric_node = noli_scene_member(&contact, "use_gcp_formulation");
  NoliSceneNode convergent_node = noli_scene_member(&contact, "use_convergent_formulation");
  bool enabled = false, geometric = false, convergent = false;
  double dhat = 0.0, factor = 1.0;
  NOLI_TRY(noli_polyfem_bool(import, &enabled_node, &enabled));
  NOLI_TRY(noli_polyfem_bool(import, &geometric_node, &geometric));
  NOLI_TRY(noli_polyfem_bool(import, &convergent_node, &convergent));
  json_t* native = json_object();
  NOLI_TRY(noli_polyfem_set(import, import->scene, "contact", native));
  if (!enabled) {
    NOLI_TRY(noli_polyfem_set(import, native, "enabled", json_false()));
    goto done;
  }
  NOLI_TRY(read_distance(import, &contact, &dhat));
  NOLI_TRY(noli_polyfem_set(import, native, "distance", noli_polyfem_json_number(dhat)));
  if (geometric) {
    NOLI_TRY(read_geometric(import, &contact, dhat, native, &factor));
  } else if (convergent) {
    NOLI_TRY(read_convergent(import, &contact, dhat, native, &factor));
  }
  NOLI_TRY(read_stiffness(import, factor, native));
  NOLI_TRY(read_friction(import, &contact));
done:
  return status;
}

// ---- solver and output --------------------------------------------------------------------------

static NoliStatus read_solver(NoliPolyfem* import) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode solver = section(import, "solver");
  NoliSceneNode nonlinear = noli_scene_member(&solver, "nonlinear");
  NoliSceneNode limit = noli_scene_member(&nonlinear, "max_iterations");
  NoliSceneNode advanced = noli_scene_member(&solver, "advanced");
  NoliSceneNode lump_node = noli_scene_member(&advanced, "lump_mass_matrix");
  int32_t max_iterations = 0;
  bool lump = false;
  NOLI_TRY(noli_polyfem_integer(import, &limit, &max_iterations));
  if (max_iterations > 0) {
    json_t* native = json_object();
    NOLI_TRY(noli_polyfem_set(import, import->scene, "solver", native));
    NOLI_TRY(noli_polyfem_set(import, native, "max_iterations", json_integer(max_iterations)));
  }

  NOLI_TRY(noli_polyfem_bool(import, &lump_node, &lump));
  if (!lump) {
    noli_scene_log(
        &import->source, &lump_node, NOLI_LOG_WARNING,
        "Noli lumps the mass of linear elements at the vertices; this scene asks for a full "
        "mass matrix");
  }

  if (nonlinear.value != NULL) {
    noli_scene_log(&import->source, &nonlinear, NOLI_LOG_INFO,
                   "tolerances have no counterpart and were left out: Noli stops when a Newton "
                   "step divided by h is slower than solver.tolerance");
  }
done:
  return status;
}

static NoliStatus read_output(NoliPolyfem* import) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode output = section(import, "output");
  NoliSceneNode paraview = noli_scene_member(&output, "paraview");
  NoliSceneNode skip = noli_scene_member(&paraview, "skip_frame");
  int32_t every = 1;
  NOLI_TRY(noli_polyfem_integer(import, &skip, &every));
  if (every > 1) {
    json_t* native = json_object();
    NOLI_TRY(noli_polyfem_set(import, import->scene, "output", native));
    NOLI_TRY(noli_polyfem_set(import, native, "every", json_integer(every)));
  }
done:
  return status;
}

// ---- all of it ----------------------------------------------------------------------------------

static NoliStatus convert(NoliPolyfem* import, json_t* parsed) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_polyfem_read_files(import, parsed));
  import->flat = import_is_flat(import);
  import->scene = json_object();
  NOLI_TRY(import_read_time(import));
  NOLI_TRY(noli_polyfem_check_keys(import));
  NOLI_TRY(noli_polyfem_check_initial(import));
  NOLI_TRY(noli_polyfem_read_geometry(import));
  NOLI_TRY(noli_polyfem_read_boundary(import));
  NOLI_TRY(read_contact(import));
  NOLI_TRY(read_solver(import));
  NOLI_TRY(read_output(import));
done:
  return status;
}

NoliStatus noli_import_polyfem(const NoliSceneSource* source, json_t* parsed, json_t** root) {
  NoliPolyfem import = {.source = *source};
  NoliStatus status = convert(&import, parsed);
  if (status == NOLI_OK) {
    *root = json_incref(import.scene);
  }
  json_decref(import.scene);
  noli_polyfem_release_bodies(&import);
  noli_polyfem_release_files(&import);
  return status;
}
