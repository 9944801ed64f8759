// [Li2020] fig. 20: a thin rod is dragged along a floor by its upper end. With one coefficient of
// friction its lower end sticks until the bent rod tears it away, and sticks again where it lands.
// The law of the paper and the one that sticks must have the same slips.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>

#define SPEED 0.15 // m/s, of the upper end
#define END 2.0    // s, of the public scene
#define QUICK_END 0.25

enum { MOST = 16 };

typedef struct Slips {
  int n;
  double time[MOST]; // s
  int hops;          // how often the rod has left the floor
  double newton;     // iterations a step
} Slips;

// Mean velocity along the floor of the vertices in contact, by normal force; `normal` is the sum.
static bool foot_velocity(Run* run, double* velocity, double* normal) {
  const NoliContactInfo* contact = NULL;
  int64_t n = 0;
  bool good = noli_sim_contacts(run->sim, &contact, &n) == NOLI_OK;
  double momentum = 0.0;
  *normal = 0.0;
  for (int64_t i = 0; good && i < n; i++) {
    double force = fabs(contact[i].normal_force[1]);
    momentum += force * noli_sim_velocities(run->sim)[3 * (int64_t)contact[i].vertex[0]];
    *normal += force;
  }
  *velocity = *normal > 0.0 ? momentum / *normal : 0.0;
  return good;
}

// The foot rests below a twentieth of the speed of the upper end, and has slipped once it has half
// of it.
static bool drag(const char* law, const char* friction, double h, double end, Slips* slips) {
  Run run;
  Settings settings = {0};
  set(&settings, "friction.law", "%s", law);
  set(&settings, "friction.method", "%s", friction);
  set(&settings, "time.step", "%.17g", h);
  bool good = run_start(&run, "rod_slips", &settings), rests = false, flies = false;
  int n_step = (int)lround(end / h);
  *slips = (Slips){0};
  for (int n = 1; n <= n_step && good; n++) {
    double velocity = 0.0, normal = 0.0;
    good = run_step(&run) && foot_velocity(&run, &velocity, &normal);
    bool touches = normal > 0.0;
    rests = rests || (touches && fabs(velocity) < SPEED / 20.0);
    if (rests && touches && fabs(velocity) > SPEED / 2.0 && slips->n < MOST) {
      slips->time[slips->n++] = n * h;
      rests = false;
    }
    slips->hops += !touches && !flies ? 1 : 0;
    flies = !touches;
  }
  slips->newton = (double)run.newton / n_step;
  run_end(&run);
  return good;
}

static void slips_row(Report* report, const char* law, const char* friction, double h,
                      const Slips* slips) {
  char times[128] = "";
  for (int k = 0, at = 0; k < slips->n; k++) {
    at += snprintf(times + at, sizeof times - (size_t)at, "%s%.3f", k > 0 ? ", " : "",
                   slips->time[k]);
  }
  report_row(report, "%s | %s | %g | %d | %s | %d | %.2f", law, friction, h, slips->n, times,
             slips->hops, slips->newton);
}

bool validate_rod_slips(Report* report) {
  static const struct {
    const char* friction;
    double h;
  } rows[] = {{"lagged", 1e-3}, {"implicit", 1e-3}, {"lagged", 5e-4}};
  report_table(report, "A rod that is dragged along a floor, mu = 0.35, in 2 s",
               "law | friction | h, s | slips | at, s | hops | Newton iterations a step");
  for (size_t r = 0; r < (report->quick ? 1 : sizeof rows / sizeof *rows); r++) {
    const char* friction = rows[r].friction;
    double h = rows[r].h, end = report->quick ? QUICK_END : END, late = 0.0;
    Slips stick, velocity;
    if (!drag("stick", friction, h, end, &stick) ||
        !drag("velocity", friction, h, end, &velocity)) {
      return false;
    }
    slips_row(report, "stick", friction, h, &stick);
    slips_row(report, "velocity", friction, h, &velocity);
    for (int k = 0; k < stick.n && k < velocity.n; k++) {
      late = report_worse(late, fabs(stick.time[k] - velocity.time[k]));
    }
    report_check(report, velocity.n >= 2 ? abs(stick.n - velocity.n) : (double)INFINITY, 0.0,
                 "slips, stick less velocity, %s, h %g s", friction, h);
    report_check(report, late, 2e-3, "time of a slip, stick less velocity, %s, h %g s, s", friction,
                 h);
  }
  return true;
}
