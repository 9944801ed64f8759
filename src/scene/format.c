#include "scene/format.h"

#include "noli/run.h"
#include "noli/scene.h"
#include "sim/choices.h"

#include <math.h>
#include <stddef.h>

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof *(array)))
#define BODY_LIMIT 100000

// ---- plain values -------------------------------------------------------------------------------

#define RANGE(low_bound, low_is_open, high_bound, high_is_open)                                    \
  .low = (low_bound), .open_low = (low_is_open), .high = (high_bound), .open_high = (high_is_open)

static const NoliSceneType boolean = {.kind = NOLI_SCENE_BOOL, .what = "true or false"};
static const NoliSceneType text = {.kind = NOLI_SCENE_TEXT, .what = "a string"};
static const NoliSceneType number = {.kind = NOLI_SCENE_NUMBER, .what = "a number"};
static const NoliSceneType positive = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, true, HUGE_VAL, true)};
static const NoliSceneType above_one = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(1.0, true, HUGE_VAL, true)};
static const NoliSceneType material_number = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, true, NOLI_MATERIAL_MAX, false)};
static const NoliSceneType not_negative = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, false, HUGE_VAL, true)};
static const NoliSceneType fraction = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, false, 1.0, false)};
static const NoliSceneType natural = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(1.0, false, 1e9, false)};
static const NoliSceneType natural_or_zero = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(0.0, false, 1e9, false)};
static const NoliSceneType integer = {.kind = NOLI_SCENE_INTEGER,
                                      .what = "an integer",
                                      RANGE(-2147483648.0, false, 2147483647.0, false)};
static const NoliSceneType cells = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(1.0, false, 1e6, false)};
static const NoliSceneType shape_order = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(1.0, false, 4.0, false)};
static const NoliSceneType refinements = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(0.0, false, 10.0, false)};
static const NoliSceneType subdivision = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(1.0, false, 1000.0, false)};
static const NoliSceneType cells_around = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(3.0, false, 1e6, false)};
static const NoliSceneType moebius_cells = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(6.0, false, 1e6, false)};
static const NoliSceneType bowl_cells = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(2.0, false, 1e6, false)};
static const NoliSceneType bowl_angle = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, true, 170.0, false)};
static const NoliSceneType copy_count = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(1.0, false, BODY_LIMIT, false)};
static const NoliSceneType positive_scaled = {.kind = NOLI_SCENE_SCALED,
                                              .what = "a number or text like \"1e-3 l\"",
                                              RANGE(0.0, true, HUGE_VAL, true)};
static const NoliSceneType share = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, false, 1.0, false)};
static const NoliSceneType positive_share = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, true, 1.0, false)};
static const NoliSceneType open_share = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, true, 1.0, true)};
static const NoliSceneType material_value = {.kind = NOLI_SCENE_EXPRESSION,
                                             .what = "a number or an expression",
                                             RANGE(0.0, true, NOLI_MATERIAL_MAX, false)};
static const NoliSceneType poisson_value = {.kind = NOLI_SCENE_EXPRESSION,
                                            .what = "a number or an expression",
                                            RANGE(-1.0, true, 0.5, true)};
static const NoliSceneType poisson_number = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(-1.0, true, 0.5, true)};
#define LIST(variable, item_, minimum, description)                                                \
  static const NoliSceneType variable = {.kind = NOLI_SCENE_LIST,                                  \
                                         .what = (description),                                    \
                                         .item = &(item_),                                         \
                                         .min_items = (minimum),                                   \
                                         .max_items = INT32_MAX}

LIST(material_list, material_number, 1, "a list of numbers");
LIST(poisson_list, poisson_number, 1, "a list of numbers");
static const NoliSceneType expression = {.kind = NOLI_SCENE_EXPRESSION,
                                         .what = "a number or an expression"};

#define FIXED_LIST(item_type, size, description)                                                   \
  {                                                                                                \
    .kind = NOLI_SCENE_LIST, .what = (description), .item = &(item_type), .min_items = (size),     \
    .max_items = (size)                                                                            \
  }

static const NoliSceneType vector = FIXED_LIST(number, 3, "a list of 3 numbers");
static const NoliSceneType positive_vector = FIXED_LIST(positive, 3, "a list of 3 numbers");
static const NoliSceneType positive_pair = FIXED_LIST(positive, 2, "a list of 2 numbers");
static const NoliSceneType cells_vector = FIXED_LIST(cells, 3, "a list of 3 integers");
static const NoliSceneType cells_pair = FIXED_LIST(cells, 2, "a list of 2 integers");
static const NoliSceneType pair_of_numbers = FIXED_LIST(number, 2, "a list of 2 numbers");
static const NoliSceneType ogden_terms = {.kind = NOLI_SCENE_LIST,
                                          .what = "a list of pairs of numbers",
                                          .item = &pair_of_numbers,
                                          .min_items = 1,
                                          .max_items = NOLI_LAW_PARAMETERS / 2};
static const NoliSceneType prony_terms = {.kind = NOLI_SCENE_LIST,
                                          .what = "a list of pairs of numbers",
                                          .item = &positive_pair,
                                          .max_items = NOLI_PRONY_TERMS};
static const NoliSceneType profile = {.kind = NOLI_SCENE_LIST,
                                      .what = "a list of pairs of numbers",
                                      .item = &pair_of_numbers,
                                      .min_items = 2,
                                      .max_items = INT32_MAX};
LIST(places, vector, 1, "a list of positions");
#define CELL_LIST(variable, size, description)                                                     \
  static const NoliSceneType variable##_cell = FIXED_LIST(natural_or_zero, size, description);     \
  LIST(variable, variable##_cell, 0, "a list of cells")
CELL_LIST(tet_cells, 4, "a list of 4 integers");
CELL_LIST(triangle_cells, 3, "a list of 3 integers");
CELL_LIST(segment_cells, 2, "a list of 2 integers");
LIST(vertex_numbers, natural_or_zero, 0, "a list of integers");
LIST(tags, integer, 0, "a list of integers");
static const NoliSceneType corners = {.kind = NOLI_SCENE_LIST,
                                      .what = "a list of pairs of numbers",
                                      .item = &pair_of_numbers,
                                      .min_items = 3,
                                      .max_items = 10000};
static const NoliSceneType expressions = FIXED_LIST(expression, 3, "a list of 3 expressions");

#define CHOICES(...)                                                                               \
  (const char* const[]) {                                                                          \
    __VA_ARGS__, NULL                                                                              \
  }
#define KEYWORD(word)                                                                              \
  { .kind = NOLI_SCENE_CHOICE, .what = "\"" word "\"", .choices = CHOICES(word) }
#define EITHER(...)                                                                                \
  {                                                                                                \
    .kind = NOLI_SCENE_EITHER, .alternatives = (const NoliSceneType* const[]) {                    \
      __VA_ARGS__, NULL                                                                            \
    }                                                                                              \
  }

// One for all elements, of their place, or one for each.
static const NoliSceneType material_field = EITHER(&material_value, &material_list);
static const NoliSceneType poisson_field = EITHER(&poisson_value, &poisson_list);

static const NoliSceneType keyword_all = KEYWORD("all");
static const NoliSceneType keyword_end = KEYWORD("end");
static const NoliSceneType keyword_free = KEYWORD("free");
static const NoliSceneType keyword_controlled = KEYWORD("controlled");
static const NoliSceneType keyword_box = KEYWORD("box");
// in the order of 0 and NOLI_OFFSET_THICKNESS
static const NoliSceneType offset_rule = {.kind = NOLI_SCENE_CHOICE,
                                          .what = "\"none\" or \"thickness\"",
                                          .choices = CHOICES("none", "thickness")};
static const NoliSceneType shell_offset = EITHER(&not_negative, &offset_rule);
static const NoliSceneType keyword_adaptive = KEYWORD("adaptive");
// in the order of NOLI_FRICTION_AUTOMATIC and NOLI_FRICTION_UNTIL_CONVERGENCE
static const NoliSceneType bending_law = {
    .kind = NOLI_SCENE_CHOICE, .what = "a string", .choices = CHOICES("plate", "hinges")};
static const NoliSceneType friction_rule = {.kind = NOLI_SCENE_CHOICE,
                                            .what = "\"automatic\" or \"until_convergence\"",
                                            .choices = CHOICES("automatic", "until_convergence")};
static const NoliSceneType end_time = EITHER(&number, &keyword_end);
static const NoliSceneType stiffness = EITHER(&positive, &keyword_adaptive);
static const NoliSceneType friction_iterations = EITHER(&natural, &friction_rule);
static const NoliSceneType scale = EITHER(&number, &vector);
static const NoliSceneType component = EITHER(&expression, &keyword_free);
static const NoliSceneType load = EITHER(&expressions, &keyword_controlled);
static const NoliSceneType face_pressure = EITHER(&expression, &keyword_controlled);
static const NoliSceneType components = FIXED_LIST(component, 3, "a list of 3 expressions");
static const NoliSceneType turning_point = EITHER(&vector, &keyword_box);

static const NoliSceneType side_name = {.kind = NOLI_SCENE_CHOICE,
                                        .what = "a string",
                                        .choices = CHOICES("-x", "+x", "-y", "+y", "-z", "+z")};

// Names out of the tables of what implements them (noli/choice.h).
#define FROM_TABLE(variable, table)                                                                \
  static const char* variable##_name(int32_t index) {                                              \
    return noli_choice_name((table), index);                                                       \
  }                                                                                                \
  static const NoliSceneType variable = {                                                          \
      .kind = NOLI_SCENE_CHOICE, .what = "a string", .choice = variable##_name}

FROM_TABLE(integrator, NOLI_CHOICE_INTEGRATOR);
FROM_TABLE(linear_solver, NOLI_CHOICE_LINEAR_SOLVER);
FROM_TABLE(method, NOLI_CHOICE_SOLVER);
FROM_TABLE(friction_method, NOLI_CHOICE_FRICTION_METHOD);
FROM_TABLE(general_solver, NOLI_CHOICE_GENERAL_SOLVER);
FROM_TABLE(termination, NOLI_CHOICE_TERMINATION);
FROM_TABLE(contact_model, NOLI_CHOICE_CONTACT_MODEL);
FROM_TABLE(obstacle_kind, NOLI_CHOICE_MESH_PART);
FROM_TABLE(sheet_pattern, NOLI_CHOICE_SHEET_PATTERN);
FROM_TABLE(volume_model, NOLI_CHOICE_VOLUME_MODEL);
FROM_TABLE(law, NOLI_CHOICE_MATERIAL);
FROM_TABLE(ccd_method, NOLI_CHOICE_CCD);
FROM_TABLE(audit_moment, NOLI_CHOICE_AUDIT);
FROM_TABLE(probe_quantity, NOLI_CHOICE_PROBE_QUANTITY);
FROM_TABLE(probe_reduction, NOLI_CHOICE_PROBE_REDUCTION);
FROM_TABLE(goal_quantity, NOLI_CHOICE_GOAL_QUANTITY);
FROM_TABLE(goal_reduction, NOLI_CHOICE_GOAL_REDUCTION);
FROM_TABLE(goal_form, NOLI_CHOICE_GOAL_FORM);
FROM_TABLE(design_control, NOLI_CHOICE_DESIGN_CONTROL);
FROM_TABLE(design_method, NOLI_CHOICE_DESIGN_METHOD);
FROM_TABLE(parameter_kind, NOLI_CHOICE_PARAMETER);
FROM_TABLE(parameter_scope, NOLI_CHOICE_PARAMETER_SCOPE);

// The others have a number, which is their own key.
static const char* region_name_name(int32_t index) {
  return index < NOLI_REGION_COMPONENT ? noli_choice_name(NOLI_CHOICE_VOLUME_REGION, index) : NULL;
}
static const NoliSceneType frame_format = {
    .kind = NOLI_SCENE_CHOICE, .what = "a string", .choice = noli_run_frame_format};
static const NoliSceneType frame_field = {
    .kind = NOLI_SCENE_CHOICE, .what = "a string", .choice = noli_run_frame_field};
static const NoliSceneType frame_fields = {
    .kind = NOLI_SCENE_LIST, .what = "a list of strings", .item = &frame_field, .max_items = 100};
static const NoliSceneType region_name = {
    .kind = NOLI_SCENE_CHOICE, .what = "a string", .choice = region_name_name};

static const NoliSceneType audit = EITHER(&boolean, &audit_moment);

// ---- fields -------------------------------------------------------------------------------------

// Each part says what reads the keys that are more than values.

// After the meaning may follow where the value goes.
#define FIELD(key_, type_, fallback_, unit_, ...)                                                  \
  { .key = (key_), .type = &(type_), .fallback = (fallback_), .unit = (unit_), .doc = __VA_ARGS__ }
#define REQUIRED(key_, type_, unit_, ...)                                                          \
  { .key = (key_), .type = &(type_), .unit = (unit_), .required = true, .doc = __VA_ARGS__ }
#define GROUPED(key_, type_, unit_, ...)                                                           \
  { .key = (key_), .type = &(type_), .unit = (unit_), .in_group = true, .doc = __VA_ARGS__ }

// Into a member of a definition, or, of an object, its own values into members of it.
#define INTO(definition, member)                                                                   \
  .holds = _Generic(((definition*)NULL)->member,                                                   \
      bool: NOLI_SCENE_HOLDS_BOOL,                                                                 \
      int32_t: NOLI_SCENE_HOLDS_INTEGER,                                                           \
      double: NOLI_SCENE_HOLDS_NUMBER,                                                             \
      double*: NOLI_SCENE_HOLDS_VECTOR,                                                            \
      const char*: NOLI_SCENE_HOLDS_TEXT,                                                          \
      NoliScaled: NOLI_SCENE_HOLDS_SCALED),                                                        \
  .size = sizeof(definition), .offset = offsetof(definition, member)
#define ITS_MEMBERS .holds = NOLI_SCENE_HOLDS_MEMBERS

#define OBJECT(variable, name_, rule_, ...)                                                        \
  static const NoliSceneField variable##_fields[] = {__VA_ARGS__};                                 \
  static const NoliSceneType variable = {.kind = NOLI_SCENE_OBJECT,                                \
                                         .name = (name_),                                          \
                                         .what = "an object",                                      \
                                         .fields = variable##_fields,                              \
                                         .n_fields = COUNT(variable##_fields),                     \
                                         .rule = (rule_)}

OBJECT(increments, "increments", NOLI_SCENE_ANY,
       REQUIRED("initial", positive, "s", "Length of the first increment, at most `step`.",
                INTO(NoliSimDef, increments.initial)),
       FIELD("smallest", positive, NULL, "s",
             "Shortest increment that is tried; default: a thousandth of `initial`.",
             INTO(NoliSimDef, increments.smallest)),
       FIELD("easy_iterations", natural, "10", NULL,
             "An increment that takes no more iterations is followed by one 1.5 times as long.",
             INTO(NoliSimDef, increments.easy_iterations)),
       FIELD("hard_iterations", natural, "30", NULL,
             "One that takes more is followed by one of half its length.",
             INTO(NoliSimDef, increments.hard_iterations)));
OBJECT(
    time_object, "time", NOLI_SCENE_EXACTLY_ONE,
    FIELD("step", positive, "0.01", "s", "Time step h.", INTO(NoliSimDef, time_step)),
    GROUPED("duration", positive, "s", "Simulated time; rounded up to a multiple of `step`."),
    GROUPED("steps", natural, NULL, "Number of steps."),
    FIELD("integrator", integrator, "\"backward_euler\"", NULL,
          "Time integration method: see docs/integrators.md.", INTO(NoliSimDef, integrator)),
    FIELD("increments", increments, NULL, NULL,
          "`quasi_static`: load steps in increments of adaptive length, at most `step`; default: "
          "each step in one.",
          ITS_MEMBERS));

// bodies: their shapes (built_in.c, shape.c), then build_bodies.c

OBJECT(box, "box", NOLI_SCENE_ANY,
       FIELD("size", positive_vector, "[1, 1, 1]", "m", "Edge lengths."),
       FIELD("cells", cells_vector, "[4, 4, 4]", NULL, "Cells along each edge."));
#define GEOMETRY_ORDER                                                                             \
  FIELD("geometry_order", shape_order, "1", NULL,                                                  \
        "Order of the shape of the tetrahedra; from 2 on they are curved and the shape is round.")
OBJECT(sphere, "sphere", NOLI_SCENE_ANY, FIELD("radius", positive, "0.5", "m", "Radius."),
       FIELD("cells", cells, "8", NULL, "Cells across the diameter or width."), GEOMETRY_ORDER,
       FIELD("inner_radius", positive, NULL, "m",
             "Radius of a concentric cavity, below `radius`; default: none."),
       FIELD("layers", cells, "1", NULL, "With a cavity: cells through the wall."));
OBJECT(cylinder, "cylinder", NOLI_SCENE_ANY, FIELD("radius", positive, "0.5", "m", "Radius."),
       FIELD("height", positive, "1", "m", "Length along its axis, the y axis."),
       FIELD("cells_across", cells, "8", NULL, "Cells across the diameter or width."),
       FIELD("cells_along", cells, "8", NULL, "Cells along the axis."), GEOMETRY_ORDER);
OBJECT(rod, "rod", NOLI_SCENE_ANY, FIELD("length", positive, "1", "m", "Length along x."),
       FIELD("width", positive, "0.1", "m", "Width and height of the section."),
       FIELD("cells_along", cells, "20", NULL, "Cells along x."),
       FIELD("cells_across", cells, "2", NULL, "Cells across the diameter or width."));
OBJECT(mat, "mat", NOLI_SCENE_ANY,
       FIELD("size", positive_pair, "[1, 1]", "m", "Lengths along x and z."),
       FIELD("thickness", positive, "0.01", "m", "Thickness along y, one layer of cells."),
       FIELD("cells", cells_pair, "[20, 20]", NULL, "Cells along x and z."));
OBJECT(torus, "torus", NOLI_SCENE_ANY,
       FIELD("ring_radius", positive, "0.5", "m", "Radius of the ring to the middle of the tube."),
       FIELD("tube_radius", positive, "0.125", "m", "Radius of the tube."),
       FIELD("cells_around", cells_around, "32", NULL, "Cells around the ring (axis y)."),
       FIELD("cells_across", cells, "4", NULL, "Cells across the tube."));
OBJECT(bowl, "bowl", NOLI_SCENE_ANY, FIELD("radius", positive, "0.5", "m", "Outer radius."),
       FIELD("thickness", positive, "0.05", "m", "Thickness of the wall, less than the radius."),
       FIELD("angle", bowl_angle, "90", "deg",
             "Angle from the axis to the rim; 90 is a hemisphere."),
       FIELD("cells", bowl_cells, "12", NULL, "Cells from rim to rim."),
       FIELD("cells_through", cells, "1", NULL, "Cells through the wall."));
OBJECT(voxels, "voxels", NOLI_SCENE_ANY,
       FIELD("size", positive_vector, "[1, 1, 1]", "m", "Edge lengths of the grid."),
       FIELD("cells", cells_vector, "[8, 8, 8]", NULL, "Cells along each edge."),
       REQUIRED("inside", expression, NULL,
                "The shape consists of the cells at whose centres (X, Y, Z) this is not 0."));
#define THREAD                                                                                     \
  FIELD("pitch", positive, "0.01", "m", "Height of one turn of the thread."),                      \
      FIELD("depth", not_negative, "0.005", "m", "Depth of the thread; 0: none.")
OBJECT(bolt, "bolt", NOLI_SCENE_ANY,
       FIELD("radius", positive, "0.02", "m", "Radius, to half the depth of the thread."),
       FIELD("length", positive, "0.06", "m", "Length along its axis, the y axis."), THREAD,
       FIELD("cells_across", cells, "8", NULL, "Cells across the diameter or width."),
       FIELD("cells_along", cells, "48", NULL, "Cells along the axis."));
OBJECT(nut, "nut", NOLI_SCENE_ANY,
       FIELD("inner_radius", positive, "0.0205", "m",
             "Radius of the hole, to half the depth of the thread: the radius of the bolt plus a "
             "clearance."),
       FIELD("outer_radius", positive, "0.04", "m", "Radius to the six corners."),
       FIELD("height", positive, "0.02", "m", "Height along the axis, y."), THREAD,
       FIELD("cells_around", cells_around, "36", NULL, "Cells around, a multiple of 6."),
       FIELD("cells_through", cells, "2", NULL, "Cells from the hole to the outside."),
       FIELD("cells_along", cells, "16", NULL, "Cells along the axis."));
OBJECT(truss, "truss", NOLI_SCENE_ANY,
       FIELD("joints", cells_vector, "[2, 2, 2]", NULL, "Balls along each axis."),
       FIELD("spacing", positive, "1", "m", "Distance between the centres of neighbouring balls."),
       FIELD("joint_radius", positive, "0.3", "m", "Radius of the balls."),
       FIELD("strut_radius", positive, "0.15", "m", "Radius of the struts at mid-length."),
       FIELD("cells_across", cells, "2", NULL, "Cells across balls and struts, even."),
       FIELD("cells_along", cells, "2", NULL, "Cells along a strut."), GEOMETRY_ORDER);
#define PATTERN                                                                                    \
  FIELD("pattern", sheet_pattern, NULL, NULL,                                                      \
        "How cells become triangles: `symmetric`, with diagonals that depend on the side of the "  \
        "middle, `diagonal`, `alternating`, `equilateral` (rows shifted by half a cell), or "      \
        "`unstructured`; default: `symmetric`.")
OBJECT(plane, "plane", NOLI_SCENE_ANY,
       FIELD("size", positive_pair, "[1, 1]", "m", "Lengths along x and z; the normal is +y."),
       FIELD("cells", cells_pair, "[1, 1]", NULL, "Cells along x and z, two triangles each."),
       PATTERN);
OBJECT(revolution, "revolution", NOLI_SCENE_ANY,
       REQUIRED(
           "profile", profile, "m",
           "Points [distance from the axis, height], joined by straight lines; closed if the last "
           "point equals the first. Distances are positive; the two ends may lie on the axis."),
       FIELD("cells_around", cells_around, "32", NULL, "Cells around the axis."));

OBJECT(rectangle, "rectangle", NOLI_SCENE_ANY,
       FIELD("size", positive_pair, "[1, 1]", "m", "Lengths along x and y."),
       FIELD("cells", cells_pair, "[4, 4]", NULL, "Cells along x and y, two triangles each."),
       PATTERN);
OBJECT(disk, "disk", NOLI_SCENE_ANY, FIELD("radius", positive, "0.5", "m", "Radius."),
       FIELD("cells", bowl_cells, "8", NULL, "Cells across the diameter or width."),
       FIELD("rings", cells, NULL, NULL,
             "If given, the disk consists of this number of rings of nearly equilateral triangles "
             "instead of `cells`."));
OBJECT(line, "line", NOLI_SCENE_ANY, FIELD("length", positive, "1", "m", "Length."),
       FIELD("segments", cells, "32", NULL, "Number of segments."));
OBJECT(ring, "ring", NOLI_SCENE_ANY, FIELD("radius", positive, "0.5", "m", "Radius."),
       FIELD("segments", cells_around, "64", NULL, "Number of segments."));
OBJECT(helix, "helix", NOLI_SCENE_ANY, FIELD("radius", positive, "0.1", "m", "Radius."),
       FIELD("pitch", positive, "0.1", "m", "Rise in a turn."),
       FIELD("turns", positive, "5", NULL, "Number of turns."),
       FIELD("segments", cells, "160", NULL, "Number of segments, at least 3 a turn."));
OBJECT(curve, "curve", NOLI_SCENE_ANY,
       REQUIRED("position", expressions, "m",
                "Expressions in t, which runs from 0 to 1 along the curve; closed if both ends are "
                "at one place."),
       FIELD("segments", cells, "64", NULL, "Number of segments, of equal lengths along it."));
OBJECT(polygon, "polygon", NOLI_SCENE_ANY,
       REQUIRED("corners", corners, "m",
                "Points [x, y] of the outline, counterclockwise, joined by straight lines."),
       FIELD("cells", cells, "4", NULL,
             "The polygon is split into triangles between its corners, and each of their sides "
             "into this number of segments."));

// for shells and obstacles
OBJECT(tube, "tube", NOLI_SCENE_ANY, FIELD("radius", positive, "0.5", "m", "Radius."),
       FIELD("height", positive, "1", "m", "Length along its axis, the y axis."),
       FIELD("cells_around", cells_around, "32", NULL, "Cells around the axis."),
       FIELD("cells_along", cells, "12", NULL,
             "Cells along the axis, in rows shifted by half a cell."));
OBJECT(icosphere, "icosphere", NOLI_SCENE_ANY, FIELD("radius", positive, "0.5", "m", "Radius."),
       FIELD("subdivision", subdivision, "4", NULL,
             "Pieces of each edge of the icosahedron: 20 triangles times the square of this."));
OBJECT(torus_shell, "torus_shell", NOLI_SCENE_ANY,
       FIELD("ring_radius", positive, "0.5", "m", "Radius of the ring to the middle of the tube."),
       FIELD("tube_radius", positive, "0.125", "m", "Radius of the tube."),
       FIELD("cells_around", cells_around, "32", NULL, "Cells around the ring (axis y)."),
       FIELD("cells_across", cells_around, "8", NULL, "Cells around the tube."));
OBJECT(moebius, "moebius", NOLI_SCENE_ANY,
       FIELD("radius", positive, "0.5", "m", "Radius to the middle of the strip."),
       FIELD("width", positive, "0.25", "m", "Width, below the diameter."),
       FIELD("cells_around", moebius_cells, "48", NULL, "Cells around the axis, y."),
       FIELD("cells_across", cells, "4", NULL, "Cells across the strip."));
OBJECT(arrays, "arrays", NOLI_SCENE_ANY,
       REQUIRED("positions", places, "m", "Positions of the vertices, which are numbered from 0."),
       FIELD("tets", tet_cells, NULL, NULL,
             "Vertices of each tetrahedron, (x1-x0, x2-x0, x3-x0) right-handed."),
       FIELD("triangles", triangle_cells, NULL, NULL, "Vertices of each triangle."),
       FIELD("segments", segment_cells, NULL, NULL, "Vertices of each segment."),
       FIELD("points", vertex_numbers, NULL, NULL, "Vertices that are points."),
       FIELD("tet_tags", tags, NULL, NULL, "A tag for each tetrahedron; default: 0."),
       FIELD("triangle_tags", tags, NULL, NULL, "A tag for each triangle; default: 0."));
OBJECT(chain_mail, "chain_mail", NOLI_SCENE_ANY,
       FIELD("rings", cells_pair, "[4, 4]", NULL, "Rings along x in each row, and rows along z."),
       FIELD("radius", positive, "0.05", "m", "Radius of the rings."),
       FIELD("tube_radius", positive, NULL, "m",
             "If given, rings are solid, of this radius, at most 0.15 of `radius`; default: closed "
             "lines of segments."),
       FIELD("cells_around", moebius_cells, "16", NULL, "Cells around each ring."),
       FIELD("cells_across", cells, "2", NULL, "Of solid rings: cells across the tube."));

#define PLANE_SHAPES                                                                               \
  GROUPED("rectangle", rectangle, NULL,                                                            \
          "A rectangle in the xy plane, centred at the origin, for plane strain."),                \
      GROUPED("disk", disk, NULL,                                                                  \
              "A disk in the xy plane, centred at the origin, for plane strain."),                 \
      GROUPED("polygon", polygon, NULL, "A polygon in the xy plane, for plane strain.")

#define SOLID_SHAPES                                                                               \
  GROUPED("box", box, NULL, "A box, centred at the origin."),                                      \
      GROUPED("sphere", sphere, NULL, "A ball, centred at the origin."),                           \
      GROUPED("cylinder", cylinder, NULL, "A cylinder along y, centred at the origin."),           \
      GROUPED("rod", rod, NULL,                                                                    \
              "A rod with a square cross section along x, centred at the origin."),                \
      GROUPED("mat", mat, NULL, "A thin plate in the xz plane, centred at the origin."),           \
      GROUPED("torus", torus, NULL, "A ring around y, centred at the origin."),                    \
      GROUPED("bowl", bowl, NULL,                                                                  \
              "An upside-down bowl, part of a hollow ball around the origin."),                    \
      GROUPED("voxels", voxels, NULL, "Any shape made of cells of a grid around the origin."),     \
      GROUPED("bolt", bolt, NULL, "A threaded rod along y, centred at the origin."),               \
      GROUPED("nut", nut, NULL, "A hexagonal nut with its hole along y, centred at the origin."),  \
      GROUPED("truss", truss, NULL, "Balls on a cubic lattice, joined by round struts.")

// surfaces in space, for shells and obstacles
OBJECT(
    shape, "shape", NOLI_SCENE_EXACTLY_ONE, SOLID_SHAPES,
    GROUPED("plane", plane, NULL, "A flat rectangle in the xz plane, centred at the origin."),
    GROUPED("revolution", revolution, NULL,
            "A profile turned around the y axis: a bowl, a funnel, a tube, a plate with a hole."),
    GROUPED("tube", tube, NULL, "An open cylinder around y, centred at the origin."),
    GROUPED("icosphere", icosphere, NULL, "A sphere of triangles, centred at the origin."),
    GROUPED("torus_shell", torus_shell, NULL, "The surface of a ring around y."),
    GROUPED("moebius", moebius, NULL, "A Moebius strip around y."),
    GROUPED("chain_mail", chain_mail, NULL,
            "Linked rings in the xz plane, each through two rings of either neighbouring row."),
    GROUPED("line", line, NULL, "Segments along x, centred at the origin, for rods."),
    GROUPED("ring", ring, NULL, "A closed ring of segments around the y axis, for rods."),
    GROUPED("helix", helix, NULL, "Segments that wind around the y axis, for rods."),
    GROUPED("curve", curve, NULL, "Segments along any curve, for rods."), PLANE_SHAPES,
    GROUPED("arrays", arrays, NULL, "Any mesh, given by its vertices and cells."));

static const NoliSceneType mesh_file = {.kind = NOLI_SCENE_TEXT, .what = "the name of a mesh file"};
static const NoliSceneType start_positions = EITHER(&mesh_file, &places);
static const NoliSceneType body_mesh = EITHER(&mesh_file, &shape);
static const NoliSceneType obstacle_mesh = EITHER(&mesh_file, &shape);

OBJECT(copies, "copies", NOLI_SCENE_ANY,
       REQUIRED("count", copy_count, NULL, "Number of copies, including the first."),
       FIELD("translate", vector, "[0, 0, 0]", "m", "Translation from each copy to the next."),
       FIELD("rotate", vector, "[0, 0, 0]", "deg",
             "Rotation of each copy relative to the previous one, about the local origin."));

#define PLACEMENT                                                                                  \
  FIELD("scale", scale, "1", NULL,                                                                 \
        "Scale factor, or one for each axis; negative factors mirror."),                           \
      FIELD("fit", positive, NULL, "m",                                                            \
            "If given, the scaled mesh is scaled again to make this its largest extent."),         \
      FIELD("rotate", vector, "[0, 0, 0]", "deg",                                                  \
            "Rotation Rx Ry Rz about the origin (z first)."),                                      \
      FIELD("translate", vector, "[0, 0, 0]", "m", "Translation, applied last."),                  \
      FIELD("copies", copies, NULL, NULL,                                                          \
            "A row of copies, named `NAME[0]`, `NAME[1]`, ...; `NAME` means all of them.")

#define PLANE_STRAIN                                                                               \
  FIELD("plane_strain", positive, NULL, "m",                                                       \
        "If given, the body is in plane strain: the mesh is the cross section of a body of this "  \
        "thickness, triangles in a plane z = const. See docs/plane_strain.md.",                    \
        INTO(NoliBodyDef, plane_strain))

OBJECT(fibre, "fibre", NOLI_SCENE_ANY,
       REQUIRED("direction", expressions, NULL,
                "At rest, in the axes of the scene, of any length; expressions in X, Y, Z are "
                "evaluated at the centre of each element."),
       REQUIRED("k1", expression, "Pa",
                "A quarter of the modulus of the fibres at small tension; 0: none."),
       FIELD("k2", expression, "0", NULL,
             "Growth of their stiffness with the stretch: the energy is "
             "`k1 / (2 k2) (exp(k2 (I4 - 1)^2) - 1)`."));
#define YIELD                                                                                      \
  FIELD("yield", material_number, NULL, "Pa",                                                      \
        "Law `hencky`: yield stress, of Mises' equivalent. See docs/materials.md."),               \
      FIELD("hardening", not_negative, NULL, "Pa",                                                 \
            "Its growth with the equivalent plastic strain; default 0."),                          \
      FIELD("saturation", material_number, NULL, "Pa",                                             \
            "Growth of the yield stress that ends, by Voce: `saturation (1 - exp(-rate p))`."),    \
      FIELD("saturation_rate", positive, NULL, NULL, "Rate of that growth.")
#define PRONY                                                                                      \
  FIELD("prony", prony_terms, NULL, NULL,                                                          \
        "Viscoelasticity: pairs of a share of the instantaneous shear modulus and the time in "    \
        "which it relaxes, s. `young` is the long-term modulus. See docs/materials.md.")
#define FIBRE                                                                                      \
  FIELD("fibre", fibre, NULL, NULL,                                                                \
        "Fibres of one direction in a solid, which bear tension only. See docs/materials.md.")

OBJECT(material, "material", NOLI_SCENE_ANY,
       FIELD("law", law, "\"neo_hookean\"", NULL, "Hyperelastic law.",
             INTO(NoliBodyDef, material.law)),
       FIELD("young", material_field, "1e5", "Pa",
             "Young's modulus. Expressions in X, Y, Z here and in `poisson` and `density` are "
             "evaluated at the centre of each element, a list has one number for each: "
             "docs/materials.md.",
             INTO(NoliBodyDef, material.young)),
       FIELD("poisson", poisson_field, "0.4", NULL, "Poisson's ratio.",
             INTO(NoliBodyDef, material.poisson)),
       FIELD("ogden", ogden_terms, NULL, NULL,
             "Law `ogden`: up to three pairs of shear modulus, Pa, and exponent; they replace "
             "`young`. See docs/materials.md."),
       FIELD("c10", number, NULL, "Pa",
             "Law `mooney_rivlin`: coefficient of the first invariant; replaces `young`."),
       FIELD("c01", number, NULL, "Pa",
             "Law `mooney_rivlin`: coefficient of the second invariant."),
       FIELD("bulk", material_number, NULL, "Pa",
             "Laws `ogden` and `mooney_rivlin` with their parameters: the bulk modulus at rest; "
             "replaces `poisson`."),
       YIELD, FIBRE, PRONY,
       FIELD("density", material_field, "1000", "kg/m^3", "Density at rest.",
             INTO(NoliBodyDef, material.density)),
       FIELD("damping", not_negative, "0", "s",
             "Stiffness-proportional damping: a vibration of frequency f gets the damping ratio "
             "`pi f damping`.",
             INTO(NoliBodyDef, material.damping)),
       FIELD("mass_damping", not_negative, "0", "1/s",
             "Mass-proportional damping, also of rigid motion: a vibration of frequency f gets the "
             "damping ratio `mass_damping / (4 pi f)`.",
             INTO(NoliBodyDef, material.mass_damping)));

OBJECT(
    volume, "volume", NOLI_SCENE_EXACTLY_ONE,
    GROUPED("region", region_name, NULL,
            "`\"cavity\"`: the cavity enclosed by the body; `\"outside\"`: the body and its "
            "cavities; `\"body\"`: the material of the body.",
            INTO(NoliVolumeDef, region)),
    GROUPED("component", natural_or_zero, NULL,
            "Region inside the connected part of the boundary with this number, from 0 in the "
            "order of the mesh; for bodies with several cavities."),
    GROUPED("tag", integer, NULL, "The tetrahedra with this tag."),
    FIELD("model", volume_model, "\"ideal_gas\"", NULL,
          "Volume law: a gas, a liquid, or a pressure linear in the volume.",
          INTO(NoliVolumeDef, model)),
    FIELD("compression", positive, NULL, "1/Pa",
          "Compression coefficient at rest; default, only for a gas: 1 / (101325 Pa + `pressure`).",
          INTO(NoliVolumeDef, compression)),
    FIELD("pressure", number, "0", "Pa", "Gauge pressure in the rest shape.",
          INTO(NoliVolumeDef, pressure)));
LIST(volume_list, volume, 1, "a list of objects");
static const NoliSceneType volumes = EITHER(&volume, &volume_list);

OBJECT(proxy, "proxy", NOLI_SCENE_EXACTLY_ONE,
       GROUPED("subdivision", subdivision, NULL,
               "The boundary, with each face split into the square of this number of triangles.",
               INTO(NoliBodyDef, proxy.subdivision)),
       GROUPED("edge_length", positive, "m",
               "The boundary, split until no edge of the placed mesh is longer.",
               INTO(NoliBodyDef, proxy.edge_length)),
       GROUPED("mesh", obstacle_mesh, NULL,
               "Triangles, or the boundary of tetrahedra, placed like the `mesh` of the body; they "
               "move with its elements to `rest`."),
       FIELD("max_distance", positive, NULL, "m",
             "Maximum distance of vertices of `mesh` from the body; default: a twentieth of its "
             "diagonal.",
             INTO(NoliBodyDef, proxy.max_distance)),
       FIELD("max_extrapolation", positive, "0.5", NULL,
             "How far barycentric coordinates of vertices of `mesh` may be below 0.",
             INTO(NoliBodyDef, proxy.max_extrapolation)),
       FIELD("balance", boolean, "false", NULL,
             "Adjust densities so that the body has the mass and centre of mass of the volume "
             "enclosed by the proxy.",
             INTO(NoliBodyDef, proxy.balance)));
OBJECT(shell, "shell", NOLI_SCENE_ANY,
       REQUIRED("thickness", positive, "m", "Thickness.", INTO(NoliBodyDef, shell.thickness)),
       FIELD("bending", not_negative, "1", NULL,
             "Bending stiffness over that of a plate, E t^3 / (12 (1 - nu^2)).",
             INTO(NoliBodyDef, shell.bending)),
       FIELD("bending_law", bending_law, "\"hinges\"", NULL,
             "`hinges`: each edge by itself, for cloth. `plate`: the curvature of each triangle, "
             "that of a plate on any mesh.",
             INTO(NoliBodyDef, shell.bending_law)),
       FIELD("limit", above_one, NULL, NULL,
             "Principal stretch that no triangle reaches; default: no limit.",
             INTO(NoliBodyDef, shell.limit)),
       FIELD("woven", boolean, "false", NULL,
             "Cloth with warp and weft, whatever the law of the material: `young` along warp.",
             INTO(NoliBodyDef, shell.woven)),
       FIELD("warp", vector, "[0, 0, 0]", NULL,
             "Direction of warp at rest, projected onto each triangle; default: the first edge of "
             "each.",
             INTO(NoliBodyDef, shell.warp)),
       FIELD("weft", positive, "1", NULL, "Stiffness along weft over that along warp.",
             INTO(NoliBodyDef, shell.weft)),
       FIELD("shear", positive, NULL, "Pa",
             "Stiffness in shear of woven shells; default: E / (2 (1 + nu)).",
             INTO(NoliBodyDef, shell.shear)));
OBJECT(
    rod_body, "rod_body", NOLI_SCENE_ANY,
    REQUIRED("radius", positive, "m", "Radius of the cross section.",
             INTO(NoliBodyDef, rod.radius)),
    FIELD("bending", not_negative, "1", NULL,
          "Bending stiffness over that of the section, E pi r^4 / 4 of a round one.",
          INTO(NoliBodyDef, rod.bending)),
    FIELD("twist", not_negative, "0", NULL,
          "Torsional stiffness over that of the section, G pi r^4 / 2 of a round one; 0: the rod "
          "does not resist twist and has no frame.",
          INTO(NoliBodyDef, rod.twist)),
    FIELD("second_radius", positive, NULL, "m",
          "Of an elliptic section with `radius` along `normal`; needs `twist`.",
          INTO(NoliBodyDef, rod.second_radius)),
    FIELD("normal", vector, "[0, 0, 0]", NULL,
          "First axis of an elliptic section at rest, projected across each segment.",
          INTO(NoliBodyDef, rod.normal)));
OBJECT(point_body, "point_body", NOLI_SCENE_ANY,
       REQUIRED("radius", positive, "m", "Radius of the balls whose mass the points have.",
                INTO(NoliBodyDef, point.radius)));
// places (select.c)

OBJECT(box_region, "box_region", NOLI_SCENE_ANY, REQUIRED("min", vector, "m", "Minimum corner."),
       REQUIRED("max", vector, "m", "Maximum corner."),
       FIELD("relative", boolean, "false", NULL,
             "Corners are fractions of the bounding box of the body: 0 minimum, 1 maximum."));
OBJECT(sphere_region, "sphere_region", NOLI_SCENE_ANY, REQUIRED("center", vector, "m", "Centre."),
       REQUIRED("radius", positive, "m", "Radius."));
OBJECT(half_space_region, "half_space_region", NOLI_SCENE_ANY,
       REQUIRED("origin", vector, "m", "A point of its surface."),
       REQUIRED("normal", vector, NULL,
                "Normal, pointing to the selected side, of any nonzero length."));
LIST(element_list, natural_or_zero, 1, "a list of integers");
OBJECT(element_region, "element_selection", NOLI_SCENE_EXACTLY_ONE,
       GROUPED("box", box_region, NULL, "Elements with centres in a box parallel to the axes."),
       GROUPED("sphere", sphere_region, NULL, "Elements with centres in a ball."),
       GROUPED("half_space", half_space_region, NULL,
               "Elements with centres on one side of a plane."),
       GROUPED("side", side_name, NULL,
               "Elements with centres close to one side of the bounding box."),
       GROUPED("tag", integer, NULL, "Elements with this tag in the mesh file."),
       GROUPED("set", text, NULL,
               "Elements all of whose vertices are in this named set of the mesh file. See "
               "docs/import.md."),
       GROUPED("elements", element_list, NULL,
               "Indices of tetrahedra of the mesh (in plane strain and of shells triangles, of "
               "rods segments), refined or not, from 0."),
       FIELD("depth", fraction, "0.01", NULL,
             "With `side`: how deep, as a fraction of the extent of the bounding box."));
LIST(element_region_list, element_region, 1, "a list of selections");
static const NoliSceneType element_selection = EITHER(&element_region, &element_region_list);

OBJECT(part_material, "part_material", NOLI_SCENE_ANY,
       FIELD("law", law, NULL, NULL, "Hyperelastic law.", INTO(NoliPartDef, material.law)),
       FIELD("young", material_field, NULL, "Pa", "Young's modulus.",
             INTO(NoliPartDef, material.young)),
       FIELD("poisson", poisson_field, NULL, NULL, "Poisson's ratio.",
             INTO(NoliPartDef, material.poisson)),
       FIELD("density", material_field, NULL, "kg/m^3", "Density at rest.",
             INTO(NoliPartDef, material.density)),
       FIELD("damping", not_negative, NULL, "s", "Stiffness-proportional damping.",
             INTO(NoliPartDef, material.damping)),
       FIELD("ogden", ogden_terms, NULL, NULL,
             "Law `ogden`: up to three pairs of shear modulus, Pa, and exponent."),
       FIELD("c10", number, NULL, "Pa", "Law `mooney_rivlin`."),
       FIELD("c01", number, NULL, "Pa", "Law `mooney_rivlin`."),
       FIELD("bulk", material_number, NULL, "Pa", "Bulk modulus at rest of these laws."), YIELD,
       FIBRE, PRONY);
OBJECT(part, "part", NOLI_SCENE_ANY,
       REQUIRED("select", element_selection, NULL,
                "Which elements, by their place at the start; a list is a union."),
       REQUIRED("material", part_material, NULL,
                "What they are made of; keys that are missing: as the body.", ITS_MEMBERS));
LIST(parts, part, 0, "a list of objects");

OBJECT(
    body, "body", NOLI_SCENE_ANY,
    FIELD("name", text, NULL, NULL, "Name, unique among all entities; default `body_N`, N from 0."),
    REQUIRED("mesh", body_mesh, NULL,
             "File of tetrahedra (.msh, .vtk, .mesh, .inp), or a built-in shape; triangles in "
             "plane strain and for "
             "shells, segments for rods, points. A shell of tetrahedra is their boundary; rods and "
             "points "
             "of a mesh without segments or points are its edges and vertices."),
    PLANE_STRAIN, PLACEMENT,
    FIELD("start", start_positions, NULL, "m",
          "Positions at the start, if they are not those of the placed mesh, which stays the rest "
          "shape and decides what selections contain: a mesh file or a list, with one vertex for "
          "each vertex in the simulation, of all copies one after another, in world coordinates. "
          "`noli check --repair` writes such files: docs/repair.md."),
    FIELD("rest", start_positions, NULL, "m",
          "Positions at rest, if they are not those of the placed mesh, which still decides what "
          "selections contain and what expressions of materials give: likewise. Nodes of curved "
          "meshes and proxies follow the vertices. `noli design` writes such files: "
          "docs/design_problems.md."),
    FIELD("material", material, "{}", NULL, "Material.", ITS_MEMBERS),
    FIELD("parts", parts, NULL, NULL,
          "Elements of other materials; where several parts have an element, the last one counts."),
    FIELD("shell", shell, NULL, NULL,
          "If given, the triangles of the mesh are a thin body: docs/shells.md", ITS_MEMBERS),
    FIELD("rod", rod_body, NULL, NULL, "If given, the segments of the mesh are rods: docs/rods.md",
          ITS_MEMBERS),
    FIELD("point", point_body, NULL, NULL,
          "If given, the points of the mesh are free particles: docs/rods.md", ITS_MEMBERS),
    FIELD("velocity", vector, "[0, 0, 0]", "m/s", "Initial velocity.", INTO(NoliBodyDef, velocity)),
    FIELD("angular_velocity", vector, "[0, 0, 0]", "rad/s",
          "Initial angular velocity about the centre of mass.",
          INTO(NoliBodyDef, angular_velocity)),
    FIELD("self_contact", boolean, NULL, NULL, "Self-contact of the body; default: `contact.self`.",
          INTO(NoliBodyDef, self_contact)),
    FIELD("contact_offset", shell_offset, "0", "m",
          "Contact keeps this far from the surface, on both sides of a shell; `\"thickness\"`: "
          "half the thickness of a shell, the radius of rods and points. See docs/contact.md.",
          INTO(NoliBodyDef, contact_offset)),
    FIELD("order", shape_order, "1", NULL,
          "Order of the elements, independent of the order of their shape: see docs/high-order.md.",
          INTO(NoliBodyDef, order)),
    FIELD("refine", refinements, NULL, NULL,
          "Number of refinements, each of which splits every cell at the midpoints of its edges: "
          "tetrahedra into 8, triangles into 4; default: 0."),
    FIELD(
        "geometry_order", shape_order, NULL, NULL,
        "Raise or lower the shape of the tetrahedra to this order; default: the order in `mesh`."),
    FIELD("proxy", proxy, NULL, NULL,
          "The surface that collides instead of the boundary; default: the boundary, each face "
          "split according to the higher of the two orders.",
          ITS_MEMBERS),
    FIELD("volume", volumes, NULL, NULL, "Closed regions with a volume law: one, or a list."));
LIST(bodies, body, 1, "a list of objects");

// motions (motion.c)

OBJECT(rotation, "rotation", NOLI_SCENE_EXACTLY_ONE,
       REQUIRED("axis", vector, NULL,
                "Axis, of any nonzero length; the right-hand rule gives the direction."),
       FIELD("origin", turning_point, NULL, "m",
             "Point on the axis, which moves with `displacement` or `velocity`; default: the "
             "centre of the bounding box of the vertices at the start of the simulation. "
             "`\"box\"`: the centre of the bounding box of the moved vertices of each body at the "
             "start of each step; only with `speed` and without `displacement`."),
       GROUPED("speed", expression, "deg/s", "Angular speed, an expression in t."),
       GROUPED("angle", expression, "deg", "Angle from the rest position, an expression in t."));

LIST(mesh_files, mesh_file, 1, "a list of mesh files");
static const NoliSceneType sequence_files = EITHER(&mesh_file, &mesh_files);
OBJECT(sequence, "sequence", NOLI_SCENE_ANY,
       REQUIRED("files", sequence_files, NULL,
                "Meshes with the vertices of `mesh`, one per frame: a list, or a pattern with one "
                "`%d` or `%04d`, counted up until a file is missing."),
       FIELD("first", natural_or_zero, "0", NULL, "First number of the pattern."),
       REQUIRED("fps", positive, "1/s",
                "Frames per second; linear interpolation in between, and the last frame is held."));

OBJECT(beyond, "beyond", NOLI_SCENE_ANY, REQUIRED("origin", vector, "m", "A point of the plane."),
       REQUIRED("normal", vector, NULL,
                "Direction to the side where the motion ends, of any nonzero length."));
OBJECT(until, "until", NOLI_SCENE_ANY,
       REQUIRED("beyond", beyond, NULL,
                "The motion ends when all vertices of the body are on this side of a plane."));

OBJECT(
    motion, "motion", NOLI_SCENE_ANY,
    FIELD("displacement", components, NULL, "m",
          "Displacement from the rest position, expressions in t, X, Y, Z; `\"free\"`: this "
          "component is not prescribed (not for obstacles)."),
    FIELD("velocity", components, NULL, "m/s",
          "Velocity, expressions in t, X, Y, Z (with `rotation`: only in t); `\"free\"` as for "
          "`displacement`."),
    FIELD("rotation", rotation, NULL, NULL,
          "Rotation about an axis; can be combined with `displacement` or `velocity`."),
    FIELD("hold", boolean, NULL, NULL,
          "`true`: vertices keep their position. Excludes all other motions."),
    FIELD("sequence", sequence, NULL, NULL,
          "Follow a sequence of meshes. Excludes all other motions."),
    FIELD("controlled", boolean, NULL, NULL,
          "`true`: a program writes where the vertices go between steps (docs/live.md), and they "
          "start at rest. Excludes all other motions."),
    FIELD("name", text, NULL, NULL,
          "Name for programs; with several bodies `NAME_BODY`; default: of controlled obstacles "
          "their own, "
          "else `motion N`."),
    FIELD("factor", positive, NULL, NULL,
          "Displacements of the motion are this times as large; default 1. Not for `hold`."),
    FIELD("drift", vector, NULL, "m/s", "Velocity that is added to the motion."),
    FIELD("spin", vector, NULL, "rad/s",
          "Angular velocity with which all that the motion does turns about the `pivot`."),
    FIELD("pivot", vector, "[0, 0, 0]", "m", "Point that `spin` turns about, and `drift` moves."),
    FIELD("from", number, "0", "s", "Start time; compared with the time at the start of a step."),
    FIELD("to", end_time, "\"end\"", "s",
          "End time, exclusive; afterwards bodies are free and obstacles are at rest."),
    FIELD("until", until, NULL, NULL,
          "End by position, for each body separately: the first step between `from` and `to` "
          "that starts with the body there ends the motion permanently."));
LIST(motion_list, motion, 1, "a list of objects");
static const NoliSceneType motions = EITHER(&motion, &motion_list);

// obstacles, half-spaces: build_bodies.c

OBJECT(obstacle, "obstacle", NOLI_SCENE_ANY,
       FIELD("name", text, NULL, NULL,
             "Name, unique among all entities; default `obstacle_N`, N from 0."),
       REQUIRED("mesh", obstacle_mesh, NULL,
                "File of triangles, segments, points or tetrahedra, or a built-in shape."),
       FIELD("as", obstacle_kind, "\"surface\"", NULL,
             "Part of the mesh that collides: the surface (the boundary of tetrahedra), only the "
             "edges, or only the vertices."),
       PLANE_STRAIN,
       FIELD("contact_offset", not_negative, "0", "m",
             "Contact keeps this far from the surface, on both sides, and from segments and "
             "points: these are rods and balls of this radius. See docs/contact.md.",
             INTO(NoliBodyDef, contact_offset)),
       PLACEMENT,
       FIELD("motion", motions, NULL, NULL,
             "A motion, or a list of motions for different times; default: at rest."));
LIST(obstacles, obstacle, 0, "a list of objects");

OBJECT(half_space, "half_space", NOLI_SCENE_ANY,
       FIELD("name", text, NULL, NULL,
             "Name, unique among all entities; default `half_space_N`, N from 0."),
       FIELD("origin", vector, "[0, 0, 0]", "m", "A point of its surface.",
             INTO(NoliHalfSpaceDef, origin)),
       FIELD("normal", vector, "[0, 1, 0]", NULL,
             "Normal, pointing to the allowed side, of any nonzero length."),
       FIELD("contact_offset", not_negative, "0", "m", "Contact begins this far above the plane.",
             INTO(NoliHalfSpaceDef, contact_offset)));
LIST(half_spaces, half_space, 0, "a list of objects");

// what moves and pulls vertices: selections (select.c), then build_motions.c

LIST(vertex_list, natural_or_zero, 1, "a list of integers");

OBJECT(region, "selection", NOLI_SCENE_EXACTLY_ONE,
       GROUPED("box", box_region, NULL, "Vertices in an axis-aligned box."),
       GROUPED("sphere", sphere_region, NULL, "Vertices in a ball."),
       GROUPED("half_space", half_space_region, NULL, "Vertices on one side of a plane."),
       GROUPED("side", side_name, NULL, "Vertices close to one side of the bounding box."),
       GROUPED("tag", integer, NULL, "Vertices of tetrahedra or triangles with this tag."),
       GROUPED("set", text, NULL,
               "Vertices of a named set of the mesh file: a node or element set of .inp files, a "
               "physical group of Gmsh's. See docs/scene.md."),
       GROUPED("vertices", vertex_list, NULL, "Indices of vertices in the mesh file, from 0."),
       FIELD("depth", fraction, "0.01", NULL,
             "With `side`: depth as a fraction of the extent of the bounding box."),
       FIELD("surface_only", boolean, "false", NULL, "Select only vertices of the surface."));
static const NoliSceneType region_item = EITHER(&keyword_all, &region);
LIST(region_list, region_item, 1, "a list of selections");
static const NoliSceneType selection = EITHER(&keyword_all, &region, &region_list);

OBJECT(prescribed, "prescribed", NOLI_SCENE_ANY,
       REQUIRED("body", text, NULL, "Name of a body or obstacle; `*`: all bodies."),
       FIELD("select", selection, "\"all\"", NULL,
             "Selected vertices, by initial position; a list is a union."),
       REQUIRED("motion", motions, NULL, "A motion, or a list of motions for different times."));
LIST(prescribed_list, prescribed, 0, "a list of objects");

OBJECT(
    force, "force", NOLI_SCENE_EXACTLY_ONE,
    REQUIRED("body", text, NULL, "Name of a body; `*`: all bodies."),
    FIELD("select", selection, "\"all\"", NULL,
          "Selected vertices, by initial position; a list is a union."),
    FIELD("name", text, NULL, NULL,
          "Name for programs; with several bodies `NAME_BODY`; default: `force N`."),
    GROUPED("acceleration", load, "m/s^2",
            "Acceleration; the force is this times the mass of each vertex. `\"controlled\"`: a "
            "program writes it between steps (docs/live.md); likewise below."),
    GROUPED("nodal", load, "N", "Force on each vertex."),
    GROUPED("total", load, "N",
            "Total force, distributed over the vertices of each body in proportion to their mass."),
    GROUPED("traction", load, "Pa",
            "Force per rest area, in a fixed direction, on the faces of the surface all of whose "
            "nodes are selected; in plane strain on edges, times the thickness."),
    GROUPED("pressure", face_pressure, "Pa",
            "Force per current area on these faces, against their outward normals; on shells "
            "against the normals of the triangles. See docs/loads.md."),
    FIELD("from", number, "0", "s", "Start time: acts in steps that end after it."),
    FIELD("to", end_time, "\"end\"", "s", "End time: acts in steps that end at or before it."));
LIST(forces, force, 0, "a list of objects");

// contact, friction, pairs: build_contact.c

OBJECT(contact, "contact", NOLI_SCENE_ANY,
       FIELD("enabled", boolean, "true", NULL,
             "`false`: no contact; all bodies pass through each other.", INTO(NoliSimDef, contact)),
       FIELD("model", contact_model, "\"ipc\"", NULL,
             "Contact model: a barrier that nothing passes; the geometric contact potential, a "
             "barrier without forces at rest whatever its support (see "
             "`docs/contact_potential.md`); or a penalty between vertices and smooth surfaces, "
             "which does not prevent penetration (see `docs/contact.md`).",
             INTO(NoliSimDef, contact_model)),
       FIELD("distance", positive_scaled, NULL, "m",
             "Distance below which contact acts; default: 1e-3 l, or half of the smallest gap "
             "between parts of one body at rest if that gap is below 1e-3 l, as in thin bodies and "
             "fine meshes (not with `gcp` and `implicit_surface`): see `docs/contact.md`.",
             INTO(NoliSimDef, contact_distance)),
       FIELD("stiffness", stiffness, "\"adaptive\"", "Pa/m",
             "Stiffness of the barrier. With `gcp`, the factor of the potential, in J/m^2. With "
             "`implicit_surface`, the initial stiffness, in N/m.",
             INTO(NoliSimDef, barrier_stiffness)),
       FIELD("eps_target", positive_scaled, NULL, "m",
             "`gcp`: maximum support, possibly many edge lengths; default: `distance`, which is "
             "then the distance of the barrier with open obstacles.",
             INTO(NoliSimDef, gcp.eps_target)),
       FIELD("alpha", positive_share, "0.5", NULL,
             "`gcp`: cosine within which a direction counts as a local minimum of the distance. "
             "Smaller: weaker forces in cusps, more iterations.",
             INTO(NoliSimDef, gcp.alpha)),
       FIELD("beta", positive_share, "0.1", NULL, "`gcp`: the same for exterior and interior.",
             INTO(NoliSimDef, gcp.beta)),
       FIELD("length", positive_scaled, NULL, "m",
             "`gcp`: width assigned to sharp edges and corners; default: that of the mesh.",
             INTO(NoliSimDef, gcp.length)),
       FIELD("act_at_rest", boolean, "false", NULL,
             "`gcp`: `true` uses `eps_target` everywhere, even if forces act at the start, as in "
             "programs without an adaptive support.",
             INTO(NoliSimDef, gcp.act_at_rest)),
       FIELD("radius", positive_scaled, NULL, "m",
             "`implicit_surface`: range of a surface and the length over which it is smoothed; "
             "default: twice the mean edge of each body, more for large triangles.",
             INTO(NoliSimDef, surface_radius)),
       FIELD("self", boolean, "true", NULL, "Default of `self_contact` of bodies."),
       FIELD("ccd", ccd_method, "\"additive\"", NULL,
             "Continuous collision detection: conservative advancement, or exclusion of boxes in "
             "time and space (slower): see `docs/ccd.md`.",
             INTO(NoliSimDef, ccd)));
OBJECT(
    friction, "friction", NOLI_SCENE_ANY,
    FIELD("coefficient", not_negative, "0", NULL,
          "Dynamic coefficient of all pairs without their own.", INTO(NoliSimDef, friction)),
    FIELD("static_coefficient", not_negative, NULL, NULL,
          "Static coefficient, at least `coefficient`; default: `coefficient`.",
          INTO(NoliSimDef, static_friction)),
    FIELD("stribeck_speed", positive_scaled, NULL, "m/s",
          "Speed at which the coefficient has dropped from static to dynamic, above `speed`; "
          "default: ten times `speed`.",
          INTO(NoliSimDef, stribeck_speed)),
    FIELD("viscosity", not_negative, "0", "s/m", "Increase of the coefficient per sliding speed.",
          INTO(NoliSimDef, viscosity)),
    FIELD("speed", positive_scaled, "\"1e-3 l\"", "m/s", "Slower sliding counts as sticking.",
          INTO(NoliSimDef, friction_speed)),
    FIELD("iterations", friction_iterations, "\"automatic\"", NULL,
          "Friction iterations of each step with `lagged` friction; each uses the normal forces of "
          "the previous solve. `automatic`: repeat the solve, at most ten times and as long as it "
          "improves, while changed normal forces make the friction error of some body exceed 5 %.",
          INTO(NoliSimDef, friction_iterations)),
    FIELD("method", friction_method, "\"lagged\"", NULL,
          "`lagged`: contact forces and sliding bases of an earlier state, with an energy; "
          "`implicit`: those of the end of the step (solver `implicit_newton`).",
          INTO(NoliSimDef, friction_method)),
    FIELD(
        "basis_derivatives", boolean, "true", NULL,
        "`implicit`: include the derivatives of sliding bases in the Jacobian; `false` is cheaper.",
        INTO(NoliSimDef, friction_basis_derivatives)));
OBJECT(pair, "pair", NOLI_SCENE_ANY,
       REQUIRED("a", text, NULL, "Name of a body, obstacle or half-space; `*`: any."),
       REQUIRED("b", text, NULL, "The other entity; the same name twice means self-contact."),
       FIELD("contact", boolean, "true", NULL,
             "`false`: no contact; the two pass through each other.", INTO(NoliPairDef, contact)),
       FIELD("friction", not_negative, NULL, NULL,
             "Dynamic coefficient; default: `friction.coefficient`."),
       FIELD("static_friction", not_negative, NULL, NULL,
             "As `friction.static_coefficient`; default: `friction` of the pair, or "
             "`friction.static_coefficient` if the pair has none."),
       FIELD("stribeck_speed", positive_scaled, NULL, "m/s",
             "As in `friction`; default: `friction.stribeck_speed`.",
             INTO(NoliPairDef, stribeck_speed)),
       FIELD("viscosity", not_negative, NULL, "s/m",
             "As in `friction`; default: `friction.viscosity`."),
       FIELD("distance", positive_scaled, NULL, "m",
             "Contact distance of the pair; default: `contact.distance`. Models `ipc` and the "
             "augmented Lagrangian only.",
             INTO(NoliPairDef, distance)));
LIST(pairs, pair, 0, "a list of objects");
OBJECT(tie, "tie", NOLI_SCENE_ANY,
       REQUIRED("body", text, NULL, "Name of the body whose vertices are bound."),
       FIELD("select", selection, "\"all\"", NULL,
             "Selected vertices, by initial position; a list is a union."),
       REQUIRED("to", text, NULL,
                "Name of the body or obstacle whose closest points they are bound to; the same "
                "body: a seam."),
       FIELD("distance", positive_scaled, "\"1e-4 l\"", "m",
             "Largest distance at the start; vertices farther away are an error.",
             INTO(NoliTieDef, distance)));
LIST(ties, tie, 0, "a list of objects");
static const NoliSceneType spring_end = EITHER(&text, &vector);
OBJECT(spring, "spring", NOLI_SCENE_ANY,
       REQUIRED("body", text, NULL, "Name of a body; `*`: all bodies."),
       FIELD("select", selection, "\"all\"", NULL,
             "Vertices of the body, a spring for each, by initial position; a list is a union."),
       FIELD("to", spring_end, NULL, "m",
             "Other ends: the name of a body or obstacle, or a fixed point; default: the place of "
             "each vertex at rest."),
       FIELD("to_select", selection, NULL, NULL,
             "Vertices of `to`, of which each spring goes to the closest one; default: all."),
       FIELD("name", text, NULL, NULL,
             "Name for results; with several bodies `NAME_BODY`; default: `spring N`."),
       FIELD("stiffness", not_negative, "0", "N/m",
             "Stiffness of all these springs together; each has an equal share.",
             INTO(NoliSpringDef, stiffness)),
       FIELD("length", not_negative, NULL, "m",
             "Length without force; 0: a force towards the other end in proportion to the "
             "distance; default: the distance of the ends in the rest shape.",
             INTO(NoliSpringDef, length)),
       FIELD("damping", not_negative, "0", "N s/m",
             "Damping of all together: times the speed at which the ends part.",
             INTO(NoliSpringDef, damping)));
LIST(springs, spring, 0, "a list of objects");
// solver, debug: build.c; output: build.c, build_probes.c

OBJECT(
    augmented_lagrangian, "augmented_lagrangian", NOLI_SCENE_ANY,
    FIELD("stiffness_ratio", positive, "10", NULL,
          "Least penalty stiffness of a constraint divided by the stiffness of the vertices it "
          "pushes.",
          INTO(NoliSimDef, augmented_lagrangian.stiffness_ratio)),
    FIELD("decay", share, "0.9", NULL, "Decay factor of inactive constraints in each iteration.",
          INTO(NoliSimDef, augmented_lagrangian.decay)),
    FIELD("filter", boolean, "true", NULL,
          "Add only pairs that are the earliest new impact of one of their vertices.",
          INTO(NoliSimDef, augmented_lagrangian.filter)),
    FIELD("multipliers", boolean, "true", NULL, "`false`: a pure penalty, for comparison.",
          INTO(NoliSimDef, augmented_lagrangian.multipliers)));
OBJECT(implicit_newton, "implicit_newton", NOLI_SCENE_ANY,
       FIELD("linear", general_solver, "\"automatic\"", NULL,
             "Linear solver: LU factorization, inexact Newton with BiCGSTAB, or the same without a "
             "matrix; `automatic`: by size.",
             INTO(NoliSimDef, implicit_newton.linear)));
OBJECT(
    solver, "solver", NOLI_SCENE_ANY,
    FIELD(
        "method", method, NULL, NULL,
        "Solver: minimizes the incremental potential, separates contacts by the constraints of an "
        "active set, or solves the equations of motion by exact Newton; default "
        "`projected_newton`, with implicit friction `implicit_newton`.",
        INTO(NoliSimDef, solver)),
    FIELD("termination", termination, NULL, NULL,
          "Convergence criterion of a step: the Newton correction, or the times of impact; default "
          "`residual`, with `augmented_lagrangian` `toi` (with which `residual` requires both).",
          INTO(NoliSimDef, termination)),
    FIELD("tolerance", positive_scaled, "\"1e-2 l\"", "m/s",
          "`residual`: a step is solved when the Newton correction divided by h is below this "
          "everywhere. `\"NUMBER l\"` is NUMBER times l per second or, if that is more, times 1e-4 "
          "of "
          "the largest speed at the start of the step.",
          INTO(NoliSimDef, tolerance)),
    FIELD("toi_tolerance", open_share, "1e-3", NULL,
          "`toi`: a step is solved when the weight of the first iterations in the result is below "
          "this.",
          INTO(NoliSimDef, toi_tolerance)),
    FIELD("min_iterations", natural, NULL, NULL,
          "`toi`: minimum number of iterations, those that count as the first ones; default 2, or "
          "6 with friction.",
          INTO(NoliSimDef, min_iterations)),
    FIELD("max_iterations", natural, "1000", NULL,
          "Maximum number of Newton iterations in one solve.", INTO(NoliSimDef, max_iterations)),
    FIELD("max_substeps", natural, "16", NULL,
          "Recovery: a step that cannot be solved is split into 2, 4, ... up to max_substeps "
          "substeps, the next step into half as many, and so on; 1: never.",
          INTO(NoliSimDef, max_substeps)),
    FIELD("linear", linear_solver, "\"auto\"", NULL, "Linear solver.",
          INTO(NoliSimDef, linear_solver)),
    FIELD("linear_tolerance", open_share, "1e-4", NULL,
          "`pcg`: relative residual at which it ends.", INTO(NoliSimDef, linear_tolerance)),
    FIELD("petsc", text, NULL, NULL,
          "Options of PETSc for the linear solvers `petsc:..`: see docs/mpi.md; default: none.",
          INTO(NoliSimDef, petsc_options)),
    FIELD("augmented_lagrangian", augmented_lagrangian, "{}", NULL,
          "Settings of this method; the defaults suit all known scenes.", ITS_MEMBERS),
    FIELD("implicit_newton", implicit_newton, "{}", NULL, "Settings of this method.", ITS_MEMBERS));
OBJECT(probe, "probe", NOLI_SCENE_ANY,
       REQUIRED("name", text, NULL,
                "Name of its columns, without comma and quotation mark; with several bodies "
                "`NAME_BODY`.",
                INTO(NoliProbeDef, name)),
       REQUIRED("body", text, NULL, "Name of a body or obstacle; `*`: all bodies."),
       FIELD("select", selection, "\"all\"", NULL,
             "Selected vertices, by initial position; a list is a union."),
       REQUIRED("quantity", probe_quantity, NULL, "What is recorded, with all its components.",
                INTO(NoliProbeDef, quantity)),
       FIELD("of", probe_reduction, NULL, NULL,
             "Value of each component over the vertices; default: `sum` of forces, else `mean`.",
             INTO(NoliProbeDef, reduction)));
LIST(probes, probe, 0, "a list of objects");
OBJECT(output, "output", NOLI_SCENE_AT_MOST_ONE,
       GROUPED("every", natural, NULL, "Steps between frames; default 1."),
       GROUPED("interval", positive, "s",
               "Time between frames, rounded to a multiple of the time step."),
       FIELD("format", frame_format, NULL, NULL,
             "Files of frames: `vtu` for ParaView, with all cells and fields; `pvtu`, the same in "
             "parts, which ranks write side by side; or `ply`, surfaces for Blender; default "
             "`vtu`.",
             INTO(NoliSceneOutput, frame_format)),
       FIELD("fields", frame_fields, NULL, NULL,
             "Further fields of VTU frames: see docs/results.md; default: none."),
       FIELD("probes", probes, NULL, NULL,
             "Values of some vertices for each step, in probes.csv: see docs/results.md; default: "
             "none."),
       FIELD("checkpoint_seconds", number, "300", "s",
             "Wall time between checkpoints; negative: only at the end.",
             INTO(NoliSceneOutput, checkpoint_seconds)),
       FIELD("checkpoint_steps", natural, NULL, NULL,
             "Steps between checkpoints, in addition to those by wall time; default: none.",
             INTO(NoliSceneOutput, checkpoint_steps)));
// design: build_design.c

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
OBJECT(
    goal, "goal", NOLI_SCENE_AT_MOST_ONE,
    REQUIRED("quantity", goal_quantity, NULL, "What is measured: see docs/design_problems.md.",
             INTO(NoliGoalDef, quantity)),
    REQUIRED("body", text, NULL, "Name of a body or obstacle."),
    FIELD("name", text, NULL, NULL, "In an `expression`: letters, digits and _."),
    FIELD("select", selection, "\"all\"", NULL,
          "Selected vertices, by initial position; a list is a union."),
    FIELD("elements", element_selection, NULL, NULL,
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
LIST(goals, goal, 1, "a list of objects");
OBJECT(variable, "variable", NOLI_SCENE_ANY,
       REQUIRED("parameter", parameter_kind, NULL, "What varies: see docs/derivatives.md."),
       FIELD("of", text, NULL, NULL, "Name of a body or force, or of one entity of a pair."),
       FIELD("with", text, NULL, NULL, "Friction: the other entity of the pair."),
       FIELD("part", natural_or_zero, NULL, NULL,
             "Of parameters of a material: which of the `parts` of the body, from 0; default: the "
             "material of the body itself."),
       FIELD("scope", parameter_scope, NULL, NULL,
             "One value for the body, or one for each element, vertex or term of a series; "
             "default: `body`, of "
             "`rest_position` with a cage or points `vertices`."),
       FIELD("select", selection, NULL, NULL,
             "With the scope `vertices`: which, by initial position; with the scope `elements`: "
             "which, as of `parts`; default: all."),
       FIELD("control", design_control, "\"each\"", NULL,
             "How values follow from the variables: see docs/design_problems.md.",
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
LIST(variables, variable, 1, "a list of objects");
OBJECT(constraint, "constraint", NOLI_SCENE_ANY,
       FIELD("name", text, NULL, NULL, "Name in tables; default: `constraint N`.",
             INTO(NoliDesignFunctionDef, name)),
       REQUIRED("goals", goals, NULL, "The sum of these is bounded."),
       FIELD("expression", text, NULL, NULL, "Is bounded in place of the sum: of goals by name."),
       FIELD("at_most", number, NULL, NULL, "Upper bound.", INTO(NoliDesignFunctionDef, at_most)),
       FIELD("at_least", number, NULL, NULL, "Lower bound.",
             INTO(NoliDesignFunctionDef, at_least)));
LIST(constraints, constraint, 0, "a list of objects");
OBJECT(
    design, "design", NOLI_SCENE_ANY,
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
          "bounds the memory; what lies between is computed again. Default: what 512 MB take.",
          INTO(NoliDesignDef, gradient.checkpoints)));
OBJECT(
    debug, "debug", NOLI_SCENE_ANY,
    FIELD("audit", audit, "false", NULL,
          "Test every step, or every intermediate state of the solver, exactly for intersections "
          "and inversions (slow), and stop at a defect; `true`: every step. See docs/audit.md."));

static const NoliSceneField scene_fields[] = {
    FIELD("$schema", text, NULL, NULL, "Path of the schema for editors; ignored."),
    FIELD("name", text, NULL, NULL, "Name of the results; default: the name of the file."),
    FIELD("description", text, NULL, NULL, "Free text; ignored."),
    REQUIRED("time", time_object, NULL, "Duration and time step.", ITS_MEMBERS),
    FIELD("gravity", vector, "[0, -9.80665, 0]", "m/s^2", "Acceleration of all bodies.",
          INTO(NoliSimDef, gravity)),
    REQUIRED("bodies", bodies, NULL, "Deformable bodies."),
    FIELD("obstacles", obstacles, "[]", NULL, "Rigid surfaces, segments and points."),
    FIELD("half_spaces", half_spaces, "[]", NULL, "Infinite fixed walls and floors."),
    FIELD("prescribed", prescribed_list, "[]", NULL,
          "Vertices with prescribed motion; later entries override earlier ones."),
    FIELD("forces", forces, "[]", NULL, "Loads in addition to gravity."),
    FIELD("contact", contact, "{}", NULL, "Contact.", ITS_MEMBERS),
    FIELD("friction", friction, "{}", NULL, "Friction.", ITS_MEMBERS),
    FIELD("pairs", pairs, "[]", NULL,
          "Settings of pairs of entities; later entries override earlier ones."),
    FIELD("ties", ties, "[]", NULL,
          "Vertices of one body bound to points of another one: see docs/ties.md."),
    FIELD("springs", springs, "[]", NULL,
          "Springs between bodies, or to fixed points: see docs/loads.md."),
    FIELD("solver", solver, "{}", NULL, "Solver.", ITS_MEMBERS),
    FIELD("output", output, "{}", NULL, "Output."),
    FIELD("design", design, NULL, NULL,
          "A search for parameters, by `noli design`: see docs/design_problems.md; default: none. "
          "Runs ignore it."),
    FIELD("debug", debug, "{}", NULL, "Expensive checks."),
};
const NoliSceneType noli_scene_format = {.kind = NOLI_SCENE_OBJECT,
                                         .name = "scene",
                                         .what = "an object",
                                         .fields = scene_fields,
                                         .n_fields = COUNT(scene_fields)};

const NoliSceneType* const noli_scene_body_format = &body;
const NoliSceneType* const noli_scene_obstacle_format = &obstacle;
const NoliSceneType* const noli_scene_part_format = &part;
const NoliSceneType* const noli_scene_volume_format = &volume;
const NoliSceneType* const noli_scene_half_space_format = &half_space;
const NoliSceneType* const noli_scene_pair_format = &pair;
const NoliSceneType* const noli_scene_tie_format = &tie;
const NoliSceneType* const noli_scene_spring_format = &spring;
const NoliSceneType* const noli_scene_output_format = &output;
const NoliSceneType* const noli_scene_probe_format = &probe;
const NoliSceneType* const noli_scene_design_format = &design;
const NoliSceneType* const noli_scene_goal_format = &goal;
const NoliSceneType* const noli_scene_variable_format = &variable;
const NoliSceneType* const noli_scene_constraint_format = &constraint;

const char* noli_scene_choice(const NoliSceneType* type, int32_t index) {
  return type->choice != NULL ? type->choice(index) : type->choices[index];
}
