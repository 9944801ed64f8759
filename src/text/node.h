// A place in a scene: a JSON value that knows how it was reached, for messages that name file, line
// and path. Nodes live on the stack of the functions that walk the scene.
#pragma once

#include "base/array.h"
#include "text/locate.h"

#include <jansson.h>

// What is being read.
typedef struct NoliSceneSource NoliSceneSource;

// Writes what messages begin with, "FILE:LINE: PATH" or what set the value: that at the end of
// `steps` (n_steps) from the root, of which `path` is the text.
typedef void NoliSceneWhereFn(const NoliSceneSource* source, const NoliSceneStep* steps,
                              int32_t n_steps, const char* path, char* buffer, size_t size);

struct NoliSceneSource {
  NoliContext* context;
  const char* name; // of the file, for messages
  const char* text; // (size)
  size_t size;
  const char* directory;   // where relative paths start
  NoliSceneWhereFn* where; // NULL: everything is in `text`
  void* user;              // of `where`
};

typedef struct NoliSceneNode {
  const struct NoliSceneNode* parent; // NULL: the root
  NoliSceneStep step;
  json_t* value; // borrowed; NULL where there is none
} NoliSceneNode;

NoliSceneNode noli_scene_root(json_t* value);
// The member `key` of an object; its value is NULL if it is not there. `parent` must outlive it.
NoliSceneNode noli_scene_member(const NoliSceneNode* parent, const char* key);
NoliSceneNode noli_scene_item(const NoliSceneNode* parent, size_t index);

// Values of nodes that were checked: zero, false, NULL where the value is absent.
double noli_scene_number(const NoliSceneNode* node);
bool noli_scene_true(const NoliSceneNode* node);
const char* noli_scene_string(const NoliSceneNode* node);
void noli_scene_vector(const NoliSceneNode* node, double out[3]);
size_t noli_scene_size(const NoliSceneNode* node);

// Fails or warns with "FILE:LINE: PATH: message".
NoliStatus noli_scene_fail(const NoliSceneSource* source, const NoliSceneNode* node,
                           NoliStatus status, const char* format, ...) NOLI_PRINTF(4, 5);
void noli_scene_log(const NoliSceneSource* source, const NoliSceneNode* node, NoliLogLevel level,
                    const char* format, ...) NOLI_PRINTF(4, 5);

// Where the node stands, as messages begin with it: "FILE:LINE: PATH", or what set its value.
void noli_scene_where(const NoliSceneSource* source, const NoliSceneNode* node, char* buffer,
                      size_t size);

// The vector of a checked node and its length, which must not be 0.
NOLI_WARN_UNUSED NoliStatus noli_scene_read_direction(const NoliSceneSource* source,
                                                      const NoliSceneNode* node, double out[3],
                                                      double* length);

// Fails with "WHAT" and the nearest of the known `words` (n_words), or, if none is near, all of
// them.
NOLI_WARN_UNUSED NoliStatus noli_scene_fail_unknown(const NoliSceneSource* source,
                                                    const NoliSceneNode* node, const char* what,
                                                    const char* wanted, const char* const* words,
                                                    int32_t n_words);

// A path below the directory of the scene, unless it is absolute. Owned by the caller.
NOLI_WARN_UNUSED NoliStatus noli_scene_file_path(const NoliSceneSource* source, const char* name,
                                                 char** path);

// Locates a failure, whose message the context has, at the node that asked for what failed: a mesh
// that is not there or cannot be refined is an error of the scene. Success and
// refused memory stay what they are.
NoliStatus noli_scene_locate_failure(const NoliSceneSource* source, const NoliSceneNode* node,
                                     NoliStatus status);

// Needs `source`, `status` and the label `done`.
#define NOLI_SCENE_CHECK(source, node, condition, ...)                                             \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      status = noli_scene_fail((source), (node), NOLI_ERROR_FORMAT, __VA_ARGS__);                  \
      goto done;                                                                                   \
    }                                                                                              \
  } while (0)
