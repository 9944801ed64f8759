#include "output/vtu.h"

#include "base/byte_order.h"
#include "base/parallel.h"
#include "output/file.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

// Bytes of one compressed block; large enough that its header does not count.
#define BLOCK_SIZE ((int64_t)1 << 18)

static const struct {
  const char* name;
  int64_t size;
} types[] = {
    [NOLI_VTU_FLOAT64] = {"Float64", 8}, [NOLI_VTU_FLOAT32] = {"Float32", 4},
    [NOLI_VTU_INT64] = {"Int64", 8},     [NOLI_VTU_INT32] = {"Int32", 4},
    [NOLI_VTU_UINT8] = {"UInt8", 1},
};

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

static NoliStatus write_base64(NoliFile* file, const void* data, size_t size) {
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

// Blocks compressed side by side, each into a slot that fits the worst case.
typedef struct Compression {
  const unsigned char* data;
  int64_t size;
  int64_t slot_size;
  unsigned char* slots;
  uint64_t* sizes; // per block: bytes after compression, 0 when zlib failed
} Compression;

static void compress_blocks(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  Compression* all = user;
  for (int64_t i = begin; i < end; i++) {
    int64_t first = i * BLOCK_SIZE;
    int64_t size = all->size - first < BLOCK_SIZE ? all->size - first : BLOCK_SIZE;
    uLongf compressed = (uLongf)all->slot_size;
    int result = compress2(all->slots + i * all->slot_size, &compressed, all->data + first,
                           (uLong)size, Z_BEST_SPEED);
    all->sizes[i] = result == Z_OK ? compressed : 0;
  }
}

// Header (number of blocks, size of a block, size of the last if partial, compressed sizes), then
// all compressed bytes; both encoded for themselves.
static NoliStatus write_compressed(NoliFile* file, const void* data, int64_t size) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = file->context;
  uint64_t* header = NULL;
  Compression all = {.data = data, .size = size};
  int64_t n_blocks = (size + BLOCK_SIZE - 1) / BLOCK_SIZE;
  all.slot_size = (int64_t)compressBound((uLong)BLOCK_SIZE);
  NOLI_NEW(context, header, n_blocks + 3);
  NOLI_NEW(context, all.slots, n_blocks * all.slot_size);
  header[0] = (uint64_t)n_blocks;
  header[1] = (uint64_t)BLOCK_SIZE;
  header[2] = (uint64_t)(size % BLOCK_SIZE);
  all.sizes = header + 3;
  noli_parallel_for(noli_context_threads(context), n_blocks, 1, compress_blocks, &all);
  // close the gaps between the slots
  size_t total = 0;
  for (int64_t i = 0; i < n_blocks; i++) {
    NOLI_CHECK(context, all.sizes[i] > 0, NOLI_ERROR_BACKEND, "%s: zlib failed", file->path);
    memmove(all.slots + total, all.slots + i * all.slot_size, (size_t)all.sizes[i]);
    total += (size_t)all.sizes[i];
  }
  NOLI_TRY(write_base64(file, header, (size_t)(n_blocks + 3) * sizeof *header));
  NOLI_TRY(write_base64(file, all.slots, total));
done:
  noli_free(context, header);
  noli_free(context, all.slots);
  return status;
}

static NoliStatus write_array(NoliFile* file, const char* name, NoliVtuType type,
                              int32_t n_components, int64_t n_tuples, const void* data) {
  NoliStatus status = NOLI_OK;
  char components[40] = "";
  // readers make columns of scalars that announce one component
  if (n_components > 1) {
    snprintf(components, sizeof components, " NumberOfComponents=\"%d\"", (int)n_components);
  }
  NOLI_TRY(noli_file_print(file, "<DataArray type=\"%s\" Name=\"%s\"%s format=\"binary\">\n",
                           types[type].name, name, components));
  NOLI_TRY(write_compressed(file, data, n_tuples * n_components * types[type].size));
  NOLI_TRY(noli_file_print(file, "\n</DataArray>\n"));
done:
  return status;
}

static NoliStatus write_arrays(NoliFile* file, const char* section, const NoliVtuArray* arrays,
                               int32_t n_arrays, int64_t n_tuples) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_file_print(file, "<%s>\n", section));
  for (int32_t i = 0; i < n_arrays; i++) {
    const NoliVtuArray* array = &arrays[i];
    NOLI_TRY(
        write_array(file, array->name, array->type, array->n_components, n_tuples, array->data));
  }
  NOLI_TRY(noli_file_print(file, "</%s>\n", section));
done:
  return status;
}

static NoliStatus write_grid(NoliFile* file, const NoliVtuGrid* grid) {
  NoliStatus status = NOLI_OK;
  int64_t n_cells = grid->n_cells;
  int64_t n_connectivity = n_cells > 0 ? grid->offsets[n_cells - 1] : 0;
  NOLI_TRY(noli_file_print(file,
                           "<?xml version=\"1.0\"?>\n"
                           "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" "
                           "header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n"
                           "<UnstructuredGrid>\n<FieldData>\n"
                           "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                           "format=\"ascii\">%.17g</DataArray>\n</FieldData>\n",
                           noli_is_little_endian() ? "LittleEndian" : "BigEndian", grid->time));
  NOLI_TRY(noli_file_print(file, "<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n",
                           (long long)grid->n_vert, (long long)n_cells));
  NOLI_TRY(write_arrays(file, "PointData", grid->point_data, grid->n_point_data, grid->n_vert));
  NOLI_TRY(write_arrays(file, "CellData", grid->cell_data, grid->n_cell_data, n_cells));
  const NoliVtuArray points = {"Points", NOLI_VTU_FLOAT64, 3, grid->x};
  NOLI_TRY(write_arrays(file, "Points", &points, 1, grid->n_vert));
  NOLI_TRY(noli_file_print(file, "<Cells>\n"));
  NOLI_TRY(
      write_array(file, "connectivity", NOLI_VTU_INT32, 1, n_connectivity, grid->connectivity));
  NOLI_TRY(write_array(file, "offsets", NOLI_VTU_INT64, 1, n_cells, grid->offsets));
  NOLI_TRY(write_array(file, "types", NOLI_VTU_UINT8, 1, n_cells, grid->types));
  NOLI_TRY(noli_file_print(file, "</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n"));
done:
  return status;
}

NoliStatus noli_vtu_write(NoliContext* context, const char* path, const NoliVtuGrid* grid) {
  NoliStatus status = NOLI_OK;
  NoliFile file;
  NOLI_TRY(noli_file_create(context, path, &file));
  NOLI_TRY(write_grid(&file, grid));
  NOLI_TRY(noli_file_commit(&file, false));
done:
  noli_file_abandon(&file);
  return status;
}
