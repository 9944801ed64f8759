// Searches for parameters: build_design.c.
#include "scene/format_fields.h"

// ---- plain values -------------------------------------------------------------------------------

FROM_TABLE(goal_quantity, NOLI_CHOICE_GOAL_QUANTITY);
FROM_TABLE(goal_reduction, NOLI_CHOICE_GOAL_REDUCTION);
FROM_TABLE(goal_form, NOLI_CHOICE_GOAL_FORM);
FROM_TABLE(design_control, NOLI_CHOICE_DESIGN_CONTROL);
FROM_TABLE(design_method, NOLI_CHOICE_DESIGN_METHOD);
FROM_TABLE(parameter_kind, NOLI_CHOICE_PARAMETER);
FROM_TABLE(parameter_scope, NOLI_CHOICE_PARAMETER_SCOPE);

// ---- designs ------------------------------------------------------------------------------------

static const NoliSceneType goal_time_word = {
    .kind = NOLI_SCENE_CHOICE, .what = "\"start\" or \"end\"", .choices = CHOICES("start", "end")};
static const NoliSceneType goal_time = EITHER(&number, &goal_time_word);
static const NoliSceneType component_name = {
    .kind = NOLI_SCENE_CHOICE, .what = "a string", .choices = CHOICES("x", "y", "z", "magnitude")};
static const NoliSceneType gradient_mode = {.kind = NOLI_SCENE_CHOICE,
                                            .what = "a string",
                                            .choices =
                                                CHOICES("adjoint", "tangent", "differences")};
static const NoliSceneType cage_cells = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(1.0, false, 64.0, false)};
static const NoliSceneType cage_vector = FIXED_LIST(cage_cells, 3, "a list of 3 integers");
OBJECT(hold, "hold", NOLI_SCENE_ANY, REQUIRED("min", vector, NULL, "Minimum corner."),
       REQUIRED("max", vector, NULL, "Maximum corner."));
SHARED_OBJECT(
    noli_scene_goal_format, "goal", NOLI_SCENE_AT_MOST_ONE,
    REQUIRED("quantity", goal_quantity, NULL,
             "What is measured: see docs/howto/design_problems.md.", INTO(NoliGoalDef, quantity)),
    REQUIRED("body", text, NULL, "Name of a body or obstacle."),
    FIELD("name", text, NULL, NULL, "In an `expression`: letters, digits and _."),
    FIELD("select", noli_scene_selection, "\"all\"", NULL,
          "Selected vertices, by initial position; a list is a union."),
    FIELD("elements", noli_scene_element_selection, NULL, NULL,
          "`volume`, `elastic_energy`, `von_mises`: which elements, as of `parts`; default: all."),
    FIELD("with", text, NULL, NULL,
          "`contact_force`, `contact_pressure`: the other body or obstacle; default: all contacts.",
          INTO(NoliGoalDef, with)),
    FIELD("component", component_name, NULL, NULL, "One of a vector; default: the vector.",
          INTO(NoliGoalDef, component)),
    FIELD("of", goal_reduction, "\"mean\"", NULL, "How vertices or elements are reduced.",
          INTO(NoliGoalDef, reduction)),
    FIELD("exponent", positive, "8", NULL, "p of the reduction `norm`, at least 1.",
          INTO(NoliGoalDef, exponent)),
    FIELD("form", goal_form, NULL, NULL,
          "Of the difference to the target: its square or value, or the square of what exceeds "
          "it or falls below it; default: `square` in the objective, `value` in constraints and "
          "expressions.",
          INTO(NoliGoalDef, form)),
    FIELD("target", scale, NULL, NULL, "A number, or one for each component; default: 0."),
    FIELD("targets", places, NULL, NULL,
          "With `each`, a target for every selected vertex, in their order; replaces `target`."),
    FIELD("weight", number, "1", NULL, "Factor; negative: the search increases the quantity.",
          INTO(NoliGoalDef, weight)),
    GROUPED("at", goal_time, "s", "When: a time, `\"start\"` or `\"end\"`; default: `\"end\"`."),
    GROUPED("over", pair_of_numbers, "s",
            "Interval of time: the sum of h times the values of the steps that end in it."));
LIST(goals, noli_scene_goal_format, 1, "a list of objects");
SHARED_OBJECT(
    noli_scene_variable_format, "variable", NOLI_SCENE_ANY,
    REQUIRED("parameter", parameter_kind, NULL, "What varies: see docs/background/derivatives.md."),
    FIELD("of", text, NULL, NULL, "Name of a body or force, or of one entity of a pair."),
    FIELD("with", text, NULL, NULL, "Friction: the other entity of the pair."),
    FIELD("part", natural_or_zero, NULL, NULL,
          "Of parameters of a material: which of the `parts` of the body, from 0; default: the "
          "material of the body itself."),
    FIELD("scope", parameter_scope, NULL, NULL,
          "One value for the body, or one for each element, vertex or term of a series; "
          "default: `body`, of "
          "`rest_position` with a cage or points `vertices`."),
    FIELD("select", noli_scene_selection, NULL, NULL,
          "With the scope `vertices`: which, by initial position; with the scope `elements`: "
          "which, as of `parts`; default: all."),
    FIELD("control", design_control, "\"each\"", NULL,
          "How values follow from the variables: see docs/howto/design_problems.md.",
          INTO(NoliVariableDef, control)),
    FIELD("cage", cage_vector, NULL, NULL, "`cage`: control points along x, y and z."),
    FIELD("hold", hold, NULL, NULL,
          "`cage`: control points in this box do not move; in fractions of the bounding box of "
          "the vertices."),
    FIELD("points", places, NULL, "m", "`points`: positions of control points at rest."),
    REQUIRED("lower", scale, NULL,
             "Lower bound, or one for each component; equal bounds: no variable."),
    REQUIRED("upper", scale, NULL, "Upper bound."),
    FIELD("start", scale, NULL, NULL, "Start of the search; default: the value of the scene."),
    FIELD("logarithmic", boolean, "false", NULL,
          "The search sees the logarithm: for moduli, whose magnitude is unknown.",
          INTO(NoliVariableDef, logarithmic)));
LIST(variables, noli_scene_variable_format, 1, "a list of objects");
SHARED_OBJECT(
    noli_scene_constraint_format, "constraint", NOLI_SCENE_ANY,
    FIELD("name", text, NULL, NULL, "Name in tables; default: `constraint N`.",
          INTO(NoliDesignFunctionDef, name)),
    REQUIRED("goals", goals, NULL, "The sum of these is bounded."),
    FIELD("expression", text, NULL, NULL, "Is bounded in place of the sum: of goals by name."),
    FIELD("at_most", number, NULL, NULL, "Upper bound.", INTO(NoliDesignFunctionDef, at_most)),
    FIELD("at_least", number, NULL, NULL, "Lower bound.", INTO(NoliDesignFunctionDef, at_least)));
LIST(constraints, noli_scene_constraint_format, 0, "a list of objects");
SHARED_OBJECT(
    noli_scene_design_format, "design", NOLI_SCENE_ANY,
    REQUIRED("variables", variables, NULL, "What the search changes."),
    FIELD("objective", goals, NULL, NULL,
          "The search makes the sum of these small; programs may add functions of their own."),
    FIELD("expression", text, NULL, NULL,
          "The search makes this small in place of the sum: an expression of the goals by name."),
    FIELD("constraints", constraints, "[]", NULL, "Bounds of other sums of goals."),
    FIELD("smoothness", not_negative, "0", NULL,
          "Times the distortion of the elements of rest shapes, added to the objective: keeps the "
          "quality of meshes.",
          INTO(NoliDesignDef, smoothness)),
    FIELD("method", design_method, NULL, NULL,
          "Method of the search; default: `l_bfgs`, with constraints `mma`.",
          INTO(NoliDesignDef, method)),
    FIELD("evaluations", natural, "100", NULL, "Most runs.", INTO(NoliDesignDef, max_evaluations)),
    FIELD("tolerance", open_share, "1e-6", NULL,
          "The search ends where variables change by less than this, relative to the distance of "
          "their bounds, or the objective, relative to its value.",
          INTO(NoliDesignDef, tolerance)),
    FIELD("enough", number, NULL, NULL, "The search ends where the objective is not above this.",
          INTO(NoliDesignDef, enough)),
    FIELD("move", positive_share, "0.25", NULL,
          "Most that a variable changes before the search starts again from the best point, "
          "relative to the distance of its bounds.",
          INTO(NoliDesignDef, move)),
    FIELD(
        "gradient", gradient_mode, "\"adjoint\"", NULL,
        "One backward run, a forward one for each parameter, or central differences, two runs for "
        "each variable, for scenes that have no derivatives.",
        INTO(NoliDesignDef, gradient.mode)),
    FIELD("gradient_tolerance", positive_share, NULL, NULL,
          "Relative to the forces, to which each step is solved for derivatives; default 1e-10.",
          INTO(NoliDesignDef, gradient.tolerance)),
    FIELD("gradient_checkpoints", natural, NULL, NULL,
          "States of the run that are kept, and at most as many steps with their solves, which "
          "bounds the memory; the rest is computed again. Default: as many as fit into 512 MB.",
          INTO(NoliDesignDef, gradient.checkpoints)));
