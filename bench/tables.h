// Tables of results, for terminals and as Markdown, and their JSON.
#pragma once

#include "result.h"

typedef enum TableKind {
  TABLE_MEASURED,  // ours alone
  TABLE_PAPER,     // beside the figures of [Li2020]
  TABLE_REFERENCE, // beside the original program
  TABLE_TIMESTEP,  // beside [Li2020] table 1
  TABLE_COMPARE,   // beside older results
  TABLE_BRIEF,     // likewise, in short
  TABLE_SCALING,   // work per node
  TABLE_BODIES,    // work per body and contact
  TABLE_ABLATION,  // what the iterations did
  TABLE_CONDITION, // how hard linear systems are
  TABLE_MODELS,    // contact models: the first of each scene is what others are compared with
  TABLE_FRICTION,  // cost and error of friction, likewise
} TableKind;

void table_header(TableKind kind, bool markdown);
// `before`: the older result of TABLE_COMPARE, else NULL.
void table_row(TableKind kind, bool markdown, const Result* result, const Result* before);

// Remarks on a result: why it ended, unusual events. Returns false if there are
// none.
bool result_remarks(const Result* result, char* text, size_t size);

// The table of a suite and its comparisons, with the remarks, as Markdown.
void tables_markdown(const ResultList* list);
// A short comparison with another file, as Markdown, without scenes that were not run.
void tables_markdown_beside(const ResultList* list, const ResultList* other);
// After the rows: comparisons with reference values, as plain text.
void tables_beside(const ResultList* list);
// Returns false if no scene is in both.
bool tables_compare(const ResultList* list, const ResultList* before, const char* name);

bool tables_write_json(const char* path, const ResultList* list);
