// The template of the page of a run, compiled in from src/output/page: what comes before the data
// and what comes after.
#pragma once

#include <stddef.h>

extern const unsigned char noli_page_head[];
extern const size_t noli_page_head_size;
extern const unsigned char noli_page_tail[];
extern const size_t noli_page_tail_size;
