// A page in the making: a template with the data between its head and its tail, each part an
// element that the page finds by its name.
#pragma once

#include "output/file.h"
#include "page/page.h"
#include "page/page_frames.h"

#include <jansson.h>

typedef struct NoliPageFile {
  NoliContext* context;
  const NoliPageTemplate* page;
  NoliFile file;
} NoliPageFile;

// Creates the file and writes the head. After a failure noli_page_file_abandon is harmless.
NOLI_WARN_UNUSED NoliStatus noli_page_file_begin(NoliContext* context, const char* path,
                                                 const NoliPageTemplate* page, NoliPageFile* file);

// Bytes, as they are or compressed first.
NOLI_WARN_UNUSED NoliStatus noli_page_file_packed(NoliPageFile* file, const char* id,
                                                  const uint8_t* bytes, int64_t size);
NOLI_WARN_UNUSED NoliStatus noli_page_file_compressed(NoliPageFile* file, const char* id,
                                                      const void* data, int64_t size);

// Writes a group of frames, and appends its description to `groups`.
NOLI_WARN_UNUSED NoliStatus noli_page_file_group(NoliPageFile* file, int32_t n_vert,
                                                 NoliPageGroup* group, json_t* groups);

// The half-spaces, the colours of bodies (the last one is that of obstacles), and the fields, for
// the description.
json_t* noli_page_floors(const NoliSimDef* def);
json_t* noli_page_colours(void);
json_t* noli_page_fields_json(const NoliPageFieldList* list);

// Writes the description and the tail, and gives the file its name. `about` is taken over; NULL:
// there was no memory for it.
NOLI_WARN_UNUSED NoliStatus noli_page_file_end(NoliPageFile* file, json_t* about);
void noli_page_file_abandon(NoliPageFile* file);

// Appends to an array, and takes over what is appended. Fails without memory for either.
NOLI_WARN_UNUSED NoliStatus noli_json_append(NoliContext* context, json_t* array, json_t* made);
