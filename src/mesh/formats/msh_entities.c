#include "mesh/formats/msh_reader.h"

#include "base/sort.h"

enum { I32 = NOLI_SCALAR_I32, SIZE = NOLI_SCALAR_U64 };

static int compare_entities(const void* a, const void* b) {
  const NoliMshEntity *left = a, *right = b;
  int order = noli_order(left->dimension, right->dimension);
  return order != 0 ? order : noli_order(left->tag, right->tag);
}

// Notes a group of an entity after its first one; only sets need them.
static NoliStatus add_more(NoliMshReader* reader, NoliMshEntity entity, int32_t physical) {
  NoliStatus status = NOLI_OK;
  entity.physical = physical;
  if (reader->parts->sets.wanted) {
    NOLI_PUSH(reader->cursor->context, &reader->more, entity);
  }
done:
  return status;
}

// Reads the tag of an entity.
static NoliStatus read_entity_tag(NoliMshReader* reader, int64_t* tag) {
  return noli_msh_integer(reader, I32, "the tag of an entity", INT32_MIN, INT32_MAX, tag);
}

// Reads the box, the physical groups and the boundary of an entity. `*n_group` counts its groups;
// the first is its tag, unless it has one already.
static NoliStatus msh_entities_read_body(NoliMshReader* reader, NoliMshEntity* entity,
                                         int64_t* n_group) {
  NoliStatus status = NOLI_OK;
  int64_t n = 0, tag = 0;
  for (int i = 0; i < (entity->dimension == 0 ? 3 : 6); i++) {
    NOLI_TRY(
        noli_skip_value(reader->cursor, reader->binary, NOLI_SCALAR_F64, "a bound of an entity"));
  }
  NOLI_TRY(noli_msh_integer(reader, SIZE, "a number of physical groups", 0, INT32_MAX, n_group));
  for (int64_t i = 0; i < *n_group; i++) {
    NOLI_TRY(
        noli_msh_integer(reader, I32, "the tag of a physical group", INT32_MIN, INT32_MAX, &tag));
    if (i > 0 || entity->physical != 0) {
      NOLI_TRY(add_more(reader, *entity, (int32_t)tag));
    } else {
      entity->physical = (int32_t)tag;
    }
  }

  if (entity->dimension > 0) {
    NOLI_TRY(noli_msh_integer(reader, SIZE, "a number of bounding entities", 0, INT32_MAX, &n));
    for (int64_t i = 0; i < n; i++) {
      NOLI_TRY(read_entity_tag(reader, &tag));
    }
  }
done:
  return status;
}

// Reads how many entities of each dimension follow.
static NoliStatus read_counts(NoliMshReader* reader, int64_t count[4]) {
  NoliStatus status = NOLI_OK;
  for (int d = 0; d < 4; d++) {
    NOLI_TRY(noli_msh_integer(reader, SIZE, "a number of entities", 0, INT32_MAX, &count[d]));
  }
done:
  return status;
}

NoliStatus noli_msh_read_entities(NoliMshReader* reader) {
  NoliStatus status = NOLI_OK;
  int64_t count[4], n_group = 0;
  NOLI_TRY(read_counts(reader, count));
  for (int d = 0; d < 4; d++) {
    for (int64_t i = 0; i < count[d]; i++) {
      NoliMshEntity entity = {.dimension = d};
      NOLI_TRY(read_entity_tag(reader, &entity.tag));
      NOLI_TRY(msh_entities_read_body(reader, &entity, &n_group));
      NOLI_PUSH(reader->cursor->context, &reader->entity, entity);
    }
  }
  reader->n_more = reader->more.count;
  noli_sort(reader->entity.data, reader->entity.count, sizeof *reader->entity.data,
            compare_entities);
done:
  return status;
}

static const NoliMshEntity* msh_entities_find_entity(const NoliMshEntity* entity, int64_t n,
                                                     int64_t dimension, int64_t tag) {
  NoliMshEntity wanted = {.dimension = dimension, .tag = tag};
  return noli_find_sorted(&wanted, entity, n, sizeof wanted, compare_entities);
}

// Reads an entity of a partition. Its parent, of the same dimension, has the groups that people
// made; its own may be those that Gmsh makes of the parts.
static NoliStatus read_part(NoliMshReader* reader, int dimension) {
  NoliStatus status = NOLI_OK;
  NoliMshEntity entity = {.dimension = dimension};
  int64_t parent_dimension = 0, parent_tag = 0, n = 0, partition = 0, n_group = 0;
  NOLI_TRY(read_entity_tag(reader, &entity.tag));
  NOLI_TRY(noli_msh_integer(reader, I32, "the dimension of the parent", -1, 3, &parent_dimension));
  NOLI_TRY(
      noli_msh_integer(reader, I32, "the tag of the parent", INT32_MIN, INT32_MAX, &parent_tag));
  NOLI_TRY(noli_msh_integer(reader, SIZE, "a number of parts", 0, INT32_MAX, &n));
  for (int64_t i = 0; i < n; i++) {
    NOLI_TRY(noli_msh_integer(reader, I32, "a part", INT32_MIN, INT32_MAX, &partition));
  }
  const NoliMshEntity* parent =
      parent_dimension == dimension
          ? msh_entities_find_entity(reader->entity.data, reader->entity.count, dimension,
                                     parent_tag)
          : NULL;
  if (parent != NULL) {
    entity.physical = parent->physical;
    for (int64_t m = 0; m < reader->n_more; m++) {
      const NoliMshEntity* more = &reader->more.data[m];
      if (more->dimension == dimension && more->tag == parent_tag) {
        NOLI_TRY(add_more(reader, entity, more->physical));
      }
    }
  }

  NOLI_TRY(msh_entities_read_body(reader, &entity, &n_group));
  entity.is_cut = parent_dimension > dimension && n_group == 0;
  NOLI_PUSH(reader->cursor->context, &reader->part, entity);
done:
  return status;
}

NoliStatus noli_msh_read_parts(NoliMshReader* reader) {
  NoliStatus status = NOLI_OK;
  int64_t count[4], n = 0, value = 0;
  NOLI_TRY(noli_msh_integer(reader, SIZE, "the number of parts", 0, INT32_MAX, &n));
  NOLI_TRY(noli_msh_integer(reader, SIZE, "the number of ghost entities", 0, INT32_MAX, &n));
  for (int64_t i = 0; i < 2 * n; i++) {
    NOLI_TRY(noli_msh_integer(reader, I32, "a ghost entity", INT32_MIN, INT32_MAX, &value));
  }
  NOLI_TRY(read_counts(reader, count));
  for (int d = 0; d < 4; d++) {
    for (int64_t i = 0; i < count[d]; i++) {
      NOLI_TRY(read_part(reader, d));
    }
  }
  noli_sort(reader->part.data, reader->part.count, sizeof *reader->part.data, compare_entities);
done:
  return status;
}

NoliStatus noli_msh_find_groups(NoliMshReader* reader, int64_t dimension, int64_t tag,
                                NoliMshEntity* entity) {
  NoliStatus status = NOLI_OK;
  const NoliMshEntity* found =
      msh_entities_find_entity(reader->part.data, reader->part.count, dimension, tag);
  if (found == NULL) {
    found = msh_entities_find_entity(reader->entity.data, reader->entity.count, dimension, tag);
  }
  *entity = found != NULL ? *found : (NoliMshEntity){.dimension = dimension, .tag = tag};
  reader->extra.count = 0;
  for (int64_t m = 0; m < reader->more.count; m++) {
    const NoliMshEntity* more = &reader->more.data[m];
    if (more->dimension == dimension && more->tag == tag) {
      NOLI_PUSH(reader->cursor->context, &reader->extra, more->physical);
    }
  }
done:
  return status;
}

NoliStatus noli_msh_read_names(NoliMshReader* reader) {
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
    NoliMshEntity group = {dimension, tag, (int32_t)reader->parts->sets.name.count, false};
    NOLI_TRY(noli_parts_add_set(cursor->context, reader->parts, name));
    NOLI_PUSH(cursor->context, &reader->group, group);
    cursor->at = close + 1;
  }
done:
  return status;
}
