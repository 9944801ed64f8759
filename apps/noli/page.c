#define _POSIX_C_SOURCE 200809L
#include "page.h"
#include "progress.h"

#include "noli/output.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// Seconds between two pages, and how many times longer than writing one at least.
#define LEAST_INTERVAL 2.0
#define SHARE 20.0

char* page_path(const char* directory, const char* name) {
  size_t size = strlen(directory) + strlen(name) + 2;
  char* path = malloc(size);
  if (path != NULL) {
    snprintf(path, size, "%s/%s", directory, name);
  }
  return path;
}

static void show_frame(void* user, int64_t done, int64_t n_frames) {
  progress_frame(user, done, n_frames);
}

NoliStatus page_write(NoliContext* context, Console* console, const char* directory,
                      const char* path) {
  Progress progress = progress_begin(console, 0, 0, 0.0);
  const NoliPageOptions options = {.progress = show_frame, .user = &progress};
  NoliStatus status = noli_output_write_page_with(context, directory, path, &options);
  console_clear_line(console);
  return status;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void live_page_begin(LivePage* page, Console* console, const char* directory) {
  *page = (LivePage){.directory = directory, .path = page_path(directory, "view.html")};
  if (page->path == NULL || noli_context_create(NULL, &page->context) != NOLI_OK) {
    console_say(console, NOLI_LOG_WARNING, "there is no memory for a page of the run");
    live_page_end(page);
  }
}

void live_page_refresh(LivePage* page, Console* console, bool now) {
  double start = seconds_now();
  if (page->context == NULL || page->failed || (!now && start < page->due)) {
    return;
  }
  NoliStatus status = noli_output_write_page(page->context, page->directory, page->path);
  if (status == NOLI_OK && !page->written && !console->quiet) {
    console_clear_line(console);
    print("page: %s (open it in a browser; load it again for the latest frame)\n", page->path);
    fflush(stdout);
  }
  page->written = page->written || status == NOLI_OK;
  page->failed = status != NOLI_OK;
  if (page->failed) {
    const char* message = noli_context_message(page->context);
    console_say(console, NOLI_LOG_WARNING, "the page of the run is not written any more: %s",
                message[0] != '\0' ? message : noli_status_text(status));
  }
  double end = seconds_now(), pause = SHARE * (end - start);
  page->due = end + (pause > LEAST_INTERVAL ? pause : LEAST_INTERVAL);
}

void live_page_end(LivePage* page) {
  noli_context_destroy(&page->context);
  free(page->path);
  *page = (LivePage){0};
}
