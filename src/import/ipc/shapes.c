#include "noli/extend.h"
#include "import/ipc/reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The next word of a shape, which a `\` continues on the next line.
static NoliSpan next_shape_word(NoliIpcReader* reader) {
  bool comment = false;
  for (;;) {
    NoliSpan word = noli_next_word(&reader->cursor);
    comment = comment || (word.n > 0 && word.at[0] == '#');
    if (noli_span_is(word, "\\")) {
      noli_skip_line(&reader->cursor);
      noli_ipc_count_lines(reader);
      comment = false;
    } else if (word.n == 0 || !comment) {
      return word;
    }
  }
}

static NoliStatus read_region(NoliIpcReader* reader, NoliIpcShape* shape, bool load) {
  NoliStatus status = NOLI_OK;
  const char* what = load ? "NBC" : "DBC";
  double values[12];
  NoliIpcRegion region = {.line = reader->line, .load = load, .t_end = (double)INFINITY};
  NOLI_TRY(noli_ipc_read_numbers(reader, what, load ? 9 : 12, values));
  memcpy(region.low, values, sizeof region.low);
  memcpy(region.high, values + 3, sizeof region.high);
  memcpy(region.linear, values + 6, sizeof region.linear);
  if (!load) {
    memcpy(region.angular, values + 9, sizeof region.angular);
  }
  if (noli_ipc_starts_number(noli_ipc_peek_word(reader))) {
    NOLI_TRY(noli_ipc_read_numbers(reader, what, 1, &region.t_begin));
  }
  if (noli_ipc_starts_number(noli_ipc_peek_word(reader))) {
    NOLI_TRY(noli_ipc_read_numbers(reader, what, 1, &region.t_end));
  }
  NOLI_PUSH(reader->source->context, &reader->script->regions, region);
  shape->n_regions++;
done:
  return status;
}

static NoliStatus unknown_extra(NoliIpcReader* reader, NoliSpan word) {
  static const char* const extras[] = {"material", "initVel", "linearVelocity", "angularVelocity",
                                       "DBC",      "NBC",     "meshSeq"};
  enum { N_EXTRAS = sizeof extras / sizeof *extras };
  char given[48];
  snprintf(given, sizeof given, "%.*s", (int)(word.n < 40 ? word.n : 40), word.at);
  const char* nearest = noli_nearest(given, extras, N_EXTRAS);
  if (nearest != NULL) {
    return noli_ipc_fail(reader->source, reader->line,
                         "shapes: unknown keyword %s; did you mean \"%s\"?", noli_show(word).text,
                         nearest);
  }
  return noli_ipc_fail(reader->source, reader->line,
                       "shapes: unknown keyword %s; known: material, initVel, linearVelocity, "
                       "angularVelocity, DBC, NBC, meshSeq",
                       noli_show(word).text);
}

static NoliStatus read_extra(NoliIpcReader* reader, NoliSpan word, NoliIpcShape* shape) {
  NoliStatus status = NOLI_OK;
  if (noli_span_is(word, "material")) {
    shape->has_material = true;
    NOLI_TRY(noli_ipc_read_numbers(reader, "material", 3, shape->material));
  } else if (noli_span_is(word, "initVel")) {
    shape->has_initial = true;
    NOLI_TRY(noli_ipc_read_numbers(reader, "initVel", 3, shape->initial_linear));
    NOLI_TRY(noli_ipc_read_numbers(reader, "initVel", 3, shape->initial_angular));
  } else if (noli_span_is(word, "linearVelocity")) {
    shape->has_linear = true;
    NOLI_TRY(noli_ipc_read_numbers(reader, "linearVelocity", 3, shape->linear));
  } else if (noli_span_is(word, "angularVelocity")) {
    shape->has_angular = true;
    NOLI_TRY(noli_ipc_read_numbers(reader, "angularVelocity", 3, shape->angular));
  } else if (noli_span_is(word, "DBC") || noli_span_is(word, "NBC")) {
    NOLI_TRY(read_region(reader, shape, noli_span_is(word, "NBC")));
  } else if (noli_span_is(word, "meshSeq")) {
    shape->sequence = next_shape_word(reader);
    NOLI_IPC_CHECK(reader->source, reader->line, shape->sequence.n > 0,
                   "meshSeq: the folder is missing");
  } else {
    NOLI_TRY(unknown_extra(reader, word));
  }
done:
  return status;
}

// The place of the next line that says something; fails at the end of the text.
static NoliStatus find_shape(NoliIpcReader* reader, int64_t index, int64_t count) {
  NoliStatus status = NOLI_OK;
  int32_t announced = reader->line;
  noli_skip_line(&reader->cursor);
  while (reader->cursor.at < reader->cursor.end && noli_ipc_peek_word(reader).n == 0) {
    noli_skip_line(&reader->cursor);
  }
  NOLI_IPC_CHECK(reader->source, announced, reader->cursor.at < reader->cursor.end,
                 "%s: the text ends after %d of %d shapes", reader->keyword, (int)index,
                 (int)count);
  noli_ipc_count_lines(reader);
done:
  return status;
}

// Path, three times three numbers, extras.
static NoliStatus read_shape(NoliIpcReader* reader, NoliIpcShape shape) {
  NoliStatus status = NOLI_OK;
  bool matrix = strcmp(reader->keyword, "shapeMatrix") == 0;
  shape.line = reader->line;
  shape.first_region = (int32_t)reader->script->regions.count;
  shape.path = noli_ipc_next_word(reader);
  NOLI_TRY(
      noli_ipc_read_numbers(reader, reader->keyword, 3, matrix ? shape.step : shape.translate));
  NOLI_TRY(noli_ipc_read_numbers(reader, reader->keyword, 3, shape.rotate));
  NOLI_TRY(noli_ipc_read_numbers(reader, reader->keyword, 3, shape.scale));
  for (NoliSpan word; (word = next_shape_word(reader)).n > 0;) {
    NOLI_TRY(read_extra(reader, word, &shape));
  }
  NOLI_PUSH(reader->source->context, &reader->script->shapes, shape);
done:
  return status;
}

static NoliStatus expect_input(NoliIpcReader* reader) {
  NoliStatus status = NOLI_OK;
  NoliSpan word;
  NOLI_TRY(noli_ipc_read_word(reader, "\"input\"", &word));
  if (!noli_span_is(word, "input")) {
    noli_ipc_log(reader->source, reader->line, NOLI_LOG_WARNING, "%s: %s is taken for \"input\"",
                 reader->keyword, noli_show(word).text);
  }
done:
  return status;
}

NoliStatus noli_ipc_read_one_path(NoliIpcReader* reader) {
  NoliStatus status = NOLI_OK;
  NoliIpcShape shape = {.line = reader->line, .scale = {1, 1, 1}, .count = {1, 1, 1}};
  NOLI_TRY(expect_input(reader));
  NOLI_TRY(noli_ipc_read_word(reader, "the path", &shape.path));
  NOLI_PUSH(reader->source->context, &reader->script->shapes, shape);
done:
  return status;
}

NoliStatus noli_ipc_read_shapes(NoliIpcReader* reader) {
  NoliStatus status = NOLI_OK;
  int64_t count = 0;
  NOLI_TRY(expect_input(reader));
  NOLI_TRY(noli_ipc_read_count(reader, reader->keyword, 0, &count));
  for (int64_t i = 0; i < count; i++) {
    NOLI_TRY(find_shape(reader, i, count));
    NOLI_TRY(read_shape(reader, (NoliIpcShape){.count = {1, 1, 1}}));
  }
done:
  return status;
}

NoliStatus noli_ipc_read_shape_matrix(NoliIpcReader* reader) {
  NoliStatus status = NOLI_OK;
  NoliIpcShape shape = {.line = reader->line};
  int64_t count = 0, total = 1;
  NOLI_TRY(expect_input(reader));
  for (int i = 0; i < 3; i++) {
    NOLI_TRY(noli_ipc_read_count(reader, reader->keyword, 1, &count));
    shape.count[i] = (int32_t)count;
    total *= count;
    NOLI_IPC_CHECK(reader->source, reader->line, total <= NOLI_IPC_MAX_COUNT,
                   "shapeMatrix: more than %d shapes", NOLI_IPC_MAX_COUNT);
  }
  if (noli_ipc_peek_word(reader).n > 0) {
    NOLI_TRY(noli_ipc_read_numbers(reader, reader->keyword, 3, shape.translate));
  }
  NOLI_TRY(find_shape(reader, 0, 1));
  NOLI_TRY(read_shape(reader, shape));
done:
  return status;
}
