// Interpolations in time: factors of the displacements that conditions give.
#include "import/polyfem/polyfem.h"
#include "import/polyfem/expression.h"

#include <string.h>

static NoliStatus read_numbers(NoliPolyfem* import, const NoliSceneNode* node, double** values,
                               size_t* n) {
  NoliStatus status = NOLI_OK;
  *n = noli_scene_size(node);
  NOLI_POLYFEM_CHECK(import, node, *n > 0, "must be a list of numbers");
  NOLI_NEW(import->source.context, *values, (int64_t)*n);
  for (size_t i = 0; i < *n; i++) {
    NoliSceneNode item = noli_scene_item(node, i);
    (*values)[i] = 0.0;
    NOLI_TRY(noli_polyfem_number(import, &item, NOLI_POLYFEM_NONE, &(*values)[i]));
  }
done:
  return status;
}

static NoliStatus append_number(NoliPolyfem* import, NoliSceneText* text, double value) {
  NoliStatus status = NOLI_OK;
  NoliPolyfemLevel level;
  int64_t start = text->count;
  NOLI_TRY(noli_polyfem_append_number(import->source.context, text, value, &level));
  NOLI_TRY(noli_polyfem_wrap(import->source.context, text, start, &level, NOLI_POLYFEM_ATOM));
done:
  return status;
}

// "A + (t - T)*S"
static NoliStatus append_line(NoliPolyfem* import, NoliSceneText* text, double value, double time,
                              double slope) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = import->source.context;
  NOLI_TRY(append_number(import, text, value));
  if (slope != 0.0) {
    NOLI_TRY(noli_scene_append(context, text, " + (t - "));
    NOLI_TRY(append_number(import, text, time));
    NOLI_TRY(noli_scene_append(context, text, ")*"));
    NOLI_TRY(append_number(import, text, slope));
  }
done:
  return status;
}

// "(t < T0 ? first : t < T1 ? ... : last)"; times are made to count from 0.
static NoliStatus append_pieces(NoliPolyfem* import, NoliSceneText* text, const double* points,
                                const double* values, size_t n, bool linear, bool extrapolate) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = import->source.context;
  NOLI_TRY(noli_scene_append(context, text, "("));
  for (size_t i = 0; i <= n; i++) {
    // piece i ends at points[i]
    size_t a = i == 0 ? 0 : i - 1;
    bool outside = i == 0 || i == n;
    size_t from = i == n && n > 1 ? n - 2 : a;
    bool slopes = linear && n > 1 && (!outside || extrapolate);
    double slope =
        slopes ? (values[from + 1] - values[from]) / (points[from + 1] - points[from]) : 0.0;
    if (i < n) {
      NOLI_TRY(noli_scene_append(context, text, "t < "));
      NOLI_TRY(append_number(import, text, points[i] - import->t0));
      NOLI_TRY(noli_scene_append(context, text, " ? "));
    }
    NOLI_TRY(append_line(import, text, values[a], points[a] - import->t0, slope));
    NOLI_TRY(noli_scene_append(context, text, i < n ? " : " : ")"));
  }
done:
  return status;
}

static NoliStatus append_piecewise(NoliPolyfem* import, const NoliSceneNode* node, bool linear,
                                   NoliSceneText* text) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode points_node = noli_scene_member(node, "points");
  NoliSceneNode values_node = noli_scene_member(node, "values");
  NoliSceneNode extend_node = noli_scene_member(node, "extend");
  double *points = NULL, *values = NULL;
  size_t n = 0, n_values = 0;
  const char* extend = "constant";
  NOLI_TRY(read_numbers(import, &points_node, &points, &n));
  NOLI_TRY(read_numbers(import, &values_node, &values, &n_values));
  NOLI_POLYFEM_CHECK(import, &values_node, n == n_values, "%zu points and %zu values", n, n_values);
  for (size_t i = 1; i < n; i++) {
    NOLI_POLYFEM_CHECK(import, &points_node, points[i] > points[i - 1], "must rise");
  }
  NOLI_TRY(noli_polyfem_text(import, &extend_node, &extend));
  bool extrapolate = strcmp(extend, "extrapolate") == 0;
  NOLI_POLYFEM_CHECK(import, &extend_node, extrapolate || strcmp(extend, "constant") == 0,
                     "only \"constant\" and \"extrapolate\" are there");
  NOLI_TRY(append_pieces(import, text, points, values, n, linear, extrapolate));
done:
  noli_free(import->source.context, points);
  noli_free(import->source.context, values);
  return status;
}

NoliStatus noli_polyfem_append_interpolation(NoliPolyfem* import, const NoliSceneNode* node,
                                             NoliSceneText* text) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = import->source.context;
  NoliSceneNode type_node = noli_scene_member(node, "type");
  const char* type = json_is_string(node->value) ? noli_scene_string(node) : "none";

  // none: a factor of one
  NOLI_TRY(noli_polyfem_text(import, &type_node, &type));
  if (strcmp(type, "none") == 0) {
    goto done;
  }

  // the time, clamped to a ramp, or pieces
  if (strcmp(type, "linear") == 0 && import->t0 == 0.0) {
    NOLI_TRY(noli_scene_append(context, text, "t"));
  } else if (strcmp(type, "linear") == 0) {
    NOLI_TRY(noli_scene_append(context, text, "(t + "));
    NOLI_TRY(append_number(import, text, import->t0));
    NOLI_TRY(noli_scene_append(context, text, ")"));
  } else if (strcmp(type, "linear_ramp") == 0) {
    NoliSceneNode from_node = noli_scene_member(node, "from"),
                  to_node = noli_scene_member(node, "to");
    double from = 0.0, to = 0.0;
    NOLI_POLYFEM_CHECK(import, node, to_node.value != NULL, "\"to\" is missing");
    NOLI_TRY(noli_polyfem_number(import, &from_node, NOLI_POLYFEM_TIME, &from));
    NOLI_TRY(noli_polyfem_number(import, &to_node, NOLI_POLYFEM_TIME, &to));
    NOLI_TRY(noli_scene_append(context, text, "clamp(t - "));
    NOLI_TRY(append_number(import, text, from - import->t0));
    NOLI_TRY(noli_scene_append(context, text, ", 0, "));
    NOLI_TRY(append_number(import, text, to - from));
    NOLI_TRY(noli_scene_append(context, text, ")"));
  } else {
    bool linear = strcmp(type, "piecewise_linear") == 0;
    NOLI_POLYFEM_CHECK(
        import, &type_node, linear || strcmp(type, "piecewise_constant") == 0,
        "interpolation \"%.40s\" is not supported; Noli has none, linear, linear_ramp, "
        "piecewise_constant, piecewise_linear",
        type);
    NOLI_TRY(append_piecewise(import, node, linear, text));
  }
done:
  return status;
}
