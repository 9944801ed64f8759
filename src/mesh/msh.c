// Gmsh .msh: versions 2.x and 4.1, text and binary of either byte order; 4.1 text is written.
//
// Both versions are sequences of `$Name ... $EndName`. Unknown sections are skipped. In 4.1 the
// text and the binary form contain the same values in the same order; in 2.2 they differ for
// elements.
#include "base/sort.h"
#include "math/lagrange.h"
#include "mesh/cell_table.h"
#include "mesh/io.h"
#include "mesh/curve.h"

#include <stdlib.h>

enum { I32 = NOLI_SCALAR_I32, SIZE = NOLI_SCALAR_U64, F64 = NOLI_SCALAR_F64 };

// An entity of 4.1 and the first of its physical groups.
typedef struct Entity {
  int64_t dimension;
  int64_t tag;
  int32_t physical;
  bool is_cut; // made by a partition between its parts
} Entity;

typedef struct NodeTag {
  int64_t tag;
  int32_t vertex;
} NodeTag;

typedef struct Reader {
  NoliCursor* cursor;
  NoliMeshParts* parts;
  bool binary;
  bool new_version; // 4.1
  bool has_nodes;
  NOLI_ARRAY(Entity) entity;  // sorted when complete
  NOLI_ARRAY(Entity) part;    // entities of a partition, sorted when complete
  NOLI_ARRAY(NodeTag) node;   // in file order, then sorted if there is no table
  NOLI_ARRAY(int32_t) vertex; // of each tag from first_tag on, where tags are dense
  int64_t first_tag;
  NOLI_ARRAY(Entity)
  group;                     // named physical groups: their dimensions and tags, in `physical` the
                             // number of the set
  NOLI_ARRAY(Entity) more;   // entities of 4.1 with physical groups after the first
  int64_t n_more;            // of them before those of parts
  NOLI_ARRAY(int32_t) extra; // those groups of a block of elements
  NoliCellTable cells[4];    // by dimension, of 2.2, which lists an element once for each group
} Reader;

// The element types of Gmsh.
typedef struct ElementType {
  const char* name;
  int32_t n_node;
  int32_t order;
  int32_t dimension; // -1: not read
  int32_t n_vertex;
} ElementType;

// clang-format off
static const ElementType element_types[] = {
  [1] = {"segment", 2, 1, 1, 2}, [2] = {"triangle", 3, 1, 2, 3}, [3] = {"quadrangle", 4, 1, 2, 4},
  [4] = {"tetrahedron", 4, 1, 3, 4}, [5] = {"hexahedron", 8, 1, -1, 0}, [6] = {"prism", 6, 1, -1, 0},
  [7] = {"pyramid", 5, 1, -1, 0}, [8] = {"segment", 3, 2, 1, 2}, [9] = {"triangle", 6, 2, 2, 3},
  [10] = {"quadrangle", 9, 2, -1, 0}, [11] = {"tetrahedron", 10, 2, 3, 4}, [12] = {"hexahedron", 27, 2, -1, 0},
  [13] = {"prism", 18, 2, -1, 0}, [14] = {"pyramid", 14, 2, -1, 0}, [15] = {"point", 1, 1, 0, 1},
  [16] = {"quadrangle", 8, 2, -1, 0}, [17] = {"hexahedron", 20, 2, -1, 0}, [18] = {"prism", 15, 2, -1, 0},
  [19] = {"pyramid", 13, 2, -1, 0}, [20] = {"triangle", 9, 3, -1, 0}, [21] = {"triangle", 10, 3, 2, 3},
  [22] = {"triangle", 12, 4, -1, 0}, [23] = {"triangle", 15, 4, 2, 3}, [24] = {"triangle", 15, 5, -1, 0},
  [25] = {"triangle", 21, 5, -1, 0}, [26] = {"segment", 4, 3, 1, 2}, [27] = {"segment", 5, 4, 1, 2},
  [28] = {"segment", 6, 5, -1, 0}, [29] = {"tetrahedron", 20, 3, 3, 4}, [30] = {"tetrahedron", 35, 4, 3, 4},
  [31] = {"tetrahedron", 56, 5, -1, 0},
};
// clang-format on

static NoliStatus integer(Reader* reader, int type, const char* what, int64_t low, int64_t high,
                          int64_t* value) {
  return noli_next_integer(reader->cursor, reader->binary, (NoliScalar)type, what, low, high,
                           value);
}

static NoliStatus number(Reader* reader, const char* what, double* value) {
  return noli_next_number(reader->cursor, reader->binary, NOLI_SCALAR_F64, what, value);
}

// Finds an element type; fails for those that are not supported. Complete Lagrange elements of
// order 1 to 4 are, and quadrangles of order 1, which become triangles; tetrahedra of one order.
static NoliStatus find_type(const Reader* reader, const char* place, int64_t type,
                            const ElementType** found) {
  static const char* const order_names[] = {"", "first", "second", "third", "fourth", "fifth"};
  int64_t n_types = (int64_t)(sizeof element_types / sizeof element_types[0]);
  if (type < 1 || type >= n_types) {
    return noli_cursor_fail_at(reader->cursor, reader->binary, place,
                               "elements of type %lld are not supported", (long long)type);
  }
  const ElementType* known = &element_types[type];
  if (known->dimension < 0 && known->order > 1) {
    return noli_cursor_fail_at(reader->cursor, reader->binary, place,
                               "%d-node %s (type %lld): %s-order elements of this kind are not "
                               "supported",
                               known->n_node, known->name, (long long)type,
                               order_names[known->order]);
  }
  if (known->dimension == 3) {
    if (reader->parts->order > 0 && reader->parts->order != known->order) {
      return noli_cursor_fail_at(reader->cursor, reader->binary, place,
                                 "%d-node tetrahedron (type %lld): all tetrahedra must have the "
                                 "same order, previous ones have order %d",
                                 known->n_node, (long long)type, reader->parts->order);
    }
    reader->parts->order = known->order;
  }
  if (known->dimension < 0) {
    return noli_cursor_fail_at(reader->cursor, reader->binary, place,
                               "%d-node %s (type %lld): only tetrahedra, triangles, quadrangles, "
                               "segments and points are supported",
                               known->n_node, known->name, (long long)type);
  }
  *found = known;
  return NOLI_OK;
}

// ---- sections

static NoliStatus read_format(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  double version = 0.0;
  int64_t binary = 0, size = 0, one = 0;

  // version, file type and data size
  noli_skip_space(cursor);
  const char* place = cursor->at;
  NOLI_TRY(noli_read_number_here(cursor, "the version of the format", &version));
  if (!(version >= 2.0 && version < 3.0) && !(version > 4.05 && version < 4.15)) {
    status = noli_cursor_fail(
        cursor, place, "version %g of the format is not supported: save as 4.1 or 2.2", version);
    goto done;
  }
  NOLI_TRY(noli_read_integer_here(cursor, "the file type", 0, 1, &binary));
  NOLI_TRY(noli_read_integer_here(cursor, "the data size", 1, 16, &size));
  if (binary != 0 && size != 8) {
    status = noli_cursor_fail(cursor, place, "binary data of size 8 are supported, got %lld",
                              (long long)size);
    goto done;
  }
  reader->new_version = version > 4.0;
  reader->binary = binary != 0;
  noli_skip_line(cursor);

  // binary files contain a 1 that defines the byte order
  if (reader->binary) {
    const char* bytes = NULL;
    NOLI_TRY(noli_take_bytes(cursor, "the number that defines the byte order", 4, &bytes));
    cursor->swap = noli_load_i32(bytes, false) != 1;
    one = noli_load_i32(bytes, cursor->swap);
    if (one != 1) {
      status = noli_cursor_fail_byte(cursor, bytes, "expected a 1 that defines the byte order");
    }
  }
done:
  return status;
}

static int compare_entities(const void* a, const void* b) {
  const Entity *left = a, *right = b;
  if (left->dimension != right->dimension) {
    return left->dimension < right->dimension ? -1 : 1;
  }
  return left->tag < right->tag ? -1 : left->tag > right->tag;
}

// Notes a group of an entity after its first one; only sets need them.
static NoliStatus add_more(Reader* reader, Entity entity, int32_t physical) {
  NoliStatus status = NOLI_OK;
  entity.physical = physical;
  if (reader->parts->sets.wanted) {
    NOLI_PUSH(reader->cursor->context, &reader->more, entity);
  }
done:
  return status;
}

// Reads the tag of an entity.
static NoliStatus read_entity_tag(Reader* reader, int64_t* tag) {
  return integer(reader, I32, "the tag of an entity", INT32_MIN, INT32_MAX, tag);
}

// Reads the box, the physical groups and the boundary of an entity. `*n_group` counts its groups;
// the first is its tag, unless it has one already.
static NoliStatus read_body(Reader* reader, Entity* entity, int64_t* n_group) {
  NoliStatus status = NOLI_OK;
  int64_t n = 0, tag = 0;
  for (int i = 0; i < (entity->dimension == 0 ? 3 : 6); i++) {
    NOLI_TRY(
        noli_skip_value(reader->cursor, reader->binary, NOLI_SCALAR_F64, "a bound of an entity"));
  }
  NOLI_TRY(integer(reader, SIZE, "a number of physical groups", 0, INT32_MAX, n_group));
  for (int64_t i = 0; i < *n_group; i++) {
    NOLI_TRY(integer(reader, I32, "the tag of a physical group", INT32_MIN, INT32_MAX, &tag));
    if (i > 0 || entity->physical != 0) {
      NOLI_TRY(add_more(reader, *entity, (int32_t)tag));
    } else {
      entity->physical = (int32_t)tag;
    }
  }
  if (entity->dimension > 0) {
    NOLI_TRY(integer(reader, SIZE, "a number of bounding entities", 0, INT32_MAX, &n));
    for (int64_t i = 0; i < n; i++) {
      NOLI_TRY(read_entity_tag(reader, &tag));
    }
  }
done:
  return status;
}

// Reads how many entities of each dimension follow.
static NoliStatus read_counts(Reader* reader, int64_t count[4]) {
  NoliStatus status = NOLI_OK;
  for (int d = 0; d < 4; d++) {
    NOLI_TRY(integer(reader, SIZE, "a number of entities", 0, INT32_MAX, &count[d]));
  }
done:
  return status;
}

static NoliStatus read_entities(Reader* reader) {
  NoliStatus status = NOLI_OK;
  int64_t count[4], n_group = 0;
  NOLI_TRY(read_counts(reader, count));
  for (int d = 0; d < 4; d++) {
    for (int64_t i = 0; i < count[d]; i++) {
      Entity entity = {.dimension = d};
      NOLI_TRY(read_entity_tag(reader, &entity.tag));
      NOLI_TRY(read_body(reader, &entity, &n_group));
      NOLI_PUSH(reader->cursor->context, &reader->entity, entity);
    }
  }
  reader->n_more = reader->more.count;
  if (reader->entity.count > 0) {
    qsort(reader->entity.data, (size_t)reader->entity.count, sizeof *reader->entity.data,
          compare_entities);
  }
done:
  return status;
}

static const Entity* find_entity(const Entity* entity, int64_t n, int64_t dimension, int64_t tag) {
  Entity wanted = {.dimension = dimension, .tag = tag};
  return n > 0 ? bsearch(&wanted, entity, (size_t)n, sizeof wanted, compare_entities) : NULL;
}

// Reads an entity of a partition. Its parent, of the same dimension, has the groups that people
// made; its own may be those that Gmsh makes of the parts.
static NoliStatus read_part(Reader* reader, int dimension) {
  NoliStatus status = NOLI_OK;
  Entity entity = {.dimension = dimension};
  int64_t parent_dimension = 0, parent_tag = 0, n = 0, partition = 0, n_group = 0;
  NOLI_TRY(read_entity_tag(reader, &entity.tag));
  NOLI_TRY(integer(reader, I32, "the dimension of the parent", -1, 3, &parent_dimension));
  NOLI_TRY(integer(reader, I32, "the tag of the parent", INT32_MIN, INT32_MAX, &parent_tag));
  NOLI_TRY(integer(reader, SIZE, "a number of parts", 0, INT32_MAX, &n));
  for (int64_t i = 0; i < n; i++) {
    NOLI_TRY(integer(reader, I32, "a part", INT32_MIN, INT32_MAX, &partition));
  }
  const Entity* parent =
      parent_dimension == dimension
          ? find_entity(reader->entity.data, reader->entity.count, dimension, parent_tag)
          : NULL;
  if (parent != NULL) {
    entity.physical = parent->physical;
    for (int64_t m = 0; m < reader->n_more; m++) {
      const Entity* more = &reader->more.data[m];
      if (more->dimension == dimension && more->tag == parent_tag) {
        NOLI_TRY(add_more(reader, entity, more->physical));
      }
    }
  }
  NOLI_TRY(read_body(reader, &entity, &n_group));
  entity.is_cut = parent_dimension > dimension && n_group == 0;
  NOLI_PUSH(reader->cursor->context, &reader->part, entity);
done:
  return status;
}

static NoliStatus read_parts(Reader* reader) {
  NoliStatus status = NOLI_OK;
  int64_t count[4], n = 0, value = 0;
  NOLI_TRY(integer(reader, SIZE, "the number of parts", 0, INT32_MAX, &n));
  NOLI_TRY(integer(reader, SIZE, "the number of ghost entities", 0, INT32_MAX, &n));
  for (int64_t i = 0; i < 2 * n; i++) {
    NOLI_TRY(integer(reader, I32, "a ghost entity", INT32_MIN, INT32_MAX, &value));
  }
  NOLI_TRY(read_counts(reader, count));
  for (int d = 0; d < 4; d++) {
    for (int64_t i = 0; i < count[d]; i++) {
      NOLI_TRY(read_part(reader, d));
    }
  }
  if (reader->part.count > 0) {
    qsort(reader->part.data, (size_t)reader->part.count, sizeof *reader->part.data,
          compare_entities);
  }
done:
  return status;
}

// Finds the entity that a block of elements names, in `*entity`, and in `extra` its groups after
// the first.
static NoliStatus find_groups(Reader* reader, int64_t dimension, int64_t tag, Entity* entity) {
  NoliStatus status = NOLI_OK;
  const Entity* found = find_entity(reader->part.data, reader->part.count, dimension, tag);
  if (found == NULL) {
    found = find_entity(reader->entity.data, reader->entity.count, dimension, tag);
  }
  *entity = found != NULL ? *found : (Entity){.dimension = dimension, .tag = tag};
  reader->extra.count = 0;
  for (int64_t m = 0; m < reader->more.count; m++) {
    const Entity* more = &reader->more.data[m];
    if (more->dimension == dimension && more->tag == tag) {
      NOLI_PUSH(reader->cursor->context, &reader->extra, more->physical);
    }
  }
done:
  return status;
}

static NoliStatus add_node_tag(Reader* reader, int64_t tag) {
  NoliStatus status = NOLI_OK;
  NodeTag node = {.tag = tag, .vertex = (int32_t)reader->node.count};
  NOLI_PUSH(reader->cursor->context, &reader->node, node);
done:
  return status;
}

// Reads the nodes of one block of 4.1: first all tags, then all positions.
static NoliStatus read_node_block(Reader* reader) {
  NoliStatus status = NOLI_OK;
  int64_t dimension = 0, tag = 0, parametric = 0, n = 0;
  double* x = NULL;
  NOLI_TRY(integer(reader, I32, "the dimension of an entity", 0, 3, &dimension));
  NOLI_TRY(integer(reader, I32, "the tag of an entity", INT32_MIN, INT32_MAX, &tag));
  NOLI_TRY(integer(reader, I32, "whether nodes are parametric", 0, 1, &parametric));
  NOLI_TRY(integer(reader, SIZE, "the number of nodes of a block", 0, INT32_MAX, &n));
  int64_t n_extra = parametric != 0 ? dimension : 0;
  int64_t size = reader->binary ? 8 * (4 + n_extra) : 2 * (4 + n_extra);
  NOLI_TRY(noli_expect_items(reader->cursor, "nodes", n, size, reader->binary));
  for (int64_t i = 0; i < n; i++) {
    NOLI_TRY(integer(reader, SIZE, "the tag of a node", 0, INT64_MAX - 1, &tag));
    NOLI_TRY(add_node_tag(reader, tag));
  }
  NOLI_TRY(noli_parts_add_vertices(reader->cursor->context, reader->parts, n, &x));
  for (int64_t i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      NOLI_TRY(number(reader, "a coordinate", x++));
    }
    for (int64_t k = 0; k < n_extra; k++) {
      NOLI_TRY(noli_skip_value(reader->cursor, reader->binary, NOLI_SCALAR_F64,
                               "a parametric coordinate"));
    }
  }
done:
  return status;
}

// The nodes of 4.1: blocks.
static NoliStatus read_nodes_new(Reader* reader) {
  NoliStatus status = NOLI_OK;
  int64_t n_block = 0, n_node = 0, bound = 0;
  const char* place = reader->cursor->at;
  NOLI_TRY(integer(reader, SIZE, "the number of blocks", 0, INT32_MAX, &n_block));
  NOLI_TRY(integer(reader, SIZE, "the number of nodes", 0, INT32_MAX, &n_node));
  NOLI_TRY(integer(reader, SIZE, "the lowest node tag", INT64_MIN, INT64_MAX, &bound));
  NOLI_TRY(integer(reader, SIZE, "the highest node tag", INT64_MIN, INT64_MAX, &bound));
  for (int64_t b = 0; b < n_block; b++) {
    NOLI_TRY(read_node_block(reader));
  }
  if (reader->node.count != n_node) {
    status = noli_cursor_fail_at(reader->cursor, reader->binary, place,
                                 "%lld nodes are announced, but the blocks contain %lld",
                                 (long long)n_node, (long long)reader->node.count);
  }
done:
  return status;
}

// The nodes of 2.2: tag and position of each.
static NoliStatus read_nodes_old(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  int64_t n = 0, tag = 0;
  double* x = NULL;
  NOLI_TRY(noli_read_integer(cursor, "the number of nodes", 0, INT32_MAX, &n));
  noli_skip_line(cursor);
  NOLI_TRY(noli_expect_items(cursor, "nodes", n, reader->binary ? 28 : 8, reader->binary));
  NOLI_TRY(noli_parts_add_vertices(cursor->context, reader->parts, n, &x));
  for (int64_t i = 0; i < n; i++) {
    NOLI_TRY(integer(reader, I32, "the number of a node", 0, INT32_MAX, &tag));
    NOLI_TRY(add_node_tag(reader, tag));
    for (int k = 0; k < 3; k++) {
      NOLI_TRY(number(reader, "a coordinate", x++));
    }
  }
done:
  return status;
}

static int compare_node_tags(const void* a, const void* b) {
  const NodeTag *left = a, *right = b;
  return left->tag < right->tag ? -1 : left->tag > right->tag;
}

// Prepares the conversion of tags to vertices: a table if the tags are dense, otherwise a sorted
// list.
static NoliStatus index_nodes(Reader* reader, const char* place) {
  NoliStatus status = NOLI_OK;
  int64_t n = reader->node.count;
  NodeTag* node = reader->node.data;
  int64_t low = INT64_MAX, high = 0, twice = -1;

  // the range of tags
  for (int64_t i = 0; i < n; i++) {
    low = node[i].tag < low ? node[i].tag : low;
    high = node[i].tag > high ? node[i].tag : high;
  }
  reader->first_tag = low;

  // table or list
  if (n > 0 && high - low < 4 * n + 1024) {
    int64_t n_slot = high - low + 1;
    NOLI_TRY(noli_array_reserve(reader->cursor->context, &reader->vertex, n_slot));
    reader->vertex.count = n_slot;
    memset(reader->vertex.data, 0xff, (size_t)n_slot * sizeof *reader->vertex.data);
    for (int64_t i = 0; i < n; i++) {
      int32_t* vertex = &reader->vertex.data[node[i].tag - low];
      twice = *vertex >= 0 ? node[i].tag : twice;
      *vertex = node[i].vertex;
    }
  } else if (n > 0) {
    qsort(node, (size_t)n, sizeof *node, compare_node_tags);
    for (int64_t i = 1; i < n; i++) {
      twice = node[i].tag == node[i - 1].tag ? node[i].tag : twice;
    }
  }

  // tags are unique
  if (twice >= 0) {
    status = noli_cursor_fail_at(reader->cursor, reader->binary, place,
                                 "node %lld occurs twice in this section", (long long)twice);
  }
done:
  return status;
}

static NoliStatus read_nodes(Reader* reader) {
  NoliStatus status = NOLI_OK;
  const char* place = reader->cursor->at;
  if (reader->has_nodes) {
    status = noli_cursor_fail(reader->cursor, place, "a second section $Nodes");
    goto done;
  }
  reader->has_nodes = true;
  NOLI_TRY(reader->new_version ? read_nodes_new(reader) : read_nodes_old(reader));
  NOLI_TRY(index_nodes(reader, place));
done:
  return status;
}

// Reads the nodes of an element and converts their tags to vertices.
static NoliStatus read_corners(Reader* reader, int type, int32_t width, int32_t* corner) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  for (int32_t i = 0; i < width; i++) {
    int64_t tag = 0;
    NOLI_TRY(integer(reader, type, "a node of the element", 0, INT64_MAX - 1, &tag));
    corner[i] = NOLI_NULL_INDEX;
    if (reader->vertex.count > 0) {
      int64_t slot = tag - reader->first_tag;
      corner[i] = slot >= 0 && slot < reader->vertex.count ? reader->vertex.data[slot] : -1;
    } else if (reader->node.count > 0) {
      NodeTag wanted = {.tag = tag};
      const NodeTag* found = bsearch(&wanted, reader->node.data, (size_t)reader->node.count,
                                     sizeof wanted, compare_node_tags);
      corner[i] = found != NULL ? found->vertex : NOLI_NULL_INDEX;
    }
    if (corner[i] < 0) {
      int64_t back = reader->binary ? noli_scalar_size((NoliScalar)type) : 1;
      status =
          noli_cursor_fail_at(cursor, reader->binary, cursor->at - back,
                              "the element names node %lld, which does not exist", (long long)tag);
      goto done;
    }
  }
done:
  return status;
}

// An element with its nodes as vertices, and its triangles where it is a surface.
typedef struct Element {
  const ElementType* type;
  const int32_t* node;
  int64_t first_tri, n_tri;
} Element;

// Adds an element to the set of its physical group, if that has a name.
static NoliStatus add_to_set(Reader* reader, const Element* element, int32_t physical) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->cursor->context;
  for (int64_t g = 0; g < reader->group.count; g++) {
    const Entity* group = &reader->group.data[g];
    if (group->dimension != element->type->dimension || group->tag != physical) {
      continue;
    }
    NOLI_TRY(noli_parts_add_triangles_to_set(context, reader->parts, group->physical,
                                             element->first_tri, element->n_tri));
    for (int32_t i = 0; i < element->type->n_node; i++) {
      NOLI_TRY(noli_parts_add_member(context, reader->parts, group->physical, element->node[i]));
    }
  }
done:
  return status;
}

// Adds the cell of an element: its corners come first, the other nodes define its curved shape.
static NoliStatus add_element(Reader* reader, Element* element, int32_t physical) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->cursor->context;
  NoliMeshParts* parts = reader->parts;
  const ElementType* type = element->type;
  element->first_tri = parts->tri.count / 3;
  NOLI_TRY(type->dimension == 2
               ? noli_parts_add_polygon(context, parts, type->n_vertex, element->node, physical)
               : noli_parts_add_cell(context, parts, type->n_vertex, element->node, physical));
  element->n_tri = parts->tri.count / 3 - element->first_tri;
  NOLI_TRY(add_to_set(reader, element, physical));
  for (int32_t i = type->n_vertex; i < type->n_node; i++) {
    if (type->dimension == 3) {
      NOLI_PUSH(context, &parts->curve, element->node[i]);
    } else {
      NOLI_PUSH(context, &parts->bent, element->node[i]);
    }
  }
done:
  return status;
}

// Reads one block of elements of 4.1.
static NoliStatus read_element_block(Reader* reader, int64_t* n_read) {
  NoliStatus status = NOLI_OK;
  int64_t dimension = 0, tag = 0, type = 0, n = 0;
  int32_t corner[NOLI_TET_NODES_MAX];
  Element element = {.node = corner};
  Entity entity;
  NOLI_TRY(integer(reader, I32, "the dimension of an entity", 0, 3, &dimension));
  NOLI_TRY(integer(reader, I32, "the tag of an entity", INT32_MIN, INT32_MAX, &tag));
  if (!reader->binary) {
    noli_skip_space(reader->cursor);
  }
  const char* place = reader->cursor->at;
  NOLI_TRY(integer(reader, I32, "an element type", INT32_MIN, INT32_MAX, &type));
  NOLI_TRY(integer(reader, SIZE, "the number of elements of a block", 0, INT32_MAX, &n));
  NOLI_TRY(find_type(reader, place, type, &element.type));
  int64_t n_value = 1 + (int64_t)element.type->n_node;
  NOLI_TRY(noli_expect_items(reader->cursor, "elements", n, (reader->binary ? 8 : 2) * n_value,
                             reader->binary));
  NOLI_TRY(find_groups(reader, dimension, tag, &entity));
  for (int64_t i = 0; i < n; i++) {
    int64_t number_of_element = 0;
    NOLI_TRY(integer(reader, SIZE, "the tag of an element", 0, INT64_MAX, &number_of_element));
    NOLI_TRY(read_corners(reader, SIZE, element.type->n_node, corner));
    // faces between parts are none of the mesh that was divided
    if (entity.is_cut) {
      continue;
    }
    NOLI_TRY(add_element(reader, &element, entity.physical));
    for (int64_t g = 0; g < reader->extra.count; g++) {
      NOLI_TRY(add_to_set(reader, &element, reader->extra.data[g]));
    }
  }
  *n_read += n;
done:
  return status;
}

// The elements of 4.1: blocks.
static NoliStatus read_elements_new(Reader* reader) {
  NoliStatus status = NOLI_OK;
  int64_t n_block = 0, n_element = 0, bound = 0, n_read = 0;
  const char* place = reader->cursor->at;
  NOLI_TRY(integer(reader, SIZE, "the number of blocks", 0, INT32_MAX, &n_block));
  NOLI_TRY(integer(reader, SIZE, "the number of elements", 0, INT32_MAX, &n_element));
  NOLI_TRY(integer(reader, SIZE, "the lowest element tag", INT64_MIN, INT64_MAX, &bound));
  NOLI_TRY(integer(reader, SIZE, "the highest element tag", INT64_MIN, INT64_MAX, &bound));
  for (int64_t b = 0; b < n_block; b++) {
    NOLI_TRY(read_element_block(reader, &n_read));
  }
  if (n_read != n_element) {
    status = noli_cursor_fail_at(reader->cursor, reader->binary, place,
                                 "%lld elements are announced, but the blocks contain %lld",
                                 (long long)n_element, (long long)n_read);
  }
done:
  return status;
}

// Adds an element of 2.2. One that is in several groups is in the file once for each: it becomes
// one cell, with the tag of the first. Again in the same group it is a duplicate.
static NoliStatus add_old_element(Reader* reader, Element* element, int32_t physical) {
  NoliStatus status = NOLI_OK;
  NoliMeshParts* parts = reader->parts;
  int32_t dimension = element->type->dimension, n_vertex = element->type->n_vertex;
  NoliCellTable* table = &reader->cells[dimension];
  int64_t index = dimension == 3 ? parts->tet_tag.count : parts->tri_tag.count;
  NoliTableCell* known = NULL;
  NOLI_TRY(noli_cell_table_add(reader->cursor->context, table, n_vertex, element->node,
                               (int32_t)index, physical, &known));
  if (known == NULL || known->group == physical) {
    NOLI_TRY(add_element(reader, element, physical));
    goto done;
  }
  element->first_tri = known->index;
  element->n_tri = dimension == 2 ? noli_parts_polygon_triangles(n_vertex, element->node) : 0;
  NOLI_TRY(add_to_set(reader, element, physical));
  if (known->group == 0) {
    known->group = physical;
    if (dimension == 3) {
      parts->tet_tag.data[known->index] = physical;
    }
    for (int64_t t = 0; t < element->n_tri; t++) {
      parts->tri_tag.data[known->index + t] = physical;
    }
  }
done:
  return status;
}

// Reads `n` elements of 2.2 that share a type and a number of tags; in text n is 1 and the number
// of the element was read before.
static NoliStatus read_element_run(Reader* reader, int64_t type, int64_t n, int64_t n_tag,
                                   const char* place) {
  NoliStatus status = NOLI_OK;
  int32_t corner[NOLI_TET_NODES_MAX];
  Element element = {.node = corner};
  int64_t value = 0;
  NOLI_TRY(find_type(reader, place, type, &element.type));
  for (int64_t i = 0; i < n; i++) {
    int32_t physical = 0;
    if (reader->binary) {
      NOLI_TRY(integer(reader, I32, "the number of an element", INT32_MIN, INT32_MAX, &value));
    }
    for (int64_t t = 0; t < n_tag; t++) {
      NOLI_TRY(integer(reader, I32, "a tag of the element", INT32_MIN, INT32_MAX, &value));
      physical = t == 0 ? (int32_t)value : physical;
    }
    NOLI_TRY(read_corners(reader, I32, element.type->n_node, corner));
    NOLI_TRY(add_old_element(reader, &element, physical));
  }
done:
  return status;
}

// The elements of 2.2: one by one in text, in runs in binary.
static NoliStatus read_elements_old(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  int64_t n = 0, number_of_element = 0, type = 0, n_run = 1, n_tag = 0;
  NOLI_TRY(noli_read_integer(cursor, "the number of elements", 0, INT32_MAX, &n));
  noli_skip_line(cursor);
  for (int64_t i = 0; i < n; i += n_run) {
    if (!reader->binary) {
      NOLI_TRY(integer(reader, I32, "the number of an element", 0, INT32_MAX, &number_of_element));
      noli_skip_space(cursor);
    }
    const char* place = cursor->at;
    NOLI_TRY(integer(reader, I32, "an element type", INT32_MIN, INT32_MAX, &type));
    if (reader->binary) {
      NOLI_TRY(integer(reader, I32, "the length of a run of elements", 1, n - i, &n_run));
    }
    NOLI_TRY(integer(reader, I32, "the number of tags", 0, INT32_MAX, &n_tag));
    NOLI_TRY(read_element_run(reader, type, n_run, n_tag, place));
  }
done:
  return status;
}

static NoliStatus read_elements(Reader* reader) {
  if (!reader->has_nodes) {
    return noli_cursor_fail(reader->cursor, reader->cursor->at,
                            "the section $Elements comes before $Nodes");
  }
  return reader->new_version ? read_elements_new(reader) : read_elements_old(reader);
}

// ---- the file

// Reads `$EndName`, or fails.
static NoliStatus expect_end(Reader* reader, NoliSpan name) {
  NoliCursor* cursor = reader->cursor;
  noli_skip_space(cursor);
  NoliCursor before = *cursor;
  NoliSpan word = noli_next_word(cursor);
  if (word.n != name.n + 3 || memcmp(word.at, "$End", 4) != 0 ||
      memcmp(word.at + 4, name.at + 1, (size_t)name.n - 1) != 0) {
    return noli_cursor_fail_at(cursor, reader->binary, before.at, "expected $End%.*s, got %s",
                               (int)(name.n - 1), name.at + 1, noli_show_next(&before).text);
  }
  return NOLI_OK;
}

// Moves to `$EndName`, or fails if there is none.
static NoliStatus skip_section(Reader* reader, NoliSpan name) {
  NoliCursor* cursor = reader->cursor;
  for (;;) {
    const char* at = memchr(cursor->at, '$', (size_t)noli_cursor_left(cursor));
    if (at == NULL) {
      return noli_cursor_fail(cursor, name.at, "the section %s does not end", noli_show(name).text);
    }
    cursor->at = at + 1;
    if (noli_cursor_left(cursor) >= name.n + 2 && memcmp(at, "$End", 4) == 0 &&
        memcmp(at + 4, name.at + 1, (size_t)name.n - 1) == 0) {
      cursor->at = at;
      return NOLI_OK;
    }
  }
}

// The names of physical groups, text in every file: dimension, tag, "name".
static NoliStatus read_names(Reader* reader) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  int64_t n = 0, dimension = 0, tag = 0;
  NOLI_TRY(noli_read_integer(cursor, "the number of names", 0, INT32_MAX, &n));
  for (int64_t i = 0; i < n; i++) {
    NOLI_TRY(noli_read_integer(cursor, "the dimension of a physical group", 0, 3, &dimension));
    NOLI_TRY(noli_read_integer(cursor, "the tag of a physical group", INT32_MIN, INT32_MAX, &tag));
    noli_skip_space(cursor);
    const char* end = memchr(cursor->at, '\n', (size_t)noli_cursor_left(cursor));
    const char* open = end != NULL ? memchr(cursor->at, '"', (size_t)(end - cursor->at)) : NULL;
    const char* close = open != NULL ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    if (close == NULL) {
      status = noli_cursor_fail(cursor, cursor->at, "expected a name in quotation marks, got %s",
                                noli_show_next(cursor).text);
      goto done;
    }
    NoliSpan name = {open + 1, close - open - 1};
    Entity group = {dimension, tag, (int32_t)reader->parts->sets.name.count, false};
    NOLI_TRY(noli_parts_add_set(cursor->context, reader->parts, name));
    NOLI_PUSH(cursor->context, &reader->group, group);
    cursor->at = close + 1;
  }
done:
  return status;
}

// Reads or skips the section whose name was just read.
static NoliStatus read_section(Reader* reader, NoliSpan name, bool* has_format) {
  static const struct {
    const char* name;
    NoliStatus (*read)(Reader* reader);
  } sections[] = {
      {"$MeshFormat", read_format},
      {"$Entities", read_entities},
      {"$Nodes", read_nodes},
      {"$Elements", read_elements},
      {"$PartitionedEntities", read_parts},
      {"$PhysicalNames", read_names},
  };
  NoliStatus status = NOLI_OK;
  size_t s = 0, n_section = sizeof sections / sizeof sections[0];
  while (s < n_section && !noli_span_is(name, sections[s].name)) {
    s++;
  }

  // the format must come first
  if (!*has_format && s != 0) {
    status = noli_cursor_fail(reader->cursor, name.at, "expected $MeshFormat, got %s",
                              noli_show(name).text);
    goto done;
  }
  *has_format = true;

  // 2.2 has no entities; names matter for sets only
  bool names = s + 1 == n_section && !reader->parts->sets.wanted;
  if (s == n_section || names || ((s == 1 || s == 4) && !reader->new_version)) {
    NOLI_TRY(skip_section(reader, name));
  } else {
    noli_skip_line(reader->cursor);
    NOLI_TRY(sections[s].read(reader));
  }
  NOLI_TRY(expect_end(reader, name));
done:
  return status;
}

NoliStatus noli_msh_read(NoliCursor* cursor, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  Reader reader = {.cursor = cursor, .parts = parts};
  bool has_format = false;
  for (;;) {
    NoliSpan name = noli_next_word_anywhere(cursor);
    if (name.n == 0) {
      break;
    }
    if (name.at[0] != '$' || name.n < 2) {
      status =
          noli_cursor_fail_at(cursor, reader.binary, name.at,
                              "expected a section such as $Nodes, got %s", noli_show(name).text);
      goto done;
    }
    NOLI_TRY(read_section(&reader, name, &has_format));
  }
  // a file truncated between sections has no other error
  if (!reader.has_nodes) {
    status = noli_cursor_fail(cursor, cursor->at, "the file has no section $Nodes");
  }
done:
  noli_array_free(cursor->context, &reader.entity);
  noli_array_free(cursor->context, &reader.group);
  noli_array_free(cursor->context, &reader.more);
  noli_array_free(cursor->context, &reader.part);
  noli_array_free(cursor->context, &reader.extra);
  for (int d = 0; d < 4; d++) {
    noli_cell_table_free(cursor->context, &reader.cells[d]);
  }
  noli_array_free(cursor->context, &reader.node);
  noli_array_free(cursor->context, &reader.vertex);
  return status;
}

// ---- writing

// A kind of cell as Gmsh sees it.
typedef struct WrittenKind {
  const int32_t* vertex;
  const int32_t* tag; // NULL if untagged
  int32_t n;
  int32_t width;
  int32_t dimension;
  int32_t type;
  const int32_t* curve; // (n x n_curve) additional nodes, numbered after the vertices
  int32_t n_curve;
} WrittenKind;

enum { N_KIND = 4 };

static void written_kinds(const NoliMesh* mesh, WrittenKind kinds[N_KIND]) {
  static const int32_t tet_types[] = {4, 4, 11, 29, 30};
  kinds[0] =
      (WrittenKind){mesh->tet, mesh->tet_tag, mesh->n_tet, 4, 3, tet_types[mesh->order], NULL, 0};
  kinds[0].curve = mesh->curve;
  kinds[0].n_curve = noli_tet_nodes(noli_mesh_order(mesh)) - 4;
  kinds[1] = (WrittenKind){mesh->tri, mesh->tri_tag, mesh->n_tri, 3, 2, 2, NULL, 0};
  kinds[2] = (WrittenKind){mesh->edge, NULL, mesh->n_edge, 2, 1, 1, NULL, 0};
  kinds[3] = (WrittenKind){mesh->point, NULL, mesh->n_point, 1, 0, 15, NULL, 0};
}

static int32_t tag_of(const WrittenKind* kind, int32_t cell) {
  return kind->tag != NULL ? kind->tag[cell] : 0;
}

// The end of the run of equal tags that begins at `cell`.
static int32_t run_end(const WrittenKind* kind, int32_t cell) {
  int32_t end = cell + 1;
  while (end < kind->n && tag_of(kind, end) == tag_of(kind, cell)) {
    end++;
  }
  return end;
}

typedef struct TagList {
  int32_t* tag;
  int64_t n;
} TagList;

// Lists the distinct tags of a kind in order; an entity's number is 1 + the position of its tag.
static NoliStatus list_tags(NoliContext* context, const WrittenKind* kind, TagList* list) {
  NoliStatus status = NOLI_OK;
  int64_t n_list = kind->n > 0 ? kind->n : 1;
  NOLI_NEW(context, list->tag, n_list);
  int64_t n = 0;
  for (int32_t c = 0; c < kind->n; c = run_end(kind, c)) {
    list->tag[n++] = tag_of(kind, c);
  }
  if (n > 0) {
    qsort(list->tag, (size_t)n, sizeof *list->tag, noli_compare_int32);
  }
  list->n = 0;
  for (int64_t i = 0; i < n; i++) {
    if (list->n == 0 || list->tag[list->n - 1] != list->tag[i]) {
      list->tag[list->n++] = list->tag[i];
    }
  }
done:
  return status;
}

static int64_t entity_of(const TagList* list, int32_t tag) {
  const int32_t* found = bsearch(&tag, list->tag, (size_t)list->n, sizeof tag, noli_compare_int32);
  return 1 + (found - list->tag);
}

// Lowest and highest coordinates of all vertices.
static void find_bounds(const NoliMesh* mesh, double bounds[6]) {
  for (int64_t i = 0; i < 3 * (int64_t)mesh->n_vert; i++) {
    double x = mesh->x[i];
    double *low = &bounds[i % 3], *high = &bounds[3 + i % 3];
    *low = i < 3 || x < *low ? x : *low;
    *high = i < 3 || x > *high ? x : *high;
  }
}

// Entities serve only to carry tags.
static void put_entities(NoliTextFile* file, const NoliMesh* mesh, const TagList lists[N_KIND]) {
  double bounds[6] = {0.0};
  find_bounds(mesh, bounds);
  noli_put_text(file, "$Entities\n%lld %lld %lld %lld\n", (long long)lists[3].n,
                (long long)lists[2].n, (long long)lists[1].n, (long long)lists[0].n);
  for (int kind = N_KIND - 1; kind >= 0; kind--) {
    for (int64_t i = 0; i < lists[kind].n; i++) {
      noli_put_text(file, "%lld ", (long long)(i + 1));
      noli_put_numbers(file, bounds, kind == 3 ? 3 : 6);
      int32_t tag = lists[kind].tag[i];
      if (tag != 0) {
        noli_put_text(file, " 1 %d", tag);
      } else {
        noli_put_text(file, " 0");
      }
      noli_put_text(file, kind == 3 ? "\n" : " 0\n");
    }
  }
  noli_put_text(file, "$EndEntities\n");
}

static void put_nodes(NoliTextFile* file, const NoliMesh* mesh, int32_t dimension) {
  long long n = (long long)mesh->n_vert + mesh->n_curve;
  noli_put_text(file, "$Nodes\n1 %lld 1 %lld\n%d 1 0 %lld\n", n, n, dimension, n);
  for (long long v = 0; v < n; v++) {
    noli_put_text(file, "%lld\n", v + 1);
  }
  noli_put_positions(file, "", mesh->n_vert, mesh->x);
  noli_put_positions(file, "", mesh->n_curve, mesh->curve_x);
  noli_put_text(file, "$EndNodes\n");
}

// One block for each run of cells of equal kind and tag keeps the order of the cells.
static void put_elements(NoliTextFile* file, int32_t n_vert, const WrittenKind kinds[N_KIND],
                         const TagList lists[N_KIND]) {
  int64_t n_block = 0, n_element = 0;

  // count
  for (int kind = 0; kind < N_KIND; kind++) {
    n_element += kinds[kind].n;
    for (int32_t c = 0; c < kinds[kind].n; c = run_end(&kinds[kind], c)) {
      n_block++;
    }
  }
  noli_put_text(file, "$Elements\n%lld %lld %d %lld\n", (long long)n_block, (long long)n_element,
                n_element > 0, (long long)n_element);

  // blocks
  int64_t number_of_element = 1;
  for (int k = 0; k < N_KIND; k++) {
    const WrittenKind* kind = &kinds[k];
    for (int32_t c = 0, end = 0; c < kind->n; c = end) {
      end = run_end(kind, c);
      noli_put_text(file, "%d %lld %d %d\n", kind->dimension,
                    (long long)entity_of(&lists[k], tag_of(kind, c)), kind->type, end - c);
      for (int32_t i = c; i < end; i++) {
        noli_put_text(file, "%lld", (long long)number_of_element++);
        noli_put_indices(file, kind->vertex + (int64_t)i * kind->width, kind->width, 1);
        if (kind->n_curve > 0) {
          noli_put_indices(file, kind->curve + (int64_t)i * kind->n_curve, kind->n_curve,
                           n_vert + 1);
        }
        noli_put_text(file, "\n");
      }
    }
  }
  noli_put_text(file, "$EndElements\n");
}

NoliStatus noli_msh_write(NoliTextFile* file, const NoliMesh* mesh) {
  NoliStatus status = NOLI_OK;
  WrittenKind kinds[N_KIND];
  TagList lists[N_KIND] = {{NULL, 0}};
  written_kinds(mesh, kinds);
  int32_t dimension = 0;
  for (int kind = 0; kind < N_KIND; kind++) {
    NOLI_TRY(list_tags(file->context, &kinds[kind], &lists[kind]));
    if (kinds[kind].n > 0 && kinds[kind].dimension > dimension) {
      dimension = kinds[kind].dimension;
    }
  }
  noli_put_text(file, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n");
  if (mesh->tet_tag != NULL || mesh->tri_tag != NULL) {
    put_entities(file, mesh, lists);
  }
  put_nodes(file, mesh, dimension);
  put_elements(file, mesh->n_vert, kinds, lists);
done:
  for (int kind = 0; kind < N_KIND; kind++) {
    noli_free(file->context, lists[kind].tag);
  }
  return status;
}
