#include "math/difference.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Error of a smooth function, relative; that of a jump is larger than the derivative.
#define SMOOTH 1e-7

// A quotient that is off the extrapolated derivative, relative to this and to rounding.
#define OFF 1e-3
#define OFF_ROUNDINGS 1e3

NoliDifference noli_difference_begin(void) {
  return (NoliDifference){.derivative = (double)NAN, .error = (double)INFINITY};
}

// Steps that are taken in any case, and an error that smaller steps, which round more, do not
// lower.
enum { LEAST_LEVELS = 4 };
#define END_ROUNDINGS 8.0

static double difference_rounding_of(double h, double down, double up) {
  return DBL_EPSILON * fmax(fabs(down), fabs(up)) / h;
}

// Whether quotients leave the derivative again: the steps before were longer than all that the
// function does near the point.
static bool leaves(const NoliDifference* self, double quotient, double rounding) {
  double off = fabs(quotient - self->derivative);
  return self->n > 0 && off > fabs(self->row[0] - self->derivative) &&
         off > OFF * fabs(self->derivative) && off > OFF_ROUNDINGS * rounding;
}

void noli_difference_add(NoliDifference* self, double h, double down, double up) {
  double now[NOLI_DIFFERENCE_LEVELS], weight = 1.0, quotient = (up - down) / (2.0 * h);
  double rounding = difference_rounding_of(h, down, up);
  if (!isfinite(quotient)) {
    self->n = 0;
    return;
  }
  if (leaves(self, quotient, rounding)) {
    *self = noli_difference_begin();
  }
  now[0] = quotient;
  self->derivative = isfinite(self->error) ? self->derivative : quotient;
  for (int k = 1; k <= self->n; k++) {
    weight *= 4.0;
    now[k] = (weight * now[k - 1] - self->row[k - 1]) / (weight - 1.0);

    // the best entry differs least from those that it follows from; these may agree by chance where
    // all is rounding
    double error = fmax(fabs(now[k] - now[k - 1]), fabs(now[k] - self->row[k - 1])) + rounding;
    self->derivative = error <= self->error ? now[k] : self->derivative;
    self->error = fmin(self->error, error);
  }
  self->n++;
  memcpy(self->row, now, sizeof *now * (size_t)self->n);
}

bool noli_difference_is_smooth(const NoliDifference* self, double size) {
  return self->error <= SMOOTH * (fabs(self->derivative) + size);
}

NoliStatus noli_differences(NoliContext* context, int64_t n, NoliShiftFn* fn, void* user,
                            double step, NoliDifference* table) {
  NoliStatus status = NOLI_OK;
  double *up = NULL, *down = NULL;
  int exponent;
  NOLI_NEW_ZERO(context, up, n);
  NOLI_NEW_ZERO(context, down, n);
  for (int64_t i = 0; i < n; i++) {
    table[i] = noli_difference_begin();
  }
  (void)frexp(step, &exponent);
  bool ended = false;

  for (int level = 0; level < NOLI_DIFFERENCE_LEVELS && !ended; level++) {
    double h = ldexp(1.0, exponent - 1 - level);
    fn(user, h, up);
    fn(user, -h, down);
    ended = level + 1 >= LEAST_LEVELS;
    for (int64_t i = 0; i < n; i++) {
      noli_difference_add(&table[i], h, down[i], up[i]);
      ended = ended && table[i].error <= END_ROUNDINGS * difference_rounding_of(h, down[i], up[i]);
    }
  }
done:
  noli_free(context, up);
  noli_free(context, down);
  return status;
}
