#define _POSIX_C_SOURCE 200809L
#include "base/profile.h"

#include "base/timer.h"

#include <stddef.h>
#include <time.h>

// The profile of this thread. A matter of threads, like those that a host lends: loops have no
// context.
typedef struct Recorder {
  NoliProfile* profile; // NULL: none
  NoliWork work;
  double wall, process, own; // clocks when the work began
  double shared;             // CPU time of this thread in shared loops since then
  double shared_since;       // clock when the shared loop began
  int32_t depth;             // of shared loops
} Recorder;

static _Thread_local Recorder recorder;

static double own_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Ends the present work and begins another at the same time.
static void change_to(NoliWork work) {
  double wall = noli_seconds();
  double process = noli_processor_seconds();
  double own = own_seconds();
  if (recorder.depth > 0) {
    recorder.shared += own - recorder.shared_since;
    recorder.shared_since = own;
  }

  // what ends
  NoliWorkCost* cost = &recorder.profile->work[recorder.work];
  double cpu = process - recorder.process, helpers = cpu - (own - recorder.own);
  cost->wall += wall - recorder.wall;
  cost->cpu += cpu;
  cost->helpers += helpers;
  cost->parallel += helpers + recorder.shared;

  // what begins
  recorder.work = work;
  recorder.wall = wall;
  recorder.process = process;
  recorder.own = own;
  recorder.shared = 0.0;
}

NoliWork noli_work(NoliWork work) {
  NoliWork before = recorder.work;
  if (recorder.profile != NULL && work != before) {
    change_to(work);
  }
  return before;
}

void noli_work_share(void) {
  if (recorder.profile != NULL && recorder.depth++ == 0) {
    recorder.shared_since = own_seconds();
  }
}

void noli_work_join(void) {
  if (recorder.profile != NULL && --recorder.depth == 0) {
    recorder.shared += own_seconds() - recorder.shared_since;
  }
}

void noli_profile(NoliProfile* profile) {
  if (recorder.profile != NULL) {
    change_to(NOLI_WORK_OTHER);
  }
  recorder = (Recorder){.profile = profile,
                        .wall = noli_seconds(),
                        .process = noli_processor_seconds(),
                        .own = own_seconds()};
}

const char* noli_work_name(int32_t work) {
  static const char* const names[NOLI_WORKS] = {
      [NOLI_WORK_OTHER] = "other",       [NOLI_WORK_GRADIENT] = "gradient",
      [NOLI_WORK_HESSIAN] = "Hessian",   [NOLI_WORK_PATTERN] = "pattern",
      [NOLI_WORK_ANALYSIS] = "analysis", [NOLI_WORK_FACTOR] = "factor",
      [NOLI_WORK_SOLVE] = "solve",       [NOLI_WORK_BROAD_PHASE] = "broad phase",
      [NOLI_WORK_CCD] = "CCD",           [NOLI_WORK_CONTACTS] = "contact set",
      [NOLI_WORK_FRICTION] = "friction", [NOLI_WORK_ENERGY] = "energy",
      [NOLI_WORK_OUTPUT] = "output",
  };
  return work >= 0 && work < NOLI_WORKS ? names[work] : NULL;
}
