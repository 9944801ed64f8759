// Gmsh .msh: versions 2.x and 4.1, text and binary of either byte order; msh_write.c
// writes them.
//
// Both versions are sequences of `$Name ... $EndName`. Unknown sections are skipped. In 4.1 the
// text and the binary form contain the same values in the same order; in 2.2 they differ for
// elements.
#include "math/lagrange.h"

#include "base/sort.h"
#include "mesh/formats/msh_reader.h"

enum { I32 = NOLI_SCALAR_I32, SIZE = NOLI_SCALAR_U64 };

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

static NoliStatus msh_number(NoliMshReader* reader, const char* what, double* value) {
  return noli_next_number(reader->cursor, reader->binary, NOLI_SCALAR_F64, what, value);
}

// Finds an element type; fails for those that are not supported. Complete Lagrange elements of
// order 1 to 4 are, and quadrangles of order 1, which become triangles; tetrahedra of one order.
static NoliStatus msh_find_type(const NoliMshReader* reader, const char* place, int64_t type,
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

static NoliStatus read_format(NoliMshReader* reader) {
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

static NoliStatus add_node_tag(NoliMshReader* reader, int64_t tag) {
  NoliStatus status = NOLI_OK;
  NoliMshNodeTag node = {.tag = tag, .vertex = (int32_t)reader->node.count};
  NOLI_PUSH(reader->cursor->context, &reader->node, node);
done:
  return status;
}

// Reads the nodes of one block of 4.1: first all tags, then all positions.
static NoliStatus read_node_block(NoliMshReader* reader) {
  NoliStatus status = NOLI_OK;
  int64_t dimension = 0, tag = 0, parametric = 0, n = 0;
  double* x = NULL;
  NOLI_TRY(noli_msh_integer(reader, I32, "the dimension of an entity", 0, 3, &dimension));
  NOLI_TRY(noli_msh_integer(reader, I32, "the tag of an entity", INT32_MIN, INT32_MAX, &tag));
  NOLI_TRY(noli_msh_integer(reader, I32, "whether nodes are parametric", 0, 1, &parametric));
  NOLI_TRY(noli_msh_integer(reader, SIZE, "the number of nodes of a block", 0, INT32_MAX, &n));
  int64_t n_extra = parametric != 0 ? dimension : 0;
  int64_t size = reader->binary ? 8 * (4 + n_extra) : 2 * (4 + n_extra);
  NOLI_TRY(noli_expect_items(reader->cursor, "nodes", n, size, reader->binary));
  for (int64_t i = 0; i < n; i++) {
    NOLI_TRY(noli_msh_integer(reader, SIZE, "the tag of a node", 0, INT64_MAX - 1, &tag));
    NOLI_TRY(add_node_tag(reader, tag));
  }
  NOLI_TRY(noli_parts_add_vertices(reader->cursor->context, reader->parts, n, &x));

  for (int64_t i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      NOLI_TRY(msh_number(reader, "a coordinate", x++));
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
static NoliStatus read_nodes_new(NoliMshReader* reader) {
  NoliStatus status = NOLI_OK;
  int64_t n_block = 0, n_node = 0, bound = 0;
  const char* place = reader->cursor->at;
  NOLI_TRY(noli_msh_integer(reader, SIZE, "the number of blocks", 0, INT32_MAX, &n_block));
  NOLI_TRY(noli_msh_integer(reader, SIZE, "the number of nodes", 0, INT32_MAX, &n_node));
  NOLI_TRY(noli_msh_integer(reader, SIZE, "the lowest node tag", INT64_MIN, INT64_MAX, &bound));
  NOLI_TRY(noli_msh_integer(reader, SIZE, "the highest node tag", INT64_MIN, INT64_MAX, &bound));
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
static NoliStatus read_nodes_old(NoliMshReader* reader) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  int64_t n = 0, tag = 0;
  double* x = NULL;
  NOLI_TRY(noli_read_integer(cursor, "the number of nodes", 0, INT32_MAX, &n));
  noli_skip_line(cursor);
  NOLI_TRY(noli_expect_items(cursor, "nodes", n, reader->binary ? 28 : 8, reader->binary));
  NOLI_TRY(noli_parts_add_vertices(cursor->context, reader->parts, n, &x));
  for (int64_t i = 0; i < n; i++) {
    NOLI_TRY(noli_msh_integer(reader, I32, "the number of a node", 0, INT32_MAX, &tag));
    NOLI_TRY(add_node_tag(reader, tag));
    for (int k = 0; k < 3; k++) {
      NOLI_TRY(msh_number(reader, "a coordinate", x++));
    }
  }
done:
  return status;
}

static int compare_node_tags(const void* a, const void* b) {
  const NoliMshNodeTag *left = a, *right = b;
  return noli_order(left->tag, right->tag);
}

// Prepares the conversion of tags to vertices: a table if the tags are dense, otherwise a sorted
// list.
static NoliStatus index_nodes(NoliMshReader* reader, const char* place) {
  NoliStatus status = NOLI_OK;
  int64_t n = reader->node.count;
  NoliMshNodeTag* node = reader->node.data;
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
    noli_sort(node, n, sizeof *node, compare_node_tags);
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

static NoliStatus read_nodes(NoliMshReader* reader) {
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
static NoliStatus read_corners(NoliMshReader* reader, int type, int32_t width, int32_t* corner) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  for (int32_t i = 0; i < width; i++) {
    int64_t tag = 0;
    NOLI_TRY(noli_msh_integer(reader, type, "a node of the element", 0, INT64_MAX - 1, &tag));
    corner[i] = NOLI_NULL_INDEX;
    if (reader->vertex.count > 0) {
      int64_t slot = tag - reader->first_tag;
      corner[i] = slot >= 0 && slot < reader->vertex.count ? reader->vertex.data[slot] : -1;
    } else if (reader->node.count > 0) {
      NoliMshNodeTag wanted = {.tag = tag};
      const NoliMshNodeTag* found = noli_find_sorted(&wanted, reader->node.data, reader->node.count,
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
static NoliStatus add_to_set(NoliMshReader* reader, const Element* element, int32_t physical) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->cursor->context;
  for (int64_t g = 0; g < reader->group.count; g++) {
    const NoliMshEntity* group = &reader->group.data[g];
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
static NoliStatus add_element(NoliMshReader* reader, Element* element, int32_t physical) {
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
static NoliStatus read_element_block(NoliMshReader* reader, int64_t* n_read) {
  NoliStatus status = NOLI_OK;
  int64_t dimension = 0, tag = 0, type = 0, n = 0;
  int32_t corner[NOLI_TET_NODES_MAX];
  Element element = {.node = corner};
  NoliMshEntity entity;
  NOLI_TRY(noli_msh_integer(reader, I32, "the dimension of an entity", 0, 3, &dimension));
  NOLI_TRY(noli_msh_integer(reader, I32, "the tag of an entity", INT32_MIN, INT32_MAX, &tag));
  if (!reader->binary) {
    noli_skip_space(reader->cursor);
  }
  const char* place = reader->cursor->at;
  NOLI_TRY(noli_msh_integer(reader, I32, "an element type", INT32_MIN, INT32_MAX, &type));
  NOLI_TRY(noli_msh_integer(reader, SIZE, "the number of elements of a block", 0, INT32_MAX, &n));
  NOLI_TRY(msh_find_type(reader, place, type, &element.type));
  int64_t n_value = 1 + (int64_t)element.type->n_node;
  NOLI_TRY(noli_expect_items(reader->cursor, "elements", n, (reader->binary ? 8 : 2) * n_value,
                             reader->binary));
  NOLI_TRY(noli_msh_find_groups(reader, dimension, tag, &entity));
  for (int64_t i = 0; i < n; i++) {
    int64_t number_of_element = 0;
    NOLI_TRY(
        noli_msh_integer(reader, SIZE, "the tag of an element", 0, INT64_MAX, &number_of_element));
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
static NoliStatus read_elements_new(NoliMshReader* reader) {
  NoliStatus status = NOLI_OK;
  int64_t n_block = 0, n_element = 0, bound = 0, n_read = 0;
  const char* place = reader->cursor->at;
  NOLI_TRY(noli_msh_integer(reader, SIZE, "the number of blocks", 0, INT32_MAX, &n_block));
  NOLI_TRY(noli_msh_integer(reader, SIZE, "the number of elements", 0, INT32_MAX, &n_element));
  NOLI_TRY(noli_msh_integer(reader, SIZE, "the lowest element tag", INT64_MIN, INT64_MAX, &bound));
  NOLI_TRY(noli_msh_integer(reader, SIZE, "the highest element tag", INT64_MIN, INT64_MAX, &bound));
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
static NoliStatus add_old_element(NoliMshReader* reader, Element* element, int32_t physical) {
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
static NoliStatus read_element_run(NoliMshReader* reader, int64_t type, int64_t n, int64_t n_tag,
                                   const char* place) {
  NoliStatus status = NOLI_OK;
  int32_t corner[NOLI_TET_NODES_MAX];
  Element element = {.node = corner};
  int64_t value = 0;
  NOLI_TRY(msh_find_type(reader, place, type, &element.type));
  for (int64_t i = 0; i < n; i++) {
    int32_t physical = 0;
    if (reader->binary) {
      NOLI_TRY(
          noli_msh_integer(reader, I32, "the number of an element", INT32_MIN, INT32_MAX, &value));
    }
    for (int64_t t = 0; t < n_tag; t++) {
      NOLI_TRY(noli_msh_integer(reader, I32, "a tag of the element", INT32_MIN, INT32_MAX, &value));
      physical = t == 0 ? (int32_t)value : physical;
    }
    NOLI_TRY(read_corners(reader, I32, element.type->n_node, corner));
    NOLI_TRY(add_old_element(reader, &element, physical));
  }
done:
  return status;
}

// The elements of 2.2: one by one in text, in runs in binary.
static NoliStatus read_elements_old(NoliMshReader* reader) {
  NoliStatus status = NOLI_OK;
  NoliCursor* cursor = reader->cursor;
  int64_t n = 0, number_of_element = 0, type = 0, n_run = 1, n_tag = 0;
  NOLI_TRY(noli_read_integer(cursor, "the number of elements", 0, INT32_MAX, &n));
  noli_skip_line(cursor);
  for (int64_t i = 0; i < n; i += n_run) {
    if (!reader->binary) {
      NOLI_TRY(noli_msh_integer(reader, I32, "the number of an element", 0, INT32_MAX,
                                &number_of_element));
      noli_skip_space(cursor);
    }
    const char* place = cursor->at;
    NOLI_TRY(noli_msh_integer(reader, I32, "an element type", INT32_MIN, INT32_MAX, &type));
    if (reader->binary) {
      NOLI_TRY(noli_msh_integer(reader, I32, "the length of a run of elements", 1, n - i, &n_run));
    }
    NOLI_TRY(noli_msh_integer(reader, I32, "the number of tags", 0, INT32_MAX, &n_tag));
    NOLI_TRY(read_element_run(reader, type, n_run, n_tag, place));
  }
done:
  return status;
}

static NoliStatus msh_read_elements(NoliMshReader* reader) {
  if (!reader->has_nodes) {
    return noli_cursor_fail(reader->cursor, reader->cursor->at,
                            "the section $Elements comes before $Nodes");
  }
  return reader->new_version ? read_elements_new(reader) : read_elements_old(reader);
}

// ---- the file

// Reads `$EndName`, or fails.
static NoliStatus expect_end(NoliMshReader* reader, NoliSpan name) {
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
static NoliStatus skip_section(NoliMshReader* reader, NoliSpan name) {
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

// Reads or skips the section whose name was just read.
static NoliStatus msh_read_section(NoliMshReader* reader, NoliSpan name, bool* has_format) {
  static const struct {
    const char* name;
    NoliStatus (*read)(NoliMshReader* reader);
  } sections[] = {
      {"$MeshFormat", read_format},
      {"$Entities", noli_msh_read_entities},
      {"$Nodes", read_nodes},
      {"$Elements", msh_read_elements},
      {"$PartitionedEntities", noli_msh_read_parts},
      {"$PhysicalNames", noli_msh_read_names},
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
  NoliMshReader reader = {.cursor = cursor, .parts = parts};
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
    NOLI_TRY(msh_read_section(&reader, name, &has_format));
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
