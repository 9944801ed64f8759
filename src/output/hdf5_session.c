#include "output/hdf5_session.h"

#include "base/process_lock.h"

#include <stdio.h>
#include <string.h>

// HDF5 is not thread-safe unless it was built to be, and its files, identifiers and error handler
// belong to the process: one context at a time may use it.
void noli_hdf5_begin(NoliHdf5* hdf5) {
  noli_lock(NOLI_LOCK_HDF5);
  H5Eauto_is_v2(H5E_DEFAULT, &hdf5->is_version_2);
  if (hdf5->is_version_2) {
    H5Eget_auto2(H5E_DEFAULT, &hdf5->print_2, &hdf5->user);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  } else {
    H5Eget_auto1(&hdf5->print_1, &hdf5->user);
    H5Eset_auto1(NULL, NULL);
  }
  snprintf(hdf5->name, sizeof hdf5->name, "/dev/null/noli-%p", (void*)hdf5);
  hdf5->begun = true;
}

void noli_hdf5_end(NoliHdf5* hdf5) {
  if (!hdf5->begun) {
    return;
  }
  if (hdf5->is_version_2) {
    H5Eset_auto2(H5E_DEFAULT, hdf5->print_2, hdf5->user);
  } else {
    H5Eset_auto1(hdf5->print_1, hdf5->user);
  }
  hdf5->begun = false;
  noli_unlock(NOLI_LOCK_HDF5);
}

enum { HDF5_BYTES = 1 << 23, HDF5_COPIES = 4 };

NoliStatus noli_hdf5_require_room(NoliContext* context, int64_t bytes) {
  return noli_require_memory(context, HDF5_BYTES + HDF5_COPIES * bytes);
}

void noli_hdf5_close(hid_t id, herr_t (*close)(hid_t)) {
  if (id >= 0) {
    close(id);
  }
}

bool noli_hdf5_write_attribute(hid_t object, const char* name, hid_t stored, hid_t held,
                               const void* value) {
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
  bool written = attribute >= 0 && H5Awrite(attribute, held, value) >= 0;
  noli_hdf5_close(attribute, H5Aclose);
  noli_hdf5_close(space, H5Sclose);
  return written;
}

bool noli_hdf5_write_dataset(hid_t group, const char* name, hid_t stored, hid_t held, hid_t space,
                             const void* data) {
  // times of creation would make equal states unequal files
  hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  bool written = properties >= 0 && H5Pset_obj_track_times(properties, false) >= 0;
  hid_t dataset =
      written ? H5Dcreate2(group, name, stored, space, H5P_DEFAULT, properties, H5P_DEFAULT) : -1;
  written = dataset >= 0 && H5Dwrite(dataset, held, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  noli_hdf5_close(dataset, H5Dclose);
  noli_hdf5_close(properties, H5Pclose);
  return written;
}

hid_t noli_hdf5_text_type(const char* text) {
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type >= 0 && H5Tset_size(type, strlen(text) + 1) < 0) {
    H5Tclose(type);
    return -1;
  }
  return type;
}

hid_t noli_hdf5_memory_access(void* image, size_t size) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  bool ready = access >= 0 && H5Pset_fapl_core(access, (size_t)1 << 20, false) >= 0;
  if (ready && image != NULL) {
    ready = H5Pset_file_image(access, image, size) >= 0;
  }
  if (!ready) {
    noli_hdf5_close(access, H5Pclose);
    return -1;
  }
  return access;
}

NoliStatus noli_hdf5_copy_image(NoliContext* context, hid_t file, const char* path, size_t before,
                                char** image, size_t* size) {
  NoliStatus status = NOLI_OK;
  bool flushed = H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
  ssize_t length = flushed ? H5Fget_file_image(file, NULL, 0) : -1;
  NOLI_CHECK(context, length > 0, NOLI_ERROR_BACKEND, "%s: HDF5 cannot make the file", path);
  *size = (size_t)length + before;
  NOLI_NEW_ZERO(context, *image, (int64_t)*size);
  NOLI_CHECK(context, H5Fget_file_image(file, *image + before, (size_t)length) == length,
             NOLI_ERROR_BACKEND, "%s: HDF5 cannot make the file", path);
done:
  return status;
}
