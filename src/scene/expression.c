#define _POSIX_C_SOURCE 200809L // pthread_mutex_t
#include "scene/expression.h"

#include "base/after_fork.h"
#include "base/process_lock.h"
#include "math/difference.h"

#include <math.h>
#include <muParserDLL.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

// Several times what an expression of the usual length was measured to take.
enum { PARSER_BYTES = 1 << 18 };

static double clamp(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

// Cubic step: 0 up to `low`, 1 from `high` on. A jump where both are equal.
static double smoothstep(double low, double high, double x) {
  if (low == high) {
    return x < low ? 0.0 : 1.0;
  }
  double s = clamp((x - low) / (high - low), 0.0, 1.0);
  return s * s * (3.0 - 2.0 * s);
}

// muParser numbers its errors; its own texts are kept in a buffer that all threads share, so the
// messages are ours.
static const char* error_text(int code) {
  static const char* const texts[] = {
      [0] = "unexpected operator",
      [1] = "unknown name or symbol",
      [2] = "unexpected end of the expression",
      [3] = "unexpected comma",
      [4] = "unexpected argument",
      [5] = "unexpected value",
      [6] = "unexpected variable",
      [7] = "unexpected parenthesis",
      [8] = "unexpected string",
      [11] = "a parenthesis is missing",
      [12] = "unexpected function",
      [13] = "a string does not end",
      [14] = "too many arguments",
      [15] = "too few arguments",
      [17] = "the value is a string",
      [25] = "the expression is empty",
      [33] = "a conditional \"a ? b : c\" lacks its \": c\"",
      [34] = "misplaced colon of a conditional \"a ? b : c\"",
  };

  if (code >= 0 && (size_t)code < sizeof texts / sizeof *texts && texts[code] != NULL) {
    return texts[code];
  }
  return "not a valid expression";
}

// The position of an assignment, which would make an expression change its variables; -1: none.
static int find_assignment(const char* text) {
  for (int i = 0; text[i] != '\0'; i++) {
    if (text[i] == '=' && text[i + 1] == '=') {
      i++;
    } else if (text[i] == '=' && (i == 0 || strchr("<>!", text[i - 1]) == NULL)) {
      return i;
    }
  }
  return -1;
}

static void define_functions(muParserHandle_t parser) {
  mupDefineConst(parser, "pi", 3.14159265358979323846);
  mupDefineConst(parser, "e", 2.71828182845904523536);
  mupDefineFun1(parser, "floor", floor, 1);
  mupDefineFun1(parser, "ceil", ceil, 1);
  mupDefineFun2(parser, "fmod", fmod, 1);
  mupDefineFun3(parser, "clamp", clamp, 1);
  mupDefineFun3(parser, "smoothstep", smoothstep, 1);
}

static void define_position(muParserHandle_t parser, NoliSceneVariables* variables) {
  static const char* const names[3] = {"X", "Y", "Z"};
  for (int i = 0; i < 3; i++) {
    mupDefineVar(parser, names[i], &variables->position[i]);
  }
}

// Parses by evaluating once; returns the number of results, 0 on failure.
static int try_parse(muParserHandle_t parser) {
  int n_results = 0;
  mupErrorReset(parser);
  double* results = mupEvalMulti(parser, &n_results);
  return mupError(parser) != 0 || results == NULL ? 0 : n_results;
}

// Reports why a text did not parse to one value; `known` says which variables there are.
static NoliStatus check_parsed(const NoliSceneSource* source, const NoliSceneNode* node,
                               muParserHandle_t parser, int n_results, const char* known) {
  NoliStatus status = NOLI_OK;
  const char* text = noli_scene_string(node);
  if (n_results == 0) {
    int code = mupGetErrorCode(parser), position = mupGetErrorPos(parser);
    char place[80] = "";
    // some errors have no place, some lie behind the end
    if (position >= 0 && (size_t)position < strlen(text)) {
      snprintf(place, sizeof place, " at character %d (\"%.20s\")", position + 1, text + position);
    }
    NOLI_SCENE_CHECK(source, node, false, "\"%.200s\": %s%s%s", text, error_text(code), place,
                     code == 1 ? known : "");
  }
  NOLI_SCENE_CHECK(source, node, n_results == 1, "\"%.200s\" has %d values instead of one", text,
                   n_results);
done:
  return status;
}

static NoliStatus parse(const NoliSceneSource* source, const NoliSceneNode* node, bool time_only,
                        NoliSceneExpression* expression) {
  NoliStatus status = NOLI_OK;
  const char* text = noli_scene_string(node);
  mupSetExpr(expression->parser, text);
  int n_results = mupError(expression->parser) == 0 ? try_parse(expression->parser) : 0;
  if (n_results == 0) {
    // what needs the position parses only now
    define_position(expression->parser, expression->variables);
    n_results = try_parse(expression->parser);
    NOLI_SCENE_CHECK(source, node, n_results == 0 || !time_only,
                     "\"%.200s\" may depend on t only, not on X, Y, Z", text);
    expression->uses_position = true;
  }
  NOLI_TRY(check_parsed(source, node, expression->parser, n_results, "; variables are t, X, Y, Z"));
done:
  return status;
}

// Refuses an assignment, and more than the memory has room for: the parser ends the program where
// memory is refused to it.
static NoliStatus create_parser(const NoliSceneSource* source, const NoliSceneNode* node,
                                void** parser) {
  NoliStatus status = NOLI_OK;
  const char* text = noli_scene_string(node);
  int assignment = find_assignment(text);
  NOLI_SCENE_CHECK(source, node, assignment < 0,
                   "\"%.200s\": assignment at character %d; expressions compare with ==", text,
                   assignment + 1);
  NOLI_TRY(noli_require_memory(source->context, PARSER_BYTES));
  *parser = mupCreate(muBASETYPE_FLOAT);
  NOLI_CHECK(source->context, *parser != NULL, NOLI_ERROR_MEMORY, "out of memory");
  define_functions(*parser);
done:
  return status;
}

NoliStatus noli_scene_compile(const NoliSceneSource* source, const NoliSceneNode* node,
                              bool time_only, NoliSceneVariables* variables,
                              NoliSceneExpression* expression) {
  NoliStatus status = NOLI_OK;
  *expression = (NoliSceneExpression){.constant = noli_scene_number(node), .variables = variables};
  if (json_is_number(node->value)) {
    goto done;
  }
  NOLI_TRY(create_parser(source, node, &expression->parser));
  mupDefineVar(expression->parser, "t", &variables->t);
  NOLI_TRY(parse(source, node, time_only, expression));
done:
  if (status != NOLI_OK) {
    noli_scene_release_expression(expression);
  }
  return status;
}

NoliStatus noli_scene_refuse_time(const NoliSceneSource* source, const NoliSceneNode* node,
                                  NoliSceneExpression* expression) {
  NoliStatus status = NOLI_OK;
  if (expression->parser != NULL) {
    mupRemoveVar(expression->parser, "t");
    NOLI_SCENE_CHECK(source, node, try_parse(expression->parser) != 0,
                     "\"%.200s\" may depend on X, Y, Z only, not on t", noli_scene_string(node));
  }
done:
  return status;
}

NoliStatus noli_scene_compile_vector(const NoliSceneSource* source, const NoliSceneNode* node,
                                     bool time_only, NoliSceneVariables* variables,
                                     NoliSceneExpression expression[3]) {
  NoliStatus status = NOLI_OK;
  for (size_t i = 0; i < 3; i++) {
    NoliSceneNode item = noli_scene_item(node, i);
    NOLI_TRY(noli_scene_compile(source, &item, time_only, variables, &expression[i]));
  }
done:
  return status;
}

struct NoliSceneLock {
  pthread_mutex_t in_use;
  atomic_int forks; // when the mutex was made
};

// A thread that evaluated while another one forked is not in the child, where it never unlocks.
// Evaluations begin with all variables, so that an interrupted one does not matter.
static void replace_after_fork(NoliSceneLock* lock) {
  noli_lock(NOLI_LOCK_EXPRESSIONS);
  if (atomic_load(&lock->forks) != noli_fork_count()) {
    pthread_mutex_init(&lock->in_use, NULL);
    atomic_store(&lock->forks, noli_fork_count());
  }
  noli_unlock(NOLI_LOCK_EXPRESSIONS);
}

NoliStatus noli_scene_create_lock(NoliContext* context, NoliSceneLock** lock) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW_ZERO(context, *lock, 1);
  pthread_mutex_init(&(*lock)->in_use, NULL);
  atomic_init(&(*lock)->forks, noli_fork_count());
done:
  return status;
}

void noli_scene_release_lock(NoliContext* context, NoliSceneLock** lock) {
  if (*lock != NULL) {
    pthread_mutex_destroy(&(*lock)->in_use);
    noli_free(context, *lock);
    *lock = NULL;
  }
}

void noli_scene_begin_evaluation(NoliSceneVariables* variables) {
  if (variables->lock != NULL) {
    if (atomic_load(&variables->lock->forks) != noli_fork_count()) {
      replace_after_fork(variables->lock);
    }
    pthread_mutex_lock(&variables->lock->in_use);
  }
}

void noli_scene_end_evaluation(NoliSceneVariables* variables) {
  if (variables->lock != NULL) {
    pthread_mutex_unlock(&variables->lock->in_use);
  }
}

double noli_scene_evaluate(const NoliSceneExpression* expression, double t) {
  if (expression->parser == NULL) {
    return expression->constant;
  }
  expression->variables->t = t;
  double value = mupEval(expression->parser);
  return mupError(expression->parser) == 0 ? value : (double)NAN;
}

void noli_scene_release_expression(NoliSceneExpression* expression) {
  if (expression->parser != NULL) {
    mupRelease(expression->parser);
    expression->parser = NULL;
  }
}

// ---- formulas -----------------------------------------------------------------------------------

// The first step of differences, relative to a number.
#define FORMULA_STEP 0.02

NoliStatus noli_scene_compile_formula(const NoliSceneSource* source, const NoliSceneNode* node,
                                      int32_t n, const char* const* name, NoliSceneLock* lock,
                                      NoliSceneFormula* formula) {
  NoliStatus status = NOLI_OK;
  int n_results = 0;
  *formula = (NoliSceneFormula){.n = n, .lock = lock};
  NOLI_NEW_ZERO(source->context, formula->value, n);
  NOLI_TRY(create_parser(source, node, &formula->parser));
  for (int32_t i = 0; i < n; i++) {
    mupDefineVar(formula->parser, name[i], &formula->value[i]);
    NOLI_SCENE_CHECK(source, node, mupError(formula->parser) == 0,
                     "\"%.80s\" cannot be a variable; names have letters, digits and _", name[i]);
    formula->value[i] = 1.0;
  }
  mupSetExpr(formula->parser, noli_scene_string(node));
  n_results = mupError(formula->parser) == 0 ? try_parse(formula->parser) : 0;
  NOLI_TRY(check_parsed(source, node, formula->parser, n_results,
                        "; variables are the names of its goals"));
done:
  if (status != NOLI_OK) {
    noli_scene_release_formula(source->context, formula);
  }
  return status;
}

void noli_scene_release_formula(NoliContext* context, NoliSceneFormula* formula) {
  if (formula->parser != NULL) {
    mupRelease(formula->parser);
  }
  noli_free(context, formula->value);
  *formula = (NoliSceneFormula){0};
}

static double value_with(NoliSceneFormula* formula, int32_t index, double number) {
  double keep = formula->value[index];
  formula->value[index] = number;
  double value = mupEval(formula->parser);
  formula->value[index] = keep;
  return mupError(formula->parser) == 0 ? value : (double)NAN;
}

// Larger steps that leave the domain are left out.
static double derivative_by(NoliSceneFormula* formula, int32_t index) {
  double at = formula->value[index], h = FORMULA_STEP * (at != 0.0 ? fabs(at) : 1.0);
  NoliDifference table = noli_difference_begin();
  for (int level = 0; level < NOLI_DIFFERENCE_LEVELS; level++, h *= 0.5) {
    double up = at + h, down = at - h;
    noli_difference_add(&table, 0.5 * (up - down), value_with(formula, index, down),
                        value_with(formula, index, up));
  }
  return table.derivative;
}

bool noli_scene_evaluate_formula(void* user, const double* number, double* value,
                                 double* derivative) {
  NoliSceneFormula* formula = user;
  NoliSceneVariables turn = {.lock = formula->lock};
  noli_scene_begin_evaluation(&turn);
  memcpy(formula->value, number, sizeof *number * (size_t)formula->n);
  *value = value_with(formula, 0, number[0]);
  bool finite = isfinite(*value);
  for (int32_t i = 0; i < formula->n && derivative != NULL; i++) {
    derivative[i] = derivative_by(formula, i);
    finite = finite && isfinite(derivative[i]);
  }
  noli_scene_end_evaluation(&turn);
  return finite;
}
