// The part of `noli mesh` that needs Gmsh, in builds without it.
#include "solid.h"

#include "noli/extend.h"

bool solid_can_fill(void) {
  return false;
}

NoliStatus solid_fill(NoliContext* context, const Surface* surface, const SolidOptions* options,
                      const char* scratch, NoliMesh** solid) {
  (void)surface;
  (void)options;
  (void)scratch;
  (void)solid;
  return noli_fail(context, NOLI_ERROR_BACKEND,
                   "this build is without Gmsh: install the package libgmsh-dev and build again "
                   "with `make build GMSH=ON` (CMake: -DNOLI_GMSH=ON)");
}
