// Templates of pages, compiled in from src/page/template.
#pragma once

#include <stddef.h>

// The parts of the page before and after the data.
typedef struct NoliPageTemplate {
  const unsigned char* head;
  size_t head_size;
  const unsigned char* tail;
  size_t tail_size;
} NoliPageTemplate;

extern const NoliPageTemplate noli_page_template;
extern const NoliPageTemplate noli_report_template;
