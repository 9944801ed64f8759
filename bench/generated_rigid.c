#include "generated_rigid.h"

#define HEAD                                                                                       \
  "{\"time\": {\"step\": 0.01, \"steps\": 40}, \"contact\": {\"distance\": 5e-4}, \"solver\": "    \
  "{\"tolerance\": 2e-3}, \"friction\": {\"coefficient\": 0.3}, \"half_spaces\": [{\"name\": "     \
  "\"floor\"}], \"bodies\": ["

// A grid of bodies of 0.1 m that fall as they turn, each about another axis, between no walls.
static void write_heap(FILE* file, const int number[], const char* mesh) {
  const double spacing = 0.15;
  int count = 0;
  fprintf(file, HEAD);
  for (int j = 0; j < number[2]; j++) {
    for (int i = 0; i < number[0]; i++) {
      for (int k = 0; k < number[1]; k++, count++) {
        fprintf(file,
                "%s{\"mesh\": %s, \"rigid\": true, \"rotate\": [%d, %d, %d], \"translate\": [%.6f, "
                "%.6f, %.6f]}",
                count > 0 ? ", " : "", mesh, 37 * count % 90, 53 * count % 90, 71 * count % 90,
                spacing * i + 1e-3 * (7 * count % 11 - 5), 0.08 + spacing * j,
                spacing * k + 1e-3 * (5 * count % 13 - 6));
      }
    }
  }
  fprintf(file, "]}");
}

void generated_heap(FILE* file, const int number[]) {
  write_heap(file, number, "{\"box\": {\"size\": [0.09, 0.07, 0.08], \"cells\": [1, 1, 1]}}");
}

void generated_pebbles(FILE* file, const int number[]) {
  char mesh[100];
  snprintf(mesh, sizeof mesh, "{\"icosphere\": {\"radius\": 0.05, \"subdivision\": %d}}",
           number[3]);
  write_heap(file, number, mesh);
}

// A ball in free flight, in a shape of as many triangles as wanted.
void generated_flight(FILE* file, const int number[]) {
  fprintf(file,
          HEAD "{\"mesh\": {\"icosphere\": {\"radius\": 0.05, \"subdivision\": %d}}, \"rigid\": "
               "true, \"translate\": [0, 100, 0], \"angular_velocity\": [1, 2, 3]}]}",
          number[0]);
}

// ---- linkages -----------------------------------------------------------------------------------

#define SIDE 0.1 // m, of a square of a net

// The number of the bar of an N x N net that leaves node (i, k) along x or z; -1: there is none.
static int bar_of(int n, int i, int k, int along_z) {
  int inside = i >= 0 && k >= 0 && i <= n && k <= n && (along_z ? k : i) < n;
  return !inside ? -1 : along_z ? n * (n + 1) + i * n + k : k * n + i;
}

static void write_bar(FILE* file, int n, int i, int k, int along_z) {
  int bar = bar_of(n, i, k, along_z);
  if (bar >= 0) {
    fprintf(file,
            "%s{\"name\": \"bar %d\", \"mesh\": {\"box\": {\"size\": [%g, 0.01, %g], \"cells\": "
            "[1, 1, 1]}}, \"rigid\": true, \"translate\": [%.6f, 0.26, %.6f]}",
            i + k + along_z > 0 ? ", " : "", bar, along_z ? 0.01 : 0.08, along_z ? 0.08 : 0.01,
            SIDE * (i + (along_z ? 0.0 : 0.5) - 0.5 * n),
            SIDE * (k + (along_z ? 0.5 : 0.0) - 0.5 * n));
  }
}

// The first bar at a node holds the others.
static void write_node(FILE* file, int n, int i, int k) {
  int bar[4] = {bar_of(n, i - 1, k, 0), bar_of(n, i, k, 0), bar_of(n, i, k - 1, 1),
                bar_of(n, i, k, 1)};
  int first = -1;
  for (int b = 0; b < 4; b++) {
    if (bar[b] >= 0 && first >= 0) {
      fprintf(file,
              "%s{\"type\": \"ball\", \"a\": \"bar %d\", \"b\": \"bar %d\", \"at\": [%.6f, 0.26, "
              "%.6f]}",
              i + k > 0 || b > 3 ? ", " : "", bar[b], first, SIDE * (i - 0.5 * n),
              SIDE * (k - 0.5 * n));
    }
    first = first < 0 ? bar[b] : first;
  }
}

// A net of bars that falls onto a ball.
void generated_net(FILE* file, const int number[]) {
  int n = number[0];
  fprintf(file, HEAD);
  for (int i = 0; i <= n; i++) {
    for (int k = 0; k <= n; k++) {
      write_bar(file, n, i, k, 0);
      write_bar(file, n, i, k, 1);
    }
  }
  fprintf(file, "], \"joints\": [");
  for (int i = 0; i <= n; i++) {
    for (int k = 0; k <= n; k++) {
      write_node(file, n, i, k);
    }
  }
  fprintf(file, "], \"obstacles\": [{\"mesh\": {\"icosphere\": {\"radius\": 0.12, \"subdivision\": "
                "8}}, \"translate\": [0.013, 0.125, 0.021]}]}");
}

// Wheels in gear, of which a motor turns the first.
void generated_gears(FILE* file, const int number[]) {
  fprintf(file, HEAD);
  for (int g = 0; g < number[0]; g++) {
    fprintf(file,
            "%s{\"name\": \"wheel %d\", \"mesh\": {\"cylinder\": {\"radius\": 0.048, \"height\": "
            "0.02}}, \"rigid\": true, \"rotate\": [90, 0, 0], \"translate\": [%.6f, 0.2, 0]}",
            g > 0 ? ", " : "", g, 0.1 * g);
  }
  fprintf(file, "], \"joints\": [");
  for (int g = 0; g < number[0]; g++) {
    fprintf(file,
            "%s{\"type\": \"hinge\", \"name\": \"shaft %d\", \"a\": \"wheel %d\", \"at\": "
            "[%.6f, 0.2, 0], \"axis\": [0, 0, 1], ",
            g > 0 ? ", " : "", g, g, 0.1 * g);
    if (g == 0) {
      fprintf(file, "\"motor\": {\"speed\": 10, \"damping\": 1}}");
    } else {
      fprintf(file, "\"follows\": {\"joint\": \"shaft %d\", \"ratio\": -1}}", g - 1);
    }
  }
  fprintf(file, "]}");
}
