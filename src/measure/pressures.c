// Contact pressure, gaps and slips at the vertices of surfaces.
#include "step/simulation.h"

#include "base/ranks.h"
#include "math/vec3.h"

#include <math.h>

static NoliVec3 position_of(const NoliSim* sim, int32_t vertex) {
  return noli_load3(&sim->state.x[3 * (int64_t)vertex]);
}

// Weights of the vertices of a primitive at a point near it: 1, 2 or 3 vertices.
static void weigh(const NoliSim* sim, int32_t n, const int32_t* vertex, NoliVec3 at,
                  double weight[3]) {
  NoliVec3 corner[3] = {{0}};
  for (int32_t i = 0; i < n; i++) {
    corner[i] = position_of(sim, vertex[i]);
  }
  weight[0] = 1.0;
  if (n == 2) {
    NoliVec3 along = noli_sub3(corner[1], corner[0]);
    double square = noli_norm_sqr3(along);
    weight[1] = square > 0.0 ? noli_dot3(noli_sub3(at, corner[0]), along) / square : 0.0;
    weight[0] = 1.0 - weight[1];
  } else if (n == 3) {
    NoliVec3 b = noli_sub3(corner[1], corner[0]), c = noli_sub3(corner[2], corner[0]);
    NoliVec3 p = noli_sub3(at, corner[0]), area = noli_cross3(b, c);
    double square = noli_norm_sqr3(area);
    weight[1] = square > 0.0 ? noli_dot3(noli_cross3(p, c), area) / square : 0.0;
    weight[2] = square > 0.0 ? noli_dot3(noli_cross3(b, p), area) / square : 0.0;
    weight[0] = 1.0 - weight[1] - weight[2];
  }
}

// Distributes the normal force of a contact over the vertices of one side, and notes its gap there.
static void add_side(const NoliSim* sim, const NoliContactInfo* contact, int32_t side,
                     double* force, double* gap) {
  int32_t first = side == 0 ? 0 : contact->n_first, n = 0;
  int32_t end = side == 0 ? contact->n_first : 4;
  while (first + n < end && contact->vertex[first + n] != NOLI_NULL_INDEX) {
    n++;
  }
  double weight[3], sign = side == 0 ? 1.0 : -1.0;
  const int32_t* vertex = contact->vertex + first;
  if (n == 0) {
    return; // a half-space
  }
  weigh(sim, n, vertex, noli_load3(contact->position[side]), weight);
  for (int32_t i = 0; i < n; i++) {
    double* sum = force + 3 * (int64_t)vertex[i];
    noli_store3(
        sum, noli_mul_add3(noli_load3(sum), sign * weight[i], noli_load3(contact->normal_force)));
    if (weight[i] > 0.0) {
      gap[vertex[i]] = fmin(gap[vertex[i]], contact->gap);
    }
  }
}

// The area vector `part` of a vertex projected on the reverse of its force: forces point into
// solids; other surfaces are touched from both sides.
static double facing(const double force[3], NoliVec3 part, bool solid) {
  NoliVec3 f = noli_load3(force);
  double size = noli_norm3(f), shown = size > 0.0 ? -noli_dot3(f, part) / size : 0.0;
  return solid ? fmax(shown, 0.0) : fabs(shown);
}

// A third of each triangle.
static void add_triangles(const NoliSim* sim, const double* force, double* area) {
  const NoliProblem* problem = &sim->model->problem;
  const NoliSurface* surface = problem->surface;
  for (int32_t t = 0; t < surface->n_tri; t++) {
    const int32_t* v = surface->tri + 3 * (int64_t)t;
    const NoliBlock* block = noli_problem_block(problem, surface->body[v[0]]);
    NoliVec3 a = position_of(sim, v[0]);
    NoliVec3 normal =
        noli_cross3(noli_sub3(position_of(sim, v[1]), a), noli_sub3(position_of(sim, v[2]), a));
    for (int i = 0; i < 3; i++) {
      area[v[i]] += facing(force + 3 * (int64_t)v[i], noli_scale3(1.0 / 6.0, normal),
                           block != NULL && block->type->solid);
    }
  }
}

// Half of each boundary segment of bodies in plane strain, times their thickness.
static void add_segments(const NoliSim* sim, const double* force, double* area) {
  const NoliSurface* surface = sim->model->problem.surface;
  const NoliVec3 across = {0.0, 0.0, 1.0};
  for (int32_t e = 0; e < surface->n_edge; e++) {
    const int32_t* v = surface->edge + 2 * (int64_t)e;
    int32_t body = surface->body[v[0]];
    double thickness = sim->definition.def->bodies[body].plane_strain;
    if (!surface->planar[body] || !(thickness > 0.0)) {
      continue;
    }
    NoliVec3 along = noli_sub3(position_of(sim, v[1]), position_of(sim, v[0]));
    NoliVec3 half = noli_scale3(0.5 * thickness, noli_cross3(along, across));
    for (int i = 0; i < 2; i++) {
      area[v[i]] += facing(force + 3 * (int64_t)v[i], half, false);
    }
  }
}

NoliStatus noli_sim_contact_pressures(NoliSim* sim, double* pressure, double* gap) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && pressure != NULL && gap != NULL);
  NoliStatus status = NOLI_OK;
  const NoliContactInfo* contact = NULL;
  int64_t n_contact = 0;
  int32_t n = noli_sim_vertex_count(sim);
  double *force = NULL, *area = NULL;
  noli_ranks_begin_outer(sim->context);
  NOLI_NEW_ZERO(sim->context, force, 3 * (int64_t)n);
  NOLI_NEW_ZERO(sim->context, area, n);
  for (int32_t i = 0; i < n; i++) {
    gap[i] = (double)INFINITY;
  }

  // forces and gaps at vertices
  NOLI_TRY(noli_sim_contacts(sim, &contact, &n_contact));
  for (int64_t i = 0; i < n_contact; i++) {
    add_side(sim, &contact[i], 0, force, gap);
    add_side(sim, &contact[i], 1, force, gap);
  }

  // the areas on which they act
  add_triangles(sim, force, area);
  add_segments(sim, force, area);
  for (int32_t i = 0; i < n; i++) {
    double size = noli_norm3(noli_load3(force + 3 * (int64_t)i));
    pressure[i] = size > 0.0 && area[i] > 0.0 ? size / area[i] : 0.0;
  }
done:
  noli_free(sim->context, force);
  noli_free(sim->context, area);
  return noli_ranks_end_outer(sim->context, status);
}

NoliStatus noli_sim_contact_slips(NoliSim* sim, double* slid, int32_t* sticking) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && slid != NULL && sticking != NULL);
  NoliStatus status = NOLI_OK;
  const NoliContactInfo* contact = NULL;
  int64_t n_contact = 0;
  int32_t n = noli_sim_vertex_count(sim);
  for (int32_t i = 0; i < n; i++) {
    slid[i] = 0.0;
    sticking[i] = NOLI_STICKING_NONE;
  }

  // the least favourable of the contacts of a vertex
  NOLI_TRY(noli_sim_contacts(sim, &contact, &n_contact));
  for (int64_t i = 0; i < n_contact; i++) {
    for (int32_t k = 0; k < 4 && contact[i].vertex[k] != NOLI_NULL_INDEX; k++) {
      int32_t vertex = contact[i].vertex[k], holds = (int32_t)contact[i].sticking;
      slid[vertex] = fmax(slid[vertex], contact[i].slid);
      sticking[vertex] = holds > sticking[vertex] ? holds : sticking[vertex];
    }
  }
done:
  return status;
}
