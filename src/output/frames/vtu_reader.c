#include "output/frames/vtu_reader.h"

#include "output/frames/vtu.h"
#include "base/byte_order.h"
#include "output/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// zlib cannot make data smaller than this share of it: a larger claim is damage.
enum { MOST_COMPRESSION = 1100 };

static const struct {
  const char* name;
  int64_t size;
} types[] = {
    [NOLI_FRAME_FLOAT64] = {"Float64", 8}, [NOLI_FRAME_FLOAT32] = {"Float32", 4},
    [NOLI_FRAME_INT64] = {"Int64", 8},     [NOLI_FRAME_INT32] = {"Int32", 4},
    [NOLI_FRAME_UINT8] = {"UInt8", 1},
};
enum { N_TYPES = sizeof types / sizeof types[0] };

typedef struct Reader {
  NoliContext* context;
  const char* path;
  const char* const* wanted; // names of arrays; NULL: all
  NoliReadFrame* frame;
  const NoliReadArray* array; // that is being read
} Reader;

static NoliStatus fail_array(const Reader* reader, const char* what) {
  return noli_fail(reader->context, NOLI_ERROR_FORMAT, "%s: %s \"%s\": %s", reader->path,
                   reader->array->section, reader->array->name, what);
}

// ---- base64 ----

// Values of digits; every other character has a bit that no digit has.
enum { NO_DIGIT = 64 };

static void list_digits(unsigned char value[256]) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  memset(value, NO_DIGIT, 256);
  for (int32_t k = 0; k < NO_DIGIT; k++) {
    value[(unsigned char)digits[k]] = (unsigned char)k;
  }
}

static size_t encoded_length(size_t size) {
  return (size + 2) / 3 * 4;
}

// Decodes `size` bytes from the beginning of `text`, of which `length` characters are there.
static bool decode_base64(const char* text, size_t length, unsigned char* data, size_t size) {
  unsigned char value[256];
  unsigned wrong = 0;
  const unsigned char* from = (const unsigned char*)text;
  if (encoded_length(size) > length) {
    return false;
  }
  list_digits(value);
  for (; size >= 3; size -= 3, from += 4, data += 3) {
    unsigned a = value[from[0]], b = value[from[1]], c = value[from[2]], d = value[from[3]];
    wrong |= a | b | c | d;
    data[0] = (unsigned char)(a << 2 | b >> 4);
    data[1] = (unsigned char)(b << 4 | c >> 2);
    data[2] = (unsigned char)(c << 6 | d);
  }

  // padding stands exactly where bytes are missing
  if (size > 0) {
    unsigned a = value[from[0]], b = value[from[1]], c = size == 2 ? value[from[2]] : 0;
    wrong |= a | b | c | (from[3] != '=' || (size == 1 && from[2] != '=') ? NO_DIGIT : 0);
    data[0] = (unsigned char)(a << 2 | b >> 4);
    if (size == 2) {
      data[1] = (unsigned char)(b << 4 | c >> 2);
    }
  }
  return (wrong & NO_DIGIT) == 0;
}

// ---- compressed blocks ----

// Number of blocks, size of a block, size of the last one if it is partial, then compressed sizes.
typedef struct Blocks {
  uint64_t* header; // (n + 3)
  uint64_t n;
  uint64_t size;       // of all, decompressed
  uint64_t compressed; // of all
} Blocks;

static NoliStatus vtu_reader_read_header(const Reader* reader, const char* text, size_t length,
                                         Blocks* blocks) {
  NoliStatus status = NOLI_OK;
  unsigned char first[9]; // whole groups of characters
  uint64_t n;
  if (!decode_base64(text, length, first, sizeof first)) {
    return fail_array(reader, "damaged header");
  }
  memcpy(&n, first, sizeof n);
  if (n > length) {
    return fail_array(reader, "damaged header");
  }

  // all of it
  size_t bytes = (size_t)(n + 3) * sizeof *blocks->header;
  NOLI_NEW(reader->context, blocks->header, (int64_t)n + 3);
  blocks->n = n;
  if (!decode_base64(text, length, (unsigned char*)blocks->header, bytes)) {
    status = fail_array(reader, "damaged header");
    goto done;
  }

  // sizes must be possible
  uint64_t block = blocks->header[1], last = blocks->header[2];
  bool good = block == (uint64_t)NOLI_VTU_BLOCK_SIZE && last < block;
  for (uint64_t i = 0; good && i < n; i++) {
    good = blocks->header[3 + i] <= length;
    blocks->compressed += blocks->header[3 + i];
  }
  uint64_t missing = last > 0 ? block - last : 0; // of the last block
  blocks->size = n > 0 ? n * block - missing : 0;
  good = good && encoded_length((size_t)blocks->compressed) <= length &&
         blocks->size <= MOST_COMPRESSION * blocks->compressed + block;
  if (!good) {
    status = fail_array(reader, "damaged header");
  }
done:
  return status;
}

static NoliStatus decompress(const Reader* reader, const Blocks* blocks,
                             const unsigned char* compressed, unsigned char* data) {
  uint64_t block = blocks->header[1], done = 0;
  for (uint64_t i = 0; i < blocks->n; i++) {
    uint64_t want = blocks->size - done < block ? blocks->size - done : block;
    uLongf size = (uLongf)want;
    int result = uncompress(data + done, &size, compressed, (uLong)blocks->header[3 + i]);
    if (result == Z_MEM_ERROR) {
      return noli_fail(reader->context, NOLI_ERROR_MEMORY, "%s: out of memory", reader->path);
    }
    if (result != Z_OK || size != want) {
      return fail_array(reader, "damaged data: the checksum of a block is wrong");
    }
    compressed += blocks->header[3 + i];
    done += want;
  }
  return NOLI_OK;
}

// The content of an array: `length` characters.
static NoliStatus read_content(const Reader* reader, const char* text, size_t length,
                               NoliReadArray* array) {
  NoliStatus status = NOLI_OK;
  Blocks blocks = {0};
  unsigned char *compressed = NULL, *data = NULL;

  NOLI_TRY(vtu_reader_read_header(reader, text, length, &blocks));
  size_t n_header = encoded_length((size_t)(blocks.n + 3) * sizeof *blocks.header);
  uint64_t tuple = (uint64_t)(array->n_components * types[array->type].size);
  bool whole = n_header + encoded_length((size_t)blocks.compressed) == length;
  if (!whole || blocks.size % tuple != 0) {
    status = fail_array(reader, "damaged data: its length is wrong");
    goto done;
  }

  NOLI_NEW(reader->context, compressed, (int64_t)blocks.compressed);
  NOLI_NEW(reader->context, data, (int64_t)blocks.size);
  array->data = data;

  if (!decode_base64(text + n_header, length - n_header, compressed, (size_t)blocks.compressed)) {
    status = fail_array(reader, "damaged data: not base64");
    goto done;
  }

  NOLI_TRY(decompress(reader, &blocks, compressed, data));
  array->n_tuples = (int64_t)(blocks.size / tuple);
done:
  noli_free(reader->context, blocks.header);
  noli_free(reader->context, compressed);
  return status;
}

// ---- the elements of the file ----

// Copies the value of an attribute of the element that ends at `end`; false when it has none.
static bool attribute(const char* element, const char* end, const char* name, char* value,
                      size_t size) {
  size_t n = strlen(name);
  for (const char* c = element; c + n + 2 < end; c++) {
    if (c[0] == ' ' && strncmp(c + 1, name, n) == 0 && c[n + 1] == '=' && c[n + 2] == '"') {
      const char* begin = c + n + 3;
      const char* quote = memchr(begin, '"', (size_t)(end - begin));
      if (quote == NULL || (size_t)(quote - begin) >= size) {
        return false;
      }
      memcpy(value, begin, (size_t)(quote - begin));
      value[quote - begin] = '\0';
      return true;
    }
  }
  return false;
}

static bool read_type(const char* name, NoliFrameType* type) {
  for (int32_t i = 0; i < N_TYPES; i++) {
    if (strcmp(types[i].name, name) == 0) {
      *type = (NoliFrameType)i;
      return true;
    }
  }
  return false;
}

// One <DataArray> that begins at `element`; `*next` receives where the reading goes on.
static NoliStatus vtu_reader_read_array(Reader* reader, const char* section, const char* element,
                                        const char** next) {
  NoliStatus status = NOLI_OK;
  char type[16], format[16] = "", components[16] = "1";
  NoliReadArray array = {0};
  reader->array = &array;
  snprintf(array.section, sizeof array.section, "%s", section);

  // its attributes
  const char* end = strchr(element, '>');
  const char* stop = end != NULL ? strchr(end, '<') : NULL;
  bool good = stop != NULL && attribute(element, end, "Name", array.name, sizeof array.name) &&
              attribute(element, end, "type", type, sizeof type) && read_type(type, &array.type) &&
              attribute(element, end, "format", format, sizeof format) &&
              strcmp(format, "binary") == 0 && strncmp(stop, "</DataArray>", 12) == 0;
  if (good) {
    (void)attribute(element, end, "NumberOfComponents", components, sizeof components);
    array.n_components = (int32_t)strtol(components, NULL, 10);
    good = array.n_components > 0 && array.n_components <= 9;
  }
  if (!good) {
    return fail_array(reader, "its element is damaged");
  }

  // one line break before the data, one behind
  good = end[1] == '\n' && stop - end >= 3 && stop[-1] == '\n';
  if (!good) {
    return fail_array(reader, "its element is damaged");
  }

  // its data
  *next = stop + strlen("</DataArray>");
  if (!noli_frame_wants(reader->wanted, array.name)) {
    return NOLI_OK;
  }
  status = read_content(reader, end + 2, (size_t)(stop - end - 3), &array);
  if (status == NOLI_OK) {
    status = noli_array_reserve(reader->context, &reader->frame->arrays,
                                reader->frame->arrays.count + 1);
  }
  if (status != NOLI_OK) {
    noli_free(reader->context, array.data);
    return status;
  }
  reader->frame->arrays.data[reader->frame->arrays.count++] = array;
  return NOLI_OK;
}

// A section from `*text` on, which then receives its end.
static NoliStatus vtu_reader_read_section(Reader* reader, const char** text, const char* section,
                                          int64_t n_tuples) {
  NoliStatus status = NOLI_OK;
  char begin[24], end[24];
  snprintf(begin, sizeof begin, "\n<%s>\n", section);
  snprintf(end, sizeof end, "</%s>", section);
  const char* next = strstr(*text, begin);
  NOLI_CHECK(reader->context, next != NULL, NOLI_ERROR_FORMAT, "%s: the section %s is damaged",
             reader->path, section);
  next += strlen(begin);
  while (strncmp(next, end, strlen(end)) != 0) {
    NOLI_CHECK(reader->context, strncmp(next, "<DataArray ", 11) == 0, NOLI_ERROR_FORMAT,
               "%s: the section %s is damaged", reader->path, section);
    int64_t before = reader->frame->arrays.count;
    NOLI_TRY(vtu_reader_read_array(reader, section, next, &next));
    if (reader->frame->arrays.count > before) {
      const NoliReadArray* array = &reader->frame->arrays.data[before];
      NOLI_CHECK(reader->context, n_tuples < 0 || array->n_tuples == n_tuples, NOLI_ERROR_FORMAT,
                 "%s: %s \"%s\" has %lld entries instead of %lld", reader->path, section,
                 array->name, (long long)array->n_tuples, (long long)n_tuples);
    }
    next += *next == '\n';
  }

  *text = next;
done:
  return status;
}

// The lines before the first section must be those that the writer makes of the numbers in them;
// `*piece` receives the line before the section.
static NoliStatus read_head(Reader* reader, const char* text, const char** piece) {
  NoliStatus status = NOLI_OK;
  NoliReadFrame* frame = reader->frame;
  char head[1024];
  long long n_vert = -1, n_cells = -1;
  const char* time = strstr(text, "Name=\"TimeValue\"");
  const char* value = time != NULL ? strchr(time, '>') : NULL;

  frame->time = value != NULL ? strtod(value + 1, NULL) : 0.0;
  *piece = strstr(text, "\n<Piece ");
  if (*piece != NULL) {
    (void)sscanf(*piece, "\n<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">", &n_vert,
                 &n_cells);
  }

  snprintf(head, sizeof head,
           "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
           "byte_order=\"%s\" header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n"
           "<UnstructuredGrid>\n<FieldData>\n"
           "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
           "format=\"ascii\">%.17g</DataArray>\n</FieldData>\n"
           "<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n",
           noli_is_little_endian() ? "LittleEndian" : "BigEndian", frame->time, n_vert, n_cells);
  NOLI_CHECK(reader->context, n_vert >= 0 && n_cells >= 0 && strncmp(text, head, strlen(head)) == 0,
             NOLI_ERROR_FORMAT, "%s: not a frame of Noli, or its first lines are damaged",
             reader->path);
  frame->n_vert = n_vert;
  frame->n_cells = n_cells;
done:
  return status;
}

static NoliStatus vtu_reader_read_text(Reader* reader, const char* text) {
  static const char tail[] = "</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
  NoliStatus status = NOLI_OK;
  const char* piece;
  NOLI_TRY(read_head(reader, text, &piece));
  NOLI_TRY(vtu_reader_read_section(reader, &piece, "PointData", reader->frame->n_vert));
  NOLI_TRY(vtu_reader_read_section(reader, &piece, "CellData", reader->frame->n_cells));
  NOLI_TRY(vtu_reader_read_section(reader, &piece, "Points", reader->frame->n_vert));
  NOLI_TRY(vtu_reader_read_section(reader, &piece, "Cells", -1));
  NOLI_CHECK(reader->context, strcmp(piece, tail) == 0, NOLI_ERROR_FORMAT,
             "%s: the file does not end where it should", reader->path);
done:
  return status;
}

NoliStatus noli_vtu_read(NoliContext* context, const char* path, const char* const* wanted,
                         NoliReadFrame* frame) {
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  size_t size;
  Reader reader = {.context = context, .path = path, .wanted = wanted, .frame = frame};
  *frame = (NoliReadFrame){0};
  NOLI_TRY(noli_file_read(context, path, &text, &size));
  NOLI_CHECK(context, strlen(text) == size, NOLI_ERROR_FORMAT, "%s: a zero byte within the text",
             path);
  NOLI_TRY(vtu_reader_read_text(&reader, text));
done:
  noli_free(context, text);
  if (status != NOLI_OK) {
    noli_read_frame_free(context, frame);
  }
  return status;
}
