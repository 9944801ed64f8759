#include "import/ipc/script.h"

#include "noli/extend.h"
#include "import/ipc/reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Keyword Keyword;

// ---- what surrounds the shapes ------------------------------------------------------------------

static NoliStatus read_ground(NoliIpcReader* reader) {
  NoliStatus status = NOLI_OK;
  double values[2];
  NOLI_TRY(noli_ipc_read_numbers(reader, reader->keyword, 2, values));
  NOLI_PUSH(reader->source->context, &reader->script->half_spaces,
            ((NoliIpcHalfSpace){.line = reader->line,
                                .origin = {0, values[1], 0},
                                .normal = {0, 1, 0},
                                .friction = values[0],
                                .ground = true}));
done:
  return status;
}

static NoliStatus read_half_space(NoliIpcReader* reader) {
  NoliStatus status = NOLI_OK;
  double v[8]; // the seventh, a stiffness, has no meaning in the original either
  NOLI_TRY(noli_ipc_read_numbers(reader, reader->keyword, 8, v));
  NOLI_PUSH(reader->source->context, &reader->script->half_spaces,
            ((NoliIpcHalfSpace){.line = reader->line,
                                .origin = {v[0], v[1], v[2]},
                                .normal = {v[3], v[4], v[5]},
                                .friction = v[7]}));
done:
  return status;
}

static NoliStatus read_still(NoliIpcReader* reader) {
  NoliStatus status = NOLI_OK;
  NoliIpcStill still = {.line = reader->line};
  double v[6]; // the fifth, a stiffness, has no meaning in the original either
  NOLI_TRY(noli_ipc_read_word(reader, "the path", &still.path));
  NOLI_TRY(noli_ipc_read_numbers(reader, reader->keyword, 6, v));
  memcpy(still.origin, v, sizeof still.origin);
  still.size = v[3];
  still.friction = v[5];
  if (noli_span_is(noli_ipc_peek_word(reader), "rotate")) {
    noli_ipc_next_word(reader);
    NOLI_TRY(noli_ipc_read_numbers(reader, "meshCO: rotate", 3, still.rotate));
  }
  NOLI_PUSH(reader->source->context, &reader->script->stills, still);
done:
  return status;
}

// ---- settings -----------------------------------------------------------------------------------

// One of two words: `*second` tells which.
static NoliStatus read_choice(NoliIpcReader* reader, const char* a, const char* b, bool* second) {
  NoliStatus status = NOLI_OK;
  NoliSpan word;
  NOLI_TRY(noli_ipc_read_word(reader, "a word", &word));
  *second = noli_span_is(word, b);
  NOLI_IPC_CHECK(reader->source, reader->line, *second || noli_span_is(word, a),
                 "%s: must be \"%s\" or \"%s\", got %s", reader->keyword, a, b,
                 noli_show(word).text);
done:
  return status;
}

static NoliStatus read_energy(NoliIpcReader* reader) {
  return read_choice(reader, "NH", "FCR", &reader->script->fixed_corotated);
}

static NoliStatus read_integration(NoliIpcReader* reader) {
  NoliStatus status = NOLI_OK;
  double* newmark = reader->script->newmark;
  NOLI_TRY(read_choice(reader, "BE", "NM", &reader->script->trapezoidal));
  if (reader->script->trapezoidal && noli_ipc_starts_number(noli_ipc_peek_word(reader))) {
    NOLI_TRY(noli_ipc_read_numbers(reader, reader->keyword, 2, newmark));
  }
  NOLI_IPC_CHECK(reader->source, reader->line, newmark[0] == 0.25 && newmark[1] == 0.5,
                 "%s: of Newmark's rules only 0.25 0.5 is supported, got %g %g", reader->keyword,
                 newmark[0], newmark[1]);
done:
  return status;
}

static NoliStatus read_tolerances(NoliIpcReader* reader) {
  enum { MOST = 10000 };
  NoliStatus status = NOLI_OK;
  double* values = NULL;
  int64_t n = 0;
  NOLI_NEW(reader->source->context, values, MOST);
  NOLI_TRY(noli_ipc_read_list(reader, values, MOST, &n));
  for (int64_t i = 0; i < n; i++) {
    NOLI_IPC_CHECK(reader->source, reader->line, values[i] > 0.0, "tol: must be > 0, got %g",
                   values[i]);
    NOLI_IPC_CHECK(reader->source, reader->line, values[i] == values[0],
                   "tol: a tolerance that changes from step to step is not supported");
    reader->script->tolerance = values[i];
  }
done:
  noli_free(reader->source->context, values);
  return status;
}

static NoliStatus read_tuning(NoliIpcReader* reader) {
  int64_t n = 0;
  reader->script->tuning_line = reader->line;
  return noli_ipc_read_list(reader, reader->script->tuning, NOLI_IPC_TUNING, &n);
}

static NoliStatus read_pair_of_tuning(NoliIpcReader* reader, int first) {
  NoliStatus status = NOLI_OK;
  double* tuning = reader->script->tuning;
  reader->script->tuning_line = reader->line;
  NOLI_TRY(noli_ipc_read_numbers(reader, reader->keyword, 1, &tuning[first]));
  tuning[first + 1] = tuning[first];
done:
  return status;
}

static NoliStatus read_distance(NoliIpcReader* reader) {
  return read_pair_of_tuning(reader, 1);
}

static NoliStatus read_slip(NoliIpcReader* reader) {
  return read_pair_of_tuning(reader, 4);
}

static NoliStatus read_motion_name(NoliIpcReader* reader) {
  NoliStatus status = NOLI_OK;
  NoliIpcScript* script = reader->script;
  script->motion_line = reader->line;
  NOLI_TRY(noli_ipc_read_word(reader, "the name", &script->motion));
  if (noli_span_is(script->motion, "meshSeqFromFile")) {
    NOLI_TRY(noli_ipc_read_word(reader, "the folder", &script->motion_folder));
  }
  script->parameters.count = 0;
  int64_t n = 0;
  if (noli_ipc_starts_number(noli_ipc_peek_word(reader))) {
    NOLI_TRY(noli_ipc_read_count(reader, reader->keyword, 0, &n));
  }
  for (int64_t i = 0; i < n; i++) {
    double value;
    NOLI_TRY(noli_ipc_read_numbers(reader, reader->keyword, 1, &value));
    NOLI_PUSH(reader->source->context, &script->parameters, value);
  }
done:
  return status;
}

// The problem does not depend on the solver that is named; only settings of the barrier solver
// count, also in sections.
static NoliStatus read_solver(NoliIpcReader* reader) {
  NoliStatus status = NOLI_OK;
  NoliSpan word;
  NOLI_TRY(noli_ipc_read_word(reader, "the solver", &word));
  bool barrier = noli_span_is(word, "IP") || noli_span_is(word, "interiorPoint");
  NOLI_IPC_CHECK(reader->source, reader->line,
                 barrier || noli_span_is(word, "QP") || noli_span_is(word, "SQP"),
                 "%s: must be \"interiorPoint\", \"IP\", \"QP\" or \"SQP\", got %s",
                 reader->keyword, noli_show(word).text);
  if (!barrier) {
    noli_ipc_log(reader->source, reader->line, NOLI_LOG_WARNING,
                 "%s: %s is not supported; the interior point solver is used in its place",
                 reader->keyword, noli_show(word).text);
  }
done:
  return status;
}

// Skips to behind `section end`.
static void skip_section(NoliIpcReader* reader) {
  for (;;) {
    noli_skip_line(&reader->cursor);
    noli_ipc_count_lines(reader);
    if (reader->cursor.at >= reader->cursor.end) {
      noli_ipc_log(reader->source, reader->line, NOLI_LOG_WARNING,
                   "section: the text ends before \"section end\"");
      return;
    }
    if (noli_span_is(noli_ipc_next_word(reader), "section") &&
        noli_span_is(noli_ipc_next_word(reader), "end")) {
      return;
    }
  }
}

static NoliStatus ipc_script_read_section(NoliIpcReader* reader) {
  for (NoliSpan word; (word = noli_ipc_next_word(reader)).n > 0;) {
    if (noli_span_is(word, "IP") || noli_span_is(word, "interiorPoint") ||
        noli_span_is(word, "end")) {
      return NOLI_OK;
    }
  }
  noli_ipc_log(reader->source, reader->line, NOLI_LOG_INFO,
               "section: skipped, it is for other solvers");
  skip_section(reader);
  return NOLI_OK;
}

// ---- keywords -----------------------------------------------------------------------------------

typedef NoliStatus ReadFn(NoliIpcReader* reader);

struct Keyword {
  const char* name;
  enum { NUMBERS, FLAG, UNFLAG, CALL, LIST, UNUSED, REFUSED } kind;
  int n;               // of NUMBERS
  size_t offset;       // of the values in NoliIpcScript
  ReadFn* read;        // of CALL and LIST; a list may end in the middle of a line
  const char* message; // of REFUSED
};

#define INTO(member) .offset = offsetof(NoliIpcScript, member)

// clang-format off
static const Keyword keywords[] = {
    {"energy", CALL, .read = read_energy},
    {"timeIntegration", CALL, .read = read_integration},
    {"size", NUMBERS, 1, INTO(size)},
    {"time", NUMBERS, 2, INTO(time)},
    {"density", NUMBERS, 1, INTO(density)},
    {"stiffness", NUMBERS, 2, INTO(stiffness)},
    {"turnOffGravity", FLAG, INTO(no_gravity)},
    {"dampingStiff", NUMBERS, 1, INTO(damping_stiffness)},
    {"dampingRatio", NUMBERS, 1, INTO(damping_ratio)},
    {"script", CALL, .read = read_motion_name},
    {"DBCTimeRange", NUMBERS, 2, INTO(region_time)},
    {"NBCTimeRange", NUMBERS, 2, INTO(load_time)},
    {"shape", CALL, .read = noli_ipc_read_one_path},
    {"shapes", CALL, .read = noli_ipc_read_shapes},
    {"shapeMatrix", CALL, .read = noli_ipc_read_shape_matrix},
    {"rotateModel", NUMBERS, 4, INTO(rotate_model)},
    {"handleRatio", NUMBERS, 1, INTO(handle_ratio)},
    {"ground", CALL, .read = read_ground},
    {"halfSpace", CALL, .read = read_half_space},
    {"meshCO", CALL, .read = read_still},
    {"selfCollisionOn", UNFLAG, INTO(no_self_contact)},
    {"selfCollisionOff", FLAG, INTO(no_self_contact)},
    {"selfFric", NUMBERS, 1, INTO(self_friction)},
    {"fricIterAmt", NUMBERS, 1, INTO(friction_iterations)},
    {"tol", LIST, .read = read_tolerances},
    {"tuning", LIST, .read = read_tuning},
    {"dHat", CALL, .read = read_distance},
    {"epsv", CALL, .read = read_slip},
    {"useAbsParameters", FLAG, INTO(absolute)},
    {"constraintSolver", CALL, .read = read_solver},
    {"section", CALL, .read = ipc_script_read_section},
    {"restart", REFUSED, .message = "a state of the original program cannot be read"},
    {"linearSolver", .kind = UNUSED}, {"linSysSolver", .kind = UNUSED}, {"warmStart", .kind = UNUSED},
    {"CCDMethod", .kind = UNUSED}, {"ccdMethod", .kind = UNUSED}, {"CCDTolerance", .kind = UNUSED},
    {"ccdTolerance", .kind = UNUSED}, {"kappaMinMultiplier", .kind = UNUSED},
    {"minBarrierStiffnessScale", .kind = UNUSED}, {"constraintType", .kind = UNUSED}, {"constraintOffset", .kind = UNUSED},
    {"QPSolver", .kind = UNUSED}, {"useActiveSetConvergence", .kind = UNUSED}, {"noActiveSetConvergence", .kind = UNUSED},
    {"disableCout", .kind = UNUSED}, {"appendStr", .kind = UNUSED}, {"view", .kind = UNUSED}, {"zoom", .kind = UNUSED},
    {"cameraTracking", .kind = UNUSED}, {"playBackSpeed", .kind = UNUSED}, {"timeStepper", .kind = UNUSED},
    {"resolution", .kind = UNUSED}, {"inexactSolve", .kind = UNUSED},
};
// clang-format on
enum { N_KEYWORDS = sizeof keywords / sizeof *keywords };

static NoliStatus unknown_keyword(NoliIpcReader* reader, NoliSpan word) {
  const char* names[N_KEYWORDS];
  for (int32_t i = 0; i < N_KEYWORDS; i++) {
    names[i] = keywords[i].name;
  }
  char given[48], advice[80] = "";
  snprintf(given, sizeof given, "%.*s", (int)(word.n < 40 ? word.n : 40), word.at);
  const char* nearest = noli_nearest(given, names, N_KEYWORDS);
  if (nearest != NULL) {
    snprintf(advice, sizeof advice, "; did you mean \"%s\"?", nearest);
  }
  return noli_ipc_fail(reader->source, reader->line, "unknown keyword %s%s", noli_show(word).text,
                       advice);
}

static NoliStatus read_keyword(NoliIpcReader* reader, const Keyword* keyword) {
  NoliStatus status = NOLI_OK;
  void* value = (char*)reader->script + keyword->offset;
  reader->keyword = keyword->name;
  switch (keyword->kind) {
  case NUMBERS:
    NOLI_TRY(noli_ipc_read_numbers(reader, keyword->name, keyword->n, value));
    break;
  case FLAG:
  case UNFLAG:
    *(bool*)value = keyword->kind == FLAG;
    break;
  case CALL:
  case LIST:
    NOLI_TRY(keyword->read(reader));
    break;
  case UNUSED:
    noli_ipc_log(reader->source, reader->line, NOLI_LOG_INFO, "\"%s\" has no meaning here",
                 keyword->name);
    noli_skip_line(&reader->cursor);
    goto done;
  case REFUSED:
    NOLI_TRY(
        noli_ipc_fail(reader->source, reader->line, "%s: %s", keyword->name, keyword->message));
    break;
  }

  if (keyword->kind != LIST) {
    noli_ipc_finish_line(reader);
  }
done:
  return status;
}

static NoliStatus read_lines(NoliIpcReader* reader) {
  NoliStatus status = NOLI_OK;
  while (reader->cursor.at < reader->cursor.end) {
    noli_ipc_count_lines(reader);
    NoliSpan word = noli_ipc_next_word(reader);
    if (word.n == 0) {
      noli_skip_line(&reader->cursor);
      continue;
    }
    const Keyword* keyword = NULL;
    for (int32_t i = 0; i < N_KEYWORDS && keyword == NULL; i++) {
      keyword = noli_span_is(word, keywords[i].name) ? &keywords[i] : NULL;
    }
    NOLI_TRY(keyword != NULL ? read_keyword(reader, keyword) : unknown_keyword(reader, word));
  }
done:
  return status;
}

// ---- all together ------------------------------------------------------------------------------

// The value that a step of the original ends with: it solves with `*start`, and as long as the
// square is above that of the target, halves it and solves again. A start below the target stays.
static double end_of_step(const NoliSceneSource* source, const NoliIpcScript* script,
                          const char* name, double start, double target) {
  if (start <= target) {
    return start;
  }
  noli_ipc_log(source, script->tuning_line, NOLI_LOG_INFO,
               "tuning: within each step, %s falls from %.9g to %.9g; Noli solves with %.9g", name,
               start, target, target);
  return target;
}

// Puts the values with which steps end in the places of both. Friction forces are lagged before
// each solve, so that halving eps_v takes as many iterations of friction.
static void settle_tuning(const NoliSceneSource* source, NoliIpcScript* script) {
  double *distance = script->tuning + 1, *slip = script->tuning + 4;
  if (!(script->friction_iterations <= 0.0) && slip[0] > slip[1]) {
    double solves = 1.0 + ceil(2.0 * log2(slip[0] / slip[1]));
    script->friction_iterations = fmax(script->friction_iterations, solves);
  }
  distance[0] = end_of_step(source, script, "dHat", distance[0], distance[1]);
  slip[0] = end_of_step(source, script, "eps_v", slip[0], slip[1]);
}

// Checks that involve several keywords.
static NoliStatus check_script(const NoliSceneSource* source, const NoliIpcScript* script) {
  NoliStatus status = NOLI_OK;
  NOLI_IPC_CHECK(source, 1, script->time[0] > 0.0 && script->time[1] > 0.0,
                 "time: duration and step must be > 0, got %g %g", script->time[0],
                 script->time[1]);
  NOLI_IPC_CHECK(source, 1, script->time[0] / script->time[1] <= 1e9, "time: more than 1e9 steps");
  NOLI_IPC_CHECK(source, 1, script->handle_ratio > 0.0 && script->handle_ratio < 0.5,
                 "handleRatio: must be in (0, 0.5), got %g", script->handle_ratio);
  static const int positive[] = {1, 2, 4, 5};
  for (int i = 0; i < 4; i++) {
    double value = script->tuning[positive[i]];
    NOLI_IPC_CHECK(source, script->tuning_line, value > 0.0,
                   "tuning: dHat and eps_v must be > 0, got %g", value);
  }
  NOLI_IPC_CHECK(source, 1, script->shapes.count > 0, "there are no shapes");
done:
  return status;
}

NoliStatus noli_ipc_read(const NoliSceneSource* source, NoliIpcScript* script) {
  NoliStatus status = NOLI_OK;

  // the defaults of the format
  *script = (NoliIpcScript){
      .time = {5.0, 0.025},
      .size = -1.0,
      .rotate_model = {1.0, 0.0, 0.0, 0.0},
      .density = 1000.0,
      .stiffness = {1e5, 0.4},
      .newmark = {0.25, 0.5},
      .handle_ratio = 0.01,
      .region_time = {0.0, (double)INFINITY},
      .load_time = {0.0, (double)INFINITY},
      .tuning = {0.0, 1e-3, 1e-3, 1e-9, 1e-3, 1e-3},
      .tuning_line = 1,
      .tolerance = 1e-2,
      .friction_iterations = (double)NAN,
  };
  // scanning needs a zero behind the text
  NOLI_NEW(source->context, script->text, (int64_t)source->size + 1);
  memcpy(script->text, source->text, source->size);
  script->text[source->size] = '\0';
  noli_end_lines(script->text, (int64_t)source->size);
  NoliIpcReader reader = {
      .source = source,
      .script = script,
      .cursor = {.context = source->context,
                 .path = source->name,
                 .begin = script->text,
                 .at = script->text,
                 .end = script->text + source->size},
      .counted = script->text,
      .line = 1,
  };

  // read, check, and settle what depends on other lines
  NOLI_TRY(read_lines(&reader));
  NOLI_TRY(check_script(source, script));
  settle_tuning(source, script);
done:
  return status;
}

void noli_ipc_release(NoliContext* context, NoliIpcScript* script) {
  noli_array_free(context, &script->shapes);
  noli_array_free(context, &script->regions);
  noli_array_free(context, &script->half_spaces);
  noli_array_free(context, &script->stills);
  noli_array_free(context, &script->parameters);
  noli_free(context, script->text);
  script->text = NULL;
}
