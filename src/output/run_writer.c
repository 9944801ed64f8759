#include "output/run_writer.h"

#include "base/numbers.h"
#include "base/profile.h"
#include "base/ranks.h"
#include "base/sized.h"
#include "base/timer.h"
#include "define/definition.h"
#include "output/file.h"
#include "output/run_files.h"
#include "output/summary.h"
#include "scene/movable.h"
#include "step/rank_contacts.h"
#include "step/simulation.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The first rank has the clock.
static NoliStatus checkpoint_is_due(const NoliRun* run, int64_t step, bool* due) {
  NoliStatus status = NOLI_OK;
  *due = run->checkpoint_steps > 0 && step % run->checkpoint_steps == 0;
  if (!*due && run->checkpoint_seconds >= 0.0) {
    *due = noli_seconds() - run->checkpoint_at >= run->checkpoint_seconds;
    NOLI_TRY(noli_ranks_broadcast(run->context, 0, sizeof *due, due, 1));
  }
done:
  return status;
}

// Frames and histories are those of the simulation with which the run was opened.
static NoliStatus require_own(const NoliRun* run, const NoliSim* sim, const char* function) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_sim_require_idle(sim, function, true));
  NOLI_CHECK(run->context, sim == run->sim, NOLI_ERROR_ARGUMENT,
             "%s: %s was opened for another simulation", function, run->directory);
  NOLI_CHECK(run->context, sim->host.n_body_changes == run->n_body_changes, NOLI_ERROR_ARGUMENT,
             "%s: bodies were added or removed since %s was opened; open another run", function,
             run->directory);
done:
  return status;
}

// Every step has one row in each history: none is repeated, none is left out.
static NoliStatus run_writer_take_step(NoliRun* run, const NoliStepReport* report) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(run->context, report != NULL, NOLI_ERROR_ARGUMENT,
             "noli_run_step: the simulation has not just done a step");
  NOLI_CHECK(run->context, report->step == run->step + 1, NOLI_ERROR_ARGUMENT,
             "noli_run_step: step %lld of the simulation does not follow step %lld, the last one "
             "of %s; record each step once, in order",
             (long long)report->step, (long long)run->step, run->directory);
  run->step = report->step;
done:
  return status;
}

static NoliStatus add_step(NoliRun* run, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  bool due = false;
  // what the library reported: a program with older headers knows less
  const NoliStepReport* report = noli_sim_last_report(sim);
  NOLI_TRY(require_own(run, sim, "noli_run_step"));
  NOLI_TRY(run_writer_take_step(run, report));
  const NoliHistorySource source = {sim, &run->probes};
  for (int32_t i = 0; i < NOLI_N_HISTORIES; i++) {
    NOLI_TRY(noli_histories[i].append(&run->history[i], &source, report));
  }
  noli_summary_add_step(&run->summary, report);
  if (report->step % run->frame_interval == 0) {
    NOLI_TRY(noli_run_write_frame(run, sim));
  }
  NOLI_TRY(checkpoint_is_due(run, report->step, &due));
  if (due) {
    NOLI_TRY(noli_run_write_summary_and_checkpoint(run, sim));
  }
done:
  return status;
}

// A directory that was removed while a file was written is why that failed: the message says so.
static NoliStatus blame_directory(NoliRun* run, NoliStatus status) {
  bool gone = status == NOLI_ERROR_IO && noli_run_require_directory(run) != NOLI_OK;
  return gone ? NOLI_ERROR_IO : status;
}

NoliStatus noli_run_step(NoliRun* run, NoliSim* sim) {
  NOLI_REQUIRE(run != NULL ? run->context : NULL, run != NULL && sim != NULL);
  NoliWork before = noli_work(NOLI_WORK_OUTPUT);
  noli_ranks_begin_outer(run->context);
  NoliStatus status = noli_ranks_end_outer(run->context, blame_directory(run, add_step(run, sim)));
  noli_work(before);
  return status;
}

// Appends the causes that held a failed step back, once.
static NoliStatus append_failed_step(NoliRun* run, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  const NoliHistorySource source = {sim, &run->probes};
  if (sim->outcome.failed && run->failed_step != noli_sim_step_count(sim) + 1) {
    run->failed_step = noli_sim_step_count(sim) + 1;
    NOLI_TRY(noli_histories[NOLI_HISTORY_DIAGNOSIS].append(&run->history[NOLI_HISTORY_DIAGNOSIS],
                                                           &source, NULL));
  }
done:
  return status;
}

static NoliStatus save(NoliRun* run, NoliSim* sim, bool finished, const char* failure) {
  NoliStatus status = NOLI_OK;
  NoliWork before = noli_work(NOLI_WORK_OUTPUT);
  NOLI_TRY(require_own(run, sim, "noli_run_save"));
  NOLI_CHECK(run->context, noli_sim_step_count(sim) == run->step, NOLI_ERROR_ARGUMENT,
             "noli_run_save: the simulation is at step %lld, but the last one of %s is %lld; "
             "record each step with noli_run_step",
             (long long)noli_sim_step_count(sim), run->directory, (long long)run->step);
  noli_free(run->context, run->failure);
  run->failure = failure != NULL ? noli_strdup(run->context, failure) : NULL;
  run->summary.failure = run->failure;
  run->summary.finished = finished;
  NOLI_TRY(append_failed_step(run, sim));
  if (!noli_run_has_frame(run, noli_sim_step_count(sim))) {
    NOLI_TRY(noli_run_write_frame(run, sim));
  }
  NOLI_TRY(noli_run_write_summary_and_checkpoint(run, sim));
done:
  noli_work(before);
  return status;
}

static double ratio(double most, double mean) {
  return mean > 0.0 ? most / mean : 1.0;
}

// How many contacts the last step has, how many of them between elements of different ranks, and
// how many on another rank than their home.
static NoliStatus log_rank_contacts(NoliRun* run, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  char line[192];
  NoliRankContacts contacts;
  NOLI_TRY(noli_sim_rank_contacts(sim, &contacts));
  snprintf(line, sizeof line,
           "contacts of the last step: %lld, of them between elements of different ranks: %lld, "
           "away from home: %lld",
           (long long)contacts.n, (long long)contacts.n_between, (long long)contacts.n_away);
  noli_run_log(run, NOLI_LOG_INFO, line);
done:
  return status;
}

// Logs how much the first rank has sent to others, without what PETSc sends, how evenly ranks
// worked, and which contacts concern several of them.
static NoliStatus log_ranks(NoliRun* run, NoliSim* sim, const char* failure) {
  NoliStatus status = NOLI_OK;
  const NoliRanks* ranks = run->context->def.ranks;
  char line[256];
  NoliRanksLoad load;
  if (noli_rank_count(run->context) == 1) {
    goto done;
  }
  snprintf(line, sizeof line, "%lld exchanges between ranks, %.3f MB sent by the first one",
           (long long)ranks->exchanges, (double)ranks->bytes_sent * 1e-6);
  noli_run_log(run, NOLI_LOG_INFO, line);
  NOLI_TRY(noli_ranks_load(run->context, &load));
  snprintf(line, sizeof line,
           "load of ranks: %.3g s of processor time besides waiting on average, %.2f times that on "
           "rank %d; %.3g blocks of stencils evaluated, at most %.2f times the average",
           load.seconds, ratio(load.most_seconds, load.seconds), load.busiest, load.work,
           ratio(load.most_work, load.work));
  noli_run_log(run, NOLI_LOG_INFO, line);
  if (failure == NULL) {
    NOLI_TRY(log_rank_contacts(run, sim));
  }
done:
  return status;
}

NoliStatus noli_run_save(NoliRun* run, NoliSim* sim, bool finished, const char* failure) {
  NOLI_REQUIRE(run != NULL ? run->context : NULL, run != NULL && sim != NULL);
  noli_ranks_begin_outer(run->context);
  NoliStatus status = log_ranks(run, sim, failure);
  status = status == NOLI_OK ? save(run, sim, finished, failure) : status;
  return noli_ranks_end_outer(run->context, status);
}

// ---- opening ----

void noli_run_def_init(NoliRunDef* def, size_t size) {
  NoliRunDef own = {.frame_interval = 1, .checkpoint_seconds = 300.0};
  noli_sized_default(def, size, &own, sizeof own);
}

static NoliStatus take_def(NoliContext* context, const NoliRunDef* given, NoliRunDef* own) {
  return noli_sized_take(context, "the definition of the run", "noli_default_run_def", given, own,
                         sizeof *own);
}

// Fields that the scene asks for, and the plastic strain where something yields.
static NoliStatus add_fields(NoliContext* context, const NoliRunDef* def, const NoliSim* sim,
                             NoliFrameLayout* layout, bool has_cells) {
  NoliStatus status = NOLI_OK;
  static const char plastic[] = "plastic_strain";
  const NoliProblem* problem = &sim->model->problem;
  const char** name = NULL;
  bool add = false;
  int32_t n = def->n_fields;
  for (int32_t i = 0; has_cells && i < problem->n_block; i++) {
    add = add || noli_block_yields(&problem->block[i]);
  }
  NOLI_NEW(context, name, n + 1);
  for (int32_t i = 0; i < n; i++) {
    name[i] = def->fields[i];
    add = add && (name[i] == NULL || strcmp(name[i], plastic) != 0);
  }
  name[n] = plastic;
  NOLI_TRY(noli_frame_layout_add(context, layout, add ? n + 1 : n, name));
done:
  noli_free(context, (void*)name);
  return status;
}

static NoliStatus create_run(NoliContext* context, const NoliRunDef* def, NoliSim* sim,
                             NoliRun** run) {
  NoliStatus status = NOLI_OK;
  NoliRun* made = NULL;
  NoliSimDef* sim_def = NULL;

  NOLI_TRY(noli_numbers_check(context, "a run: ", NOLI_NUMBERS_RUN, def));
  NOLI_CHECK(context,
             def->directory != NULL && def->scene_name != NULL && def->scene_json != NULL &&
                 (def->files != NULL || def->n_files == 0) &&
                 (def->fields != NULL || def->n_fields == 0),
             NOLI_ERROR_ARGUMENT,
             "a run needs a directory, the name, text and files of its scene, and the names of "
             "its fields");
  const NoliFrameFormat* format = noli_frame_format_find(def->frame_format);
  NOLI_CHECK(context, format != NULL, NOLI_ERROR_ARGUMENT, "unknown frame format \"%s\"",
             def->frame_format);
  NOLI_CHECK(context, def->probes != NULL || def->n_probes == 0, NOLI_ERROR_ARGUMENT,
             "there are %d probes, but no array of them", (int)def->n_probes);
  NOLI_CHECK(context, format->has_cells || def->n_fields == 0, NOLI_ERROR_ARGUMENT,
             "frames of the format \"%s\" have no fields; "
             "\"vtu\" has those of output.fields",
             format->name);

  // copy it
  NOLI_NEW_ZERO(context, made, 1);
  made->context = context;
  made->sim = sim;
  made->n_body_changes = sim->host.n_body_changes;
  made->log = -1;
  made->frames.format = format;
  made->checkpoint_step = -1;
  made->opened_at = noli_seconds();
  made->checkpoint_at = made->opened_at;
  made->frame_interval = def->frame_interval;
  made->checkpoint_seconds = def->checkpoint_seconds;
  made->checkpoint_steps = def->checkpoint_steps;
  made->directory = noli_strdup(context, def->directory);
  made->scene_name = noli_strdup(context, def->scene_name);
  if (made->directory == NULL || made->scene_name == NULL) {
    status = NOLI_ERROR_MEMORY;
    goto done;
  }

  // what is written with every checkpoint and frame
  if (def->sim_def != NULL) {
    NOLI_TRY(noli_definition_take(context, def->sim_def, &sim_def));
  }
  NOLI_TRY(noli_frame_layout_create(context, sim, sim_def, &made->layout));
  NOLI_TRY(add_fields(context, def, sim, &made->layout, format->has_cells));
  if (!noli_frame_is_written(context, format)) {
    noli_frame_layout_free_lists(context, &made->layout);
  }
  NOLI_TRY(noli_probes_create(context, sim, def->n_probes, def->probes, &made->probes));
done:
  noli_definition_free(context, &sim_def);
  if (status != NOLI_OK) {
    noli_run_close(&made);
  }
  *run = made;
  return status;
}

// Opens a history: a new one (last_step < 0), or that of the run up to a step.
static NoliStatus open_history(NoliRun* run, const NoliHistoryType* type, const char* header,
                               int64_t last_step, NoliCsv* csv) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(noli_run_path(run, type->file, &path));
  if (last_step >= 0 && type->may_begin_late && !noli_file_exists(path)) {
    noli_log(run->context, NOLI_LOG_WARNING, "%s: begins after step %lld", path,
             (long long)last_step);
    last_step = -1;
  }
  NOLI_TRY(last_step < 0 ? noli_csv_create(run->context, path, header, csv)
                         : noli_csv_reopen(run->context, path, header, last_step, csv));
done:
  noli_free(run->context, path);
  return status;
}

// A history that a resumed run no longer has, such as that of probes, ends at its first step.
static NoliStatus end_history(NoliRun* run, const NoliHistoryType* type, int64_t last_step) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(noli_run_path(run, type->file, &path));
  if (noli_file_exists(path)) {
    NOLI_TRY(noli_csv_cut(run->context, path, last_step));
  }
done:
  noli_free(run->context, path);
  return status;
}

// Opens all histories: new ones (last_step < 0), or those of the run up to a step.
static NoliStatus open_histories(NoliRun* run, NoliSim* sim, int64_t last_step) {
  NoliStatus status = NOLI_OK;
  char* header = NULL;
  const NoliHistorySource source = {sim, &run->probes};
  for (int32_t i = 0; i < NOLI_N_HISTORIES; i++) {
    const NoliHistoryType* type = &noli_histories[i];
    NOLI_TRY(type->make_header(run->context, &source, &header));
    if (header != NULL) {
      NOLI_TRY(open_history(run, type, header, last_step, &run->history[i]));
      noli_free(run->context, header);
      header = NULL;
    } else if (last_step >= 0) {
      NOLI_TRY(end_history(run, type, last_step));
    }
  }
done:
  noli_free(run->context, header);
  return status;
}

static NoliStatus start_files(NoliRun* run, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_run_remove_files(run));
  run->step = noli_sim_step_count(sim);
  NOLI_TRY(noli_run_begin_log(run, true));
  NOLI_TRY(noli_run_write_text(run, "scene.json", run->scene_json));
  NOLI_TRY(open_histories(run, sim, -1));
  run->summary = noli_summary_begin(run->context, sim, run->scene_name);
  NOLI_TRY(noli_run_write_frame(run, sim));
  NOLI_TRY(noli_run_write_summary_and_checkpoint(run, sim));
done:
  return status;
}

bool noli_run_can_be_resumed(NoliRun* run) {
  return run != NULL && noli_run_require_directory(run) == NOLI_OK && noli_run_has_checkpoint(run);
}

// The step of the checkpoint; -1 where it cannot be read. A failure leaves no message.
static int64_t checkpoint_step(NoliContext* context, const char* directory) {
  char* path = NULL;
  NoliCheckpointInfo info = {.step = -1};
  if (noli_file_join(context, directory, "checkpoint.h5", &path) != NOLI_OK ||
      noli_checkpoint_info(context, path, &info) != NOLI_OK) {
    info.step = -1;
  }
  noli_checkpoint_info_free(context, &info);
  noli_free(context, path);
  return info.step;
}

static bool is_finished(NoliContext* context, const char* directory) {
  char *path = NULL, *text = NULL;
  size_t size = 0;
  bool finished = noli_file_join(context, directory, "summary.json", &path) == NOLI_OK &&
                  noli_file_read(context, path, &text, &size) == NOLI_OK &&
                  noli_summary_is_finished(context, text);
  noli_free(context, path);
  noli_free(context, text);
  return finished;
}

int64_t noli_run_finished_steps(NoliContext* context, const char* directory) {
  // the summary is written before the checkpoint that ends a run
  return context != NULL && directory != NULL && is_finished(context, directory)
             ? checkpoint_step(context, directory)
             : -1;
}

// Whether the history has a row, or is lost.
static NoliStatus has_steps(NoliRun* run, bool* any) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(noli_run_path(run, "steps.csv", &path));
  FILE* file = fopen(path, "rb");
  int c = '\n';
  if (file != NULL) {
    for (c = fgetc(file); c != '\n' && c != EOF; c = fgetc(file)) {
    }
    c = c == EOF ? EOF : fgetc(file);
    fclose(file);
  }
  *any = c != EOF;
done:
  noli_free(run->context, path);
  return status;
}

// The results of an unfinished run are not thrown away because their folder is named once more.
static NoliStatus refuse_unfinished(NoliRun* run) {
  NoliStatus status = NOLI_OK;
  bool any = false;
  NOLI_TRY(has_steps(run, &any));
  if (!any || !noli_run_has_checkpoint(run) ||
      noli_run_finished_steps(run->context, run->directory) >= 0) {
    goto done;
  }
  status = noli_fail(run->context, NOLI_ERROR_IO,
                     "%s: holds an unfinished run; to resume it: noli resume %s; to "
                     "replace it: noli run --force",
                     run->directory, run->directory);
done:
  return status;
}

// Takes the directory, on the rank that writes into it.
static NoliStatus take_directory(NoliContext* context, NoliRun* run, bool replace_unfinished) {
  NoliStatus status = NOLI_OK;
  bool ours = false;
  if (!noli_rank_writes(context)) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_file_make_directory(context, run->directory));
  NOLI_TRY(noli_run_has_log(run, &ours));
  if (!ours) {
    NOLI_TRY(noli_run_refuse_files(run));
  }
  NOLI_TRY(noli_run_open_log(run));
  if (ours && !replace_unfinished) {
    NOLI_TRY(refuse_unfinished(run));
  }
done:
  return status;
}

// The scene as the run writes it, and its files, as seen from the directory, which is there now.
static NoliStatus take_scene(NoliRun* run, const NoliRunDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(
      noli_run_files_text(run->context, run->directory, def->files, def->n_files, &run->files));
  NOLI_TRY(noli_scene_movable_text(run->context, def->scene_json, run->directory, def->files,
                                   def->n_files, &run->scene_json));
done:
  return status;
}

static NoliStatus continue_files(NoliRun* run, NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  char* summary = NULL;
  int64_t step = run->step = noli_sim_step_count(sim);
  NOLI_TRY(noli_run_begin_log(run, false));
  NOLI_TRY(noli_run_drop_later_frames(run, step));
  NOLI_TRY(open_histories(run, sim, step));
  // not finished any more, even if it is killed before its next checkpoint
  NOLI_TRY(noli_run_write_summary(run, &summary));
done:
  noli_free(run->context, summary);
  return status;
}

// Takes the directory of a run, on the rank that writes into it.
static NoliStatus retake_directory(NoliContext* context, NoliRun* run) {
  NoliStatus status = NOLI_OK;
  bool ours = false;
  if (!noli_rank_writes(context)) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_run_has_log(run, &ours));
  NOLI_CHECK(
      context, ours, NOLI_ERROR_IO,
      "%s: no run to resume: it has no log.txt of Noli; to start a run: noli run SCENE -o DIR",
      run->directory);
  NOLI_TRY(noli_run_open_log(run));
done:
  return status;
}

// A new run, or one that is resumed from its last checkpoint.
static NoliStatus open_run(NoliContext* context, const NoliRunDef* given, bool resumed,
                           NoliSim* sim, NoliRun** run) {
  NoliStatus status = NOLI_OK;
  NoliRunDef own = noli_default_run_def();
  const NoliRunDef* def = &own;
  *run = NULL;
  noli_ranks_begin_outer(context);
  NOLI_TRY(take_def(context, given, &own));
  NOLI_TRY(create_run(context, def, sim, run));
  NOLI_TRY(noli_ranks_join(context, resumed
                                        ? retake_directory(context, *run)
                                        : take_directory(context, *run, def->replace_unfinished)));
  NOLI_TRY(take_scene(*run, def));
  if (resumed) {
    NOLI_TRY(noli_run_restore(*run, def, sim));
    NOLI_TRY(noli_ranks_join(context, NOLI_OK)); // all have read before the first one writes
  }
  NOLI_TRY(resumed ? continue_files(*run, sim) : start_files(*run, sim));
done:
  status = noli_ranks_end_outer(context, status);
  if (status != NOLI_OK) {
    noli_run_close(run);
  }
  return status;
}

NoliStatus noli_run_open(NoliContext* context, const NoliRunDef* given, NoliSim* sim,
                         NoliRun** run) {
  NOLI_REQUIRE(context, context != NULL && given != NULL && sim != NULL && run != NULL);
  return open_run(context, given, false, sim, run);
}

NoliStatus noli_run_reopen(NoliContext* context, const NoliRunDef* given, NoliSim* sim,
                           NoliRun** run) {
  NOLI_REQUIRE(context, context != NULL && given != NULL && sim != NULL && run != NULL);
  return open_run(context, given, true, sim, run);
}

const char* noli_run_directory(const NoliRun* run) {
  return run != NULL ? run->directory : "";
}

bool noli_run_has_other_scene(const NoliRun* run) {
  return run != NULL && run->has_other_scene;
}

const char* noli_run_list_name(const NoliRun* run) {
  return run != NULL ? run->frames.format->list.name : "";
}

const NoliSummary* noli_run_summary(const NoliRun* run) {
  return run != NULL ? &run->summary : NULL;
}

void noli_run_close(NoliRun** run) {
  if (run == NULL || *run == NULL) {
    return;
  }
  NoliContext* context = (*run)->context;
  for (int32_t i = 0; i < NOLI_N_HISTORIES; i++) {
    noli_csv_close(&(*run)->history[i]);
  }
  noli_frame_list_free(context, &(*run)->frames);
  noli_frame_layout_free(context, &(*run)->layout);
  noli_probes_free(context, &(*run)->probes);
  if ((*run)->log >= 0) {
    close((*run)->log);
  }
  noli_free(context, (*run)->directory);
  noli_free(context, (*run)->scene_name);
  noli_free(context, (*run)->scene_json);
  noli_free(context, (*run)->files);
  noli_free(context, (*run)->failure);
  noli_free(context, *run);
  *run = NULL;
}
