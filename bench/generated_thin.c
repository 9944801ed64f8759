#include "generated_thin.h"

// Membranes of [Zheng2025] are given by their shear modulus times thickness: with a Poisson's ratio
// of 0.3 that is E t / 2.6. Contact is 2 mm, without friction.
#define CLOTH(young, density, bending)                                                             \
  "\"material\": {\"law\": \"neo_hookean\", \"young\": " young                                     \
  ", \"poisson\": 0.3, \"density\": " density                                                      \
  "}, \"shell\": {\"thickness\": 0.001, \"bending\": " bending "}"

#define STEPS(step, steps) "{\"time\": {\"step\": " step ", \"steps\": " steps "}, "

// [Zheng2025] fig. 23, easy: layers of cloth of 1 m, 5 mm apart, that fall onto a fixed ball.
void generated_layers(FILE* file, const int number[]) {
  fprintf(file, STEPS("0.02", "100") "\"contact\": {\"distance\": 0.002}, \"friction\": "
                                     "{\"coefficient\": 0}, \"bodies\": [");
  for (int i = 0; i < number[0]; i++) {
    fprintf(file,
            "%s{\"name\": \"layer%d\", \"mesh\": {\"plane\": {\"size\": [1, 1], \"cells\": [%d, "
            "%d]}}, \"rotate\": [0, %d, 0], \"translate\": [0, %.4f, 0], " CLOTH("78e3", "200",
                                                                                 "0") "}",
            i > 0 ? ", " : "", i, number[1], number[1], 37 * i % 90, 0.26 + 0.005 * i);
  }
  fprintf(file, "], \"obstacles\": [{\"name\": \"ball\", \"mesh\": {\"sphere\": {\"radius\": 0.25, "
                "\"cells\": 12}}}]}");
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

// [Zheng2025] fig. 22: a sheet whose ends turn back and forth.
void generated_twist(FILE* file, const int number[]) {
  fprintf(file,
          STEPS("0.0166666667", "360") "\"contact\": {\"distance\": 0.002}, \"friction\": "
                                       "{\"coefficient\": 0}, \"gravity\": [0, 0, 0], "
                                       "\"bodies\": [{\"name\": \"cloth\", \"mesh\": {\"plane\": "
                                       "{\"size\": [1, 1], \"cells\": [%d, %d]}}, " CLOTH(
                                           "2.6e6", "200", "1") "}], ",
          number[0], number[0]);
  write_turns(file, "[1, 0, 0]", "x", "180*cos(1.047*t)", "0");
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

// Three cloths, one above the other, slide through a funnel.
void generated_funnel(FILE* file, const int number[]) {
  fprintf(file, STEPS("0.04", "80") "\"contact\": {\"distance\": 0.001}, \"friction\": "
                                    "{\"coefficient\": 0}, \"bodies\": [");
  for (int i = 0; i < 3; i++) {
    fprintf(file,
            "%s{\"name\": \"cloth%d\", \"mesh\": {\"plane\": {\"size\": [1, 1], \"cells\": [%d, "
            "%d]}}, \"rotate\": [0, %d, 0], \"translate\": [0, %.3f, 0], " CLOTH("0.821e6", "473",
                                                                                 "1") "}",
            i > 0 ? ", " : "", i, number[0], number[0], 30 * i, 0.42 + 0.02 * i);
  }
  fprintf(file, "], \"obstacles\": [{\"name\": \"funnel\", \"mesh\": {\"revolution\": "
                "{\"profile\": [[0.6, 0.4], [0.1, 0], [0.1, -0.3]], \"cells_around\": 48}}}]}");
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
