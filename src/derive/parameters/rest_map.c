#include "derive/parameters/rest_map.h"

#include "base/array.h"
#include "math/lagrange.h"

// A point that moves with a vertex of the mesh.
typedef struct Link {
  int32_t vertex;
  int32_t point; // in the scene
  double weight;
} Link;

typedef struct Links {
  NOLI_ARRAY(Link) link;
} Links;

// The vertices of the mesh behind each node of a body, with their weights: the corners of an
// element that has the node.
typedef struct Carriers {
  int32_t first; // node of the scene
  int32_t n;
  int32_t (*vertex)[4]; // (n) NOLI_NULL_INDEX: none
  double (*weight)[4];
} Carriers;

static NoliStatus make_carriers(const NoliModel* model, int32_t body, int32_t n_vert,
                                Carriers* carriers) {
  NoliStatus status = NOLI_OK;
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  const NoliSpace* space = block != NULL ? block->space : NULL;
  carriers->first = model->vert_first[body];
  carriers->n = model->vert_first[body + 1] - carriers->first;
  NOLI_NEW(model->context, carriers->vertex, carriers->n);
  NOLI_NEW(model->context, carriers->weight, carriers->n);
  for (int32_t i = 0; i < carriers->n; i++) {
    for (int c = 0; c < 4; c++) {
      carriers->vertex[i][c] = c == 0 && i < n_vert ? i : NOLI_NULL_INDEX;
      carriers->weight[i][c] = 1.0;
    }
  }

  int32_t lattice[NOLI_TET_NODES_MAX][4];
  if (space != NULL) {
    noli_tet_lattice(space->order, lattice);
  }
  for (int64_t k = 0; space != NULL && k < (int64_t)space->n_tet * space->n_local; k++) {
    int32_t i = space->node[k];
    const int32_t* corner = space->node + k / space->n_local * space->n_local;
    for (int c = 0; i >= n_vert && c < 4; c++) {
      int32_t share = lattice[k % space->n_local][c];
      carriers->vertex[i][c] = share > 0 ? corner[c] : NOLI_NULL_INDEX;
      carriers->weight[i][c] = (double)share / space->order;
    }
  }
done:
  return status;
}

// A point moves with a node, by a share.
static NoliStatus link_node(NoliContext* context, const Carriers* carriers, int32_t node,
                            int32_t point, double share, Links* links) {
  NoliStatus status = NOLI_OK;
  int32_t i = node - carriers->first;
  for (int c = 0; i >= 0 && i < carriers->n && c < 4; c++) {
    Link link = {carriers->vertex[i][c], point, share * carriers->weight[i][c]};
    if (link.vertex != NOLI_NULL_INDEX) {
      NOLI_PUSH(context, &links->link, link);
    }
  }
done:
  return status;
}

static NoliStatus link_all(const NoliModel* model, int32_t body, const Carriers* carriers,
                           Links* links) {
  NoliStatus status = NOLI_OK;
  const NoliFollowers* followers = &model->problem.followers;
  for (int32_t i = 0; i < carriers->n; i++) {
    int32_t node = carriers->first + i;
    NOLI_TRY(link_node(model->context, carriers, node, node, 1.0, links));
  }
  for (int32_t v = model->problem.n_node; followers->n > 0 && v < model->problem.n_vert; v++) {
    bool own = model->follower_first[body] <= v && v < model->follower_first[body + 1];
    int32_t f = noli_followers_find(followers, v);
    for (int64_t k = followers->row[f]; own && k < followers->row[f + 1]; k++) {
      NOLI_TRY(
          link_node(model->context, carriers, followers->node[k], v, followers->weight[k], links));
    }
  }
done:
  return status;
}

NoliStatus noli_rest_map_create(const NoliModel* model, int32_t body, int32_t n_vert,
                                NoliRestMap* map) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  Carriers carriers = {0};
  Links links = {{0}};
  int64_t* next = NULL;
  *map = (NoliRestMap){.n_vert = n_vert};
  NOLI_TRY(make_carriers(model, body, n_vert, &carriers));
  NOLI_TRY(link_all(model, body, &carriers, &links));
  NOLI_NEW_ZERO(context, map->first, (int64_t)n_vert + 1);
  NOLI_NEW(context, map->point, links.link.count);
  NOLI_NEW(context, map->weight, links.link.count);
  NOLI_NEW(context, next, n_vert);
  for (int64_t k = 0; k < links.link.count; k++) {
    map->first[links.link.data[k].vertex + 1]++;
  }
  for (int32_t v = 0; v < n_vert; v++) {
    map->first[v + 1] += map->first[v];
    next[v] = map->first[v];
  }

  for (int64_t k = 0; k < links.link.count; k++) {
    const Link* link = &links.link.data[k];
    int64_t at = next[link->vertex]++;
    map->point[at] = link->point;
    map->weight[at] = link->weight;
  }
done:
  noli_free(context, next);
  noli_free(context, carriers.vertex);
  noli_free(context, carriers.weight);
  noli_array_free(context, &links.link);
  if (status != NOLI_OK) {
    noli_rest_map_free(context, map);
  }
  return status;
}

void noli_rest_map_free(NoliContext* context, NoliRestMap* map) {
  noli_free(context, map->first);
  noli_free(context, map->point);
  noli_free(context, map->weight);
  *map = (NoliRestMap){0};
}
