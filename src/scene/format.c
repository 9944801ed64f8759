#include "scene/format_fields.h"

#include "noli/run.h"

// ---- plain values -------------------------------------------------------------------------------

static const NoliSceneType positive_scaled = {.kind = NOLI_SCENE_SCALED,
                                              .what = "a number or text like \"1e-3 d\"",
                                              RANGE(0.0, true, HUGE_VAL, true)};
static const NoliSceneType share = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, false, 1.0, false)};
static const NoliSceneType keyword_all = KEYWORD("all");
static const NoliSceneType keyword_end = KEYWORD("end");
static const NoliSceneType keyword_controlled = KEYWORD("controlled");
static const NoliSceneType keyword_box = KEYWORD("box");
static const NoliSceneType keyword_adaptive = KEYWORD("adaptive");
// in the order of NOLI_FRICTION_AUTOMATIC and NOLI_FRICTION_UNTIL_CONVERGENCE
static const NoliSceneType friction_rule = {.kind = NOLI_SCENE_CHOICE,
                                            .what = "\"automatic\" or \"until_convergence\"",
                                            .choices = CHOICES("automatic", "until_convergence")};
static const NoliSceneType end_time = EITHER(&number, &keyword_end);
static const NoliSceneType stiffness = EITHER(&positive, &keyword_adaptive);
static const NoliSceneType friction_iterations = EITHER(&natural, &friction_rule);
static const NoliSceneType load = EITHER(&expressions, &keyword_controlled);
static const NoliSceneType face_pressure = EITHER(&expression, &keyword_controlled);
static const NoliSceneType keyword_free = KEYWORD("free");
static const NoliSceneType component = EITHER(&expression, &keyword_free);
static const NoliSceneType components = FIXED_LIST(component, 3, "a list of 3 expressions");
static const NoliSceneType turning_point = EITHER(&vector, &keyword_box);
FROM_TABLE(integrator, NOLI_CHOICE_INTEGRATOR);
FROM_TABLE(linear_solver, NOLI_CHOICE_LINEAR_SOLVER);
FROM_TABLE(friction_method, NOLI_CHOICE_FRICTION_METHOD);
FROM_TABLE(friction_law, NOLI_CHOICE_FRICTION_LAW);
FROM_TABLE(general_solver, NOLI_CHOICE_GENERAL_SOLVER);
FROM_TABLE(termination, NOLI_CHOICE_TERMINATION);
FROM_TABLE(contact_model, NOLI_CHOICE_CONTACT_MODEL);
FROM_TABLE(ccd_method, NOLI_CHOICE_CCD);
FROM_TABLE(audit_moment, NOLI_CHOICE_AUDIT);
FROM_TABLE(probe_quantity, NOLI_CHOICE_PROBE_QUANTITY);
FROM_TABLE(probe_reduction, NOLI_CHOICE_PROBE_REDUCTION);
static const NoliSceneType frame_format = {
    .kind = NOLI_SCENE_CHOICE, .what = "a string", .choice = noli_run_frame_format};
static const NoliSceneType frame_field = {
    .kind = NOLI_SCENE_CHOICE, .what = "a string", .choice = noli_run_frame_field};
static const NoliSceneType frame_fields = {
    .kind = NOLI_SCENE_LIST, .what = "a list of strings", .item = &frame_field, .max_items = 100};
static const NoliSceneType audit = EITHER(&boolean, &audit_moment);
FROM_TABLE(method, NOLI_CHOICE_SOLVER);

// ---- fields -------------------------------------------------------------------------------------

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
          "Time integration method: see docs/background/integrators.md.",
          INTO(NoliSimDef, integrator)),
    FIELD("increments", increments, NULL, NULL,
          "`quasi_static`: load steps in increments of adaptive length, at most `step`; default: "
          "each step in one.",
          ITS_MEMBERS));

LIST(bodies, noli_scene_body_format, 1, "a list of objects");

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

OBJECT(motion, "motion", NOLI_SCENE_ANY,
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
             "`true`: a program writes where the vertices go between steps (docs/howto/live.md), "
             "and they "
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
       FIELD("pivot", vector, "[0, 0, 0]", "m",
             "Point that `spin` turns about, and `drift` moves."),
       FIELD("from", number, "0", "s",
             "Start time; compared with the time at the start of a step."),
       FIELD("to", end_time, "\"end\"", "s",
             "End time, exclusive; afterwards bodies are free and obstacles are at rest."),
       FIELD("until", until, NULL, NULL,
             "End by position, for each body separately: the first step between `from` and `to` "
             "that starts with the body there ends the motion permanently."));
LIST(motion_list, motion, 1, "a list of objects");
const NoliSceneType noli_scene_motions = EITHER(&motion, &motion_list);

// lists of bodies and obstacles, half-spaces: build_bodies.c

LIST(obstacles, noli_scene_obstacle_format, 0, "a list of objects");

SHARED_OBJECT(noli_scene_half_space_format, "half_space", NOLI_SCENE_ANY,
              FIELD("name", text, NULL, NULL,
                    "Name, unique among all entities; default `half_space_N`, N from 0."),
              FIELD("origin", vector, "[0, 0, 0]", "m", "A point of its surface.",
                    INTO(NoliHalfSpaceDef, origin)),
              FIELD("normal", vector, "[0, 1, 0]", NULL,
                    "Normal, pointing to the allowed side, of any nonzero length."),
              FIELD("contact_offset", not_negative, "0", "m",
                    "Contact begins this far above the plane.",
                    INTO(NoliHalfSpaceDef, contact_offset)));
LIST(half_spaces, noli_scene_half_space_format, 0, "a list of objects");

// what moves and pulls vertices: selections (select.c), then build_motions.c

LIST(vertex_list, natural_or_zero, 1, "a list of integers");

OBJECT(region, "selection", NOLI_SCENE_EXACTLY_ONE,
       GROUPED("box", noli_scene_box_region, NULL, "Vertices in an axis-aligned box."),
       GROUPED("sphere", noli_scene_sphere_region, NULL, "Vertices in a ball."),
       GROUPED("half_space", noli_scene_half_space_region, NULL,
               "Vertices on one side of a plane."),
       GROUPED("side", side_name, NULL, "Vertices close to one side of the bounding box."),
       GROUPED("tag", integer, NULL, "Vertices of tetrahedra or triangles with this tag."),
       GROUPED("set", text, NULL,
               "Vertices of a named set of the mesh file: a node or element set or a surface of "
               ".inp files, a physical group of Gmsh's. See docs/reference/import.md."),
       GROUPED("vertices", vertex_list, NULL, "Indices of vertices in the mesh file, from 0."),
       FIELD("depth", fraction, "0.01", NULL,
             "With `side`: depth as a fraction of the extent of the bounding box."),
       FIELD("surface_only", boolean, "false", NULL, "Select only vertices of the surface."));
static const NoliSceneType region_item = EITHER(&keyword_all, &region);
LIST(region_list, region_item, 1, "a list of selections");
const NoliSceneType noli_scene_selection = EITHER(&keyword_all, &region, &region_list);

OBJECT(prescribed, "prescribed", NOLI_SCENE_ANY,
       REQUIRED("body", text, NULL, "Name of a body or obstacle; `*`: all bodies."),
       FIELD("select", noli_scene_selection, "\"all\"", NULL,
             "Selected vertices, by initial position; a list is a union."),
       REQUIRED("motion", noli_scene_motions, NULL,
                "A motion, or a list of motions for different times."));
LIST(prescribed_list, prescribed, 0, "a list of objects");

OBJECT(
    force, "force", NOLI_SCENE_EXACTLY_ONE,
    REQUIRED("body", text, NULL, "Name of a body; `*`: all bodies."),
    FIELD("select", noli_scene_selection, "\"all\"", NULL,
          "Selected vertices, by initial position; a list is a union."),
    FIELD("name", text, NULL, NULL,
          "Name for programs; with several bodies `NAME_BODY`; default: `force N`."),
    GROUPED("acceleration", load, "m/s^2",
            "Acceleration; the force is this times the mass of each vertex. `\"controlled\"`: a "
            "program writes it between steps (docs/howto/live.md), also for other kinds."),
    GROUPED("nodal", load, "N", "Force on each vertex."),
    GROUPED("total", load, "N",
            "Total force, distributed over the vertices of each body in proportion to their mass."),
    GROUPED("traction", load, "Pa",
            "Force per rest area, in a fixed direction, on the faces of the surface all of whose "
            "nodes are selected; in plane strain on edges, times the thickness."),
    GROUPED("pressure", face_pressure, "Pa",
            "Force per current area on these faces, against their outward normals; on shells "
            "against the normals of the triangles. See docs/howto/loads.md."),
    FIELD("from", number, "0", "s", "Start time: acts in steps that end after it."),
    FIELD("to", end_time, "\"end\"", "s", "End time: acts in steps that end at or before it."));
LIST(forces, force, 0, "a list of objects");

// contact, friction, pairs: build_contact.c

OBJECT(
    contact, "contact", NOLI_SCENE_ANY,
    FIELD("enabled", boolean, "true", NULL,
          "`false`: no contact; all bodies pass through each other.", INTO(NoliSimDef, contact)),
    FIELD("model", contact_model, "\"ipc\"", NULL,
          "Contact model: a barrier that nothing passes; the geometric contact potential, a "
          "barrier without forces at rest whatever its support (see "
          "`docs/background/contact_potential.md`); or a penalty between vertices and smooth "
          "surfaces, "
          "which does not prevent penetration (see `docs/background/contact.md`).",
          INTO(NoliSimDef, contact_model)),
    FIELD("distance", positive_scaled, NULL, "m",
          "Distance below which contact acts; default: 1e-3 d, or half of the smallest gap "
          "between parts of one body at rest if that gap is below 1e-3 d, as in thin bodies and "
          "fine meshes (not with `gcp` and `implicit_surface`): see `docs/background/contact.md`.",
          INTO(NoliSimDef, contact_distance)),
    FIELD("stiffness", stiffness, "\"adaptive\"", "Pa/m",
          "Stiffness of the barrier; with `convergent` in Pa. With `gcp`, the factor of the "
          "potential, in J/m^2 (plane "
          "strain: J/m). With "
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
    FIELD(
        "convergent", boolean, "false", NULL,
        "`ipc`: `true` weights pairs by areas and counts overlapping ones once, so that forces "
        "converge under refinement and flat surfaces have no edges; `stiffness` is then in Pa, by "
        "default a tenth of Young's modulus of the softer body of each pair: "
        "`docs/background/convergent_contact.md`.",
        INTO(NoliSimDef, contact_convergent)),
    FIELD("radius", positive_scaled, NULL, "m",
          "`implicit_surface`: range of a surface and the length over which it is smoothed; "
          "default: twice the mean edge of each body, more for large triangles.",
          INTO(NoliSimDef, surface_radius)),
    FIELD("self", boolean, "true", NULL, "Default of `self_contact` of bodies."),
    FIELD("adhesion", not_negative, "0", "J/m^2",
          "Work that separates surfaces in contact, per area: `docs/background/adhesion.md`.",
          INTO(NoliSimDef, adhesion)),
    FIELD("adhesion_range", positive_scaled, NULL, "m",
          "Gap beyond the contact distance up to which they pull each other; default: the contact "
          "distance.",
          INTO(NoliSimDef, adhesion_range)),
    FIELD("ccd", ccd_method, "\"additive\"", NULL,
          "Continuous collision detection: conservative advancement, or exclusion of boxes in "
          "time and space (slower): see `docs/background/ccd.md`.",
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
    FIELD("speed", positive_scaled, "\"1e-3 d\"", "m/s", "Slower sliding counts as sticking.",
          INTO(NoliSimDef, friction_speed)),
    FIELD("law", friction_law, "\"stick\"", NULL,
          "`stick`: contacts keep an elastic slip, and hold; `velocity`: friction is a smooth "
          "function of the sliding speed, and contacts creep; `implicit` friction with "
          "`implicit_surface` always has `velocity`: `docs/background/friction.md`.",
          INTO(NoliSimDef, friction_law)),
    FIELD("stick_length", positive_scaled, NULL, "m",
          "`stick`: elastic slip at which a contact slides; default: `speed` times the time step, "
          "with `quasi_static` times 0.01 s.",
          INTO(NoliSimDef, stick_length)),
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
SHARED_OBJECT(
    noli_scene_pair_format, "pair", NOLI_SCENE_ANY,
    REQUIRED("a", text, NULL, "Name of a body, obstacle or half-space; `*`: any."),
    REQUIRED("b", text, NULL, "The other entity; the same name twice means self-contact."),
    FIELD("contact", boolean, "true", NULL, "`false`: no contact; the two pass through each other.",
          INTO(NoliPairDef, contact)),
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
    FIELD("adhesion", not_negative, NULL, "J/m^2", "As in `contact`; default: `contact.adhesion`."),
    FIELD(
        "adhesion_range", positive_scaled, NULL, "m",
        "As in `contact`; default: `contact.adhesion_range`, or the contact distance of the pair.",
        INTO(NoliPairDef, adhesion_range)),
    FIELD("direction", vector, NULL, NULL,
          "Direction of `a` on which friction depends, where `a` is at rest; it turns with the "
          "surface. `friction` is the coefficient along it. Default: none.",
          INTO(NoliPairDef, direction)),
    FIELD("friction_across", not_negative, NULL, NULL,
          "Dynamic coefficient across `direction`; default: 0. `lagged` friction only.",
          INTO(NoliPairDef, friction_across)),
    FIELD("distance", positive_scaled, NULL, "m",
          "Contact distance of the pair; default: `contact.distance`. Models `ipc` and the "
          "augmented Lagrangian only.",
          INTO(NoliPairDef, distance)));
LIST(pairs, noli_scene_pair_format, 0, "a list of objects");
SHARED_OBJECT(
    noli_scene_tie_format, "tie", NOLI_SCENE_ANY,
    REQUIRED("body", text, NULL, "Name of the body whose vertices are bound."),
    FIELD("select", noli_scene_selection, "\"all\"", NULL,
          "Selected vertices, by initial position; a list is a union."),
    REQUIRED("to", text, NULL,
             "Name of the body or obstacle whose closest points they are bound to; the same "
             "body: a seam."),
    FIELD("distance", positive_scaled, "\"1e-4 d\"", "m",
          "Largest distance at the start; vertices farther away are an error.",
          INTO(NoliTieDef, distance)));
LIST(ties, noli_scene_tie_format, 0, "a list of objects");
static const NoliSceneType spring_end = EITHER(&text, &vector);
SHARED_OBJECT(
    noli_scene_spring_format, "spring", NOLI_SCENE_ANY,
    REQUIRED("body", text, NULL, "Name of a body; `*`: all bodies."),
    FIELD("select", noli_scene_selection, "\"all\"", NULL,
          "Vertices of the body, a spring for each, by initial position; a list is a union."),
    FIELD("to", spring_end, NULL, "m",
          "Other ends: the name of a body or obstacle, or a fixed point; default: the place of "
          "each vertex at rest."),
    FIELD("to_select", noli_scene_selection, NULL, NULL,
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
LIST(springs, noli_scene_spring_format, 0, "a list of objects");
// build_joints.c reads limits and targets of motors
OBJECT(motor, "motor", NOLI_SCENE_EXACTLY_ONE,
       GROUPED("effort", expression, "N m or N", "Its effort, a number or an expression of t."),
       GROUPED("position", expression, "rad or m",
               "Where it pulls the coordinate, a number or an expression of t."),
       GROUPED("speed", expression, "rad/s or m/s",
               "The speed that it holds, a number or an expression of t."),
       FIELD("stiffness", not_negative, "0", "N m/rad or N/m",
             "Of a motor with a position: effort by distance.",
             INTO(NoliCoordinateDef, motor_stiffness)),
       FIELD("damping", not_negative, "0", "N m s/rad or N s/m",
             "Effort by speed, or by the difference from the wanted speed.",
             INTO(NoliCoordinateDef, motor_damping)),
       FIELD("max_effort", not_negative, NULL, "N m or N", "Largest effort; default: none.",
             INTO(NoliCoordinateDef, max_effort)));
OBJECT(follows, "follows", NOLI_SCENE_ANY,
       REQUIRED("joint", text, NULL, "Name of the joint whose first coordinate it follows.",
                INTO(NoliCoordinateDef, follows)),
       FIELD("ratio", number, "1", NULL, "Times this, not 0; negative: the other way round.",
             INTO(NoliCoordinateDef, ratio)));
#define COORDINATE_FIELDS                                                                          \
  FIELD("limits", pair_of_numbers, NULL, "rad or m",                                               \
        "Lower and upper limit, never passed, around the start; default: none."),                  \
      FIELD("start", number, "0", "rad or m", "The coordinate at the start.",                      \
            INTO(NoliCoordinateDef, start)),                                                       \
      FIELD("stiffness", not_negative, "0", "N m/rad or N/m", "Stiffness of a spring.",            \
            INTO(NoliCoordinateDef, stiffness)),                                                   \
      FIELD("rest", number, "0", "rad or m", "Where the spring has no effort.",                    \
            INTO(NoliCoordinateDef, rest)),                                                        \
      FIELD("damping", not_negative, "0", "N m s/rad or N s/m", "Effort of a damper by speed.",    \
            INTO(NoliCoordinateDef, damping)),                                                     \
      FIELD("friction", not_negative, "0", "N m or N",                                             \
            "Largest effort of dry friction, which holds below it.",                               \
            INTO(NoliCoordinateDef, friction)),                                                    \
      FIELD("armature", not_negative, "0", "kg m^2 or kg",                                         \
            "Inertia of a rotor in the coordinate.", INTO(NoliCoordinateDef, armature)),           \
      FIELD("motor", motor, NULL, NULL, "A motor.", ITS_MEMBERS),                                  \
      FIELD("follows", follows, NULL, NULL, "The coordinate of another joint, as gears do.",       \
            ITS_MEMBERS)
SHARED_OBJECT(noli_scene_coordinate_format, "travel", NOLI_SCENE_ANY, COORDINATE_FIELDS);
FROM_TABLE(joint_type, NOLI_CHOICE_JOINT);
SHARED_OBJECT(
    noli_scene_joint_format, "joint", NOLI_SCENE_ANY,
    REQUIRED("type", joint_type, NULL, "What the two share, or keep: see docs/background/rigid.md.",
             INTO(NoliJointDef, type)),
    REQUIRED("a", text, NULL, "Name of a rigid body, or, for a ball or a distance, of any."),
    FIELD("b", text, NULL, NULL,
          "Name of the other body: rigid, or, for a ball or a distance, any; default: the "
          "world."),
    FIELD("name", text, NULL, NULL, "Name for results; default: `joint N`."),
    FIELD("at", vector, "[0, 0, 0]", "m", "The point at the start; a weld needs none.",
          INTO(NoliJointDef, at)),
    FIELD("b_at", vector, NULL, "m",
          "The point of `b`: an error if the two do not meet where the joint lets nothing "
          "move. A distance needs it.",
          INTO(NoliJointDef, to_at)),
    FIELD("axis", vector, "[0, 0, 1]", NULL,
          "Axis of the turn or travel, or normal of the plane, of any nonzero length.",
          INTO(NoliJointDef, axis)),
    FIELD("b_axis", vector, NULL, NULL,
          "The axis of `b` of a universal joint, whose `axis` is that of `a`.",
          INTO(NoliJointDef, to_axis)),
    FIELD("lead", number, NULL, "m", "Travel of a screw by turn, not 0; negative: left-handed.",
          INTO(NoliJointDef, lead)),
    FIELD("contact", boolean, "false", NULL, "Whether the two bodies collide.",
          INTO(NoliJointDef, contact)),
    COORDINATE_FIELDS,
    FIELD("travel", noli_scene_coordinate_format, NULL, NULL,
          "What acts in the travel of a joint that turns too."));
LIST(joints, noli_scene_joint_format, 0, "a list of objects");
// solver, debug: build.c; output: build.c, build_probes.c

OBJECT(augmented_lagrangian, "augmented_lagrangian", NOLI_SCENE_ANY,
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
    FIELD("tolerance", positive_scaled, "\"1e-2 d\"", "m/s",
          "`residual`: a step is solved when the Newton correction divided by h is below this "
          "everywhere. `\"NUMBER d\"` is NUMBER times d per second or, if that is more, times 1e-4 "
          "of the largest speed at the start of the step.",
          INTO(NoliSimDef, tolerance)),
    FIELD(
        "imbalance", open_share, NULL, NULL,
        "A step is solved when the residual force on each body is at most this share of the force "
        "that acts on it; default 1e-3 with `quasi_static`, 1e-2 with inertia, where the net "
        "force and nodes in contact count. See docs/background/solvers.md.",
        INTO(NoliSimDef, imbalance)),
    FIELD("toi_tolerance", open_share, "1e-3", NULL,
          "`toi`: a step is solved when the weight of the first iterations in the result is below "
          "this.",
          INTO(NoliSimDef, toi_tolerance)),
    FIELD("min_iterations", natural, NULL, NULL,
          "`toi`: minimum number of iterations, those that count as the first ones; default 2, or "
          "6 with friction until a Newton step, divided by `h`, is shorter than a hundredth of "
          "`friction.speed`.",
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
    FIELD(
        "petsc", text, NULL, NULL,
        "Options of PETSc for the linear solvers `petsc:..`: see docs/howto/mpi.md; default: none.",
        INTO(NoliSimDef, petsc_options)),
    FIELD("augmented_lagrangian", augmented_lagrangian, "{}", NULL,
          "Settings of this method; the defaults suit all known scenes.", ITS_MEMBERS),
    FIELD("implicit_newton", implicit_newton, "{}", NULL, "Settings of this method.", ITS_MEMBERS));
SHARED_OBJECT(
    noli_scene_probe_format, "probe", NOLI_SCENE_ANY,
    REQUIRED("name", text, NULL,
             "Name of its columns, without comma and quotation mark; with several bodies "
             "`NAME_BODY`.",
             INTO(NoliProbeDef, name)),
    REQUIRED("body", text, NULL, "Name of a body or obstacle; `*`: all bodies."),
    FIELD("select", noli_scene_selection, "\"all\"", NULL,
          "Selected vertices, by initial position; a list is a union."),
    REQUIRED("quantity", probe_quantity, NULL, "What is recorded, with all its components.",
             INTO(NoliProbeDef, quantity)),
    FIELD("of", probe_reduction, NULL, NULL,
          "Value of each component over the vertices; default: `sum` of forces, else `mean`.",
          INTO(NoliProbeDef, reduction)));
LIST(probes, noli_scene_probe_format, 0, "a list of objects");
SHARED_OBJECT(
    noli_scene_output_format, "output", NOLI_SCENE_AT_MOST_ONE,
    GROUPED("every", natural, NULL, "Steps between frames; default 1."),
    GROUPED("interval", positive, "s",
            "Time between frames, rounded to a multiple of the time step."),
    FIELD("format", frame_format, NULL, NULL,
          "Files of frames: `vtu` for ParaView, with all cells and fields; `pvtu`, the same in "
          "parts, which ranks write side by side; or `ply`, surfaces for Blender; default "
          "`vtu`.",
          INTO(NoliSceneOutput, frame_format)),
    FIELD("fields", frame_fields, NULL, NULL,
          "Further fields of VTU frames: see docs/reference/results.md; default: none."),
    FIELD("probes", probes, NULL, NULL,
          "Values of some vertices for each step, in probes.csv: see docs/reference/results.md; "
          "default: "
          "none."),
    FIELD("checkpoint_seconds", number, "300", "s",
          "Wall time between checkpoints; negative: only at the end.",
          INTO(NoliSceneOutput, checkpoint_seconds)),
    FIELD("checkpoint_steps", natural, NULL, NULL,
          "Steps between checkpoints, in addition to those by wall time; default: none.",
          INTO(NoliSceneOutput, checkpoint_steps)));
OBJECT(
    debug, "debug", NOLI_SCENE_ANY,
    FIELD("audit", audit, "false", NULL,
          "Test every step, or every intermediate state of the solver, exactly for intersections "
          "and inversions (slow), and stop at a defect; `true`: every step. See "
          "docs/howto/audit.md."));

OBJECT(origin, "file", NOLI_SCENE_ANY,
       REQUIRED("path", text, NULL, "Its name in this scene, relative to the folder of the scene."),
       REQUIRED("original", text, NULL, "Where it was when the scene was written."),
       FIELD("digest", text, NULL, NULL,
             "Of its bytes then, FNV-1a in 16 hexadecimal digits; a name of several files has "
             "none."));
LIST(origins, origin, 0, "a list of files");

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
          "Vertices of one body bound to points of another one: see docs/howto/ties.md."),
    FIELD("springs", springs, "[]", NULL,
          "Springs between bodies, or to fixed points: see docs/howto/loads.md."),
    FIELD("joints", joints, "[]", NULL, "Joints of rigid bodies: see docs/background/rigid.md."),
    FIELD("solver", solver, "{}", NULL, "Solver.", ITS_MEMBERS),
    FIELD("output", noli_scene_output_format, "{}", NULL, "Output."),
    FIELD("design", noli_scene_design_format, NULL, NULL,
          "A search for parameters, by `noli design`: see docs/howto/design_problems.md; default: "
          "none. "
          "Runs ignore it."),
    FIELD("debug", debug, "{}", NULL, "Expensive checks."),
    FIELD(
        "files", origins, NULL, NULL,
        "Written by runs: where the files were that the scene names, so that results can be "
        "moved (docs/howto/running.md). A file is read from its path or, if it is not there or has "
        "another digest, from where it was, or from the folder of the scene."),
};
const NoliSceneType noli_scene_format = {.kind = NOLI_SCENE_OBJECT,
                                         .name = "scene",
                                         .what = "an object",
                                         .fields = scene_fields,
                                         .n_fields = COUNT(scene_fields)};

const char* noli_scene_choice(const NoliSceneType* type, int32_t index) {
  return type->choice != NULL ? type->choice(index) : type->choices[index];
}
