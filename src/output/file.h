// Files that are replaced completely: bytes go to a temporary file beside the target, which takes
// its name only after all of them are written. Every failure names the path and what the system
// said.
#pragma once

#include "base/context.h"

typedef struct NoliFile {
  NoliContext* context;
  char* path;
  char* temporary;
  unsigned char* buffer;
  size_t used;
  int descriptor;
} NoliFile;

// After a failure of create, noli_file_abandon is harmless; after any other it must be called.
NOLI_WARN_UNUSED NoliStatus noli_file_create(NoliContext* context, const char* path,
                                             NoliFile* file);
NOLI_WARN_UNUSED NoliStatus noli_file_write(NoliFile* file, const void* data, size_t size);
NOLI_WARN_UNUSED NoliStatus noli_file_print(NoliFile* file, const char* format, ...)
    NOLI_PRINTF(2, 3);

// Writes `size` bytes as text in base 64.
NOLI_WARN_UNUSED NoliStatus noli_file_write_base64(NoliFile* file, const void* data, size_t size);

// Gives the file its name. `durable`: only when the bytes have reached the disk.
NOLI_WARN_UNUSED NoliStatus noli_file_commit(NoliFile* file, bool durable);

// Removes the temporary and releases what the file holds. Harmless after a commit.
void noli_file_abandon(NoliFile* file);

// Replaces the file at `path` by `size` bytes.
NOLI_WARN_UNUSED NoliStatus noli_file_replace(NoliContext* context, const char* path,
                                              const void* data, size_t size, bool durable);

// The name of a file without its directory: a part of `path`.
const char* noli_file_name(const char* path);

// The complete content followed by a zero byte, owned by the caller.
NOLI_WARN_UNUSED NoliStatus noli_file_read(NoliContext* context, const char* path, char** data,
                                           size_t* size);

bool noli_file_exists(const char* path);

// Removes a file; that it was not there is no failure.
NOLI_WARN_UNUSED NoliStatus noli_file_remove(NoliContext* context, const char* path);

// Gives the file another name, replacing what had it.
NOLI_WARN_UNUSED NoliStatus noli_file_rename(NoliContext* context, const char* from,
                                             const char* to);

// Creates a directory and those above it.
NOLI_WARN_UNUSED NoliStatus noli_file_make_directory(NoliContext* context, const char* path);

// "directory/name", owned by the caller.
NOLI_WARN_UNUSED NoliStatus noli_file_join(NoliContext* context, const char* directory,
                                           const char* name, char** path);

// Gives the file a second name, replacing what had it, and keeps the first.
NOLI_WARN_UNUSED NoliStatus noli_file_keep(NoliContext* context, const char* path,
                                           const char* kept);

// Ensures that renames in the directory of `path` are on the disk, if the file system can do that.
void noli_file_sync_directory_of(NoliContext* context, const char* path);

// Writes all bytes to the descriptor of `path`; false with errno set when that fails.
bool noli_file_write_all(NoliContext* context, const char* path, int descriptor, const void* data,
                         size_t size);

// Ensures that the data written to the descriptor of `path` is on the disk.
NOLI_WARN_UNUSED NoliStatus noli_file_sync(NoliContext* context, const char* path, int descriptor);

// The file at `path` is on the disk; one that is not there any more is no failure.
NOLI_WARN_UNUSED NoliStatus noli_file_sync_path(NoliContext* context, const char* path);

// Everything on the file system that holds the directory `path` is on the disk, at the price of a
// few files. `*done` is false where the system cannot do that.
NOLI_WARN_UNUSED NoliStatus noli_file_sync_system_of(NoliContext* context, const char* path,
                                                     bool* done);

// Records "path: what: reason", where reason is the text of `error`; returns NOLI_ERROR_IO.
NoliStatus noli_file_fail(NoliContext* context, const char* path, const char* what, int error);
