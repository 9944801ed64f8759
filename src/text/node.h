// A place in a scene: a JSON value and the path to it, for messages with file, line and path. Nodes
// are on the stack of the functions that traverse the scene.
#pragma once

#include "base/array.h"
#include "text/locate.h"

#include <jansson.h>

// The scene that is being read.
typedef struct NoliSceneSource NoliSceneSource;

// Writes the beginning of a message, "FILE:LINE: PATH" or the origin of the value, for the value at
// the end of `steps` (n_steps) from the root; `path` is the text of the steps.
typedef void NoliSceneWhereFn(const NoliSceneSource* source, const NoliSceneStep* steps,
                              int32_t n_steps, const char* path, char* buffer, size_t size);

struct NoliSceneSource {
  NoliContext* context;
  const char* name; // of the file, for messages
  const char* text; // (size)
  size_t size;
  const char* directory;   // where relative paths start
  NoliSceneWhereFn* where; // NULL: all values are from `text`
  void* user;              // of `where`
};

typedef struct NoliSceneNode {
  const struct NoliSceneNode* parent; // NULL: the root
  NoliSceneStep step;
  json_t* value; // borrowed; NULL if there is none
} NoliSceneNode;

NoliSceneNode noli_scene_root(json_t* value);
// The member `key` of an object; its value is NULL if it is not there. `parent` must outlive it.
NoliSceneNode noli_scene_member(const NoliSceneNode* parent, const char* key);
NoliSceneNode noli_scene_item(const NoliSceneNode* parent, size_t index);

// Values of nodes that were checked: zero, false or NULL if the value is absent.
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

// The beginning of messages about a node: "FILE:LINE: PATH", or the origin of its value.
void noli_scene_where(const NoliSceneSource* source, const NoliSceneNode* node, char* buffer,
                      size_t size);

// The path of a node, "bodies[0].material"; "scene" for the root.
void noli_scene_path(const NoliSceneNode* node, char* buffer, size_t size);

// The vector of a checked node and its length, which must not be 0.
NOLI_WARN_UNUSED NoliStatus noli_scene_read_direction(const NoliSceneSource* source,
                                                      const NoliSceneNode* node, double out[3],
                                                      double* length);

// Fails with `what` and the nearest of the known `words` (n_words), or all of them if none is near.
NOLI_WARN_UNUSED NoliStatus noli_scene_fail_unknown(const NoliSceneSource* source,
                                                    const NoliSceneNode* node, const char* what,
                                                    const char* wanted, const char* const* words,
                                                    int32_t n_words);

// A path, relative to the directory of the scene unless it is absolute. Owned by the caller.
NOLI_WARN_UNUSED NoliStatus noli_scene_file_path(const NoliSceneSource* source, const char* name,
                                                 char** path);

// Prefixes the message of a failure in the context with the place of the node that caused it: a
// mesh that does not exist or cannot be refined is an error of the scene. Does not change success
// and NOLI_ERROR_MEMORY.
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
