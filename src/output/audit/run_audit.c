#include "noli/audit.h"

#include "base/sized.h"
#include "output/audit/audit_totals.h"
#include "output/audit/audit_frames.h"
#include "output/audit/audit_histories.h"
#include "output/file.h"
#include "text/json.h"

#include <jansson.h>

const char* noli_finding_kind_name(NoliFindingKind kind) {
  static const char* const names[] = {"intersection", "half_space", "inverted", "not_finite",
                                      "file",         "time",       "balance",  "nested"};
  return kind >= 0 && (size_t)kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

// ---- checkpoints ----

static NoliStatus verify_checkpoint(NoliAuditor* auditor, const char* name, bool required) {
  NoliStatus status = NOLI_OK;
  const NoliSim* sim = auditor->run.sim;
  char* path = NULL;
  NOLI_TRY(noli_file_join(auditor->context, auditor->run.directory, name, &path));
  if (!noli_file_exists(path)) {
    if (required) {
      NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_FILE, name, -1, "%s: missing", name));
    }
    goto done;
  }

  // a checkpoint that can be loaded has passed its checksum and hash
  status = noli_checkpoint_load(auditor->context, auditor->run.sim, path);
  if (status != NOLI_OK) {
    status = noli_auditor_excuse(auditor, status, name, -1);
    goto done;
  }

  // step and time belong to the history
  int64_t step = noli_sim_step_count(sim);
  double time = noli_sim_time(sim);
  if (step < 0 || step > auditor->audit->n_rows) {
    NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_TIME, name, step,
                               "%s: step %lld is not in steps.csv, which ends with %lld", name,
                               (long long)step, (long long)auditor->audit->n_rows));
  } else if (step <= auditor->n_rows) {
    double want = step > 0 ? noli_auditor_value(auditor, step, NOLI_AUDIT_time) : 0.0;
    if (time != want) {
      NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_TIME, name, step,
                                 "%s: its time is %.17g s, that of step %lld is %.17g s", name,
                                 time, (long long)step, want));
    }
  }

  // the state itself
  NOLI_TRY(noli_auditor_check_positions(auditor, name, step, noli_sim_positions(sim)));
  NOLI_TRY(noli_auditor_check_motion(auditor, name, step, noli_sim_positions(sim),
                                     noli_sim_velocities(sim), true, 0.0));
  auditor->audit->n_checkpoints++;
done:
  noli_free(auditor->context, path);
  return status;
}

// ---- the summary ----

static NoliStatus verify_summary(NoliAuditor* auditor) {
  NoliStatus status = NOLI_OK;
  const char* name = "summary.json";
  char *path = NULL, *text = NULL;
  size_t size;
  json_error_t error;
  json_t* root = NULL;

  // read it
  NOLI_TRY(noli_file_join(auditor->context, auditor->run.directory, name, &path));
  if (!noli_file_exists(path)) {
    NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_FILE, name, -1, "%s: missing", name));
    goto done;
  }
  NOLI_TRY(noli_file_read(auditor->context, path, &text, &size));
  NOLI_TRY(noli_scene_read_json(auditor->context, text, size, 0, &root, &error));
  const json_t* steps = json_object_get(root, "steps");
  if (!json_is_integer(steps)) {
    NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_FILE, name, -1,
                               "%s: damaged: there is no number of steps", name));
    goto done;
  }

  // compare its number of steps with the history
  int64_t n = (int64_t)json_integer_value(steps), n_rows = auditor->audit->n_rows;
  bool finished = json_is_true(json_object_get(root, "finished"));
  bool failed = json_is_string(json_object_get(root, "failure"));
  auditor->audit->ended = n == n_rows && (finished || failed);
  if (n > n_rows || (finished && n != n_rows)) {
    NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_TIME, name, -1,
                               "%s: %lld steps, in steps.csv %lld", name, (long long)n,
                               (long long)n_rows));
  }
done:
  json_decref(root);
  noli_free(auditor->context, text);
  noli_free(auditor->context, path);
  return status;
}

// ---- the run ----

NoliStatus noli_run_audit_sized(NoliContext* context, const char* directory, NoliRunAudit* audit,
                                size_t size) {
  NOLI_REQUIRE(context, context != NULL && directory != NULL && audit != NULL);
  NoliStatus status = NOLI_OK;
  NoliRunAudit own = {0};
  NoliAuditor auditor = {
      .context = context, .audit = &own, .run = {.context = context, .directory = directory}};

  NOLI_TRY(noli_run_reader_open(&auditor.run));
  NOLI_TRY(noli_auditor_check_masses(&auditor));
  NOLI_TRY(noli_auditor_read_histories(&auditor));
  NOLI_TRY(noli_auditor_check_free_steps(&auditor));
  NOLI_TRY(verify_summary(&auditor));
  NOLI_TRY(noli_auditor_check_frames(&auditor));
  NOLI_TRY(verify_checkpoint(&auditor, "checkpoint.h5", true));
  NOLI_TRY(verify_checkpoint(&auditor, "checkpoint_previous.h5", false));
done:
  noli_free(context, auditor.row);
  noli_free(context, auditor.substeps);
  noli_array_free(context, &auditor.forces);
  noli_run_reader_close(&auditor.run);
  if (status != NOLI_OK) {
    noli_run_audit_free(context, &own);
  }
  noli_sized_give(audit, size, &own, sizeof own);
  return status;
}

void noli_run_audit_free(NoliContext* context, NoliRunAudit* audit) {
  if (audit != NULL) {
    noli_free(context, audit->findings);
    audit->findings = NULL;
    audit->n_findings = audit->n_found = 0;
  }
}
