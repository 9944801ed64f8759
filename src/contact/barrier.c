#include "contact/barrier.h"

#include <math.h>

// ln(D / Dh), accurate where the ratio is near 1: the difference of two near doubles is exact.
static double log_ratio(double d_sqr, double dhat_sqr) {
  return 2.0 * d_sqr < dhat_sqr ? log(d_sqr / dhat_sqr) : log1p((d_sqr - dhat_sqr) / dhat_sqr);
}

// At distances <= 0 the energy is infinite and the derivatives are NaN; NaN stays NaN.
static NoliBarrierValue infeasible(double d_sqr) {
  return (NoliBarrierValue){d_sqr <= 0.0 ? (double)INFINITY : (double)NAN, (double)NAN,
                            (double)NAN};
}

//   b   = -(D - Dh)^2 ln(D/Dh)
//   b'  = -2 (D - Dh) ln(D/Dh) - (D - Dh)^2 / D
//   b'' = -2 ln(D/Dh) - 4 (D - Dh) / D + (D - Dh)^2 / D^2
// For D < Dh all terms of a line have the same sign, so that nothing cancels.
NoliBarrierValue noli_barrier_all(double d_sqr, double dhat_sqr) {
  if (d_sqr >= dhat_sqr) {
    return (NoliBarrierValue){0};
  }
  if (!(d_sqr > 0.0)) {
    return infeasible(d_sqr);
  }
  double difference = d_sqr - dhat_sqr;
  double ratio = difference / d_sqr;
  double logarithm = log_ratio(d_sqr, dhat_sqr);
  return (NoliBarrierValue){
      .value = -difference * difference * logarithm,
      .first = -2.0 * difference * logarithm - difference * ratio,
      .second = -2.0 * logarithm - 4.0 * ratio + ratio * ratio,
  };
}

// With h = Dh:
//   db/dh  = 2 (D - h) ln(D/h) + (D - h)^2 / h
//   db'/dh = 2 ln(D/h) + 2 (D - h) / h + 2 (D - h) / D
// Here too all terms of a line have the same sign.
NoliBarrierValue noli_barrier_by_range(double d_sqr, double dhat_sqr) {
  if (d_sqr >= dhat_sqr) {
    return (NoliBarrierValue){0};
  }
  if (!(d_sqr > 0.0)) {
    return infeasible(d_sqr);
  }
  double difference = d_sqr - dhat_sqr, ratio = difference / dhat_sqr;
  double logarithm = log_ratio(d_sqr, dhat_sqr);
  return (NoliBarrierValue){
      .value = difference * (2.0 * logarithm + ratio),
      .first = 2.0 * (logarithm + ratio + difference / d_sqr),
  };
}

double noli_barrier(double d_sqr, double dhat_sqr) {
  if (d_sqr >= dhat_sqr) {
    return 0.0;
  }
  if (!(d_sqr > 0.0)) {
    return infeasible(d_sqr).value;
  }
  double difference = d_sqr - dhat_sqr;
  return -difference * difference * log_ratio(d_sqr, dhat_sqr);
}

double noli_barrier_first(double d_sqr, double dhat_sqr) {
  return noli_barrier_all(d_sqr, dhat_sqr).first;
}

double noli_barrier_second(double d_sqr, double dhat_sqr) {
  return noli_barrier_all(d_sqr, dhat_sqr).second;
}
