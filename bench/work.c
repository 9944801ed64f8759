#include "work.h"

#include <stdio.h>

// Passages on one thread are listed from this share of the processor time of a scene.
#define LISTED 0.05

static double cpu_of(const Result* result) {
  double sum = 0.0;
  for (int32_t k = 0; k < NOLI_WORKS; k++) {
    sum += result->profile.work[k].cpu;
  }
  return sum;
}

static double serial_of(const NoliWorkCost* cost) {
  return cost->cpu > cost->parallel ? cost->cpu - cost->parallel : 0.0;
}

static double serial_share(const Result* result) {
  double serial = 0.0;
  for (int32_t k = 0; k < NOLI_WORKS; k++) {
    serial += serial_of(&result->profile.work[k]);
  }
  return ratio(serial, cpu_of(result));
}

static bool is_used(const ResultList* list, int32_t work) {
  bool used = false;
  for (int32_t i = 0; i < list->count; i++) {
    used = used || list->data[i].profile.work[work].cpu > 0.0;
  }
  return used;
}

static void print_header(const ResultList* list) {
  printf("| scene | threads | CPU s | wall/CPU ");
  for (int32_t k = 0; k < NOLI_WORKS; k++) {
    is_used(list, k) ? printf("| %s ", noli_work_name(k)) : 0;
  }
  printf("| shared | gain on 2 |\n|---|---:|---:|---:");
  for (int32_t k = 0; k < NOLI_WORKS; k++) {
    is_used(list, k) ? printf("|---:") : 0;
  }
  printf("|---:|---:|\n");
}

static void print_row(const ResultList* list, const Result* result) {
  double cpu = cpu_of(result), wall = 0.0, shared = 1.0 - serial_share(result);
  for (int32_t k = 0; k < NOLI_WORKS; k++) {
    wall += result->profile.work[k].wall;
  }
  printf("| %s | %lld | %.3g | %.2f ", result->scene, (long long)result->threads, cpu, wall / cpu);
  for (int32_t k = 0; k < NOLI_WORKS; k++) {
    const NoliWorkCost* cost = &result->profile.work[k];
    if (is_used(list, k) && cost->cpu < 0.005 * cpu) {
      printf("| - ");
    } else if (is_used(list, k)) {
      printf("| %.0f / %.0f ", 100.0 * cost->cpu / cpu,
             100.0 * (1.0 - serial_of(cost) / cost->cpu));
    }
  }
  printf("| %.0f %% | %.2f |\n", 100.0 * shared, 1.0 / (1.0 - 0.5 * shared));
}

// The work that one thread does alone, where it is much.
static void print_serial(const Result* result) {
  double cpu = cpu_of(result);
  for (int32_t k = 0; k < NOLI_WORKS; k++) {
    double share = serial_of(&result->profile.work[k]) / cpu;
    if (share > LISTED) {
      printf("| %s | %s | %.0f %% |\n", result->scene, noli_work_name(k), 100.0 * share);
    }
  }
}

static bool has_profile(const Result* result) {
  return result_was_run(result) && cpu_of(result) > 0.0;
}

bool work_print(const ResultList* list) {
  int32_t n = 0;
  for (int32_t i = 0; i < list->count; i++) {
    n += has_profile(&list->data[i]) ? 1 : 0;
  }
  if (n == 0) {
    fprintf(stderr, "noli_bench: no scene has a profile; measure with --profile\n");
    return false;
  }
  print_header(list);
  for (int32_t i = 0; i < list->count; i++) {
    if (has_profile(&list->data[i])) {
      print_row(list, &list->data[i]);
    }
  }
  printf("\n| scene | on one thread | of the CPU time |\n|---|---|---:|\n");
  for (int32_t i = 0; i < list->count; i++) {
    if (has_profile(&list->data[i])) {
      print_serial(&list->data[i]);
    }
  }
  return true;
}
