#include "noli/extend.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

// Longer words are never near; the distance needs three rows of this length.
enum { LONGEST = 64 };

static int32_t least(int32_t a, int32_t b) {
  return a < b ? a : b;
}

static int fold(char c) {
  return tolower((unsigned char)c);
}

// The number of insertions, deletions, replacements and swaps of neighbours that change `a` to `b`,
// ignoring case.
static int32_t edit_distance(const char* a, int32_t n_a, const char* b, int32_t n_b) {
  int32_t rows[3][LONGEST + 1];
  for (int32_t j = 0; j <= n_b; j++) {
    rows[0][j] = j;
  }
  for (int32_t i = 1; i <= n_a; i++) {
    int32_t* now = rows[i % 3];
    const int32_t* last = rows[(i + 2) % 3];
    const int32_t* before_last = rows[(i + 1) % 3];
    now[0] = i;
    for (int32_t j = 1; j <= n_b; j++) {
      int32_t replace = last[j - 1] + (fold(a[i - 1]) != fold(b[j - 1]) ? 1 : 0);
      now[j] = least(replace, least(last[j], now[j - 1]) + 1);
      if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) && fold(a[i - 2]) == fold(b[j - 1])) {
        now[j] = least(now[j], before_last[j - 2] + 1);
      }
    }
  }
  return rows[n_a % 3][n_b];
}

const char* noli_nearest(const char* word, const char* const* words, int32_t n_words) {
  size_t length = word != NULL ? strlen(word) : 0;
  if (length == 0 || length > LONGEST || words == NULL) {
    return NULL;
  }
  const char* nearest = NULL;
  int32_t smallest = INT32_MAX;
  for (int32_t k = 0; k < n_words; k++) {
    size_t other = strlen(words[k]);
    if (other > LONGEST) {
      continue;
    }
    int32_t distance = edit_distance(word, (int32_t)length, words[k], (int32_t)other);
    if (length >= 3 && strncmp(word, words[k], length) == 0) {
      distance = least(distance, 1);
    }
    // up to a third of the longer word may differ
    int32_t allowed = (int32_t)(length > other ? length : other) / 3;
    if (distance <= (allowed > 1 ? allowed : 1) && distance < smallest) {
      nearest = words[k];
      smallest = distance;
    }
  }
  return nearest;
}
