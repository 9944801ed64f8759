// The first axis n of the section, in the frame (t, d) at the angle theta, is transported to the
// tangent t' at the target, where it is p. The motion takes it to m = A' n + B' r, with the
// director r at rest and the derivatives A', B' of the motion by positions at the start and at
// rest. With q = t' x p the turn is psi = atan2(m . q, m . p). A change turns p about t' by
// (fem/thin/twist.h)
//   d phi = d theta + (t x d) . dd + h . (dt + dt'),   h = t' x t / (1 + t . t'),
// and so, with e = t' x m / |t' x m|^2,
//   d psi = e . (dm - (m . t') dt') - d phi.
// Targets that do not follow the place of a vertex do not turn sections: m = 0.
#include "derive/section_derivatives.h"

#include "fem/thin/twist.h"
#include "math/vec3.h"

// A direction of rounding, of one of length 1.
#define VANISHES 1e-12

NoliSectionDerivative noli_section_derivative(const NoliSection* section,
                                              const NoliMotionDerivative* derivative) {
  NoliVec3 t = section->tangent, d = section->director, b = noli_cross3(t, d);
  double length = noli_norm3(section->edge), frame[6];
  NoliVec3 now = noli_scale3(1.0 / length, section->edge);

  noli_store3(frame, t);
  noli_store3(frame + 3, d);
  NoliVec3 n = noli_segment_axis(frame, 0, section->angle);
  NoliVec3 m = noli_add3(noli_mul33_vec(&derivative->by_start, n),
                         noli_mul33_vec(&derivative->by_rest, section->rest));
  NoliVec3 e = noli_cross3(now, m), h = noli_cross3(now, t);
  if (noli_norm3(e) <= VANISHES) {
    return (NoliSectionDerivative){0};
  }
  e = noli_scale3(1.0 / noli_norm_sqr3(e), e);
  h = noli_scale3(1.0 / (1.0 + noli_dot3(t, now)), h);
  NoliVec3 by_axis = noli_transpose_mul33_vec(&derivative->by_start, e);
  NoliVec3 by_now = noli_mul_add3(noli_scale3(-1.0, h), -noli_dot3(m, now), e);
  NoliSectionDerivative out = {.turn = noli_segment_turn(frame, 0, n, now, m)};
  out.by_angle = noli_dot3(by_axis, noli_cross3(t, n)) - 1.0;
  out.by_director = noli_scale3(out.by_angle, b);
  out.by_tangent = noli_mul_add3(noli_scale3(-1.0, h), -noli_dot3(by_axis, t), n);
  out.by_edge = noli_scale3(1.0 / length, noli_mul_add3(by_now, -noli_dot3(by_now, now), now));
  out.by_rest = noli_transpose_mul33_vec(&derivative->by_rest, e);
  NoliMotionByNumbers by = noli_motion_arm_by_numbers(derivative, section->rest, n, m);
  out.by_change = noli_dot3(by.change, e);
  out.by_spin = noli_transpose_mul33_vec(&by.spin, e);
  return out;
}
