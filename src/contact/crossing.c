#include "contact/crossing.h"

enum { SUBSETS = 16 }; // of the four ends, bit k for y[k]

static int32_t subset_of(const NoliFeature* feature) {
  int32_t subset = 0;
  for (int32_t i = 0; i < noli_pair_size[feature->kind]; i++) {
    subset |= 1 << feature->vertex[i];
  }
  return subset;
}

static NoliFeature feature_of(int32_t subset) {
  int32_t a = subset & 3, b = subset >> 2;
  bool two_a = a == 3, two_b = b == 3;
  if (two_a && two_b) {
    return (NoliFeature){NOLI_PAIR_EDGE_EDGE, {0, 1, 2, 3}};
  }
  int32_t end_a = a >> 1, end_b = 2 + (b >> 1);
  if (two_b) {
    return (NoliFeature){NOLI_PAIR_POINT_EDGE, {end_a, 2, 3, -1}};
  }
  return two_a ? (NoliFeature){NOLI_PAIR_POINT_EDGE, {end_b, 0, 1, -1}}
               : (NoliFeature){NOLI_PAIR_POINT_POINT, {end_a, end_b, -1, -1}};
}

int32_t noli_crossing_parts(const NoliVec3 y[4], NoliCrossingPart part[NOLI_CROSSING_FEATURES]) {
  int32_t count[SUBSETS] = {0}, n = 0;
  NoliFeature whole = noli_feature_edge_edge(y);
  count[subset_of(&whole)]++;
  for (int32_t k = 0; k < 2; k++) {
    const NoliVec3 of_a[3] = {y[k], y[2], y[3]}, of_b[3] = {y[2 + k], y[0], y[1]};
    count[1 << k | noli_closest_subset(of_a, 3) << 2]--;
    count[4 << k | noli_closest_subset(of_b, 3)]--;
    count[1 << k | 4]++;
    count[1 << k | 8]++;
  }
  for (int32_t subset = 0; subset < SUBSETS; subset++) {
    if (count[subset] != 0) {
      part[n++] = (NoliCrossingPart){feature_of(subset), count[subset]};
    }
  }
  return n;
}
