#include "import/polyfem/polyfem.h"

#include <stdio.h>
#include <string.h>

// Laws whose energy is the same in both programs: mu/2 (|F|^2 - 3) - mu ln J + lambda/2 (ln J)^2,
// mu |F - R|^2 + lambda/2 (J - 1)^2, and mu |E|^2 + lambda/2 (tr E)^2.
static const struct {
  const char* name;
  const char* law;
} laws[] = {
    {"NeoHookean", "neo_hookean"},
    {"FixedCorotational", "fixed_corotated"},
    {"SaintVenant", "stvk"},
};

static const char* const known_keys[] = {"type", "id",  "E",   "nu", "lambda",
                                         "mu",   "rho", "phi", "psi"};

static NoliStatus find_law(NoliPolyfem* import, const NoliSceneNode* material, const char** law) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode type = noli_scene_member(material, "type");
  const char* name = NULL;
  NOLI_TRY(noli_polyfem_text(import, &type, &name));
  NOLI_POLYFEM_CHECK(import, material, name != NULL, "\"type\" is missing");
  char known[200] = "";
  for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
    if (strcmp(laws[i].name, name) == 0) {
      *law = laws[i].law;
      goto done;
    }
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", laws[i].name);
  }
  NOLI_POLYFEM_CHECK(import, &type, false, "law \"%.60s\" is not supported; Noli has %s", name,
                     known);
done:
  return status;
}

static NoliStatus check_keys(NoliPolyfem* import, const NoliSceneNode* material) {
  NoliStatus status = NOLI_OK;
  enum { N_KNOWN = sizeof known_keys / sizeof *known_keys };
  const char* key;
  json_t* value;
  json_object_foreach(material->value, key, value) {
    bool known = false;
    for (int i = 0; i < N_KNOWN; i++) {
      known = known || strcmp(known_keys[i], key) == 0;
    }
    if (!known) {
      NoliSceneNode member = noli_scene_member(material, key);
      NOLI_TRY(noli_scene_fail_unknown(&import->source, &member, "unknown key", key, known_keys,
                                       N_KNOWN));
    }
  }
done:
  return status;
}

static void from_lame(double lambda, double mu, double* young, double* poisson) {
  *young = mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
  *poisson = lambda / (2.0 * (lambda + mu));
}

// In a plane, lambda is nu E / (1 - nu^2) there. The moduli in space that have this lambda and the
// same mu give plane strain the same energy.
static void from_plane(double* young, double* poisson) {
  double nu = *poisson, mu = *young / (2.0 * (1.0 + nu));
  from_lame(nu * *young / (1.0 - nu * nu), mu, young, poisson);
}

// E and nu, or lambda and mu.
static NoliStatus read_stiffness(NoliPolyfem* import, const NoliSceneNode* material, double* young,
                                 double* poisson) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode E = noli_scene_member(material, "E"), nu = noli_scene_member(material, "nu");
  NoliSceneNode lambda = noli_scene_member(material, "lambda");
  NoliSceneNode mu = noli_scene_member(material, "mu");
  if (lambda.value == NULL && mu.value == NULL) {
    NOLI_POLYFEM_CHECK(import, material, E.value != NULL && nu.value != NULL,
                       "needs \"E\" and \"nu\", or \"lambda\" and \"mu\"");
    NOLI_TRY(noli_polyfem_number(import, &E, NOLI_POLYFEM_STRESS, young));
    NOLI_TRY(noli_polyfem_number(import, &nu, NOLI_POLYFEM_NONE, poisson));
    if (import->flat) {
      from_plane(young, poisson);
    }
    goto done;
  }

  double l = 0.0, m = 0.0;
  NOLI_POLYFEM_CHECK(import, material,
                     lambda.value != NULL && mu.value != NULL && E.value == NULL &&
                         nu.value == NULL,
                     "needs either \"E\" and \"nu\", or \"lambda\" and \"mu\"");
  NOLI_TRY(noli_polyfem_number(import, &lambda, NOLI_POLYFEM_STRESS, &l));
  NOLI_TRY(noli_polyfem_number(import, &mu, NOLI_POLYFEM_STRESS, &m));
  NOLI_POLYFEM_CHECK(import, &mu, m > 0.0 && l + m > 0.0,
                     "mu and lambda + mu must be > 0, got %g and %g", m, l + m);
  from_lame(l, m, young, poisson);
done:
  return status;
}

// The entry of "materials" for a number: one object is for all, in a list the last one counts.
static NoliStatus material_find_material(NoliPolyfem* import, const NoliSceneNode* materials,
                                         const NoliSceneNode* entry, int32_t id,
                                         NoliSceneNode* material) {
  NoliStatus status = NOLI_OK;
  bool found = json_is_object(materials->value);
  *material = *materials;
  for (size_t i = 0; i < noli_scene_size(materials); i++) {
    NoliSceneNode item = noli_scene_item(materials, i);
    NoliSceneNode item_id = noli_scene_member(&item, "id");
    NOLI_POLYFEM_CHECK(import, &item, json_is_object(item.value) && item_id.value != NULL,
                       "must be an object with an \"id\"");
    if (noli_polyfem_has_id(&item_id, id)) {
      *material = item;
      found = true;
    }
  }
  NOLI_POLYFEM_CHECK(import, entry, found, "there is no material for volume %d", (int)id);
done:
  return status;
}

// force = -beta K v with K at the start of the step, as here.
static NoliStatus read_damping(NoliPolyfem* import, double* damping) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode solver = noli_scene_member(&import->root, "solver");
  NoliSceneNode list = noli_scene_member(&solver, "rayleigh_damping");
  for (size_t i = 0; i < noli_polyfem_count(&list); i++) {
    NoliSceneNode item = noli_polyfem_entry(&list, i);
    NoliSceneNode form = noli_scene_member(&item, "form");
    NoliSceneNode ratio = noli_scene_member(&item, "stiffness_ratio");
    NoliSceneNode stiffness = noli_scene_member(&item, "stiffness");
    const char* name = "";
    double beta = 0.0, part = 0.0, h = import->time_step;
    NOLI_TRY(noli_polyfem_text(import, &form, &name));
    NOLI_POLYFEM_CHECK(import, &form, strcmp(name, "elasticity") == 0,
                       "only damping of \"elasticity\" is there, not of \"%.40s\"", name);
    NOLI_TRY(noli_polyfem_number(import, &stiffness, NOLI_POLYFEM_TIME, &beta));
    NOLI_TRY(noli_polyfem_number(import, &ratio, NOLI_POLYFEM_NONE, &part));
    *damping += ratio.value != NULL ? 0.75 * part * h * h * h : beta;
  }
done:
  return status;
}

NoliStatus noli_polyfem_read_material(NoliPolyfem* import, const NoliSceneNode* entry, int32_t id,
                                      json_t** material) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode materials = noli_scene_member(&import->root, "materials");
  NOLI_POLYFEM_CHECK(import, &import->root, materials.value != NULL, "\"materials\" is missing");
  NoliSceneNode found;
  const char* law = NULL;
  double young = 0.0, poisson = 0.0, density = 1.0, damping = 0.0;
  NOLI_TRY(material_find_material(import, &materials, entry, id, &found));
  NOLI_TRY(find_law(import, &found, &law));
  NOLI_TRY(check_keys(import, &found));
  NOLI_TRY(read_stiffness(import, &found, &young, &poisson));
  NoliSceneNode rho = noli_scene_member(&found, "rho");
  NOLI_TRY(noli_polyfem_number(import, &rho, NOLI_POLYFEM_DENSITY, &density));
  NOLI_TRY(read_damping(import, &damping));
  *material = json_object();
  NOLI_TRY(noli_polyfem_set(import, *material, "law", json_string(law)));
  NOLI_TRY(noli_polyfem_set(import, *material, "young", noli_polyfem_json_number(young)));
  NOLI_TRY(noli_polyfem_set(import, *material, "poisson", noli_polyfem_json_number(poisson)));
  NOLI_TRY(noli_polyfem_set(import, *material, "density", noli_polyfem_json_number(density)));
  if (damping != 0.0) {
    NOLI_TRY(noli_polyfem_set(import, *material, "damping", noli_polyfem_json_number(damping)));
  }
done:
  if (status != NOLI_OK) {
    json_decref(*material);
    *material = NULL;
  }
  return status;
}

NoliStatus noli_polyfem_read_velocity(NoliPolyfem* import, int32_t id, double velocity[3]) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode initial = noli_scene_member(&import->root, "initial_conditions");
  NoliSceneNode list = noli_scene_member(&initial, "velocity");
  for (size_t i = 0; i < noli_polyfem_count(&list); i++) {
    NoliSceneNode item = noli_polyfem_entry(&list, i);
    NoliSceneNode item_id = noli_scene_member(&item, "id");
    NoliSceneNode value = noli_scene_member(&item, "value");
    int32_t n;
    if (noli_polyfem_has_id(&item_id, id)) {
      NOLI_TRY(noli_polyfem_vector(import, &value, NOLI_POLYFEM_VELOCITY, velocity, &n));
      NOLI_POLYFEM_CHECK(import, &value, n == 3, "must be %d numbers", import->flat ? 2 : 3);
      break;
    }
  }
done:
  return status;
}

static NoliStatus check_zero(NoliPolyfem* import, const NoliSceneNode* initial, const char* key) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode list = noli_scene_member(initial, key);
  for (size_t i = 0; i < noli_polyfem_count(&list); i++) {
    NoliSceneNode item = noli_polyfem_entry(&list, i);
    NoliSceneNode value = noli_scene_member(&item, "value");
    for (size_t k = 0; k < noli_polyfem_count(&value); k++) {
      NoliSceneNode component = noli_polyfem_entry(&value, k);
      NOLI_POLYFEM_CHECK(import, &component,
                         json_is_number(component.value) && noli_scene_number(&component) == 0.0,
                         "initial conditions other than a velocity are not supported");
    }
  }
done:
  return status;
}

NoliStatus noli_polyfem_check_initial(NoliPolyfem* import) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode initial = noli_scene_member(&import->root, "initial_conditions");
  NOLI_TRY(check_zero(import, &initial, "solution"));
  NOLI_TRY(check_zero(import, &initial, "acceleration"));
done:
  return status;
}
