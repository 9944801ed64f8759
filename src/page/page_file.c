#include "page/page_file.h"

#include "output/body_colours.h"

#include <string.h>

NoliStatus noli_json_append(NoliContext* context, json_t* array, json_t* made) {
  NoliStatus status = NOLI_OK;
  // json_array_append_new fails for NULL
  NOLI_CHECK(context, json_array_append_new(array, made) == 0, NOLI_ERROR_MEMORY, "out of memory");
done:
  return status;
}

NoliStatus noli_page_file_begin(NoliContext* context, const char* path,
                                const NoliPageTemplate* page, NoliPageFile* file) {
  NoliStatus status = NOLI_OK;
  *file = (NoliPageFile){.context = context, .page = page};
  NOLI_TRY(noli_file_create(context, path, &file->file));
  NOLI_TRY(noli_file_write(&file->file, page->head, page->head_size));
done:
  return status;
}

NoliStatus noli_page_file_packed(NoliPageFile* file, const char* id, const uint8_t* bytes,
                                 int64_t size) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_file_print(&file->file, "<script type=\"text/plain\" id=\"%s\">", id));
  NOLI_TRY(noli_file_write_base64(&file->file, bytes, (size_t)size));
  NOLI_TRY(noli_file_print(&file->file, "</script>\n"));
done:
  return status;
}

NoliStatus noli_page_file_compressed(NoliPageFile* file, const char* id, const void* data,
                                     int64_t size) {
  NoliStatus status = NOLI_OK;
  uint8_t* packed = NULL;
  int64_t n_packed = 0;
  NOLI_TRY(noli_page_compress(file->context, data, size, &packed, &n_packed));
  NOLI_TRY(noli_page_file_packed(file, id, packed, n_packed));
done:
  noli_free(file->context, packed);
  return status;
}

NoliStatus noli_page_file_group(NoliPageFile* file, int32_t n_vert, NoliPageGroup* group,
                                json_t* groups) {
  NoliStatus status = NOLI_OK;
  const double *low = group->low, *high = group->high;
  json_t* scale = json_array();
  char id[24];
  snprintf(id, sizeof id, "g%d", (int)json_array_size(groups));
  NOLI_TRY(noli_page_group_pack(file->context, n_vert, group));
  NOLI_TRY(noli_page_file_packed(file, id, group->packed.data, group->packed.count));
  for (int32_t f = 0; f < group->fields.n; f++) {
    NOLI_TRY(noli_json_append(file->context, scale, json_real(group->scale[f])));
  }
  NOLI_TRY(noli_json_append(file->context, groups,
                            json_pack("{s:i, s:[f,f,f], s:[f,f,f], s:O}", "n", (int)group->n, "low",
                                      low[0], low[1], low[2], "high", high[0], high[1], high[2],
                                      "scale", scale)));
done:
  json_decref(scale);
  return status;
}

json_t* noli_page_floors(const NoliSimDef* def) {
  json_t* floors = json_array();
  for (int32_t k = 0; k < def->n_half_spaces; k++) {
    const double *o = def->half_spaces[k].origin, *n = def->half_spaces[k].normal;
    json_array_append_new(floors, json_pack("{s:[f,f,f], s:[f,f,f]}", "origin", o[0], o[1], o[2],
                                            "normal", n[0], n[1], n[2]));
  }
  return floors;
}

json_t* noli_page_colours(void) {
  json_t* colours = json_array();
  for (int32_t k = 0; k <= NOLI_BODY_COLOURS; k++) {
    const float* colour = k < NOLI_BODY_COLOURS ? noli_body_colours[k] : noli_obstacle_colour;
    json_array_append_new(
        colours, json_pack("[f,f,f]", (double)colour[0], (double)colour[1], (double)colour[2]));
  }
  return colours;
}

json_t* noli_page_fields_json(const NoliPageFieldList* list) {
  json_t* fields = json_array();
  for (int32_t f = 0; f < list->n; f++) {
    const NoliPageField* field = &noli_page_fields[list->field[f]];
    json_array_append_new(fields,
                          json_pack("{s:s, s:s, s:s, s:i, s:b, s:b, s:b}", "name", field->name,
                                    "label", field->label, "unit", field->unit, "components",
                                    (int)field->n_components, "root", (int)field->root, "hidden",
                                    (int)field->hidden, "cells", (int)field->of_cells));
  }
  return fields;
}

// No text of the scene may end the element that holds it.
static NoliStatus write_json(NoliPageFile* file, const json_t* root) {
  NoliStatus status = NOLI_OK;
  char* text = json_dumps(root, JSON_COMPACT);
  NOLI_CHECK(file->context, text != NULL, NOLI_ERROR_MEMORY, "out of memory");
  NOLI_TRY(noli_file_print(&file->file, "<script type=\"application/json\" id=\"about\">"));
  for (const char* from = text; *from != '\0';) {
    size_t n = strcspn(from, "<");
    NOLI_TRY(noli_file_write(&file->file, from, n));
    from += n;
    if (*from == '<') {
      NOLI_TRY(noli_file_print(&file->file, "\\u003c"));
      from++;
    }
  }
  NOLI_TRY(noli_file_print(&file->file, "</script>\n"));
done:
  free(text);
  return status;
}

NoliStatus noli_page_file_end(NoliPageFile* file, json_t* about) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(file->context, about != NULL, NOLI_ERROR_MEMORY, "out of memory");
  NOLI_TRY(write_json(file, about));
  NOLI_TRY(noli_file_write(&file->file, file->page->tail, file->page->tail_size));
  NOLI_TRY(noli_file_commit(&file->file, false));
done:
  json_decref(about);
  return status;
}

void noli_page_file_abandon(NoliPageFile* file) {
  noli_file_abandon(&file->file);
}
