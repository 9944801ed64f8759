// noli_validate: physics compared with closed forms. `make validate` updates
// docs/evidence/validation.md.
#include "cases.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char* name;
  Case* run;
} cases[] = {
    {"hertz", validate_hertz},
    {"convergent_hertz", validate_convergent_hertz},
    {"landing", validate_landing},
    {"cantilever", validate_cantilever},
    {"elastica", validate_elastica},
    {"slope", validate_slope},
    {"cone", validate_cone},
    {"sliding", validate_sliding},
    {"sheet_slope", validate_sheet_slope},
    {"capstan", validate_capstan},
    {"holding", validate_holding},
    {"break_away", validate_break_away},
    {"slip_limit", validate_slip_limit},
    {"rod_slips", validate_rod_slips},
    {"adhesion", validate_adhesion},
    {"mindlin", validate_mindlin},
    {"stopping", validate_stopping},
    {"wedge", validate_wedge},
    {"punch", validate_punch},
    {"pin", validate_pin},
    {"patch", validate_patch},
    {"lame", validate_lame},
    {"press", validate_press},
    {"bar", validate_bar},
    {"restitution", validate_restitution},
    {"energy", validate_energy},
    {"momentum", validate_momentum},
    {"rotation", validate_rotation},
    {"stack", validate_stack},
    {"rubber", validate_rubber},
    {"fibres", validate_fibres},
    {"viscous", validate_viscous},
    {"plasticity", validate_plasticity},
    {"shell_shear", validate_shell_shear},
    {"shell_weight", validate_shell_weight},
    {"shell_plate", validate_shell_plate},
    {"shell_hemisphere", validate_shell_hemisphere},
    {"shell_locking", validate_shell_locking},
    {"shell_annulus", validate_shell_annulus},
    {"shell_pullout", validate_shell_pullout},
    {"shell_pinched", validate_shell_pinched},
    {"shell_crushed", validate_shell_crushed},
    {"thin_vibration", validate_thin_vibration},
    {"modes", validate_modes},
    {"derivatives", validate_derivatives},
    {"rod_weight", validate_rod_weight},
    {"rod_bend", validate_rod_bend},
    {"rod_twist", validate_rod_twist},
    {"rod_lateral", validate_rod_lateral},
    {"shell_lateral", validate_shell_lateral},
    {"rod_curl", validate_rod_curl},
};
enum { N_CASES = sizeof cases / sizeof *cases };

typedef struct Options {
  bool quick;
  const char* json;
  bool wanted[N_CASES];
} Options;

static int usage(void) {
  fprintf(stderr, "usage: noli_validate [--quick] [--json FILE] [CASE]...\ncases:");
  for (int k = 0; k < N_CASES; k++) {
    fprintf(stderr, " %s", cases[k].name);
  }
  fprintf(stderr, "\nexit status: 0 all errors within their bounds, 1 an error exceeds its bound, "
                  "2 wrong usage\n");
  return 2;
}

static bool read_options(int n_words, char** words, Options* options) {
  bool any = false;
  for (int i = 1; i < n_words; i++) {
    int k = 0;
    while (k < N_CASES && strcmp(words[i], cases[k].name) != 0) {
      k++;
    }
    if (strcmp(words[i], "--quick") == 0) {
      options->quick = true;
    } else if (strcmp(words[i], "--json") == 0 && i + 1 < n_words) {
      options->json = words[++i];
    } else if (k < N_CASES) {
      options->wanted[k] = any = true;
    } else {
      return false;
    }
  }
  for (int k = 0; k < N_CASES && !any; k++) {
    options->wanted[k] = true;
  }
  return true;
}

int main(int n_words, char** words) {
  Options options = {0};
  if (!read_options(n_words, words, &options)) {
    return usage();
  }
  Report report = {.quick = options.quick, .good = true, .cases = json_array()};
  bool ran = true;
  for (int k = 0; k < N_CASES; k++) {
    if (options.wanted[k]) {
      report_case(&report, cases[k].name);
      ran = cases[k].run(&report) && ran;
    }
  }
  // cases that failed to run are not published
  bool written = !ran || options.json == NULL || report_write(&report, options.json);
  json_decref(report.cases);
  printf("%s\n", !ran          ? "FAILED: a simulation failed"
                 : report.good ? "all errors are within their bounds"
                               : "FAILED: an error exceeds its bound");
  return ran && report.good && written ? 0 : 1;
}
