// The known word nearest to an unknown one, for messages such as `did you mean "cholmod"?`.
#pragma once

#include <stdint.h>

// The word of `words` with the smallest edit distance to `word`, the first of several; a word that
// `word` begins counts as one edit away. NULL when nothing is near or `word` is NULL or empty.
const char* noli_nearest(const char* word, const char* const* words, int32_t n_words);
