#include "contact/implicit_surface/implicit_surface_contact.h"

#include "base/parallel.h"
#include "collide/body_tree.h"
#include "collide/closest.h"
#include "linalg/energy_term.h"

#include <string.h>

enum { POINT_BLOCK = 64, TRIANGLE_BLOCK = 1024, STACK_SIZE = 64 };

// cos 120 degrees: triangles at larger angles belong to another sheet.
#define SHEET_COSINE (-0.5)

// The radius of a surface relative to its mean edge, its largest triangle and delta.
#define RADIUS_EDGES 2.0
#define RADIUS_LARGEST 1.5
#define RADIUS_DELTA 2.0

// Triangles of the vertex's own body are its neighbours if they are closer at rest than this times
// the radius.
#define NEIGHBOUR_RADII 2.0

struct NoliImplicitSurfaceSearch {
  NoliContext* context;
  const NoliSurface* surface;
  const double* X;
  const bool* still;
  const NoliHalfSpace* half_spaces;
  int32_t n_half_spaces;
  const NoliBodyPairs* pairs;
  double* radius;      // (n_body)
  double* normal;      // (n_vert x 3) sums of areas at the vertices of bodies that touch themselves
  double* rest_normal; // (n_vert x 3) these sums at rest
  bool has_self;       // some body touches itself
  bool* unclear;       // (n_vert) the vertex's body is closer than delta at rest, also across a gap
  NoliForest forest;   // a tree for each body; items are triangles
  NoliBox* box;        // (n_tri) of the centroids, by place
  double* centroid;    // (n_tri x 3)
  NoliBox* body_box;   // (n_body) of a body's vertices and the reach of its surface
  NoliBodyTree near;   // rows of the bodies that may touch
};

// ---- constant data ----

static NoliVec3 vertex_at(const double* x, int32_t vertex) {
  return noli_load3(&x[3 * (int64_t)vertex]);
}

static NoliVec3 centroid_of(const NoliSurface* surface, const double* x, int32_t triangle) {
  const int32_t* vertex = &surface->tri[3 * (int64_t)triangle];
  NoliVec3 a = vertex_at(x, vertex[0]);
  NoliVec3 both =
      noli_add3(noli_sub3(vertex_at(x, vertex[1]), a), noli_sub3(vertex_at(x, vertex[2]), a));
  return noli_mul_add3(a, 1.0 / 3.0, both);
}

static NoliVec3 area_at(const NoliSurface* surface, const double* x, int32_t triangle) {
  const int32_t* vertex = &surface->tri[3 * (int64_t)triangle];
  NoliVec3 a = vertex_at(x, vertex[0]);
  return noli_scale3(0.5, noli_cross3(noli_sub3(vertex_at(x, vertex[1]), a),
                                      noli_sub3(vertex_at(x, vertex[2]), a)));
}

// Whether a vertex of one body may touch the surface of another, or of the same one.
static bool may_touch(const NoliImplicitSurfaceSearch* search, int32_t body, int32_t other) {
  return !search->still[body] && search->radius[other] > 0.0 &&
         noli_body_pairs_get(search->pairs, body, other);
}

// Sums of the vector areas around the vertices of bodies that touch themselves.
static void find_normals(const NoliImplicitSurfaceSearch* search, const double* x, double* normal) {
  const NoliSurface* surface = search->surface;
  memset(normal, 0, 3 * sizeof *normal * (size_t)surface->n_vert);
  for (int32_t b = 0; b < surface->n_body; b++) {
    int32_t end = may_touch(search, b, b) ? surface->tri_first[b + 1] : surface->tri_first[b];
    for (int32_t t = surface->tri_first[b]; t < end; t++) {
      NoliVec3 area = area_at(surface, x, t);
      for (int32_t k = 0; k < 3; k++) {
        double* sum = &normal[3 * (int64_t)surface->tri[3 * (int64_t)t + k]];
        noli_store3(sum, noli_add3(noli_load3(sum), area));
      }
    }
  }
}

static double automatic_radius(const NoliSurface* surface, const double* X, int32_t body,
                               double delta) {
  double edges = 0.0, largest = 0.0;
  int32_t n_edge = surface->edge_first[body + 1] - surface->edge_first[body];
  for (int32_t e = surface->edge_first[body]; e < surface->edge_first[body + 1]; e++) {
    const int32_t* edge = &surface->edge[2 * (int64_t)e];
    edges += noli_norm3(noli_sub3(vertex_at(X, edge[0]), vertex_at(X, edge[1])));
  }
  for (int32_t t = surface->tri_first[body]; t < surface->tri_first[body + 1]; t++) {
    NoliVec3 centre = centroid_of(surface, X, t);
    for (int32_t k = 0; k < 3; k++) {
      NoliVec3 corner = vertex_at(X, surface->tri[3 * (int64_t)t + k]);
      largest = fmax(largest, noli_norm3(noli_sub3(corner, centre)));
    }
  }
  double by_edges = n_edge > 0 ? RADIUS_EDGES * edges / n_edge : 0.0;
  return fmax(fmax(by_edges, RADIUS_LARGEST * largest), RADIUS_DELTA * delta);
}

// Groups neighbouring triangles in the trees by their rest positions.
static NoliStatus implicit_surface_contact_arrange(NoliImplicitSurfaceSearch* search,
                                                   const double* X) {
  NoliStatus status = NOLI_OK;
  float* centre = NULL;
  NOLI_NEW(search->context, centre, 3 * (int64_t)search->surface->n_tri);
  for (int32_t t = 0; t < search->surface->n_tri; t++) {
    NoliVec3 at = centroid_of(search->surface, X, t);
    centre[3 * (int64_t)t] = (float)at.x;
    centre[3 * (int64_t)t + 1] = (float)at.y;
    centre[3 * (int64_t)t + 2] = (float)at.z;
  }
  noli_forest_arrange(&search->forest, centre);
done:
  noli_free(search->context, centre);
  return status;
}

static void find_unclear(NoliImplicitSurfaceSearch* search, double delta);

NoliStatus noli_implicit_surface_search_create(NoliContext* context, const NoliColliders* colliders,
                                               const double* X, const bool* still,
                                               const bool* sheet, double radius, double delta,
                                               NoliImplicitSurfaceSearch** out) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = colliders->surface;
  NoliImplicitSurfaceSearch* search = NULL;
  NOLI_NEW_ZERO(context, search, 1);
  *search = (NoliImplicitSurfaceSearch){.context = context,
                                        .surface = surface,
                                        .X = X,
                                        .still = still,
                                        .half_spaces = colliders->half_spaces,
                                        .n_half_spaces = colliders->n_half_spaces,
                                        .pairs = colliders->pairs};
  NOLI_NEW_ZERO(context, search->radius, surface->n_body);
  NOLI_NEW(context, search->box, surface->n_tri);
  NOLI_NEW(context, search->centroid, 3 * (int64_t)surface->n_tri);
  for (int32_t b = 0; b < surface->n_body; b++) {
    bool has_sides = sheet == NULL || !sheet[b];
    if (has_sides && surface->tri_first[b + 1] > surface->tri_first[b]) {
      search->radius[b] = radius > 0.0 ? radius : automatic_radius(surface, X, b, delta);
    }
    search->has_self = search->has_self || may_touch(search, b, b);
  }

  if (search->has_self) {
    NOLI_NEW(context, search->normal, 3 * (int64_t)surface->n_vert);
    NOLI_NEW(context, search->rest_normal, 3 * (int64_t)surface->n_vert);
    NOLI_NEW_ZERO(context, search->unclear, surface->n_vert);
    find_normals(search, X, search->rest_normal);
  }

  NOLI_TRY(noli_forest_create(context, surface->n_body, surface->tri_first, &search->forest));
  NOLI_NEW(context, search->body_box, surface->n_body);
  NOLI_TRY(noli_body_tree_create(context, surface->n_body, &search->near));
  NOLI_TRY(implicit_surface_contact_arrange(search, X));
  find_unclear(search, delta);
done:
  if (status != NOLI_OK) {
    noli_implicit_surface_search_destroy(&search);
  }
  *out = search;
  return status;
}

void noli_implicit_surface_search_destroy(NoliImplicitSurfaceSearch** owner) {
  NoliImplicitSurfaceSearch* search = *owner;
  if (search == NULL) {
    return;
  }
  noli_forest_release(search->context, &search->forest);
  noli_body_tree_release(search->context, &search->near);
  noli_free(search->context, search->body_box);
  noli_free(search->context, search->radius);
  noli_free(search->context, search->normal);
  noli_free(search->context, search->rest_normal);
  noli_free(search->context, search->unclear);
  noli_free(search->context, search->box);
  noli_free(search->context, search->centroid);
  noli_free(search->context, search);
  *owner = NULL;
}

const NoliHalfSpace*
noli_implicit_surface_search_half_space(const NoliImplicitSurfaceSearch* search, int32_t entity) {
  return &search->half_spaces[entity - search->surface->n_body];
}

double noli_implicit_surface_search_radius(const NoliImplicitSurfaceSearch* search, int32_t body) {
  return search->radius[body];
}

// ---- searching ----

static NoliBox box_around(NoliVec3 at, double radius) {
  return (NoliBox){.lo = {noli_box_below(at.x - radius), noli_box_below(at.y - radius),
                          noli_box_below(at.z - radius)},
                   .hi = {noli_box_above(at.x + radius), noli_box_above(at.y + radius),
                          noli_box_above(at.z + radius)}};
}

typedef struct UpdateJob {
  NoliImplicitSurfaceSearch* search;
  const double* x;
} UpdateJob;

static void update_places(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const UpdateJob* job = user;
  NoliImplicitSurfaceSearch* search = job->search;
  for (int64_t place = begin; place < end; place++) {
    int32_t triangle = search->forest.item[place];
    NoliVec3 at = centroid_of(search->surface, job->x, triangle);
    noli_store3(&search->centroid[3 * (int64_t)triangle], at);
    search->box[place] = box_around(at, 0.0);
  }
}

static void implicit_surface_contact_update(NoliImplicitSurfaceSearch* search, const double* x,
                                            int32_t n_threads) {
  UpdateJob job = {search, x};
  noli_parallel_for(n_threads, search->surface->n_tri, TRIANGLE_BLOCK, update_places, &job);
  noli_forest_refit(&search->forest, search->box);
  if (search->has_self) {
    find_normals(search, x, search->normal);
  }
}

// A body as seen from one vertex.
typedef struct View {
  const NoliImplicitSurfaceSearch* search;
  const double* x;
  int32_t point;
  NoliVec3 p;
  bool self; // its own body
  double radius;
  // the closest triangle
  int32_t closest; // NOLI_NULL_INDEX: none is in range
  double closest_d_sqr;
  NoliVec3 closest_normal;
  // the sheet
  double top; // sum of w A . (p - c)
  double sum; // of w |A|
  int32_t n;
  int32_t* list; // triangles; NULL: they are only counted
  bool ended;    // of a contact that is kept
} View;

// Whether a triangle of the vertex's own body belongs to its neighbourhood: close at rest, and not
// across a gap.
static bool is_neighbour(const View* view, int32_t triangle) {
  const NoliImplicitSurfaceSearch* search = view->search;
  const NoliSurface* surface = search->surface;
  const int32_t* vertex = &surface->tri[3 * (int64_t)triangle];
  if (vertex[0] == view->point || vertex[1] == view->point || vertex[2] == view->point) {
    return true;
  }
  double reach = NEIGHBOUR_RADII * view->radius;
  NoliVec3 way =
      noli_sub3(centroid_of(surface, search->X, triangle), vertex_at(search->X, view->point));
  NoliVec3 normal = vertex_at(search->rest_normal, view->point);
  bool across = !search->unclear[view->point] && noli_dot3(normal, way) > 0.0 &&
                noli_dot3(normal, area_at(surface, search->X, triangle)) < 0.0;
  return noli_norm_sqr3(way) < reach * reach && !across;
}

typedef void Visit(View* view, int32_t triangle, double r_sqr);

// Visits every triangle of a body whose centroid is closer to p than the radius.
static void visit_in_range(View* view, int32_t body, Visit* visit) {
  const NoliForest* forest = &view->search->forest;
  NoliBox around = box_around(view->p, view->radius);
  int32_t stack[STACK_SIZE], n_stack = 0;
  stack[n_stack++] = forest->root[body];

  while (n_stack > 0) {
    int32_t at = stack[--n_stack];
    if (!noli_boxes_meet(&around, &forest->box[at])) {
      continue;
    }
    const NoliNode* node = &forest->node[at];
    if (node->child != NOLI_NULL_INDEX) {
      stack[n_stack++] = node->child;
      stack[n_stack++] = node->child + 1;
      continue;
    }
    for (int32_t place = node->begin; place < node->end; place++) {
      int32_t triangle = forest->item[place];
      NoliVec3 centre = noli_load3(&view->search->centroid[3 * (int64_t)triangle]);
      double r_sqr = noli_norm_sqr3(noli_sub3(view->p, centre));
      if (r_sqr < view->radius * view->radius && !(view->self && is_neighbour(view, triangle))) {
        visit(view, triangle, r_sqr);
      }
    }
  }
}

// Keeps the closest triangle; of equally close ones the first.
static void keep_closest(View* view, int32_t triangle, double r_sqr) {
  (void)r_sqr;
  const int32_t* vertex = &view->search->surface->tri[3 * (int64_t)triangle];
  NoliVec3 y[4] = {view->p, vertex_at(view->x, vertex[0]), vertex_at(view->x, vertex[1]),
                   vertex_at(view->x, vertex[2])};
  NoliVec3 area = area_at(view->search->surface, view->x, triangle);
  double d_sqr = noli_norm_sqr3(noli_closest_vector_point_triangle(y));
  bool closer = view->closest == NOLI_NULL_INDEX || d_sqr < view->closest_d_sqr ||
                (d_sqr == view->closest_d_sqr && triangle < view->closest);
  if (closer && noli_norm_sqr3(area) > 0.0) {
    view->closest = triangle;
    view->closest_d_sqr = d_sqr;
    view->closest_normal = noli_normalize3(area);
  }
}

// Adds a triangle of the sheet to d, and to the list.
static void add_to_sheet(View* view, int32_t triangle, double r_sqr) {
  NoliVec3 area = area_at(view->search->surface, view->x, triangle);
  double size = noli_norm3(area);
  if (!(noli_dot3(area, view->closest_normal) > SHEET_COSINE * size)) {
    return;
  }
  NoliVec3 centre = noli_load3(&view->search->centroid[3 * (int64_t)triangle]);
  double weight = noli_patch_weight(r_sqr, view->radius);
  view->top += weight * noli_dot3(area, noli_sub3(view->p, centre));
  view->sum += weight * size;
  if (view->list != NULL) {
    view->list[view->n] = triangle;
  }
  view->n++;
}

// Whether the closest triangle faces the vertex of the same body.
static bool is_faced(const View* view) {
  NoliVec3 normal = noli_load3(&view->search->normal[3 * (int64_t)view->point]);
  return noli_dot3(normal, view->closest_normal) < 0.0;
}

// Evaluates a body as seen from a vertex. Returns whether the vertex is closer than delta.
static bool look(View* view, int32_t body, double delta) {
  view->radius = view->search->radius[body];
  view->self = view->search->surface->body[view->point] == body;
  view->closest = NOLI_NULL_INDEX;
  view->top = view->sum = 0.0;
  view->n = 0;
  visit_in_range(view, body, keep_closest);
  if (view->closest == NOLI_NULL_INDEX || (view->self && !is_faced(view))) {
    return false;
  }
  visit_in_range(view, body, add_to_sheet);
  return view->sum > 0.0 && view->top < delta * view->sum;
}

// Finds vertices that the rest shape would push: its triangles are too large for the gap that they
// face. Rest shapes carry no contact force: these vertices touch only triangles that are far from
// them at rest.
static void find_unclear(NoliImplicitSurfaceSearch* search, double delta) {
  const NoliSurface* surface = search->surface;
  if (!search->has_self) {
    return;
  }
  implicit_surface_contact_update(search, search->X, 1);
  for (int32_t i = 0; i < surface->n_point; i++) {
    int32_t point = surface->point[i], body = surface->body[point];
    if (may_touch(search, body, body)) {
      View view = {
          .search = search, .x = search->X, .point = point, .p = vertex_at(search->X, point)};
      search->unclear[point] = look(&view, body, delta);
    }
  }
}

NoliPatch noli_implicit_surface_contact_patch(const NoliImplicitSurfaceContactSet* set,
                                              const NoliImplicitSurfaceSearch* search,
                                              const double* x, int64_t c) {
  const NoliImplicitSurfaceContact* contact = &set->contact.data[c];
  return (NoliPatch){.x = x,
                     .point = contact->point,
                     .radius = search->radius[contact->entity[1]],
                     .n_triangle = contact->n_triangle,
                     .triangle = set->triangle.data + contact->first,
                     .tri = search->surface->tri,
                     .corner = set->corner.data + 3 * contact->first};
}

typedef struct BuildJob {
  NoliImplicitSurfaceContactSet* set;
  const NoliImplicitSurfaceSearch* search;
  const double* x;
  double delta;
  const NoliImplicitSurfaceContactSet* kept; // contacts that stay as they are; NULL: none
  bool others;                               // add other contacts
} BuildJob;

// The contact that the i-th point keeps with an entity; NULL if there is none.
static const NoliImplicitSurfaceContact* kept_contact(const BuildJob* job, int64_t i,
                                                      int32_t entity) {
  int32_t n = job->kept != NULL ? job->kept->n_contact.data[i] : 0;
  for (int32_t k = 0; k < n; k++) {
    const NoliImplicitSurfaceContact* contact =
        &job->kept->contact.data[job->kept->first_contact.data[i] + k];
    if (contact->entity[1] == entity) {
      return contact;
    }
  }
  return NULL;
}

// Whether a kept contact has ended: none of its triangles is in range.
static bool has_ended(const BuildJob* job, const NoliImplicitSurfaceContact* kept) {
  NoliPatch patch = noli_implicit_surface_contact_patch(job->kept, job->search, job->x,
                                                        kept - job->kept->contact.data);
  return kept->ended || noli_patch_value(&patch).sum == 0.0;
}

// Whether the i-th point is in contact with a body, through the triangles that it keeps or, if it
// keeps none, through those in its view.
static bool touches_body(const BuildJob* job, int64_t i, int32_t body, View* view) {
  const NoliImplicitSurfaceContact* kept = kept_contact(job, i, body);
  view->ended = false;
  if (kept == NULL) {
    return job->others && look(view, body, job->delta);
  }
  view->ended = has_ended(job, kept);
  view->n = kept->n_triangle;
  if (view->list != NULL) {
    memcpy(view->list, job->kept->triangle.data + kept->first,
           (size_t)kept->n_triangle * sizeof *view->list);
  }
  return true;
}

// Whether the i-th point, of this body, is in contact with half-space k, at the distance d.
static bool touches_plane(const BuildJob* job, int64_t i, int32_t body, int32_t k, double* d) {
  const NoliImplicitSurfaceSearch* search = job->search;
  int32_t point = search->surface->point[i], entity = search->surface->n_body + k;
  *d = noli_half_space_distance(&search->half_spaces[k], &job->x[3 * (int64_t)point]);
  return (kept_contact(job, i, entity) != NULL || (job->others && *d < job->delta)) &&
         noli_body_pairs_get(search->pairs, body, entity);
}

// Counts the contacts of points begin..end and their triangles.
static void count_contacts(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const BuildJob* job = user;
  const NoliImplicitSurfaceSearch* search = job->search;
  for (int64_t i = begin; i < end; i++) {
    int32_t point = search->surface->point[i], body = search->surface->body[point];
    int32_t n_contact = 0, n_triangle = 0;
    View view = {.search = search, .x = job->x, .point = point, .p = vertex_at(job->x, point)};
    for (int64_t k = search->near.first[body]; !search->still[body] && k < search->near.end[body];
         k++) {
      int32_t b = search->near.other.data[k];
      if (may_touch(search, body, b) && touches_body(job, i, b, &view)) {
        n_contact++;
        n_triangle += view.n;
      }
    }
    for (int32_t k = 0; !search->still[body] && k < search->n_half_spaces; k++) {
      double d;
      n_contact += touches_plane(job, i, body, k, &d);
    }
    job->set->n_contact.data[i] = n_contact;
    job->set->n_triangle.data[i] = n_triangle;
  }
}

// Shell sort, for short lists.
static void sort_indices(int32_t* list, int32_t n) {
  for (int32_t gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) {
    for (int32_t i = gap; i < n; i++) {
      int32_t moving = list[i], j = i;
      for (; j >= gap && list[j - gap] > moving; j -= gap) {
        list[j] = list[j - gap];
      }
      list[j] = moving;
    }
  }
}

// Lists the vertices of the triangles of a contact, sorted, each once.
static void implicit_surface_contact_list_vertices(const BuildJob* job, int64_t c) {
  const NoliImplicitSurfaceContact* contact = &job->set->contact.data[c];
  int32_t* vertex = job->set->vertex.data + 3 * contact->first;
  for (int32_t t = 0; t < contact->n_triangle; t++) {
    int32_t triangle = job->set->triangle.data[contact->first + t];
    memcpy(vertex + 3 * (int64_t)t, &job->search->surface->tri[3 * (int64_t)triangle],
           3 * sizeof *vertex);
  }
  sort_indices(vertex, 3 * contact->n_triangle);
  int32_t n = 0;
  for (int32_t k = 0; k < 3 * contact->n_triangle; k++) {
    if (n == 0 || vertex[n - 1] != vertex[k]) {
      vertex[n++] = vertex[k];
    }
  }
  job->set->n_vertex.data[c] = n;
}

// Writes contact c of the i-th point with a body; the view has counted its triangles.
static void write_body_contact(const BuildJob* job, int64_t i, int32_t body, int64_t c,
                               int64_t first, View* view) {
  NoliImplicitSurfaceContactSet* set = job->set;
  int32_t point = job->search->surface->point[i];
  set->contact.data[c] =
      (NoliImplicitSurfaceContact){.point = point,
                                   .entity = {job->search->surface->body[point], body},
                                   .n_triangle = view->n,
                                   .first = first,
                                   .ended = view->ended};

  // visit once more to list the triangles
  view->list = set->triangle.data + first;
  (void)touches_body(job, i, body, view);
  sort_indices(view->list, view->n);
  view->list = NULL;
  implicit_surface_contact_list_vertices(job, c);

  // d sums over the sorted list
  NoliPatch patch = noli_implicit_surface_contact_patch(set, job->search, job->x, c);
  set->contact.data[c].d = view->ended ? job->delta : noli_patch_value(&patch).d;
}

// Writes the contacts of points begin..end to the places given by the counts.
static void write_contacts(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const BuildJob* job = user;
  const NoliImplicitSurfaceSearch* search = job->search;
  NoliImplicitSurfaceContactSet* set = job->set;

  for (int64_t i = begin; i < end; i++) {
    int32_t point = search->surface->point[i], body = search->surface->body[point];
    int64_t c = set->first_contact.data[i], first = set->first_triangle.data[i];
    View view = {.search = search, .x = job->x, .point = point, .p = vertex_at(job->x, point)};
    bool any = set->n_contact.data[i] > 0;
    for (int64_t k = search->near.first[body]; any && k < search->near.end[body]; k++) {
      int32_t b = search->near.other.data[k];
      if (may_touch(search, body, b) && touches_body(job, i, b, &view)) {
        write_body_contact(job, i, b, c++, first, &view);
        first += view.n;
      }
    }
    for (int32_t k = 0; any && k < search->n_half_spaces; k++) {
      double d;
      if (touches_plane(job, i, body, k, &d)) {
        set->contact.data[c] = (NoliImplicitSurfaceContact){
            .point = point, .entity = {body, search->surface->n_body + k}, .first = first, .d = d};
        set->n_vertex.data[c++] = 0;
      }
    }
  }
}

// Writes the nodes of patches and stencils, and the corners of triangles as indices of nodes.
static void implicit_surface_contact_write_nodes(void* user, int64_t begin, int64_t end,
                                                 int32_t worker) {
  (void)worker;
  const BuildJob* job = user;
  NoliImplicitSurfaceContactSet* set = job->set;
  for (int64_t c = begin; c < end; c++) {
    const NoliImplicitSurfaceContact* contact = &set->contact.data[c];
    int32_t* node = set->node.data + set->first.data[c];
    const int32_t* vertex = set->vertex.data + 3 * contact->first;
    int32_t n = set->n_vertex.data[c];
    node[0] = contact->point;
    memcpy(node + 1, vertex, sizeof *node * (size_t)n);

    // a binary search for each corner
    for (int32_t k = 0; k < 3 * contact->n_triangle; k++) {
      int32_t triangle = set->triangle.data[contact->first + k / 3];
      int32_t wanted = job->search->surface->tri[3 * (int64_t)triangle + k % 3];
      int32_t low = 0, high = n;
      while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (vertex[middle] <= wanted) {
          low = middle;
        } else {
          high = middle;
        }
      }
      set->corner.data[3 * contact->first + k] = 1 + low;
    }

    // the stencil: all nodes, or the first one
    int64_t at = set->stencil_first.data[c];
    memcpy(set->stencil_node.data + at, node,
           sizeof *node * (size_t)(set->stencil_first.data[c + 1] - at));
  }
}

// Counts contacts and triangles of each point, and assigns their places.
static NoliStatus count_all(NoliContext* context, BuildJob* job, int32_t n_threads,
                            int64_t* n_contact, int64_t* n_triangle) {
  NoliStatus status = NOLI_OK;
  NoliImplicitSurfaceContactSet* set = job->set;
  int32_t n_point = job->search->surface->n_point;
  NOLI_TRY(noli_array_reserve(context, &set->n_contact, n_point));
  NOLI_TRY(noli_array_reserve(context, &set->first_contact, n_point));
  NOLI_TRY(noli_array_reserve(context, &set->n_triangle, n_point));
  NOLI_TRY(noli_array_reserve(context, &set->first_triangle, n_point));
  noli_parallel_for(n_threads, n_point, POINT_BLOCK, count_contacts, job);
  *n_contact = *n_triangle = 0;
  for (int32_t i = 0; i < n_point; i++) {
    set->first_contact.data[i] = *n_contact;
    set->first_triangle.data[i] = *n_triangle;
    *n_contact += set->n_contact.data[i];
    *n_triangle += set->n_triangle.data[i];
  }
done:
  return status;
}

// Numbers the nodes of patches and stencils.
static NoliStatus implicit_surface_contact_number_nodes(NoliContext* context, const BuildJob* job,
                                                        bool whole) {
  NoliStatus status = NOLI_OK;
  NoliImplicitSurfaceContactSet* set = job->set;
  int64_t n = set->contact.count;
  NOLI_TRY(noli_array_reserve(context, &set->first, n + 1));
  NOLI_TRY(noli_array_reserve(context, &set->stencil_first, n + 1));
  NOLI_TRY(noli_array_reserve(context, &set->stencil_block, n + 1));
  set->first.data[0] = set->stencil_first.data[0] = 0;
  set->min_d = (double)INFINITY;
  for (int64_t c = 0; c < n; c++) {
    const NoliImplicitSurfaceContact* contact = &set->contact.data[c];
    bool known = contact->n_triangle > 0 && job->search->still[contact->entity[1]] != 0 && !whole;
    int32_t size = 1 + set->n_vertex.data[c];
    set->first.data[c + 1] = set->first.data[c] + size;
    set->stencil_first.data[c + 1] = set->stencil_first.data[c] + (known ? 1 : size);
    set->min_d = contact->d < set->min_d ? contact->d : set->min_d;
  }

  noli_stencil_offsets(n, set->stencil_first.data, set->stencil_block.data);
  set->node.count = set->first.data[n];
  set->stencil_node.count = set->stencil_first.data[n];
  NOLI_TRY(noli_array_reserve(context, &set->node, set->node.count));
  NOLI_TRY(noli_array_reserve(context, &set->stencil_node, set->stencil_node.count));
  NOLI_TRY(noli_array_reserve(context, &set->part, set->node.count));
done:
  return status;
}

// Boxes of the vertices of bodies, and of the space within the radius of their triangles. The ends
// are widened to adjacent floats to allow for rounding.
static void fill_body_boxes(NoliImplicitSurfaceSearch* search, const double* x) {
  const NoliSurface* surface = search->surface;
  for (int32_t b = 0; b < surface->n_body; b++) {
    NoliBox box = noli_box_empty();
    for (int32_t i = surface->point_first[b]; i < surface->point_first[b + 1]; i++) {
      NoliBox point = box_around(vertex_at(x, surface->point[i]), 0.0);
      box = noli_box_union(&box, &point);
    }
    if (search->radius[b] > 0.0) {
      NoliBox reach = search->forest.box[search->forest.root[b]];
      for (int k = 0; k < 3; k++) {
        reach.lo[k] =
            noli_box_below((double)nextafterf(reach.lo[k], -INFINITY) - search->radius[b]);
        reach.hi[k] = noli_box_above((double)nextafterf(reach.hi[k], INFINITY) + search->radius[b]);
      }
      box = noli_box_union(&box, &reach);
    }
    search->body_box[b] = box;
  }
}

// Bodies that are near, and those that keep a contact.
static NoliStatus find_near(NoliImplicitSurfaceSearch* search, NoliContext* context,
                            const BuildJob* job) {
  NoliStatus status = NOLI_OK;
  int64_t n_kept = job->kept != NULL ? job->kept->contact.count : 0;
  fill_body_boxes(search, job->x);
  NOLI_TRY(noli_body_tree_find(context, &search->near, search->body_box));
  for (int64_t c = 0; c < n_kept; c++) {
    const int32_t* entity = job->kept->contact.data[c].entity;
    if (entity[1] < search->surface->n_body) {
      NOLI_PUSH(context, &search->near.pair, ((NoliBodyPair){entity[0], entity[1]}));
    }
  }
  for (int32_t b = 0; b < search->surface->n_body; b++) {
    if (may_touch(search, b, b)) {
      NOLI_PUSH(context, &search->near.pair, ((NoliBodyPair){b, b}));
    }
  }
  NOLI_TRY(noli_body_tree_rows(context, &search->near));
done:
  return status;
}

static NoliStatus build(BuildJob* job, NoliImplicitSurfaceSearch* search, bool whole,
                        int32_t n_threads) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = search->context;
  NoliImplicitSurfaceContactSet* set = job->set;
  int64_t n_contact = 0, n_triangle = 0;
  set->contact.count = 0;
  set->min_d = (double)INFINITY;
  implicit_surface_contact_update(search, job->x, n_threads);
  NOLI_TRY(find_near(search, context, job));

  // count and reserve
  NOLI_TRY(count_all(context, job, n_threads, &n_contact, &n_triangle));
  NOLI_TRY(noli_array_reserve(context, &set->contact, n_contact));
  NOLI_TRY(noli_array_reserve(context, &set->n_vertex, n_contact));
  NOLI_TRY(noli_array_reserve(context, &set->triangle, n_triangle));
  NOLI_TRY(noli_array_reserve(context, &set->corner, 3 * n_triangle));
  NOLI_TRY(noli_array_reserve(context, &set->vertex, 3 * n_triangle));

  // write contacts, then their nodes
  noli_parallel_for(n_threads, search->surface->n_point, POINT_BLOCK, write_contacts, job);
  set->contact.count = n_contact;
  set->triangle.count = n_triangle;
  NOLI_TRY(implicit_surface_contact_number_nodes(context, job, whole));
  noli_parallel_for(n_threads, n_contact, POINT_BLOCK, implicit_surface_contact_write_nodes, job);
done:
  if (status != NOLI_OK) {
    set->contact.count = 0;
  }
  return status;
}

NoliStatus noli_implicit_surface_contacts_build(NoliImplicitSurfaceContactSet* set,
                                                NoliImplicitSurfaceSearch* search, const double* x,
                                                double delta, bool whole, int32_t n_threads) {
  BuildJob job = {.set = set, .search = search, .x = x, .delta = delta, .others = true};
  return build(&job, search, whole, n_threads);
}

NoliStatus noli_implicit_surface_contacts_keep(NoliImplicitSurfaceContactSet* set,
                                               NoliImplicitSurfaceSearch* search, const double* x,
                                               double delta,
                                               const NoliImplicitSurfaceContactSet* kept,
                                               bool others, bool whole, int32_t n_threads) {
  BuildJob job = {
      .set = set, .search = search, .x = x, .delta = delta, .kept = kept, .others = others};
  return build(&job, search, whole, n_threads);
}

void noli_implicit_surface_contacts_free(NoliContext* context, NoliImplicitSurfaceContactSet* set) {
  noli_array_free(context, &set->contact);
  noli_array_free(context, &set->triangle);
  noli_array_free(context, &set->corner);
  noli_array_free(context, &set->node);
  noli_array_free(context, &set->first);
  noli_array_free(context, &set->stencil_node);
  noli_array_free(context, &set->stencil_first);
  noli_array_free(context, &set->stencil_block);
  noli_array_free(context, &set->n_contact);
  noli_array_free(context, &set->first_contact);
  noli_array_free(context, &set->n_triangle);
  noli_array_free(context, &set->first_triangle);
  noli_array_free(context, &set->vertex);
  noli_array_free(context, &set->n_vertex);
  noli_array_free(context, &set->part);
}

double noli_surface_deepest(const NoliImplicitSurfaceContactSet* set, const int32_t* dof) {
  double deepest = (double)INFINITY;
  for (int64_t c = 0; c < set->contact.count; c++) {
    bool moves = false;
    for (int64_t k = set->stencil_first.data[c]; k < set->stencil_first.data[c + 1]; k++) {
      moves = moves || dof[set->stencil_node.data[k]] != NOLI_NULL_INDEX;
    }
    double d = set->contact.data[c].d;
    deepest = moves && d < deepest ? d : deepest;
  }
  return deepest;
}
