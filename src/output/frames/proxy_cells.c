#include "output/frames/proxy_cells.h"

// The nodes of a triangle at most: three vertices in elements of order 4.
enum { NODES_MAX = 3 * 35 };

// The elements of a body, and of each of its nodes those that have it.
typedef struct Elements {
  const NoliFollowers* followers;
  int32_t n_tet, n_local;
  int32_t first_node; // nodes below are those of the scene
  const int32_t* node;
  int64_t* first; // (n_node + 1)
  int32_t* tet;
} Elements;

static NoliStatus elements_create(NoliContext* context, const NoliModel* model, int32_t body,
                                  Elements* elements) {
  NoliStatus status = NOLI_OK;
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  *elements =
      (Elements){.followers = &model->problem.followers,
                 .n_tet = model->cell_first[body + 1] - model->cell_first[body],
                 .n_local = block->n_local,
                 .first_node = model->vert_first[body],
                 .node = block->divided ? model->cell + 4 * (int64_t)model->cell_first[body]
                                        : block->node + (int64_t)block->n_local *
                                                            model->problem.range[body].begin};
  int32_t n_node = model->vert_first[body + 1] - elements->first_node;
  int64_t n = (int64_t)elements->n_tet * elements->n_local;
  NOLI_NEW_ZERO(context, elements->first, (int64_t)n_node + 2);
  NOLI_NEW(context, elements->tet, n);

  // counted two places on, so that filling in leaves the first places
  for (int64_t i = 0; i < n; i++) {
    elements->first[elements->node[i] - elements->first_node + 2]++;
  }
  for (int32_t v = 0; v < n_node; v++) {
    elements->first[v + 2] += elements->first[v + 1];
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t at = elements->first[elements->node[i] - elements->first_node + 1]++;
    elements->tet[at] = (int32_t)(i / elements->n_local);
  }
done:
  return status;
}

static void elements_free(NoliContext* context, Elements* elements) {
  noli_free(context, elements->first);
  noli_free(context, elements->tet);
}

// Appends the nodes that a vertex follows to `node`; returns how many there are then.
static int32_t add_nodes(const NoliFollowers* followers, int32_t vertex, int32_t n, int32_t* node) {
  if (vertex < followers->n_node) {
    node[n] = vertex;
    return n + 1;
  }
  int32_t follower = noli_followers_find(followers, vertex);
  for (int64_t k = followers->row[follower]; k < followers->row[follower + 1]; k++) {
    node[n++] = followers->node[k];
  }
  return n;
}

static bool has_node(const Elements* elements, int32_t tet, int32_t node) {
  const int32_t* own = elements->node + (int64_t)tet * elements->n_local;
  for (int32_t a = 0; a < elements->n_local; a++) {
    if (own[a] == node) {
      return true;
    }
  }
  return false;
}

// The first element that has all these nodes, or NOLI_NULL_INDEX.
static int32_t find_element(const Elements* elements, int32_t n, const int32_t* node) {
  int32_t at = node[0] - elements->first_node;
  for (int64_t i = elements->first[at]; i < elements->first[at + 1]; i++) {
    int32_t k = 1;
    while (k < n && has_node(elements, elements->tet[i], node[k])) {
      k++;
    }
    if (k == n) {
      return elements->tet[i];
    }
  }
  return NOLI_NULL_INDEX;
}

NoliStatus noli_proxy_cells_find(NoliContext* context, const NoliModel* model, int32_t body,
                                 int32_t n_tri, const int32_t* tri, int32_t* element) {
  NoliStatus status = NOLI_OK;
  Elements elements;
  // the one element of a body that moves as a whole; its vertices may follow nodes of others
  if (model->carried[body]) {
    for (int64_t i = 0; i < 3 * (int64_t)n_tri; i++) {
      element[i] = model->cell_first[body];
    }
    return NOLI_OK;
  }
  NOLI_TRY(elements_create(context, model, body, &elements));
  for (int64_t t = 0; t < n_tri; t++) {
    int32_t node[NODES_MAX], n = 0, own[NODES_MAX];
    for (int k = 0; k < 3; k++) {
      n = add_nodes(elements.followers, tri[3 * t + k], n, node);
    }
    int32_t whole = find_element(&elements, n, node);
    for (int k = 0; k < 3; k++) {
      int32_t n_own = add_nodes(elements.followers, tri[3 * t + k], 0, own);
      int32_t found = whole != NOLI_NULL_INDEX ? whole : find_element(&elements, n_own, own);
      NOLI_CHECK(context, found != NOLI_NULL_INDEX, NOLI_ERROR_INTERNAL,
                 "vertex %d of a proxy lies in no element of body \"%.80s\"", (int)tri[3 * t + k],
                 model->name[body]);
      element[3 * t + k] = model->cell_first[body] + found;
    }
  }
done:
  elements_free(context, &elements);
  return status;
}
