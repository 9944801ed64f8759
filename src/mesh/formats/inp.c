// Abaqus and CalculiX .inp: *NODE, *ELEMENT, *NSET and *ELSET of one part; element sets become
// tags. Other keywords are skipped with their data, except those that would make a mesh.
//
// Blocks may come in any order, so that elements and sets keep labels until the file ends.
#include "math/rotation.h"
#include "mesh/formats/inp_reader.h"

#include <math.h>

enum { N_NODE_MAX = 10 };

// clang-format off
static const NoliInpElementType element_types[] = {
  {"C3D4", 4, 4, 1, 3}, {"C3D4H", 4, 4, 1, 3}, {"C3D4T", 4, 4, 1, 3},
  {"C3D10", 10, 4, 2, 3}, {"C3D10H", 10, 4, 2, 3}, {"C3D10HS", 10, 4, 2, 3}, {"C3D10I", 10, 4, 2, 3},
  {"C3D10M", 10, 4, 2, 3}, {"C3D10MH", 10, 4, 2, 3}, {"C3D10T", 10, 4, 2, 3},
  {"S3", 3, 3, 1, 2}, {"S3R", 3, 3, 1, 2}, {"S3RS", 3, 3, 1, 2}, {"STRI3", 3, 3, 1, 2}, {"M3D3", 3, 3, 1, 2},
  {"CPS3", 3, 3, 1, 2}, {"CPE3", 3, 3, 1, 2}, {"CPE3H", 3, 3, 1, 2}, {"R3D3", 3, 3, 1, 2},
  {"SFM3D3", 3, 3, 1, 2},
  {"S6", 6, 3, 2, 2}, {"STRI65", 6, 3, 2, 2}, {"M3D6", 6, 3, 2, 2}, {"CPS6", 6, 3, 2, 2}, {"CPE6", 6, 3, 2, 2},
  {"CPS6M", 6, 3, 2, 2}, {"CPE6M", 6, 3, 2, 2}, {"SFM3D6", 6, 3, 2, 2},
  {"B31", 2, 2, 1, 1}, {"B31R", 2, 2, 1, 1}, {"B31H", 2, 2, 1, 1}, {"B21", 2, 2, 1, 1},
  {"T3D2", 2, 2, 1, 1}, {"T3D2H", 2, 2, 1, 1}, {"T2D2", 2, 2, 1, 1},
  {"B32", 3, 2, 2, 1}, {"B32R", 3, 2, 2, 1}, {"B32H", 3, 2, 2, 1}, {"B22", 3, 2, 2, 1},
  {"T3D3", 3, 2, 2, 1}, {"T2D3", 3, 2, 2, 1},
  {"S4", 4, 4, 1, 2}, {"S4R", 4, 4, 1, 2}, {"S4RS", 4, 4, 1, 2}, {"S4RSW", 4, 4, 1, 2},
  {"S4R5", 4, 4, 1, 2}, {"M3D4", 4, 4, 1, 2}, {"M3D4R", 4, 4, 1, 2}, {"CPS4", 4, 4, 1, 2},
  {"CPS4R", 4, 4, 1, 2}, {"CPS4I", 4, 4, 1, 2}, {"CPE4", 4, 4, 1, 2}, {"CPE4R", 4, 4, 1, 2},
  {"CPE4H", 4, 4, 1, 2}, {"CPE4I", 4, 4, 1, 2}, {"CPE4RH", 4, 4, 1, 2}, {"CPE4IH", 4, 4, 1, 2},
  {"R3D4", 4, 4, 1, 2}, {"SFM3D4", 4, 4, 1, 2}, {"SFM3D4R", 4, 4, 1, 2},
};
// clang-format on

void noli_inp_skip_data(NoliInpReader* reader) {
  NoliSpan line;
  while (noli_inp_next_line(&reader->text, &line)) {
  }
}

// ---- sets

// The scope of sets that are defined here: of nodes, or NOLI_INP_ELEMENTS.
static NoliInpScope scope_here(const NoliInpReader* reader, NoliInpScope kind) {
  return reader->level == NOLI_INP_IN_ASSEMBLY ? kind + 1 : kind;
}

const char* noli_inp_name_of(NoliInpScope kind) {
  return kind == NOLI_INP_NODES ? "a node" : "an element";
}

// Begins a piece of the set that a parameter names.
static NoliStatus begin_set(NoliInpReader* reader, NoliInpScope kind, const NoliInpParameter* named,
                            bool is_internal) {
  if (named->value.n == 0) {
    return noli_cursor_fail(reader->text.cursor, named->name.at, "%s needs a name",
                            noli_show(named->name).text);
  }
  return noli_inp_begin_piece(reader->text.cursor, &reader->sets, scope_here(reader, kind),
                              named->value, is_internal);
}

// Adds an entry to a set; to one of nodes only where sets are wanted.
static NoliStatus inp_add_entry(NoliInpReader* reader, NoliInpScope kind, NoliInpEntry entry) {
  return kind == NOLI_INP_NODES && !reader->parts->sets.wanted
             ? NOLI_OK
             : noli_inp_add_entry(reader->text.cursor->context, &reader->sets, entry);
}

// Adds a label to the last piece; runs of consecutive labels become one entry.
static NoliStatus add_to_run(NoliInpReader* reader, NoliInpScope kind, int64_t label,
                             const char* place, NoliInpEntry* run) {
  if (run->place != NULL && label == run->last + 1) {
    reader->sets.entry.data[reader->sets.entry.count - 1].last = run->last = label;
    return NOLI_OK;
  }
  *run = (NoliInpEntry){.first = label, .last = label, .step = 1, .place = place};
  return inp_add_entry(reader, kind, *run);
}

bool noli_inp_without_instance(const NoliInpReader* reader, NoliSpan* name) {
  NoliSpan head = {name->at, reader->instance.n};
  if (head.n == 0 || name->n <= head.n + 1 || name->at[head.n] != '.' ||
      !noli_inp_same_names(head, reader->instance)) {
    return false;
  }
  *name = (NoliSpan){name->at + head.n + 1, name->n - head.n - 1};
  return true;
}

// The name of a set that was defined before, with the sets of the assembly first unless `of_part`.
static NoliStatus read_reference(NoliInpReader* reader, NoliInpScope kind, NoliSpan name,
                                 bool of_part) {
  int32_t set = of_part ? -1 : noli_inp_find_set(&reader->sets, kind + 1, name);
  set = set < 0 ? noli_inp_find_set(&reader->sets, kind, name) : set;
  if (set < 0) {
    return noli_cursor_fail(reader->text.cursor, name.at, "there is no %s set %s before",
                            kind == NOLI_INP_NODES ? "node" : "element", noli_show(name).text);
  }
  return inp_add_entry(reader, kind, (NoliInpEntry){.first = set, .place = name.at});
}

// One field of a list: a label or the name of a set.
static NoliStatus read_entry(NoliInpReader* reader, NoliInpScope kind, NoliSpan field) {
  NoliStatus status = NOLI_OK;
  NoliInpEntry entry = {.step = 1, .place = field.at};
  bool of_part = noli_inp_without_instance(reader, &field) ||
                 reader->level != NOLI_INP_IN_ASSEMBLY ||
                 noli_inp_find_parameter(&reader->text, "INSTANCE") != NULL;
  bool is_name = field.n > 0 && !noli_is_digit(*field.at) && *field.at != '-' && *field.at != '+';
  if (is_name) {
    NOLI_TRY(read_reference(reader, kind, field, of_part));
    goto done;
  }
  NOLI_TRY(noli_inp_integer(&reader->text, field, noli_inp_name_of(kind), &entry.first));
  entry.last = entry.first;
  if (!of_part && kind == NOLI_INP_ELEMENTS) {
    status = noli_cursor_fail(reader->text.cursor, entry.place, "the assembly has no element %lld",
                              (long long)entry.first);
    goto done;
  }
  // nodes of the assembly are reference points, which belong to no cell
  if (of_part) {
    NOLI_TRY(inp_add_entry(reader, kind, entry));
  }
done:
  return status;
}

// A line of GENERATE: the first label, the last one, and the difference of neighbours.
static NoliStatus read_range(NoliInpReader* reader, NoliInpScope kind, NoliSpan line) {
  NoliStatus status = NOLI_OK;
  const NoliCursor* cursor = reader->text.cursor;
  NoliInpEntry entry = {.step = 1, .place = line.at};
  NoliSpan field;
  int64_t* value[] = {&entry.first, &entry.last, &entry.step};
  int n = 0;
  for (bool goes_on; noli_inp_next_field(&line, &field, &goes_on); n++) {
    NOLI_TRY(n == 3
                 ? noli_inp_expected(&reader->text, field.at, "the end of the line")
                 : noli_inp_integer(&reader->text, field,
                                    n == 2 ? "the increment" : noli_inp_name_of(kind), value[n]));
  }
  if (n < 2 || entry.last < entry.first) {
    status = n < 2 ? noli_cursor_fail(cursor, entry.place,
                                      "GENERATE needs the first and the last label, got %d", n)
                   : noli_cursor_fail(cursor, entry.place,
                                      "the last label %lld is below the first, %lld",
                                      (long long)entry.last, (long long)entry.first);
    goto done;
  }
  NOLI_TRY(inp_add_entry(reader, kind, entry));
done:
  return status;
}

static NoliStatus read_set(NoliInpReader* reader, NoliInpScope kind, const char* name) {
  const char* const known[] = {name, "GENERATE", "INTERNAL", "UNSORTED", "INSTANCE", NULL};
  NoliStatus status = NOLI_OK;
  NoliInpText* text = &reader->text;
  NoliSpan line, field;
  const NoliInpParameter* named = noli_inp_find_parameter(text, name);
  NOLI_TRY(noli_inp_check_parameters(text, known));
  if (named == NULL) {
    status = noli_cursor_fail(text->cursor, text->keyword.at, "%s needs the parameter %s",
                              noli_show(text->keyword).text, name);
    goto done;
  }

  NOLI_TRY(begin_set(reader, kind, named, noli_inp_find_parameter(text, "INTERNAL") != NULL));
  bool is_generated = noli_inp_find_parameter(text, "GENERATE") != NULL;
  while (noli_inp_next_line(text, &line)) {
    if (is_generated) {
      NOLI_TRY(read_range(reader, kind, line));
      continue;
    }
    for (bool goes_on; noli_inp_next_field(&line, &field, &goes_on);) {
      NOLI_TRY(read_entry(reader, kind, field));
    }
  }
done:
  return status;
}

static NoliStatus read_node_set(NoliInpReader* reader) {
  return read_set(reader, NOLI_INP_NODES, "NSET");
}

static NoliStatus read_element_set(NoliInpReader* reader) {
  return read_set(reader, NOLI_INP_ELEMENTS, "ELSET");
}

// ---- nodes and elements

// A label and up to three coordinates; a normal that follows is ignored.
static NoliStatus read_node(NoliInpReader* reader, NoliSpan line, int64_t* of_node) {
  NoliStatus status = NOLI_OK;
  const NoliCursor* cursor = reader->text.cursor;
  NoliSpan field = line;
  const char* place = line.at;
  double *x = NULL, values[3];
  int64_t label = 0;
  bool goes_on = false;
  noli_inp_next_field(&line, &field, &goes_on);
  NOLI_TRY(noli_inp_integer(&reader->text, field, "the label of a node", &label));
  NOLI_TRY(noli_inp_add_label(cursor, &reader->node, label, place));
  *of_node = label;
  NOLI_TRY(noli_inp_numbers(&reader->text, line, "a coordinate", 3, 3, values));
  NOLI_TRY(noli_parts_add_vertices(cursor->context, reader->parts, 1, &x));
  memcpy(x, values, sizeof values);
done:
  return status;
}

static NoliStatus read_nodes(NoliInpReader* reader) {
  static const char* const known[] = {"NSET", "SYSTEM", NULL};
  NoliStatus status = NOLI_OK;
  NoliInpText* text = &reader->text;
  NoliSpan line;

  // nodes of the assembly are reference points, which belong to no cell
  if (reader->level == NOLI_INP_IN_ASSEMBLY) {
    noli_inp_skip_data(reader);
    goto done;
  }
  NOLI_TRY(noli_inp_check_parameters(text, known));
  const NoliInpParameter* system = noli_inp_find_parameter(text, "SYSTEM");
  if (system != NULL && !noli_inp_is_word(system->value, "R")) {
    status = noli_cursor_fail(text->cursor, system->name.at,
                              "coordinates other than rectangular ones are not supported");
    goto done;
  }
  const NoliInpParameter* named = noli_inp_find_parameter(text, "NSET");
  if (named != NULL) {
    NOLI_TRY(begin_set(reader, NOLI_INP_NODES, named, false));
  }
  NoliInpEntry run = {.step = 1};
  while (noli_inp_next_line(text, &line)) {
    int64_t label = 0;
    NOLI_TRY(read_node(reader, line, &label));
    if (named != NULL && reader->parts->sets.wanted) {
      NOLI_TRY(add_to_run(reader, NOLI_INP_NODES, label, line.at, &run));
    }
  }
done:
  return status;
}

// The next node of an element, which is in the next line after a comma.
static NoliStatus next_node(const NoliInpReader* reader, NoliSpan* line, bool* goes_on,
                            int64_t* node) {
  static const char what[] = "a node of the element";
  const NoliInpText* text = &reader->text;
  NoliSpan field;
  while (!noli_inp_next_field(line, &field, goes_on)) {
    if (!*goes_on) {
      return noli_inp_expected(text, line->at + line->n, what);
    }
    if (!noli_inp_next_line(text, line)) {
      return noli_inp_expected(text, text->cursor->at, what);
    }
  }
  return noli_inp_integer(text, field, what, node);
}

static NoliStatus read_element(NoliInpReader* reader, const NoliInpElementType* type, NoliSpan line,
                               int64_t* label) {
  NoliStatus status = NOLI_OK;
  NoliInpText* text = &reader->text;
  NoliContext* context = text->cursor->context;
  NoliInpElement element = {.type = type, .place = line.at, .first_node = reader->node_of.count};
  NoliSpan field = line;
  bool goes_on = false;
  noli_inp_next_field(&line, &field, &goes_on);
  NOLI_TRY(noli_inp_integer(text, field, "the label of an element", label));
  NOLI_TRY(noli_inp_add_label(text->cursor, &reader->element, *label, element.place));
  NOLI_PUSH(context, &reader->element_data, element);
  for (int32_t i = 0; i < type->n_node; i++) {
    int64_t node = 0;
    NOLI_TRY(next_node(reader, &line, &goes_on, &node));
    NOLI_PUSH(context, &reader->node_of, node);
  }
  if (noli_inp_next_field(&line, &field, &goes_on)) {
    status = noli_inp_expected(text, field.at, "the end of the line");
  }
done:
  return status;
}

// The type that the keyword names.
static NoliStatus inp_find_type(NoliInpReader* reader, const NoliInpElementType** type) {
  NoliInpText* text = &reader->text;
  NoliMeshParts* parts = reader->parts;
  const NoliInpParameter* named = noli_inp_find_parameter(text, "TYPE");
  *type = NULL;
  if (named == NULL) {
    return noli_cursor_fail(text->cursor, text->keyword.at, "%s needs the parameter TYPE",
                            noli_show(text->keyword).text);
  }
  for (size_t t = 0; t < sizeof element_types / sizeof *element_types; t++) {
    *type = noli_inp_is_word(named->value, element_types[t].name) ? &element_types[t] : *type;
  }
  if (*type == NULL) {
    return noli_cursor_fail(text->cursor, named->name.at,
                            "elements of type %s are not supported: only tetrahedra (C3D4, C3D10), "
                            "triangles (S3, STRI3, M3D3, CPS3, CPE3), quadrilaterals (S4, M3D4, "
                            "CPS4, CPE4, R3D4) and segments (B31, T3D2) are",
                            noli_show(named->value).text);
  }

  if ((*type)->dimension == 3) {
    if (parts->order > 0 && parts->order != (*type)->order) {
      return noli_cursor_fail(text->cursor, named->name.at,
                              "%s: all tetrahedra must have the same order, previous ones have "
                              "order %d",
                              (*type)->name, parts->order);
    }
    parts->order = (*type)->order;
  } else if ((*type)->order > 1 && reader->bent == NULL) {
    reader->bent = named->name.at;
  }
  return NOLI_OK;
}

static NoliStatus inp_read_elements(NoliInpReader* reader) {
  static const char* const known[] = {"TYPE", "ELSET", "PARENT", NULL};
  NoliStatus status = NOLI_OK;
  NoliInpText* text = &reader->text;
  const NoliInpElementType* type;
  const NoliInpParameter* named = noli_inp_find_parameter(text, "ELSET");
  NoliSpan line;
  NoliInpEntry run = {.step = 1};
  NOLI_TRY(noli_inp_check_parameters(text, known));
  if (reader->level == NOLI_INP_IN_ASSEMBLY) {
    status = noli_cursor_fail(text->cursor, text->keyword.at,
                              "elements of the assembly itself are not supported");
    goto done;
  }

  NOLI_TRY(inp_find_type(reader, &type));
  if (named != NULL) {
    NOLI_TRY(begin_set(reader, NOLI_INP_ELEMENTS, named, false));
  }
  while (noli_inp_next_line(text, &line)) {
    int64_t label = 0;
    NOLI_TRY(read_element(reader, type, line, &label));
    if (named != NULL) {
      NOLI_TRY(add_to_run(reader, NOLI_INP_ELEMENTS, label, line.at, &run));
    }
  }
done:
  return status;
}

// ---- parts and instances

static NoliStatus inp_begin_part(NoliInpReader* reader) {
  if (reader->has_part) {
    return noli_cursor_fail(reader->text.cursor, reader->text.keyword.at,
                            "a second part: only files of one part are supported");
  }
  reader->has_part = true;
  reader->level = NOLI_INP_IN_PART;
  return NOLI_OK;
}

static NoliStatus begin_assembly(NoliInpReader* reader) {
  reader->level = NOLI_INP_IN_ASSEMBLY;
  return NOLI_OK;
}

// The data of an instance: a translation, then a rotation.
static NoliStatus begin_instance(NoliInpReader* reader) {
  NoliStatus status = NOLI_OK;
  NoliInpText* text = &reader->text;
  const NoliInpParameter* named = noli_inp_find_parameter(text, "NAME");
  NoliSpan line;
  if (reader->has_instance) {
    status = noli_cursor_fail(text->cursor, text->keyword.at,
                              "a second instance: only files of one instance are supported");
    goto done;
  }

  reader->has_instance = true;
  reader->instance = named != NULL ? named->value : (NoliSpan){text->keyword.at, 0};
  reader->level = NOLI_INP_IN_INSTANCE;
  if (noli_inp_next_line(text, &line)) {
    NOLI_TRY(noli_inp_numbers(text, line, "a translation", 3, 0, reader->translation));
  }
  if (noli_inp_next_line(text, &line)) {
    double* turn = reader->turn;
    NOLI_TRY(noli_inp_numbers(text, line, "a point or an angle", 7, 0, turn));
    if (turn[6] != 0.0 && turn[0] == turn[3] && turn[1] == turn[4] && turn[2] == turn[5]) {
      status = noli_cursor_fail(text->cursor, line.at, "the axis of the rotation has no length");
    }
  }
done:
  return status;
}

// Moves the nodes to the place of the instance: a translation, then a rotation.
static void place_instance(NoliInpReader* reader) {
  if (!reader->has_instance) {
    return;
  }
  const double degree = 3.14159265358979323846 / 180.0;
  const double* turn = reader->turn;
  NoliVec3 start = noli_load3(turn), axis = noli_sub3(noli_load3(turn + 3), start);
  NoliMat3 R = noli_identity3();
  if (turn[6] != 0.0) {
    NoliVec3 unit = noli_scale3(1.0 / noli_norm3(axis), axis);
    R = noli_turn33(unit, cos(turn[6] * degree), sin(turn[6] * degree));
  }
  for (int64_t v = 0; v < noli_parts_n_vert(reader->parts); v++) {
    double* x = reader->parts->x.data + 3 * v;
    NoliVec3 moved = noli_add3(noli_load3(x), noli_load3(reader->translation));
    if (turn[6] != 0.0) {
      moved = noli_add3(start, noli_mul33_vec(&R, noli_sub3(moved, start)));
    }
    noli_store3(x, moved);
  }
}

static NoliStatus end_level(NoliInpReader* reader) {
  reader->level = reader->level == NOLI_INP_IN_INSTANCE ? NOLI_INP_IN_ASSEMBLY : NOLI_INP_IN_MODEL;
  return NOLI_OK;
}

// ---- the file

// Keywords that make a mesh in ways that are not supported.
static NoliStatus inp_refuse(NoliInpReader* reader) {
  return noli_cursor_fail(reader->text.cursor, reader->text.keyword.at,
                          "%s is not supported: the file must contain all nodes and elements in "
                          "rectangular coordinates",
                          noli_show(reader->text.keyword).text);
}

static NoliStatus read_block(NoliInpReader* reader) {
  static const struct {
    const char* name;
    NoliStatus (*read)(NoliInpReader* reader);
  } blocks[] = {
      {"*NODE", read_nodes},
      {"*ELEMENT", inp_read_elements},
      {"*NSET", read_node_set},
      {"*ELSET", read_element_set},
      {"*SURFACE", noli_inp_read_surface},
      {"*PART", inp_begin_part},
      {"*ENDPART", end_level},
      {"*ASSEMBLY", begin_assembly},
      {"*ENDASSEMBLY", end_level},
      {"*INSTANCE", begin_instance},
      {"*ENDINSTANCE", end_level},
      {"*INCLUDE", inp_refuse},
      {"*SYSTEM", inp_refuse},
      {"*NGEN", inp_refuse},
      {"*NFILL", inp_refuse},
      {"*NCOPY", inp_refuse},
      {"*NMAP", inp_refuse},
      {"*ELGEN", inp_refuse},
      {"*ELCOPY", inp_refuse},
      {"*IMPORT", inp_refuse},
      {"*SYMMETRICMODELGENERATION", inp_refuse},
  };

  NoliStatus status = NOLI_OK;
  NoliSpan line;
  size_t b = 0, n_block = sizeof blocks / sizeof *blocks;
  NOLI_TRY(noli_inp_read_keyword(&reader->text));
  while (b < n_block && !noli_inp_is_word(reader->text.keyword, blocks[b].name)) {
    b++;
  }
  if (b == n_block) {
    noli_inp_skip_data(reader);
    goto done;
  }
  NOLI_TRY(blocks[b].read(reader));
  if (noli_inp_next_line(&reader->text, &line)) {
    status = noli_inp_expected(&reader->text, line.at, "a keyword such as *NODE");
  }
done:
  return status;
}

// Adds the cell of an element: its vertices come first, the other nodes define its curved shape.
static NoliStatus add_cell(NoliInpReader* reader, NoliInpElement* element, int32_t tag) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->text.cursor->context;
  NoliMeshParts* parts = reader->parts;
  const NoliInpElementType* type = element->type;
  const int64_t* label = reader->node_of.data + element->first_node;
  int32_t node[N_NODE_MAX];
  for (int32_t i = 0; i < type->n_node; i++) {
    // the last two nodes of C3D10 are on edges 2-4 and 3-4, those of a mesh on 3-4 and 2-4
    int64_t wanted = label[i < 8 ? i : 17 - i];
    node[i] = noli_inp_find_label(&reader->node, wanted);
    if (node[i] < 0) {
      status =
          noli_cursor_fail(reader->text.cursor, element->place,
                           "the element names node %lld, which does not exist", (long long)wanted);
      goto done;
    }
  }

  // programs disagree on which node of a curved segment is in its middle; it bounds other cells
  bool is_curved_segment = type->dimension == 1 && type->order > 1;
  element->first_tri = parts->tri.count / 3;
  if (type->dimension == 2) {
    NOLI_TRY(noli_parts_add_polygon(context, parts, type->n_vertex, node, tag));
  } else if (!is_curved_segment) {
    NOLI_TRY(noli_parts_add_cell(context, parts, type->n_vertex, node, tag));
  }
  element->n_tri = parts->tri.count / 3 - element->first_tri;
  for (int32_t i = is_curved_segment ? 0 : type->n_vertex; i < type->n_node; i++) {
    if (type->dimension == 3) {
      NOLI_PUSH(context, &parts->curve, node[i]);
    } else {
      NOLI_PUSH(context, &parts->bent, node[i]);
    }
  }
done:
  return status;
}

// Makes the cells when all blocks are read, in the order of the file.
static NoliStatus inp_add_cells(NoliInpReader* reader) {
  NoliStatus status = NOLI_OK;
  const NoliCursor* cursor = reader->text.cursor;
  NoliInpElement* element = reader->element_data.data;
  int64_t n = reader->element.count;
  int32_t *dimension = NULL, *tag = NULL;
  NOLI_TRY(noli_inp_sort_labels(cursor, "node", &reader->node));
  NOLI_TRY(noli_inp_sort_labels(cursor, "element", &reader->element));
  NOLI_NEW(cursor->context, dimension, n);
  NOLI_NEW(cursor->context, tag, n);
  for (int64_t e = 0; e < n; e++) {
    dimension[e] = element[e].type->dimension;
  }
  NOLI_TRY(noli_inp_find_tags(cursor, &reader->sets, &reader->element, dimension, tag));
  for (int64_t e = 0; e < n; e++) {
    NOLI_TRY(add_cell(reader, &element[e], tag[e]));
  }
done:
  noli_free(cursor->context, dimension);
  noli_free(cursor->context, tag);
  return status;
}

// Fails for a file whose elements make no mesh.
static NoliStatus check_elements(const NoliInpReader* reader) {
  const NoliCursor* cursor = reader->text.cursor;
  if (reader->element.count == 0) {
    return noli_cursor_fail(cursor, cursor->at, "the file has no elements");
  }
  if (reader->bent != NULL && reader->parts->order < 2) {
    return noli_cursor_fail(cursor, reader->bent,
                            "quadratic triangles and segments are only supported as sides and "
                            "edges of C3D10");
  }
  return NOLI_OK;
}

// Adds the nodes of a set, or those of its elements, as a set with this index.
static NoliStatus add_members(NoliInpReader* reader, int32_t set, bool of_nodes,
                              const int32_t* member, int64_t n_member) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->text.cursor->context;
  for (int64_t i = 0; i < n_member; i++) {
    if (of_nodes) {
      NOLI_TRY(noli_parts_add_member(context, reader->parts, set, member[i]));
      continue;
    }
    const NoliInpElement* element = &reader->element_data.data[member[i]];
    for (int32_t k = 0; k < element->type->n_node; k++) {
      int32_t node =
          noli_inp_find_label(&reader->node, reader->node_of.data[element->first_node + k]);
      NOLI_TRY(noli_parts_add_member(context, reader->parts, set, node));
    }
  }
done:
  return status;
}

// Sets of nodes, then those of elements; of the assembly first. A name counts once.
static NoliStatus add_sets(NoliInpReader* reader) {
  static const NoliInpScope scopes[] = {NOLI_INP_NODES_OF_ASSEMBLY, NOLI_INP_NODES,
                                        NOLI_INP_ELEMENTS_OF_ASSEMBLY, NOLI_INP_ELEMENTS};
  NoliStatus status = NOLI_OK;
  const NoliCursor* cursor = reader->text.cursor;
  int32_t *member = NULL, n_member = 0;

  for (size_t k = 0; k < sizeof scopes / sizeof *scopes; k++) {
    bool of_nodes = scopes[k] < NOLI_INP_ELEMENTS;
    for (int32_t s = 0; s < reader->sets.set.count; s++) {
      const NoliInpSet* set = &reader->sets.set.data[s];
      bool known = false;
      for (size_t j = 0; j < k; j++) {
        known = known || noli_inp_find_set(&reader->sets, scopes[j], set->name) >= 0;
      }
      if (set->scope != scopes[k] || set->is_internal || known) {
        continue;
      }
      NOLI_TRY(noli_inp_list_set(cursor, &reader->sets, of_nodes ? &reader->node : &reader->element,
                                 s, &member, &n_member));
      NOLI_TRY(noli_parts_add_set(cursor->context, reader->parts, set->name));
      NOLI_TRY(add_members(reader, (int32_t)reader->parts->sets.name.count - 1, of_nodes, member,
                           n_member));
      noli_free(cursor->context, member);
      member = NULL;
    }
  }
done:
  noli_free(cursor->context, member);
  return status;
}

static void free_reader(NoliInpReader* reader) {
  NoliContext* context = reader->text.cursor->context;
  noli_array_free(context, &reader->text.parameter);
  noli_array_free(context, &reader->node);
  noli_array_free(context, &reader->element);
  noli_array_free(context, &reader->element_data);
  noli_array_free(context, &reader->node_of);
  noli_array_free(context, &reader->surface);
  noli_array_free(context, &reader->surface_entry);
  noli_inp_free_sets(context, &reader->sets);
}

NoliStatus noli_inp_read(NoliCursor* cursor, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  NoliInpReader reader = {.text = {.cursor = cursor}, .parts = parts};
  NoliSpan line;
  noli_inp_init_sets(&reader.sets);
  if (noli_inp_next_line(&reader.text, &line)) {
    status = noli_inp_expected(&reader.text, line.at, "a keyword such as *NODE");
    goto done;
  }
  while (cursor->at < cursor->end) {
    NOLI_TRY(read_block(&reader));
  }
  NOLI_TRY(check_elements(&reader));
  NOLI_TRY(inp_add_cells(&reader));
  if (parts->sets.wanted) {
    NOLI_TRY(add_sets(&reader));
    NOLI_TRY(noli_inp_add_surfaces(&reader));
  }
  place_instance(&reader);
done:
  free_reader(&reader);
  return status;
}
