#define _POSIX_C_SOURCE 200809L
#include "suites.h"

#include "figures.h"
#include "generated.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PAPER "ipc/input/paperExamples/"
#define OTHER "ipc/input/"
#define POLYFEM "polyfem/contact/examples/"

// Steps of the public suite, and of a scene without reference figures.
enum { STEPS_PUBLIC = 50, STEPS_DEFAULT = 10 };

static const Suite suites[] = {
    {"paper", "the scenes of [Li2020] fig. 23 and the scaling study", 60.0},
    {"timestep", "the time-step study, [Li2020] table 1, complete scenes", (double)INFINITY},
    {"solvers", "selected scenes with every solver", 300.0},
    {"stress", "the stress scenes of examples/stress based on [Zheng2025], complete", 600.0},
    {"stress_fine",
     "stress scenes with as many tetrahedra as in [Zheng2025] table 2, in rich contact",
     (double)INFINITY},
    {"scaling", "a pile of 4 to 256 balls with four solvers (generated)", 300.0},
    {"large", "squeezed, twisted and piled bodies of 30,000 to a million nodes (generated)",
     (double)INFINITY},
    {"bodies", "a pile of 100 to 10,000 cubes of six tetrahedra (generated)", 300.0},
    {"rigid", "heaps of rigid boxes and balls, nets and gears, with the two solvers (generated)",
     300.0},
    {"ablation", "ablation of the augmented Lagrangian (generated)", 60.0},
    {"conditioning", "condition numbers with both methods (generated)", 60.0},
    {"gcp",
     "complete scenes of [Huang2025] with the barrier and with the geometric contact potential",
     3600.0},
    {"thin", "cloth and cards at several sizes, with the two solvers (generated)", 600.0},
    {"linear", "bodies of several shapes and sizes with every linear solver (generated)", 30.0},
    {"order", "examples/high_order: coarse high-order elements, and fine linear ones", 600.0},
    {"friction",
     "scenes with friction, solved once per step and with automatic friction iterations", 300.0},
    {"hard", "the steps of scenes in which contact takes most iterations", 120.0},
    {"public", "all 3D scenes of the IPC program and of PolyFEM, 50 steps", 900.0},
};

// In the order of fig. 23; then small scenes and the scaling study.
static const char* const paper_scene[] = {
    PAPER "2_matKnives.txt",
    PAPER "2_spherePoints.txt",
    PAPER "videoExamples/chain100.txt",
    PAPER "videoExamples/chain5.txt",
    PAPER "17_pinCushionBall.txt",
    PAPER "19_golfBall.txt",
    PAPER "13_dolphinFunnel.txt",
    PAPER "8_rollerBall.txt",
    PAPER "5_hitCardHouse.txt",
    PAPER "7_masonryArch.txt",
    PAPER "15_trashComp_shapes.txt",
    PAPER "16_armaRoller_E1e5.txt",
    PAPER "14_matTwist.txt",
    PAPER "4_rodsTwist.txt",
    PAPER "1_squeezeOut.txt",
    PAPER "22_squishyBall.txt",
    PAPER "tb1_diffDt/rodsTwist_E1e4_dt0.025.txt",
    PAPER "tb1_diffDt/rodsTwist_E1e4_dt0.1.txt",
    PAPER "21_scalability/mat40x40_twist.txt",
    PAPER "21_scalability/mat100x100_twist.txt",
    PAPER "21_scalability/mat150x150_twist.txt",
    PAPER "21_scalability/mat225x225_twist.txt",
    PAPER "10_cubeStack.txt",
    OTHER "otherExamples/typical/2matsFall.txt",
};

static const char* const time_step[] = {"0.002", "0.005", "0.01", "0.025", "0.05",
                                        "0.1",   "0.2",   "0.5",  "1",     "2"};

typedef struct StudyScene {
  const char* name; // NULL: from the path
  const char* path; // below the folder of the data, of any file, or a recipe
  int32_t steps;
} StudyScene;

typedef struct Variant {
  const char* name;                            // NULL: the only one
  NoliSceneOverride override[SUITE_OVERRIDES]; // ends before the first without a path
  bool may_fail;
  int32_t from; // steps before those that are measured
} Variant;

// Scenes run with every variant.
typedef struct Study {
  const char* suite;
  const StudyScene* scene;
  size_t n_scenes;
  const Variant* variant;
  size_t n_variants;
} Study;

static const StudyScene solver_scene[] = {
    {NULL, PAPER "8_rollerBall.txt", 25},
    {NULL, PAPER "2_spherePoints.txt", 15},
    {NULL, PAPER "21_scalability/mat40x40_twist.txt", 50},
    {NULL, OTHER "otherExamples/typical/2matsFall.txt", 30},
    {NULL, PAPER "10_cubeStack.txt", 100},
    {NULL, PAPER "tb1_diffDt/rodsTwist_E1e4_dt0.025.txt", 30},
};

// Each has four times the balls of the previous one, in the same two layers.
static const StudyScene scaling_scene[] = {
    {"pile 4", "generated: pile 2 1 2 4", 15},
    {"pile 16", "generated: pile 4 2 2 4", 15},
    {"pile 64", "generated: pile 8 4 2 4", 15},
    {"pile 256", "generated: pile 16 8 2 4", 15},
};

// Each size of a scene has about six times the nodes of the previous one.
static const StudyScene large_scene[] = {
    {"squeezed box 30", "generated: solid 30", 10},
    {"squeezed box 55", "generated: solid 55", 10},
    {"squeezed box 100", "generated: solid 100", 10},
    {"twisted bar 19", "generated: torsion 19", 10},
    {"twisted bar 35", "generated: torsion 35", 10},
    {"twisted bar 63", "generated: torsion 63", 10},
    {"pile 256", "generated: pile 16 8 2 4", 10},
    {"pile 1458", "generated: pile 27 27 2 4", 10},
    {"pile 8192", "generated: pile 64 64 2 4", 10},
};
static const Variant large_variant[] = {{.name = "default"}};

// Ten times the cubes from each to the next, in the same four layers.
static const StudyScene bodies_scene[] = {
    {"100 cubes", "generated: cubes 5 5 4", 2},
    {"1000 cubes", "generated: cubes 25 10 4", 2},
    {"10000 cubes", "generated: cubes 50 50 4", 2},
};

static const StudyScene rigid_scene[] = {
    {"64 boxes", "generated: heap 4 4 4", 40},
    {"512 boxes", "generated: heap 8 8 8", 20},
    {"64 balls, 980 triangles", "generated: pebbles 4 4 4 7", 40},
    {"a box in flight", "generated: heap 1 1 1", 10},
    {"50,000 triangles in flight", "generated: flight 50", 10},
    {"net, 144 bars", "generated: net 8", 40},
    {"net, 544 bars", "generated: net 16", 20},
    {"20 gears", "generated: gears 20", 40},
};
static const Variant rigid_variant[] = {
    {.name = "projected_newton", .override = {{"solver.method", "projected_newton"}}},
    {.name = "augmented_lagrangian", .override = {{"solver.method", "augmented_lagrangian"}}},
};

#define SOLVER(method, termination, linear)                                                        \
  {                                                                                                \
    .name = method ", " termination ", " linear, .override = {                                     \
      {"solver.method", method},                                                                   \
      {"solver.termination", termination},                                                         \
      {"solver.linear", linear}                                                                    \
    }                                                                                              \
  }

// The others are compared with the first.
static const Variant solver_variant[] = {
    SOLVER("projected_newton", "residual", "cholmod"),
    SOLVER("projected_newton", "residual", "pcg"),
    SOLVER("projected_newton", "toi", "cholmod"),
    SOLVER("projected_newton", "toi", "pcg"),
    SOLVER("augmented_lagrangian", "toi", "cholmod"),
    SOLVER("augmented_lagrangian", "toi", "pcg"),
};

static const Variant scaling_variant[] = {
    SOLVER("projected_newton", "residual", "cholmod"),
    SOLVER("projected_newton", "toi", "pcg"),
    SOLVER("augmented_lagrangian", "toi", "cholmod"),
    SOLVER("augmented_lagrangian", "toi", "pcg"),
};

static const Variant bodies_variant[] = {
    {.name = "cholmod", .override = {{"solver.linear", "cholmod"}}},
    {.name = "pcg", .override = {{"solver.linear", "pcg"}}},
};

// ---- ablations of the augmented Lagrangian, [Zheng2025] section 6.3 ----

static const StudyScene filter_scene[] = {{"crash of 18", "generated: crash 3 3 2 3", 20}};
static const StudyScene decay_scene[] = {{"pile of 18", "generated: pile 3 3 2 3", 25}};
static const StudyScene multiplier_scene[] = {{"pile of 8", "generated: pile 2 2 2 3", 10}};
static const StudyScene thin_scene[] = {{"pile of 8, thin", "generated: pile 2 2 2 3", 10}};

#define ABLATION(...)                                                                              \
  .override = {{"solver.method", "augmented_lagrangian"}, {"solver.linear", "pcg"}, __VA_ARGS__}
#define AL "solver.augmented_lagrangian."
// A twentieth of the contact distance of the other scenes.
#define THIN                                                                                       \
  { "contact.distance", "1e-5" }

static const Variant filter_variant[] = {
    {.name = "filter", ABLATION({AL "filter", "true"})},
    {.name = "no filter", ABLATION({AL "filter", "false"})},
};
static const Variant decay_variant[] = {
    {.name = "decay 0.9", ABLATION({AL "decay", "0.9"})},
    {.name = "decay 0", ABLATION({AL "decay", "0"})},
    {.name = "decay 0.5", ABLATION({AL "decay", "0.5"})},
    {.name = "decay 1", ABLATION({AL "decay", "1"})},
};
static const Variant multiplier_variant[] = {
    {.name = "multipliers", ABLATION({AL "multipliers", "true"})},
    {.name = "penalty", .may_fail = true, ABLATION({AL "multipliers", "false"})},
    {.name = "penalty x 10",
     .may_fail = true,
     ABLATION({AL "multipliers", "false"}, {AL "stiffness_ratio", "100"})},
};
static const Variant thin_variant[] = {
    {.name = "multipliers", ABLATION(THIN)},
    {.name = "penalty x 10",
     .may_fail = true,
     ABLATION({AL "multipliers", "false"}, {AL "stiffness_ratio", "100"}, THIN)},
    {.name = "penalty x 100",
     .may_fail = true,
     ABLATION({AL "multipliers", "false"}, {AL "stiffness_ratio", "1000"}, THIN)},
    {.name = "penalty x 1000",
     .may_fail = true,
     ABLATION({AL "multipliers", "false"}, {AL "stiffness_ratio", "1e4"}, THIN)},
};

// ---- linear systems ----

// [Zheng2025] fig. 24.
static const StudyScene squeeze_scene[] = {
    {"squeezed by 30 %", "generated: squeeze 30 8", 30},
    {"squeezed by 60 %", "generated: squeeze 60 8", 30},
    {"squeezed by 80 %", "generated: squeeze 80 8", 30},
    {"pile of 16", "generated: pile 4 2 2 4", 15},
};
// Systems are solved more accurately than needed, for good estimates.
#define SYSTEMS(method)                                                                            \
  .override = {{"solver.method", method},                                                          \
               {"solver.termination", "toi"},                                                      \
               {"solver.linear", "pcg_diagonal"},                                                  \
               {"solver.linear_tolerance", "1e-8"}}
static const Variant squeeze_variant[] = {
    {.name = "barrier", SYSTEMS("projected_newton")},
    {.name = "augmented Lagrangian", SYSTEMS("augmented_lagrangian")},
};

static const StudyScene linear_scene[] = {
    {"solid 6", "generated: solid 6", 20},     {"solid 12", "generated: solid 12", 20},
    {"solid 20", "generated: solid 20", 10},   {"sheet 20", "generated: sheet 20", 20},
    {"sheet 40", "generated: sheet 40", 20},   {"sheet 80", "generated: sheet 80", 10},
    {"rod 40", "generated: rod 40", 20},       {"rod 320", "generated: rod 320", 20},
    {"pile 64", "generated: pile 8 4 2 4", 5},
};
#define LINEAR(method, linear)                                                                     \
  {                                                                                                \
    .name = method ", " linear, .override = {                                                      \
      {"solver.method", method},                                                                   \
      {"solver.termination", "toi"},                                                               \
      {"solver.linear", linear}                                                                    \
    }                                                                                              \
  }
static const Variant linear_variant[] = {
    LINEAR("augmented_lagrangian", "cholmod"),
    LINEAR("augmented_lagrangian", "pcg"),
    LINEAR("augmented_lagrangian", "pcg_diagonal"),
    LINEAR("augmented_lagrangian", "pcg_incomplete"),
    LINEAR("augmented_lagrangian", "multigrid"),
    LINEAR("augmented_lagrangian", "auto"),
    LINEAR("projected_newton", "cholmod"),
    LINEAR("projected_newton", "pcg"),
    LINEAR("projected_newton", "pcg_diagonal"),
    LINEAR("projected_newton", "pcg_incomplete"),
    LINEAR("projected_newton", "multigrid"),
    LINEAR("projected_newton", "auto"),
};

// ---- elements of high order, [Ferguson2023]: the scenes of examples/high_order unchanged, and
// with other elements; OWN_BOUNDARY: their boundary collides ----

#define EXAMPLE(name) BENCH_EXAMPLES "/high_order/" name ".json"
#define OWN_BOUNDARY "{\"subdivision\": 1}"
#define LINEAR_BODY(body, mesh_)                                                                   \
  {body ".order", "1"}, {body ".mesh", mesh_}, {                                                   \
    body ".proxy", OWN_BOUNDARY                                                                    \
  }

static const StudyScene beam_scene[] = {{NULL, EXAMPLE("bending_beam"), 0}};
static const Variant beam_variant[] = {
    {.name = "P4, 48 tets"},
    {.name = "P1, 64 x 8 x 8",
     .override = {{"bodies[0].order", "1"},
                  {"bodies[0].mesh", "{\"rod\": {\"length\": 1, \"width\": 0.125, "
                                     "\"cells_along\": 64, \"cells_across\": 8}}"}}},
};

#define BALL "{\"sphere\": {\"radius\": 0.1, \"cells\": 8}}"
static const StudyScene bounce_scene[] = {{NULL, EXAMPLE("bouncing_ball"), 150}};
static const Variant bounce_variant[] = {
    {.name = "P2, curved"},
    {.name = "P1, dense", .override = {LINEAR_BODY("bodies[0]", BALL)}},
};
static const StudyScene rolling_scene[] = {{NULL, EXAMPLE("rolling_ball"), 0}};
static const Variant rolling_variant[] = {
    {.name = "P1 box, fine proxy"},
    {.name = "P1 ball", .override = {LINEAR_BODY("bodies[0]", BALL)}},
};

static const StudyScene nut_scene[] = {{NULL, EXAMPLE("nut_and_bolt"), 20}};
static const Variant nut_variant[] = {
    {.name = "P1, coarse, fine proxy"},
    {.name = "P1, fine",
     .override = {{"bodies[0].mesh", "{\"nut\": {\"inner_radius\": 0.0215, \"outer_radius\": 0.04, "
                                     "\"height\": 0.02, \"pitch\": 0.02, \"cells_around\": 36, "
                                     "\"cells_through\": 1, \"cells_along\": 10}}"},
                  {"bodies[0].proxy", OWN_BOUNDARY},
                  {"bodies[1].mesh", "{\"bolt\": {\"length\": 0.08, \"pitch\": 0.02, "
                                     "\"cells_across\": 6, \"cells_along\": 32}}"},
                  {"bodies[1].proxy", OWN_BOUNDARY}}},
};

#define MAT(cells)                                                                                 \
  "{\"mat\": {\"size\": [1, 1], \"thickness\": 0.02, \"cells\": [" cells ", " cells "]}}"
static const StudyScene mat_scene[] = {{NULL, EXAMPLE("mat_twist"), 0}};
static const Variant mat_variant[] = {
    {.name = "P2, fine proxy"},
    {.name = "P3, fine proxy", .override = {{"bodies[0].order", "3"}}},
    {.name = "P1, coarse", .override = {LINEAR_BODY("bodies[0]", MAT("10"))}},
    {.name = "P1, fine", .override = {LINEAR_BODY("bodies[0]", MAT("40"))}},
};

#define TRUSS(across, along)                                                                       \
  "{\"truss\": {\"joints\": [2, 2, 2], \"spacing\": 0.02, \"joint_radius\": 0.006, "               \
  "\"strut_radius\": 0.003, \"cells_across\": " across ", \"cells_along\": " along "}}"
static const StudyScene truss_scene[] = {{NULL, EXAMPLE("truss_compression"), 0}};
static const Variant truss_variant[] = {
    {.name = "P2, curved"},
    {.name = "P1, coarse", .override = {LINEAR_BODY("bodies[0]", TRUSS("2", "2"))}},
    {.name = "P1, fine", .override = {LINEAR_BODY("bodies[0]", TRUSS("4", "6"))}},
};

static const StudyScene roller_scene[] = {{NULL, EXAMPLE("rollers"), 0}};
static const Variant roller_variant[] = {
    {.name = "P2, coarse, fine proxy"},
    {.name = "P1, coarse, fine proxy", .override = {{"bodies[0].order", "1"}}},
    {.name = "P1, fine",
     .override = {LINEAR_BODY("bodies[0]",
                              "{\"bolt\": {\"radius\": 0.1, \"length\": 0.5, \"pitch\": 0.125, "
                              "\"depth\": 0.03, \"cells_across\": 6, \"cells_along\": 32}}")}},
};

// ---- the geometric contact potential, [Huang2025] section 6.2, complete ----

// Every step ends with the exact audit.
#define AUDITED                                                                                    \
  { "debug.audit", "true" }

static const StudyScene gcp_scene[] = {
    {NULL, PAPER "11_erleben/cubeInternalEdgesCO.txt", 0},
    {NULL, BENCH_SCENES "/erleben_cube_cliff.json", 0},
    {NULL, PAPER "11_erleben/spikePlaneCO.txt", 0},
    {NULL, PAPER "11_erleben/spikeSpikeCO.txt", 0},
    {NULL, PAPER "11_erleben/spikeWedgeCO.txt", 0},
    {NULL, BENCH_SCENES "/erleben_spike_crack.json", 0},
    {NULL, BENCH_SCENES "/erleben_spike_hole.json", 0},
    {NULL, PAPER "11_erleben/wedgePlaneCO.txt", 0},
    {NULL, PAPER "11_erleben/wedgeWedgoCO.txt", 0},
    {NULL, BENCH_SCENES "/erleben_wedge_crack.json", 0},
    {NULL, BENCH_EXAMPLES "/geometric/compactor.json", 0},
    {NULL, BENCH_EXAMPLES "/geometric/mat_twist.json", 0},
};
static const Variant gcp_variant[] = {
    {.name = "ipc", .override = {{"contact.model", "ipc"}, AUDITED}},
    {.name = "gcp", .override = {{"contact.model", "gcp"}, AUDITED}},
};

#define SLIDING BENCH_SCENES "/sliding_bunny.json"
#define FRICTION(coefficient)                                                                      \
  {.name = "ipc",                                                                                  \
   .override = {{"contact.model", "ipc"}, {"friction.coefficient", coefficient}, AUDITED}},        \
  {                                                                                                \
    .name = "gcp", .override = {                                                                   \
      {"contact.model", "gcp"},                                                                    \
      {"friction.coefficient", coefficient},                                                       \
      AUDITED                                                                                      \
    }                                                                                              \
  }
static const StudyScene smooth_slope_scene[] = {{"sliding_bunny, mu 0.05", SLIDING, 0}};
static const Variant smooth_slope_variant[] = {FRICTION("0.05")};
static const StudyScene rough_slope_scene[] = {{"sliding_bunny, mu 0.2", SLIDING, 0}};
static const Variant rough_slope_variant[] = {FRICTION("0.2")};

// The termination with which it finishes in an hour, and the alpha of [Huang2025] table 3.
static const StudyScene funnel_scene[] = {{NULL, PAPER "13_dolphinFunnel.txt", 20}};
#define TOI                                                                                        \
  { "solver.termination", "toi" }
static const Variant funnel_variant[] = {
    {.name = "ipc", .override = {{"contact.model", "ipc"}, TOI, AUDITED}},
    {.name = "gcp 1", .override = {{"contact.model", "gcp"}, {"contact.alpha", "1"}, TOI, AUDITED}},
};

static const StudyScene reach_scene[] = {
    {NULL, PAPER "10_cubeStack.txt", 0},
    {"pile 16", "generated: pile 4 2 2 4", 15},
};
#define GCP(label, alpha, reach)                                                                   \
  {                                                                                                \
    .name = label, .override = {                                                                   \
      {"contact.model", "gcp"},                                                                    \
      {"contact.alpha", alpha},                                                                    \
      {"contact.eps_target", reach},                                                               \
      AUDITED                                                                                      \
    }                                                                                              \
  }
static const Variant reach_variant[] = {
    {.name = "ipc", .override = {{"contact.model", "ipc"}, AUDITED}},
    GCP("gcp 0.5, 1e-3 l", "0.5", "1e-3 l"),
    GCP("gcp 0.5, 4e-3 l", "0.5", "4e-3 l"),
    GCP("gcp 1, 1e-3 l", "1", "1e-3 l"),
};

// ---- friction: one solve per step as in [Li2020], and automatic friction iterations ----

static const StudyScene friction_scene[] = {
    {NULL, PAPER "8_rollerBall.txt", 25},
    {NULL, PAPER "7_masonryArch.txt", 24},
    {NULL, OTHER "otherExamples/friction/masonryArch_25.txt", 50},
    {NULL, OTHER "otherExamples/friction/2tets.txt", 100},
    {NULL, OTHER "tutorialExamples/2cubesFall.txt", 100},
    {NULL, POLYFEM "3D/friction/high-school-physics-slopetest-mu=0.49.json", 100},
    {NULL, POLYFEM "3D/friction/high-school-physics-slopetest-mu=0.50.json", 100},
    {NULL, POLYFEM "3D/large-ratios/large-mass-ratio.json", 100},
    {NULL, BENCH_EXAMPLES "/ball_bounce.json", 60},
    {NULL, BENCH_EXAMPLES "/ball_in_box.json", 100},
    {NULL, BENCH_EXAMPLES "/ball_squish.json", 100},
    {NULL, BENCH_EXAMPLES "/curved_ball.json", 100},
    {NULL, BENCH_EXAMPLES "/demo.json", 100},
    {NULL, BENCH_EXAMPLES "/falling_blocks.json", 100},
    {NULL, BENCH_EXAMPLES "/plane_strain.json", 100},
    {NULL, BENCH_EXAMPLES "/pressed_ball.json", 100},
    {NULL, BENCH_EXAMPLES "/stick_slip.json", 100},
    {NULL, BENCH_EXAMPLES "/twisting_rod.json", 100},
    {NULL, BENCH_EXAMPLES "/stress/near_rigid.json", 30},
};
static const Variant friction_variant[] = {
    {.name = "iterations 1", .override = {{"friction.iterations", "1"}}},
    {.name = "automatic", .override = {{"friction.iterations", "\"automatic\""}}},
};

// ---- thin bodies: [Zheng2025] fig. 22 and 23 in the sizes of the paper, and smaller ------------

static const StudyScene cloth_scene[] = {
    {"10 layers, 2K vertices", "generated: layers 10 14", 10},
    {"50 layers, 11K vertices", "generated: layers 50 14", 10},
    {"50 layers, 51K vertices", "generated: layers 50 31", 10},
    {"50 layers, 218K vertices", "generated: layers 50 65", 10},
    {"50 stiff layers, 11K vertices", "generated: stiff_layers 50 14", 12},
    {"50 stiff layers, 51K vertices", "generated: stiff_layers 50 31", 4},
    {"twisted cloth, easy, 2.5K vertices", "generated: twist 49 6", 60},
    {"twisted cloth, hard, 2.5K vertices", "generated: twist 49 30", 60},
    {"twisted tube, 2K vertices", "generated: tube 45 48", 60},
    {"twisted tube, 88K vertices", "generated: tube 300 293", 10},
    {"funnel, 5K vertices", "generated: funnel 40", 20},
    {"funnel, 78K vertices", "generated: funnel 160", 10},
    {"shuffle, 20 cards", "generated: shuffle 20", 30},
    {"25 noodles", "generated: noodles 5 40", 60},
    {"625 noodles, 126K vertices", "generated: noodles 25 200", 10},
    {"knot, 4K vertices", "generated: knot 4", 80},
    {"knot, 99K vertices", "generated: knot 22", 10},
    {"dress, 1K vertices", "generated: dress 40", 20},
    {"dress, 16K vertices", "generated: dress 160", 10},
};
static const Variant cloth_variant[] = {
    {.name = "barrier", .override = {{"solver.method", "projected_newton"}}},
    {.name = "augmented Lagrangian",
     .override = {{"solver.method", "augmented_lagrangian"}, {"solver.linear", "pcg"}}},
};

// [Larionov2024] fig. 11, in the size of the paper and smaller: with implicit friction.
static const StudyScene tyre_scene[] = {
    {"tyre, 3K vertices", "generated: tyre 30 96", 20},
    {"tyre, 46K vertices", "generated: tyre 118 394", 2},
};
static const Variant tyre_variant[] = {{.name = "implicit friction"}};

// ---- stress scenes with the numbers of tetrahedra of [Zheng2025] table 2 ------------------------

#define STRESS(scene)                                                                              \
  { scene ", fine", BENCH_EXAMPLES "/stress/" scene ".json", 20 }
#define CELLS(body, shape, key, cells)                                                             \
  { "bodies[" body "].mesh." shape "." key, cells }
static const StudyScene plate_scene[] = {STRESS("plate_impact")};
static const Variant plate_variant[] = {
    {.name = "default", .override = {CELLS("0", "sphere", "cells", "20")}}};
static const StudyScene rods_scene[] = {STRESS("twisting_rods")};
static const Variant rods_variant[] = {
    {.name = "default",
     .from = 90,
     .override = {CELLS("0", "rod", "cells_along", "155"), CELLS("0", "rod", "cells_across", "3"),
                  CELLS("1", "rod", "cells_along", "155"),
                  CELLS("1", "rod", "cells_across", "3")}}};
static const StudyScene rings_scene[] = {STRESS("nested_rings")};
static const Variant rings_variant[] = {{.name = "default",
                                         .from = 40,
                                         .override = {CELLS("0", "torus", "cells_around", "100"),
                                                      CELLS("0", "torus", "cells_across", "8")}}};
static const StudyScene hole_scene[] = {STRESS("tiny_hole")};
// A wider socket: smaller voxels would reach into the rod.
#define FIGURE                                                                                     \
  "\"(X^2 + Z^2 < 0.26^2*(1 - (Y/0.62)^2) || (abs(Y - 0.225) < 0.07 && abs(Z) < 0.07)) && "        \
  "(Y < -0.3 || X^2 + Z^2 > 0.09^2)\""
static const Variant hole_variant[] = {{.name = "default",
                                        .from = 20,
                                        .override = {CELLS("0", "voxels", "cells", "[36, 48, 24]"),
                                                     CELLS("0", "voxels", "inside", FIGURE)}}};
static const StudyScene spindle_scene[] = {STRESS("funnel")};
static const Variant spindle_variant[] = {
    {.name = "default", .from = 80, .override = {CELLS("0", "voxels", "cells", "[40, 20, 20]")}}};

#define LENGTH(list) (sizeof(list) / sizeof *(list))
#define STUDY(suite, scenes, variants)                                                             \
  { suite, scenes, LENGTH(scenes), variants, LENGTH(variants) }

static const Study studies[] = {
    STUDY("solvers", solver_scene, solver_variant),
    STUDY("stress_fine", plate_scene, plate_variant),
    STUDY("stress_fine", rods_scene, rods_variant),
    STUDY("stress_fine", rings_scene, rings_variant),
    STUDY("stress_fine", hole_scene, hole_variant),
    STUDY("stress_fine", spindle_scene, spindle_variant),
    STUDY("scaling", scaling_scene, scaling_variant),
    STUDY("large", large_scene, large_variant),
    STUDY("bodies", bodies_scene, bodies_variant),
    STUDY("rigid", rigid_scene, rigid_variant),
    STUDY("ablation", filter_scene, filter_variant),
    STUDY("ablation", decay_scene, decay_variant),
    STUDY("ablation", multiplier_scene, multiplier_variant),
    STUDY("ablation", thin_scene, thin_variant),
    STUDY("conditioning", squeeze_scene, squeeze_variant),
    STUDY("gcp", gcp_scene, gcp_variant),
    STUDY("gcp", smooth_slope_scene, smooth_slope_variant),
    STUDY("gcp", rough_slope_scene, rough_slope_variant),
    STUDY("gcp", funnel_scene, funnel_variant),
    STUDY("gcp", reach_scene, reach_variant),
    STUDY("friction", friction_scene, friction_variant),
    STUDY("linear", linear_scene, linear_variant),
    STUDY("thin", cloth_scene, cloth_variant),
    STUDY("thin", tyre_scene, tyre_variant),
    STUDY("order", beam_scene, beam_variant),
    STUDY("order", bounce_scene, bounce_variant),
    STUDY("order", rolling_scene, rolling_variant),
    STUDY("order", nut_scene, nut_variant),
    STUDY("order", mat_scene, mat_variant),
    STUDY("order", truss_scene, truss_variant),
    STUDY("order", roller_scene, roller_variant),
};

// In the order of the figures of [Zheng2025]: 12, 13, 6, 3, 5, 15, 16, 1, 4.
static const struct {
  const char* name;
  bool ends_at_rest;
} stress_scene[] = {
    {"near_rigid", false},  {"plate_impact", true},  {"twisting_rods", false},
    {"nested_rings", true}, {"noodles", false},      {"tiny_hole", true},
    {"funnel", true},       {"squishy_balls", true}, {"well", false},
};

// The steps of scenes in which contact takes most iterations.
static const struct {
  StudyScene scene;
  int32_t from; // steps before those that are measured
} hard_scene[] = {
    {{"crash at 5 m/s", "generated: impact 5", 4}, 0},
    {{"crash at 20 m/s", "generated: impact 20", 3}, 0},
    {{"crash at 100 m/s", "generated: impact 100", 2}, 0},
    {{"well", BENCH_EXAMPLES "/stress/well.json", 4}, 4},
    {{"pile of 256", "generated: pile 16 8 2 4", 3}, 2},
    {{"compactor", PAPER "15_trashComp_shapes.txt", 2}, 16},
    {{"compactor, curved", BENCH_EXAMPLES "/geometric/compactor.json", 20}, 40},
    {{"dolphin at the rim", PAPER "13_dolphinFunnel.txt", 5}, 40},
    {{"ball between rollers", PAPER "8_rollerBall.txt", 5}, 20},
    {{"ball on points", PAPER "2_spherePoints.txt", 4}, 10},
    {{"masonry arch", PAPER "7_masonryArch.txt", 24}, 0},
    {{"cards", "generated: shuffle 20", 10}, 20},
    {{"rods, h = 2 s", PAPER "tb1_diffDt/rodsTwist_E1e4_dt2.txt", 3}, 0},
    {{"mat on knives", PAPER "2_matKnives.txt", 10}, 10},
    {{"squeezed, nu 0.49", "generated: rubber 10 49", 10}, 0},
};

const Suite* suite_at(int32_t index) {
  return index < (int32_t)(sizeof suites / sizeof *suites) ? &suites[index] : NULL;
}

const Suite* suite_find(const char* name) {
  for (int32_t i = 0; suite_at(i) != NULL; i++) {
    if (strcmp(suites[i].name, name) == 0) {
      return &suites[i];
    }
  }
  return NULL;
}

// ---- lists of scenes ----------------------------------------------------------------------------

// Name of a scene in the tables: its path in the public data, or the name of the file; no suffix.
static void name_scene(const char* path, char* name, size_t size) {
  static const struct {
    const char *place, *prefix;
  } places[] = {{PAPER, ""}, {OTHER, ""}, {POLYFEM, "polyfem/"}};
  const char* slash = strrchr(path, '/');
  const char* rest = slash != NULL ? slash + 1 : path;
  const char* prefix = "";
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const char* found = strstr(path, places[i].place);
    if (found != NULL) {
      rest = found + strlen(places[i].place);
      prefix = places[i].prefix;
      break;
    }
  }
  const char* dot = strrchr(rest, '.');
  snprintf(name, size, "%s%.*s", prefix, (int)(dot != NULL ? dot - rest : (long)strlen(rest)),
           rest);
}

static bool append(SceneList* list, const Scene* scene) {
  if (list->count == list->capacity) {
    int32_t capacity = 2 * list->capacity + 16;
    Scene* data = realloc(list->data, (size_t)capacity * sizeof *data);
    if (data == NULL) {
      fprintf(stderr, "noli_bench: out of memory\n");
      return false;
    }
    list->data = data;
    list->capacity = capacity;
  }
  list->data[list->count++] = *scene;
  return true;
}

static bool add(SceneList* list, const char* path, int32_t steps) {
  Scene scene = {.steps = steps};
  snprintf(scene.path, sizeof scene.path, "%s", path);
  if (generated_is(path)) {
    snprintf(scene.name, sizeof scene.name, "%.120s", path);
  } else {
    name_scene(path, scene.name, sizeof scene.name);
  }
  scene.ends_at_rest =
      strcmp(scene.name, "13_dolphinFunnel") == 0 || strcmp(scene.name, "compactor") == 0;
  return append(list, &scene);
}

// As many steps as the reference values cover, because the work varies between steps.
static int32_t usual_steps(const Scene* scene) {
  const ReferenceFigures* figures = reference_figures(scene->name);
  return figures != NULL ? figures->steps : STEPS_DEFAULT;
}

bool scenes_add_file(SceneList* list, const char* path) {
  if (!add(list, path, 0)) {
    return false;
  }
  list->data[list->count - 1].must_run = true;
  return true;
}

void scenes_free(SceneList* list) {
  free(list->data);
  *list = (SceneList){0};
}

// Whether a part selects a name: the complete name if a scene has it, otherwise any part of it.
static bool selects(const SceneList* list, const char* part, const char* name) {
  for (int32_t i = 0; i < list->count; i++) {
    if (strcmp(list->data[i].name, part) == 0) {
      return strcmp(name, part) == 0;
    }
  }
  return strstr(name, part) != NULL;
}

bool scenes_filter(SceneList* list, const char* const* parts, int32_t n_parts) {
  SceneList kept = {0};
  bool good = true;
  for (int32_t p = 0; p < n_parts; p++) {
    bool found = false;
    for (int32_t i = 0; i < list->count && !found; i++) {
      found = selects(list, parts[p], list->data[i].name);
    }
    if (!found) {
      fprintf(stderr, "noli_bench: no scene name contains %s (see --list)\n", parts[p]);
    }
    good = good && found;
  }
  for (int32_t i = 0; good && i < list->count; i++) {
    bool keep = n_parts == 0;
    for (int32_t p = 0; p < n_parts && !keep; p++) {
      keep = selects(list, parts[p], list->data[i].name);
    }
    good = !keep || append(&kept, &list->data[i]);
  }
  scenes_free(list);
  *list = kept;
  return good;
}

// ---- suites -------------------------------------------------------------------------------------

static bool join(const char* folder, const char* name, char path[1024]) {
  int n = snprintf(path, 1024, "%s/%s", folder, name);
  if (n < 0 || n >= 1024) {
    fprintf(stderr, "noli_bench: %s/%s: the path is too long\n", folder, name);
    return false;
  }
  return true;
}

static bool is_scene(const char* name) {
  const char* dot = strrchr(name, '.');
  // files that others include are not scenes
  return dot != NULL && (strcmp(dot, ".txt") == 0 || strcmp(dot, ".json") == 0) &&
         strstr(name, "common.json") == NULL;
}

static int no_dots(const struct dirent* entry) {
  return entry->d_name[0] != '.';
}

// All scenes below a directory, sorted by name in each directory.
static bool collect_below(const char* folder, SceneList* list) {
  struct dirent** entry = NULL;
  bool good = true;
  int n = scandir(folder, &entry, no_dots, alphasort);
  if (n < 0) {
    fprintf(stderr, "noli_bench: %s: skipped, cannot be read\n", folder);
    return true;
  }
  for (int i = 0; i < n; i++) {
    char path[1024];
    struct stat about;
    good = good && join(folder, entry[i]->d_name, path);
    if (good && stat(path, &about) == 0) {
      if (S_ISDIR(about.st_mode)) {
        good = collect_below(path, list);
      } else if (is_scene(entry[i]->d_name)) {
        good = add(list, path, STEPS_PUBLIC);
      }
    }
    free(entry[i]);
  }
  free(entry);
  return good;
}

static bool add_below(SceneList* list, const char* data, const char* file, bool whole) {
  char path[1024];
  if (!join(data, file, path) || !add(list, path, 0)) {
    return false;
  }
  Scene* scene = &list->data[list->count - 1];
  scene->steps = whole ? 0 : usual_steps(scene);
  return true;
}

// Separator between the name of a scene and that of a variant.
#define VARIANT_MARK ": "

// Adds a scene of a study, with the name of a variant, if there is one.
static bool add_study_scene(SceneList* list, const char* data, const StudyScene* of,
                            const char* variant) {
  // these belong to Noli, their meshes are public
  bool of_data = strncmp(of->path, BENCH_SCENES, strlen(BENCH_SCENES)) == 0;
  bool elsewhere = generated_is(of->path) || of->path[0] == '/';
  bool good = elsewhere ? add(list, of->path, 0) : add_below(list, data, of->path, true);
  if (!good) {
    return false;
  }
  Scene* scene = &list->data[list->count - 1];
  char name[sizeof scene->name];
  snprintf(name, sizeof name, "%.60s%s%.60s", of->name != NULL ? of->name : scene->name,
           variant != NULL ? VARIANT_MARK : "", variant != NULL ? variant : "");
  memcpy(scene->name, name, sizeof name);
  scene->steps = of->steps;
  scene->directory = of_data ? data : NULL;
  return true;
}

// Adds a scene with every variant of a study.
static bool add_variants(SceneList* list, const char* data, const Study* study,
                         const StudyScene* of) {
  for (size_t v = 0; v < study->n_variants; v++) {
    const Variant* variant = &study->variant[v];
    if (!add_study_scene(list, data, of, variant->name)) {
      return false;
    }
    Scene* scene = &list->data[list->count - 1];
    scene->may_fail = variant->may_fail;
    scene->from = variant->from;
    scene->override = variant->override;
    while (scene->n_override < SUITE_OVERRIDES &&
           variant->override[scene->n_override].path != NULL) {
      scene->n_override++;
    }
  }
  return true;
}

static bool add_hard(SceneList* list, const char* data) {
  bool good = true;
  for (size_t i = 0; good && i < LENGTH(hard_scene); i++) {
    good = add_study_scene(list, data, &hard_scene[i].scene, NULL);
    if (good) {
      list->data[list->count - 1].from = hard_scene[i].from;
    }
  }
  return good;
}

static bool add_stress(SceneList* list, const char* name, bool ends_at_rest) {
  char path[1024];
  snprintf(path, sizeof path, BENCH_EXAMPLES "/stress/%s.json", name);
  bool good = add(list, path, 0);
  if (good) {
    list->data[list->count - 1].ends_at_rest = ends_at_rest;
  }
  return good;
}

int suite_group_length(const char* name) {
  const char* mark = strstr(name, VARIANT_MARK);
  return (int)(mark != NULL ? (size_t)(mark - name) : strlen(name));
}

const char* suite_variant(const char* name) {
  const char* mark = strstr(name, VARIANT_MARK);
  return mark != NULL ? mark + strlen(VARIANT_MARK) : "";
}

// Adds the scenes of the studies of a suite, if any.
static bool collect_studies(const Suite* suite, const char* data, SceneList* list) {
  bool good = true;
  for (size_t s = 0; s < LENGTH(studies); s++) {
    for (size_t i = 0; good && i < studies[s].n_scenes; i++) {
      good = strcmp(studies[s].suite, suite->name) != 0 ||
             add_variants(list, data, &studies[s], &studies[s].scene[i]);
    }
  }
  return good;
}

bool suite_collect(const Suite* suite, const char* data, SceneList* list) {
  bool good = true;
  char path[1024];
  if (suite == suite_find("paper")) {
    for (size_t i = 0; good && i < sizeof paper_scene / sizeof *paper_scene; i++) {
      good = add_below(list, data, paper_scene[i], false);
    }
  } else if (suite == suite_find("timestep")) {
    for (size_t i = 0; good && i < sizeof time_step / sizeof *time_step; i++) {
      snprintf(path, sizeof path, PAPER "tb1_diffDt/rodsTwist_E1e4_dt%s.txt", time_step[i]);
      good = add_below(list, data, path, true);
    }
  } else if (suite == suite_find("stress")) {
    for (size_t i = 0; good && i < LENGTH(stress_scene); i++) {
      good = add_stress(list, stress_scene[i].name, stress_scene[i].ends_at_rest);
    }
  } else if (suite == suite_find("hard")) {
    good = add_hard(list, data);
  } else if (suite != suite_find("public")) {
    good = collect_studies(suite, data, list);
  } else {
    good = join(data, "ipc/input", path) && collect_below(path, list) &&
           join(data, "polyfem/contact/examples/3D", path) && collect_below(path, list);
  }
  return good;
}
