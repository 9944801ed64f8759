#define _POSIX_C_SOURCE 200809L // pthread_mutex_t
#include "scene/expression.h"

#include <math.h>
#include <muParserDLL.h>
#include <pthread.h>
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

static void define_names(muParserHandle_t parser, NoliSceneVariables* variables) {
  mupDefineConst(parser, "pi", 3.14159265358979323846);
  mupDefineConst(parser, "e", 2.71828182845904523536);
  mupDefineFun1(parser, "floor", floor, 1);
  mupDefineFun1(parser, "ceil", ceil, 1);
  mupDefineFun2(parser, "fmod", fmod, 1);
  mupDefineFun3(parser, "clamp", clamp, 1);
  mupDefineFun3(parser, "smoothstep", smoothstep, 1);
  mupDefineVar(parser, "t", &variables->t);
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
  if (n_results == 0) {
    int code = mupGetErrorCode(expression->parser), position = mupGetErrorPos(expression->parser);
    char place[80] = "";
    // some errors have no place, some lie behind the end
    if (position >= 0 && (size_t)position < strlen(text)) {
      snprintf(place, sizeof place, " at character %d (\"%.20s\")", position + 1, text + position);
    }
    NOLI_SCENE_CHECK(source, node, false, "\"%.200s\": %s%s%s", text, error_text(code), place,
                     code == 1 ? "; variables are t, X, Y, Z" : "");
  }
  NOLI_SCENE_CHECK(source, node, n_results == 1, "\"%.200s\" has %d values instead of one", text,
                   n_results);
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
  const char* text = noli_scene_string(node);
  int assignment = find_assignment(text);
  NOLI_SCENE_CHECK(source, node, assignment < 0,
                   "\"%.200s\": assignment at character %d; expressions compare with ==", text,
                   assignment + 1);
  // the parser ends the program where memory is refused to it
  NOLI_TRY(noli_require_memory(source->context, PARSER_BYTES));
  expression->parser = mupCreate(muBASETYPE_FLOAT);
  NOLI_CHECK(source->context, expression->parser != NULL, NOLI_ERROR_MEMORY, "out of memory");
  define_names(expression->parser, variables);
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
};

NoliStatus noli_scene_create_lock(NoliContext* context, NoliSceneLock** lock) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW_ZERO(context, *lock, 1);
  pthread_mutex_init(&(*lock)->in_use, NULL);
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
