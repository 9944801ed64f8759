// Expressions of PolyFEM: translated, evaluated, and compared with the formulas in C.
#include "scene/scene_support.h"

#include "scene/expression.h"
#include "import/polyfem/expression.h"

typedef struct Place {
  double x, y, z, t;
} Place;

// Translates, compiles and evaluates at several places.
static double evaluate(NoliContext* context, const char* text, double t0, Place p, char* shown) {
  NoliSceneText out = {0};
  NoliPolyfemLevel level;
  NoliSceneSource source = {.context = context, .name = "scene.json", .text = "{}", .size = 2};
  NoliSceneNode node = noli_scene_root(json_string(text));
  NoliStatus status = noli_polyfem_translate(&source, &node, t0, &out, &level);
  if (status != NOLI_OK) {
    print_error("%s: %s\n", text, noli_context_message(context));
  }
  ASSERT_OK(status);
  snprintf(shown, 500, "%s", out.data);
  NoliSceneNode native = noli_scene_root(json_string(out.data));
  NoliSceneVariables variables = {.position = {p.x, p.y, p.z}};
  NoliSceneExpression expression;
  ASSERT_OK(noli_scene_compile(&source, &native, false, &variables, &expression));
  double value = noli_scene_evaluate(&expression, p.t);
  noli_scene_release_expression(&expression);
  json_decref(node.value);
  json_decref(native.value);
  noli_array_free(context, &out);
  return value;
}

static double step(double a) {
  return a < 0 ? 0 : a > 1 ? 1 : 3 * a * a - 2 * a * a * a;
}

#define CASE(text, formula)                                                                        \
  do {                                                                                             \
    for (int i = 0; i < 20; i++) {                                                                 \
      double x = test_random(&random, -2, 2), y = test_random(&random, -2, 2);                     \
      double z = test_random(&random, -2, 2), t = test_random(&random, 0, 3);                      \
      (void)x, (void)y, (void)z, (void)t;                                                          \
      double want = (formula);                                                                     \
      double got = evaluate(context, text, 0.0, (Place){x, y, z, t}, shown);                       \
      if (!(fabs(got - want) <= 1e-13 * (1 + fabs(want))) && !(isnan(got) && isnan(want))) {       \
        print_error("%s -> %s: got %.17g, want %.17g\n", text, shown, got, want);                  \
        fail();                                                                                    \
      }                                                                                            \
    }                                                                                              \
  } while (0)

static void operators_group_as_they_do_there(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {7};
  char shown[500];
  CASE("-2^2", 4.0);
  CASE("-x^2", x * x);
  CASE("2^3^2", 64.0);
  CASE("2^-1", 0.5);
  CASE("y*-x", -y * x);
  CASE("y - -x", y + x);
  CASE("--x", x);
  CASE("-(x + y)", -(x + y));
  CASE("1 - (x - y)", 1 - (x - y));
  CASE("x - y - z", x - y - z);
  CASE("1/(2*y)", 1 / (2 * y));
  CASE("1/2*y", y / 2);
  CASE("x*(y + z)", x * (y + z));
  CASE("(x, y, z)", z);
  CASE("t%0.7", fmod(t, 0.7));
  CASE("x + 7%4*2", x + 6);
  CASE("1.5e1 + .5 + 2.", 17.5);
  CASE("2e-1*t", 0.2 * t);
  CASE("sin x", sin(x));
  CASE("sin x^2", sin(x) * sin(x));
  CASE("-sin -x", sin(x));
  CASE("cos(x)^2", cos(x) * cos(x));
  test_context_done(&context);
}

static void functions_mean_the_same(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {11};
  char shown[500];
  const double pi = 3.14159265358979323846;

  // random arguments for each pair of formulas
  CASE("pi", pi);
  CASE("pi() + e", pi + exp(1.0));
  CASE("ln(t)", log(t));
  CASE("log(t) + log10(t)", 2 * log10(t));
  CASE("pow(t, -x)", pow(t, -x));
  CASE("pow(x + y, 2)", (x + y) * (x + y));
  CASE("floor(x) + ceil(y)", floor(x) + ceil(y));
  CASE("abs(x) + sqrt(t) + exp(y)", fabs(x) + sqrt(t) + exp(y));
  CASE("atan2(y, x)", atan2(y, x));
  CASE("sinh(x) + cosh(x) + tanh(x) + tan(x)", sinh(x) + cosh(x) + tanh(x) + tan(x));
  CASE("min(x, y) + 10*max(x, y)", fmin(x, y) + 10 * fmax(x, y));
  CASE("smoothstep(x)", step(x));
  CASE("2*half_smoothstep(x)", 2 * (2 * step((x + 1) / 2) - 1));
  CASE("1/deg2rad(x + y)", 180 / (pi * (x + y)));
  CASE("2*rotate_2D_x(x + 1, y, -t)", 2 * ((x + 1) * cos(-t) - y * sin(-t)));
  CASE("rotate_2D_y(x, y - 1, t*pi/2) - (y - 1)",
       x * sin(t * pi / 2) + (y - 1) * cos(t * pi / 2) - (y - 1));
  CASE("if(x - y, x, -y) + 1", (x - y >= 0 ? x : -y) + 1);
  CASE("2*compare(x, y)", x < y ? 2.0 : 0.0);
  CASE("4.5*smooth_abs(t - 1, 5) - 4.5", 4.5 * tanh(5 * (t - 1)) * (t - 1) - 4.5);
  CASE("3*sign(x)", x > 0 ? 3.0 : -3.0);
  CASE("max(-8.9 / 7 * t, -8.9)", fmax(-8.9 / 7 * t, -8.9));
  CASE("y*cos((-0.4*pi)*t)-z*sin((-0.4*pi)*t)-y",
       y * cos(-0.4 * pi * t) - z * sin(-0.4 * pi * t) - y);

  // the translated text
  ASSERT_NEAR(evaluate(context, "t*2", 1.5, (Place){.t = 2}, shown), 7.0, 0.0);
  assert_string_equal(shown, "(t + 1.5)*2");
  (void)evaluate(context, "((x) + (-0.4*y))*((t))", 0, (Place){.t = 2}, shown);
  assert_string_equal(shown, "(X + (-0.4*Y))*t");
  test_context_done(&context);
}

// Random expressions of both grammars' common part keep their value; invalid text never crashes.
static void random_text_is_read_or_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {3};

  // random sequences of pieces
  static const char* const pieces[] = {"x", "t", "2", "-",   "+",  "*", "/",  "^", "(",
                                       ")", ",", "%", "sin", "if", ".", "1e", " ", "min("};
  int n_read = 0;
  for (int i = 0; i < 3000; i++) {
    char text[200] = "";
    int n = 1 + (int)(test_random_bits(&random) % 6);
    for (int k = 0; k < n; k++) {
      strcat(text, pieces[test_random_bits(&random) % (sizeof pieces / sizeof *pieces)]);
    }
    NoliSceneText out = {0};
    NoliPolyfemLevel level;
    NoliSceneSource source = {.context = context, .name = "s", .text = "{}", .size = 2};
    NoliSceneNode node = noli_scene_root(json_string(text));
    if (noli_polyfem_translate(&source, &node, 0.0, &out, &level) == NOLI_OK) {
      // expressions that we write can be read
      NoliSceneNode native = noli_scene_root(json_string(out.data));
      NoliSceneVariables variables = {0};
      NoliSceneExpression expression;
      NoliStatus status = noli_scene_compile(&source, &native, false, &variables, &expression);
      if (status != NOLI_OK) {
        print_error("%s -> %s: %s\n", text, out.data, noli_context_message(context));
      }
      ASSERT_OK(status);
      noli_scene_release_expression(&expression);
      json_decref(native.value);
      n_read++;
    }
    json_decref(node.value);
    noli_array_free(context, &out);
  }
  assert_true(n_read > 100);
  test_context_done(&context);
}

static void failures_say_where(void** state) {
  (void)state;

  // each error with its position
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"2*foo(x)", "unknown name at character 3"},
      {"(x + 1", "a parenthesis is missing at character 7"},
      {"min(x)", "too few arguments at character 6"},
      {"x +", "unexpected end at character 4"},
      {"x y", "unexpected symbol at character 3"},
      {"fac(3)", "a function that Noli has not at character 1"},
      {"0x10", "a hexadecimal number at character 1"},
      {"", "unexpected end at character 1"},
      {"max 1", "arguments are missing"},
  };
  NoliContext* context = test_context(1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    NoliSceneText out = {0};
    NoliPolyfemLevel level;
    NoliSceneSource source = {.context = context, .name = "s", .text = "{}", .size = 2};
    NoliSceneNode node = noli_scene_root(json_string(cases[i].text));
    ASSERT_STATUS(noli_polyfem_translate(&source, &node, 0.0, &out, &level), NOLI_ERROR_FORMAT);
    if (strstr(noli_context_message(context), cases[i].message) == NULL) {
      print_error("%s: %s\n", cases[i].text, noli_context_message(context));
      fail();
    }
    json_decref(node.value);
    noli_array_free(context, &out);
  }

  // nested functions double the length
  char nested[2000] = "t";
  for (int k = 0; k < 20; k++) {
    char inner[2000];
    snprintf(inner, sizeof inner, "smooth_abs(%.1900s,2)", nested);
    strcpy(nested, inner);
  }
  NoliSceneText out = {0};
  NoliPolyfemLevel level;
  NoliSceneSource source = {.context = context, .name = "s", .text = "{}", .size = 2};
  NoliSceneNode node = noli_scene_root(json_string(nested));
  ASSERT_STATUS(noli_polyfem_translate(&source, &node, 0.0, &out, &level), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "the expression grows too long"));
  json_decref(node.value);
  noli_array_free(context, &out);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators_group_as_they_do_there),
      cmocka_unit_test(functions_mean_the_same),
      cmocka_unit_test(random_text_is_read_or_refused),
      cmocka_unit_test(failures_say_where),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
