#include "mesh/looks_parts.h"

#include <math.h>
#include <string.h>

void noli_look_names_free(NoliContext* context, NoliLookNames* names) {
  for (int64_t i = 0; i < names->count; i++) {
    noli_free(context, names->data[i]);
  }
  noli_array_free(context, names);
}

void noli_looks_parts_free(NoliContext* context, NoliPartsLooks* looks) {
  noli_array_free(context, &looks->uv);
  noli_array_free(context, &looks->face);
  noli_array_free(context, &looks->corner);
  noli_look_names_free(context, &looks->materials);
  noli_look_names_free(context, &looks->groups);
  noli_look_names_free(context, &looks->libraries);
}

NoliStatus noli_looks_add_uv(NoliContext* context, NoliPartsLooks* looks, double u, double v) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(context, &looks->uv, isfinite(u) ? u : 0.0);
  NOLI_PUSH(context, &looks->uv, isfinite(v) ? v : 0.0);
done:
  return status;
}

// The rest of the line without blanks around it, as a copy; empty: NULL.
static NoliStatus rest_of_line(NoliCursor* cursor, char** text) {
  NoliStatus status = NOLI_OK;
  noli_skip_blank(cursor);
  const char *begin = cursor->at, *end = begin;
  while (end < cursor->end && *end != '\n' && *end != '\0') {
    end++;
  }
  while (end > begin && noli_is_blank(end[-1])) {
    end--;
  }
  *text = NULL;
  if (end > begin) {
    NOLI_NEW(cursor->context, *text, end - begin + 1);
    memcpy(*text, begin, (size_t)(end - begin));
    (*text)[end - begin] = '\0';
  }
done:
  return status;
}

NoliStatus noli_looks_take_name(NoliCursor* cursor, NoliLookNames* names, int32_t* number) {
  NoliStatus status = NOLI_OK;
  char* name = NULL;
  NOLI_TRY(rest_of_line(cursor, &name));
  *number = 0;
  for (int64_t i = 0; name != NULL && i < names->count; i++) {
    if (strcmp(names->data[i], name) == 0) {
      *number = (int32_t)i + 1;
      goto done;
    }
  }
  if (name != NULL) {
    NOLI_PUSH(cursor->context, names, name);
    *number = (int32_t)names->count;
    name = NULL;
  }
done:
  noli_free(cursor->context, name);
  return status;
}

NoliStatus noli_looks_add_face(NoliContext* context, NoliPartsLooks* looks, int64_t first_tri,
                               int64_t n_tri, int64_t n_corner, const int32_t* vertex,
                               const int32_t* uv) {
  NoliStatus status = NOLI_OK;
  const NoliLooksFace face = {.first_tri = first_tri,
                              .n_tri = n_tri,
                              .first_corner = looks->corner.count,
                              .n_corner = n_corner,
                              .material = looks->material - 1,
                              .group = looks->group - 1};
  for (int64_t i = 0; i < n_corner; i++) {
    NOLI_PUSH(context, &looks->corner, ((NoliLooksCorner){vertex[i], uv[i]}));
  }
  NOLI_PUSH(context, &looks->face, face);
done:
  return status;
}
