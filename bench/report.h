// Prints measurements as tables and keeps them as JSON.
#pragma once

#include "measure.h"

#include <jansson.h>

void report_header(void);
void report_row(const Scene* scene, const Measure* measure);
// The figures of the original program beside ours.
void report_reference(const Scene* const* scenes, const Measure* measures, int32_t n);
// The same measurements from an older file beside these. Returns false if it cannot be read.
bool report_compare(const char* path, const Scene* const* scenes, const Measure* measures,
                    int32_t n);
bool report_write(const char* path, const Scene* const* scenes, const Measure* measures, int32_t n);
