// Surfaces of Abaqus and CalculiX files: sides of elements, or nodes.
#include "mesh/formats/inp_reader.h"
#include "mesh/topology.h"

// Sides of elements: 1 to 4 as the file numbers them, the element itself, or those of the boundary.
enum { SIDE_FREE = -1, SIDE_SELF = 0, N_SIDE = 4 };

// Reads the name of a side; `*known` is false for an edge of a shell and the like.
static bool read_side(NoliSpan name, int32_t* side) {
  bool numbered = name.n == 2 && (name.at[0] == 'S' || name.at[0] == 's');
  if (name.n == 0) {
    *side = SIDE_FREE;
  } else if (noli_inp_is_word(name, "SPOS") || noli_inp_is_word(name, "SNEG")) {
    *side = SIDE_SELF;
  } else if (numbered && name.at[1] >= '1' && name.at[1] <= '0' + N_SIDE) {
    *side = name.at[1] - '0';
  } else {
    return false;
  }
  return true;
}

// The label of an element or node, or the set of that name; of the assembly first.
static NoliStatus read_member(NoliInpReader* reader, NoliInpScope kind, NoliSpan field,
                              NoliInpSurfaceEntry* entry) {
  entry->set = NOLI_NULL_INDEX;
  (void)noli_inp_without_instance(reader, &field);
  if (field.n > 0 && noli_is_digit(*field.at)) {
    return noli_inp_integer(&reader->text, field, noli_inp_name_of(kind), &entry->label);
  }
  entry->set = noli_inp_find_set(&reader->sets, kind + 1, field);
  entry->set = entry->set >= 0 ? entry->set : noli_inp_find_set(&reader->sets, kind, field);
  if (entry->set < 0) {
    return noli_cursor_fail(reader->text.cursor, entry->place, "there is no %s set %s before",
                            kind == NOLI_INP_NODES ? "node" : "element", noli_show(field).text);
  }
  return NOLI_OK;
}

// A line of a surface: an element or a set of them, and a side; or a node or a set of nodes.
static NoliStatus read_surface_line(NoliInpReader* reader, NoliSpan line, bool of_nodes) {
  NoliStatus status = NOLI_OK;
  NoliSpan member = {line.at, 0}, side = {line.at, 0};
  bool goes_on = false;
  NoliInpSurfaceEntry entry = {.of_nodes = of_nodes, .place = line.at};
  noli_inp_next_field(&line, &member, &goes_on);
  if (!of_nodes && noli_inp_next_field(&line, &side, &goes_on) && !read_side(side, &entry.side)) {
    noli_log(reader->text.cursor->context, NOLI_LOG_WARNING,
             "%s: sides %s of a surface are not used: only S1 to S4, SPOS and SNEG are",
             reader->text.cursor->path, noli_show(side).text);
    return NOLI_OK;
  }
  if (side.n == 0) {
    entry.side = SIDE_FREE;
  }
  NOLI_TRY(read_member(reader, of_nodes ? NOLI_INP_NODES : NOLI_INP_ELEMENTS, member, &entry));
  NOLI_PUSH(reader->text.cursor->context, &reader->surface_entry, entry);
done:
  return status;
}

NoliStatus noli_inp_read_surface(NoliInpReader* reader) {
  NoliStatus status = NOLI_OK;
  NoliInpText* text = &reader->text;
  const NoliInpParameter* named = noli_inp_find_parameter(text, "NAME");
  const NoliInpParameter* type = noli_inp_find_parameter(text, "TYPE");
  bool of_nodes = type != NULL && noli_inp_is_word(type->value, "NODE");
  bool of_elements = type == NULL || noli_inp_is_word(type->value, "ELEMENT");
  NoliSpan line;

  if (!reader->parts->sets.wanted) {
    noli_inp_skip_data(reader);
    goto done;
  }

  if (named == NULL || named->value.n == 0 || (!of_nodes && !of_elements) ||
      noli_inp_find_parameter(text, "COMBINE") != NULL) {
    // rigid ones are described by lines, combined ones by others
    noli_parts_note_unused(reader->parts, "surface",
                           named != NULL ? named->value : (NoliSpan){text->keyword.at, 0});
    noli_inp_skip_data(reader);
    goto done;
  }

  NoliInpSurface surface = {.name = named->value,
                            .first_entry = reader->surface_entry.count,
                            .is_internal = noli_inp_find_parameter(text, "INTERNAL") != NULL};
  NOLI_PUSH(text->cursor->context, &reader->surface, surface);
  while (noli_inp_next_line(text, &line)) {
    NOLI_TRY(read_surface_line(reader, line, of_nodes));
  }
done:
  return status;
}

// Tetrahedra and their sides that bound the mesh, for surfaces.
typedef struct Boundary {
  int32_t* tet;  // (n elements) number of the tetrahedron; NOLI_NULL_INDEX: another element
  uint8_t* side; // (n_tet x 4) whether the side opposite to a vertex bounds the mesh
} Boundary;

static NoliStatus find_boundary(NoliInpReader* reader, Boundary* boundary) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->text.cursor->context;
  int32_t n_tet = (int32_t)(reader->parts->tet.count / 4), next = 0;
  NOLI_NEW(context, boundary->tet, reader->element.count);
  NOLI_NEW(context, boundary->side, 4 * (int64_t)n_tet);
  for (int64_t e = 0; e < reader->element.count; e++) {
    bool is_tet = reader->element_data.data[e].type->dimension == 3;
    boundary->tet[e] = is_tet ? next++ : NOLI_NULL_INDEX;
  }
  NOLI_TRY(noli_tet_boundary(context, n_tet, reader->parts->tet.data, 4, boundary->side));
done:
  return status;
}

// Adds a side of an element to a set: a face of a tetrahedron, a triangle or quadrilateral, or a
// side of those in a plane, which has two vertices only.
static NoliStatus add_side(NoliInpReader* reader, const Boundary* boundary, int32_t set,
                           int32_t element, int32_t side) {
  // vertices of sides 1 to 4 of tetrahedra, and the vertex opposite to each
  static const int32_t tet_side[N_SIDE][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  static const int32_t opposite[N_SIDE] = {3, 2, 0, 1};
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->text.cursor->context;
  const NoliInpElement* data = &reader->element_data.data[element];
  int32_t tet = boundary->tet[element], node[3] = {0}, n_vertex = data->type->n_vertex;
  int32_t dimension = data->type->dimension;
  const int64_t* label = reader->node_of.data + data->first_node;
  if (dimension == 3) {
    for (int32_t k = 0; k < N_SIDE; k++) {
      bool is_meant =
          side == SIDE_FREE ? boundary->side[4 * (int64_t)tet + opposite[k]] != 0 : side == k + 1;
      for (int32_t i = 0; is_meant && i < 3; i++) {
        node[i] = noli_inp_find_label(&reader->node, label[tet_side[k][i]]);
      }
      NOLI_TRY(is_meant ? noli_parts_add_face(context, reader->parts, set, node) : NOLI_OK);
    }
    goto done;
  }

  bool is_self = side == SIDE_FREE || side == SIDE_SELF || dimension < 2;
  for (int32_t i = 0; i < (is_self ? n_vertex : 2); i++) {
    int32_t at = is_self ? i : (side - 1 + i) % n_vertex;
    int32_t vertex = noli_inp_find_label(&reader->node, label[at]);
    NOLI_TRY(noli_parts_add_member(context, reader->parts, set, vertex));
  }

  if (is_self) {
    NOLI_TRY(
        noli_parts_add_triangles_to_set(context, reader->parts, set, data->first_tri, data->n_tri));
  }
done:
  return status;
}

// Adds what an entry of a surface means to a set.
static NoliStatus add_entry_sides(NoliInpReader* reader, const Boundary* boundary, int32_t set,
                                  const NoliInpSurfaceEntry* entry) {
  NoliStatus status = NOLI_OK;
  const NoliCursor* cursor = reader->text.cursor;
  const NoliInpLabels* labels = entry->of_nodes ? &reader->node : &reader->element;
  int32_t *member = NULL, n_member = 1;
  if (entry->set >= 0) {
    NOLI_TRY(noli_inp_list_set(cursor, &reader->sets, labels, entry->set, &member, &n_member));
  } else {
    NOLI_NEW(cursor->context, member, 1);
    member[0] = noli_inp_find_label(labels, entry->label);
    // nodes of the assembly are reference points
    n_member = member[0] < 0 && entry->of_nodes ? 0 : 1;
  }

  for (int32_t i = 0; i < n_member; i++) {
    if (member[i] < 0) {
      status = noli_cursor_fail(cursor, entry->place,
                                "the surface names element %lld, which does not exist",
                                (long long)entry->label);
      goto done;
    }
    NOLI_TRY(entry->of_nodes ? noli_parts_add_member(cursor->context, reader->parts, set, member[i])
                             : add_side(reader, boundary, set, member[i], entry->side));
  }
done:
  noli_free(cursor->context, member);
  return status;
}

// The set of a surface: a new one, or that of an earlier surface of this name. NOLI_NULL_INDEX
// where another set has the name.
static NoliStatus find_surface_set(NoliInpReader* reader, int64_t n_other, NoliSpan name,
                                   int32_t* set) {
  NoliStatus status = NOLI_OK;
  NoliMeshParts* parts = reader->parts;
  *set = NOLI_NULL_INDEX;
  for (int64_t s = 0; s < parts->sets.name.count; s++) {
    const char* known = parts->sets.name.data[s];
    if (noli_inp_same_names((NoliSpan){known, (int64_t)strlen(known)}, name)) {
      if (s < n_other) {
        noli_parts_note_unused(parts, "surface, whose name is that of a set:", name);
      }
      *set = s < n_other ? NOLI_NULL_INDEX : (int32_t)s;
      goto done;
    }
  }
  NOLI_TRY(noli_parts_add_set(reader->text.cursor->context, parts, name));
  *set = (int32_t)parts->sets.name.count - 1;
done:
  return status;
}

NoliStatus noli_inp_add_surfaces(NoliInpReader* reader) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->text.cursor->context;
  Boundary boundary = {0};
  int64_t n_other = reader->parts->sets.name.count;
  if (reader->surface.count == 0) {
    return NOLI_OK;
  }
  NOLI_TRY(find_boundary(reader, &boundary));

  for (int64_t s = 0; s < reader->surface.count; s++) {
    const NoliInpSurface* surface = &reader->surface.data[s];
    int64_t end =
        s + 1 < reader->surface.count ? surface[1].first_entry : reader->surface_entry.count;
    int32_t set = NOLI_NULL_INDEX;
    if (!surface->is_internal) {
      NOLI_TRY(find_surface_set(reader, n_other, surface->name, &set));
    }
    for (int64_t i = surface->first_entry; set >= 0 && i < end; i++) {
      NOLI_TRY(add_entry_sides(reader, &boundary, set, &reader->surface_entry.data[i]));
    }
  }
done:
  noli_free(context, boundary.tet);
  noli_free(context, boundary.side);
  return status;
}
