#include "output/frames/vtu.h"

#include "base/byte_order.h"
#include "base/parallel.h"
#include "output/file.h"

#include <stdio.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

// Bytes of one compressed block; large enough that its header does not count.
#define BLOCK_SIZE NOLI_VTU_BLOCK_SIZE

static const struct {
  const char* name;
  int64_t size;
} types[] = {
    [NOLI_FRAME_FLOAT64] = {"Float64", 8}, [NOLI_FRAME_FLOAT32] = {"Float32", 4},
    [NOLI_FRAME_INT64] = {"Int64", 8},     [NOLI_FRAME_INT32] = {"Int32", 4},
    [NOLI_FRAME_UINT8] = {"UInt8", 1},
};

const char* noli_vtu_type_name(NoliFrameType type) {
  return types[type].name;
}

// An array after compression.
typedef struct NoliVtuPacked {
  const char* section; // a cache finds it by that
  const char* name;    // and by that, within it
  uint64_t* header;    // (n_blocks + 3) number of blocks, size of a block, size of the last if
                       // partial, compressed sizes
  int64_t n_blocks;
  unsigned char* bytes; // compressed blocks
  size_t n_bytes;
} NoliVtuPacked;

static void free_packed(NoliContext* context, NoliVtuPacked* packed) {
  noli_free(context, packed->header);
  noli_free(context, packed->bytes);
}

void noli_vtu_cache_free(NoliContext* context, NoliVtuCache* cache) {
  for (int64_t i = 0; i < cache->packed.count; i++) {
    free_packed(context, &cache->packed.data[i]);
  }
  noli_array_free(context, &cache->packed);
}

// Blocks compressed side by side, each into a slot that fits the worst case.
typedef struct Compression {
  const unsigned char* data;
  int64_t size;
  int64_t slot_size;
  unsigned char* slots;
  uint64_t* sizes; // per block: bytes after compression, 0 when zlib failed
} Compression;

// As compress2, with tables that fit the data: zlib clears and allocates 268 KiB by default, which
// would take most of the time for small arrays.
static uint64_t compress_block(unsigned char* to, int64_t to_size, const unsigned char* from,
                               int64_t size) {
  enum { SMALLEST_WINDOW = 9, LARGEST_WINDOW = 15, LARGEST_MEMORY = 8 };
  z_stream stream = {
      .next_in = from, .avail_in = (uInt)size, .next_out = to, .avail_out = (uInt)to_size};
  int window = SMALLEST_WINDOW;
  while (window < LARGEST_WINDOW && (int64_t)1 << window < size) {
    window++;
  }
  int memory = window - 6 < LARGEST_MEMORY ? window - 6 : LARGEST_MEMORY;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window, memory, Z_DEFAULT_STRATEGY) != Z_OK) {
    return 0;
  }
  bool ended = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  uint64_t compressed = ended ? (uint64_t)stream.total_out : 0;
  deflateEnd(&stream);
  return compressed;
}

static void compress_blocks(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  Compression* all = user;
  for (int64_t i = begin; i < end; i++) {
    int64_t first = i * BLOCK_SIZE;
    int64_t size = all->size - first < BLOCK_SIZE ? all->size - first : BLOCK_SIZE;
    all->sizes[i] =
        compress_block(all->slots + i * all->slot_size, all->slot_size, all->data + first, size);
  }
}

// The largest size that a block may take, whatever the tables: the bound of deflateBound.
static int64_t slot_size_of(int64_t size) {
  int64_t largest = size < BLOCK_SIZE ? size : BLOCK_SIZE;
  return largest + largest / 8 + largest / 64 + 64;
}

static NoliStatus vtu_pack(NoliContext* context, const char* path, const void* data, int64_t size,
                           NoliVtuPacked* packed) {
  NoliStatus status = NOLI_OK;
  Compression all = {.data = data, .size = size, .slot_size = slot_size_of(size)};
  int64_t n_blocks = (size + BLOCK_SIZE - 1) / BLOCK_SIZE;
  *packed = (NoliVtuPacked){.n_blocks = n_blocks};
  NOLI_NEW(context, packed->header, n_blocks + 3);
  NOLI_NEW(context, packed->bytes, n_blocks * all.slot_size);
  packed->header[0] = (uint64_t)n_blocks;
  packed->header[1] = (uint64_t)BLOCK_SIZE;
  packed->header[2] = (uint64_t)(size % BLOCK_SIZE);
  all.sizes = packed->header + 3;
  all.slots = packed->bytes;
  noli_parallel_for(noli_context_threads(context), n_blocks, 1, compress_blocks, &all);

  // close the gaps between the slots
  for (int64_t i = 0; i < n_blocks; i++) {
    // slots have room for all data: zlib fails without memory for its tables
    NOLI_CHECK(context, all.sizes[i] > 0, NOLI_ERROR_MEMORY, "%s: out of memory", path);
    memmove(packed->bytes + packed->n_bytes, packed->bytes + i * all.slot_size,
            (size_t)all.sizes[i]);
    packed->n_bytes += (size_t)all.sizes[i];
  }
done:
  return status;
}

// Header and bytes are encoded each for itself.
static NoliStatus write_packed(NoliFile* file, const NoliVtuPacked* packed) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_file_write_base64(file, packed->header,
                                  (size_t)(packed->n_blocks + 3) * sizeof *packed->header));
  NOLI_TRY(noli_file_write_base64(file, packed->bytes, packed->n_bytes));
done:
  return status;
}

static NoliStatus write_compressed(NoliFile* file, const void* data, int64_t size) {
  NoliStatus status = NOLI_OK;
  NoliVtuPacked packed = {0};
  NOLI_TRY(vtu_pack(file->context, file->path, data, size, &packed));
  NOLI_TRY(write_packed(file, &packed));
done:
  free_packed(file->context, &packed);
  return status;
}

// The packed form stays in the cache; the slack of its slots does not.
static NoliStatus write_cached(NoliFile* file, NoliVtuCache* cache, const char* section,
                               const NoliFrameArray* array, int64_t size) {
  NoliStatus status = NOLI_OK;
  NoliVtuPacked made = {0};
  unsigned char* tight = NULL;
  for (int64_t i = 0; i < cache->packed.count; i++) {
    const NoliVtuPacked* packed = &cache->packed.data[i];
    if (strcmp(packed->section, section) == 0 && strcmp(packed->name, array->name) == 0) {
      return write_packed(file, packed);
    }
  }
  NOLI_TRY(vtu_pack(file->context, file->path, array->data, size, &made));
  made.section = section;
  made.name = array->name;
  NOLI_NEW(file->context, tight, (int64_t)made.n_bytes);
  memcpy(tight, made.bytes, made.n_bytes);
  noli_free(file->context, made.bytes);
  made.bytes = tight;
  NOLI_PUSH(file->context, &cache->packed, made);
  made = (NoliVtuPacked){0};
  NOLI_TRY(write_packed(file, &cache->packed.data[cache->packed.count - 1]));
done:
  free_packed(file->context, &made);
  return status;
}

// `cache` is NULL for what changes.
static NoliStatus write_array(NoliFile* file, const char* section, const NoliFrameArray* array,
                              int64_t n_tuples, NoliVtuCache* cache) {
  NoliStatus status = NOLI_OK;
  char components[40] = "";
  int64_t size = n_tuples * array->n_components * types[array->type].size;
  // readers make columns of scalars that announce one component
  if (array->n_components > 1) {
    snprintf(components, sizeof components, " NumberOfComponents=\"%d\"", (int)array->n_components);
  }
  NOLI_TRY(noli_file_print(file, "<DataArray type=\"%s\" Name=\"%s\"%s format=\"binary\">\n",
                           types[array->type].name, array->name, components));
  NOLI_TRY(cache != NULL ? write_cached(file, cache, section, array, size)
                         : write_compressed(file, array->data, size));
  NOLI_TRY(noli_file_print(file, "\n</DataArray>\n"));
done:
  return status;
}

static NoliStatus write_arrays(NoliFile* file, const char* section, const NoliFrameArray* arrays,
                               int32_t n_arrays, int64_t n_tuples, NoliVtuCache* cache) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_file_print(file, "<%s>\n", section));
  for (int32_t i = 0; i < n_arrays; i++) {
    NOLI_TRY(write_array(file, section, &arrays[i], n_tuples, arrays[i].constant ? cache : NULL));
  }
  NOLI_TRY(noli_file_print(file, "</%s>\n", section));
done:
  return status;
}

static NoliStatus write_cells(NoliFile* file, const NoliFrame* grid) {
  NoliStatus status = NOLI_OK;
  static const char section[] = "Cells";
  int64_t n_cells = grid->n_cells;
  // a cache may have the lists alone
  int64_t n_connectivity = n_cells > 0 && grid->offsets != NULL ? grid->offsets[n_cells - 1] : 0;
  const NoliFrameArray connectivity = {"connectivity", NOLI_FRAME_INT32, 1, grid->connectivity,
                                       true};
  const NoliFrameArray offsets = {"offsets", NOLI_FRAME_INT64, 1, grid->offsets, true};
  const NoliFrameArray cell_types = {"types", NOLI_FRAME_UINT8, 1, grid->types, true};
  NOLI_TRY(noli_file_print(file, "<Cells>\n"));
  NOLI_TRY(write_array(file, section, &connectivity, n_connectivity, grid->cache));
  NOLI_TRY(write_array(file, section, &offsets, n_cells, grid->cache));
  NOLI_TRY(write_array(file, section, &cell_types, n_cells, grid->cache));
  NOLI_TRY(noli_file_print(file, "</Cells>\n"));
done:
  return status;
}

static NoliStatus write_grid(NoliFile* file, const NoliFrame* grid) {
  NoliStatus status = NOLI_OK;
  int64_t n_cells = grid->n_cells;
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
  NOLI_TRY(write_arrays(file, "PointData", grid->point_data, grid->n_point_data, grid->n_vert,
                        grid->cache));
  NOLI_TRY(
      write_arrays(file, "CellData", grid->cell_data, grid->n_cell_data, n_cells, grid->cache));
  const NoliFrameArray points = {"Points", NOLI_FRAME_FLOAT64, 3, grid->x, false};
  NOLI_TRY(write_arrays(file, "Points", &points, 1, grid->n_vert, NULL));
  NOLI_TRY(write_cells(file, grid));
  NOLI_TRY(noli_file_print(file, "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n"));
done:
  return status;
}

NoliStatus noli_vtu_write(NoliContext* context, const char* path, const NoliFrame* grid) {
  NoliStatus status = NOLI_OK;
  NoliFile file;
  NOLI_TRY(noli_file_create(context, path, &file));
  NOLI_TRY(write_grid(&file, grid));
  NOLI_TRY(noli_file_commit(&file, false));
done:
  noli_file_abandon(&file);
  return status;
}
