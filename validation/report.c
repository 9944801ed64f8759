#include "report.h"

#include "noli/noli.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// Digits of the numbers in plots and checks: more would differ between machines.
enum { DIGITS = 5, TEXT = 512 };

static double rounded(double value) {
  char text[64];
  snprintf(text, sizeof text, "%.*g", DIGITS, value);
  return strtod(text, NULL);
}

// A new object at the end of the list `key` of the case.
static json_t* append(Report* report, const char* key, json_t* item) {
  json_array_append_new(json_object_get(report->now, key), item);
  return item;
}

void report_case(Report* report, const char* name) {
  report->now = json_pack("{s:s, s:[], s:[], s:[]}", "name", name, "tables", "plots", "checks");
  json_array_append_new(report->cases, report->now);
  report->table = report->plot = report->series = NULL;
  printf("%s\n", name);
}

void report_table(Report* report, const char* title, const char* columns) {
  report->table = append(report, "tables",
                         json_pack("{s:s, s:s, s:[]}", "title", title, "columns", columns, "rows"));
  printf("  %s\n    %s\n", title, columns);
}

void report_row(Report* report, const char* format, ...) {
  char text[TEXT];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  json_array_append_new(json_object_get(report->table, "rows"), json_string(text));
  printf("    %s\n", text);
  fflush(stdout);
}

void report_plot(Report* report, const char* name, const char* x, const char* y, Axes axes) {
  report->plot = append(report, "plots",
                        json_pack("{s:s, s:s, s:s, s:b, s:[]}", "name", name, "x", x, "y", y, "log",
                                  axes == AXES_LOG_LOG, "series"));
}

void report_series(Report* report, const char* style, const char* format, ...) {
  char text[TEXT];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  report->series = json_pack("{s:s, s:s, s:[], s:[]}", "name", text, "style", style, "x", "y");
  json_array_append_new(json_object_get(report->plot, "series"), report->series);
}

void report_point(Report* report, double x, double y) {
  json_array_append_new(json_object_get(report->series, "x"), json_real(rounded(x)));
  json_array_append_new(json_object_get(report->series, "y"), json_real(rounded(y)));
}

void report_check(Report* report, double value, double bound, const char* format, ...) {
  char text[TEXT];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (bound > DBL_MAX) {
    return;
  }
  bool good = value <= bound;
  report->good = report->good && good;
  // JSON has no non-finite numbers
  json_t* number = value - value == 0.0 ? json_real(rounded(value)) : json_null();
  append(report, "checks",
         json_pack("{s:s, s:o, s:f}", "what", text, "value", number, "bound", bound));
  printf("    %s%s: %.3g, at most %.3g\n", good ? "" : "FAILED ", text, value, bound);
}

bool report_write(const Report* report, const char* path) {
  json_t* root = json_pack("{s:s, s:O}", "noli", noli_version(), "cases", report->cases);
  bool good =
      root != NULL && json_dump_file(root, path, JSON_INDENT(1) | JSON_REAL_PRECISION(DIGITS)) == 0;
  if (!good) {
    fprintf(stderr, "noli_validate: %s cannot be written\n", path);
  }
  json_decref(root);
  return good;
}
