#include "describe.h"
#include "directory.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// ---- measures ----

typedef struct Extent {
  double low[3];
  double high[3];
} Extent;

static Extent empty_extent(void) {
  return (Extent){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static void extend(Extent* extent, const double* x, int32_t n_vert) {
  for (int64_t i = 0; i < 3 * (int64_t)n_vert; i++) {
    extent->low[i % 3] = fmin(extent->low[i % 3], x[i]);
    extent->high[i % 3] = fmax(extent->high[i % 3], x[i]);
  }
}

static double diagonal(const Extent* extent) {
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    double side = fmax(0.0, extent->high[k] - extent->low[k]);
    sum += side * side;
  }
  return sqrt(sum);
}

static double largest_side(const Extent* extent) {
  double side = 0.0;
  for (int k = 0; k < 3; k++) {
    side = fmax(side, extent->high[k] - extent->low[k]);
  }
  return side;
}

// A length or speed in words: absolute where the sizes of the scene are known.
static const char* scaled(NoliScaled value, const NoliSimMeasures* measures, char words[32]) {
  const double unit[] = {[NOLI_ABSOLUTE] = 1.0,
                         [NOLI_OF_BOX] = measures != NULL ? measures->box : 1.0,
                         [NOLI_OF_BALL] = measures != NULL ? measures->ball : 1.0};
  const char* name[] = {[NOLI_ABSOLUTE] = "", [NOLI_OF_BOX] = " l", [NOLI_OF_BALL] = " d"};
  snprintf(words, 32, "%.3g%s", value.value * unit[value.relative],
           measures != NULL ? "" : name[value.relative]);
  return words;
}

static bool valid_index(const NoliMesh* mesh, int32_t vertex) {
  return vertex >= 0 && vertex < mesh->n_vert;
}

// From vertex p to vertex q.
static void edge_between(const NoliMesh* mesh, int32_t p, int32_t q, double edge[3]) {
  for (int k = 0; k < 3; k++) {
    edge[k] = mesh->x[3 * (int64_t)q + k] - mesh->x[3 * (int64_t)p + k];
  }
}

static double tet_volume(const NoliMesh* mesh, int32_t tet) {
  const int32_t* v = mesh->tet + 4 * (int64_t)tet;
  for (int k = 0; k < 4; k++) {
    if (!valid_index(mesh, v[k])) {
      return NAN;
    }
  }
  double a[3], b[3], c[3];
  edge_between(mesh, v[0], v[1], a);
  edge_between(mesh, v[0], v[2], b);
  edge_between(mesh, v[0], v[3], c);
  return (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
          a[2] * (b[0] * c[1] - b[1] * c[0])) /
         6.0;
}

// Sum and minimum of the volumes of all tetrahedra.
static double mesh_volume(const NoliMesh* mesh, double* least) {
  double sum = 0.0;
  *least = INFINITY;
  for (int32_t i = 0; i < mesh->n_tet; i++) {
    double volume = tet_volume(mesh, i);
    sum += volume;
    *least = fmin(*least, volume);
  }
  return sum;
}

// Shortest and longest of the edges of `n_cells` cells of `n` vertices.
static void measure_edges(const NoliMesh* mesh, const int32_t* cell, int64_t n_cells, int n,
                          double range[2]) {
  for (int64_t i = 0; i < n_cells; i++) {
    for (int a = 0; a < n; a++) {
      for (int b = a + 1; b < n; b++) {
        int32_t p = cell[n * i + a], q = cell[n * i + b];
        if (!valid_index(mesh, p) || !valid_index(mesh, q)) {
          continue;
        }
        double edge[3];
        edge_between(mesh, q, p, edge);
        double length = sqrt(edge[0] * edge[0] + edge[1] * edge[1] + edge[2] * edge[2]);
        range[0] = fmin(range[0], length);
        range[1] = fmax(range[1], length);
      }
    }
  }
}

static void mesh_edges(const NoliMesh* mesh, double range[2]) {
  range[0] = INFINITY;
  range[1] = 0.0;
  measure_edges(mesh, mesh->tet, mesh->n_tet, 4, range);
  measure_edges(mesh, mesh->tri, mesh->n_tri, 3, range);
  measure_edges(mesh, mesh->edge, mesh->n_edge, 2, range);
}

void describe_cells(const NoliMesh* mesh) {
  const struct {
    int32_t n;
    const char* what;
  } cells[] = {{mesh->n_tet, "tetrahedra"},
               {mesh->n_tri, "triangles"},
               {mesh->n_edge, "segments"},
               {mesh->n_point, "points"}};
  print("%d vertices", (int)mesh->n_vert);
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
    if (cells[i].n > 0) {
      print(", %d %s", (int)cells[i].n, cells[i].what);
    }
  }
}

// ---- definitions ----

// The least and the largest value of a property.
typedef struct Span {
  double least, largest;
} Span;

// The range of its values for n elements, if there are any, otherwise of its number.
static Span span_of(double number, const double* values, int32_t n) {
  Span span = {number, number};
  for (int32_t i = 0; values != NULL && i < n; i++) {
    span.least = i == 0 ? values[i] : fmin(span.least, values[i]);
    span.largest = i == 0 ? values[i] : fmax(span.largest, values[i]);
  }
  return span;
}

static void print_span(const char* what, Span span, const char* unit) {
  print(", %s %g", what, span.least);
  if (span.largest > span.least) {
    print(" to %g", span.largest);
  }
  print("%s", unit);
}

// The number of parameters of the law up to the last that is not 0; with some, Young's modulus is
// not used.
static int32_t parameter_count(const NoliMaterialDef* material) {
  int32_t n = NOLI_LAW_PARAMETERS;
  while (n > 0 && material->parameter[n - 1] == 0.0) {
    n--;
  }
  return n;
}

static void print_material(const NoliMaterialDef* material, const NoliMaterialFields* fields,
                           int32_t n_element) {
  Span fibre = {0};
  print("%s", material->law);
  int32_t n = parameter_count(material);
  for (int32_t k = 0; k < n; k++) {
    print("%s %g", k == 0 ? ", parameters" : ",", material->parameter[k]);
  }
  if (n == 0) {
    print_span("E", span_of(material->young, fields->young, n_element), " Pa");
  }
  print_span("nu", span_of(material->poisson, fields->poisson, n_element), "");
  print_span("density", span_of(material->density, fields->density, n_element), " kg/m^3");
  for (int32_t i = 0; fields->fibre != NULL && i < n_element; i++) {
    double k1 = fields->fibre[NOLI_FIBRE_VALUES * i + 3];
    fibre.least = i == 0 ? k1 : fmin(fibre.least, k1);
    fibre.largest = i == 0 ? k1 : fmax(fibre.largest, k1);
  }
  if (fields->fibre != NULL) {
    print_span("fibres k1", fibre, " Pa");
  }
  for (int32_t k = 0; material->prony != NULL && k < material->prony->n; k++) {
    print(", relaxes %g in %g s", material->prony->share[k], material->prony->time[k]);
  }
}

static int32_t element_count(const NoliBodyDef* body) {
  const NoliMesh* mesh = body->mesh;
  return body->rod.radius > 0.0                                    ? mesh->n_edge
         : body->point.radius > 0.0                                ? mesh->n_point
         : body->plane_strain > 0.0 || body->shell.thickness > 0.0 ? mesh->n_tri
                                                                   : mesh->n_tet;
}

static void describe_parts(const NoliBodyDef* body) {
  for (int32_t k = 0; k < body->n_parts; k++) {
    const NoliPartDef* part = &body->parts[k];
    print("  part of %d elements: ", (int)part->n_element);
    print_material(&part->material, &part->fields, part->n_element);
    print(", damping %g s\n", part->material.damping);
  }
}

// Without measures, because the definition has errors, says nothing of what these tell.
static void describe_bodies(const NoliSimDef* def, const NoliSimMeasures* measures) {
  for (int32_t i = 0; i < def->n_bodies; i++) {
    const NoliBodyDef* body = &def->bodies[i];
    const NoliMesh* mesh = body->mesh;
    Extent extent = empty_extent();
    double edges[2];
    extend(&extent, body->x0 != NULL ? body->x0 : mesh->x, mesh->n_vert);

    // shape
    mesh_edges(mesh, edges);
    print("%s \"%s\": ", body->obstacle ? "obstacle" : "body", body->name);
    describe_cells(mesh);
    print("\n  from (%g, %g, %g) to (%g, %g, %g) m", extent.low[0], extent.low[1], extent.low[2],
          extent.high[0], extent.high[1], extent.high[2]);
    if (edges[1] > 0.0) {
      print(", edges %.3g to %.3g m", edges[0], edges[1]);
    }
    print("\n");

    // material and mass
    if (!body->obstacle) {
      print("  ");
      if (body->rigid.rigid) {
        print("rigid");
      } else {
        print_material(&body->material, &body->fields, element_count(body));
      }
      if (measures != NULL) {
        print(", volume %.6g m^3, mass %.6g kg", measures->volume[i], measures->mass[i]);
      }
      print("\n");
      if (body->material.damping > 0.0) {
        print("  damping %g s\n", body->material.damping);
      }
      describe_parts(body);
    }
  }

  // walls and floors
  for (int32_t i = 0; i < def->n_half_spaces; i++) {
    const NoliHalfSpaceDef* half = &def->half_spaces[i];
    print("half-space \"%s\": through (%g, %g, %g) m, normal (%g, %g, %g)\n", half->name,
          half->origin[0], half->origin[1], half->origin[2], half->normal[0], half->normal[1],
          half->normal[2]);
  }
}

static void describe_settings(const NoliSimDef* def, const NoliSimMeasures* measures) {
  char tolerance[32], sticking[32];
  print("time step %g s, %s, gravity (%g, %g, %g) m/s^2\n", def->time_step, def->integrator,
        def->gravity[0], def->gravity[1], def->gravity[2]);
  if (measures != NULL) {
    print("size %g m (d, the smallest ball; l, the box: %g m)\n", measures->ball, measures->box);
  }
  print("tolerance %s m/s, at most %d Newton iterations, solver %s\n",
        scaled(def->tolerance, measures, tolerance), (int)def->max_iterations, def->linear_solver);

  if (!def->contact) {
    print("no contact\n");
    return;
  }
  if (measures != NULL) {
    print("contact distance %.3g m, ", measures->contact_distance);
  }
  if (measures != NULL && measures->stick_length > 0.0) {
    print("friction %g, contacts stick up to %.3g m, ", def->friction, measures->stick_length);
  } else {
    print("friction %g, slower than %s m/s sticks, ", def->friction,
          scaled(def->friction_speed, measures, sticking));
  }
  if (def->adhesion > 0.0) {
    print("adhesion %g J/m^2, ", def->adhesion);
  }
  bool smooth = strcmp(def->contact_model, "implicit_surface") == 0;
  bool geometric = strcmp(def->contact_model, "gcp") == 0;
  const char* what = smooth      ? "penalty on implicit surfaces"
                     : geometric ? "geometric contact potential"
                                 : "barrier";
  if (def->barrier_stiffness > 0.0) {
    print("%s stiffness %g\n", what, def->barrier_stiffness);
  } else {
    print("%s stiffness adaptive\n", what);
  }
}

void describe_definition(const NoliSimDef* def) {
  // later checks report errors
  NoliContext* quiet = NULL;
  NoliSimMeasures measures = {0};
  bool measured = noli_context_create(NULL, &quiet) == NOLI_OK &&
                  noli_sim_measure(quiet, def, &measures) == NOLI_OK;
  describe_bodies(def, measured ? &measures : NULL);
  describe_settings(def, measured ? &measures : NULL);
  noli_sim_measures_free(quiet, &measures);
  noli_context_destroy(&quiet);
}

static void doubt(Console* console, bool strange, const char* name, const char* what, double value,
                  const char* unit) {
  if (strange) {
    console_say(console, NOLI_LOG_WARNING, "\"%s\": %s %g %s; are the units SI?", name, what, value,
                unit);
  }
}

static void doubt_material(Console* console, const char* name, const NoliMaterialDef* material,
                           const NoliMaterialFields* fields, int32_t n_element) {
  Span density = span_of(material->density, fields->density, n_element);
  Span young = span_of(material->young, fields->young, n_element);
  doubt(console, density.least < 1.0 || density.largest > 3e4, name, "density of",
        density.least < 1.0 ? density.least : density.largest, "kg/m^3");
  bool strange = parameter_count(material) == 0 && (young.least < 1.0 || young.largest > 1e12);
  doubt(console, strange, name, "Young's modulus of",
        young.least < 1.0 ? young.least : young.largest, "Pa");
}

void describe_doubts(Console* console, const NoliSimDef* def) {
  for (int32_t i = 0; i < def->n_bodies; i++) {
    const NoliBodyDef* body = &def->bodies[i];
    Extent extent = empty_extent();
    double edges[2];
    extend(&extent, body->mesh->x, body->mesh->n_vert);
    mesh_edges(body->mesh, edges);
    double size = largest_side(&extent);
    doubt(console, size > 1e3, body->name, "size of", size, "m");
    // a single point has no size
    doubt(console, size < 1e-5 && edges[1] > 0.0, body->name, "size of", size, "m");
    if (!body->obstacle && !body->rigid.rigid) {
      doubt_material(console, body->name, &body->material, &body->fields, element_count(body));
      for (int32_t k = 0; k < body->n_parts; k++) {
        const NoliPartDef* part = &body->parts[k];
        doubt_material(console, body->name, &part->material, &part->fields, part->n_element);
      }
    }
  }
}

// ---- meshes ----

enum { LISTED = 100 };

static void list_dropped(const char* why, int32_t n, const int32_t* cell) {
  if (n == 0) {
    return;
  }
  print("dropped %s (%d):", why, (int)n);
  for (int32_t i = 0; i < n && i < LISTED; i++) {
    print("%s %d", i > 0 ? "," : "", (int)cell[i]);
  }
  print("%s\n", n > LISTED ? ", ..." : "");
}

void describe_cleaned(const char* path, const NoliMeshCleaned* cleaned) {
  print("%s: merged %d of %d vertices, by at most %g", path, (int)cleaned->n_merged,
        (int)cleaned->n_vert, cleaned->largest_move);
  int32_t n_kept = 0, n_listed = 0;
  for (int32_t v = 0; v < cleaned->n_vert && n_listed < LISTED; v++) {
    // the first vertex of each number was kept
    if (cleaned->new_index[v] == n_kept) {
      n_kept++;
    } else {
      print("%s %d", n_listed++ == 0 ? ":" : ",", (int)v);
    }
  }
  print("%s\n", n_listed < cleaned->n_merged ? ", ..." : "");
  list_dropped("cells without size", cleaned->n_degenerate, cleaned->degenerate);
  list_dropped("cells that occurred before", cleaned->n_duplicate, cleaned->duplicate);
}

static void describe_tags(const char* cells, const int32_t* tag, int32_t n_cells) {
  enum { SHOWN = 12 };
  int32_t value[SHOWN], count[SHOWN], n = 0, others = 0;
  if (tag == NULL) {
    return;
  }
  for (int32_t i = 0; i < n_cells; i++) {
    int32_t k = 0;
    while (k < n && value[k] != tag[i]) {
      k++;
    }
    if (k < n) {
      count[k]++;
    } else if (n < SHOWN) {
      value[n] = tag[i];
      count[n++] = 1;
    } else {
      others++;
    }
  }

  print("tags of %s:", cells);
  for (int32_t k = 0; k < n; k++) {
    print(" %d (%d)", (int)value[k], (int)count[k]);
  }
  if (others > 0) {
    print(" and others (%d)", (int)others);
  }
  print("\n");
}

static int32_t defect(int32_t count, const char* what, int32_t first) {
  if (count > 0 && first >= 0) {
    print("%d %s, first %d\n", (int)count, what, (int)first);
  } else if (count > 0) {
    print("%d %s\n", (int)count, what);
  }
  return count > 0 ? 1 : 0;
}

int32_t describe_mesh(const NoliMesh* mesh, const NoliMeshCheck* check) {
  Extent extent = empty_extent();
  double edges[2], least;
  describe_cells(mesh);
  print("\n");

  // size
  if (mesh->n_vert > 0) {
    extend(&extent, mesh->x, mesh->n_vert);
    print("from (%g, %g, %g) to (%g, %g, %g), diagonal %g\n", extent.low[0], extent.low[1],
          extent.low[2], extent.high[0], extent.high[1], extent.high[2], diagonal(&extent));
  }
  mesh_edges(mesh, edges);
  if (edges[1] > 0.0) {
    print("edges %.6g to %.6g\n", edges[0], edges[1]);
  }
  if (mesh->n_tet > 0) {
    double volume = mesh_volume(mesh, &least);
    print("volume %.6g, smallest tetrahedron %.3g\n", volume, least);
  }

  // tags, then defects
  describe_tags("tetrahedra", mesh->tet_tag, mesh->n_tet);
  describe_tags("triangles", mesh->tri_tag, mesh->n_tri);
  int32_t n = defect(check->n_bad_coordinates, "non-finite vertices", check->first_bad_vertex);
  n += defect(check->n_bad_indices, "cells with an invalid vertex", check->first_bad_cell);
  if (check->n_inverted < mesh->n_tet) {
    n += defect(check->n_inverted, "inverted tetrahedra", check->first_inverted);
  } else if (mesh->n_tet > 0) {
    print("all tetrahedra are inverted%s\n",
          mesh->order > 1 ? " somewhere; a scene flips them, and refuses those that stay so"
                          : "; a scene flips them");
  }
  n += defect(check->n_flat, "flat tetrahedra", check->first_flat);
  n += defect(check->n_degenerate, "degenerate triangles or segments", check->first_degenerate);
  int32_t n_twice =
      defect(check->n_duplicate_cells, "cells that occur twice", check->first_duplicate);
  // surfaces allow it
  n += mesh->n_tet > 0 ? n_twice : 0;
  if (check->n_bad_indices > 0 || check->n_degenerate > 0 || n_twice > 0) {
    print("`noli convert --merge 0 IN OUT`, or \"merge\": 0 in a scene, drops cells without size "
          "and those that occur twice\n");
  }

  // oddities that do no harm
  defect(check->n_non_manifold_edges, "edges shared by more than two surface triangles (harmless)",
         NOLI_NULL_INDEX);
  defect(check->n_unused_vertices, "vertices of no cell", NOLI_NULL_INDEX);
  return n;
}

// ---- initial defects ----

static const char* entity_name(const NoliSimDef* def, int32_t entity) {
  if (entity < 0) {
    return "";
  }
  return entity < def->n_bodies ? def->bodies[entity].name
                                : def->half_spaces[entity - def->n_bodies].name;
}

// "edge (3, 17) of \"rod\""
static int format_primitive(const NoliSimDef* def, const NoliDefect* defect, int side, char* text,
                            size_t size) {
  static const char* const names[] = {"half-space", "vertex", "edge", "triangle", "tetrahedron"};
  char vertices[96] = "";
  int32_t n = defect->n_vert[side];
  size_t used = 0;
  for (int32_t k = 0; k < n && n <= 4; k++) {
    used += (size_t)snprintf(vertices + used, sizeof vertices - used, "%s%d", k > 0 ? ", " : "",
                             (int)defect->vertex[side][k]);
  }
  const char* name = n >= 0 && n <= 4 ? names[n] : "primitive";
  const char* entity = entity_name(def, defect->entity[side]);
  if (n == 0) {
    return snprintf(text, size, "%s \"%s\"", name, entity);
  }
  return snprintf(text, size, "%s (%s) of \"%s\"", name, vertices, entity);
}

// The words for the offsets that distances are less than, where a body or a half-space has one.
static const char* offsets_of(const NoliSimDef* def, const NoliDefect* defect) {
  bool any = false;
  for (int side = 0; side < 2; side++) {
    int32_t entity = defect->entity[side];
    any = any ||
          (entity >= def->n_bodies ? def->half_spaces[entity - def->n_bodies].contact_offset != 0.0
                                   : def->bodies[entity].contact_offset != 0.0);
  }
  return any ? " less the contact offsets" : "";
}

static void say_defect(Console* console, const NoliSimDef* def, const NoliDefect* defect) {
  char first[400], second[400] = "";
  const double* x = defect->position;
  format_primitive(def, defect, 0, first, sizeof first);
  if (defect->entity[1] != NOLI_NULL_INDEX) {
    format_primitive(def, defect, 1, second, sizeof second);
  }

  // one sentence for each kind
  switch (defect->kind) {
  case NOLI_DEFECT_INTERSECTION:
    console_say(console, NOLI_LOG_ERROR, "%s and %s intersect at (%.9g, %.9g, %.9g)", first, second,
                x[0], x[1], x[2]);
    break;
  case NOLI_DEFECT_ZERO_GAP:
    console_say(console, NOLI_LOG_ERROR, "%s and %s touch at (%.9g, %.9g, %.9g), distance %.3g m%s",
                first, second, x[0], x[1], x[2], defect->distance, offsets_of(def, defect));
    break;
  case NOLI_DEFECT_HALF_SPACE:
    console_say(console, NOLI_LOG_ERROR,
                "%s at (%.9g, %.9g, %.9g) is not above %s, distance %.3g m%s", first, x[0], x[1],
                x[2], second, defect->distance, offsets_of(def, defect));
    break;
  case NOLI_DEFECT_NESTED:
    console_say(console, NOLI_LOG_ERROR, "%s at (%.9g, %.9g, %.9g) lies inside the solid \"%s\"",
                first, x[0], x[1], x[2], entity_name(def, defect->entity[1]));
    break;
  case NOLI_DEFECT_INVERTED:
    console_say(console, NOLI_LOG_ERROR, "%s at (%.9g, %.9g, %.9g) is inverted or flat", first,
                x[0], x[1], x[2]);
    break;
  case NOLI_DEFECT_PENETRATION:
    console_say(console, NOLI_LOG_WARNING,
                "%s at (%.9g, %.9g, %.9g) is %.3g m inside \"%s\": contact will push it out", first,
                x[0], x[1], x[2], -defect->distance, entity_name(def, defect->entity[1]));
    break;
  }
}

// Two entities and their number of defects that are not listed one by one.
typedef struct PairCount {
  int32_t entity[2];
  int64_t n;
} PairCount;

// Counts the rest of the defects by pairs of bodies: those of the first pairs that come, the others
// together.
static void say_counts(Console* console, const NoliSimDef* def, const NoliDefect* defects,
                       int64_t n) {
  enum { PAIRS = 10 };
  PairCount pair[PAIRS];
  int32_t n_pairs = 0;
  int64_t others = 0;
  for (int64_t i = 0; i < n; i++) {
    int32_t a = defects[i].entity[0], b = defects[i].entity[1], k = 0;
    if (b != NOLI_NULL_INDEX && b < a) {
      a = b;
      b = defects[i].entity[0];
    }
    while (k < n_pairs && (pair[k].entity[0] != a || pair[k].entity[1] != b)) {
      k++;
    }
    if (k == n_pairs && n_pairs < PAIRS) {
      pair[n_pairs++] = (PairCount){{a, b}, 0};
    }
    if (k < n_pairs) {
      pair[k].n++;
    } else {
      others++;
    }
  }

  for (int32_t k = 0; k < n_pairs; k++) {
    bool two = pair[k].entity[1] != NOLI_NULL_INDEX;
    console_say(console, NOLI_LOG_ERROR, "and %" PRId64 " more of \"%s\"%s%s%s", pair[k].n,
                entity_name(def, pair[k].entity[0]), two ? " and \"" : "",
                two ? entity_name(def, pair[k].entity[1]) : "", two ? "\"" : "");
  }

  if (others > 0) {
    console_say(console, NOLI_LOG_ERROR, "and %" PRId64 " more of other pairs", others);
  }
}

int64_t describe_defects(Console* console, NoliContext* context, const NoliSimDef* def,
                         int64_t limit, const char* path, NoliStatus* status) {
  NoliDefect* defects = NULL;
  int64_t n = 0;
  *status = noli_sim_check(context, def, &defects, &n);
  if (*status != NOLI_OK) {
    console_fail(console, context, *status);
    return -1;
  }
  int64_t n_defects = 0;
  for (int64_t i = 0; i < n; i++) {
    if (i < limit) {
      say_defect(console, def, &defects[i]);
    }
    n_defects += defects[i].kind != NOLI_DEFECT_PENETRATION ? 1 : 0;
  }

  if (n > limit) {
    say_counts(console, def, defects + limit, n - limit);
  }
  if (n > 0 && path != NULL) {
    *status = make_directory_of(context, path);
    if (*status == NOLI_OK) {
      *status = noli_output_write_defects(context, def, defects, n, path);
    }
    if (*status != NOLI_OK) {
      console_fail(console, context, *status);
    }
  }

  noli_sim_check_free(context, &defects);
  return *status == NOLI_OK ? n_defects : -1;
}
