#include "generated_thin.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// Membranes of [Zheng2025] are given by their shear modulus times thickness: with a Poisson's ratio
// of 0.3 that is E t / 2.6. Contact is 2 mm, without friction.
#define CLOTH(young, density, bending)                                                             \
  "\"material\": {\"law\": \"neo_hookean\", \"young\": " young                                     \
  ", \"poisson\": 0.3, \"density\": " density                                                      \
  "}, \"shell\": {\"thickness\": 0.001, \"bending\": " bending "}"

// The paper's hinges have the energy 1/2 stiffness length angle^2, with the length of the edge, so
// that its sheets depend on the mesh. This is the factor of bending that gives the edges of `cells`
// squares along 1 m the same energy.
static double bending_of(double stiffness, double young, int cells) {
  double plate = young * 1e-9 / (12.0 * (1.0 - 0.3 * 0.3));
  return stiffness / cells / plate;
}

#define STEPS(step, steps) "{\"time\": {\"step\": " step ", \"steps\": " steps "}, "

// [Zheng2025] fig. 23: layers of cloth of 1 m, 5 mm apart, that fall onto a fixed ball.
static void write_layers(FILE* file, const int number[], const char* young, double bending) {
  fprintf(file, STEPS("0.02", "100") "\"contact\": {\"distance\": 0.002}, \"friction\": "
                                     "{\"coefficient\": 0}, \"bodies\": [");
  for (int i = 0; i < number[0]; i++) {
    fprintf(
        file,
        "%s{\"name\": \"layer%d\", \"mesh\": {\"plane\": {\"size\": [1, 1], \"cells\": [%d, "
        "%d]}}, \"rotate\": [0, %d, 0], \"translate\": [0, %.4f, 0], " CLOTH("%s", "200", "%g") "}",
        i > 0 ? ", " : "", i, number[1], number[1], 37 * i % 90, 0.26 + 0.005 * i, young, bending);
  }
  fprintf(file, "], \"obstacles\": [{\"name\": \"ball\", \"mesh\": {\"sphere\": {\"radius\": 0.25, "
                "\"cells\": 12}}}]}");
}

// Easy: no bending, 30 N/m in shear.
void generated_layers(FILE* file, const int number[]) {
  write_layers(file, number, "78e3", 0.0);
}

// Hard: 300 N/m in shear, and stiff in bending.
void generated_stiff_layers(FILE* file, const int number[]) {
  write_layers(file, number, "780e3", bending_of(5e3, 780e3, number[1]));
}

// Two opposite sides of a sheet or a tube that turn against each other.
static void write_turns(FILE* file, const char* axis, const char* side, const char* speed,
                        const char* approach) {
  fprintf(file, "\"prescribed\": [");
  for (int k = 0; k < 2; k++) {
    const char* sign = k == 0 ? "" : "-";
    fprintf(file,
            "%s{\"body\": \"cloth\", \"select\": {\"side\": \"%s%s\"}, \"motion\": {\"velocity\": "
            "[\"%s(%s)\", 0, 0], \"rotation\": {\"axis\": %s, \"origin\": [0, 0, 0], \"speed\": "
            "\"%s(%s)\"}}}",
            k == 0 ? "" : ", ", k == 0 ? "-" : "+", side, sign, approach, axis, sign, speed);
  }
  fprintf(file, "]}");
}

// [Zheng2025] fig. 22: a sheet whose ends turn to one side, back, to the other side and back. In 6
// s (easy) each end turns by 172 degrees, in 30 s (hard) by 859 degrees.
void generated_twist(FILE* file, const int number[]) {
  int cells = number[0], seconds = number[1];
  fprintf(file,
          STEPS("0.0166666667", "%d") "\"contact\": {\"distance\": 0.002}, \"friction\": "
                                      "{\"coefficient\": 0}, \"gravity\": [0, 0, 0], "
                                      "\"bodies\": [{\"name\": \"cloth\", \"mesh\": {\"plane\": "
                                      "{\"size\": [1, 1], \"cells\": [%d, %d]}}, " CLOTH(
                                          "2.6e6", "200", "%g") "}], ",
          60 * seconds, cells, cells, bending_of(1e-3, 2.6e6, cells));
  char speed[64];
  snprintf(speed, sizeof speed, "180*cos(2*pi*t/%d)", seconds);
  write_turns(file, "[1, 0, 0]", "x", speed, "0");
}

// A tube whose ends turn and approach each other, as in [Li2021]'s twisted cylinder.
void generated_tube(FILE* file, const int number[]) {
  fprintf(file, STEPS("0.04", "1000") "\"contact\": {\"distance\": 0.001}, \"friction\": "
                                      "{\"coefficient\": 0}, \"gravity\": [0, 0, 0], \"bodies\": "
                                      "[{\"name\": \"cloth\", \"rotate\": [0, 0, -90], \"mesh\": "
                                      "{\"revolution\": {\"profile\": [");
  for (int i = 0; i <= number[0]; i++) {
    fprintf(file, "%s[0.25, %.6f]", i > 0 ? ", " : "", 1.0 * i / number[0] - 0.5);
  }
  fprintf(file, "], \"cells_around\": %d}}, " CLOTH("0.821e6", "473", "1") "}], ", number[1]);
  write_turns(file, "[1, 0, 0]", "x", "72", "0.005");
}

// Three cloths of cotton in a funnel, and a tetrahedron that pushes them through: sizes, materials
// and friction of Codim-IPC's scene, whose bending is three times that of a plate. It has 80 steps,
// which end while the last corners are in the exit.
void generated_funnel(FILE* file, const int number[]) {
  fprintf(file, STEPS("0.04", "90") "\"contact\": {\"distance\": 0.001}, \"friction\": "
                                    "{\"coefficient\": 0.4}, \"bodies\": [");
  for (int i = 0; i < 3; i++) {
    fprintf(file,
            "%s{\"name\": \"cloth%d\", \"mesh\": {\"plane\": {\"size\": [1, 1], \"cells\": [%d, "
            "%d]}}, \"rotate\": [0, %d, 0], \"translate\": [0, %.2f, 0], \"material\": {\"law\": "
            "\"neo_hookean\", \"young\": 41050, \"poisson\": 0.243, \"density\": 472.6}, "
            "\"shell\": {\"thickness\": 0.000318, \"bending\": 60, \"limit\": 1.0608}}",
            i > 0 ? ", " : "", i, number[0], number[0], 45 * i, 0.2 + 0.05 * i);
  }
  fprintf(file, "], \"obstacles\": [{\"name\": \"funnel\", \"mesh\": {\"revolution\": "
                "{\"profile\": [[0.4964, 0.1], [0.15, -0.1]], \"cells_around\": 64}}}, {\"name\": "
                "\"plunger\", \"mesh\": {\"arrays\": {\"positions\": [[0, 0.5, 0], [0.1, 0.5, 0], "
                "[0, 0.5, 0.1], [0, 0.6, 0]], \"triangles\": [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, "
                "3, 2]]}}, \"motion\": {\"velocity\": [0, -0.3, 0]}}]}");
}

// Cards of shells from two decks, alternately tilted, fall onto each other and onto a table.
void generated_shuffle(FILE* file, const int number[]) {
  fprintf(file, STEPS("0.02", "300") "\"contact\": {\"distance\": 0.0002}, \"friction\": "
                                     "{\"coefficient\": 0.2}, \"half_spaces\": [{\"name\": "
                                     "\"table\"}], \"bodies\": [");
  for (int i = 0; i < number[0]; i++) {
    fprintf(file,
            "%s{\"name\": \"card%d\", \"mesh\": {\"plane\": {\"size\": [0.063, 0.088], \"cells\": "
            "[6, 14]}}, \"rotate\": [0, 0, %d], \"translate\": [%.4f, %.4f, 0], "
            "\"material\": {\"law\": \"neo_hookean\", \"young\": 1e9, \"poisson\": 0.3, "
            "\"density\": 800}, \"shell\": {\"thickness\": 0.0003}}",
            i > 0 ? ", " : "", i, i % 2 == 0 ? 8 : -8, i % 2 == 0 ? 0.025 : -0.025,
            0.006 + 0.003 * i);
  }
  fprintf(file, "]}");
}

// Upright noodles in a square, ROWS x ROWS, fall into a bowl. They are slightly wavy: straight ones
// would stand until they buckle by rounding.
void generated_noodles(FILE* file, const int number[]) {
  fprintf(file, STEPS("0.02", "200") "\"contact\": {\"distance\": 0.0005}, \"friction\": "
                                     "{\"coefficient\": 0.2}, \"bodies\": [");
  for (int i = 0; i < number[0]; i++) {
    fprintf(file,
            "%s{\"name\": \"row%d\", \"mesh\": {\"curve\": {\"position\": [\"0.002*sin(%d + "
            "6*pi*t)\", \"0.4*t\", \"0.002*cos(%d + 5*pi*t)\"], \"segments\": %d}}, "
            "\"translate\": [%.4f, 0.08, %.4f], \"copies\": {\"count\": %d, \"translate\": "
            "[0.008, 0, 0]}, \"material\": {\"young\": 1e6, \"poisson\": 0.4, \"density\": "
            "1000}, \"rod\": {\"radius\": 0.0005}, \"contact_offset\": \"thickness\"}",
            i > 0 ? ", " : "", i, i, 2 * i, number[1], -0.004 * (number[0] - 1),
            0.008 * i - 0.004 * (number[0] - 1), number[0]);
  }
  fprintf(file, "], \"obstacles\": [{\"name\": \"bowl\", \"mesh\": {\"bowl\": {\"radius\": 0.3, "
                "\"thickness\": 0.02, \"cells\": 24}}, \"rotate\": [180, 0, 0], "
                "\"translate\": [0, 0.3, 0]}]}");
}

// ---- a reef knot --------------------------------------------------------------------------------

#define KNOT_WIDTH 0.02
enum { KNOT_LENGTH = 98 }; // cells along a ribbon per cell across: nearly square ones

// Point of the left rope of the knot at t in 0 to 1; the right one is turned half around y.
static void knot_point(double t, double x[3]) {
  double u = 2.0 * t - 1.0;
  x[0] = 0.1 - 0.9 * u * u;
  x[1] = tanh(8.0 * u) * (0.03 + 0.05 * exp(-pow(3.2 * u, 4)));
  x[2] = 0.03 * (-exp(-pow(7.0 * u, 2)) + exp(-pow(14.0 * (fabs(u) - 0.333), 2)) -
                 exp(-pow(14.0 * (fabs(u) - 0.471), 2)));
}

// Vertices of a ribbon in the order of `plane`, ruled along z, at equal distances along it.
static void write_ribbon(FILE* file, int across, double side) {
  enum { FINE = 20000 };
  double before[3], at[3], length = 0.0, done = 0.0, piece = 0.0;
  knot_point(0.0, before);
  for (int j = 1; j <= FINE; j++) {
    knot_point((double)j / FINE, at);
    length += hypot(at[0] - before[0], at[1] - before[1]);
    memcpy(before, at, sizeof at);
  }
  int along = KNOT_LENGTH * across;
  knot_point(0.0, before);
  memcpy(at, before, sizeof at);
  for (int i = 0, j = 0; i <= along; i++) {
    double wanted = length * i / along;
    while (j < FINE && done + piece < wanted) {
      done += piece;
      memcpy(before, at, sizeof at);
      knot_point((double)++j / FINE, at);
      piece = hypot(at[0] - before[0], at[1] - before[1]);
    }
    double share = piece > 0.0 ? (wanted - done) / piece : 0.0;
    for (int k = 0; k <= across; k++) {
      double x = before[0] + share * (at[0] - before[0]);
      double y = before[1] + share * (at[1] - before[1]);
      double z = before[2] + share * (at[2] - before[2]);
      fprintf(file, "%s[%.8f, %.8f, %.8f]", i + k > 0 ? "," : "", side * x, y,
              side * z + KNOT_WIDTH * (k - 0.5 * across) / across);
    }
  }
}

// Two ribbons in a reef knot, whose ends are pulled away from it; knotted is their rest shape.
void generated_knot(FILE* file, const int number[]) {
  int across = number[0];
  fprintf(file, STEPS("0.04", "100") "\"contact\": {\"distance\": 0.0004}, \"friction\": "
                                     "{\"coefficient\": 0.02}, \"gravity\": [0, 0, 0], "
                                     "\"bodies\": [");
  for (int k = 0; k < 2; k++) {
    fprintf(file,
            "%s{\"name\": \"%s\", \"mesh\": {\"plane\": {\"size\": [%g, %g], \"cells\": [%d, "
            "%d]}}, " CLOTH("0.821e6", "473", "1") ", \"start\": [",
            k > 0 ? ", " : "", k == 0 ? "left" : "right", KNOT_LENGTH * KNOT_WIDTH, KNOT_WIDTH,
            KNOT_LENGTH * across, across);
    write_ribbon(file, across, k == 0 ? 1.0 : -1.0);
    fprintf(file, "], \"rest\": [");
    write_ribbon(file, across, k == 0 ? 1.0 : -1.0);
    fprintf(file, "]}");
  }
  fprintf(file, "], \"prescribed\": [");
  for (int k = 0; k < 4; k++) {
    fprintf(file,
            "%s{\"body\": \"%s\", \"select\": {\"side\": \"%sx\"}, \"motion\": "
            "{\"displacement\": [\"%s0.2*smoothstep(0, 4, t)\", 0, 0]}}",
            k > 0 ? ", " : "", k < 2 ? "left" : "right", k % 2 == 0 ? "-" : "+", k < 2 ? "-" : "");
  }
  fprintf(file, "]}");
}

// ---- a dress ------------------------------------------------------------------------------------

// Points between those of a profile, n in all.
static void write_profile(FILE* file, const double profile[][2], int n_points, int n) {
  for (int i = 0; i < n; i++) {
    double at = (double)i * (n_points - 1) / (n - 1);
    int k = (int)at < n_points - 1 ? (int)at : n_points - 2;
    fprintf(file, "%s[%.6f, %.6f]", i > 0 ? ", " : "",
            profile[k][0] + (at - k) * (profile[k + 1][0] - profile[k][0]),
            profile[k][1] + (at - k) * (profile[k + 1][1] - profile[k][1]));
  }
}

// Bodice and skirt, sewn together, with two straps, on a body that turns to and fro.
void generated_dress(FILE* file, const int number[]) {
  static const double bodice[][2] = {{0.14, 1.05}, {0.142, 1.1},  {0.15, 1.15},
                                     {0.165, 1.2}, {0.174, 1.25}, {0.178, 1.3}};
  static const double skirt[][2] = {{0.14, 1.05}, {0.19, 0.98},  {0.235, 0.91},
                                    {0.27, 0.84}, {0.305, 0.77}, {0.34, 0.7}};
  static const double body[][2] = {{0, 0.6},      {0.1, 0.62},  {0.15, 0.75}, {0.155, 0.9},
                                   {0.12, 1.08},  {0.15, 1.25}, {0.15, 1.36}, {0.14, 1.39},
                                   {0.055, 1.41}, {0.05, 1.5},  {0, 1.53}};
  int around = number[0];
  fprintf(file, STEPS("0.04", "145") "\"contact\": {\"distance\": 0.001}, \"friction\": "
                                     "{\"coefficient\": 0.4}, \"bodies\": [");
  for (int k = 0; k < 2; k++) {
    fprintf(file, "{\"name\": \"%s\", \"mesh\": {\"revolution\": {\"profile\": [",
            k == 0 ? "bodice" : "skirt");
    write_profile(file, k == 0 ? bodice : skirt, 6, (k == 0 ? 37 : 61) * around / 160 + 2);
    fprintf(file, "], \"cells_around\": %d}}, " CLOTH("%s", "300", "1") "}, ", around,
            k == 0 ? "1e5" : "5e4");
  }
  fprintf(file,
          "{\"name\": \"straps\", \"mesh\": {\"curve\": {\"position\": [\"0.07\", \"1.3 + "
          "0.13*sin(pi*t)^0.5\", \"0.1625*cos(pi*t)\"], \"segments\": %d}}, \"copies\": "
          "{\"count\": 2, \"translate\": [-0.14, 0, 0]}, \"material\": {\"young\": 2e6, "
          "\"poisson\": 0.3, \"density\": 500, \"damping\": 0.01}, \"rod\": {\"radius\": "
          "0.002}}], \"ties\": [{\"body\": \"skirt\", \"select\": {\"side\": \"+y\"}, \"to\": "
          "\"bodice\", \"distance\": 0.005}, {\"body\": \"straps\", \"select\": [{\"vertices\": "
          "[0, %d]}], \"to\": \"bodice\", \"distance\": 0.01}], \"obstacles\": [{\"name\": "
          "\"body\", \"mesh\": {\"revolution\": {\"profile\": [",
          around / 2, around / 2);
  write_profile(file, body, 11, 11);
  fprintf(file, "], \"cells_around\": 24}}, \"motion\": {\"rotation\": {\"axis\": [0, 1, 0], "
                "\"origin\": [0, 0, 0], \"angle\": \"60*sin(pi*t)*smoothstep(0, 0.5, t)\"}}}]}");
}

// ---- a tyre -------------------------------------------------------------------------------------

#define TYRE_RADIUS 0.33  // m, of the middle of the section
#define TYRE_HIGH 0.127   // m, half of the section along radii
#define TYRE_WIDE 0.2     // m, half of it along the axis
#define TYRE_RIM 0.235    // m, what is nearer to the axis belongs to the rim
#define TYRE_TREAD "0.41" // m, what is farther is of the stiffer part
#define TYRE_AXIS "0.459" // m, of the axis above the ground

// Point of the section at t in 0 to 1, from the rim: between an ellipse and a rectangle, and in the
// order that makes triangles look outward.
static void tyre_point(double t, double x[2]) {
  double angle = 2.0 * acos(-1.0) * t, c = cos(angle), s = sin(angle);
  x[0] = TYRE_RADIUS - TYRE_HIGH * copysign(pow(fabs(c), 2.0 / 3.0), c);
  x[1] = -TYRE_WIDE * copysign(pow(fabs(s), 2.0 / 3.0), s);
}

// Closed, of n points at equal distances; returns how many from either end belong to the rim.
static int write_section(FILE* file, int n) {
  enum { FINE = 20000 };
  double before[2], at[2], length = 0.0, done = 0.0, piece = 0.0;
  int rim = 0;
  bool at_rim = true;
  tyre_point(0.0, before);
  for (int j = 1; j <= FINE; j++) {
    tyre_point((double)j / FINE, at);
    length += hypot(at[0] - before[0], at[1] - before[1]);
    memcpy(before, at, sizeof at);
  }
  tyre_point(0.0, before);
  memcpy(at, before, sizeof at);
  for (int i = 0, j = 0; i < n; i++) {
    while (j < FINE && done + piece < length * i / n) {
      done += piece;
      memcpy(before, at, sizeof at);
      tyre_point((double)++j / FINE, at);
      piece = hypot(at[0] - before[0], at[1] - before[1]);
    }
    double share = piece > 0.0 ? (length * i / n - done) / piece : 0.0;
    double r = before[0] + share * (at[0] - before[0]);
    at_rim = at_rim && r < TYRE_RIM;
    rim += at_rim ? 1 : 0;
    fprintf(file, "[%.8f, %.8f], ", r, before[1] + share * (at[1] - before[1]));
  }
  tyre_point(0.0, at);
  fprintf(file, "[%.8f, %.8f]", at[0], at[1]);
  return rim;
}

// [Larionov2024] fig. 11: a tyre of a stiff tread and soft walls, with the paper's pressure,
// stiffness, mass, friction and step; its rim lowers it by 40 mm, and turns it by 0.15 s so fast
// that the tread moves at 5 m/s.
void generated_tyre(FILE* file, const int number[]) {
  int across = number[0], around = number[1];
  fprintf(file, STEPS("0.00125", "160") "\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": "
                                        "\"tyre\", \"mesh\": {\"revolution\": {\"profile\": [");
  int rim = write_section(file, across);
#define TREAD(outer, inner)                                                                        \
  "\"" inner " + (" outer " - " inner ")*(X^2 + (Y - " TYRE_AXIS ")^2 > " TYRE_TREAD "^2)\""
  fprintf(
      file,
      "], \"cells_around\": %d}}, \"rotate\": [90, 0, 0], \"translate\": [0, " TYRE_AXIS
      ", 0], \"material\": {\"law\": \"neo_hookean\", \"young\": " TREAD(
          "4e7",
          "2e7") ", \"poisson\": 0.49, \"density\": " TREAD("2e4",
                                                            "5e3") ", "
                                                                   "\"damping\": 0.001}, "
                                                                   "\"shell\": {\"thickness\": "
                                                                   "0.01, \"bending\": "
                                                                   "0.13}, \"volume\": "
                                                                   "{\"region\": \"cavity\", "
                                                                   "\"pressure\": 68900}}], "
                                                                   "\"prescribed\": [{\"body\": "
                                                                   "\"tyre\", \"select\": "
                                                                   "{\"vertices\": [",
      around);
#undef TREAD
  for (int i = 0; i < rim * around; i++) {
    fprintf(file, "%d, ", i);
  }
  for (int i = (across - rim + 1) * around; i < across * around; i++) {
    fprintf(file, "%d%s", i, i + 1 < across * around ? ", " : "");
  }
  fprintf(file, "]}, \"motion\": {\"displacement\": [0, \"-0.04*smoothstep(0, 0.1, t)\", 0], "
                "\"rotation\": {\"axis\": [0, 0, 1], \"origin\": [0, " TYRE_AXIS
                ", 0], \"speed\": \"-630*smoothstep(0.1, 0.15, t)\"}}}], \"half_spaces\": "
                "[{\"name\": \"ground\"}], \"contact\": {\"model\": \"implicit_surface\", "
                "\"distance\": 0.002}, \"friction\": {\"coefficient\": 0.5, "
                "\"static_coefficient\": 1.5, \"stribeck_speed\": 0.05, \"method\": "
                "\"implicit\"}}");
}
