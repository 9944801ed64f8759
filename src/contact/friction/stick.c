#include "contact/friction/stick.h"

#include "base/ranks.h"
#include "base/sort.h"

#include "contact/friction/direction.h"

#include <string.h>

// A slip that is closer to the normal than this sine belongs to another side of an edge.
#define NEARLY_NORMAL 0.1

// ---- rotations ----------------------------------------------------------------------------------

NoliStatus noli_stick_create(NoliContext* context, const NoliVertexTurns* turns,
                             NoliStickTable* table) {
  NoliStatus status = NOLI_OK;
  int32_t n_vert = turns->n_vert;
  table->n_vert = n_vert;
  table->turns = turns;
  NOLI_NEW_ZERO(context, table->x, 3 * (int64_t)n_vert);
  NOLI_TRY(noli_array_reserve(context, &table->first, n_vert + 1));
  memset(table->first.data, 0, ((size_t)n_vert + 1) * sizeof *table->first.data);
  table->first.count = n_vert + 1;
done:
  return status;
}

void noli_stick_free(NoliContext* context, NoliStickTable* table) {
  noli_array_free(context, &table->first);
  noli_array_free(context, &table->contact);
  noli_array_free(context, &table->key);
  noli_array_free(context, &table->value);
  noli_array_free(context, &table->slid);
  noli_free(context, table->x);
  table->x = NULL;
}

NoliMat3 noli_stick_rotation(const NoliStickTable* table, int32_t a, int32_t b, const double* x) {
  NoliMat3 first = noli_vertex_turn(table->turns, a, table->x, x);
  NoliMat3 second =
      b != NOLI_NULL_INDEX ? noli_vertex_turn(table->turns, b, table->x, x) : noli_identity3();
  return noli_scale33(0.5, noli_add33(first, second));
}

bool noli_stick_keeps_length(double length, double in_plane) {
  return in_plane > NEARLY_NORMAL * length;
}

NoliVec3 noli_stick_in_plane(NoliVec3 slip, NoliVec3 normal) {
  NoliVec3 flat = noli_mul_add3(slip, -noli_dot3(slip, normal), normal);
  double length = noli_norm3(slip), left = noli_norm3(flat);
  return noli_stick_keeps_length(length, left) ? noli_scale3(length / left, flat) : flat;
}

// ---- keys ---------------------------------------------------------------------------------------

static int64_t stick_pack(int32_t high, int32_t low) {
  return (int64_t)((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
}

static int32_t high_of(int64_t word) {
  return (int32_t)(uint32_t)((uint64_t)word >> 32);
}

static int32_t low_of(int64_t word) {
  return (int32_t)(uint32_t)((uint64_t)word & UINT32_MAX);
}

void noli_stick_key(const int32_t node[4], const int32_t entity[2], int32_t n_first,
                    int64_t key[NOLI_STICK_WORDS]) {
  key[0] = stick_pack(node[0], node[1]);
  key[1] = stick_pack(node[2], node[3]);
  key[2] = stick_pack(4 * entity[0] + n_first, entity[1]);
}

void noli_stick_unpack(const int64_t key[NOLI_STICK_WORDS], int32_t node[4], int32_t entity[2],
                       int32_t* n_first) {
  node[0] = high_of(key[0]);
  node[1] = low_of(key[0]);
  node[2] = high_of(key[1]);
  node[3] = low_of(key[1]);
  entity[0] = high_of(key[2]) / 4;
  entity[1] = low_of(key[2]);
  *n_first = high_of(key[2]) % 4;
}

static int compare_keys(const void* one, const void* other) {
  const int64_t *a = one, *b = other;
  for (int32_t k = 0; k < NOLI_STICK_WORDS; k++) {
    if (a[k] != b[k]) {
      return a[k] < b[k] ? -1 : 1;
    }
  }
  return 0;
}

static int compare_key_of_stick(const void* key, const void* stick) {
  return compare_keys(key, ((const NoliStick*)stick)->key);
}

static int compare_sticks(const void* one, const void* other) {
  const NoliStick *a = one, *b = other;
  int order = compare_keys(a->key, b->key);
  const double numbers[2][5] = {{a->force, a->slip.x, a->slip.y, a->slip.z, a->path},
                                {b->force, b->slip.x, b->slip.y, b->slip.z, b->path}};
  for (int k = 0; k < 5 && order == 0; k++) {
    order = noli_order_of_doubles(numbers[0][k], numbers[1][k]);
  }
  return order;
}

void noli_stick_sort(NoliStickList* list) {
  noli_sort(list->data, list->count, sizeof *list->data, compare_sticks);
}

int64_t noli_stick_row(const NoliStickList* list, const int64_t key[NOLI_STICK_WORDS]) {
  const NoliStick* found =
      noli_find_sorted(key, list->data, list->count, sizeof *list->data, compare_key_of_stick);
  return found != NULL ? found - list->data : NOLI_NULL_INDEX;
}

// ---- the contacts of the state ------------------------------------------------------------------

static int32_t node_count(const int32_t node[4]) {
  int32_t n = 0;
  while (n < 4 && node[n] != NOLI_NULL_INDEX) {
    n++;
  }
  return n;
}

NoliStatus noli_stick_begin(NoliStickTable* table, NoliContext* context, const double* x, int64_t n,
                            const int64_t* key, const double* value, const NoliStickList* former) {
  NoliStatus status = NOLI_OK;
  int32_t node[4], entity[2], n_first;
  NOLI_ASSERT(former == NULL || former->count == n);
  memcpy(table->x, x, 3 * sizeof *x * (size_t)table->n_vert);
  NOLI_TRY(noli_array_reserve(context, &table->key, NOLI_STICK_WORDS * n));
  NOLI_TRY(noli_array_reserve(context, &table->value, NOLI_STICK_NUMBERS * n));
  NOLI_TRY(noli_array_reserve(context, &table->slid, n));
  if (n > 0) {
    memcpy(table->key.data, key, NOLI_STICK_WORDS * sizeof *key * (size_t)n);
    memcpy(table->value.data, value, NOLI_STICK_NUMBERS * sizeof *value * (size_t)n);
  }
  for (int64_t i = 0; i < n; i++) {
    table->slid.data[i] = former != NULL ? former->data[i].slid : 0.0;
  }

  // the rows of vertices
  NOLI_TRY(noli_array_reserve(context, &table->contact, 4 * n));
  int64_t* first = table->first.data;
  memset(first, 0, (size_t)table->first.count * sizeof *first);
  for (int64_t i = 0; i < n; i++) {
    noli_stick_unpack(key + NOLI_STICK_WORDS * i, node, entity, &n_first);
    NOLI_CHECK(context, value[NOLI_STICK_NUMBERS * i + 3] > 0.0, NOLI_ERROR_ARGUMENT,
               "the state: contact %lld that sticks has no normal force", (long long)i);
    for (int32_t k = 0; k < node_count(node); k++) {
      NOLI_CHECK(context, node[k] >= 0 && node[k] < table->n_vert, NOLI_ERROR_ARGUMENT,
                 "the state: contact %lld that sticks names vertex %d, there are %d", (long long)i,
                 (int)node[k], (int)table->n_vert);
      first[node[k] + 1]++;
    }
  }
  for (int32_t v = 0; v < table->n_vert; v++) {
    first[v + 1] += first[v];
  }
  table->contact.count = first[table->n_vert];
  for (int64_t i = n - 1; i >= 0; i--) {
    noli_stick_unpack(key + NOLI_STICK_WORDS * i, node, entity, &n_first);
    for (int32_t k = 0; k < node_count(node); k++) {
      table->contact.data[--first[node[k] + 1]] = i;
    }
  }

  // each row now begins one place too late in the list of beginnings
  memmove(first, first + 1, (size_t)table->n_vert * sizeof *first);
  first[table->n_vert] = table->contact.count;
done:
  table->n = status == NOLI_OK ? n : 0;
  return status;
}

// The stencil of a contact.
typedef struct Place {
  int32_t node[4];
  int32_t entity[2];
  int32_t n; // vertices, of the first side the first `n_first`
  int32_t n_first;
} Place;

static Place place_of(const int64_t key[NOLI_STICK_WORDS]) {
  Place place;
  noli_stick_unpack(key, place.node, place.entity, &place.n_first);
  place.n = node_count(place.node);
  return place;
}

// How many vertices of side `k` of one stencil are in side `l` of another.
static int32_t shared(const Place* a, int32_t k, const Place* b, int32_t l) {
  int32_t n = 0;
  for (int32_t i = k == 0 ? 0 : a->n_first; i < (k == 0 ? a->n_first : a->n); i++) {
    for (int32_t j = l == 0 ? 0 : b->n_first; j < (l == 0 ? b->n_first : b->n); j++) {
      n += a->node[i] == b->node[j] ? 1 : 0;
    }
  }
  return n;
}

// The share of a new stencil that a former one has, 0 if they are not at the same place, with the
// sides of the former one in this order, or exchanged.
static double share_of(const Place* made, const Place* former, bool exchanged) {
  if (made->entity[0] != former->entity[exchanged ? 1 : 0] ||
      made->entity[1] != former->entity[exchanged ? 0 : 1]) {
    return 0.0;
  }
  int32_t first = shared(made, 0, former, exchanged ? 1 : 0);
  int32_t second = shared(made, 1, former, exchanged ? 0 : 1);
  int32_t n_second = made->n - made->n_first;
  bool same_vertex = (made->n_first == 1 && first == 1) || (n_second == 1 && second == 1);
  if (!same_vertex && (first == 0 || second == 0)) {
    return 0.0;
  }
  return (double)first / made->n_first + (n_second > 0 ? (double)second / n_second : 0.0);
}

// The inheritance of a new stencil: sums over the former ones that share the most with it.
typedef struct Legacy {
  double share;
  double force;
  NoliVec3 slip;    // times the force
  NoliStickWay way; // times the force
  // which these are, if they are wanted; there is room for all
  NoliStickSource* source;
  int64_t n_source;
} Legacy;

static void inherit(const NoliStickTable* table, const Place* made, int64_t i, Legacy* legacy) {
  Place former = place_of(table->key.data + NOLI_STICK_WORDS * i);
  double straight = share_of(made, &former, false), exchanged = share_of(made, &former, true);
  double share = fmax(straight, exchanged);
  if (share == 0.0 || share < legacy->share) {
    return;
  }
  if (share > legacy->share) {
    *legacy = (Legacy){.share = share, .source = legacy->source};
  }
  const double* value = table->value.data + NOLI_STICK_NUMBERS * i;
  double force = value[3], sign = exchanged > straight ? -1.0 : 1.0;
  legacy->force += force;
  legacy->slip = noli_mul_add3(legacy->slip, sign * force, noli_load3(value));
  legacy->way.path += force * value[4];
  legacy->way.slid += force * table->slid.data[i];
  if (legacy->source != NULL) {
    legacy->source[legacy->n_source++] = (NoliStickSource){i, sign, force};
  }
}

// Whether a former contact is met for the first time at vertex k of the new one.
static bool is_first_meeting(const NoliStickTable* table, const Place* made, int32_t k, int64_t i) {
  Place former = place_of(table->key.data + NOLI_STICK_WORDS * i);
  for (int32_t j = 0; j < k; j++) {
    for (int32_t l = 0; l < former.n; l++) {
      if (made->node[j] == former.node[l]) {
        return false;
      }
    }
  }
  return true;
}

// The contact of the state with this stencil; NOLI_NULL_INDEX: it is new.
static int64_t find_row(const NoliStickTable* table, const int64_t key[NOLI_STICK_WORDS]) {
  const int64_t* found = noli_find_sorted(key, table->key.data, table->n,
                                          NOLI_STICK_WORDS * sizeof *key, compare_keys);
  return found != NULL ? (found - table->key.data) / NOLI_STICK_WORDS : NOLI_NULL_INDEX;
}

static void inherit_all(const NoliStickTable* table, const Place* made, Legacy* legacy) {
  for (int32_t k = 0; k < made->n; k++) {
    int64_t begin = table->first.data[made->node[k]], end = table->first.data[made->node[k] + 1];
    for (int64_t r = begin; r < end; r++) {
      if (is_first_meeting(table, made, k, table->contact.data[r])) {
        inherit(table, made, table->contact.data[r], legacy);
      }
    }
  }
}

NoliStatus noli_stick_sources(const NoliStickTable* table, NoliContext* context,
                              const int32_t node[4], const int32_t entity[2], int32_t n_first,
                              NoliStickSources* sources) {
  NoliStatus status = NOLI_OK;
  int64_t key[NOLI_STICK_WORDS], room = 1;
  noli_stick_key(node, entity, n_first, key);
  int64_t row = find_row(table, key);
  Place made = place_of(key);
  for (int32_t k = 0; k < made.n; k++) {
    room += table->first.data[made.node[k] + 1] - table->first.data[made.node[k]];
  }
  NOLI_TRY(noli_array_reserve(context, sources, room));
  sources->count = 0;
  if (row != NOLI_NULL_INDEX) {
    const double* value = table->value.data + NOLI_STICK_NUMBERS * row;
    sources->data[sources->count++] = (NoliStickSource){row, 1.0, value[3]};
    goto done;
  }
  Legacy legacy = {.source = sources->data};
  inherit_all(table, &made, &legacy);
  sources->count = legacy.n_source;
done:
  return status;
}

NoliVec3 noli_stick_find(const NoliStickTable* table, const int32_t node[4],
                         const int32_t entity[2], int32_t n_first, NoliStickWay* way) {
  int64_t key[NOLI_STICK_WORDS];
  noli_stick_key(node, entity, n_first, key);
  int64_t row = find_row(table, key);
  if (row != NOLI_NULL_INDEX) {
    const double* value = table->value.data + NOLI_STICK_NUMBERS * row;
    *way = (NoliStickWay){value[4], table->slid.data[row]};
    return noli_load3(value);
  }

  // a new stencil
  Place made = place_of(key);
  Legacy legacy = {0};
  inherit_all(table, &made, &legacy);
  double scale = legacy.force > 0.0 ? 1.0 / legacy.force : 0.0;
  *way = (NoliStickWay){scale * legacy.way.path, scale * legacy.way.slid};
  return noli_scale3(scale, legacy.slip);
}

// ---- friction -----------------------------------------------------------------------------------

// The stencil of contact i of a set as the key has it: of smooth surfaces, whose patches are of any
// size, the vertex alone.
static void stencil_of_set(const NoliFrictionSet* set, int64_t i, int32_t node[4]) {
  NoliFrictionStencil stencil = noli_friction_stencil(set, i);
  int32_t n = set->contact.data[i].by_vertex ? 1 : stencil.size;
  for (int32_t k = 0; k < 4; k++) {
    node[k] = k < n ? stencil.node[k] : NOLI_NULL_INDEX;
  }
}

// Its number of nodes.
static int32_t size_of(const NoliFrictionSet* set, int64_t i) {
  NoliFrictionStencil stencil = noli_friction_stencil(set, i);
  return set->first.count > 0 ? stencil.size : node_count(stencil.node);
}

int32_t noli_stick_nearest(const int32_t* node, const double* weight, int64_t begin, int64_t end) {
  int32_t found = NOLI_NULL_INDEX;
  double largest = -1.0;
  for (int64_t k = begin; k < end && node[k] != NOLI_NULL_INDEX; k++) {
    if (fabs(weight[k]) > largest) {
      largest = fabs(weight[k]);
      found = node[k];
    }
  }
  return found;
}

double noli_stick_sign(const double* weight, int32_t n_first) {
  double sum = 0.0;
  for (int32_t k = 0; k < n_first; k++) {
    sum += weight[k];
  }
  return sum < 0.0 ? -1.0 : 1.0;
}

static double sign_of(const NoliFrictionSet* set, int64_t i) {
  return noli_stick_sign(noli_friction_stencil(set, i).weight, set->contact.data[i].n_first);
}

static NoliMat3 rotation_of(const NoliStickTable* table, const NoliFrictionSet* set, int64_t i,
                            const double* x) {
  NoliFrictionStencil of = noli_friction_stencil(set, i);
  int32_t n_first = set->contact.data[i].n_first;
  return noli_stick_rotation(table, noli_stick_nearest(of.node, of.weight, 0, n_first),
                             noli_stick_nearest(of.node, of.weight, n_first, of.size), x);
}

NoliVec3 noli_stick_slip(const NoliStickTable* table, const int32_t node[4],
                         const int32_t entity[2], int32_t n_first, int32_t a, int32_t b,
                         NoliVec3 normal, const double* x) {
  NoliStickWay way;
  NoliVec3 slip = noli_stick_find(table, node, entity, n_first, &way);
  if (noli_norm_sqr3(slip) == 0.0) {
    return slip;
  }
  NoliMat3 turn = noli_stick_rotation(table, a, b, x);
  return noli_stick_in_plane(noli_mul33_vec(&turn, slip), normal);
}

NoliSlidingLaw noli_stick_or_velocity_law(const NoliFrictionLaw* law, const NoliStickTable* stick,
                                          double eps_v, double h_v) {
  if (stick == NULL) {
    return noli_sliding_law(law, eps_v, h_v);
  }
  NoliSlidingLaw made = noli_stick_law(law, stick->length, stick->duration);
  made.drag = law->mu_v / stick->duration;
  return made;
}

void noli_stick_attach(const NoliStickTable* table, const double* x, NoliFrictionSet* set) {
  for (int64_t i = 0; i < set->contact.count; i++) {
    NoliFrictionContact* contact = &set->contact.data[i];
    int32_t node[4];
    stencil_of_set(set, i, node);
    NoliVec3 held = noli_stick_find(table, node, contact->entity, contact->n_first, &contact->way);
    contact->slip = noli_scale3(sign_of(set, i), held);
    if (noli_norm_sqr3(contact->slip) == 0.0) {
      contact->offset[0] = contact->offset[1] = 0.0;
      continue;
    }
    NoliMat3 turn = rotation_of(table, set, i, x);
    NoliVec3 normal = noli_cross3(contact->t[0], contact->t[1]);
    NoliVec3 slip = noli_stick_in_plane(noli_mul33_vec(&turn, contact->slip), normal);
    contact->offset[0] = noli_dot3(contact->t[0], slip);
    contact->offset[1] = noli_dot3(contact->t[1], slip);
  }
}

// sum_i w_i x_i
static NoliVec3 gap_of(const NoliFrictionSet* set, int64_t i, const double* x) {
  NoliFrictionStencil of = noli_friction_stencil(set, i);
  NoliVec3 gap = {0.0, 0.0, 0.0};
  for (int32_t k = 0; k < size_of(set, i); k++) {
    gap = noli_mul_add3(gap, of.weight[k], noli_load3(x + 3 * (int64_t)of.node[k]));
  }
  return gap;
}

// What t v is beyond the displacement of the step, in the plane of a contact, times the factors.
static NoliVec3 beyond_displacement(const NoliFrictionContact* contact, const double u[2],
                                    NoliVec3 moved) {
  double beyond[2];
  for (int k = 0; k < 2; k++) {
    double counted = contact->factor[k] * noli_dot3(contact->t[k], moved);
    beyond[k] = u[k] - contact->offset[k] - counted;
  }
  return noli_add3(noli_scale3(beyond[0], contact->t[0]), noli_scale3(beyond[1], contact->t[1]));
}

// The displacement of a contact at the end of the step times its factors, which turn with it.
static NoliVec3 factored_at_end(const NoliFrictionContact* contact, bool late, const NoliMat3* turn,
                                NoliVec3 moved) {
  bool same = late || (contact->factor[0] == 1.0 && contact->factor[1] == 1.0);
  return same ? noli_friction_factored(contact, moved)
              : noli_mul33_vec(
                    turn, noli_friction_factored(contact, noli_transpose_mul33_vec(turn, moved)));
}

// How far a contact slides where the part `plastic` of u is beyond its limit: without factors.
static double distance_slid(const NoliFrictionContact* contact, double plastic, const double u[2],
                            NoliVec3 moved) {
  double slid[2];
  for (int k = 0; k < 2; k++) {
    double factor = contact->factor[k];
    slid[k] = factor > 0.0 ? plastic * u[k] / factor : noli_dot3(contact->t[k], moved);
  }
  return sqrt(slid[0] * slid[0] + slid[1] * slid[1]);
}

// (2) and (3) of the header for contact i.
static NoliStick slip_after(const NoliStickTable* table, const NoliFriction* data, int64_t i,
                            const double* x, double scale, bool late) {
  const NoliFrictionSet* set = data->set;
  const NoliFrictionContact* contact = &set->contact.data[i];
  double u[2];
  noli_friction_sliding(data, i, x, u);
  double y = sqrt(u[0] * u[0] + u[1] * u[1]);
  double plastic = y > table->length ? 1.0 - table->length / y : 0.0;
  NoliVec3 p = noli_add3(noli_scale3(plastic * u[0], contact->t[0]),
                         noli_scale3(plastic * u[1], contact->t[1]));
  NoliVec3 normal = noli_cross3(contact->t[0], contact->t[1]);
  NoliVec3 before = gap_of(set, i, table->x), after = gap_of(set, i, x);
  p = noli_sub3(p, beyond_displacement(contact, u, noli_sub3(after, before)));

  // without the displacements of a rotation; half-spaces do not turn
  NoliMat3 turn = rotation_of(table, set, i, x);
  bool plane = size_of(set, i) == contact->n_first;
  NoliVec3 moved = noli_sub3(after, plane ? before : noli_mul33_vec(&turn, before));
  moved = factored_at_end(contact, late, &turn, moved);
  NoliVec3 slip = noli_add3(noli_mul33_vec(&turn, contact->slip), moved);
  slip = noli_sub3(slip, late ? p : noli_mul33_vec(&turn, p));
  normal = late ? normal : noli_mul33_vec(&turn, normal);
  normal = noli_normalize3(normal);

  NoliSlidingLaw law = noli_friction_law_of(data, i);
  double held = fmin(y, table->length);
  double slid = distance_slid(contact, plastic, u, noli_sub3(after, before));
  NoliStick made = {.slip = noli_mul_add3(slip, -noli_dot3(slip, normal), normal),
                    .force = contact->lambda / scale,
                    .path = contact->way.path + slid,
                    .slid = contact->way.slid + slid};
  made.energy = noli_sliding_potential(&law, held, made.force) -
                noli_sliding_potential(&law, 0.0, made.force);
  return made;
}

NoliStatus noli_stick_collect(const NoliStickTable* table, NoliContext* context,
                              const NoliFriction* data, const double* x, double scale, bool late,
                              NoliStickList* list) {
  NoliStatus status = NOLI_OK;
  const NoliFrictionSet* set = data->set;
  NOLI_TRY(noli_array_reserve(context, list, list->count + set->contact.count));
  for (int64_t i = 0; i < set->contact.count; i++) {
    const NoliFrictionContact* contact = &set->contact.data[i];
    int32_t node[4];
    NoliStick made = slip_after(table, data, i, x, scale, late);
    made.slip = noli_scale3(sign_of(set, i), made.slip);
    stencil_of_set(set, i, node);
    noli_stick_key(node, contact->entity, contact->n_first, made.key);
    list->data[list->count++] = made;
  }
done:
  return status;
}

NoliStatus noli_stick_gather(NoliContext* context, NoliStickList* list) {
  NoliStickList own = *list;
  *list = (NoliStickList){0};
  NoliStatus status = noli_ranks_gather(context, sizeof *own.data, own.data, own.count,
                                        (void**)&list->data, &list->capacity, &list->count);
  noli_array_free(context, &own);
  return status;
}

// The last contact of a sorted list with this key, of several that with the largest force; NULL:
// there is none.
static const NoliStick* find_stick(const NoliStickList* list, const int64_t key[NOLI_STICK_WORDS]) {
  const NoliStick* found =
      noli_find_sorted(key, list->data, list->count, sizeof *list->data, compare_key_of_stick);
  while (found != NULL && found + 1 < list->data + list->count &&
         compare_keys(key, found[1].key) == 0) {
    found++;
  }
  return found;
}

void noli_stick_tell(const NoliStickList* list, int64_t n, NoliContactInfo* contact) {
  for (int64_t i = 0; i < n; i++) {
    int64_t key[NOLI_STICK_WORDS];
    noli_stick_key(contact[i].vertex, contact[i].entity, contact[i].n_first, key);
    const NoliStick* found = find_stick(list, key);
    if (found != NULL) {
      contact[i].sticking = found->slid > 0.0 ? NOLI_STICKING_SLIDING : NOLI_STICKING_HELD;
      noli_store3(contact[i].slip, found->slip);
      contact[i].slid = found->path;
    }
  }
}

double noli_stick_energy(const NoliStickTable* table, const NoliContactPairs* pairs) {
  double energy = 0.0;
  for (int64_t i = 0; i < table->n; i++) {
    Place place = place_of(table->key.data + NOLI_STICK_WORDS * i);
    const double* value = table->value.data + NOLI_STICK_NUMBERS * i;
    const NoliFrictionLaw* found = noli_contact_pairs_law(pairs, place.entity[0], place.entity[1]);
    if (found != NULL) {
      NoliSlidingLaw law = noli_stick_law(found, table->length, 1.0);
      double held = fmin(noli_norm3(noli_load3(value)), table->length);
      energy += noli_sliding_potential(&law, held, value[3]) -
                noli_sliding_potential(&law, 0.0, value[3]);
    }
  }
  return energy;
}

const char* noli_stick_defect(int64_t n, const int64_t* key, const double* value) {
  for (int64_t i = 0; i < n; i++) {
    if (i > 0 && compare_keys(key + NOLI_STICK_WORDS * (i - 1), key + NOLI_STICK_WORDS * i) > 0) {
      return "state: the contacts that stick do not ascend";
    }
    for (int32_t k = 0; k < NOLI_STICK_NUMBERS; k++) {
      if (!isfinite(value[NOLI_STICK_NUMBERS * i + k])) {
        return "state: the slip of a contact is not finite";
      }
    }
    if (!(value[NOLI_STICK_NUMBERS * i + 3] > 0.0)) {
      return "state: a contact that sticks has no normal force";
    }
  }
  return NULL;
}
