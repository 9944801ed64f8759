// Measurements of the validation cases: tables, plots and checks, written as JSON, from which
// scripts/validation.py updates docs/evidence/validation.md.
#pragma once

#include <jansson.h>
#include <math.h>
#include <stdbool.h>

#define PI 3.14159265358979323846

typedef struct Report {
  bool quick;    // the part that belongs to the tests: a few seconds
  bool good;     // no check has failed
  json_t* cases; // all cases so far
  json_t* now;   // the case that runs; the rest belongs to it
  json_t* table;
  json_t* plot;
  json_t* series;
} Report;

// Begins a case; subsequent reports belong to it.
void report_case(Report* report, const char* name);
// Begins a table. Cells of its columns, and of each row, are separated by " | ".
void report_table(Report* report, const char* title, const char* columns);
void report_row(Report* report, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Scaling of the axes of a plot.
typedef enum Axes { AXES_LINEAR, AXES_LOG_LOG } Axes;

// Begins a plot, the file docs/images/validation/NAME.svg.
void report_plot(Report* report, const char* name, const char* x, const char* y, Axes axes);
// Begins a curve of the plot: "line", "points", or "both"; theory is "theory", a thin black line.
void report_series(Report* report, const char* style, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
void report_point(Report* report, double x, double y);

// A published error: fails unless value <= bound. One without a finite bound is not published.
void report_check(Report* report, double value, double bound, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// The larger of two errors, NaN if one of them is, which fails the check: fmax leaves NaN out.
static inline double report_worse(double a, double b) {
  return isnan(a) || a > b ? a : b;
}

// Writes all cases. Returns false, after a message, on failure.
bool report_write(const Report* report, const char* path);
