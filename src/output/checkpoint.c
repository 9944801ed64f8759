#include "output/checkpoint.h"

#include "base/validate.h"
#include "base/ranks.h"
#include "base/sized.h"
#include "output/file.h"
#include "output/hdf5_session.h"
#include "model/fingerprint.h"
#include "step/simulation.h"

#include <stdio.h>
#include <string.h>

#include <zlib.h>

// Format 1 did not know into how many parts the last step was divided, format 2 not of what model
// it is the state, format 3 not how many steps held what is prescribed.
// Stands for the path in messages about bytes in memory.
#define IN_MEMORY "checkpoint in memory"

enum { FORMAT = 7, USER_BLOCK = 512, NAME_ROOM = 32, NO_ID = -1 };

static hid_t field_type(const NoliStateField* field) {
  return field->type == NOLI_FIELD_DOUBLE ? H5T_IEEE_F64LE : H5T_STD_I64LE;
}

static hid_t memory_type(const NoliStateField* field) {
  return field->type == NOLI_FIELD_DOUBLE ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
}

static bool write_text(hid_t group, const char* name, const char* text) {
  if (text == NULL) {
    return true;
  }
  hid_t type = noli_hdf5_text_type(text);
  hid_t space = H5Screate(H5S_SCALAR);
  bool written =
      type >= 0 && space >= 0 && noli_hdf5_write_dataset(group, name, type, type, space, text);
  noli_hdf5_close(space, H5Sclose);
  noli_hdf5_close(type, H5Tclose);
  return written;
}

static bool write_state(hid_t root, NoliSim* sim) {
  hid_t group = H5Gcreate2(root, "state", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool written = group >= 0;
  NoliStateField field;
  for (int32_t i = 0; written && noli_sim_state_field(sim, i, &field); i++) {
    hsize_t count = (hsize_t)field.count;
    hid_t space = H5Screate_simple(1, &count, NULL);
    written = space >= 0 && noli_hdf5_write_dataset(group, field.name, field_type(&field),
                                                    memory_type(&field), space, field.data);
    noli_hdf5_close(space, H5Sclose);
  }
  noli_hdf5_close(group, H5Gclose);
  return written;
}

// The fingerprints of the bodies that the states belong to, see model/fingerprint.h.
typedef struct Prints {
  int64_t n;
  uint64_t* cells; // (n)
  double* rest;    // (n)
  double* size;    // (n)
} Prints;

static void free_prints(NoliContext* context, Prints* prints) {
  noli_free(context, prints->cells);
  noli_free(context, prints->rest);
  noli_free(context, prints->size);
  *prints = (Prints){0};
}

static NoliStatus new_prints(NoliContext* context, int64_t n, Prints* prints) {
  NoliStatus status = NOLI_OK;
  *prints = (Prints){.n = n};
  NOLI_NEW(context, prints->cells, n);
  NOLI_NEW(context, prints->rest, n);
  NOLI_NEW(context, prints->size, n);
done:
  if (status != NOLI_OK) {
    free_prints(context, prints);
  }
  return status;
}

static NoliStatus take_prints(NoliContext* context, const NoliSim* sim, Prints* prints) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(new_prints(context, noli_sim_body_count(sim), prints));
  for (int32_t b = 0; b < prints->n; b++) {
    NoliFingerprint print;
    NOLI_TRY(noli_model_fingerprint(sim->model, &sim->definition.def->bodies[b], b, &print));
    prints->cells[b] = print.cells;
    prints->rest[b] = print.rest;
    prints->size[b] = print.size;
  }
done:
  return status;
}

static bool write_prints(hid_t root, const Prints* prints) {
  hsize_t count = (hsize_t)prints->n;
  hid_t group = H5Gcreate2(root, "model", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple(1, &count, NULL);
  bool written = group >= 0 && space >= 0 &&
                 noli_hdf5_write_dataset(group, "cells", H5T_STD_U64LE, H5T_NATIVE_UINT64, space,
                                         prints->cells) &&
                 noli_hdf5_write_dataset(group, "rest", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space,
                                         prints->rest) &&
                 noli_hdf5_write_dataset(group, "size", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space,
                                         prints->size);
  noli_hdf5_close(space, H5Sclose);
  noli_hdf5_close(group, H5Gclose);
  return written;
}

static bool write_description(hid_t root, NoliSim* sim) {
  int64_t format = FORMAT, step = noli_sim_step_count(sim);
  double time = noli_sim_time(sim);
  uint64_t hash = noli_sim_state_hash(sim);
  hid_t version = noli_hdf5_text_type(noli_version());
  bool written =
      version >= 0 && noli_hdf5_write_attribute(root, "noli", version, version, noli_version());
  written = written &&
            noli_hdf5_write_attribute(root, "format", H5T_STD_I64LE, H5T_NATIVE_INT64, &format);
  written =
      written && noli_hdf5_write_attribute(root, "step", H5T_STD_I64LE, H5T_NATIVE_INT64, &step);
  written =
      written && noli_hdf5_write_attribute(root, "time", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &time);
  written =
      written && noli_hdf5_write_attribute(root, "hash", H5T_STD_U64LE, H5T_NATIVE_UINT64, &hash);
  const char* integrator = noli_sim_integrator(sim);
  hid_t name = noli_hdf5_text_type(integrator);
  written =
      written && name >= 0 && noli_hdf5_write_attribute(root, "integrator", name, name, integrator);
  noli_hdf5_close(name, H5Tclose);
  noli_hdf5_close(version, H5Tclose);
  return written;
}

static NoliStatus make_image(NoliContext* context, NoliSim* sim, const char* scene_json,
                             const char* summary_json, const char* files, const char* path,
                             char** image, size_t* size) {
  NoliStatus status = NOLI_OK;
  Prints prints = {0};
  NoliHdf5 hdf5;
  hid_t file = NO_ID, access = NO_ID;
  noli_hdf5_begin(&hdf5);
  NOLI_TRY(take_prints(context, sim, &prints));
  access = noli_hdf5_memory_access(NULL, 0);
  file = access >= 0 ? H5Fcreate(hdf5.name, H5F_ACC_TRUNC, H5P_DEFAULT, access) : NO_ID;
  bool written = file >= 0 && write_description(file, sim) && write_state(file, sim) &&
                 write_prints(file, &prints) && write_text(file, "scene", scene_json) &&
                 write_text(file, "summary", summary_json) && write_text(file, "files", files);
  NOLI_CHECK(context, written, NOLI_ERROR_BACKEND, "%s: HDF5 cannot make the file", path);
  NOLI_TRY(noli_hdf5_copy_image(context, file, path, USER_BLOCK, image, size));
done:
  free_prints(context, &prints);
  noli_hdf5_close(file, H5Fclose);
  noli_hdf5_close(access, H5Pclose);
  noli_hdf5_end(&hdf5);
  return status;
}

// The validator of all fields of a simulation.
static const char* layout_defect(NoliSim* sim) {
  NoliStateField fields[64];
  int32_t n = 0;
  while (n < 64 && noli_sim_state_field(sim, n, &fields[n])) {
    n++;
  }
  return noli_checkpoint_layout_defect(fields, n);
}

// Bytes of all fields, and how many there are.
static int64_t state_bytes(NoliSim* sim, int32_t* n_fields) {
  NoliStateField field;
  int64_t bytes = 0;
  *n_fields = 0;
  while (noli_sim_state_field(sim, *n_fields, &field)) {
    bytes += field.count * 8;
    (*n_fields)++;
  }
  return bytes;
}

static int64_t text_bytes(const char* text) {
  return text != NULL ? (int64_t)strlen(text) : 0;
}

// All bytes of a checkpoint; `path` is for messages.
static NoliStatus make_bytes(NoliContext* context, NoliSim* sim, const char* scene_json,
                             const char* summary_json, const char* files, const char* path,
                             char** image, size_t* size) {
  NoliStatus status = NOLI_OK;
  int32_t n_fields;
  NOLI_VALIDATE(context, layout_defect(sim));
  NOLI_TRY(noli_hdf5_require_room(context, state_bytes(sim, &n_fields) + text_bytes(scene_json) +
                                               text_bytes(summary_json) + text_bytes(files)));
  NOLI_TRY(make_image(context, sim, scene_json, summary_json, files, path, image, size));
  snprintf(*image, USER_BLOCK, "noli checkpoint %d, %llu bytes, crc32 %08x\n", FORMAT,
           (unsigned long long)(*size - USER_BLOCK),
           (uint32_t)crc32_z(0, (const Bytef*)*image + USER_BLOCK, *size - USER_BLOCK));
done:
  return status;
}

NoliStatus noli_checkpoint_write(NoliContext* context, NoliSim* sim, const char* scene_json,
                                 const char* summary_json, const char* files, const char* path) {
  NoliStatus status = NOLI_OK;
  char* image = NULL;
  size_t size = 0;
  if (!noli_rank_writes(context)) {
    return NOLI_OK;
  }
  NOLI_TRY(make_bytes(context, sim, scene_json, summary_json, files, path, &image, &size));
  NOLI_TRY(noli_file_replace(context, path, image, size, true));
done:
  noli_free(context, image);
  return status;
}

NoliStatus noli_checkpoint_save(NoliContext* context, NoliSim* sim, const char* scene_json,
                                const char* path) {
  NOLI_REQUIRE(context, context != NULL && sim != NULL && path != NULL);
  return noli_checkpoint_write(context, sim, scene_json, NULL, NULL, path);
}

NoliStatus noli_checkpoint_to_memory(NoliContext* context, NoliSim* sim, const char* scene_json,
                                     void** bytes, size_t* size) {
  NOLI_REQUIRE(context, context != NULL && sim != NULL && bytes != NULL && size != NULL);
  char* image = NULL;
  NoliStatus status = make_bytes(context, sim, scene_json, NULL, NULL, IN_MEMORY, &image, size);
  if (status != NOLI_OK) {
    noli_free(context, image);
    image = NULL;
    *size = 0;
  }
  *bytes = image;
  return status;
}

// An open checkpoint: the bytes of the file and the HDF5 file over them. HDF5 is in use until it is
// closed.
typedef struct Reader {
  char* image;
  hid_t file;
  NoliHdf5 hdf5;
} Reader;

static void close_reader(NoliContext* context, Reader* reader) {
  noli_hdf5_close(reader->file, H5Fclose);
  noli_hdf5_end(&reader->hdf5);
  noli_free(context, reader->image);
  *reader = (Reader){.file = NO_ID};
}

static NoliStatus check_user_block(NoliContext* context, const char* path, const char* image,
                                   size_t size) {
  NoliStatus status = NOLI_OK;
  int format = 0;
  unsigned long long length = 0;
  unsigned crc = 0;
  bool ours =
      size >= USER_BLOCK && memchr(image, '\0', USER_BLOCK) != NULL &&
      sscanf(image, "noli checkpoint %d, %llu bytes, crc32 %x", &format, &length, &crc) == 3;
  NOLI_CHECK(context, ours, NOLI_ERROR_FORMAT, "%s: not a checkpoint of Noli", path);
  NOLI_CHECK(context, format == FORMAT, NOLI_ERROR_FORMAT,
             "%s: a checkpoint of format %d; this version of Noli reads format %d", path, format,
             FORMAT);
  NOLI_CHECK(context, length == size - USER_BLOCK, NOLI_ERROR_FORMAT,
             "%s: damaged: %zu bytes where %llu are announced", path, size - USER_BLOCK, length);
  NOLI_CHECK(context, crc == crc32_z(0, (const Bytef*)image + USER_BLOCK, size - USER_BLOCK),
             NOLI_ERROR_FORMAT, "%s: damaged: the checksum is wrong", path);
done:
  return status;
}

// Opens the bytes (size) that the reader holds.
static NoliStatus open_bytes(NoliContext* context, const char* path, size_t size, Reader* reader) {
  NoliStatus status = NOLI_OK;
  hid_t access = NO_ID;
  NOLI_TRY(check_user_block(context, path, reader->image, size));
  NOLI_TRY(noli_hdf5_require_room(context, (int64_t)size));
  noli_hdf5_begin(&reader->hdf5);
  access = noli_hdf5_memory_access(reader->image + USER_BLOCK, size - USER_BLOCK);
  reader->file = access >= 0 ? H5Fopen(reader->hdf5.name, H5F_ACC_RDONLY, access) : NO_ID;
  NOLI_CHECK(context, reader->file >= 0, NOLI_ERROR_FORMAT, "%s: not an HDF5 file", path);
done:
  noli_hdf5_close(access, H5Pclose);
  if (status != NOLI_OK) {
    close_reader(context, reader);
  }
  return status;
}

static NoliStatus open_reader(NoliContext* context, const char* path, Reader* reader) {
  NoliStatus status = NOLI_OK;
  size_t size = 0;
  *reader = (Reader){.file = NO_ID};
  NOLI_TRY(noli_file_read(context, path, &reader->image, &size));
  NOLI_TRY(open_bytes(context, path, size, reader));
done:
  return status;
}

static bool read_attribute(hid_t object, const char* name, hid_t held, void* value) {
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  bool read = attribute >= 0 && H5Aread(attribute, held, value) >= 0;
  noli_hdf5_close(attribute, H5Aclose);
  return read;
}

static NoliStatus checkpoint_read_text(NoliContext* context, hid_t file, const char* path,
                                       const char* name, char** text) {
  NoliStatus status = NOLI_OK;
  *text = NULL;
  hid_t dataset = NO_ID, type = NO_ID;
  if (H5Lexists(file, name, H5P_DEFAULT) <= 0) {
    goto done;
  }
  dataset = H5Dopen2(file, name, H5P_DEFAULT);
  type = dataset >= 0 ? H5Dget_type(dataset) : NO_ID;
  size_t size = type >= 0 && H5Tget_class(type) == H5T_STRING ? H5Tget_size(type) : 0;
  NOLI_CHECK(context, size > 0, NOLI_ERROR_FORMAT, "%s: /%s is not text", path, name);
  NOLI_NEW_ZERO(context, *text, (int64_t)size + 1);
  NOLI_CHECK(context, H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *text) >= 0,
             NOLI_ERROR_FORMAT, "%s: /%s cannot be read", path, name);
done:
  noli_hdf5_close(type, H5Tclose);
  noli_hdf5_close(dataset, H5Dclose);
  if (status != NOLI_OK) {
    noli_free(context, *text);
    *text = NULL;
  }
  return status;
}

// Reads one field into `data`, if its name, type and size are those of the simulation.
static NoliStatus read_field(NoliContext* context, hid_t group, const char* path,
                             const NoliStateField* field, void* data) {
  NoliStatus status = NOLI_OK;
  hid_t dataset = NO_ID, space = NO_ID, type = NO_ID;
  bool there = H5Lexists(group, field->name, H5P_DEFAULT) > 0;
  dataset = there ? H5Dopen2(group, field->name, H5P_DEFAULT) : NO_ID;
  NOLI_CHECK(context, dataset >= 0, NOLI_ERROR_FORMAT, "%s: the field \"%s\" is missing", path,
             field->name);
  space = H5Dget_space(dataset);
  type = H5Dget_type(dataset);
  hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
  NOLI_CHECK(context, count == field->count, NOLI_ERROR_FORMAT,
             "%s: the field \"%s\" has %lld values, the scene needs %lld", path, field->name,
             (long long)count, (long long)field->count);
  NOLI_CHECK(context, type >= 0 && H5Tequal(type, field_type(field)) > 0, NOLI_ERROR_FORMAT,
             "%s: the field \"%s\" has the wrong type", path, field->name);
  NOLI_CHECK(context,
             H5Dread(dataset, memory_type(field), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0,
             NOLI_ERROR_FORMAT, "%s: the field \"%s\" cannot be read", path, field->name);
done:
  noli_hdf5_close(type, H5Tclose);
  noli_hdf5_close(space, H5Sclose);
  noli_hdf5_close(dataset, H5Dclose);
  return status;
}

// Values in a data set of a group; 0 where there is none.
static int64_t count_values(hid_t group, const char* name) {
  if (group < 0 || H5Lexists(group, name, H5P_DEFAULT) <= 0) {
    return 0;
  }
  hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
  hid_t space = dataset >= 0 ? H5Dget_space(dataset) : NO_ID;
  hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
  noli_hdf5_close(space, H5Sclose);
  noli_hdf5_close(dataset, H5Dclose);
  return count > 0 ? count : 0;
}

// Fills a copy of the complete state first, so that a bad file changes nothing.
static NoliStatus restore_state(NoliContext* context, hid_t file, const char* path, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  char* copy = NULL;
  int32_t n_fields = 0;
  H5G_info_t info = {.nlinks = 0};
  NoliStateField field;
  int64_t n_before = noli_sim_constraint_count(sim), slips_before = sim->state.sizes.n_slips;
  hid_t group = H5Gopen2(file, "state", H5P_DEFAULT);

  // make room for the fields of the file
  NOLI_TRY(noli_sim_set_constraint_count(sim, count_values(group, "constraint")));
  NOLI_TRY(noli_state_resize_slips(context, &sim->state,
                                   count_values(group, "slip_key") / NOLI_STICK_WORDS));
  NOLI_NEW(context, copy, state_bytes(sim, &n_fields));
  NOLI_CHECK(context, group >= 0 && H5Gget_info(group, &info) >= 0, NOLI_ERROR_FORMAT,
             "%s: the group \"state\" is missing", path);
  NOLI_CHECK(context, info.nlinks == (hsize_t)n_fields, NOLI_ERROR_FORMAT,
             "%s: has %llu fields, the scene needs %d", path, (unsigned long long)info.nlinks,
             (int)n_fields);

  // read all of them, then change the state
  char* next = copy;
  for (int32_t i = 0; noli_sim_state_field(sim, i, &field); i++) {
    NOLI_TRY(read_field(context, group, path, &field, next));
    next += field.count * 8;
  }
  next = copy;
  for (int32_t i = 0; noli_sim_state_field(sim, i, &field); i++) {
    memcpy(field.data, next, (size_t)field.count * 8);
    next += field.count * 8;
  }
done:
  if (status != NOLI_OK && noli_sim_constraint_count(sim) != n_before) {
    // there was room for as many before
    NoliStatus ignored = noli_sim_set_constraint_count(sim, n_before);
    (void)ignored;
  }
  sim->state.sizes.n_slips = status == NOLI_OK ? sim->state.sizes.n_slips : slips_before;
  noli_hdf5_close(group, H5Gclose);
  noli_free(context, copy);
  return status;
}

// Reads a string attribute whose length is not known; false if it is not there or does not fit.
static bool read_string(hid_t file, const char* name, char text[NAME_ROOM]) {
  hid_t attribute = H5Aexists(file, name) > 0 ? H5Aopen(file, name, H5P_DEFAULT) : NO_ID;
  hid_t type = attribute >= 0 ? H5Aget_type(attribute) : NO_ID;
  size_t size = type >= 0 ? H5Tget_size(type) : 0;
  bool read = size > 0 && size <= NAME_ROOM && H5Aread(attribute, type, text) >= 0;
  text[NAME_ROOM - 1] = '\0';
  noli_hdf5_close(type, H5Tclose);
  noli_hdf5_close(attribute, H5Aclose);
  return read;
}

// The past in a state, and what it is scaled by, mean something to one integrator only.
static NoliStatus check_integrator(NoliContext* context, hid_t file, const char* path,
                                   const NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  char name[NAME_ROOM] = "";
  NOLI_CHECK(context,
             read_string(file, "integrator", name) && strcmp(name, noli_sim_integrator(sim)) == 0,
             NOLI_ERROR_FORMAT,
             "%s: a state of the integrator \"%s\", which \"%s\" of the scene cannot resume", path,
             name, noli_sim_integrator(sim));
done:
  return status;
}

// Reads the `n` numbers of `name`; false if there are not as many.
static bool read_numbers(hid_t group, const char* name, hid_t held, int64_t n, void* numbers) {
  hid_t dataset = count_values(group, name) == n ? H5Dopen2(group, name, H5P_DEFAULT) : NO_ID;
  bool read = dataset >= 0 && H5Dread(dataset, held, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0;
  noli_hdf5_close(dataset, H5Dclose);
  return read;
}

// A state is worth nothing to bodies that were made from other meshes, even with as many nodes.
static NoliStatus check_model(NoliContext* context, hid_t file, const char* path,
                              const NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  Prints saved = {0};
  int64_t n = noli_sim_body_count(sim);
  hid_t group =
      H5Lexists(file, "model", H5P_DEFAULT) > 0 ? H5Gopen2(file, "model", H5P_DEFAULT) : NO_ID;
  NOLI_CHECK(context, count_values(group, "cells") == n, NOLI_ERROR_FORMAT,
             "%s: the state of another model: of %lld bodies and obstacles; the scene has %lld",
             path, (long long)count_values(group, "cells"), (long long)n);
  NOLI_TRY(new_prints(context, n, &saved));
  NOLI_CHECK(context,
             read_numbers(group, "cells", H5T_NATIVE_UINT64, n, saved.cells) &&
                 read_numbers(group, "rest", H5T_NATIVE_DOUBLE, n, saved.rest) &&
                 read_numbers(group, "size", H5T_NATIVE_DOUBLE, n, saved.size),
             NOLI_ERROR_FORMAT, "%s: the description of the model is not complete", path);

  for (int32_t b = 0; b < n; b++) {
    NoliFingerprint print;
    NOLI_TRY(noli_model_fingerprint(sim->model, &sim->definition.def->bodies[b], b, &print));
    NoliFingerprint other = {saved.cells[b], saved.rest[b], saved.size[b]};
    const char* what = noli_fingerprint_difference(&other, &print);
    NOLI_CHECK(context, what == NULL, NOLI_ERROR_FORMAT,
               "%s: the state of another model: \"%s\" had another %s", path,
               noli_sim_entity_name(sim, b), what);
  }
done:
  free_prints(context, &saved);
  noli_hdf5_close(group, H5Gclose);
  return status;
}

// Restores what an open reader holds, and closes it.
static NoliStatus checkpoint_load(NoliContext* context, NoliSim* sim, const char* path,
                                  Reader* reader) {
  NoliStatus status = NOLI_OK;
  uint64_t hash = 0;
  NOLI_CHECK(context, read_attribute(reader->file, "hash", H5T_NATIVE_UINT64, &hash),
             NOLI_ERROR_FORMAT, "%s: the hash of the state is missing", path);
  NOLI_TRY(check_integrator(context, reader->file, path, sim));
  NOLI_TRY(check_model(context, reader->file, path, sim));
  NOLI_TRY(restore_state(context, reader->file, path, sim));
  close_reader(context, reader);
  NOLI_CHECK(context, noli_sim_state_hash(sim) == hash, NOLI_ERROR_FORMAT,
             "%s: the restored state has another hash than the saved one", path);
  noli_sim_follow(sim);
done:
  close_reader(context, reader);
  return status;
}

NoliStatus noli_checkpoint_load(NoliContext* context, NoliSim* sim, const char* path) {
  NOLI_REQUIRE(context, context != NULL && sim != NULL && path != NULL);
  NoliStatus status = NOLI_OK;
  Reader reader = {.file = NO_ID};
  NOLI_TRY(open_reader(context, path, &reader));
  NOLI_TRY(checkpoint_load(context, sim, path, &reader));
done:
  return status;
}

NoliStatus noli_checkpoint_from_memory(NoliContext* context, NoliSim* sim, const void* bytes,
                                       size_t size) {
  NOLI_REQUIRE(context, context != NULL && sim != NULL && bytes != NULL);
  NoliStatus status = NOLI_OK;
  Reader reader = {.file = NO_ID};
  // a copy that ends with a zero, as the content of a file does
  NOLI_NEW(context, reader.image, (int64_t)size + 1);
  memcpy(reader.image, bytes, size);
  reader.image[size] = '\0';
  NOLI_TRY(open_bytes(context, IN_MEMORY, size, &reader));
  NOLI_TRY(checkpoint_load(context, sim, IN_MEMORY, &reader));
done:
  return status;
}

NoliStatus noli_checkpoint_read_text(NoliContext* context, const char* path, const char* name,
                                     char** text) {
  NoliStatus status = NOLI_OK;
  Reader reader = {.file = NO_ID};
  *text = NULL;
  NOLI_TRY(open_reader(context, path, &reader));
  NOLI_TRY(checkpoint_read_text(context, reader.file, path, name, text));
done:
  close_reader(context, &reader);
  return status;
}

static NoliStatus read_info(NoliContext* context, const char* path, NoliCheckpointInfo* info) {
  NoliStatus status = NOLI_OK;
  Reader reader = {.file = NO_ID};
  *info = (NoliCheckpointInfo){0};
  NOLI_TRY(open_reader(context, path, &reader));
  bool read = read_string(reader.file, "noli", info->version) &&
              read_attribute(reader.file, "step", H5T_NATIVE_INT64, &info->step) &&
              read_attribute(reader.file, "time", H5T_NATIVE_DOUBLE, &info->time) &&
              read_attribute(reader.file, "hash", H5T_NATIVE_UINT64, &info->hash);
  NOLI_CHECK(context, read, NOLI_ERROR_FORMAT, "%s: the description is not complete", path);
  NOLI_TRY(checkpoint_read_text(context, reader.file, path, "scene", &info->scene_json));
done:
  close_reader(context, &reader);
  return status;
}

NoliStatus noli_checkpoint_info_sized(NoliContext* context, const char* path,
                                      NoliCheckpointInfo* info, size_t size) {
  NOLI_REQUIRE(context, context != NULL && path != NULL && info != NULL);
  NoliCheckpointInfo own;
  NoliStatus status = read_info(context, path, &own);
  noli_sized_give(info, size, &own, sizeof own);
  return status;
}

void noli_checkpoint_info_free(NoliContext* context, NoliCheckpointInfo* info) {
  if (info != NULL) {
    noli_free(context, info->scene_json);
    info->scene_json = NULL;
  }
}

const char* noli_checkpoint_layout_defect(const NoliStateField* fields, int32_t n_fields) {
  NOLI_RULE(n_fields > 0, "checkpoint: no field of the state");
  for (int32_t i = 0; i < n_fields; i++) {
    NOLI_RULE(fields[i].name != NULL && fields[i].name[0] != '\0' && fields[i].data != NULL,
              "checkpoint: a field has no name or no data");
    NOLI_RULE(fields[i].count > 0, "checkpoint: a field has no values");
    for (int32_t k = 0; k < i; k++) {
      NOLI_RULE(strcmp(fields[i].name, fields[k].name) != 0,
                "checkpoint: two fields have the same name");
    }
  }
  return NULL;
}
