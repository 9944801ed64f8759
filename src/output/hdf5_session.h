// Calls of HDF5: one context at a time, silent, and what is common to the files that we write.
#pragma once

#include "base/context.h"

#include <hdf5.h>

// The right to call HDF5, from noli_hdf5_begin to noli_hdf5_end. HDF5 prints errors unless it is
// silenced; what the host program has asked for, with either version of the handler, comes back
// before another context may call HDF5.
typedef struct NoliHdf5 {
  bool begun;
  unsigned is_version_2;
  H5E_auto1_t print_1;
  H5E_auto2_t print_2;
  void* user;
  // Files in memory need a name that no other open file has, of HDF5 or on the disk: the address of
  // this structure is in it, and no file lies below /dev/null.
  char name[32];
} NoliHdf5;

void noli_hdf5_begin(NoliHdf5* hdf5);
// Harmless for a zero structure.
void noli_hdf5_end(NoliHdf5* hdf5);

// If an allocation fails, HDF5 ends the process, crashes or continues with less (measured with
// 1.10.8): it is used only where enough can be had for what lies in `bytes`, several times over.
NOLI_WARN_UNUSED NoliStatus noli_hdf5_require_room(NoliContext* context, int64_t bytes);

// Closes what was opened; a negative `id` was not.
void noli_hdf5_close(hid_t id, herr_t (*close)(hid_t));

// A scalar attribute. False when HDF5 fails, as for all that follows.
bool noli_hdf5_write_attribute(hid_t object, const char* name, hid_t stored, hid_t held,
                               const void* value);

// A dataset with all of its data.
bool noli_hdf5_write_dataset(hid_t group, const char* name, hid_t stored, hid_t held, hid_t space,
                             const void* data);

// A string type of fixed size, which needs no pointers in the file; negative when HDF5 fails.
hid_t noli_hdf5_text_type(const char* text);

// A property list for files that live in memory; with `image`, one that holds these bytes. Negative
// when HDF5 fails. Only such files are safe: one on a disk that fills up stays open in HDF5, which
// then crashes when the process ends (1.10.8).
hid_t noli_hdf5_memory_access(void* image, size_t size);

// The finished file behind `before` zero bytes, owned by the caller. `path` is for messages. Fails
// with NOLI_ERROR_BACKEND or NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_hdf5_copy_image(NoliContext* context, hid_t file, const char* path,
                                                 size_t before, char** image, size_t* size);
