#include "commands.h"
#include "console.h"

#include "noli/extend.h"
#include "noli/output.h"

#include <stdlib.h>
#include <string.h>

enum { VIEW_OUTPUT, N_VIEW_OPTIONS };

static const Option view_options[] = {
    [VIEW_OUTPUT] = {"output", 'o', OPTION_TEXT, "FILE", "the page (default: DIR/view.html)", 0, 0},
};

// DIR/view.html, released by the caller; NULL without memory.
static char* default_path(const char* directory) {
  static const char name[] = "/view.html";
  size_t n = strlen(directory);
  char* path = malloc(n + sizeof name);
  if (path != NULL) {
    memcpy(path, directory, n);
    memcpy(path + n, name, sizeof name);
  }
  return path;
}

static int view(const Arguments* arguments) {
  int exit_status = EXIT_DONE;
  const char* directory = arguments->argument[0];
  const OptionValue* output = &arguments->option[VIEW_OUTPUT];
  Console console = {0};
  NoliContext* context = console_context(&console, 0);
  char* made = output->given ? NULL : default_path(directory);
  const char* path = output->given ? output->text : made;
  if (context == NULL || path == NULL) {
    free(made);
    return EXIT_SYSTEM;
  }
  NoliStatus status = noli_output_write_page(context, directory, path);
  if (status == NOLI_OK) {
    printf("page: %s (open it in a browser)\n", path);
  } else {
    exit_status = console_fail(&console, context, status);
  }
  noli_context_destroy(&context);
  free(made);
  return exit_status;
}

const Command command_view = {
    .name = "view",
    .usage = "DIR",
    .summary = "Write a page that shows a run in a browser.",
    .details = "Writes one HTML file with the frames, histories, log and scene of a result\n"
               "directory. It needs no server and no network: open it from the disk.\n",
    .n_arguments = 1,
    .options = view_options,
    .n_options = N_VIEW_OPTIONS,
    .run = view,
};
