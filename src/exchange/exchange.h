// Results for other programs: the surfaces of all bodies over all frames, or the frames themselves,
// in one of the formats of a table. A format is one file with a NoliExchangeFormat and a line in
// the table of exchange.c; the suffix of a file names it.
//
// Surfaces are divided into shapes, one for each body, with the vertices that the surface needs
// in the order of the simulation. Shapes are the same in all frames. Positions are floats, which is
// what these programs store.
#pragma once

#include "base/array.h"
#include "output/file.h"
#include "output/run_reader.h"

// Kinds of primitives of a shape; one of kind k has 3 - k corners.
enum { NOLI_SHAPE_TRIANGLES, NOLI_SHAPE_SEGMENTS, NOLI_SHAPE_POINTS, NOLI_SHAPE_KINDS };

// A material of a file (mesh/looks.h).
typedef struct NoliExchangeMaterial {
  char* name;
  char* identifier; // of letters, digits and underscores, unlike those of shapes and materials
  char* library;    // path of the file that has it, or of the folder where none is named
  float colour[3];  // sRGB
  bool has_colour;  // otherwise that of the shape
  char* texture;    // path of the picture; NULL: none
} NoliExchangeMaterial;

// Consecutive triangles of a shape with the same material and group.
typedef struct NoliShapePart {
  int32_t material;  // of the exchange; NOLI_NULL_INDEX: that of the shape
  const char* group; // NULL: none
  int32_t first, n;
} NoliShapePart;

// The surface of a body.
typedef struct NoliShape {
  int32_t body;
  const char* name;
  float colour[3]; // sRGB, 0 to 1
  int32_t n_vert;
  const int32_t* vertex; // (n_vert) numbers in the simulation, ascending
  int32_t first;         // vertices of the shapes before
  int32_t n[NOLI_SHAPE_KINDS];
  int32_t* primitive[NOLI_SHAPE_KINDS]; // (n x corners) vertices of the shape
  bool moves;                           // whether its positions differ between frames
  int32_t n_parts; // 0: all triangles have the material of the shape, and no group
  NoliShapePart* part;
  int32_t n_uv;       // texture coordinates; 0: none
  float* uv;          // (n_uv x 2) the origin is at the lower left
  int32_t* corner_uv; // (n triangles x 3) rows of uv
  // For formats whose vertices have one texture coordinate each: one for every pair of a vertex and
  // a texture coordinate that meet at a corner. The first n_vert are the vertices in their order.
  int32_t n_split;       // n_vert without texture coordinates
  int32_t* split_vertex; // (n_split) vertex of the shape; NULL without texture coordinates
  int32_t* split_uv;     // (n_split)
  int32_t* split_corner; // (n triangles x 3) rows of these
} NoliShape;

typedef struct NoliExchange {
  NoliContext* context;
  const char* path; // to write
  NoliRunReader run;
  int64_t n_frames;
  int32_t n_shapes; // those without vertices are left out
  NoliShape* shape;
  NOLI_ARRAY(NoliExchangeMaterial) materials;
  NOLI_ARRAY(char*) groups; // names
  int32_t* vertex;          // (n_vert) of all shapes
  int32_t n_vert;           // of all shapes
  int32_t up;               // axis against gravity: 0, 1, 2
  bool up_is_down;          // the way up is the negative axis
  // Positions of all frames, if the format wants them: for each shape (n_frames x its n_vert x 3).
  float* x;
} NoliExchange;

typedef struct NoliExchangeFormat {
  const char* suffix; // ".glb"
  const char* description;
  bool is_sequence;    // a file for each frame: the name has a place for its number
  bool wants_surfaces; // fill `x` before writing
  NoliStatus (*write)(NoliExchange* exchange);
} NoliExchangeFormat;

extern const NoliExchangeFormat noli_exchange_pc2;
extern const NoliExchangeFormat noli_exchange_glb;
extern const NoliExchangeFormat noli_exchange_usda;
extern const NoliExchangeFormat noli_exchange_obj;
extern const NoliExchangeFormat noli_exchange_ply;
extern const NoliExchangeFormat noli_exchange_vtkhdf;

// Gives shapes the texture coordinates, materials and groups of their files, and orders their
// triangles by them (exchange_looks.c). To be released with noli_exchange_free_looks.
NOLI_WARN_UNUSED NoliStatus noli_exchange_read_looks(NoliExchange* exchange);
void noli_exchange_free_looks(NoliExchange* exchange);

// Whether a shape needs a material of its own: where files give none.
bool noli_shape_has_material(const NoliShape* shape);

// The colour of a material of a file: its own, or that of the first shape that has it.
const float* noli_exchange_material_colour(const NoliExchange* exchange, int32_t material);

// Corners of a primitive of this kind.
static inline int32_t noli_shape_corners(int32_t kind) {
  return 3 - kind;
}

// Positions (n_vert x 3) of a shape in a frame, from `x`.
static inline const float* noli_exchange_positions(const NoliExchange* exchange, int32_t shape,
                                                   int64_t frame) {
  const NoliShape* of = &exchange->shape[shape];
  return exchange->x + 3 * (exchange->n_frames * of->first + frame * of->n_vert);
}

static inline double noli_exchange_time(const NoliExchange* exchange, int64_t frame) {
  return exchange->run.frames.frames.data[frame].time;
}

// Frames per second: of the first two frames; 24 if there is one frame.
double noli_exchange_rate(const NoliExchange* exchange);

// Reads a frame. Fails with NOLI_ERROR_FORMAT when it does not belong to the scene.
NOLI_WARN_UNUSED NoliStatus noli_exchange_read(NoliExchange* exchange, int64_t frame,
                                               NoliReadFrame* read);

// Positions of all shapes (exchange->n_vert x 3) in a frame.
NOLI_WARN_UNUSED NoliStatus noli_exchange_read_shapes(NoliExchange* exchange, int64_t frame,
                                                      float* x);

// Unit normals (n_vert x 3) at the vertices of a shape: those of the triangles around, weighted by
// their angles; (0, 0, 1) where there are none.
void noli_shape_normals(const NoliShape* shape, const float* x, float* normal);

// The rotation that takes the way up to y: degrees about an axis (0, 1, 2); 0 where it is y.
double noli_exchange_upright(const NoliExchange* exchange, int32_t* axis);

// A colour component with linear instead of sRGB encoding.
float noli_exchange_linear(float component);

// A name with a number for a frame, by the one place such as %04d in `pattern`; owned by the
// caller. Fails with NOLI_ERROR_ARGUMENT when there is not exactly one place.
NOLI_WARN_UNUSED NoliStatus noli_exchange_number(NoliContext* context, const char* pattern,
                                                 int64_t frame, char** path);

// Writes the content of the file of a frame, of which x (exchange->n_vert x 3) are the positions of
// all shapes.
typedef NoliStatus NoliExchangePutFn(const NoliExchange* exchange, NoliFile* file, int64_t frame,
                                     const float* x);

// Writes a file for each frame, one after the other.
NOLI_WARN_UNUSED NoliStatus noli_exchange_write_sequence(NoliExchange* exchange,
                                                         NoliExchangePutFn* put);

// exchange->path with another ending instead of its suffix, and of a place for a number: owned by
// the caller.
NOLI_WARN_UNUSED NoliStatus noli_exchange_beside(const NoliExchange* exchange, const char* ending,
                                                 char** path);

// A name for a shape that has only letters, digits and underscores, begins with no digit, and which
// no other shape has.
NOLI_WARN_UNUSED NoliStatus noli_exchange_identifier(const NoliExchange* exchange, int32_t shape,
                                                     char** identifier);

// Bytes of numbers as these formats have them, the low byte first, whatever the machine.
NOLI_WARN_UNUSED NoliStatus noli_exchange_put(NoliFile* file, const void* words, int64_t n_words);
