#define _POSIX_C_SOURCE 200809L
#include "generated.h"

#include "generated_rigid.h"
#include "generated_thin.h"

#include <stdlib.h>
#include <string.h>

#define MARK "generated: "

enum { NUMBERS = 4 };

typedef struct Recipe {
  const char* name;
  const char* numbers;
  const char* what;
  int n_numbers;
  void (*write)(FILE* file, const int number[NUMBERS]);
} Recipe;

// Absolute lengths of contact and solver: relative ones would depend on the size of the scene.
#define SETTINGS                                                                                   \
  "\"contact\": {\"distance\": 2e-4}, \"solver\": {\"tolerance\": 2e-3}, "                         \
  "\"friction\": {\"coefficient\": 0}"

#define SOFT "\"material\": {\"young\": 5e4, \"poisson\": 0.4, \"density\": 1000}"

// A grid of NX x NZ x NY balls of radius 0.05 m, each rotated differently, that
// fall with a speed.
static void write_balls(FILE* file, const int number[NUMBERS], double spacing, int speed) {
  int count = 0;
  for (int i = 0; i < number[0]; i++) {
    for (int k = 0; k < number[1]; k++) {
      for (int j = 0; j < number[2]; j++, count++) {
        fprintf(file,
                "%s{\"mesh\": {\"sphere\": {\"radius\": 0.05, \"cells\": %d}}, \"rotate\": "
                "[%d, %d, %d], \"translate\": [%.6f, %.6f, %.6f], \"velocity\": [0, -%d, 0], " SOFT
                "}",
                count > 0 ? ", " : "", number[3], 37 * count % 90, 53 * count % 90, 71 * count % 90,
                spacing * (i + 0.5), spacing * (j + 0.5), spacing * (k + 0.5), speed);
      }
    }
  }
}

// A floor, and four walls around it.
static void write_walls(FILE* file, double width, double depth) {
  fprintf(file,
          "\"half_spaces\": [{\"name\": \"floor\"}, {\"normal\": [1, 0, 0]}, {\"normal\": [0, 0, "
          "1]}, {\"origin\": [%.6f, 0, 0], \"normal\": [-1, 0, 0]}, {\"origin\": [0, 0, %.6f], "
          "\"normal\": [0, 0, -1]}]",
          width, depth);
}

// ---- a pile under a lid -------------------------------------------------------------------------

// The lid moves down by a fifth of the height in 0.1 s. The number of neighbours of a ball does not
// depend on the size of the grid.
static void write_pile(FILE* file, const int number[NUMBERS]) {
  const double spacing = 0.1002;
  double width = spacing * number[0], depth = spacing * number[1], height = spacing * number[2];
  fprintf(file, "{\"time\": {\"step\": 0.01, \"steps\": 40}, " SETTINGS ", \"bodies\": [");
  write_balls(file, number, spacing, 0);
  fprintf(file,
          "], \"obstacles\": [{\"name\": \"lid\", \"mesh\": {\"plane\": {\"size\": [%.6f, %.6f], "
          "\"cells\": [%d, %d]}}, \"translate\": [%.6f, %.6f, %.6f], \"motion\": "
          "{\"displacement\": [0, \"-%.6f * min(1, t / 0.1)\", 0]}}], ",
          width + 0.02, depth + 0.02, number[0], number[1], 0.5 * width, height, 0.5 * depth,
          0.2 * height);
  write_walls(file, width, depth);
  fprintf(file, "}");
}

// ---- many small bodies --------------------------------------------------------------------------

// Cubes of six tetrahedra in layers, each turned a little and set off from those below, fall onto
// each other and onto a floor. A cube has as many neighbours in all grids of the same height.
static void write_cubes(FILE* file, const int number[NUMBERS]) {
  const double edge = 0.1, spacing = 0.112, layer = 0.1015;
  fprintf(file, "{\"time\": {\"step\": 0.005, \"steps\": 20}, \"contact\": {\"distance\": 5e-4}, "
                "\"solver\": {\"tolerance\": 2e-3}, \"friction\": {\"coefficient\": 0.3}, "
                "\"half_spaces\": [{\"name\": \"floor\"}], \"bodies\": [");
  int count = 0;
  for (int j = 0; j < number[2]; j++) {
    double offset = 0.5 * spacing * (j % 2);
    for (int i = 0; i < number[0]; i++) {
      for (int k = 0; k < number[1]; k++, count++) {
        fprintf(file,
                "%s{\"name\": \"cube %d\", \"mesh\": {\"box\": {\"size\": [%g, %g, %g], "
                "\"cells\": [1, 1, 1]}}, \"rotate\": [0, %d, 0], \"translate\": [%.6f, %.6f, "
                "%.6f], \"velocity\": [0, -0.5, 0], \"material\": {\"young\": 1e6, \"poisson\": "
                "0.3, \"density\": 1000}}",
                count > 0 ? ", " : "", count, edge, edge, edge, 7 * count % 11 - 5,
                spacing * i + offset, layer * (j + 0.5), spacing * k + offset);
      }
    }
  }
  fprintf(file, "]}");
}

// ---- a crash ------------------------------------------------------------------------------------

// The balls hit the floor, at 20 m/s two diameters per step: their paths cross many others.
static void write_crash_at(FILE* file, const int number[NUMBERS], int speed) {
  const double spacing = 0.11;
  fprintf(file, "{\"time\": {\"step\": 0.01, \"steps\": 40}, " SETTINGS ", \"bodies\": [");
  write_balls(file, number, spacing, speed);
  fprintf(file, "], ");
  write_walls(file, spacing * number[0], spacing * number[1]);
  fprintf(file, "}");
}

static void write_crash(FILE* file, const int number[NUMBERS]) {
  write_crash_at(file, number, 20);
}

static void write_impact(FILE* file, const int number[NUMBERS]) {
  write_crash_at(file, (const int[NUMBERS]){3, 3, 2, 4}, number[0]);
}

// ---- one body -----------------------------------------------------------------------------------

// A separate block of settings precedes the bodies.
static void write_head(FILE* file) {
  fprintf(file, "{\"time\": {\"step\": 0.01, \"steps\": 40}, " SETTINGS
                ", \"half_spaces\": [{\"name\": \"floor\"}], \"bodies\": [");
}

// A lid of given width and height that moves down by a depth in 0.3 s.
static void write_press(FILE* file, double width, double height, double depth) {
  fprintf(file,
          "], \"obstacles\": [{\"mesh\": {\"plane\": {\"size\": [%.6f, %.6f], \"cells\": [4, 4]}}, "
          "\"translate\": [0, %.6f, 0], \"motion\": {\"displacement\": [0, \"-%.6f * min(1, t / "
          "0.3)\", 0]}}]}",
          width, width, height, depth);
}

// [Zheng2025] fig. 24: a light ball of 0.1 m is squeezed.
static void write_squeeze(FILE* file, const int number[NUMBERS]) {
  write_head(file);
  fprintf(file,
          "{\"mesh\": {\"sphere\": {\"radius\": 0.05, \"cells\": %d}}, \"translate\": [0, 0.051, "
          "0], \"material\": {\"young\": 1e5, \"poisson\": 0.3, \"density\": 100}}",
          number[1]);
  write_press(file, 0.6, 0.102, 0.001 * number[0]);
}

// A box of 0.3 m, compressed by a fifth; `percent`: a hundred times its Poisson's ratio.
static void write_box(FILE* file, int cells, int percent) {
  write_head(file);
  fprintf(file,
          "{\"mesh\": {\"box\": {\"size\": [0.3, 0.3, 0.3], \"cells\": [%d, %d, %d]}}, "
          "\"translate\": [0, 0.151, 0], \"material\": {\"young\": 5e4, \"poisson\": 0.%02d, "
          "\"density\": 1000}}",
          cells, cells, cells, percent);
  write_press(file, 0.6, 0.302, 0.18);
}

static void write_solid(FILE* file, const int number[NUMBERS]) {
  write_box(file, number[0], 40);
}

// A bar four times as long as wide, whose ends turn against each other at 90 degrees per second.
static void write_torsion(FILE* file, const int number[NUMBERS]) {
  fprintf(file,
          "{\"time\": {\"step\": 0.01, \"steps\": 40}, " SETTINGS
          ", \"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"bar\", \"mesh\": {\"box\": "
          "{\"size\": [0.4, 0.1, "
          "0.1], \"cells\": [%d, %d, %d]}}, " SOFT "}], \"prescribed\": [",
          4 * number[0], number[0], number[0]);
  for (int k = 0; k < 2; k++) {
    fprintf(file,
            "%s{\"body\": \"bar\", \"select\": {\"side\": \"%sx\"}, \"motion\": {\"rotation\": "
            "{\"axis\": [1, 0, 0], \"origin\": [0, 0, 0], \"speed\": %s90}}}",
            k == 0 ? "" : ", ", k == 0 ? "-" : "+", k == 0 ? "" : "-");
  }
  fprintf(file, "]}");
}

static void write_rubber(FILE* file, const int number[NUMBERS]) {
  write_box(file, number[0], number[1]);
}

// A mat of 1 m, and below rods, that fall onto a ball.
static void write_ball(FILE* file) {
  fprintf(file, "], \"obstacles\": [{\"mesh\": {\"sphere\": {\"radius\": 0.2, \"cells\": 8}}, "
                "\"translate\": [0, 0.201, 0]}]}");
}

static void write_sheet(FILE* file, const int number[NUMBERS]) {
  write_head(file);
  fprintf(file,
          "{\"mesh\": {\"mat\": {\"size\": [1, 1], \"thickness\": 0.01, \"cells\": [%d, %d]}}, "
          "\"translate\": [0.03, 0.41, 0.02], \"velocity\": [0, -2, 0], " SOFT "}",
          number[0], number[0]);
  write_ball(file);
}

static void write_rod(FILE* file, const int number[NUMBERS]) {
  write_head(file);
  fprintf(
      file,
      "{\"mesh\": {\"rod\": {\"length\": 2, \"width\": 0.04, \"cells_along\": %d, "
      "\"cells_across\": 2}}, \"translate\": [0.03, 0.43, 0.02], \"velocity\": [0, -2, 0], " SOFT
      "}",
      number[0]);
  write_ball(file);
}

// ---- the list -----------------------------------------------------------------------------------

static const Recipe recipes[] = {
    {"pile", "NX NZ NY CELLS", "NX x NZ x NY balls in a box under a descending lid", 4, write_pile},
    {"crash", "NX NZ NY CELLS", "NX x NZ x NY balls that hit a floor between walls at 20 m/s", 4,
     write_crash},
    {"impact", "SPEED", "the same for 18 balls at SPEED m/s", 1, write_impact},
    {"cubes", "NX NZ NY", "NX x NZ x NY cubes of six tetrahedra that fall onto each other", 3,
     write_cubes},
    {"squeeze", "PERCENT CELLS", "a ball, compressed by PERCENT", 2, write_squeeze},
    {"solid", "CELLS", "a box, compressed by a fifth", 1, write_solid},
    {"rubber", "CELLS PERCENT", "the same with a Poisson's ratio of PERCENT / 100", 2,
     write_rubber},
    {"torsion", "CELLS", "a bar whose ends turn against each other", 1, write_torsion},
    {"sheet", "CELLS", "a mat that falls onto a ball", 1, write_sheet},
    {"rod", "CELLS", "a rod that falls onto a ball", 1, write_rod},
    {"layers", "LAYERS CELLS", "layers of cloth that fall onto a ball", 2, generated_layers},
    {"stiff_layers", "LAYERS CELLS", "the same, stiff in bending", 2, generated_stiff_layers},
    {"twist", "CELLS SECONDS", "a cloth whose ends turn back and forth in SECONDS", 2,
     generated_twist},
    {"tube", "ALONG AROUND", "a tube of cloth whose ends turn", 2, generated_tube},
    {"funnel", "CELLS", "three cloths that are pushed through a funnel", 1, generated_funnel},
    {"shuffle", "CARDS", "cards of two decks that fall onto each other", 1, generated_shuffle},
    {"noodles", "ROWS SEGMENTS", "ROWS x ROWS rods that fall into a bowl", 2, generated_noodles},
    {"knot", "ACROSS", "two ribbons in a reef knot that is pulled tight", 1, generated_knot},
    {"dress", "AROUND", "a sewn dress on a body that turns", 1, generated_dress},
    {"tyre", "ACROSS AROUND", "a tyre that is pressed to the ground and spins up", 2,
     generated_tyre},
    {"heap", "NX NZ NY", "NX x NZ x NY rigid boxes that fall in a heap", 3, generated_heap},
    {"pebbles", "NX NZ NY PIECES", "the same of balls of 20 PIECES^2 triangles", 4,
     generated_pebbles},
    {"flight", "PIECES", "one of them in flight", 1, generated_flight},
    {"net", "SQUARES", "a net of rigid bars with ball joints that falls onto a ball", 1,
     generated_net},
    {"gears", "WHEELS", "wheels in gear, of which a motor turns the first", 1, generated_gears},
};
enum { N_RECIPES = (int)(sizeof recipes / sizeof *recipes) };

void generated_help(FILE* file) {
  for (int i = 0; i < N_RECIPES; i++) {
    fprintf(file, "                     \"" MARK "%s %s\"  %s\n", recipes[i].name,
            recipes[i].numbers, recipes[i].what);
  }
}

bool generated_is(const char* path) {
  return strncmp(path, MARK, strlen(MARK)) == 0;
}

// The recipe and its numbers, which are positive; NULL if there is none.
static const Recipe* find(const char* path, int number[NUMBERS]) {
  char name[32];
  int used = 0, n = 0;
  if (sscanf(path + strlen(MARK), "%31s%n", name, &used) != 1) {
    return NULL;
  }
  const char* at = path + strlen(MARK) + used;
  for (char* end = NULL; n < NUMBERS; n++, at = end) {
    long value = strtol(at, &end, 10);
    if (end == at || value < 1 || value > 1000) {
      break;
    }
    number[n] = (int)value;
  }
  for (int i = 0; i < N_RECIPES; i++) {
    if (strcmp(recipes[i].name, name) == 0 && recipes[i].n_numbers == n && *at == '\0') {
      return &recipes[i];
    }
  }
  return NULL;
}

char* generated_text(const char* path) {
  int number[NUMBERS] = {0};
  const Recipe* recipe = find(path, number);
  if (recipe == NULL) {
    fprintf(stderr, "noli_bench: \"%s\" is not one of\n", path);
    generated_help(stderr);
    return NULL;
  }
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  if (file == NULL) {
    return NULL;
  }
  recipe->write(file, number);
  if (fclose(file) != 0) {
    free(text);
    return NULL;
  }
  return text;
}
