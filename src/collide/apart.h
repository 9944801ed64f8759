// Whether two primitives stay apart while their vertices move straight: signs of polynomials.
//
// The differences a - b, a in A, b in B, are a convex polygon with the corners w_ij of ccd.h: a
// point, a segment, a triangle, or a parallelogram for two edges. The distance of A and B is that
// of the origin from it. With corners w_ij + t p_ij, normal n = (w1 - w0) x (w2 - w0), the origin
// is farther than `low` from the polygon for t in [0, 1]
//   - if it is from its plane:          (w0 . n)^2 - low^2 |n|^2 > 0, of degree 6; or
//   - if it is from every side, and its foot in the plane is beyond one and the same side from w to
//     w', n . (w x w') <= 0, of degree 4; or
//   - if it is farther from every side than low' with low'^2 = low^2 + max |n|^2 / (4 min |e|^2),
//     e = w1 - w0: no point of a triangle or of a parallelogram is farther than |n| / (2 |e|) from
//     its sides, so that a foot inside is never much nearer than the sides where they are nearly
//     parallel.
// It is farther than that from a side from w to w' with e = w' - w
//   - if it is from the line:           |w x e|^2 - low^2 |e|^2 > 0, of degree 4; or
//   - if it is from the end w, and its foot is never beyond it:  w . e >= 0, |w|^2 - low^2 > 0; or
//     if it is from the end w', and its foot is never beyond that end.
// A polynomial has a sign on [0, 1] if its Bernstein coefficients have. Every number carries a
// bound of its error, so that rounding makes the answer less often true, never wrong.
//
// Near-parallel edges that tilt against each other close to a separation need this: their closest
// points jump between their ends, and any bound by a direction (ccd.h) lasts only for the square
// root of gap times size, or less.
#pragma once

#include "collide/closest.h"

// Whether primitives with the differences w + t p (in the order of ccd.h) are certainly farther
// apart than `low` >= 0 for all t in [0, 1]. False where that cannot be shown.
bool noli_stay_apart(NoliPairKind kind, const NoliVec3 w[4], const NoliVec3 p[4], double low);
