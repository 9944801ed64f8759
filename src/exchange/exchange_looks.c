// Texture coordinates, materials and groups of surfaces, from their files. Triangles of a
// shape are found among those of the file by the positions of their corners at rest.
#include "exchange/exchange.h"

#include "base/sort.h"
#include "mesh/topology.h"
#include "scene/looks.h"
#include "step/simulation.h"
#include "text/cursor.h"

#include <stdio.h>
#include <string.h>

// ---- positions ----------------------------------------------------------------------------------

typedef struct Place {
  double x[3];
  int64_t of; // its number
} Place;

static int looks_compare_places(const void* a, const void* b) {
  const Place *one = a, *other = b;
  int order = 0;
  for (int k = 0; k < 3 && order == 0; k++) {
    order = noli_order_of_doubles(one->x[k], other->x[k]);
  }
  return order;
}

// Positions of vertices and of corners, numbered so that equal ones have equal numbers.
typedef struct Places {
  int64_t n;
  Place* place;
  int32_t* number; // (n)
} Places;

static void add_places(Places* places, const double* x, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    Place* place = &places->place[places->n];
    // -0 and 0 are equal
    *place = (Place){{x[3 * i] + 0.0, x[3 * i + 1] + 0.0, x[3 * i + 2] + 0.0}, places->n};
    places->n++;
  }
}

static NoliStatus number_places(NoliContext* context, const NoliSceneLooks* looks, Places* places) {
  NoliStatus status = NOLI_OK;
  int64_t n_corner = 3 * (int64_t)looks->looks.n_tri;
  int64_t n = n_corner + looks->n_vert + looks->n_proxy;
  NOLI_CHECK(context, n <= INT32_MAX, NOLI_ERROR_TOO_LARGE, "too many corners of triangles");
  NOLI_NEW(context, places->place, n);
  NOLI_NEW(context, places->number, n);
  add_places(places, looks->looks.x, n_corner);
  add_places(places, looks->x, looks->n_vert);
  add_places(places, looks->proxy_x, looks->n_proxy);
  noli_sort(places->place, n, sizeof *places->place, looks_compare_places);
  int32_t number = 0;
  for (int64_t i = 0; i < n; i++) {
    number += i > 0 && looks_compare_places(&places->place[i - 1], &places->place[i]) != 0 ? 1 : 0;
    places->number[places->place[i].of] = number;
  }
done:
  return status;
}

// ---- triangles ----------------------------------------------------------------------------------

// A search among the triangles of a file.
typedef struct Search {
  const NoliExchange* exchange;
  const NoliSceneLooks* looks;
  Places places;
  int32_t* tuple; // (n_tri x 3) ascending numbers of places
  int32_t* order; // (n_tri)
} Search;

static void release_search(NoliContext* context, Search* search) {
  noli_free(context, search->places.place);
  noli_free(context, search->places.number);
  noli_free(context, search->tuple);
  noli_free(context, search->order);
}

static NoliStatus begin_search(NoliContext* context, Search* search) {
  NoliStatus status = NOLI_OK;
  int32_t n = search->looks->looks.n_tri;
  NOLI_TRY(number_places(context, search->looks, &search->places));
  NOLI_NEW(context, search->tuple, 3 * (int64_t)n);
  NOLI_NEW(context, search->order, n);
  noli_ascending_tuples(search->places.number, 3, n, search->tuple);
  NOLI_TRY(noli_sort_tuples(context, search->tuple, 3, n, search->order));
done:
  return status;
}

// The number of the place of a vertex of the simulation; NOLI_NULL_INDEX: it has none in the file.
static int32_t looks_place_of(const Search* search, int32_t body, int32_t vertex) {
  const NoliModel* model = search->exchange->run.sim->model;
  const NoliSceneLooks* looks = search->looks;
  int64_t row = 3 * (int64_t)looks->looks.n_tri;
  if (vertex < model->problem.n_node) {
    int32_t local = vertex - model->vert_first[body];
    return local < looks->n_vert ? search->places.number[row + local] : NOLI_NULL_INDEX;
  }
  int32_t local = vertex - model->follower_first[body];
  return local < looks->n_proxy ? search->places.number[row + looks->n_vert + local]
                                : NOLI_NULL_INDEX;
}

// The triangle of the file with three places; of equal ones the first; NOLI_NULL_INDEX: none.
static int32_t find_triangle(const Search* search, const int32_t place[3]) {
  int32_t sorted[3], low = 0, high = search->looks->looks.n_tri;
  noli_ascending_tuples(place, 3, 1, sorted);
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    const int32_t* tuple = search->tuple + 3 * (int64_t)search->order[middle];
    if (noli_compare_tuples(tuple, sorted, 3) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bool found = low < search->looks->looks.n_tri &&
               noli_compare_tuples(search->tuple + 3 * (int64_t)search->order[low], sorted, 3) == 0;
  return found ? search->order[low] : NOLI_NULL_INDEX;
}

// ---- materials ----------------------------------------------------------------------------------

static NoliStatus looks_join(NoliContext* context, const char* folder, const char* name,
                             char** path) {
  NoliStatus status = NOLI_OK;
  size_t size = strlen(folder) + strlen(name) + 2;
  bool alone = name[0] == '/' || folder[0] == '\0';
  NOLI_NEW(context, *path, (int64_t)size);
  snprintf(*path, size, "%s%s%s", alone ? "" : folder, alone ? "" : "/", name);
done:
  return status;
}

// The last word of the line: options may stand before the name of a picture.
static NoliSpan last_word(NoliCursor* cursor) {
  NoliSpan last = {0};
  for (NoliSpan word = noli_next_word(cursor); word.n > 0; word = noli_next_word(cursor)) {
    last = word;
  }
  return last;
}

static NoliStatus read_property(NoliExchange* exchange, NoliCursor* cursor, NoliSpan key,
                                const char* folder, NoliExchangeMaterial* material) {
  NoliStatus status = NOLI_OK;
  char* name = NULL;
  if (noli_span_is(key, "Kd")) {
    double value[3];
    material->has_colour = noli_read_position_here(cursor, value) == NOLI_OK;
    for (int k = 0; material->has_colour && k < 3; k++) {
      material->colour[k] = (float)(value[k] < 0.0 ? 0.0 : value[k] > 1.0 ? 1.0 : value[k]);
    }
  } else if (noli_span_is(key, "map_Kd") && material->texture == NULL) {
    NoliSpan word = last_word(cursor);
    NOLI_NEW(exchange->context, name, word.n + 1);
    memcpy(name, word.at, (size_t)word.n);
    name[word.n] = '\0';
    NOLI_TRY(word.n > 0 ? looks_join(exchange->context, folder, name, &material->texture)
                        : NOLI_OK);
  }
done:
  noli_free(exchange->context, name);
  return status;
}

// Reads a file of materials into those that carry its path. A file that is missing changes nothing.
static NoliStatus read_library(NoliExchange* exchange, const char* path, const char* folder,
                               int64_t first) {
  NoliStatus status = NOLI_OK;
  NoliCursor cursor = {0};
  NoliExchangeMaterial* material = NULL;
  if (noli_file_exists(path)) {
    status = noli_cursor_open(exchange->context, path, &cursor);
    status = status == NOLI_ERROR_MEMORY ? status : NOLI_OK;
  }

  for (; cursor.at < cursor.end; noli_skip_line(&cursor)) {
    NoliSpan key = noli_next_word(&cursor);
    if (!noli_span_is(key, "newmtl")) {
      NOLI_TRY(material != NULL ? read_property(exchange, &cursor, key, folder, material)
                                : NOLI_OK);
      continue;
    }
    noli_skip_blank(&cursor);
    const char* end = cursor.at;
    while (end < cursor.end && *end != '\n') {
      end++;
    }
    while (end > cursor.at && noli_is_blank(end[-1])) {
      end--;
    }
    material = NULL;
    for (int64_t m = first; m < exchange->materials.count; m++) {
      NoliExchangeMaterial* one = &exchange->materials.data[m];
      material = noli_span_is((NoliSpan){cursor.at, end - cursor.at}, one->name) ? one : material;
    }
  }
done:
  noli_free(exchange->context, cursor.text);
  return status;
}

static bool looks_is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_taken(const NoliExchange* exchange, const char* identifier, int64_t n_materials) {
  for (int64_t m = 0; m < n_materials; m++) {
    if (strcmp(exchange->materials.data[m].identifier, identifier) == 0) {
      return true;
    }
  }
  return false;
}

// A name as identifier, unlike those of shapes and of materials before.
static NoliStatus identify(NoliExchange* exchange, int64_t m) {
  NoliStatus status = NOLI_OK;
  NoliExchangeMaterial* material = &exchange->materials.data[m];
  size_t size = strlen(material->name) + 32;
  char* of_shape = NULL;
  noli_free(exchange->context, material->identifier);
  NOLI_NEW(exchange->context, material->identifier, (int64_t)size);
  int n = snprintf(material->identifier, size, "%s%s",
                   looks_is_letter(material->name[0]) ? "" : "_", material->name);
  for (int i = 0; i < n; i++) {
    char* c = &material->identifier[i];
    *c = looks_is_letter(*c) || noli_is_digit(*c) ? *c : '_';
  }
  bool taken = is_taken(exchange, material->identifier, m);
  for (int32_t s = 0; !taken && s < exchange->n_shapes; s++) {
    NOLI_TRY(noli_exchange_identifier(exchange, s, &of_shape));
    taken = strcmp(of_shape, material->identifier) == 0;
    noli_free(exchange->context, of_shape);
    of_shape = NULL;
  }

  if (taken) {
    snprintf(material->identifier + n, size - (size_t)n, "__m%lld", (long long)m);
  }
done:
  noli_free(exchange->context, of_shape);
  return status;
}

static int32_t looks_find_material(const NoliExchange* exchange, const char* name,
                                   const char* library) {
  for (int64_t m = 0; m < exchange->materials.count; m++) {
    const NoliExchangeMaterial* one = &exchange->materials.data[m];
    if (strcmp(one->name, name) == 0 && strcmp(one->library, library) == 0) {
      return (int32_t)m;
    }
  }
  return NOLI_NULL_INDEX;
}

static NoliStatus add_material(NoliExchange* exchange, const char* name, const char* library) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(exchange->context, &exchange->materials, ((NoliExchangeMaterial){0}));
  NoliExchangeMaterial* made = &exchange->materials.data[exchange->materials.count - 1];
  made->name = noli_strdup(exchange->context, name);
  made->library = noli_strdup(exchange->context, library);
  made->identifier = noli_strdup(exchange->context, "");
  NOLI_CHECK(exchange->context,
             made->name != NULL && made->library != NULL && made->identifier != NULL,
             NOLI_ERROR_MEMORY, "out of memory");
  NOLI_TRY(identify(exchange, exchange->materials.count - 1));
done:
  return status;
}

// The materials of a file, as materials of the exchange, `number` (n): those of one library, or of
// one folder, are there once.
static NoliStatus add_materials(NoliExchange* exchange, const NoliSceneLooks* looks,
                                int32_t* number) {
  NoliStatus status = NOLI_OK;
  const NoliMeshLooks* from = &looks->looks;
  char *path = NULL, *library = NULL;
  int64_t first = exchange->materials.count;
  NOLI_TRY(looks_join(exchange->context, looks->folder,
                      from->libraries.count > 0 ? from->libraries.data[0] : "", &library));
  for (int64_t i = 0; i < from->materials.count; i++) {
    number[i] = looks_find_material(exchange, from->materials.data[i], library);
    if (number[i] == NOLI_NULL_INDEX) {
      NOLI_TRY(add_material(exchange, from->materials.data[i], library));
      number[i] = (int32_t)exchange->materials.count - 1;
    }
  }
  for (int64_t k = 0; first < exchange->materials.count && k < from->libraries.count; k++) {
    NOLI_TRY(looks_join(exchange->context, looks->folder, from->libraries.data[k], &path));
    NOLI_TRY(read_library(exchange, path, looks->folder, first));
    noli_free(exchange->context, path);
    path = NULL;
  }
done:
  noli_free(exchange->context, path);
  noli_free(exchange->context, library);
  return status;
}

// The groups of a file; `*first` is where they begin.
static NoliStatus add_groups(NoliExchange* exchange, const NoliMeshLooks* from, int64_t* first) {
  NoliStatus status = NOLI_OK;
  *first = exchange->groups.count;
  for (int64_t i = 0; i < from->groups.count; i++) {
    NOLI_PUSH(exchange->context, &exchange->groups, NULL);
    char** name = &exchange->groups.data[*first + i];
    *name = noli_strdup(exchange->context, from->groups.data[i]);
    NOLI_CHECK(exchange->context, *name != NULL, NOLI_ERROR_MEMORY, "out of memory");
  }
done:
  return status;
}

// ---- shapes -------------------------------------------------------------------------------------

// The triangles of a file that a shape has.
typedef struct Found {
  int32_t* triangle; // (n) of the file
  int32_t* place;    // (n x 3) of the corners
  int32_t* key;      // (n x 2) material and group, from 0 on: 0 is none
  int32_t* order;    // (n)
} Found;

static void find_all(const Search* search, const NoliShape* shape, Found* found) {
  const NoliMeshLooks* looks = &search->looks->looks;
  for (int64_t t = 0; t < shape->n[NOLI_SHAPE_TRIANGLES]; t++) {
    int32_t* place = found->place + 3 * t;
    bool known = true;
    for (int k = 0; k < 3; k++) {
      int32_t vertex = shape->primitive[NOLI_SHAPE_TRIANGLES][3 * t + k];
      place[k] = looks_place_of(search, shape->body, shape->vertex[vertex]);
      known = known && place[k] != NOLI_NULL_INDEX;
    }
    int32_t own = known ? find_triangle(search, place) : NOLI_NULL_INDEX;
    found->triangle[t] = own;
    found->key[2 * t] = own != NOLI_NULL_INDEX ? looks->material[own] + 1 : 0;
    found->key[2 * t + 1] = own != NOLI_NULL_INDEX ? looks->group[own] + 1 : 0;
  }
}

// Triangles in the order of their parts.
static NoliStatus order_triangles(NoliContext* context, NoliShape* shape, Found* found) {
  NoliStatus status = NOLI_OK;
  int32_t n = shape->n[NOLI_SHAPE_TRIANGLES];
  int32_t *primitive = NULL, *triangle = NULL, *place = NULL;
  NOLI_TRY(noli_sort_tuples(context, found->key, 2, n, found->order));
  NOLI_NEW(context, primitive, 3 * (int64_t)n);
  NOLI_NEW(context, triangle, n);
  NOLI_NEW(context, place, 3 * (int64_t)n);
  for (int64_t t = 0; t < n; t++) {
    int64_t from = found->order[t];
    memcpy(primitive + 3 * t, shape->primitive[NOLI_SHAPE_TRIANGLES] + 3 * from,
           3 * sizeof *primitive);
    memcpy(place + 3 * t, found->place + 3 * from, 3 * sizeof *place);
    triangle[t] = found->triangle[from];
  }

  noli_free(context, shape->primitive[NOLI_SHAPE_TRIANGLES]);
  noli_free(context, found->triangle);
  noli_free(context, found->place);
  shape->primitive[NOLI_SHAPE_TRIANGLES] = primitive;
  found->triangle = triangle;
  found->place = place;
  primitive = triangle = place = NULL;
done:
  noli_free(context, primitive);
  noli_free(context, triangle);
  noli_free(context, place);
  return status;
}

static NoliStatus make_parts(NoliExchange* exchange, NoliShape* shape, const Found* found,
                             const int32_t* material, int64_t first_group) {
  NoliStatus status = NOLI_OK;
  int32_t n = shape->n[NOLI_SHAPE_TRIANGLES], n_parts = 0;
  for (int64_t t = 0; t < n; t++) {
    const int32_t* key = found->key + 2 * (int64_t)found->order[t];
    n_parts +=
        t == 0 || noli_compare_tuples(key, found->key + 2 * (int64_t)found->order[t - 1], 2) != 0;
  }
  NOLI_NEW_ZERO(exchange->context, shape->part, n_parts);
  for (int32_t t = 0; t < n; t++) {
    const int32_t* key = found->key + 2 * (int64_t)found->order[t];
    if (t == 0 || noli_compare_tuples(key, found->key + 2 * (int64_t)found->order[t - 1], 2) != 0) {
      shape->part[shape->n_parts++] = (NoliShapePart){
          .material = key[0] > 0 ? material[key[0] - 1] : NOLI_NULL_INDEX,
          .group = key[1] > 0 ? exchange->groups.data[first_group + key[1] - 1] : NULL,
          .first = t};
    }
    shape->part[shape->n_parts - 1].n++;
  }
done:
  return status;
}

// The texture coordinate of a corner at a place of a triangle of the file.
static int32_t uv_at(const Search* search, int32_t triangle, int32_t place) {
  for (int64_t k = 3 * (int64_t)triangle;
       triangle != NOLI_NULL_INDEX && k < 3 * (int64_t)triangle + 3; k++) {
    if (search->places.number[k] == place) {
      return search->looks->looks.corner_uv[k];
    }
  }
  return NOLI_NULL_INDEX;
}

// Corners without a texture coordinate have one of zeros, behind those of the file.
static NoliStatus take_uv(NoliExchange* exchange, const Search* search, NoliShape* shape,
                          const Found* found) {
  NoliStatus status = NOLI_OK;
  const NoliMeshLooks* looks = &search->looks->looks;
  int64_t n = 3 * (int64_t)shape->n[NOLI_SHAPE_TRIANGLES], n_uv = looks->uv.count / 2;
  bool any = false, all = true;
  if (n_uv == 0) {
    return NOLI_OK;
  }
  NOLI_CHECK(exchange->context, n_uv < INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "too many texture coordinates");
  NOLI_NEW(exchange->context, shape->corner_uv, n);
  for (int64_t i = 0; i < n; i++) {
    shape->corner_uv[i] = uv_at(search, found->triangle[i / 3], found->place[i]);
    bool has = shape->corner_uv[i] != NOLI_NULL_INDEX;
    shape->corner_uv[i] = has ? shape->corner_uv[i] : (int32_t)n_uv;
    any = any || has;
    all = all && has;
  }

  if (!any) {
    noli_free(exchange->context, shape->corner_uv);
    shape->corner_uv = NULL;
    goto done;
  }

  NOLI_NEW_ZERO(exchange->context, shape->uv, 2 * (n_uv + 1));
  for (int64_t i = 0; i < 2 * n_uv; i++) {
    shape->uv[i] = (float)looks->uv.data[i];
  }
  shape->n_uv = (int32_t)n_uv + (all ? 0 : 1);
done:
  return status;
}

// Pairs of a vertex and a texture coordinate, numbered: the first one of a vertex has its number.
static NoliStatus split_vertices(NoliContext* context, NoliShape* shape) {
  NoliStatus status = NOLI_OK;
  int32_t n = 3 * shape->n[NOLI_SHAPE_TRIANGLES];
  int32_t *pair = NULL, *order = NULL;
  if (shape->n_uv == 0) {
    return NOLI_OK;
  }
  NOLI_NEW(context, pair, 2 * (int64_t)n);
  NOLI_NEW(context, order, n);
  NOLI_NEW(context, shape->split_vertex, (int64_t)shape->n_vert + n);
  NOLI_NEW_ZERO(context, shape->split_uv, (int64_t)shape->n_vert + n);
  NOLI_NEW(context, shape->split_corner, n);
  for (int64_t i = 0; i < n; i++) {
    pair[2 * i] = shape->primitive[NOLI_SHAPE_TRIANGLES][i];
    pair[2 * i + 1] = shape->corner_uv[i];
  }
  for (int32_t v = 0; v < shape->n_vert; v++) {
    shape->split_vertex[v] = v;
  }
  NOLI_TRY(noli_sort_tuples(context, pair, 2, n, order));
  int32_t now = 0;

  for (int64_t i = 0; i < n; i++) {
    const int32_t* own = pair + 2 * (int64_t)order[i];
    const int32_t* before = i > 0 ? pair + 2 * (int64_t)order[i - 1] : NULL;
    if (before == NULL || noli_compare_tuples(own, before, 2) != 0) {
      bool is_first = before == NULL || before[0] != own[0];
      now = is_first ? own[0] : shape->n_vert + shape->n_split++;
      shape->split_vertex[now] = own[0];
      shape->split_uv[now] = own[1];
    }
    shape->split_corner[order[i]] = now;
  }
done:
  noli_free(context, pair);
  noli_free(context, order);
  return status;
}

static NoliStatus dress(NoliExchange* exchange, const NoliSceneLooks* looks, NoliShape* shape) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = exchange->context;
  Search search = {.exchange = exchange, .looks = looks};
  Found found = {0};
  int64_t n = shape->n[NOLI_SHAPE_TRIANGLES], first_group;
  int32_t* material = NULL;
  NOLI_TRY(begin_search(context, &search));
  NOLI_NEW(context, found.triangle, n);
  NOLI_NEW(context, found.place, 3 * n);
  NOLI_NEW(context, found.key, 2 * n);
  NOLI_NEW(context, found.order, n);
  find_all(&search, shape, &found);
  NOLI_TRY(order_triangles(context, shape, &found));
  NOLI_NEW(context, material, looks->looks.materials.count);
  NOLI_TRY(add_materials(exchange, looks, material));
  NOLI_TRY(add_groups(exchange, &looks->looks, &first_group));
  NOLI_TRY(make_parts(exchange, shape, &found, material, first_group));
  NOLI_TRY(take_uv(exchange, &search, shape, &found));
  NOLI_TRY(split_vertices(context, shape));
done:
  release_search(context, &search);
  noli_free(context, material);
  noli_free(context, found.triangle);
  noli_free(context, found.place);
  noli_free(context, found.key);
  noli_free(context, found.order);
  return status;
}

NoliStatus noli_exchange_read_looks(NoliExchange* exchange) {
  NoliStatus status = NOLI_OK;
  NoliSceneLooks looks = {0};
  for (int32_t s = 0; s < exchange->n_shapes; s++) {
    NoliShape* shape = &exchange->shape[s];
    if (shape->n[NOLI_SHAPE_TRIANGLES] > 0) {
      NOLI_TRY(noli_scene_read_looks(exchange->run.scene, shape->body, &looks));
      NOLI_TRY(looks.looks.n_tri > 0 ? dress(exchange, &looks, shape) : NOLI_OK);
      noli_scene_free_looks(exchange->context, &looks);
    }
    shape->n_split += shape->n_vert;
  }
done:
  noli_scene_free_looks(exchange->context, &looks);
  return status;
}

void noli_exchange_free_looks(NoliExchange* exchange) {
  NoliContext* context = exchange->context;
  for (int32_t s = 0; s < exchange->n_shapes; s++) {
    noli_free(context, exchange->shape[s].part);
    noli_free(context, exchange->shape[s].uv);
    noli_free(context, exchange->shape[s].corner_uv);
    noli_free(context, exchange->shape[s].split_vertex);
    noli_free(context, exchange->shape[s].split_uv);
    noli_free(context, exchange->shape[s].split_corner);
  }
  for (int64_t m = 0; m < exchange->materials.count; m++) {
    const NoliExchangeMaterial* material = &exchange->materials.data[m];
    noli_free(context, material->name);
    noli_free(context, material->identifier);
    noli_free(context, material->library);
    noli_free(context, material->texture);
  }
  for (int64_t g = 0; g < exchange->groups.count; g++) {
    noli_free(context, exchange->groups.data[g]);
  }
  noli_array_free(context, &exchange->materials);
  noli_array_free(context, &exchange->groups);
}

bool noli_shape_has_material(const NoliShape* shape) {
  bool has = shape->n_parts == 0 || shape->n[NOLI_SHAPE_SEGMENTS] + shape->n[NOLI_SHAPE_POINTS] > 0;
  for (int32_t p = 0; p < shape->n_parts; p++) {
    has = has || shape->part[p].material == NOLI_NULL_INDEX;
  }
  return has;
}

const float* noli_exchange_material_colour(const NoliExchange* exchange, int32_t material) {
  const NoliExchangeMaterial* own = &exchange->materials.data[material];
  for (int32_t s = 0; !own->has_colour && s < exchange->n_shapes; s++) {
    for (int32_t k = 0; k < exchange->shape[s].n_parts; k++) {
      if (exchange->shape[s].part[k].material == material) {
        return exchange->shape[s].colour;
      }
    }
  }
  return own->colour;
}
