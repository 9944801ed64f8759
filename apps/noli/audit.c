#include "commands.h"
#include "console.h"

#include "noli/audit.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

enum { AUDIT_JSON, AUDIT_ALL, AUDIT_THREADS, N_AUDIT_OPTIONS };
// Findings printed without --all.
enum { TOLD = 20 };

static const Option audit_options[] = {
    [AUDIT_JSON] = {"json", 0, OPTION_FLAG, "", "print the result as JSON", 0, 0},
    [AUDIT_ALL] = {"all", 0, OPTION_FLAG, "", "print all listed findings, not only the first 20", 0,
                   0},
    [AUDIT_THREADS] = {"threads", 0, OPTION_INTEGER, "N", "use N threads (default 0: all cores)", 0,
                       1024},
};

static void print_text(const NoliRunAudit* audit, const char* directory, bool all) {
  int64_t n_told = all || audit->n_findings < TOLD ? audit->n_findings : TOLD;
  for (int64_t i = 0; i < n_told; i++) {
    print("%s\n", audit->findings[i].message);
  }
  if (n_told < audit->n_found) {
    print("... and %" PRId64 " more\n", audit->n_found - n_told);
  }
  print("%s: %" PRId64 " frames, %" PRId64 " checkpoints, %" PRId64 " steps%s: ", directory,
        audit->n_frames, audit->n_checkpoints, audit->n_rows,
        audit->ended ? "" : " of a run that has not ended");
  if (audit->n_found == 0) {
    print("nothing is wrong\n");
  } else {
    print("%" PRId64 " findings\n", audit->n_found);
  }
}

static json_t* primitive_to_json(const NoliFinding* finding, int32_t side) {
  json_t* vertices = json_array();
  for (int32_t i = 0; i < finding->defect.n_vert[side]; i++) {
    json_array_append_new(vertices, json_integer(finding->defect.vertex[side][i]));
  }
  return json_pack("{s:s, s:o}", "body", finding->entity[side], "vertices", vertices);
}

static json_t* finding_to_json(const NoliFinding* finding) {
  json_t* object = json_pack("{s:s, s:s, s:o, s:s}", "kind", noli_finding_kind_name(finding->kind),
                             "file", finding->file, "step",
                             finding->step < 0 ? json_null() : json_integer(finding->step),
                             "message", finding->message);
  if (finding->defect.n_vert[0] > 0) {
    const double* at = finding->defect.position;
    json_t* primitives = json_array();
    for (int32_t side = 0; side < 2 && finding->entity[side][0] != '\0'; side++) {
      json_array_append_new(primitives, primitive_to_json(finding, side));
    }
    json_object_set_new(object, "primitives", primitives);
    json_object_set_new(object, "position", json_pack("[f, f, f]", at[0], at[1], at[2]));
  }
  return object;
}

// False if out of memory.
static bool print_json(const NoliRunAudit* audit, const char* directory) {
  json_t* findings = json_array();
  for (int64_t i = 0; i < audit->n_findings; i++) {
    json_array_append_new(findings, finding_to_json(&audit->findings[i]));
  }
  json_t* root = json_pack("{s:s, s:s*, s:b, s:b, s:I, s:I, s:I, s:I, s:o}", "noli", noli_version(),
                           "directory", directory, "clean", audit->n_found == 0, "ended",
                           audit->ended, "frames", (json_int_t)audit->n_frames, "checkpoints",
                           (json_int_t)audit->n_checkpoints, "steps", (json_int_t)audit->n_rows,
                           "found", (json_int_t)audit->n_found, "findings", findings);
  char* text = json_dumps(root, JSON_INDENT(2));
  if (text != NULL) {
    print("%s\n", text);
  }
  bool printed = text != NULL;
  free(text);
  json_decref(root);
  return printed;
}

static int audit(const Arguments* arguments) {
  const OptionValue* option = arguments->option;
  const char* directory = arguments->argument[0];
  Console console = {0};
  NoliRunAudit found;
  NoliContext* context = console_context(&console, (int32_t)option[AUDIT_THREADS].integer);
  if (context == NULL) {
    return EXIT_SYSTEM;
  }
  NoliStatus status = noli_run_audit(context, directory, &found);
  int exit_status = EXIT_SYSTEM;
  if (status != NOLI_OK) {
    exit_status = console_fail(&console, context, status);
  } else {
    exit_status = found.n_found > 0 ? EXIT_SOLVER : EXIT_DONE;
    if (!option[AUDIT_JSON].given) {
      print_text(&found, directory, option[AUDIT_ALL].given);
    } else if (!print_json(&found, directory)) {
      console_say(&console, NOLI_LOG_ERROR, "out of memory");
      exit_status = EXIT_SYSTEM;
    }
    noli_run_audit_free(context, &found);
  }

  noli_context_destroy(&context);
  return exit_status;
}

const Command command_audit = {
    .name = "audit",
    .usage = "DIR",
    .summary = "Verify the states and files of a run.",
    .details =
        "Tests every frame and checkpoint of a result directory exactly for intersections,\n"
        "bodies inside bodies, vertices below half-spaces and inverted elements, and checks\n"
        "that the files agree on steps, times, mass, momentum, energy and forces. Exits with\n"
        "status 3 if it finds a defect, 2 if DIR is not a result or its scene cannot be\n"
        "rebuilt.",
    .n_arguments = 1,
    .options = audit_options,
    .n_options = N_AUDIT_OPTIONS,
    .run = audit,
};
