#include "import/polyfem/polyfem.h"

#include "text/cursor.h"
#include "text/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TOKEN_SIZE = 200, MAX_STEPS = 64 };

// ---- reading ------------------------------------------------------------------------------------

static NoliStatus polyfem_read_text(NoliContext* context, const char* path, char** text,
                                    size_t* size) {
  NoliStatus status = NOLI_OK;
  NOLI_ARRAY(char) buffer = {0};
  FILE* stream = fopen(path, "rb");
  NOLI_CHECK(context, stream != NULL, NOLI_ERROR_FORMAT, "%s", strerror(errno));
  for (size_t got = 1; got > 0;) {
    NOLI_TRY(noli_array_reserve(context, &buffer, buffer.count + 65536));
    got = fread(buffer.data + buffer.count, 1, 65535, stream);
    buffer.count += (int64_t)got;
  }
  NOLI_CHECK(context, !ferror(stream), NOLI_ERROR_FORMAT, "cannot be read");
  buffer.data[buffer.count] = '\0';
  *text = buffer.data;
  *size = (size_t)buffer.count;
  buffer.data = NULL;
done:
  if (stream != NULL) {
    fclose(stream);
  }
  noli_array_free(context, &buffer);
  return status;
}

// `name` below the folder of `base`.
static NoliStatus polyfem_join(NoliContext* context, const char* base, const char* name,
                               char** path) {
  NoliStatus status = NOLI_OK;
  const char* slash = strrchr(base, '/');
  int folder = name[0] == '/' || slash == NULL ? 0 : (int)(slash - base) + 1;
  size_t size = (size_t)folder + strlen(name) + 1;
  NOLI_NEW(context, *path, (int64_t)size);
  snprintf(*path, size, "%.*s%s", folder, base, name);
done:
  return status;
}

// Opens the file that `common` of the last file names. The message names the place of `common`.
static NoliStatus read_common(NoliPolyfem* import, const char* name) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = import->source.context;
  NoliPolyfemFiles* files = &import->files;
  NoliPolyfemFile* last = &files->file[files->count - 1];
  NoliPolyfemFile* next = last + 1;
  NoliSceneStep step = {.key = "common"};
  bool found;
  int line = (int)noli_scene_locate(last->text, last->size, &step, 1, &found);
  NOLI_CHECK(context, files->count < NOLI_POLYFEM_MAX_FILES, NOLI_ERROR_FORMAT,
             "%.300s:%d: common: more than %d files: do they name each other?", last->name, line,
             (int)NOLI_POLYFEM_MAX_FILES);
  *next = (NoliPolyfemFile){0};
  // from here on the file is released with the others
  files->count++;

  // read the file that the last one names
  if (files->count == 2) {
    NOLI_TRY(noli_scene_file_path(&import->source, name, &next->owned_name));
  } else {
    NOLI_TRY(polyfem_join(context, last->name, name, &next->owned_name));
  }
  next->name = next->owned_name;
  status = polyfem_read_text(context, next->name, &next->owned_text, &next->size);
  if (status == NOLI_ERROR_FORMAT) {
    char why[300];
    snprintf(why, sizeof why, "%s", noli_context_message(context));
    noli_fail(context, status, "%.300s:%d: common: %.300s: %s", last->name, line, next->name, why);
  }
  NOLI_TRY(status);
  size_t skipped = (size_t)noli_mark_size(next->owned_text, (int64_t)next->size);
  next->text = next->owned_text + skipped;
  next->size -= skipped;

  // parse it
  json_error_t error;
  NOLI_TRY(noli_scene_read_json(context, next->text, next->size, JSON_REJECT_DUPLICATES,
                                &next->tree, &error));
  NOLI_CHECK(context, next->tree != NULL, NOLI_ERROR_FORMAT, "%.300s:%d:%d: %s", next->name,
             error.line, error.column, error.text);
done:
  return status;
}

// ---- merging: RFC 7396 --------------------------------------------------------------------------

// A new tree: `target` (may be NULL) changed by `change`.
static json_t* polyfem_merge(const json_t* target, const json_t* change) {
  if (!json_is_object(change)) {
    return json_deep_copy(change);
  }
  json_t* result = json_is_object(target) ? json_deep_copy(target) : json_object();
  json_t* object = (json_t*)(uintptr_t)change;
  const char* key;
  json_t* value;
  json_object_foreach(object, key, value) {
    if (json_is_null(value)) {
      json_object_del(result, key);
    } else if (json_object_set_new(result, key,
                                   polyfem_merge(json_object_get(result, key), value)) != 0) {
      json_decref(result);
      return NULL;
    }
  }
  return result;
}

// ---- patches: RFC 6902 --------------------------------------------------------------------------

// The next token of a JSON pointer, unescaped; NULL at the end or when it is too long.
static const char* next_token(const char* pointer, char token[TOKEN_SIZE]) {
  if (*pointer != '/') {
    return NULL;
  }
  size_t n = 0;
  for (pointer++; *pointer != '\0' && *pointer != '/'; pointer++) {
    char c = *pointer;
    if (c == '~' && (pointer[1] == '0' || pointer[1] == '1')) {
      c = *++pointer == '0' ? '~' : '/';
    }
    if (n + 1 >= TOKEN_SIZE) {
      return NULL;
    }
    token[n++] = c;
  }
  token[n] = '\0';
  return pointer;
}

// An index of a list; the length for "-"; -1 if the token is none.
static int64_t token_index(const json_t* list, const char* token) {
  int64_t index = 0;
  if (strcmp(token, "-") == 0) {
    return (int64_t)json_array_size(list);
  }
  for (const char* at = token; *at != '\0'; at++) {
    if (*at < '0' || *at > '9' || at - token > 8) {
      return -1;
    }
    index = 10 * index + (*at - '0');
  }
  return *token == '\0' ? -1 : index;
}

static json_t* child(json_t* parent, const char* token) {
  if (json_is_array(parent)) {
    int64_t index = token_index(parent, token);
    return index < 0 ? NULL : json_array_get(parent, (size_t)index);
  }
  return json_object_get(parent, token);
}

// The value around the last token of a pointer, and that token; NULL if there is none.
static json_t* find_parent(json_t* root, const char* pointer, char token[TOKEN_SIZE]) {
  json_t* at = root;
  const char* rest = next_token(pointer, token);
  while (rest != NULL && *rest != '\0' && at != NULL) {
    at = child(at, token);
    rest = next_token(rest, token);
  }
  return rest == NULL ? NULL : at;
}

static bool polyfem_put(json_t* parent, const char* token, json_t* value, bool replace) {
  if (json_is_object(parent)) {
    if (replace && json_object_get(parent, token) == NULL) {
      return false;
    }
    return json_object_set(parent, token, value) == 0;
  }
  int64_t index = token_index(parent, token);
  if (index < 0) {
    return false;
  }
  return replace ? json_array_set(parent, (size_t)index, value) == 0
                 : json_array_insert(parent, (size_t)index, value) == 0;
}

static bool take_away(json_t* parent, const char* token) {
  if (json_is_object(parent)) {
    return json_object_del(parent, token) == 0;
  }
  int64_t index = token_index(parent, token);
  return index >= 0 && json_array_remove(parent, (size_t)index) == 0;
}

// Applies one patch; false if it does not fit.
static bool apply_patch(json_t* root, const json_t* patch) {
  const char* operation = json_string_value(json_object_get(patch, "op"));
  const char* path = json_string_value(json_object_get(patch, "path"));
  const char* from = json_string_value(json_object_get(patch, "from"));
  char token[TOKEN_SIZE], from_token[TOKEN_SIZE];
  json_t* parent = operation != NULL && path != NULL ? find_parent(root, path, token) : NULL;
  if (parent == NULL) {
    return false;
  }
  if (strcmp(operation, "remove") == 0) {
    return take_away(parent, token);
  }
  bool moves = strcmp(operation, "move") == 0;
  json_t* value = json_incref(json_object_get(patch, "value"));
  json_t* source = NULL;
  if (moves || strcmp(operation, "copy") == 0) {
    source = from != NULL ? find_parent(root, from, from_token) : NULL;
    json_decref(value);
    value = source != NULL ? json_deep_copy(child(source, from_token)) : NULL;
  }

  bool done = value != NULL;
  if (done && strcmp(operation, "test") == 0) {
    done = json_equal(child(parent, token), value) != 0;
  } else if (done) {
    done = (!moves || take_away(source, from_token)) &&
           (moves || source != NULL || strcmp(operation, "add") == 0 ||
            strcmp(operation, "replace") == 0) &&
           polyfem_put(parent, token, value, strcmp(operation, "replace") == 0);
  }

  json_decref(value);
  return done;
}

static NoliStatus apply_patches(NoliPolyfem* import, const NoliPolyfemFile* file, json_t* root) {
  NoliStatus status = NOLI_OK;
  const json_t* patches = json_object_get(file->tree, "patch");
  NoliSceneStep steps[2] = {{.key = "patch"}, {.index = 0}};
  for (size_t i = 0; i < json_array_size(patches); i++) {
    json_t* patch = json_array_get(patches, i);
    steps[1].index = i;
    bool found;
    NOLI_CHECK(import->source.context, apply_patch(root, patch), NOLI_ERROR_FORMAT,
               "%.300s:%d: patch[%zu]: does not fit the scene: no such place, or not a patch",
               file->name, (int)noli_scene_locate(file->text, file->size, steps, 2, &found), i);
  }
done:
  return status;
}

// ---- places -------------------------------------------------------------------------------------

// How many of the steps lead through the tree; `*other` when the last value reached is no object,
// so that nothing can be merged below it.
static int32_t follow(json_t* tree, const NoliSceneStep* steps, int32_t n, bool* closed) {
  json_t* at = tree;
  int32_t depth = 0;
  *closed = false;
  while (depth < n) {
    json_t* next = steps[depth].key != NULL ? json_object_get(at, steps[depth].key)
                                            : json_array_get(at, steps[depth].index);
    if (next == NULL) {
      break;
    }
    at = next;
    depth++;
    *closed = *closed || !json_is_object(at);
  }
  return depth;
}

// How many steps the pointer of a patch takes if all are the first of `steps`; else -1.
static int32_t match_pointer(const char* pointer, const NoliSceneStep* steps, int32_t n) {
  char token[TOKEN_SIZE], index[32];
  int32_t depth = 0;
  while (pointer != NULL && *pointer != '\0') {
    pointer = next_token(pointer, token);
    if (pointer == NULL || depth >= n) {
      return -1;
    }
    snprintf(index, sizeof index, "%zu", steps[depth].index);
    if (strcmp(token, steps[depth].key != NULL ? steps[depth].key : index) != 0) {
      return -1;
    }
    depth++;
  }
  return depth;
}

// Steps to the value inside the last patch that set what `steps` lead to; 0: none did.
static int32_t find_patch(const NoliPolyfemFile* file, const NoliSceneStep* steps, int32_t n,
                          NoliSceneStep found[MAX_STEPS]) {
  const json_t* patches = json_object_get(file->tree, "patch");
  for (size_t i = json_array_size(patches); i > 0; i--) {
    const json_t* patch = json_array_get(patches, i - 1);
    const char* path = json_string_value(json_object_get(patch, "path"));
    int32_t depth = path == NULL ? -1 : match_pointer(path, steps, n);
    if (depth < 0 || json_object_get(patch, "value") == NULL || n - depth + 3 > MAX_STEPS) {
      continue;
    }
    found[0] = (NoliSceneStep){.key = "patch"};
    found[1] = (NoliSceneStep){.index = i - 1};
    found[2] = (NoliSceneStep){.key = "value"};
    memcpy(found + 3, steps + depth, (size_t)(n - depth) * sizeof *steps);
    return n - depth + 3;
  }
  return 0;
}

// The name of the file that a value was written in, and the line.
static const char* find_line(const NoliPolyfemFiles* files, const NoliSceneStep* steps,
                             int32_t n_steps, int32_t* line) {
  const NoliPolyfemFile* best = &files->file[0];
  int32_t best_depth = 0;
  bool found;

  for (int32_t k = 0; k < files->count; k++) {
    const NoliPolyfemFile* file = &files->file[k];
    NoliSceneStep in_patch[MAX_STEPS];
    int32_t n = find_patch(file, steps, n_steps, in_patch);
    if (n > 0) {
      *line = noli_scene_locate(file->text, file->size, in_patch, n, &found);
      return file->name;
    }
    bool closed;
    int32_t depth = follow(file->tree, steps, n_steps, &closed);
    if (depth > best_depth) {
      best = file;
      best_depth = depth;
    }
    if (closed || depth == n_steps) {
      break;
    }
  }

  *line = noli_scene_locate(best->text, best->size, steps, n_steps, &found);
  return best->name;
}

// A NoliSceneWhereFn.
static void where(const NoliSceneSource* source, const NoliSceneStep* steps, int32_t n_steps,
                  const char* path, char* buffer, size_t size) {
  int32_t line = 0;
  const char* name = find_line(source->user, steps, n_steps, &line);
  snprintf(buffer, size, "%.300s:%d: %s", name, (int)line, path);
}

// ---- all of it ----------------------------------------------------------------------------------

// The common file first, then what the file changes.
static NoliStatus put_together(NoliPolyfem* import, int32_t k, json_t* below, json_t** tree) {
  NoliStatus status = NOLI_OK;
  NoliPolyfemFile* file = &import->files.file[k];
  *tree = polyfem_merge(below, file->tree);
  NOLI_CHECK(import->source.context, *tree != NULL, NOLI_ERROR_MEMORY, "out of memory");
  json_object_del(*tree, "common");
  json_object_del(*tree, "patch");
  NOLI_TRY(apply_patches(import, file, *tree));
done:
  return status;
}

static NoliStatus check_file(NoliPolyfem* import, const NoliPolyfemFile* file) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = import->source.context;
  NoliSceneStep step = {.key = "patch"};
  bool found;
  NOLI_CHECK(context, json_is_object(file->tree), NOLI_ERROR_FORMAT,
             "%.300s:1: scene: must be an object", file->name);
  const json_t* common = json_object_get(file->tree, "common");
  const json_t* patch = json_object_get(file->tree, "patch");
  NOLI_CHECK(context, patch == NULL || (common != NULL && json_is_array(patch)), NOLI_ERROR_FORMAT,
             "%.300s:%d: patch: must be a list, beside \"common\"", file->name,
             (int)noli_scene_locate(file->text, file->size, &step, 1, &found));
  step.key = "common";
  NOLI_CHECK(context, common == NULL || json_is_string(common), NOLI_ERROR_FORMAT,
             "%.300s:%d: common: must be the name of a file", file->name,
             (int)noli_scene_locate(file->text, file->size, &step, 1, &found));
done:
  return status;
}

NoliStatus noli_polyfem_read_files(NoliPolyfem* import, json_t* parsed) {
  NoliStatus status = NOLI_OK;
  NoliPolyfemFiles* files = &import->files;
  files->file[0] = (NoliPolyfemFile){.name = import->source.name,
                                     .text = import->source.text,
                                     .size = import->source.size,
                                     .tree = json_incref(parsed)};
  files->count = 1;
  for (;;) {
    const NoliPolyfemFile* last = &files->file[files->count - 1];
    NOLI_TRY(check_file(import, last));
    const char* common = json_string_value(json_object_get(last->tree, "common"));
    if (common == NULL || common[0] == '\0') {
      break;
    }
    NOLI_TRY(read_common(import, common));
  }

  for (int32_t k = files->count - 1; k >= 0; k--) {
    json_t* merged = NULL;
    status = put_together(import, k, import->tree, &merged);
    json_decref(import->tree);
    import->tree = merged;
    NOLI_TRY(status);
  }

  import->source.where = where;
  import->source.user = files;
  import->root = noli_scene_root(import->tree);
  import->geometry = noli_scene_member(&import->root, "geometry");
done:
  return status;
}

void noli_polyfem_release_files(NoliPolyfem* import) {
  NoliContext* context = import->source.context;
  for (int32_t k = 0; k < import->files.count; k++) {
    NoliPolyfemFile* file = &import->files.file[k];
    noli_free(context, file->owned_name);
    noli_free(context, file->owned_text);
    json_decref(file->tree);
  }
  json_decref(import->tree);
}
