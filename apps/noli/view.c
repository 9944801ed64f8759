// `noli view` and `noli report`: a page of a run.
#include "commands.h"
#include "console.h"
#include "page.h"

#include "noli/output.h"

#include <stdlib.h>

enum { VIEW_OUTPUT, N_VIEW_OPTIONS };

static const Option view_options[] = {
    [VIEW_OUTPUT] = {"output", 'o', OPTION_TEXT, "FILE", "the page (default: DIR/view.html)", 0, 0},
};
static const Option report_options[] = {
    [VIEW_OUTPUT] = {"output", 'o', OPTION_TEXT, "FILE", "the report (default: DIR/report.html)", 0,
                     0},
};

typedef NoliStatus PageFn(NoliContext* context, Console* console, const char* directory,
                          const char* path);

static int write_page(const Arguments* arguments, const char* name, PageFn* write,
                      const char* what) {
  int exit_status = EXIT_DONE;
  const char* directory = arguments->argument[0];
  const OptionValue* output = &arguments->option[VIEW_OUTPUT];
  Console console = {0};
  NoliContext* context = console_context(&console, 0);
  char* made = output->given ? NULL : page_path(directory, name);
  const char* path = output->given ? output->text : made;
  if (context == NULL || path == NULL) {
    free(made);
    return EXIT_SYSTEM;
  }
  NoliStatus status = write(context, &console, directory, path);
  if (status == NOLI_OK) {
    print("%s: %s (open it in a browser)\n", what, path);
  } else {
    exit_status = console_fail(&console, context, status);
  }
  noli_context_destroy(&context);
  free(made);
  return exit_status;
}

static int view(const Arguments* arguments) {
  return write_page(arguments, "view.html", page_write, "page");
}

static NoliStatus write_report(NoliContext* context, Console* console, const char* directory,
                               const char* path) {
  (void)console;
  return noli_output_write_report(context, directory, path);
}

static int report(const Arguments* arguments) {
  return write_page(arguments, "report.html", write_report, "report");
}

const Command command_view = {
    .name = "view",
    .usage = "DIR",
    .summary = "Write a page that shows a run in a browser.",
    .details = "Writes one HTML file with the frames, histories, log and scene of a result\n"
               "directory. It needs no server and no network: open it from the disk.",
    .n_arguments = 1,
    .options = view_options,
    .n_options = N_VIEW_OPTIONS,
    .run = view,
};

const Command command_report = {
    .name = "report",
    .usage = "DIR",
    .summary = "Write a report of a run to read and to print.",
    .details = "Audits a result directory and writes one HTML file with pictures, what was\n"
               "simulated, histories, forces by pair, where the time went, the audit and warnings.",
    .n_arguments = 1,
    .options = report_options,
    .n_options = N_VIEW_OPTIONS,
    .run = report,
};
