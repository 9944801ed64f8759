// CCD, both methods, against public queries with exact ground truth: no collision may be missed.
#include "support.h"

#include "noli/choice.h"

#include "base/timer.h"
#include "collide/ccd.h"

#include <dirent.h>

typedef bool CcdFunction(const NoliVec3 x_t0[4], const NoliVec3 x_t1[4],
                         const NoliCcdOptions* options, double t_max, double* toi);

typedef struct QueryCount {
  int n;
  int n_hits;
  int n_misses;
  int n_false_alarms;
  double seconds;
} QueryCount;

// One vertex per line: three rational numbers, then the ground truth. False at the end of the file.
static bool read_vertex(FILE* file, double x[3], int* truth) {
  double number[6];
  int n = fscanf(file, "%lf,%lf,%lf,%lf,%lf,%lf,%d", &number[0], &number[1], &number[2], &number[3],
                 &number[4], &number[5], truth);
  if (n != 7) {
    assert_int_equal(n, EOF);
    return false;
  }
  for (int c = 0; c < 3; c++) {
    x[c] = number[2 * c] / number[2 * c + 1];
  }
  return true;
}

static void run_query(CcdFunction* ccd, const NoliCcdOptions* options, double x[8][3], int truth,
                      QueryCount* count) {
  NoliVec3 x_t0[4], x_t1[4];
  for (int i = 0; i < 4; i++) {
    x_t0[i] = noli_load3(x[i]);
    x_t1[i] = noli_load3(x[4 + i]);
  }
  double toi;
  double start = noli_seconds();
  bool hit = ccd(x_t0, x_t1, options, 1.0, &toi);
  count->seconds += noli_seconds() - start;
  assert_true(toi >= 0.0 && toi <= 1.0);
  count->n++;
  count->n_hits += truth;
  count->n_misses += truth && !hit;
  count->n_false_alarms += !truth && hit;
}

static void run_file(const char* path, CcdFunction* ccd, const NoliCcdOptions* options,
                     QueryCount* count) {
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  double x[8][3];
  int truth = 0, n_lines = 0;
  while (read_vertex(file, x[n_lines % 8], &truth)) {
    if (++n_lines % 8 == 0) {
      run_query(ccd, options, x, truth, count);
    }
  }
  assert_int_equal(n_lines % 8, 0);
  fclose(file);
}

static void run_folder(const char* folder, CcdFunction* ccd, const NoliCcdOptions* options,
                       QueryCount* count) {
  DIR* directory = opendir(folder);
  assert_non_null(directory);
  for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    size_t length = strlen(entry->d_name);
    if (length > 4 && strcmp(entry->d_name + length - 4, ".csv") == 0) {
      char path[1024];
      snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
      run_file(path, ccd, options, count);
    }
  }
  closedir(directory);
}

static const char* const query_set[] = {"unit-tests",
                                        "erleben-cube-internal-edges",
                                        "erleben-sliding-spike",
                                        "erleben-sliding-wedge",
                                        "erleben-spike-wedge",
                                        "erleben-spikes"};

static void count_queries(const char* kind, CcdFunction* ccd, const NoliCcdOptions* options,
                          double most_false_alarms) {
  QueryCount all = {0};
  for (size_t k = 0; k < sizeof query_set / sizeof query_set[0]; k++) {
    char name[256], folder[512];
    snprintf(name, sizeof name, "ccd-queries/%s/%s", query_set[k], kind);
    if (test_data(name, folder, sizeof folder) == NULL) {
      skip();
    }
    QueryCount count = {0};
    run_folder(folder, ccd, options, &count);
    print_message("%-28s %-11s %5d queries, %5d hits, %d missed, %4d false alarms, %.2f us\n",
                  query_set[k], kind, count.n, count.n_hits, count.n_misses, count.n_false_alarms,
                  1e6 * count.seconds / count.n);
    all.n += count.n;
    all.n_misses += count.n_misses;
    all.n_false_alarms += count.n_false_alarms;
  }
  assert_true(all.n > 0);
  assert_int_equal(all.n_misses, 0);
  // conservative, but still useful
  ASSERT_AT_MOST(all.n_false_alarms, most_false_alarms * all.n);
}

// With the distance that a step keeps, and as a plain contact query.
static void no_query_is_missed(const char* kind, CcdFunction* ccd) {
  for (int m = 0; m < 2; m++) {
    const char* method = noli_choice_name(NOLI_CHOICE_CCD, m);
    NoliCcdOptions options = noli_default_ccd_options();
    options.method = method;
    print_message("%s, safety %g\n", method, options.safety);
    count_queries(kind, ccd, &options, 0.25);
    options.gap_cap = 1e-8;
    print_message("%s, down to a gap of %g\n", method, options.gap_cap);
    count_queries(kind, ccd, &options, 0.25);
  }
}

static void no_point_triangle_query_is_missed(void** state) {
  (void)state;
  no_query_is_missed("vertex-face", noli_ccd_point_triangle);
}

static void no_edge_edge_query_is_missed(void** state) {
  (void)state;
  no_query_is_missed("edge-edge", noli_ccd_edge_edge);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_point_triangle_query_is_missed),
      cmocka_unit_test(no_edge_edge_query_is_missed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
