// The page of a run beside its results: written once, or kept up to date while the run goes on.
#pragma once

#include "console.h"

// DIR/NAME, released by the caller; NULL without memory.
char* page_path(const char* directory, const char* name);

// Writes the page of a run, with a progress line where that takes time.
NoliStatus page_write(NoliContext* context, Console* console, const char* directory,
                      const char* path);

// Zero: no page.
typedef struct LivePage {
  NoliContext* context; // of its own, without messages
  const char* directory;
  char* path;
  double due;   // when it is written next, s of a steady clock
  bool written; // at least once
  bool failed;  // it is not tried again; the reason was said
} LivePage;

// Makes a page of the run in `directory` (borrowed); without memory there is none, which is said.
void live_page_begin(LivePage* page, Console* console, const char* directory);

// Writes the page if it is due, or `now` in any case. Writing takes at most a twentieth of the
// time. A page that cannot be written is a warning.
void live_page_refresh(LivePage* page, Console* console, bool now);
void live_page_end(LivePage* page);
