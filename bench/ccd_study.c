// Table of docs/background/ccd.md: both methods of continuous collision detection on public queries
// with exact ground truth.
//
//   noli_ccd_study DATA > ccd_queries.md
#define _POSIX_C_SOURCE 200809L
#include <noli/noli.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 20 };

typedef struct Query {
  double x[8][3]; // four vertices at t = 0, then at t = 1
  int truth;
} Query;

typedef struct Set {
  Query* query; // (n)
  int n;
} Set;

typedef struct Count {
  int n, n_contacts, n_misses, n_false_alarms;
  double mean, slowest; // s
} Count;

typedef struct Setting {
  const char* name;
  double gap_cap; // m, of the options; INFINITY: what a step keeps
} Setting;

static const char* const set_names[] = {"unit-tests",
                                        "erleben-cube-internal-edges",
                                        "erleben-sliding-spike",
                                        "erleben-sliding-wedge",
                                        "erleben-spike-wedge",
                                        "erleben-spikes"};
static const char* const kinds[] = {"vertex-face", "edge-edge"};
enum { N_SETS = 6, N_KINDS = 2 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// One vertex per line: three rational numbers, then the ground truth.
static int read_file(const char* path, Set* set) {
  FILE* file = fopen(path, "r");
  double number[6];
  int truth, n_lines = 0;
  Query query;
  if (file == NULL) {
    return 0;
  }
  while (fscanf(file, "%lf,%lf,%lf,%lf,%lf,%lf,%d", &number[0], &number[1], &number[2], &number[3],
                &number[4], &number[5], &truth) == 7) {
    for (int k = 0; k < 3; k++) {
      query.x[n_lines % 8][k] = number[2 * k] / number[2 * k + 1];
    }
    if (++n_lines % 8 == 0) {
      query.truth = truth;
      Query* grown = realloc(set->query, sizeof *grown * (size_t)(set->n + 1));
      if (grown == NULL) {
        break;
      }
      set->query = grown;
      set->query[set->n++] = query;
    }
  }
  fclose(file);
  return 1;
}

static int read_folder(const char* folder, Set* set) {
  DIR* directory = opendir(folder);
  if (directory == NULL) {
    return 0;
  }
  for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    char path[2048];
    size_t length = strlen(entry->d_name);
    if (length > 4 && strcmp(entry->d_name + length - 4, ".csv") == 0) {
      snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
      read_file(path, set);
    }
  }
  closedir(directory);
  return set->n > 0;
}

static bool ask(const Query* query, bool edges, const NoliCcdOptions* options) {
  double toi;
  const double(*x)[3] = query->x;
  return edges ? noli_edge_edge_ccd(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], options, 1.0,
                                    &toi)
               : noli_point_triangle_ccd(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], options,
                                         1.0, &toi);
}

// The best of several times, to exclude other load on the machine.
static void measure(const Set* set, bool edges, const NoliCcdOptions* options, Count* count) {
  for (int i = 0; i < set->n; i++) {
    double best = 1e9;
    bool hit = false;
    for (int k = 0; k < REPEATS; k++) {
      double start = seconds();
      hit = ask(&set->query[i], edges, options);
      double taken = seconds() - start;
      best = taken < best ? taken : best;
    }
    count->n++;
    count->n_contacts += set->query[i].truth;
    count->n_misses += set->query[i].truth && !hit;
    count->n_false_alarms += !set->query[i].truth && hit;
    count->mean += best;
    count->slowest = best > count->slowest ? best : count->slowest;
  }
}

static void print_row(const char* name, const char* kind, const Count count[2][2]) {
  printf("| %s | %s | %d | %d |", name, kind, count[0][0].n, count[0][0].n_contacts);
  for (int s = 0; s < 2; s++) {
    for (int m = 0; m < 2; m++) {
      const Count* c = &count[s][m];
      printf(" %d | %d (%.1f %%) | %.2f | %.0f |", c->n_misses, c->n_false_alarms,
             100.0 * c->n_false_alarms / (c->n - c->n_contacts), 1e6 * c->mean / c->n,
             1e6 * c->slowest);
    }
  }
  printf("\n");
}

static void print_head(const Setting* settings) {
  printf("| queries | kind | all | contacts |");
  for (int s = 0; s < 2; s++) {
    for (int m = 0; m < 2; m++) {
      const char* method = m == 0 ? "additive" : "inclusion";
      printf(" %s, %s: missed | false positives | us | slowest |", settings[s].name, method);
    }
  }
  printf("\n|---|---|---|---|");
  for (int i = 0; i < 16; i++) {
    printf("---|");
  }
  printf("\n");
}

int main(int n_words, char** words) {
  const Setting settings[2] = {{"step", noli_default_ccd_options().gap_cap}, {"query", 1e-8}};
  Count total[2][2] = {0};
  if (n_words != 2) {
    fprintf(stderr, "usage: noli_ccd_study DATA\n");
    return 1;
  }
  print_head(settings);
  for (int i = 0; i < N_SETS * N_KINDS; i++) {
    const char *name = set_names[i % N_SETS], *kind = kinds[i / N_SETS];
    char folder[1536];
    Set set = {0};
    Count count[2][2] = {0};
    snprintf(folder, sizeof folder, "%s/ccd-queries/%s/%s", words[1], name, kind);
    if (!read_folder(folder, &set)) {
      fprintf(stderr, "%s: no queries found\n", folder);
      return 2;
    }
    for (int s = 0; s < 2; s++) {
      for (int m = 0; m < 2; m++) {
        NoliCcdOptions options = noli_default_ccd_options();
        options.gap_cap = settings[s].gap_cap;
        options.method = m == 0 ? "additive" : "inclusion";
        measure(&set, i / N_SETS == 1, &options, &count[s][m]);
        measure(&set, i / N_SETS == 1, &options, &total[s][m]);
      }
    }
    print_row(name, kind, (const Count(*)[2])count);
    free(set.query);
  }
  print_row("all", "both", (const Count(*)[2])total);
  return total[0][0].n_misses + total[0][1].n_misses + total[1][0].n_misses + total[1][1].n_misses >
                 0
             ? 3
             : 0;
}
