#include "import/polyfem/expression.h"

#include <math.h>
#include <string.h>

enum { MAX_DEPTH = 100, MAX_ARGUMENTS = 3, NAME_SIZE = 40, MAX_LENGTH = 100000 };

// ---- functions ----------------------------------------------------------------------------------

// In a form, $1 is an argument and #1 an argument that stands as an operand.
typedef struct Function {
  const char* name;
  int n_arguments;
  const char* form; // NULL: there is no such function here
  NoliPolyfemLevel level;
} Function;

static const Function functions[] = {
    {"pi", 0, "pi", NOLI_POLYFEM_ATOM},
    {"e", 0, "e", NOLI_POLYFEM_ATOM},
    {"abs", 1, "abs($1)", NOLI_POLYFEM_ATOM},
    {"acos", 1, "acos($1)", NOLI_POLYFEM_ATOM},
    {"asin", 1, "asin($1)", NOLI_POLYFEM_ATOM},
    {"atan", 1, "atan($1)", NOLI_POLYFEM_ATOM},
    {"atan2", 2, "atan2($1, $2)", NOLI_POLYFEM_ATOM},
    {"ceil", 1, "ceil($1)", NOLI_POLYFEM_ATOM},
    {"cos", 1, "cos($1)", NOLI_POLYFEM_ATOM},
    {"cosh", 1, "cosh($1)", NOLI_POLYFEM_ATOM},
    {"exp", 1, "exp($1)", NOLI_POLYFEM_ATOM},
    {"fac", 1, NULL, NOLI_POLYFEM_ATOM},
    {"floor", 1, "floor($1)", NOLI_POLYFEM_ATOM},
    {"ln", 1, "ln($1)", NOLI_POLYFEM_ATOM},
    {"log", 1, "log10($1)", NOLI_POLYFEM_ATOM},
    {"log10", 1, "log10($1)", NOLI_POLYFEM_ATOM},
    {"ncr", 2, NULL, NOLI_POLYFEM_ATOM},
    {"npr", 2, NULL, NOLI_POLYFEM_ATOM},
    {"pow", 2, "#1^#2", NOLI_POLYFEM_POWER},
    {"sin", 1, "sin($1)", NOLI_POLYFEM_ATOM},
    {"sinh", 1, "sinh($1)", NOLI_POLYFEM_ATOM},
    {"sqrt", 1, "sqrt($1)", NOLI_POLYFEM_ATOM},
    {"tan", 1, "tan($1)", NOLI_POLYFEM_ATOM},
    {"tanh", 1, "tanh($1)", NOLI_POLYFEM_ATOM},
    // those that PolyFEM adds
    {"min", 2, "min($1, $2)", NOLI_POLYFEM_ATOM},
    {"max", 2, "max($1, $2)", NOLI_POLYFEM_ATOM},
    {"sign", 1, "sign($1)", NOLI_POLYFEM_ATOM},
    {"smoothstep", 1, "smoothstep(0, 1, $1)", NOLI_POLYFEM_ATOM},
    {"half_smoothstep", 1, "2*smoothstep(-1, 1, $1) - 1", NOLI_POLYFEM_SUM},
    {"deg2rad", 1, "#1*pi/180", NOLI_POLYFEM_PRODUCT},
    {"rotate_2D_x", 3, "#1*cos($3) - #2*sin($3)", NOLI_POLYFEM_SUM},
    {"rotate_2D_y", 3, "#1*sin($3) + #2*cos($3)", NOLI_POLYFEM_SUM},
    {"smooth_abs", 2, "tanh(#2*#1)*#1", NOLI_POLYFEM_PRODUCT},
    {"if", 3, "($1 >= 0 ? $2 : $3)", NOLI_POLYFEM_ATOM},
    {"compare", 2, "($1 < $2 ? 1 : 0)", NOLI_POLYFEM_ATOM},
};

static const Function* find_function(const char* name) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (strcmp(functions[i].name, name) == 0) {
      return &functions[i];
    }
  }
  return NULL;
}

// ---- writing ------------------------------------------------------------------------------------

// Inserts a short text before what was appended since `start`.
static NoliStatus insert(NoliContext* context, NoliSceneText* out, int64_t start,
                         const char* text) {
  NoliStatus status = NOLI_OK;
  int64_t n = (int64_t)strlen(text);
  NOLI_TRY(noli_scene_append(context, out, "%s", text));
  memmove(out->data + start + n, out->data + start, (size_t)(out->count - n - start));
  memcpy(out->data + start, text, (size_t)n);
done:
  return status;
}

NoliStatus noli_polyfem_wrap(NoliContext* context, NoliSceneText* out, int64_t start,
                             NoliPolyfemLevel* level, NoliPolyfemLevel need) {
  NoliStatus status = NOLI_OK;
  if (*level >= need && out->data[start] != '-') {
    goto done;
  }
  NOLI_TRY(insert(context, out, start, "("));
  NOLI_TRY(noli_scene_append(context, out, ")"));
  *level = NOLI_POLYFEM_ATOM;
done:
  return status;
}

NoliStatus noli_polyfem_append_number(NoliContext* context, NoliSceneText* out, double value,
                                      NoliPolyfemLevel* level) {
  NoliStatus status = NOLI_OK;
  bool whole = value == floor(value) && fabs(value) < 1e15;
  json_t* number = whole ? json_integer((json_int_t)value) : json_real(value);
  NOLI_CHECK(context, number != NULL, NOLI_ERROR_MEMORY, "out of memory");
  NOLI_TRY(noli_scene_append_json(context, out, number, 0));
  *level = value < 0.0 ? NOLI_POLYFEM_SIGN : NOLI_POLYFEM_ATOM;
done:
  json_decref(number);
  return status;
}

typedef struct Argument {
  NoliSceneText text;
  NoliPolyfemLevel level;
} Argument;

static NoliStatus append_form(NoliContext* context, const Function* function, Argument* arguments,
                              NoliSceneText* out) {
  NoliStatus status = NOLI_OK;
  for (const char* at = function->form; *at != '\0'; at++) {
    if (*at != '$' && *at != '#') {
      NOLI_TRY(noli_scene_append(context, out, "%c", *at));
      continue;
    }
    Argument* argument = &arguments[at[1] - '1'];
    int64_t start = out->count;
    NoliPolyfemLevel level = argument->level;
    NOLI_TRY(noli_scene_append(context, out, "%s", argument->text.data));
    if (*at == '#') {
      NOLI_TRY(noli_polyfem_wrap(context, out, start, &level, NOLI_POLYFEM_ATOM));
    }
    at++;
  }
done:
  return status;
}

// ---- reading ------------------------------------------------------------------------------------

typedef struct Reader {
  const NoliSceneSource* source;
  const NoliSceneNode* node;
  const char* text; // all of it
  const char* at;   // where reading continues
  double t0;
  int depth;
} Reader;

static NoliStatus polyfem_expression_read_list(Reader* reader, NoliSceneText* out,
                                               NoliPolyfemLevel* level);
static NoliStatus read_sum(Reader* reader, NoliSceneText* out, NoliPolyfemLevel* level);
static NoliStatus read_signed(Reader* reader, NoliSceneText* out, NoliPolyfemLevel* level);

static void skip_blanks(Reader* reader) {
  while (*reader->at != '\0' && strchr(" \t\r\n", *reader->at) != NULL) {
    reader->at++;
  }
}

static bool polyfem_expression_take(Reader* reader, char wanted) {
  skip_blanks(reader);
  if (*reader->at != wanted) {
    return false;
  }
  reader->at++;
  return true;
}

static NoliStatus fail_here(Reader* reader, const char* what) {
  return noli_scene_fail(reader->source, reader->node, NOLI_ERROR_FORMAT,
                         "\"%.200s\": %s at character %d", reader->text, what,
                         (int)(reader->at - reader->text) + 1);
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool polyfem_expression_is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Copies digits; returns how many.
static int read_digits(Reader* reader, NoliSceneText* out, NoliStatus* status) {
  const char* start = reader->at;
  while (is_digit(*reader->at)) {
    reader->at++;
  }
  int n = (int)(reader->at - start);
  *status = noli_scene_append(reader->source->context, out, "%.*s", n, start);
  return n;
}

// Numbers such as "5." and ".5" get the digit that they lack.
static NoliStatus read_number(Reader* reader, NoliSceneText* out) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->source->context;
  if (reader->at[0] == '0' && (reader->at[1] == 'x' || reader->at[1] == 'X')) {
    return fail_here(reader, "a hexadecimal number");
  }
  int n_whole = read_digits(reader, out, &status);
  NOLI_TRY(status);
  NOLI_TRY(noli_scene_append(context, out, "%s", n_whole == 0 ? "0" : ""));
  if (*reader->at == '.') {
    reader->at++;
    NOLI_TRY(noli_scene_append(context, out, "."));
    int n_digits = read_digits(reader, out, &status);
    NOLI_TRY(status);
    NOLI_TRY(noli_scene_append(context, out, "%s", n_digits == 0 ? "0" : ""));
    if (n_whole + n_digits == 0) {
      status = fail_here(reader, "not a number");
      goto done;
    }
  }

  const char* exponent = reader->at;
  if (*exponent == 'e' || *exponent == 'E') {
    int skip = exponent[1] == '-' || exponent[1] == '+' ? 2 : 1;
    if (is_digit(exponent[skip])) {
      NOLI_TRY(noli_scene_append(context, out, "e%s", exponent[1] == '-' ? "-" : ""));
      reader->at += skip;
      (void)read_digits(reader, out, &status);
    }
  }
done:
  return status;
}

// The arguments of a function in parentheses; one argument may stand without.
static NoliStatus read_arguments(Reader* reader, const Function* function, Argument* arguments) {
  NoliStatus status = NOLI_OK;
  if (function->n_arguments == 0) {
    if (polyfem_expression_take(reader, '(') && !polyfem_expression_take(reader, ')')) {
      status = fail_here(reader, "a parenthesis is missing");
    }
    goto done;
  }

  if (function->n_arguments == 1) {
    status = read_signed(reader, &arguments[0].text, &arguments[0].level);
    goto done;
  }
  if (!polyfem_expression_take(reader, '(')) {
    status = fail_here(reader, "arguments are missing");
    goto done;
  }
  for (int i = 0; i < function->n_arguments; i++) {
    NOLI_TRY(read_sum(reader, &arguments[i].text, &arguments[i].level));
    if (!polyfem_expression_take(reader, i + 1 < function->n_arguments ? ',' : ')')) {
      status = fail_here(reader, i + 1 < function->n_arguments ? "too few arguments"
                                                               : "a parenthesis is missing");
      goto done;
    }
  }
done:
  return status;
}

static NoliStatus read_function(Reader* reader, const Function* function, NoliSceneText* out,
                                NoliPolyfemLevel* level) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->source->context;
  Argument arguments[MAX_ARGUMENTS] = {0};
  NOLI_TRY(read_arguments(reader, function, arguments));
  NOLI_TRY(append_form(context, function, arguments, out));
  *level = function->level;
  // forms repeat their arguments, so nested ones grow fast
  if (out->count > MAX_LENGTH) {
    status = fail_here(reader, "the expression grows too long");
  }
done:
  for (int i = 0; i < MAX_ARGUMENTS; i++) {
    noli_array_free(context, &arguments[i].text);
  }
  return status;
}

static NoliStatus append_time(Reader* reader, NoliSceneText* out, NoliPolyfemLevel* level) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->source->context;
  NOLI_TRY(noli_scene_append(context, out, reader->t0 == 0.0 ? "t" : "(t + "));
  if (reader->t0 != 0.0) {
    NOLI_TRY(noli_polyfem_append_number(context, out, reader->t0, level));
    NOLI_TRY(noli_scene_append(context, out, ")"));
  }
  *level = NOLI_POLYFEM_ATOM;
done:
  return status;
}

static NoliStatus read_name(Reader* reader, NoliSceneText* out, NoliPolyfemLevel* level) {
  const char* start = reader->at;
  int n = 0;
  while (polyfem_expression_is_letter(start[n]) || is_digit(start[n]) || start[n] == '_') {
    n++;
  }
  char name[NAME_SIZE] = "";
  memcpy(name, start, (size_t)(n < NAME_SIZE - 1 ? n : NAME_SIZE - 1));
  if (n == 1 && strchr("xyz", name[0]) != NULL) {
    reader->at += n;
    *level = NOLI_POLYFEM_ATOM;
    return noli_scene_append(reader->source->context, out, "%c", name[0] - 'x' + 'X');
  }

  if (strcmp(name, "t") == 0) {
    reader->at += n;
    return append_time(reader, out, level);
  }
  const Function* function = find_function(name);
  if (function == NULL) {
    return fail_here(reader, "unknown name");
  }
  if (function->form == NULL) {
    return fail_here(reader, "a function that Noli has not");
  }
  reader->at += n;
  return read_function(reader, function, out, level);
}

static NoliStatus read_base(Reader* reader, NoliSceneText* out, NoliPolyfemLevel* level) {
  NoliStatus status = NOLI_OK;
  skip_blanks(reader);
  *level = NOLI_POLYFEM_ATOM;
  if (is_digit(*reader->at) || *reader->at == '.') {
    return read_number(reader, out);
  }
  if (polyfem_expression_is_letter(*reader->at)) {
    return read_name(reader, out, level);
  }
  if (!polyfem_expression_take(reader, '(')) {
    return fail_here(reader, *reader->at == '\0' ? "unexpected end" : "unexpected symbol");
  }
  NOLI_TRY(polyfem_expression_read_list(reader, out, level));
  if (!polyfem_expression_take(reader, ')')) {
    status = fail_here(reader, "a parenthesis is missing");
  }
done:
  return status;
}

// Signs and what they stand before: they bind tighter than ^.
static NoliStatus read_signed(Reader* reader, NoliSceneText* out, NoliPolyfemLevel* level) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->source->context;
  bool negative = false;
  if (reader->depth++ >= MAX_DEPTH) {
    return fail_here(reader, "too many levels");
  }
  for (;;) {
    if (polyfem_expression_take(reader, '-')) {
      negative = !negative;
    } else if (!polyfem_expression_take(reader, '+')) {
      break;
    }
  }
  int64_t start = out->count;
  NOLI_TRY(read_base(reader, out, level));
  if (negative) {
    NOLI_TRY(noli_polyfem_wrap(context, out, start, level, NOLI_POLYFEM_POWER));
    NOLI_TRY(insert(context, out, start, "-"));
    *level = NOLI_POLYFEM_SIGN;
  }
  reader->depth--;
done:
  return status;
}

// Chains of ^ group from the left.
static NoliStatus read_power(Reader* reader, NoliSceneText* out, NoliPolyfemLevel* level) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->source->context;
  int64_t start = out->count;
  NOLI_TRY(read_signed(reader, out, level));
  while (polyfem_expression_take(reader, '^')) {
    NOLI_TRY(noli_polyfem_wrap(context, out, start, level, NOLI_POLYFEM_ATOM));
    NOLI_TRY(noli_scene_append(context, out, "^"));
    int64_t right = out->count;
    NOLI_TRY(read_signed(reader, out, level));
    NOLI_TRY(noli_polyfem_wrap(context, out, right, level, NOLI_POLYFEM_ATOM));
    *level = NOLI_POLYFEM_POWER;
  }
done:
  return status;
}

static NoliStatus read_product(Reader* reader, NoliSceneText* out, NoliPolyfemLevel* level) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->source->context;
  int64_t start = out->count;
  NOLI_TRY(read_power(reader, out, level));

  for (;;) {
    if (polyfem_expression_take(reader, '%')) {
      NOLI_TRY(insert(context, out, start, "fmod("));
      NOLI_TRY(noli_scene_append(context, out, ", "));
      NOLI_TRY(read_power(reader, out, level));
      NOLI_TRY(noli_scene_append(context, out, ")"));
      *level = NOLI_POLYFEM_ATOM;
      continue;
    }
    char symbol = polyfem_expression_take(reader, '*')   ? '*'
                  : polyfem_expression_take(reader, '/') ? '/'
                                                         : '\0';
    if (symbol == '\0') {
      break;
    }
    // a leading sign may stay: the product is the same
    if (*level < NOLI_POLYFEM_PRODUCT) {
      NOLI_TRY(noli_polyfem_wrap(context, out, start, level, NOLI_POLYFEM_PRODUCT));
    }
    NOLI_TRY(noli_scene_append(context, out, "%c", symbol));
    int64_t right = out->count;
    NOLI_TRY(read_power(reader, out, level));
    NOLI_TRY(noli_polyfem_wrap(context, out, right, level, NOLI_POLYFEM_SIGN));
    *level = NOLI_POLYFEM_PRODUCT;
  }
done:
  return status;
}

static NoliStatus read_sum(Reader* reader, NoliSceneText* out, NoliPolyfemLevel* level) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->source->context;
  NOLI_TRY(read_product(reader, out, level));
  for (;;) {
    char symbol = polyfem_expression_take(reader, '+')   ? '+'
                  : polyfem_expression_take(reader, '-') ? '-'
                                                         : '\0';
    if (symbol == '\0') {
      break;
    }
    NOLI_TRY(noli_scene_append(context, out, " %c ", symbol));
    int64_t right = out->count;
    NOLI_TRY(read_product(reader, out, level));
    NOLI_TRY(noli_polyfem_wrap(context, out, right, level, NOLI_POLYFEM_PRODUCT));
    *level = NOLI_POLYFEM_SUM;
  }
done:
  return status;
}

// Reads several values, of which the last one counts.
static NoliStatus polyfem_expression_read_list(Reader* reader, NoliSceneText* out,
                                               NoliPolyfemLevel* level) {
  NoliStatus status = NOLI_OK;
  int64_t start = out->count;
  NOLI_TRY(read_sum(reader, out, level));
  while (polyfem_expression_take(reader, ',')) {
    out->count = start;
    NOLI_TRY(read_sum(reader, out, level));
  }
done:
  return status;
}

NoliStatus noli_polyfem_translate(const NoliSceneSource* source, const NoliSceneNode* node,
                                  double t0, NoliSceneText* out, NoliPolyfemLevel* level) {
  NoliStatus status = NOLI_OK;
  const char* text = noli_scene_string(node);
  Reader reader = {.source = source, .node = node, .text = text, .at = text, .t0 = t0};
  NOLI_TRY(polyfem_expression_read_list(&reader, out, level));
  skip_blanks(&reader);
  if (*reader.at != '\0') {
    status = fail_here(&reader, "unexpected symbol");
  }
done:
  return status;
}
