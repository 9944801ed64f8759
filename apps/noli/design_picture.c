#define _POSIX_C_SOURCE 200809L
#include "design_picture.h"

#include "noli/extend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Size of the picture and of its margins, in pixels.
enum { WIDTH = 720, HEIGHT = 400, LEFT = 110, RIGHT = 20, TOP = 50, BOTTOM = 50 };

// Objectives that are all positive and differ by more than this factor are drawn as logarithms.
#define LOG_RATIO 50.0

typedef struct Scale {
  double low, high; // of objectives, or of their logarithms
  bool logarithmic;
  int32_t n;
} Scale;

static Scale scale_of(const SearchPoint* points, int32_t n) {
  double low = (double)INFINITY, high = -(double)INFINITY;
  for (int32_t i = 0; i < n; i++) {
    low = fmin(low, points[i].objective); // NaN counts as nothing
    high = fmax(high, points[i].objective);
  }
  if (!(low <= high)) {
    low = high = 0.0;
  }
  bool logarithmic = low > 0.0 && high > LOG_RATIO * low;
  if (logarithmic) {
    low = log10(low);
    high = log10(high);
  }
  double margin = high > low ? 0.05 * (high - low) : fmax(0.05 * fabs(high), 1e-12);
  return (Scale){.low = low - margin, .high = high + margin, .logarithmic = logarithmic, .n = n};
}

static double place_x(const Scale* scale, int32_t i) {
  return LEFT + (WIDTH - LEFT - RIGHT) * (scale->n > 1 ? (double)i / (scale->n - 1) : 0.5);
}

static double place_y(const Scale* scale, double value) {
  double share = (value - scale->low) / (scale->high - scale->low);
  return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
}

static double place_of(const Scale* scale, const SearchPoint* point) {
  return place_y(scale, scale->logarithmic ? log10(point->objective) : point->objective);
}

static void draw_text(FILE* file, double x, double y, const char* anchor, const char* text) {
  fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
  for (const char* c = text; *c != '\0'; c++) {
    if (*c == '<' || *c == '>' || *c == '&') {
      fprintf(file, "&#%d;", *c);
    } else {
      fputc(*c, file);
    }
  }
  fprintf(file, "</text>\n");
}

static void draw_axes(FILE* file, const Scale* scale) {
  char text[64];
  enum { N_TICKS = 5 };
  for (int k = 0; k < N_TICKS; k++) {
    double at = scale->low + (scale->high - scale->low) * (k + 0.5) / N_TICKS;
    double y = place_y(scale, at);
    fprintf(file, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>\n", LEFT, y, WIDTH - RIGHT);
    snprintf(text, sizeof text, "%.4g", scale->logarithmic ? pow(10.0, at) : at);
    draw_text(file, LEFT - 8, y + 4, "end", text);
  }
  fprintf(file, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#444\"/>\n", LEFT, TOP,
          HEIGHT - BOTTOM, WIDTH - RIGHT);
  draw_text(file, LEFT, HEIGHT - BOTTOM + 18, "middle", "0");
  snprintf(text, sizeof text, "%d", (int)scale->n - 1);
  draw_text(file, WIDTH - RIGHT, HEIGHT - BOTTOM + 18, "end", text);
  draw_text(file, 0.5 * (LEFT + WIDTH - RIGHT), HEIGHT - 12, "middle",
            "run (line: the best so far; empty: constraints violated; crosses: failed)");
}

// The best value so far.
static void draw_best(FILE* file, const Scale* scale, const SearchPoint* points) {
  bool begun = false;
  fprintf(file, "<path fill=\"none\" stroke=\"#1f6fb4\" stroke-width=\"2\" d=\"");
  for (int32_t i = 0; i < scale->n; i++) {
    if (points[i].best) {
      double x = place_x(scale, i), y = place_of(scale, &points[i]);
      fprintf(file, begun ? "H%.1fV%.1f" : "M%.1f %.1f", x, y);
      begun = true;
    }
  }
  fprintf(file, begun ? "H%.1f\"/>\n" : "M%.1f 0\"/>\n", place_x(scale, scale->n - 1));
}

static void draw_points(FILE* file, const Scale* scale, const SearchPoint* points) {
  for (int32_t i = 0; i < scale->n; i++) {
    double x = place_x(scale, i);
    if (isfinite(points[i].objective)) {
      fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" stroke=\"#1f6fb4\" fill=\"%s\"/>\n", x,
              place_of(scale, &points[i]), points[i].feasible ? "#1f6fb4" : "white");
    } else {
      fprintf(file, "<path d=\"M%.1f %dl6 6m0 -6l-6 6\" stroke=\"#c0392b\"/>\n", x - 3.0, TOP + 4);
    }
  }
}

NoliStatus draw_search(NoliContext* context, const char* path, const char* title,
                       const SearchPoint* points, int32_t n) {
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  size_t size = 0;
  const Scale scale = scale_of(points, n);
  FILE* file = open_memstream(&text, &size);

  NOLI_CHECK(context, file != NULL, NOLI_ERROR_MEMORY, "%s: out of memory", path);
  fprintf(file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
          "font-family=\"sans-serif\" font-size=\"12\">\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
          WIDTH, HEIGHT);
  draw_text(file, LEFT, 28, "start", title);
  draw_axes(file, &scale);
  draw_best(file, &scale, points);
  draw_points(file, &scale, points);
  fprintf(file, "</svg>\n");
  bool written = ferror(file) == 0;
  written = fclose(file) == 0 && written;
  NOLI_CHECK(context, written, NOLI_ERROR_MEMORY, "%s: out of memory", path);
  NOLI_TRY(noli_output_write_text(context, path, text));
done:
  free(text);
  return status;
}
