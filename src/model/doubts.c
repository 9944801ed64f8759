#include "model/doubts.h"

#include "define/body_kind.h"
#include "math/eigen.h"
#include "math/vec3.h"
#include "model/clearance.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Cook's membrane of 8 x 8 cells in plane strain is 1.5 times too stiff with a ratio of 0.4, 1.7
// times with 0.45, 2.5 times with 0.49 and 3.4 times with 0.4999.
#define LOCKING_RATIO 0.45
// A surface vertex is opposite to another one where the cosine of their normals is below this.
#define OPPOSITE (-0.5)
// Share of its surface from which on a body is a single layer: in rods of one cell half of the
// vertices have an edge through the section.
#define LAYER_SHARE 0.4
// Least length over the thickness of what bends, and over the mean edge of its surface: a plate of
// two or three elements along its side is meant to be rigid.
#define SLENDER 7.0
#define RESOLVED 3.5

// Of the mean edge: the elastic slip that meshes resolve. A block of eight cells, pressed until
// friction could shear it by 1 %, bears 1 % less with a stick length of 1/1000 of its edges than
// with a short one, 9 % less with 1/100, and 22 % less with 3/100.
#define SLIP_SHARE 0.01

enum { WORDS = 400 };

// The bodies that a warning is about.
typedef struct Doubt {
  int32_t first, n;
  char words[WORDS]; // about the first one
} Doubt;

static void add_doubt(Doubt* doubt, int32_t b, const char* format, ...) NOLI_PRINTF(3, 4);

static void add_doubt(Doubt* doubt, int32_t b, const char* format, ...) {
  if (doubt->n == 0) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(doubt->words, WORDS, format, arguments);
    va_end(arguments);
    doubt->first = b;
  }
  doubt->n++;
}

static void warn(const NoliModel* model, const Doubt* doubt) {
  char more[64] = "";
  if (doubt->n > 1) {
    snprintf(more, sizeof more, " and %d more bod%s", (int)doubt->n - 1,
             doubt->n > 2 ? "ies" : "y");
  }
  if (doubt->n > 0) {
    noli_log(model->context, NOLI_LOG_WARNING, "\"%.80s\"%s: %s", model->name[doubt->first], more,
             doubt->words);
  }
}

static bool is_linear_solid(const NoliBodyDef* body) {
  return !body->obstacle && noli_body_kind(body) == &noli_body_solid && body->order <= 1;
}

// ---- locking ----

static double largest_ratio(double ratio, const NoliMaterialDef* material,
                            const NoliMaterialFields* fields, int32_t n_element) {
  double largest = fields->poisson == NULL ? material->poisson : -1.0;
  for (int32_t i = 0; fields->poisson != NULL && i < n_element; i++) {
    largest = fmax(largest, fields->poisson[i]);
  }
  return fmax(ratio, largest);
}

static void doubt_ratio(const NoliModel* model, int32_t b, const NoliBodyDef* body, Doubt* doubt) {
  bool plane = noli_body_kind(body)->planar;
  int32_t n_element = model->cell_first[b + 1] - model->cell_first[b];
  double ratio = largest_ratio(-1.0, &body->material, &body->fields, n_element);
  for (int32_t k = 0; k < body->n_parts; k++) {
    const NoliPartDef* part = &body->parts[k];
    ratio = largest_ratio(ratio, &part->material, &part->fields, part->n_element);
  }
  if (ratio > LOCKING_RATIO) {
    add_doubt(doubt, b,
              "linear elements lock with a Poisson's ratio of %.6g: bending and shear may be two "
              "to four times too stiff; use %s",
              ratio,
              plane
                  ? "a ratio of 0.45 or less, or a slab of one layer with \"order\": 2 whose z is "
                    "held"
                  : "\"order\": 2, or a ratio of 0.45 or less");
  }
}

// ---- single layers ----

// Normals of the surface vertices of a body, times their areas.
static void add_normals(const NoliModel* model, int32_t b, double* normal) {
  const NoliSurface* surface = model->problem.surface;
  for (int32_t t = surface->tri_first[b]; t < surface->tri_first[b + 1]; t++) {
    const int32_t* tri = &surface->tri[3 * (int64_t)t];
    NoliVec3 at[3];
    for (int k = 0; k < 3; k++) {
      at[k] = noli_load3(&model->problem.X[3 * (int64_t)tri[k]]);
    }
    NoliVec3 area = noli_cross3(noli_sub3(at[1], at[0]), noli_sub3(at[2], at[0]));
    for (int k = 0; k < 3; k++) {
      double* sum = &normal[3 * (int64_t)tri[k]];
      noli_store3(sum, noli_mul_add3(noli_load3(sum), 1.0 / 6.0, area));
    }
  }
}

// The thickness of the body where an edge joins two vertices of opposite sides, otherwise INFINITY.
static double thickness_along(const NoliModel* model, const double* normal, int32_t a, int32_t c) {
  NoliVec3 one = noli_load3(&normal[3 * (int64_t)a]), other = noli_load3(&normal[3 * (int64_t)c]);
  double size = noli_norm3(one) * noli_norm3(other);
  if (!(size > 0.0) || noli_dot3(one, other) > OPPOSITE * size) {
    return INFINITY;
  }
  NoliVec3 edge = noli_sub3(noli_load3(&model->problem.X[3 * (int64_t)c]),
                            noli_load3(&model->problem.X[3 * (int64_t)a]));
  NoliVec3 through = noli_sub3(noli_scale3(1.0 / noli_norm3(other), other),
                               noli_scale3(1.0 / noli_norm3(one), one));
  return fabs(noli_dot3(edge, through)) / noli_norm3(through);
}

// Thickness at the vertices of a body that an edge joins to the opposite side.
static void find_thickness(const NoliModel* model, int32_t b, const double* normal,
                           double* thickness) {
  static const int edge[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  for (int32_t t = model->cell_first[b]; t < model->cell_first[b + 1]; t++) {
    const int32_t* tet = &model->cell[4 * (int64_t)t];
    for (int k = 0; k < 6; k++) {
      int32_t a = tet[edge[k][0]], c = tet[edge[k][1]];
      double through = thickness_along(model, normal, a, c);
      thickness[a] = fmin(thickness[a], through);
      thickness[c] = fmin(thickness[c], through);
    }
  }
}

// The mean length of the edges of the surface of a body, and the share of those below a length.
static double mean_edge(const NoliModel* model, int32_t b, double length, double* share) {
  const NoliSurface* surface = model->problem.surface;
  int64_t n = 0, shorter = 0;
  double sum = 0.0;
  for (int32_t e = surface->edge_first[b]; e < surface->edge_first[b + 1]; e++) {
    const int32_t* edge = &surface->edge[2 * (int64_t)e];
    if (noli_surface_edge_size(edge) == 2) {
      NoliVec3 along = noli_sub3(noli_load3(&model->problem.X[3 * (int64_t)edge[1]]),
                                 noli_load3(&model->problem.X[3 * (int64_t)edge[0]]));
      double size = noli_norm3(along);
      sum += size;
      shorter += size < length ? 1 : 0;
      n++;
    }
  }
  *share = n > 0 ? (double)shorter / (double)n : 0.0;
  return n > 0 ? sum / (double)n : 0.0;
}

// Sums over a part of the surface, each vertex with its area.
typedef struct PartSum {
  double area, thickness, first[3], second[9];
} PartSum;

static void doubts_add_vertex(PartSum* part, const double* x, double area, double thickness) {
  part->area += area;
  part->thickness += area * thickness;
  for (int i = 0; i < 3; i++) {
    part->first[i] += area * x[i];
    for (int j = 0; j < 3; j++) {
      part->second[3 * i + j] += area * x[i] * x[j];
    }
  }
}

// The length of a straight line with the same largest spread about the centre.
static double longest_of(const PartSum* part) {
  double spread[9], value[3], vector[9];
  for (int i = 0; i < 9; i++) {
    double mean = part->first[i / 3] * part->first[i % 3] / (part->area * part->area);
    spread[i] = part->second[i] / part->area - mean;
  }
  noli_eigen_symmetric(3, spread, value, vector);
  return sqrt(12.0 * fmax(0.0, fmax(value[0], fmax(value[1], value[2]))));
}

static void doubt_layer(const NoliModel* model, int32_t b, const double* normal,
                        const double* thickness, Doubt* doubt) {
  PartSum single = {0};
  double area = 0.0, shorter;
  const double* start = &model->problem.X[3 * (int64_t)model->vert_first[b]];

  for (int32_t i = model->vert_first[b]; i < model->vert_first[b + 1]; i++) {
    double here = noli_norm3(noli_load3(&normal[3 * (int64_t)i])), at[3];
    area += here;
    for (int k = 0; k < 3; k++) {
      at[k] = model->problem.X[3 * (int64_t)i + k] - start[k];
    }
    if (isfinite(thickness[i])) {
      doubts_add_vertex(&single, at, here, thickness[i]);
    }
  }

  if (!(single.area > LAYER_SHARE * area)) {
    return;
  }
  double mean = single.thickness / single.area, longest = longest_of(&single);
  if (longest > SLENDER * mean && longest > RESOLVED * mean_edge(model, b, 0.0, &shorter)) {
    add_doubt(doubt, b,
              "single linear elements span the thickness, %.2g m: if it bends, it is 4 to 20 times "
              "too stiff; use \"order\": 2, a shell, or four layers of elements",
              mean);
  }
}

static NoliStatus report_layers(const NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  double *normal = NULL, *thickness = NULL;
  Doubt doubt = {0};
  bool any = false;
  for (int32_t b = 0; b < model->n_body; b++) {
    any = any || is_linear_solid(&def->bodies[b]);
  }
  if (!any || model->cell == NULL) {
    return NOLI_OK;
  }
  NOLI_NEW_ZERO(model->context, normal, 3 * (int64_t)model->problem.n_vert);
  NOLI_NEW(model->context, thickness, model->problem.n_vert);
  for (int32_t i = 0; i < model->problem.n_vert; i++) {
    thickness[i] = INFINITY;
  }
  for (int32_t b = 0; b < model->n_body; b++) {
    if (is_linear_solid(&def->bodies[b])) {
      add_normals(model, b, normal);
      find_thickness(model, b, normal, thickness);
      doubt_layer(model, b, normal, thickness, &doubt);
    }
  }

  warn(model, &doubt);
done:
  noli_free(model->context, normal);
  noli_free(model->context, thickness);
  return status;
}

// ---- contact distances beyond features ----

// The largest distance at which others touch a body; 0: none do.
static double reach_of(const NoliModel* model, int32_t b) {
  const NoliBodyPairs* pairs = &model->problem.contact.body_pairs;
  double reach = 0.0;
  for (int32_t e = 0; e < model->n_entity; e++) {
    bool still = e < model->n_body && model->obstacle[b] && model->obstacle[e];
    if (e != b && !still && noli_body_pairs_get(pairs, b, e)) {
      reach = fmax(reach, model->problem.contact.dhat * noli_body_pairs_range(pairs, b, e));
    }
  }
  return reach;
}

// Twice the volume over the area of a closed surface; INFINITY of open ones, and without triangles.
static double thickness_of(const NoliModel* model, int32_t b) {
  const NoliSurface* surface = model->problem.surface;
  double volume = 0.0, area = 0.0;
  int32_t first = surface->tri_first[b], end = surface->tri_first[b + 1];
  if (end == first) {
    return INFINITY;
  }
  NoliVec3 origin = noli_load3(&model->problem.X[3 * (int64_t)surface->tri[3 * (int64_t)first]]);
  NoliVec3 sum = {0};
  for (int32_t t = first; t < end; t++) {
    NoliVec3 at[3];
    for (int k = 0; k < 3; k++) {
      int32_t v = surface->tri[3 * (int64_t)t + k];
      at[k] = noli_sub3(noli_load3(&model->problem.X[3 * (int64_t)v]), origin);
    }
    NoliVec3 twice = noli_cross3(noli_sub3(at[1], at[0]), noli_sub3(at[2], at[0]));
    volume += noli_dot3(at[0], twice) / 6.0;
    area += 0.5 * noli_norm3(twice);
    sum = noli_add3(sum, twice);
  }
  bool closed = noli_norm3(sum) <= 1e-9 * area;
  return closed && volume > 0.0 ? 2.0 * volume / area : (double)INFINITY;
}

static void doubt_distance(const NoliModel* model, int32_t b, Doubt* thin, Doubt* fine) {
  double reach = reach_of(model, b), thickness = thickness_of(model, b), shorter = 0.0;
  bool reported = b == model->rest_gap.entity[0] && !model->follows_rest_gap;
  if (reach <= 0.0 || reported) {
    return;
  }
  double edge = mean_edge(model, b, reach, &shorter);
  if (reach > thickness) {
    add_doubt(thin, b,
              "the contact distance, %.3g m, is larger than the thickness, about %.3g m: what is "
              "behind it is felt, too; set contact.distance, or that of its pairs, below %.2g m",
              reach, thickness, 0.5 * thickness);
  } else if (shorter > 0.5) {
    add_doubt(fine, b,
              "the contact distance, %.3g m, is larger than most edges of the surface, %.3g m in "
              "the mean: every contact acts on many elements, in directions that differ; set "
              "contact.distance, or that of its pairs, below them",
              reach, edge);
  }
}

// ---- stick lengths beyond meshes ----

static bool has_friction(const NoliModel* model, int32_t b) {
  bool any = false;
  for (int32_t e = 0; e < model->n_entity; e++) {
    any = any || noli_contact_pairs_law(&model->problem.contact.pairs, b, e) != NULL;
  }
  return any;
}

// What holds moves by up to the stick length: by less than the gaps of contacts and what edges
// resolve, or it is seen.
static void doubt_slip(const NoliModel* model, const NoliSimDef* def, int32_t b, Doubt* doubt) {
  const NoliFrictionSettings* friction = &model->problem.friction;
  double unused, reach = reach_of(model, b), edge = mean_edge(model, b, 0.0, &unused);
  reach = reach > 0.0 ? reach : model->problem.contact.dhat; // it touches itself only
  bool by_edges = edge > 0.0 && SLIP_SHARE * edge < reach;
  double most = by_edges ? SLIP_SHARE * edge : reach, length = friction->stick_length;
  if (!friction->sticks || model->obstacle[b] || !(length > most) || !has_friction(model, b)) {
    return;
  }
  char why[160] = "";
  if (!(noli_resolve(def->stick_length, &model->problem.size) > 0.0)) {
    snprintf(why, sizeof why, ", the default for friction.speed, %.3g m/s, and %.3g s (%s)",
             friction->speed, length / friction->speed,
             model->integrator->quasi_static ? "of load steps" : "time.step");
  }
  add_doubt(doubt, b,
            "contacts that hold give way by up to friction.stick_length, %.3g m%s: more than %s, "
            "%.3g m; set friction.stick_length to %.2g or less",
            length, why,
            by_edges ? "1/100 of the mean edge of the surface" : "the contact distance", most,
            most);
}

// ---- adhesion that meshes do not resolve ----

static const NoliAdhesionLaw* adhesion_of(const NoliModel* model, int32_t b) {
  const NoliAdhesionLaw* found = NULL;
  for (int32_t e = 0; e < model->n_entity && found == NULL; e++) {
    found = noli_contact_pairs_adhesion(&model->problem.contact.pairs, b, e);
  }
  return found;
}

// A front between what is bonded and what is not pulls along E W / sigma^2, sigma = 16 W / (9 R).
static void doubt_adhesion(const NoliModel* model, const NoliBodyDef* body, int32_t b,
                           Doubt* doubt) {
  const NoliAdhesionLaw* law = adhesion_of(model, b);
  if (law == NULL || body->material.parameter[0] != 0.0) {
    return;
  }
  double unused, edge = mean_edge(model, b, 0.0, &unused), young = body->material.young;
  double strength = 16.0 / 9.0 * law->work / law->range;
  double zone = young * law->work / (strength * strength);
  if (zone < edge) {
    add_doubt(
        doubt, b,
        "where its adhesion of %.3g J/m^2 gives way from one side, it pulls along %.2g m, less "
        "than the mean edge of the surface, %.2g m: the force depends on the mesh; set "
        "adhesion_range to %.2g or more, or refine it",
        law->work, zone, edge, law->range * sqrt(edge / zone));
  }
}

// ---- integrators ----

static bool may_touch(const NoliModel* model, const NoliSimDef* def) {
  return def->contact && (model->n_entity > 1 || def->bodies[0].self_contact);
}

// A ball of 1 MPa that falls 0.2 m comes back to 0.905, 0.996 and 0.944 of that with steps of 1,
// 0.5 and 0.25 ms, where sdirk2 has 0.957 to 0.961. That is no factor, and energy checks bound it.
static void note_bounces(const NoliModel* model, const NoliSimDef* def) {
  if (strncmp(model->integrator->name, "trapezoidal", 11) == 0 && may_touch(model, def)) {
    noli_log(model->context, NOLI_LOG_INFO,
             "integrator \"%s\": impacts of a few steps gain or lose up to 5 %% of their energy by "
             "the phase of the steps; for bounces use \"sdirk2\" or \"tr_bdf2\"",
             model->integrator->name);
  }
}

NoliStatus noli_doubts_report(const NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  Doubt ratio = {0}, thin = {0}, fine = {0}, slip = {0}, front = {0};
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    bool plane = !body->obstacle && noli_body_kind(body)->planar;
    if (plane || is_linear_solid(body)) {
      doubt_ratio(model, b, body, &ratio);
    }
  }
  warn(model, &ratio);
  NOLI_TRY(report_layers(model, def));
  bool touches = def->contact && noli_clearance_acts_at_rest(model);
  for (int32_t b = 0; b < model->n_body && touches; b++) {
    doubt_distance(model, b, &thin, &fine);
  }
  warn(model, &thin);
  warn(model, &fine);
  for (int32_t b = 0; b < model->n_body && def->contact; b++) {
    doubt_slip(model, def, b, &slip);
  }
  warn(model, &slip);
  for (int32_t b = 0; b < model->n_body && def->contact; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    bool plane = !body->obstacle && noli_body_kind(body)->planar;
    if (plane || is_linear_solid(body)) {
      doubt_adhesion(model, body, b, &front);
    }
  }
  warn(model, &front);
  note_bounces(model, def);
done:
  return status;
}
