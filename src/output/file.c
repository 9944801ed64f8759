#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE // syscall

#include "output/file.h"

#include "base/ranks.h"

#include "noli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

enum { BUFFER_SIZE = 1 << 16 };

NoliStatus noli_file_fail(NoliContext* context, const char* path, const char* what, int error) {
  char reason[256];
  if (strerror_r(error, reason, sizeof reason) != 0) {
    snprintf(reason, sizeof reason, "error %d", error);
  }
  return noli_fail(context, NOLI_ERROR_IO, "%s: %s: %s", path, what, reason);
}

bool noli_file_write_all(NoliContext* context, const char* path, int descriptor, const void* data,
                         size_t size) {
  const char* next = data;
  if (!noli_rank_writes(context)) {
    return true;
  }
  if (!noli_disk_allows(context, "write", path)) {
    return false;
  }
  while (size > 0) {
    ssize_t written = write(descriptor, next, size);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    next += written;
    size -= (size_t)written;
  }
  return true;
}

static NoliStatus flush_buffer(NoliFile* file) {
  if (!noli_file_write_all(file->context, file->path, file->descriptor, file->buffer, file->used)) {
    return noli_file_fail(file->context, file->path, "cannot write", errno);
  }
  file->used = 0;
  return NOLI_OK;
}

// Files are replaced whole, which would turn a device or a pipe into a file.
static NoliStatus require_replaceable(NoliContext* context, const char* path) {
  struct stat about;
  if (stat(path, &about) != 0 || S_ISREG(about.st_mode)) {
    return NOLI_OK;
  }
  return noli_fail(context, NOLI_ERROR_IO, "%s: cannot create: there is something that is no file",
                   path);
}

NoliStatus noli_file_create(NoliContext* context, const char* path, NoliFile* file) {
  NoliStatus status = NOLI_OK;
  *file = (NoliFile){.context = context, .descriptor = -1};
  size_t length = strlen(path);
  if (noli_rank_writes(context)) {
    NOLI_TRY(require_replaceable(context, path));
  }

  NOLI_NEW(context, file->path, (int64_t)length + 1);
  memcpy(file->path, path, length + 1);
  NOLI_NEW(context, file->temporary, (int64_t)length + 5);
  snprintf(file->temporary, length + 5, "%s.tmp", path);
  NOLI_NEW(context, file->buffer, BUFFER_SIZE);

  if (!noli_rank_writes(context)) {
    goto done;
  }
  if (noli_disk_allows(context, "create", path)) {
    file->descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (file->descriptor < 0) {
    status = noli_file_fail(context, path, "cannot create", errno);
  }
done:
  if (status != NOLI_OK) {
    noli_file_abandon(file);
  }
  return status;
}

NoliStatus noli_file_write(NoliFile* file, const void* data, size_t size) {
  if (size > BUFFER_SIZE - file->used) {
    NoliStatus status = flush_buffer(file);
    if (status != NOLI_OK) {
      return status;
    }
  }
  // what does not fit into an empty buffer goes past it
  if (size > BUFFER_SIZE) {
    if (!noli_file_write_all(file->context, file->path, file->descriptor, data, size)) {
      return noli_file_fail(file->context, file->path, "cannot write", errno);
    }
    return NOLI_OK;
  }
  if (size > 0) {
    memcpy(file->buffer + file->used, data, size);
    file->used += size;
  }
  return NOLI_OK;
}

NoliStatus noli_file_print(NoliFile* file, const char* format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= sizeof text) {
    return noli_fail(file->context, NOLI_ERROR_INTERNAL, "%s: a line is too long", file->path);
  }
  return noli_file_write(file, text, (size_t)length);
}

const char* noli_file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

// A rename is on the disk only when its directory is.
void noli_file_sync_directory_of(NoliContext* context, const char* path) {
  char directory[4096];
  const char* slash = strrchr(path, '/');
  size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0;
  if (length + 2 > sizeof directory || !noli_rank_writes(context) ||
      !noli_disk_allows(context, "sync directory", path)) {
    return;
  }
  memcpy(directory, path, length);
  memcpy(directory + length, ".", 2);
  int descriptor = open(directory, O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) {
    // some file systems refuse this; the file itself is safe by now
    (void)fsync(descriptor);
    close(descriptor);
  }
}

NoliStatus noli_file_sync(NoliContext* context, const char* path, int descriptor) {
  if (!noli_rank_writes(context)) {
    return NOLI_OK;
  }
  if (!noli_disk_allows(context, "sync", path) || fsync(descriptor) != 0) {
    return noli_file_fail(context, path, "cannot write", errno);
  }
  return NOLI_OK;
}

NoliStatus noli_file_sync_path(NoliContext* context, const char* path) {
  if (!noli_rank_writes(context)) {
    return NOLI_OK;
  }
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return errno == ENOENT ? NOLI_OK : noli_file_fail(context, path, "cannot open", errno);
  }
  NoliStatus status = noli_file_sync(context, path, descriptor);
  close(descriptor);
  return status;
}

#ifdef SYS_syncfs
// Not 0 with errno set when that fails; ENOSYS: the system cannot do it.
static long sync_file_system(int descriptor) {
  return syscall(SYS_syncfs, descriptor);
}
#else
static long sync_file_system(int descriptor) {
  (void)descriptor;
  errno = ENOSYS;
  return -1;
}
#endif

NoliStatus noli_file_sync_system_of(NoliContext* context, const char* path, bool* done) {
  NoliStatus status = NOLI_OK;
  *done = !noli_rank_writes(context);
  if (*done) {
    return NOLI_OK;
  }
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return noli_file_fail(context, path, "cannot open", errno);
  }
  *done = noli_disk_allows(context, "sync", path) && sync_file_system(descriptor) == 0;
  if (!*done && errno != ENOSYS) {
    status = noli_file_fail(context, path, "cannot write", errno);
  }
  close(descriptor);
  return status;
}

// Encodes `size` bytes; returns the number of characters written.
static size_t encode_base64(const unsigned char* data, size_t size, char* text) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t n = 0;
  for (size_t i = 0; i < size; i += 3) {
    unsigned b1 = i + 1 < size ? data[i + 1] : 0;
    unsigned b2 = i + 2 < size ? data[i + 2] : 0;
    unsigned bits = (unsigned)data[i] << 16 | b1 << 8 | b2;
    text[n++] = digits[bits >> 18];
    text[n++] = digits[bits >> 12 & 63];
    text[n++] = i + 1 < size ? digits[bits >> 6 & 63] : '=';
    text[n++] = i + 2 < size ? digits[bits & 63] : '=';
  }
  return n;
}

NoliStatus noli_file_write_base64(NoliFile* file, const void* data, size_t size) {
  enum { PIECE = 3 * 4096 };
  char text[PIECE / 3 * 4];
  const unsigned char* next = data;
  while (size > 0) {
    size_t piece = size < PIECE ? size : PIECE;
    NoliStatus status = noli_file_write(file, text, encode_base64(next, piece, text));
    if (status != NOLI_OK) {
      return status;
    }
    next += piece;
    size -= piece;
  }
  return NOLI_OK;
}

NoliStatus noli_file_commit(NoliFile* file, bool durable) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(flush_buffer(file));
  if (!noli_rank_writes(file->context)) {
    goto done;
  }
  if (durable) {
    NOLI_TRY(noli_file_sync(file->context, file->path, file->descriptor));
  }
  int descriptor = file->descriptor;
  file->descriptor = -1;

  // quotas and network file systems report a full disk only here
  bool closed = close(descriptor) == 0;
  if (!noli_disk_allows(file->context, "close", file->path) || !closed) {
    status = noli_file_fail(file->context, file->path, "cannot write", errno);
    goto done;
  }
  NOLI_TRY(noli_file_rename(file->context, file->temporary, file->path));
  if (durable) {
    noli_file_sync_directory_of(file->context, file->path);
  }
  noli_free(file->context, file->temporary);
  file->temporary = NULL;
done:
  noli_file_abandon(file);
  return status;
}

void noli_file_abandon(NoliFile* file) {
  if (file->descriptor >= 0) {
    close(file->descriptor);
  }
  if (file->temporary != NULL && noli_rank_writes(file->context)) {
    unlink(file->temporary);
  }
  noli_free(file->context, file->buffer);
  noli_free(file->context, file->temporary);
  noli_free(file->context, file->path);
  *file = (NoliFile){.context = file->context, .descriptor = -1};
}

NoliStatus noli_file_replace(NoliContext* context, const char* path, const void* data, size_t size,
                             bool durable) {
  NoliStatus status = NOLI_OK;
  NoliFile file;
  NOLI_TRY(noli_file_create(context, path, &file));
  NOLI_TRY(noli_file_write(&file, data, size));
  NOLI_TRY(noli_file_commit(&file, durable));
done:
  noli_file_abandon(&file);
  return status;
}

// Reads until the end: the size a file claims may be wrong (pipes, /proc).
static NoliStatus read_all(NoliContext* context, const char* path, int descriptor, char** data,
                           size_t* size) {
  NoliStatus status = NOLI_OK;
  struct stat about;
  size_t guess = fstat(descriptor, &about) == 0 && about.st_size > 0 ? (size_t)about.st_size : 0;
  int64_t capacity = 0;
  NOLI_TRY(noli_grow(context, (void**)data, &capacity, (int64_t)guess + 2, 1));
  for (;;) {
    if (*size + 2 > (size_t)capacity) {
      NOLI_TRY(noli_grow(context, (void**)data, &capacity, capacity + 1, 1));
    }
    ssize_t got = read(descriptor, *data + *size, (size_t)capacity - *size - 1);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      status = noli_file_fail(context, path, "cannot read", errno);
      goto done;
    }
    if (got == 0) {
      break;
    }
    *size += (size_t)got;
  }

  (*data)[*size] = '\0';
done:
  return status;
}

NoliStatus noli_file_read(NoliContext* context, const char* path, char** data, size_t* size) {
  *data = NULL;
  *size = 0;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return noli_file_fail(context, path, "cannot read", errno);
  }
  NoliStatus status = read_all(context, path, descriptor, data, size);
  close(descriptor);
  if (status != NOLI_OK) {
    noli_free(context, *data);
    *data = NULL;
    *size = 0;
  }
  return status;
}

bool noli_file_exists(const char* path) {
  struct stat about;
  return stat(path, &about) == 0;
}

NoliStatus noli_file_remove(NoliContext* context, const char* path) {
  if (!noli_rank_writes(context)) {
    return NOLI_OK;
  }
  if (!noli_disk_allows(context, "remove", path) || (unlink(path) != 0 && errno != ENOENT)) {
    return noli_file_fail(context, path, "cannot remove", errno);
  }
  return NOLI_OK;
}

NoliStatus noli_file_rename(NoliContext* context, const char* from, const char* to) {
  if (!noli_rank_writes(context)) {
    return NOLI_OK;
  }
  if (!noli_disk_allows(context, "rename", to) || rename(from, to) != 0) {
    return noli_file_fail(context, to, "cannot replace", errno);
  }
  return NOLI_OK;
}

NoliStatus noli_file_keep(NoliContext* context, const char* path, const char* kept) {
  NoliStatus status = NOLI_OK;
  char* link_path = NULL;
  size_t size = strlen(kept) + 5;
  if (!noli_rank_writes(context)) {
    return NOLI_OK;
  }
  NOLI_NEW(context, link_path, (int64_t)size);
  snprintf(link_path, size, "%s.tmp", kept);
  NOLI_TRY(noli_file_remove(context, link_path));
  if (noli_disk_allows(context, "link", kept) && link(path, link_path) == 0) {
    NOLI_TRY(noli_file_rename(context, link_path, kept));
    // a rename between two names of one file does nothing
    NOLI_TRY(noli_file_remove(context, link_path));
  } else {
    // a file system without hard links: for a moment there is no file of that name
    NOLI_TRY(noli_file_rename(context, path, kept));
  }
done:
  noli_free(context, link_path);
  return status;
}

NoliStatus noli_file_make_directory(NoliContext* context, const char* path) {
  NoliStatus status = NOLI_OK;
  char* part = NULL;
  size_t length = strlen(path);
  if (!noli_rank_writes(context)) {
    return NOLI_OK;
  }
  NOLI_NEW(context, part, (int64_t)length + 1);
  memcpy(part, path, length + 1);

  // every prefix that ends before a slash, then the whole
  for (size_t i = 1; i <= length; i++) {
    if (part[i] != '/' && part[i] != '\0') {
      continue;
    }
    char kept = part[i];
    part[i] = '\0';
    bool allowed = noli_disk_allows(context, "make directory", part);
    int failed = !allowed || mkdir(part, 0777) != 0 ? errno : 0;
    struct stat about;
    if (!allowed || (failed != 0 && !(stat(part, &about) == 0 && S_ISDIR(about.st_mode)))) {
      status = noli_file_fail(context, part, "cannot create the directory", failed);
      goto done;
    }
    part[i] = kept;
  }
done:
  noli_free(context, part);
  return status;
}

NoliStatus noli_file_join(NoliContext* context, const char* directory, const char* name,
                          char** path) {
  NoliStatus status = NOLI_OK;
  size_t size = strlen(directory) + strlen(name) + 2;
  NOLI_NEW(context, *path, (int64_t)size);
  snprintf(*path, size, "%s/%s", directory, name);
done:
  return status;
}

NoliStatus noli_output_write_text(NoliContext* context, const char* path, const char* text) {
  NOLI_REQUIRE(context, context != NULL && path != NULL && text != NULL);
  return noli_file_replace(context, path, text, strlen(text), false);
}
