// Shapes of bodies and obstacles: built_in.c, shape.c.
#include "scene/format_fields.h"

// ---- plain values -------------------------------------------------------------------------------

#define CELL_LIST(variable, size, description)                                                     \
  static const NoliSceneType variable##_cell = FIXED_LIST(natural_or_zero, size, description);     \
  LIST(variable, variable##_cell, 0, "a list of cells")
static const NoliSceneType cells = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(1.0, false, 1e6, false)};
static const NoliSceneType cells_around = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(3.0, false, 1e6, false)};
static const NoliSceneType moebius_cells = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(6.0, false, 1e6, false)};
static const NoliSceneType bowl_cells = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(2.0, false, 1e6, false)};
static const NoliSceneType bowl_angle = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, true, 170.0, false)};
static const NoliSceneType positive_vector = FIXED_LIST(positive, 3, "a list of 3 numbers");
static const NoliSceneType cells_vector = FIXED_LIST(cells, 3, "a list of 3 integers");
static const NoliSceneType cells_pair = FIXED_LIST(cells, 2, "a list of 2 integers");
static const NoliSceneType profile = {.kind = NOLI_SCENE_LIST,
                                      .what = "a list of pairs of numbers",
                                      .item = &pair_of_numbers,
                                      .min_items = 2,
                                      .max_items = INT32_MAX};
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
FROM_TABLE(sheet_pattern, NOLI_CHOICE_SHEET_PATTERN);

// ---- shapes -------------------------------------------------------------------------------------

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
SHARED_OBJECT(
    noli_scene_shape_format, "shape", NOLI_SCENE_EXACTLY_ONE, SOLID_SHAPES,
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
