// A C++ program with the library: enumerators, definitions, results.
#include <noli/noli.h>
#include <cstdio>

static const char* word(const NoliDefect& defect) {
  switch (defect.kind) {
  case NOLI_DEFECT_INTERSECTION:
    return "intersection";
  case NOLI_DEFECT_ZERO_GAP:
    return "zero gap";
  case NOLI_DEFECT_HALF_SPACE:
    return "half-space";
  case NOLI_DEFECT_INVERTED:
    return "inverted";
  case NOLI_DEFECT_PENETRATION:
    return "penetration";
  case NOLI_DEFECT_NESTED:
    return "nested";
  }
  return "";
}

int main() {
  const double size[3] = {0.2, 0.2, 0.2};
  const int32_t cells[3] = {2, 2, 2};
  NoliContext* context = nullptr;
  NoliMesh* mesh = nullptr;
  NoliSim* sim = nullptr;
  NoliDefect* defects = nullptr;
  int64_t n_defects = 0;
  NoliStepReport report;
  NoliStateField field;
  if (noli_context_create(nullptr, &context) != NOLI_OK ||
      noli_mesh_make_box(context, size, cells, false, &mesh) != NOLI_OK) {
    return 1;
  }
  NoliBodyDef body = noli_default_body_def();
  NoliHalfSpaceDef floor = noli_default_half_space_def();
  NoliSimDef def = noli_default_sim_def();
  body.mesh = mesh;
  body.material.young = 2e5;
  floor.origin[1] = -0.05;
  def.bodies = &body;
  def.n_bodies = 1;
  def.half_spaces = &floor;
  def.n_half_spaces = 1;
  def.integrator = noli_choice_name(NOLI_CHOICE_INTEGRATOR, 0);
  NoliStatus status = noli_sim_check(context, &def, &defects, &n_defects);
  if (status == NOLI_OK && n_defects > 0) {
    std::printf("first defect: %s\n", word(defects[0]));
  }
  noli_sim_check_free(context, &defects);
  floor.origin[1] = -0.101;
  status = noli_sim_create(context, &def, &sim);
  for (int step = 0; step < 5 && status == NOLI_OK; step++) {
    status = noli_sim_step(sim, &report);
  }
  if (status == NOLI_OK && noli_sim_state_field(sim, 0, &field) &&
      field.type == NOLI_FIELD_DOUBLE && noli_version_number() >= NOLI_VERSION_NUMBER) {
    std::printf("%s: %d doubles, step %d\n", noli_version(), static_cast<int>(field.count),
                static_cast<int>(report.step));
  }
  noli_sim_destroy(&sim);
  noli_mesh_destroy(context, &mesh);
  noli_context_destroy(&context);
  return status == NOLI_OK ? 0 : 1;
}
