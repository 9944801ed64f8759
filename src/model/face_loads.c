#include "model/face_loads.h"

#include "base/sort.h"
#include "mesh/topology.h"

#include <string.h>

// ---- faces --------------------------------------------------------------------------------------

// The corners of a face in ascending order.
typedef struct Corners {
  int32_t vertex[3];
} Corners;

// A force acts on faces of marked nodes, and of these only on those in the list, if there is
// one.
typedef struct Meant {
  const uint8_t* marked; // (n_vert)
  Corners* face;         // (n_face) global, sorted; NULL: any
  int32_t n_face;
} Meant;

static int compare_corners(const void* a, const void* b) {
  return noli_compare_tuples(((const Corners*)a)->vertex, ((const Corners*)b)->vertex, 3);
}

// The face of three vertices that are numbered from `first` on.
static Corners corners_of(const int32_t vertex[3], int32_t first) {
  const int32_t global[3] = {vertex[0] + first, vertex[1] + first, vertex[2] + first};
  Corners corners;
  noli_ascending_tuples(global, 3, 1, corners.vertex);
  return corners;
}

static bool face_loads_is_listed(const Meant* meant, const Corners* corners) {
  return meant->face == NULL || noli_find_sorted(corners, meant->face, meant->n_face,
                                                 sizeof *corners, compare_corners) != NULL;
}

// Lists the faces of a body that are meant into tri (NULL: only counts).
static int32_t face_loads_list_faces(const NoliModel* model, int32_t body, const Meant* meant,
                                     int32_t* tri) {
  const uint8_t* marked = meant->marked;
  const NoliSurface* surface = model->problem.surface;
  bool planar = surface->planar[body];
  const int32_t* first = planar ? surface->edge_first : surface->tri_first;
  int32_t n = 0;

  for (int64_t i = first[body]; i < first[body + 1]; i++) {
    int32_t face[3] = {0, 0, NOLI_NULL_INDEX};
    if (planar) {
      face[0] = surface->edge[2 * i + (surface->reversed[i] ? 1 : 0)];
      face[1] = surface->edge[2 * i + (surface->reversed[i] ? 0 : 1)];
    } else {
      memcpy(face, &surface->tri[3 * i], sizeof face);
    }
    bool is_marked =
        marked[face[0]] != 0 && marked[face[1]] != 0 && (planar || marked[face[2]] != 0);
    Corners corners = corners_of(face, 0);
    if (is_marked && (planar || face_loads_is_listed(meant, &corners))) {
      if (tri != NULL) {
        memcpy(&tri[3 * (int64_t)n], face, sizeof face);
      }
      n++;
    }
  }
  return n;
}

// Adds the faces of a force to those with a pressure.
static NoliStatus add_pressed(NoliModel* model, NoliForce* force) {
  NoliStatus status = NOLI_OK;
  NoliFaces* pressed = &model->problem.pressed.flat;
  int32_t* all = NULL;
  force->pressed_first = pressed->n;
  NOLI_NEW(model->context, all, 3 * ((int64_t)pressed->n + force->faces.n));
  if (pressed->n > 0) {
    memcpy(all, pressed->tri, 3 * sizeof *all * (size_t)pressed->n);
  }
  memcpy(all + 3 * (int64_t)pressed->n, force->faces.tri, 3 * sizeof *all * (size_t)force->faces.n);
  noli_free(model->context, pressed->tri);
  pressed->tri = all;
  pressed->n += force->faces.n;
done:
  return status;
}

// The faces of a body that are meant.
static NoliStatus find_faces(NoliModel* model, int32_t body, const Meant* meant, NoliForce* force) {
  NoliStatus status = NOLI_OK;
  force->faces.n = face_loads_list_faces(model, body, meant, NULL);
  NOLI_NEW(model->context, force->faces.tri, 3 * (int64_t)force->faces.n);
  (void)face_loads_list_faces(model, body, meant, force->faces.tri);
  if (force->kind == NOLI_FORCE_PRESSURE) {
    NOLI_TRY(add_pressed(model, force));
  }
done:
  return status;
}

// ---- curved faces -------------------------------------------------------------------------------

// A face of a tetrahedron. Its corners identify its twin.
typedef struct Side {
  Corners key;
  NoliTetFace face; // of the body
} Side;

static Side make_side(const int32_t* corner, int32_t tet, int32_t side) {
  const int32_t vertex[3] = {corner[(side + 1) % 4], corner[(side + 2) % 4],
                             corner[(side + 3) % 4]};
  return (Side){.key = corners_of(vertex, 0), .face = {tet, side}};
}

// Sides begin with their key.
static int face_loads_compare_sides(const void* a, const void* b) {
  return compare_corners(&((const Side*)a)->key, &((const Side*)b)->key);
}

// Whether all nodes of a face are marked.
static bool is_marked(const NoliBlock* block, NoliTetFace face, const uint8_t* marked) {
  const NoliSpace* space = block->space;
  int32_t local[NOLI_TRI_NODES_MAX], n = noli_tet_face_nodes(space->order, face.side, local);
  for (int32_t a = 0; a < n; a++) {
    int64_t node = space->node[(int64_t)face.tet * space->n_local + local[a]];
    if (marked[block->first_node + node] == 0) {
      return false;
    }
  }
  return true;
}

// The faces that are meant and belong to only one tetrahedron: writes them to `kept`, with `side`
// all n faces of the body, and returns their number.
static int32_t keep_meant(const NoliBlock* block, const Meant* meant, int64_t n, Side* side,
                          NoliTetFace* kept) {
  int32_t n_kept = 0;
  noli_sort(side, n, sizeof *side, face_loads_compare_sides);
  for (int64_t i = 0, end; i < n; i = end) {
    end = i + 1;
    while (end < n && face_loads_compare_sides(&side[i], &side[end]) == 0) {
      end++;
    }
    if (end == i + 1 && is_marked(block, side[i].face, meant->marked) &&
        face_loads_is_listed(meant, &side[i].key)) {
      kept[n_kept++] = side[i].face;
    }
  }
  return n_kept;
}

static NoliStatus add_pressed_curved(NoliModel* model, NoliForce* force) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  const NoliCurvedFaces** all = NULL;
  NOLI_NEW(model->context, all, problem->pressed.n_curved + 1);
  for (int32_t k = 0; k < problem->pressed.n_curved; k++) {
    all[k] = problem->pressed.curved[k];
  }
  noli_free(model->context, problem->pressed.curved);
  problem->pressed.curved = all;
  force->pressed_first = problem->pressed.n_curved++;
  all[force->pressed_first] = &force->curved;
done:
  return status;
}

// The same for a body of elements of any order.
static NoliStatus find_curved_faces(NoliModel* model, int32_t body, const NoliBlock* block,
                                    const Meant* meant, NoliForce* force) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  int32_t first = model->cell_first[body], n_tet = model->cell_first[body + 1] - first;
  Side* side = NULL;
  NoliTetFace* kept = NULL;
  NOLI_NEW(context, side, 4 * (int64_t)n_tet);
  NOLI_NEW(context, kept, 4 * (int64_t)n_tet);
  for (int64_t i = 0; i < 4 * (int64_t)n_tet; i++) {
    side[i] = make_side(model->cell + 4 * (first + i / 4), (int32_t)(i / 4), (int32_t)(i % 4));
  }
  int32_t n = keep_meant(block, meant, 4 * (int64_t)n_tet, side, kept);
  NOLI_TRY(
      noli_curved_faces_create(context, block->space, block->first_node, n, kept, &force->curved));
  if (n > 0 && force->kind == NOLI_FORCE_PRESSURE) {
    NOLI_TRY(add_pressed_curved(model, force));
  }
done:
  noli_free(context, side);
  noli_free(context, kept);
  return status;
}

NoliStatus noli_face_loads_build(NoliModel* model, const NoliSimDef* sim_def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliForceDef* def = &sim_def->forces[index];
  NoliForce* force = &model->force[index];
  int32_t body = def->body;
  uint8_t* marked = NULL;
  Meant meant = {.n_face = def->n_face};
  const char *place = def->where != NULL ? def->where : "", *colon = def->where != NULL ? ": " : "";
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  bool curved = block != NULL && block->space != NULL;
  NOLI_NEW_ZERO(model->context, marked, model->problem.n_vert);
  meant.marked = marked;
  for (int32_t i = 0; i < force->n_node; i++) {
    marked[force->node[i]] = 1;
  }
  if (def->face != NULL) {
    NOLI_NEW(model->context, meant.face, def->n_face);
    for (int64_t i = 0; i < def->n_face; i++) {
      meant.face[i] = corners_of(def->face + 3 * i, noli_model_vertex(model, body, 0));
    }
    noli_sort(meant.face, def->n_face, sizeof *meant.face, compare_corners);
  }

  force->thickness =
      model->problem.surface->planar[body] ? sim_def->bodies[body].plane_strain : 1.0;
  if (curved) {
    NOLI_TRY(find_curved_faces(model, body, block, &meant, force));
  } else {
    NOLI_TRY(find_faces(model, body, &meant, force));
  }

  NOLI_CHECK(model->context, force->faces.n > 0 || force->curved.n > 0, NOLI_ERROR_ARGUMENT,
             "%s%sforce %d, a %s: body \"%s\" has no face with all its %s among those given", place,
             colon, (int)index, def->kind, model->name[body], curved ? "nodes" : "vertices");
done:
  noli_free(model->context, meant.face);
  noli_free(model->context, marked);
  return status;
}
