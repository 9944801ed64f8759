#include "tables.h"

#include "figures.h"
#include "suites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 160 };

typedef struct Row {
  const Result* now;
  const Result* before; // zeros if there is none
  PaperFigures paper;   // likewise
  ReferenceFigures reference;
} Row;

typedef struct Column {
  const char* title;
  int width; // in a terminal; negative: left-aligned
  void (*write)(const Row* row, char cell[CELL]);
} Column;

// ---- cells --------------------------------------------------------------------------------------

// Three digits, "-" for unknown or non-positive values.
static void put(char cell[CELL], double value) {
  if (!isfinite(value) || value <= 0.0) {
    snprintf(cell, CELL, "-");
  } else {
    snprintf(cell, CELL, "%.3g", value);
  }
}

static void put_fixed(char cell[CELL], int digits, double value) {
  if (!isfinite(value)) {
    snprintf(cell, CELL, "-");
  } else {
    snprintf(cell, CELL, "%.*f", digits, value);
  }
}

static void put_count(char cell[CELL], int64_t value) {
  snprintf(cell, CELL, "%lld", (long long)value);
}

// Factor by which the first is less; only over the same steps.
static double times_less(const Row* row, int32_t steps, double other, double ours) {
  return row->now->steps == steps && steps > 0 && other > 0.0 ? ratio(other, ours) : (double)NAN;
}

static void put_ratio(char cell[CELL], double value) {
  if (isfinite(value)) {
    snprintf(cell, CELL, "%.2fx", value);
  } else {
    snprintf(cell, CELL, "-");
  }
}

static void scene(const Row* row, char cell[CELL]) {
  snprintf(cell, CELL, "%s", row->now->scene);
}
static void nodes(const Row* row, char cell[CELL]) {
  put_count(cell, row->now->nodes);
}
static void tets(const Row* row, char cell[CELL]) {
  put_count(cell, row->now->tets);
}
static void triangles(const Row* row, char cell[CELL]) {
  put_count(cell, row->now->triangles);
}
static void time_step(const Row* row, char cell[CELL]) {
  snprintf(cell, CELL, "%g", row->now->time_step);
}
static void steps(const Row* row, char cell[CELL]) {
  snprintf(cell, CELL, "%lld/%lld", (long long)row->now->steps, (long long)row->now->steps_scene);
}
static void per_step(const Row* row, char cell[CELL]) {
  put(cell, result_seconds_per_step(row->now));
}
static void slowest(const Row* row, char cell[CELL]) {
  put(cell, row->now->wall_max);
}
static void newton(const Row* row, char cell[CELL]) {
  put_fixed(cell, 2, result_newton_per_step(row->now));
}
static void newton_max(const Row* row, char cell[CELL]) {
  put_count(cell, row->now->newton_max);
}
static void contacts(const Row* row, char cell[CELL]) {
  put_fixed(cell, 0, result_contacts_average(row->now));
}
static void contacts_max(const Row* row, char cell[CELL]) {
  put_count(cell, row->now->contacts_max);
}
static void min_distance(const Row* row, char cell[CELL]) {
  put(cell, row->now->min_distance);
}
static void memory(const Row* row, char cell[CELL]) {
  put_fixed(cell, 0, row->now->memory_mb);
}
static void threads(const Row* row, char cell[CELL]) {
  put_count(cell, row->now->threads);
}

// Percent of the time in each stage.
static void shares(const Row* row, char cell[CELL]) {
  const NoliStepTiming* t = &row->now->timing;
  const double part[6] = {t->assemble, t->linear, t->ccd, t->contacts, t->line_search, t->other};
  double sum = 0.0;
  int used = 0;
  for (int i = 0; i < 6; i++) {
    sum += part[i];
  }
  for (int i = 0; i < 6; i++) {
    double percent = sum > 0.0 ? 100.0 * part[i] / sum : 0.0;
    used += snprintf(cell + used, (size_t)(CELL - used), "%s%.0f", i > 0 ? " " : "", percent);
  }
}

static void outcome(const Row* row, char cell[CELL]) {
  snprintf(cell, CELL, "%s", result_state_name(row->now->state));
}

// ---- the paper ----------------------------------------------------------------------------------

static void paper_per_step(const Row* row, char cell[CELL]) {
  put(cell, row->paper.seconds_per_step);
}
static void paper_time_ratio(const Row* row, char cell[CELL]) {
  put_ratio(cell, times_less(row, row->paper.steps, row->paper.seconds_per_step,
                             result_seconds_per_step(row->now)));
}
static void paper_newton(const Row* row, char cell[CELL]) {
  put(cell, row->paper.newton_per_step);
}
static void paper_newton_ratio(const Row* row, char cell[CELL]) {
  put_ratio(cell, times_less(row, row->paper.steps, row->paper.newton_per_step,
                             result_newton_per_step(row->now)));
}
static void paper_memory(const Row* row, char cell[CELL]) {
  put(cell, row->paper.memory_mb);
}
static void paper_memory_ratio(const Row* row, char cell[CELL]) {
  put_ratio(cell, times_less(row, row->paper.steps, row->paper.memory_mb, row->now->memory_mb));
}
static void paper_steps(const Row* row, char cell[CELL]) {
  put_count(cell, row->paper.steps);
}
static void paper_cores(const Row* row, char cell[CELL]) {
  put_count(cell, row->paper.cores);
}
static void paper_contacts(const Row* row, char cell[CELL]) {
  snprintf(cell, CELL, "%.0f / %.0f", row->paper.contacts_average, row->paper.contacts_max);
}
static void paper_total(const Row* row, char cell[CELL]) {
  put(cell, row->paper.seconds);
}
static void paper_total_newton(const Row* row, char cell[CELL]) {
  put_fixed(cell, 0, row->paper.newton);
}
static void contacts_both(const Row* row, char cell[CELL]) {
  snprintf(cell, CELL, "%.0f / %lld", result_contacts_average(row->now),
           (long long)row->now->contacts_max);
}
static void total(const Row* row, char cell[CELL]) {
  put(cell, row->now->wall);
}
static void total_newton(const Row* row, char cell[CELL]) {
  put_count(cell, row->now->newton);
}

// ---- the original program -----------------------------------------------------------------------

static void reference_steps(const Row* row, char cell[CELL]) {
  put_count(cell, row->reference.steps);
}
static void reference_per_step(const Row* row, char cell[CELL]) {
  put(cell, row->reference.seconds_per_step);
}
static void reference_time_ratio(const Row* row, char cell[CELL]) {
  put_ratio(cell, times_less(row, row->reference.steps, row->reference.seconds_per_step,
                             result_seconds_per_step(row->now)));
}
static void reference_newton(const Row* row, char cell[CELL]) {
  snprintf(cell, CELL, "%.2f / %d", row->reference.newton_per_step, (int)row->reference.newton_max);
}
static void reference_newton_ratio(const Row* row, char cell[CELL]) {
  put_ratio(cell, times_less(row, row->reference.steps, row->reference.newton_per_step,
                             result_newton_per_step(row->now)));
}
static void newton_both(const Row* row, char cell[CELL]) {
  snprintf(cell, CELL, "%.2f / %lld", result_newton_per_step(row->now),
           (long long)row->now->newton_max);
}
static void reference_contacts(const Row* row, char cell[CELL]) {
  snprintf(cell, CELL, "%.0f / %d", row->reference.contacts_average,
           (int)row->reference.contacts_max);
}
static void reference_memory(const Row* row, char cell[CELL]) {
  put(cell, row->reference.memory_mb);
}
static void reference_memory_ratio(const Row* row, char cell[CELL]) {
  put_ratio(cell,
            times_less(row, row->reference.steps, row->reference.memory_mb, row->now->memory_mb));
}

// ---- older results ------------------------------------------------------------------------------

static double times_less_before(const Row* row, double before, double now) {
  return row->now->steps == row->before->steps ? ratio(before, now) : (double)NAN;
}
static void before_steps(const Row* row, char cell[CELL]) {
  put_count(cell, row->before->steps);
}
static void before_per_step(const Row* row, char cell[CELL]) {
  put(cell, result_seconds_per_step(row->before));
}
static void before_time_ratio(const Row* row, char cell[CELL]) {
  put_ratio(cell, times_less_before(row, row->before->wall, row->now->wall));
}
static void before_newton(const Row* row, char cell[CELL]) {
  put_fixed(cell, 2, result_newton_per_step(row->before));
}
static void before_newton_ratio(const Row* row, char cell[CELL]) {
  put_ratio(cell, times_less_before(row, (double)row->before->newton, (double)row->now->newton));
}
static void before_memory(const Row* row, char cell[CELL]) {
  put_fixed(cell, 0, row->before->memory_mb);
}
static void before_memory_ratio(const Row* row, char cell[CELL]) {
  put_ratio(cell, times_less_before(row, row->before->memory_mb, row->now->memory_mb));
}

// ---- scaling, ablations, conditioning -----------------------------------------------------------

static void steps_done(const Row* row, char cell[CELL]) {
  put_count(cell, row->now->steps);
}
static void cpu_per_step(const Row* row, char cell[CELL]) {
  put(cell, result_cpu_per_step(row->now));
}
static void per_node(const Row* row, char cell[CELL]) {
  put(cell, 1e6 * ratio(result_seconds_per_step(row->now), (double)row->now->nodes));
}
static void linear_per_newton(const Row* row, char cell[CELL]) {
  put_fixed(cell, 1, result_linear_per_newton(row->now));
}
static void linear_seconds(const Row* row, char cell[CELL]) {
  put(cell, 1e3 * ratio(row->now->timing.linear, (double)row->now->newton));
}
static void bodies(const Row* row, char cell[CELL]) {
  put_count(cell, row->now->bodies);
}
static void setup_cpu(const Row* row, char cell[CELL]) {
  put(cell, row->now->setup_cpu);
}

// Processor time outside of the linear solver, for each iteration and each body and contact.
static double other_cpu(const Result* result) {
  const NoliStepTiming* t = &result->timing;
  double sum = t->assemble + t->linear + t->ccd + t->contacts + t->line_search + t->other;
  double per_newton = ratio(result->cpu * (1.0 - ratio(t->linear, sum)), (double)result->newton);
  return ratio(per_newton, (double)result->bodies + result_contacts_average(result));
}
static void other_per_thing(const Row* row, char cell[CELL]) {
  put(cell, 1e6 * other_cpu(row->now));
}
static void linear_per_thing(const Row* row, char cell[CELL]) {
  const Result* now = row->now;
  double things = (double)now->bodies + result_contacts_average(now);
  put(cell, 1e6 * (ratio(ratio(now->cpu, (double)now->newton), things) - other_cpu(now)));
}
static void memory_per_body(const Row* row, char cell[CELL]) {
  put(cell, 1024.0 * ratio(row->now->memory_mb, (double)row->now->bodies));
}
static void contacts_per_node(const Row* row, char cell[CELL]) {
  put(cell, ratio(result_contacts_average(row->now), (double)row->now->nodes));
}
static void advances_per_step(const Row* row, char cell[CELL]) {
  put_fixed(cell, 2, ratio((double)row->now->advances, (double)row->now->steps));
}
static void alpha(const Row* row, char cell[CELL]) {
  put(cell, result_alpha_average(row->now));
}
static void stalled(const Row* row, char cell[CELL]) {
  put_count(cell, row->now->stalled);
}
static void listed(const Row* row, char cell[CELL]) {
  snprintf(cell, CELL, "%.0f / %lld", result_contacts_average(row->now),
           (long long)row->now->listed_max);
}
static void added_per_step(const Row* row, char cell[CELL]) {
  put_fixed(cell, 1, ratio(row->now->added, (double)row->now->steps));
}
static void penetration(const Row* row, char cell[CELL]) {
  put(cell, row->now->penetration);
}
static void last_speed(const Row* row, char cell[CELL]) {
  put(cell, row->now->max_speed);
}
static void condition_average(const Row* row, char cell[CELL]) {
  put(cell, result_condition_average(row->now));
}
static void condition_max(const Row* row, char cell[CELL]) {
  put(cell, row->now->condition_max);
}

// ---- contact models -----------------------------------------------------------------------------

static void total_cpu(const Row* row, char cell[CELL]) {
  put(cell, row->now->cpu);
}
static void before_cpu_ratio(const Row* row, char cell[CELL]) {
  put_ratio(cell, times_less_before(row, row->before->cpu, row->now->cpu));
}
static void audited(const Row* row, char cell[CELL]) {
  put_count(cell, row->now->audited);
}
static void way(const Row* row, char cell[CELL]) {
  put(cell, row->now->way);
}

// ---- friction -----------------------------------------------------------------------------------

static void newton_cost(const Row* row, char cell[CELL]) {
  put_ratio(cell, times_less_before(row, (double)row->now->newton, (double)row->before->newton));
}
static void cpu_cost(const Row* row, char cell[CELL]) {
  put_ratio(cell, times_less_before(row, row->now->cpu, row->before->cpu));
}
static void friction_iterations_per_step(const Row* row, char cell[CELL]) {
  put_fixed(cell, 2, result_friction_iterations_per_step(row->now));
}
static void friction_off(const Row* row, char cell[CELL]) {
  put_count(cell, row->now->friction_off);
}
static void friction_error(const Row* row, char cell[CELL]) {
  put_fixed(cell, 3, row->now->friction_error);
}

// ---- tables -------------------------------------------------------------------------------------

// clang-format off
static const Column measured[] = {
    {"scene", -57, scene}, {"nodes", 6, nodes}, {"tets", 6, tets}, {"tris", 6, triangles},
    {"h", 6, time_step}, {"steps", 9, steps}, {"s/step", 9, per_step}, {"slowest", 9, slowest},
    {"Newton/step", 11, newton}, {"max", 4, newton_max}, {"contacts", 8, contacts},
    {"max", 6, contacts_max}, {"asm lin ccd con ls oth %", 24, shares}, {"min d", 9, min_distance},
    {"MB", 5, memory}, {"thr", 3, threads}, {"outcome", 7, outcome}, {NULL, 0, NULL}};
static const Column beside_paper[] = {
    {"scene", -57, scene}, {"steps", 9, steps}, {"paper's", 7, paper_steps},
    {"s/step", 9, per_step}, {"paper", 7, paper_per_step}, {"ratio", 7, paper_time_ratio},
    {"Newton/step", 11, newton}, {"paper", 6, paper_newton}, {"ratio", 7, paper_newton_ratio},
    {"MB", 6, memory}, {"paper", 8, paper_memory}, {"ratio", 7, paper_memory_ratio},
    {"cores", 5, paper_cores}, {NULL, 0, NULL}};
static const Column beside_reference[] = {
    {"scene", -57, scene}, {"steps", 9, steps}, {"orig.", 5, reference_steps},
    {"s/step", 9, per_step}, {"orig.", 8, reference_per_step}, {"ratio", 7, reference_time_ratio},
    {"Newton/step / max", 17, newton_both}, {"orig.", 12, reference_newton}, {"ratio", 7, reference_newton_ratio},
    {"contacts / max", 14, contacts_both}, {"orig.", 12, reference_contacts},
    {"MB", 6, memory}, {"orig.", 6, reference_memory}, {"ratio", 7, reference_memory_ratio},
    {NULL, 0, NULL}};
static const Column beside_before[] = {
    {"scene", -57, scene}, {"steps", 9, steps}, {"before", 6, before_steps},
    {"s/step", 9, per_step}, {"before", 9, before_per_step}, {"ratio", 7, before_time_ratio},
    {"Newton/step", 11, newton}, {"before", 7, before_newton}, {"ratio", 7, before_newton_ratio},
    {"MB", 6, memory}, {"before", 6, before_memory}, {"ratio", 7, before_memory_ratio},
    {NULL, 0, NULL}};
static const Column time_steps[] = {
    {"h", 6, time_step}, {"steps", 10, steps}, {"contacts / max", 14, contacts_both},
    {"paper", 10, paper_contacts}, {"s/step", 9, per_step}, {"paper", 6, paper_per_step},
    {"ratio", 7, paper_time_ratio}, {"Newton/step / max", 17, newton_both},
    {"paper", 6, paper_newton}, {"ratio", 7, paper_newton_ratio}, {"total s", 8, total},
    {"paper", 6, paper_total}, {"total Newton", 12, total_newton}, {"paper", 6, paper_total_newton},
    {NULL, 0, NULL}};
static const Column in_short[] = {
    {"scene", -57, scene}, {"nodes", 6, nodes}, {"steps", 9, steps}, {"s/step", 9, per_step},
    {"ratio", 7, before_time_ratio}, {"Newton/step / max", 17, newton_both},
    {"ratio", 7, before_newton_ratio}, {"contacts / max", 14, contacts_both},
    {"min d", 9, min_distance}, {"outcome", 7, outcome}, {NULL, 0, NULL}};
static const Column work_per_node[] = {
    {"scene", -57, scene}, {"nodes", 6, nodes}, {"steps", 5, steps_done}, {"s/step", 9, per_step},
    {"us/step/node", 12, per_node}, {"CPU s/step", 10, cpu_per_step}, {"Newton/step", 11, newton},
    {"linear its/solve", 16, linear_per_newton}, {"contacts", 8, contacts},
    {"contacts/node", 13, contacts_per_node}, {"outcome", 7, outcome}, {NULL, 0, NULL}};
static const Column work_per_body[] = {
    {"scene", -57, scene}, {"bodies", 6, bodies}, {"contacts", 8, contacts}, {"steps", 5, steps_done},
    {"Newton/step", 11, newton}, {"CPU s/step", 10, cpu_per_step}, {"linear us", 9, linear_per_thing},
    {"other us", 8, other_per_thing}, {"setup CPU s", 11, setup_cpu}, {"MB", 5, memory},
    {"kB/body", 7, memory_per_body}, {"outcome", 7, outcome}, {NULL, 0, NULL}};
static const Column of_iterations[] = {
    {"scene", -57, scene}, {"steps", 5, steps_done}, {"s/step", 9, per_step},
    {"Newton/step", 11, newton}, {"advances/step", 13, advances_per_step}, {"alpha", 7, alpha},
    {"stalled", 7, stalled}, {"constraints / max", 17, listed}, {"new/step", 9, added_per_step},
    {"linear its/solve", 16, linear_per_newton},
    {"min d", 9, min_distance}, {"penetration", 11, penetration}, {"last speed", 10, last_speed},
    {"outcome", 7, outcome}, {NULL, 0, NULL}};
static const Column of_systems[] = {
    {"scene", -57, scene}, {"nodes", 6, nodes}, {"steps", 5, steps_done}, {"Newton/step", 11, newton},
    {"linear its/solve", 16, linear_per_newton}, {"ms/solve", 9, linear_seconds},
    {"condition", 9, condition_average}, {"max", 9, condition_max}, {"s/step", 9, per_step},
    {"CPU s/step", 10, cpu_per_step},
    {"outcome", 7, outcome}, {NULL, 0, NULL}};
static const Column of_models[] = {
    {"scene", -57, scene}, {"nodes", 6, nodes}, {"h", 6, time_step}, {"steps", 9, steps},
    {"Newton", 7, total_newton}, {"ratio", 7, before_newton_ratio}, {"Newton/step / max", 17, newton_both},
    {"CPU s", 7, total_cpu}, {"ratio", 7, before_cpu_ratio}, {"contacts / max", 14, contacts_both},
    {"min d", 9, min_distance}, {"way", 7, way}, {"audited", 7, audited}, {"outcome", 7, outcome},
    {NULL, 0, NULL}};
static const Column of_friction[] = {
    {"scene", -57, scene}, {"nodes", 6, nodes}, {"h", 6, time_step}, {"steps", 9, steps},
    {"solves/step", 11, friction_iterations_per_step}, {"Newton", 7, total_newton}, {"cost", 7, newton_cost},
    {"Newton/step / max", 17, newton_both}, {"CPU s", 7, total_cpu}, {"cost", 7, cpu_cost},
    {"steps off", 9, friction_off}, {"largest error", 13, friction_error}, {"outcome", 7, outcome},
    {NULL, 0, NULL}};
// clang-format on

static const Column* const columns_of[] = {
    measured,      beside_paper,  beside_reference, time_steps, beside_before, in_short,
    work_per_node, work_per_body, of_iterations,    of_systems, of_models,     of_friction};

void table_header(TableKind kind, bool markdown) {
  const Column* columns = columns_of[kind];
  for (const Column* c = columns; c->title != NULL; c++) {
    markdown ? printf("| %s ", c->title) : printf("%*s ", c->width, c->title);
  }
  printf(markdown ? "|\n" : "\n");
  for (const Column* c = columns; markdown && c->title != NULL; c++) {
    printf(c->width < 0 ? "|---" : "|---:");
  }
  printf(markdown ? "|\n" : "");
}

void table_row(TableKind kind, bool markdown, const Result* result, const Result* before) {
  static const Result nothing;
  const PaperFigures* paper = paper_figures(result->scene);
  const ReferenceFigures* reference = reference_figures(result->scene);
  Row row = {.now = result, .before = before != NULL ? before : &nothing};
  row.paper = paper != NULL ? *paper : (PaperFigures){0};
  row.reference = reference != NULL ? *reference : (ReferenceFigures){0};
  char text[1024];
  if (!result_was_run(result)) {
    result_remarks(result, text, sizeof text);
    markdown ? printf("| %s | %s |\n", result->scene, text)
             : printf("%-57s %s\n", result->scene, text);
    return;
  }
  for (const Column* c = columns_of[kind]; c->title != NULL; c++) {
    char cell[CELL];
    c->write(&row, cell);
    markdown ? printf("| %s ", cell) : printf("%*s ", c->width, cell);
  }
  printf(markdown ? "|\n" : "\n");
}

// ---- remarks ------------------------------------------------------------------------------------

bool result_remarks(const Result* result, char* text, size_t size) {
  char part[5][800] = {"", "", "", "", ""};
  const char* before[] = {[RESULT_ABSENT] = "skipped: ",
                          [RESULT_REFUSED] = "skipped, refused: ",
                          [RESULT_FAILED] = "FAILED ",
                          [RESULT_KILLED] = "FAILED "};
  if (result->state >= RESULT_ABSENT && result->state <= RESULT_KILLED) {
    snprintf(part[0], sizeof part[0], "%s%s", before[result->state], result->message);
  }
  if (result->state == RESULT_BUDGET) {
    snprintf(part[0], sizeof part[0], "stopped: the time limit was reached");
  }
  if (result->note[0] != '\0') {
    snprintf(part[1], sizeof part[1], "%s", result->note);
  }
  if (result->steps_blocked > 0) {
    snprintf(part[2], sizeof part[2], "contact cut prescribed motion short in %lld steps",
             (long long)result->steps_blocked);
  }
  if (isfinite(result->shape_error)) {
    snprintf(part[3], sizeof part[3],
             "largest change of a distance between two vertices of a body: %.3f %%, maximum speed "
             "%.2g m/s",
             100.0 * result->shape_error, result->max_speed);
  }
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < 4; i++) {
    if (part[i][0] != '\0' && used < size) {
      used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "; " : "", part[i]);
    }
  }
  return used > 0;
}

// ---- complete lists -----------------------------------------------------------------------------

static bool belongs(TableKind kind, const Result* result) {
  if (kind == TABLE_PAPER) {
    return result_was_run(result) && paper_figures(result->scene) != NULL;
  }
  if (kind == TABLE_REFERENCE) {
    return result_was_run(result) && reference_figures(result->scene) != NULL;
  }
  return kind != TABLE_TIMESTEP || result_was_run(result);
}

static void print_table(TableKind kind, bool markdown, const char* title, const ResultList* list) {
  int32_t n = 0;
  for (int32_t i = 0; i < list->count; i++) {
    n += belongs(kind, &list->data[i]) ? 1 : 0;
  }
  if (n == 0) {
    return;
  }
  printf("\n%s\n%s", title, markdown ? "\n" : "");
  table_header(kind, markdown);
  for (int32_t i = 0; i < list->count; i++) {
    if (belongs(kind, &list->data[i])) {
      table_row(kind, markdown, &list->data[i], NULL);
    }
  }
}

static const char TITLE_PAPER[] =
    "Comparison with [Li2020], averages over complete scenes on OTHER machines. Ratio: factor by "
    "which Noli needs less (- if over other steps).";
static const char TITLE_REFERENCE[] =
    "Comparison with the original program, MEASURED ELSEWHERE, once, with 2 threads on 2 cores. "
    "Ratio: factor by which Noli needs less (- if over other steps).";
static const char TITLE_TIMESTEP[] =
    "Comparison with [Li2020] table 1, measured on ANOTHER machine with four cores. Ratio: factor "
    "by which Noli needs less.";

// Prints a row if both were run. Returns whether it did.
static bool compare_row(const Result* result, const Result* older, bool markdown) {
  bool comparable =
      older != NULL && older != result && result_was_run(result) && result_was_run(older);
  if (comparable) {
    table_row(TABLE_COMPARE, markdown, result, older);
  }
  return comparable;
}

static const char TITLE_MODELS[] =
    "Contact models compared; ratio: factor by which the row needs less than the first of the "
    "scene. Audited: steps at whose end the exact test found no intersection and no inversion.";

static const char TITLE_SOLVERS[] = "Comparison with the first solver of each scene. Ratio: factor "
                                    "by which the row needs less (- if over other steps).";

// The first result of the same scene.
static const Result* first_of_group(const ResultList* list, const Result* of) {
  int length = suite_group_length(of->scene);
  for (int32_t i = 0; i < list->count; i++) {
    if (suite_group_length(list->data[i].scene) == length &&
        strncmp(list->data[i].scene, of->scene, (size_t)length) == 0) {
      return &list->data[i];
    }
  }
  return NULL;
}

static const char TITLE_FRICTION[] = "Cost: relative to one solve per step. Steps off: steps in "
                                     "which the friction error of some body exceeds 5 %.";

// Suites that have one table, in which scenes are compared with the first of their group.
static const struct {
  const char *suite, *title;
  TableKind kind;
} grouped[] = {{"gcp", TITLE_MODELS, TABLE_MODELS}, {"friction", TITLE_FRICTION, TABLE_FRICTION}};

// Prints that table. Returns false if the suite has others.
static bool print_grouped(const ResultList* list, bool markdown) {
  for (size_t g = 0; g < sizeof grouped / sizeof *grouped; g++) {
    if (strcmp(list->suite, grouped[g].suite) == 0) {
      printf("\n%s\n%s", grouped[g].title, markdown ? "\n" : "");
      table_header(grouped[g].kind, markdown);
      for (int32_t i = 0; i < list->count; i++) {
        table_row(grouped[g].kind, markdown, &list->data[i], first_of_group(list, &list->data[i]));
      }
      return true;
    }
  }
  return false;
}

static void print_solvers(const ResultList* list, bool markdown) {
  printf("\n%s\n%s", TITLE_SOLVERS, markdown ? "\n" : "");
  table_header(TABLE_COMPARE, markdown);
  for (int32_t i = 0; i < list->count; i++) {
    compare_row(&list->data[i], first_of_group(list, &list->data[i]), markdown);
  }
}

// ---- scaling with size --------------------------------------------------------------------------

static const char TITLE_SCALING[] = "Work per node.";
static const char TITLE_GROWTH[] =
    "Growth: exponent p of a quantity proportional to nodes^p, least squares over the sizes.";

// Quantities that may grow with size.
typedef struct Quantity {
  const char* title;
  double (*value)(const Result* result);
  bool of_steps; // which differ, so that only scenes that did all of them can be compared
} Quantity;

// Slope of log(value) over log(nodes) of a variant; NAN with fewer than two scenes.
static double growth(const ResultList* list, const char* variant, const Quantity* quantity) {
  double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (int32_t i = 0; i < list->count; i++) {
    const Result* result = &list->data[i];
    double value = quantity->value(result);
    if (strcmp(suite_variant(result->scene), variant) == 0 && value > 0.0 &&
        (result->state == RESULT_DONE || !quantity->of_steps)) {
      double u = log((double)result->nodes), v = log(value);
      n += 1.0, x += u, y += v, xx += u * u, xy += u * v;
    }
  }
  double spread = n * xx - x * x;
  return n >= 2.0 && spread > 0.0 ? (n * xy - x * y) / spread : (double)NAN;
}

static double seconds_per_newton(const Result* result) {
  return ratio(result->wall, (double)result->newton);
}

static double cpu_per_newton(const Result* result) {
  return ratio(result->cpu, (double)result->newton);
}

static void print_growth(const ResultList* list, bool markdown) {
  static const Quantity column[] = {{"s/step", result_seconds_per_step, true},
                                    {"CPU s/step", result_cpu_per_step, true},
                                    {"s/Newton", seconds_per_newton, false},
                                    {"CPU s/Newton", cpu_per_newton, false},
                                    {"Newton/step", result_newton_per_step, true},
                                    {"linear its/solve", result_linear_per_newton, false},
                                    {"contacts", result_contacts_average, true}};
  enum { N = (int)(sizeof column / sizeof *column) };
  printf("\n%s\n%s", TITLE_GROWTH, markdown ? "\n" : "");
  printf(markdown ? "| %s |" : "%-40s", "variant");
  for (int c = 0; c < N; c++) {
    printf(markdown ? " %s |" : " %16s", column[c].title);
  }
  printf(markdown ? "\n|---|---:|---:|---:|---:|---:|---:|---:|\n" : "\n");
  for (int32_t i = 0; i < list->count; i++) {
    // each variant once, with its first scene
    if (first_of_group(list, &list->data[i]) != &list->data[0]) {
      continue;
    }
    const char* variant = suite_variant(list->data[i].scene);
    printf(markdown ? "| %s |" : "%-40s", variant);
    for (int c = 0; c < N; c++) {
      char cell[CELL];
      put_fixed(cell, 2, growth(list, variant, &column[c]));
      printf(markdown ? " %s |" : " %16s", cell);
    }
    printf("\n");
  }
}

static void print_scaling(const ResultList* list, bool markdown) {
  print_table(TABLE_SCALING, markdown, TITLE_SCALING, list);
  print_growth(list, markdown);
}

static const char TITLE_BODIES[] = "Work per body. us: microseconds of processor time of an "
                                   "iteration, for each body and contact, in "
                                   "the linear solver and elsewhere.";
static const char TITLE_LINEAR[] = "Linear solvers. The condition number is that of the systems "
                                   "with block diagonal preconditioning.";
static const char TITLE_ABLATION[] = "Details of the iterations.";
static const char TITLE_CONDITION[] =
    "Condition numbers of the systems with block diagonal preconditioning.";

static void print_beside(const ResultList* list, bool markdown) {
  if (strcmp(list->suite, "timestep") == 0) {
    print_table(TABLE_TIMESTEP, markdown, TITLE_TIMESTEP, list);
  } else if (strcmp(list->suite, "solvers") == 0) {
    print_solvers(list, markdown);
  } else if (strcmp(list->suite, "scaling") == 0) {
    print_scaling(list, markdown);
  } else if (strcmp(list->suite, "bodies") == 0) {
    print_table(TABLE_BODIES, markdown, TITLE_BODIES, list);
  } else if (strcmp(list->suite, "ablation") == 0) {
    print_table(TABLE_ABLATION, markdown, TITLE_ABLATION, list);
  } else if (strcmp(list->suite, "conditioning") == 0) {
    print_table(TABLE_CONDITION, markdown, TITLE_CONDITION, list);
  } else if (strcmp(list->suite, "linear") == 0) {
    print_table(TABLE_CONDITION, markdown, TITLE_LINEAR, list);
  } else if (!print_grouped(list, markdown)) {
    print_table(TABLE_PAPER, markdown, TITLE_PAPER, list);
    print_table(TABLE_REFERENCE, markdown, TITLE_REFERENCE, list);
  }
}

void tables_beside(const ResultList* list) {
  print_beside(list, false);
}

// Scenes that were run; then a list of remarks.
void tables_markdown(const ResultList* list) {
  // scenes compared in one table need no other
  bool compared = print_grouped(list, true);
  if (!compared) {
    table_header(TABLE_MEASURED, true);
  }
  for (int32_t i = 0; i < list->count && !compared; i++) {
    if (result_was_run(&list->data[i])) {
      table_row(TABLE_MEASURED, true, &list->data[i], NULL);
    }
  }
  printf("\n");
  for (int32_t i = 0; i < list->count; i++) {
    char text[1024];
    if (result_remarks(&list->data[i], text, sizeof text)) {
      printf("- %s: %s\n", list->data[i].scene, text);
    }
  }
  if (!compared) {
    print_beside(list, true);
  }
}

// Geometric means of the ratios over the same steps.
static void print_means(const ResultList* list, const ResultList* other) {
  double n = 0.0, seconds = 0.0, newton_sum = 0.0;
  int32_t n_run = 0, n_bad = 0;
  for (int32_t i = 0; i < list->count; i++) {
    const Result* result = &list->data[i];
    const Result* older = result_find(other, result->scene);
    n_run += result_was_run(result) ? 1 : 0;
    n_bad += result_is_bad(result) ? 1 : 0;
    if (older != NULL && result_was_run(result) && result->steps == older->steps &&
        result->wall > 0.0 && result->newton > 0) {
      n += 1.0;
      seconds += log(older->wall / result->wall);
      newton_sum += log((double)older->newton / (double)result->newton);
    }
  }
  printf("\nScenes run: %d, failed: %d.", (int)n_run, (int)n_bad);
  if (n > 0.0) {
    printf(" Geometric means over the %.0f with the same steps: %.2fx less time, %.2fx fewer "
           "Newton iterations.",
           n, exp(seconds / n), exp(newton_sum / n));
  }
  printf("\n\n");
}

void tables_markdown_beside(const ResultList* list, const ResultList* other) {
  table_header(TABLE_BRIEF, true);
  for (int32_t i = 0; i < list->count; i++) {
    if (result_was_run(&list->data[i])) {
      table_row(TABLE_BRIEF, true, &list->data[i], result_find(other, list->data[i].scene));
    }
  }
  print_means(list, other);
  for (int32_t i = 0; i < list->count; i++) {
    char text[1024];
    bool ended = result_is_bad(&list->data[i]) || list->data[i].state == RESULT_BUDGET;
    if (ended && result_remarks(&list->data[i], text, sizeof text)) {
      printf("- %s: %s\n", list->data[i].scene, text);
    }
  }
}

bool tables_compare(const ResultList* list, const ResultList* before, const char* name) {
  int32_t n = 0;
  printf(
      "\nComparison with %s. Ratio: factor by which this run needs less (- if over other steps).\n",
      name);
  table_header(TABLE_COMPARE, false);
  for (int32_t i = 0; i < list->count; i++) {
    n += compare_row(&list->data[i], result_find(before, list->data[i].scene), false);
  }
  return n > 0;
}

// ---- JSON ---------------------------------------------------------------------------------------

static void set_ratio(json_t* object, const char* key, bool comparable, double other, double ours) {
  set_number(object, key, comparable && other > 0.0 ? ratio(other, ours) : (double)NAN);
}

static json_t* other_object(const Result* result, int32_t n_steps, double seconds,
                            double iterations, double megabytes) {
  json_t* object = json_object();
  bool comparable = result->steps == n_steps;
  json_object_set_new(object, "steps", json_integer(n_steps));
  set_number(object, "seconds_per_step", seconds);
  set_number(object, "newton_per_step", iterations);
  set_number(object, "memory_mb", megabytes > 0.0 ? megabytes : (double)NAN);
  set_ratio(object, "seconds_ratio", comparable, seconds, result_seconds_per_step(result));
  set_ratio(object, "newton_ratio", comparable, iterations, result_newton_per_step(result));
  set_ratio(object, "memory_ratio", comparable, megabytes, result->memory_mb);
  return object;
}

static json_t* row_object(const Result* result) {
  json_t* object = result_object(result);
  const PaperFigures* paper = paper_figures(result->scene);
  const ReferenceFigures* reference = reference_figures(result->scene);
  if (paper != NULL) {
    json_object_set_new(object, "paper",
                        other_object(result, paper->steps, paper->seconds_per_step,
                                     paper->newton_per_step, paper->memory_mb));
  }
  if (reference != NULL) {
    json_object_set_new(object, "reference",
                        other_object(result, reference->steps, reference->seconds_per_step,
                                     reference->newton_per_step, reference->memory_mb));
  }
  return object;
}

static void set_environment(json_t* object, const char* name) {
  const char* value = getenv(name);
  json_object_set_new(object, name, value != NULL ? json_string(value) : json_null());
}

bool tables_write_json(const char* path, const ResultList* list) {
  json_t* root = json_object();
  json_t* rows = json_array();
  json_object_set_new(root, "noli", json_string(noli_version()));
  json_object_set_new(root, "suite", json_string(list->suite));
  // the waiting policy of threads: runs with different policies cannot be compared
  set_environment(root, "OMP_WAIT_POLICY");
  set_environment(root, "OPENBLAS_NUM_THREADS");
  json_object_set_new(root, "scenes", rows);
  for (int32_t i = 0; i < list->count; i++) {
    json_array_append_new(rows, row_object(&list->data[i]));
  }
  bool written = json_dump_file(root, path, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0;
  json_decref(root);
  if (!written) {
    fprintf(stderr, "noli_bench: cannot write %s\n", path);
  }
  return written;
}
