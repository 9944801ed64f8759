// VTKHDF 2: all frames in one HDF5 file, for ParaView 5.12 and newer, VTK 9.3 and newer.
//
//   /VTKHDF          an UnstructuredGrid: cells once, positions and fields of all frames one after
//                    the other, compressed
//   /VTKHDF/Steps    times, and where the data of each frame begin
//   /noli            names of the bodies that the field `body` numbers
//
// Cells are the same in all frames: their offsets are 0 in every step, and so is the part, to which
// readers add the offset into the cells' own `Offsets`. Data that have not changed since the frame
// before are not written again.
#include "exchange/exchange.h"

#include "noli/version.h"
#include "output/hdf5_session.h"

#include <stdio.h>
#include <string.h>

enum { NO_ID = -1, CHUNK_BYTES = 1 << 18, DEFLATE = 4 };

// An array of the frames: it grows in its dataset.
typedef struct Column {
  char section[16]; // "PointData", "CellData", "Points"
  char name[48];
  NoliFrameType type;
  int32_t n_components;
  hid_t dataset;
  int64_t n_rows;   // written
  int64_t n_tuples; // of a frame
  int64_t* offset;  // (n_frames) first row of each frame
  char* last;       // of the frame before
} Column;

typedef struct Vtkhdf {
  NoliExchange* exchange;
  hid_t file, root;
  NOLI_ARRAY(Column) columns;
} Vtkhdf;

enum { STORED, HELD };

// The type of numbers in the file or in memory. Those of HDF5 are no constants.
static hid_t number_type(NoliFrameType type, int where) {
  const hid_t types[][2] = {
      [NOLI_FRAME_FLOAT64] = {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE},
      [NOLI_FRAME_FLOAT32] = {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT},
      [NOLI_FRAME_INT64] = {H5T_STD_I64LE, H5T_NATIVE_INT64},
      [NOLI_FRAME_INT32] = {H5T_STD_I32LE, H5T_NATIVE_INT32},
      [NOLI_FRAME_UINT8] = {H5T_STD_U8LE, H5T_NATIVE_UINT8},
  };
  return types[type][where];
}

static NoliStatus fail_hdf5(const Vtkhdf* vtkhdf) {
  return noli_fail(vtkhdf->exchange->context, NOLI_ERROR_BACKEND, "%s: HDF5 cannot make the file",
                   vtkhdf->exchange->path);
}

// HDF5 gets memory for `bytes` more, and for moving the file that there is.
static NoliStatus require_room(const Vtkhdf* vtkhdf, int64_t bytes) {
  hsize_t size = 0;
  if (H5Fget_filesize(vtkhdf->file, &size) < 0) {
    return fail_hdf5(vtkhdf);
  }
  return noli_hdf5_require_room(vtkhdf->exchange->context, bytes + (int64_t)size);
}

// ---- datasets ----

// Chunks that are compressed if HDF5 can; constant data need few rows.
static hid_t chunk_properties(int rank, hsize_t width, int64_t n_rows, int64_t row_size) {
  hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  int64_t most = CHUNK_BYTES / row_size;
  int64_t rows = n_rows < 1 ? 1 : n_rows < most ? n_rows : most;
  const hsize_t chunk[2] = {(hsize_t)rows, width};
  bool made = properties >= 0 && H5Pset_obj_track_times(properties, false) >= 0 &&
              H5Pset_chunk(properties, rank, chunk) >= 0;
  if (made && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
    made = H5Pset_shuffle(properties) >= 0 && H5Pset_deflate(properties, DEFLATE) >= 0;
  }
  if (!made) {
    noli_hdf5_close(properties, H5Pclose);
    return NO_ID;
  }
  return properties;
}

// An empty dataset that grows; of one dimension for scalars.
static hid_t create_growing(hid_t group, const char* name, NoliFrameType type, int32_t width,
                            int64_t n_rows) {
  int rank = width > 1 ? 2 : 1;
  const hsize_t none[2] = {0, (hsize_t)width};
  const hsize_t most[2] = {H5S_UNLIMITED, (hsize_t)width};
  hid_t space = H5Screate_simple(rank, none, most);
  hid_t properties =
      chunk_properties(rank, (hsize_t)width, n_rows, width * noli_frame_type_size(type));
  hid_t dataset = space >= 0 && properties >= 0
                      ? H5Dcreate2(group, name, number_type(type, STORED), space, H5P_DEFAULT,
                                   properties, H5P_DEFAULT)
                      : NO_ID;
  noli_hdf5_close(properties, H5Pclose);
  noli_hdf5_close(space, H5Sclose);
  return dataset;
}

static bool append_rows(hid_t dataset, NoliFrameType type, int32_t width, int64_t n_before,
                        int64_t n_rows, const void* data) {
  int rank = width > 1 ? 2 : 1;
  const hsize_t start[2] = {(hsize_t)n_before, 0}, count[2] = {(hsize_t)n_rows, (hsize_t)width};
  const hsize_t size[2] = {(hsize_t)(n_before + n_rows), (hsize_t)width};
  if (n_rows == 0) {
    return true;
  }
  bool written = H5Dset_extent(dataset, size) >= 0;
  hid_t there = written ? H5Dget_space(dataset) : NO_ID;
  hid_t here = H5Screate_simple(rank, count, NULL);
  written = there >= 0 && here >= 0 &&
            H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
            H5Dwrite(dataset, number_type(type, HELD), here, there, H5P_DEFAULT, data) >= 0;
  noli_hdf5_close(here, H5Sclose);
  noli_hdf5_close(there, H5Sclose);
  return written;
}

// A dataset that is complete; it is closed with the file.
static bool write_rows(hid_t group, const char* name, NoliFrameType type, int64_t n_rows,
                       const void* data) {
  hid_t dataset = create_growing(group, name, type, 1, n_rows);
  return dataset >= 0 && append_rows(dataset, type, 1, 0, n_rows, data);
}

static bool write_integers(hid_t group, const char* name, int rank, int64_t n,
                           const int64_t* values) {
  const hsize_t size[2] = {(hsize_t)n, 1};
  hid_t space = H5Screate_simple(rank, size, NULL);
  bool written = space >= 0 && noli_hdf5_write_dataset(group, name, H5T_STD_I64LE, H5T_NATIVE_INT64,
                                                       space, values);
  noli_hdf5_close(space, H5Sclose);
  return written;
}

// ---- cells ----

// All cells of the scene, or the surface where frames have nothing else.
typedef struct Cells {
  int64_t n, n_connectivity;
  int64_t* offsets;      // (n + 1)
  int64_t* connectivity; // (n_connectivity)
  uint8_t* types;        // (n)
} Cells;

static void append_cells(Cells* cells, int64_t n, int32_t corners, const int32_t* vertex,
                         uint8_t type) {
  for (int64_t i = 0; i < n; i++) {
    for (int32_t k = 0; k < corners; k++) {
      cells->connectivity[cells->n_connectivity++] = vertex[corners * i + k];
    }
    cells->types[cells->n++] = type;
    cells->offsets[cells->n] = cells->n_connectivity;
  }
}

static NoliStatus vtkhdf_list_cells(const NoliExchange* exchange, Cells* cells) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = exchange->context;
  const NoliFrameLayout* layout = &exchange->run.layout;
  bool has_cells = exchange->run.frames.format->has_cells;
  int64_t n_thin = (int64_t)layout->n_triangles + layout->n_segments + layout->n_points;
  int64_t n_layout = layout->n_cells > 0 ? layout->offsets[layout->n_cells - 1] : 0;
  int64_t n = has_cells ? layout->n_cells : n_thin;
  NOLI_NEW_ZERO(context, cells->offsets, n + 1);
  NOLI_NEW(context, cells->types, n);
  NOLI_NEW(context, cells->connectivity, has_cells ? n_layout : 3 * n_thin);
  if (has_cells) {
    for (int64_t i = 0; i < layout->n_cells; i++) {
      int64_t begin = cells->n_connectivity;
      append_cells(cells, 1, (int32_t)(layout->offsets[i] - begin), layout->connectivity + begin,
                   layout->types[i]);
    }
  } else {
    append_cells(cells, layout->n_triangles, 3, layout->triangles, NOLI_CELL_TRIANGLE);
    append_cells(cells, layout->n_segments, 2, layout->segments, NOLI_CELL_LINE);
    append_cells(cells, layout->n_points, 1, layout->points, NOLI_CELL_VERTEX);
  }
done:
  return status;
}

static NoliStatus write_cells(const Vtkhdf* vtkhdf) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = vtkhdf->exchange->context;
  const int64_t n_vert = vtkhdf->exchange->run.layout.n_vert;
  Cells cells = {0};
  NOLI_TRY(vtkhdf_list_cells(vtkhdf->exchange, &cells));
  NOLI_TRY(require_room(vtkhdf, 8 * (cells.n_connectivity + cells.n)));
  hid_t root = vtkhdf->root;
  bool written = write_integers(root, "NumberOfPoints", 1, 1, &n_vert) &&
                 write_integers(root, "NumberOfCells", 1, 1, &cells.n) &&
                 write_integers(root, "NumberOfConnectivityIds", 1, 1, &cells.n_connectivity) &&
                 write_rows(root, "Connectivity", NOLI_FRAME_INT64, cells.n_connectivity,
                            cells.connectivity) &&
                 write_rows(root, "Offsets", NOLI_FRAME_INT64, cells.n + 1, cells.offsets) &&
                 write_rows(root, "Types", NOLI_FRAME_UINT8, cells.n, cells.types);
  if (!written) {
    status = fail_hdf5(vtkhdf);
  }
done:
  noli_free(context, cells.offsets);
  noli_free(context, cells.connectivity);
  noli_free(context, cells.types);
  return status;
}

// ---- frames ----

// Whether an array of a frame becomes one of the file: cells have been written.
static bool is_column(const NoliReadArray* array) {
  return strcmp(array->section, "Points") == 0 || strcmp(array->section, "PointData") == 0 ||
         strcmp(array->section, "CellData") == 0;
}

static hid_t open_group(hid_t parent, const char* name) {
  return H5Lexists(parent, name, H5P_DEFAULT) > 0
             ? H5Gopen2(parent, name, H5P_DEFAULT)
             : H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

// Points are a dataset of the root, fields are in the group of their section.
static NoliStatus vtkhdf_add_column(Vtkhdf* vtkhdf, const NoliReadArray* array) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = vtkhdf->exchange->context;
  Column column = {.type = array->type,
                   .n_components = array->n_components,
                   .dataset = NO_ID,
                   .n_tuples = array->n_tuples};

  memcpy(column.section, array->section, sizeof column.section);
  memcpy(column.name, array->name, sizeof column.name);
  NOLI_PUSH(context, &vtkhdf->columns, column);
  Column* own = &vtkhdf->columns.data[vtkhdf->columns.count - 1];
  NOLI_NEW_ZERO(context, own->offset, vtkhdf->exchange->n_frames);
  NOLI_NEW(context, own->last,
           array->n_tuples * array->n_components * noli_frame_type_size(array->type));
  bool is_field = strcmp(array->section, "Points") != 0;
  hid_t group = is_field ? open_group(vtkhdf->root, array->section) : vtkhdf->root;
  own->dataset = group >= 0 ? create_growing(group, array->name, array->type, array->n_components,
                                             array->n_tuples)
                            : NO_ID;
  if (is_field) {
    noli_hdf5_close(group, H5Gclose);
  }
  if (own->dataset < 0) {
    status = fail_hdf5(vtkhdf);
  }
done:
  return status;
}

// Writes what has changed since the frame before.
static NoliStatus append_column(Vtkhdf* vtkhdf, Column* column, int64_t frame,
                                const NoliReadFrame* read) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = vtkhdf->exchange->context;
  size_t size = (size_t)(column->n_tuples * column->n_components) *
                (size_t)noli_frame_type_size(column->type);
  const NoliReadArray* array = noli_read_frame_find(
      read, column->section, column->name, column->type, column->n_components, column->n_tuples);

  NOLI_CHECK(context, array != NULL, NOLI_ERROR_FORMAT,
             "%s: the frame of step %lld has no field \"%s\" as the first one has it",
             vtkhdf->exchange->run.directory,
             (long long)vtkhdf->exchange->run.frames.frames.data[frame].step, column->name);

  if (frame > 0 && memcmp(column->last, array->data, size) == 0) {
    column->offset[frame] = column->offset[frame - 1];
    goto done;
  }

  column->offset[frame] = column->n_rows;
  NOLI_TRY(require_room(vtkhdf, (int64_t)size));
  if (!append_rows(column->dataset, column->type, column->n_components, column->n_rows,
                   column->n_tuples, array->data)) {
    status = fail_hdf5(vtkhdf);
    goto done;
  }

  column->n_rows += column->n_tuples;
  memcpy(column->last, array->data, size);
done:
  return status;
}

static NoliStatus write_frame(Vtkhdf* vtkhdf, int64_t frame) {
  NoliStatus status = NOLI_OK;
  NoliReadFrame read = {0};
  NOLI_TRY(noli_exchange_read(vtkhdf->exchange, frame, &read));
  for (int64_t i = 0; frame == 0 && i < read.arrays.count; i++) {
    if (is_column(&read.arrays.data[i])) {
      NOLI_TRY(vtkhdf_add_column(vtkhdf, &read.arrays.data[i]));
    }
  }
  for (int64_t i = 0; i < vtkhdf->columns.count; i++) {
    NOLI_TRY(append_column(vtkhdf, &vtkhdf->columns.data[i], frame, &read));
  }
done:
  noli_read_frame_free(vtkhdf->exchange->context, &read);
  return status;
}

// ---- steps ----

// Where the data of a column begin in each frame: PointOffsets, PointDataOffsets/NAME, ...
static bool write_offsets(hid_t steps, const Column* column, int64_t n_frames) {
  char name[32];
  if (strcmp(column->section, "Points") == 0) {
    return write_integers(steps, "PointOffsets", 1, n_frames, column->offset);
  }
  snprintf(name, sizeof name, "%sOffsets", column->section);
  hid_t group = open_group(steps, name);
  bool written = group >= 0 && write_integers(group, column->name, 1, n_frames, column->offset);
  noli_hdf5_close(group, H5Gclose);
  return written;
}

static bool write_times(hid_t steps, const double* time, int64_t n) {
  const hsize_t size = (hsize_t)n;
  hid_t space = H5Screate_simple(1, &size, NULL);
  bool written = space >= 0 && noli_hdf5_write_dataset(steps, "Values", H5T_IEEE_F64LE,
                                                       H5T_NATIVE_DOUBLE, space, time);
  noli_hdf5_close(space, H5Sclose);
  return written;
}

static NoliStatus write_steps(Vtkhdf* vtkhdf) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = vtkhdf->exchange->context;
  int64_t n = vtkhdf->exchange->n_frames;
  int64_t *zero = NULL, *one = NULL;
  double* time = NULL;
  hid_t steps = NO_ID;

  NOLI_NEW_ZERO(context, zero, n);
  NOLI_NEW(context, one, n);
  NOLI_NEW(context, time, n);

  for (int64_t f = 0; f < n; f++) {
    one[f] = 1;
    time[f] = noli_exchange_time(vtkhdf->exchange, f);
  }

  steps = open_group(vtkhdf->root, "Steps");
  bool written = steps >= 0 &&
                 noli_hdf5_write_attribute(steps, "NSteps", H5T_STD_I64LE, H5T_NATIVE_INT64, &n) &&
                 write_times(steps, time, n) && write_integers(steps, "PartOffsets", 1, n, zero) &&
                 write_integers(steps, "NumberOfParts", 1, n, one) &&
                 write_integers(steps, "CellOffsets", 2, n, zero) &&
                 write_integers(steps, "ConnectivityIdOffsets", 2, n, zero);
  for (int64_t i = 0; written && i < vtkhdf->columns.count; i++) {
    written = write_offsets(steps, &vtkhdf->columns.data[i], n);
  }
  if (!written) {
    status = fail_hdf5(vtkhdf);
  }
done:
  noli_hdf5_close(steps, H5Gclose);
  noli_free(context, zero);
  noli_free(context, one);
  noli_free(context, time);
  return status;
}

// ---- the file ----

// "Version" and "Type", which is not zero-terminated.
static bool write_type(hid_t root) {
  static const char name[] = "UnstructuredGrid";
  const int64_t version[2] = {2, 0};
  const hsize_t two = 2;
  hid_t space = H5Screate_simple(1, &two, NULL), type = H5Tcopy(H5T_C_S1);
  hid_t attribute = H5Acreate2(root, "Version", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  bool written = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT64, version) >= 0 &&
                 H5Tset_size(type, sizeof name - 1) >= 0 &&
                 H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                 noli_hdf5_write_attribute(root, "Type", type, type, name);
  noli_hdf5_close(attribute, H5Aclose);
  noli_hdf5_close(type, H5Tclose);
  noli_hdf5_close(space, H5Sclose);
  return written;
}

// Names of the bodies and the version of the program, beside the grid.
static NoliStatus write_names(const Vtkhdf* vtkhdf) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = vtkhdf->exchange->context;
  const NoliSim* sim = vtkhdf->exchange->run.sim;
  int32_t n = noli_sim_body_count(sim);
  size_t width = 1;
  char* names = NULL;

  for (int32_t b = 0; b < n; b++) {
    size_t length = strlen(noli_sim_entity_name(sim, b)) + 1;
    width = length > width ? length : width;
  }

  NOLI_NEW_ZERO(context, names, (int64_t)width * n);
  for (int32_t b = 0; b < n; b++) {
    snprintf(names + (size_t)b * width, width, "%s", noli_sim_entity_name(sim, b));
  }
  const hsize_t count = (hsize_t)n;
  hid_t group = open_group(vtkhdf->file, "noli"), version = noli_hdf5_text_type(noli_version());
  hid_t space = H5Screate_simple(1, &count, NULL), type = H5Tcopy(H5T_C_S1);
  bool written = group >= 0 && version >= 0 && space >= 0 && H5Tset_size(type, width) >= 0 &&
                 H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
                 noli_hdf5_write_attribute(group, "version", version, version, noli_version()) &&
                 noli_hdf5_write_dataset(group, "bodies", type, type, space, names);
  noli_hdf5_close(type, H5Tclose);
  noli_hdf5_close(space, H5Sclose);
  noli_hdf5_close(version, H5Tclose);
  noli_hdf5_close(group, H5Gclose);
  if (!written) {
    status = fail_hdf5(vtkhdf);
  }
done:
  noli_free(context, names);
  return status;
}

// Creates the file in memory. Closing it closes everything in it.
static NoliStatus begin_file(Vtkhdf* vtkhdf, const NoliHdf5* hdf5) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_hdf5_require_room(vtkhdf->exchange->context, 0));
  hid_t access = noli_hdf5_memory_access(NULL, 0);
  if (access >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0) {
    vtkhdf->file = H5Fcreate(hdf5->name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  }
  noli_hdf5_close(access, H5Pclose);
  vtkhdf->root = vtkhdf->file >= 0 ? open_group(vtkhdf->file, "VTKHDF") : NO_ID;
  if (vtkhdf->root < 0 || !write_type(vtkhdf->root)) {
    status = fail_hdf5(vtkhdf);
  }
done:
  return status;
}

// The file, `size` bytes owned by the caller.
static NoliStatus make_image(NoliExchange* exchange, char** image, size_t* size) {
  NoliStatus status = NOLI_OK;
  Vtkhdf vtkhdf = {.exchange = exchange, .file = NO_ID, .root = NO_ID};
  NoliHdf5 hdf5 = {0};
  noli_hdf5_begin(&hdf5);
  NOLI_TRY(begin_file(&vtkhdf, &hdf5));
  NOLI_TRY(write_cells(&vtkhdf));
  for (int64_t f = 0; f < exchange->n_frames; f++) {
    NOLI_TRY(write_frame(&vtkhdf, f));
  }
  NOLI_TRY(write_steps(&vtkhdf));
  NOLI_TRY(write_names(&vtkhdf));
  NOLI_TRY(noli_hdf5_copy_image(exchange->context, vtkhdf.file, exchange->path, 0, image, size));
done:
  noli_hdf5_close(vtkhdf.file, H5Fclose);
  noli_hdf5_end(&hdf5);
  for (int64_t i = 0; i < vtkhdf.columns.count; i++) {
    noli_free(exchange->context, vtkhdf.columns.data[i].offset);
    noli_free(exchange->context, vtkhdf.columns.data[i].last);
  }
  noli_array_free(exchange->context, &vtkhdf.columns);
  return status;
}

static NoliStatus write_vtkhdf(NoliExchange* exchange) {
  NoliStatus status = NOLI_OK;
  char* image = NULL;
  size_t size = 0;
  NOLI_TRY(make_image(exchange, &image, &size));
  NOLI_TRY(noli_file_replace(exchange->context, exchange->path, image, size, false));
done:
  noli_free(exchange->context, image);
  return status;
}

const NoliExchangeFormat noli_exchange_vtkhdf = {
    .suffix = ".vtkhdf",
    .description = "VTKHDF 2, all cells and fields of all frames in one file",
    .write = write_vtkhdf,
};
