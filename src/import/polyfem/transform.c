// Transformations: PolyFEM scales, then rotates in one of many notations, then translates; native
// scenes do the same with R = Rx Ry Rz.
#include "import/polyfem/polyfem.h"

#include "math/rotation.h"

#include <math.h>
#include <string.h>

#define DEGREES (180.0 / 3.14159265358979323846)

// Below this part of the diagonal a mesh is flat.
#define FLAT 1e-12

// ---- rotations ----------------------------------------------------------------------------------

// About a unit axis, in degrees; multiples of 90 are exact.
static NoliMat3 about(const double n[3], double degrees) {
  double turn = remainder(degrees, 360.0);
  double c = fabs(turn) == 90.0 ? 0.0 : fabs(turn) == 180.0 ? -1.0 : cos(turn / DEGREES);
  double s = fabs(turn) == 90.0    ? copysign(1.0, turn)
             : fabs(turn) == 180.0 ? 0.0
                                   : sin(turn / DEGREES);
  return noli_turn33(noli_load3(n), c, s);
}

static NoliMat3 from_quaternion(const double q[4]) {
  // (x, y, z, w)
  double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  double x = q[0] / n, y = q[1] / n, z = q[2] / n, w = q[3] / n;
  NoliMat3 result = {{{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                      {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                      {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}}};
  return result;
}

// An angle that is a short number but for rounding becomes that number.
static double tidy(double degrees) {
  double round_one = round(degrees * 1e6) / 1e6;
  return fabs(degrees - round_one) < 1e-11 ? round_one + 0.0 : degrees;
}

// Angles with R = Rx Ry Rz.
static void to_angles(const NoliMat3* rotation, double angle[3]) {
  const double(*R)[3] = rotation->m;
  double level = hypot(R[0][0], R[0][1]);
  angle[1] = atan2(R[0][2], level);
  if (level > 1e-9) {
    angle[0] = atan2(-R[1][2], R[2][2]);
    angle[2] = atan2(-R[0][1], R[0][0]);
  } else {
    angle[0] = atan2(R[2][1], R[1][1]);
    angle[2] = 0.0;
  }
  for (int i = 0; i < 3; i++) {
    angle[i] = tidy(angle[i] * DEGREES);
  }
}

// ---- notations ----------------------------------------------------------------------------------

// "xyz": turned about x first, then y, then z; each letter takes its angle of the list.
static NoliStatus read_euler(NoliPolyfem* import, const NoliSceneNode* node, const char* mode,
                             const double r[3], double angle[3]) {
  NoliStatus status = NOLI_OK;
  int n_turned = 0;
  for (int i = 0; i < 3; i++) {
    n_turned += r[i] != 0.0;
  }
  NOLI_POLYFEM_CHECK(import, node, strspn(mode, "xyz") == strlen(mode) && mode[0] != '\0',
                     "rotation mode \"%.40s\" is not known; known: letters of \"xyz\", "
                     "\"axis_angle\", \"quaternion\", \"rotation_vector\"",
                     mode);
  bool once = strlen(mode) == 3 && strchr(mode, 'x') && strchr(mode, 'y') && strchr(mode, 'z');
  if (strcmp(mode, "zyx") == 0 || (once && n_turned <= 1)) {
    memcpy(angle, r, 3 * sizeof *angle);
    goto done;
  }
  NoliMat3 R = noli_identity3();
  for (const char* letter = mode; *letter != '\0'; letter++) {
    double axis[3] = {0};
    axis[*letter - 'x'] = 1.0;
    NoliMat3 turn = about(axis, r[*letter - 'x']);
    R = noli_mul33(turn, R);
  }

  to_angles(&R, angle);
done:
  return status;
}

static NoliStatus read_four(NoliPolyfem* import, const NoliSceneNode* node, double q[4]) {
  NoliStatus status = NOLI_OK;
  NOLI_POLYFEM_CHECK(import, node, noli_scene_size(node) == 4, "must be 4 numbers");
  double length = 0.0;
  for (size_t i = 0; i < 4; i++) {
    NoliSceneNode item = noli_scene_item(node, i);
    NOLI_TRY(noli_polyfem_number(import, &item, NOLI_POLYFEM_NONE, &q[i]));
    length += q[i] * q[i];
  }
  NOLI_POLYFEM_CHECK(import, node, length > 0.0, "must not be 0");
done:
  return status;
}

static NoliStatus read_axis_angle(NoliPolyfem* import, const NoliSceneNode* node, double angle[3]) {
  NoliStatus status = NOLI_OK;
  double q[4] = {0};
  NOLI_TRY(read_four(import, node, q));
  double length = hypot(hypot(q[1], q[2]), q[3]);
  NOLI_POLYFEM_CHECK(import, node, length > 0.0, "the axis must not be 0");
  double axis[3] = {q[1] / length, q[2] / length, q[3] / length};
  NoliMat3 R = about(axis, q[0]);
  to_angles(&R, angle);
done:
  return status;
}

static NoliStatus read_vector_rotation(const double r[3], double angle[3]) {
  double turn = hypot(hypot(r[0], r[1]), r[2]);
  if (turn > 0.0) {
    double axis[3] = {r[0] / turn, r[1] / turn, r[2] / turn};
    NoliMat3 R = about(axis, turn);
    to_angles(&R, angle);
  }
  return NOLI_OK;
}

static NoliStatus read_rotation(NoliPolyfem* import, const NoliSceneNode* transformation,
                                double angle[3]) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(transformation, "rotation");
  NoliSceneNode mode_node = noli_scene_member(transformation, "rotation_mode");
  const char* given = "xyz";
  char mode[40];
  double r[3] = {0}, q[4] = {0};
  int32_t n;

  // modes are written in either case
  NOLI_TRY(noli_polyfem_text(import, &mode_node, &given));
  size_t length = strlen(given);
  for (size_t i = 0; i <= length && i < sizeof mode; i++) {
    mode[i] = given[i] >= 'A' && given[i] <= 'Z' ? (char)(given[i] - 'A' + 'a') : given[i];
  }
  mode[sizeof mode - 1] = '\0';

  // one angle, an axis, a quaternion, or three angles
  if (node.value == NULL || json_is_null(node.value) || json_array_size(node.value) == 0) {
    if (!json_is_number(node.value)) {
      goto done;
    }
    // in a plane there is one axis only
    char axis = import->flat ? 'z' : mode[0];
    NOLI_POLYFEM_CHECK(import, &node,
                       import->flat || (strlen(mode) == 1 && strchr("xyz", mode[0]) != NULL),
                       "one angle needs a \"rotation_mode\" of one axis");
    angle[axis - 'x'] = noli_scene_number(&node);
  } else if (strcmp(mode, "axis_angle") == 0) {
    NOLI_TRY(read_axis_angle(import, &node, angle));
  } else if (strcmp(mode, "quaternion") == 0) {
    NOLI_TRY(read_four(import, &node, q));
    NoliMat3 R = from_quaternion(q);
    to_angles(&R, angle);
  } else {
    NOLI_TRY(noli_polyfem_vector(import, &node, NOLI_POLYFEM_NONE, r, &n));
    NOLI_POLYFEM_CHECK(import, &node, n == 3, "must be 3 angles");
    NOLI_TRY(strcmp(mode, "rotation_vector") == 0 ? read_vector_rotation(r, angle)
                                                  : read_euler(import, &mode_node, mode, r, angle));
  }
done:
  return status;
}

// ---- sizes --------------------------------------------------------------------------------------

// "dimensions": the required extents of the bounding box. A flat mesh stays flat; `flat` is
// where its plane moves to 0.
static NoliStatus read_dimensions(NoliPolyfem* import, const NoliSceneNode* node,
                                  const NoliMesh* mesh, double scale[3], double flat[3]) {
  NoliStatus status = NOLI_OK;
  double wanted[3], low[3], high[3];
  int32_t n;
  NOLI_POLYFEM_CHECK(import, node, json_is_array(node->value), "must be a list of 3 numbers");
  NOLI_TRY(noli_polyfem_vector(import, node, NOLI_POLYFEM_LENGTH, wanted, &n));
  NOLI_POLYFEM_CHECK(import, node, n == 3, "must be %d extents", import->flat ? 2 : 3);
  noli_mesh_bounds(mesh->n_vert, mesh->x, low, high);
  double diagonal = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
  for (int i = 0; i < 3; i++) {
    double extent = high[i] - low[i];
    if (wanted[i] == 0.0) {
      NOLI_POLYFEM_CHECK(import, node, extent <= FLAT * diagonal,
                         "an extent of 0 would flatten the mesh");
      scale[i] = 1.0;
      flat[i] = -low[i];
    } else {
      scale[i] = extent == 0.0 ? wanted[i] : wanted[i] / extent;
    }
  }
done:
  return status;
}

static NoliStatus read_scale(NoliPolyfem* import, const NoliSceneNode* node, double scale[3]) {
  NoliStatus status = NOLI_OK;
  int32_t n;
  if (json_is_array(node->value)) {
    double given[3];
    NOLI_TRY(noli_polyfem_vector(import, node, NOLI_POLYFEM_NONE, given, &n));
    NOLI_POLYFEM_CHECK(import, node, n == 0 || n == 3, "must be %d factors", import->flat ? 2 : 3);
    for (int i = 0; i < (import->flat ? 2 : 3) && n == 3; i++) {
      scale[i] = given[i];
    }
  } else {
    NOLI_TRY(noli_polyfem_number(import, node, NOLI_POLYFEM_NONE, &scale[0]));
    scale[1] = scale[2] = scale[0];
  }
done:
  return status;
}

NoliStatus noli_polyfem_read_placement(NoliPolyfem* import, const NoliSceneNode* entry,
                                       const NoliMesh* mesh, NoliPolyfemPlacement* placement) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode transformation = noli_scene_member(entry, "transformation");
  NoliSceneNode translation = noli_scene_member(&transformation, "translation");
  NoliSceneNode scale = noli_scene_member(&transformation, "scale");
  NoliSceneNode dimensions = noli_scene_member(&transformation, "dimensions");
  NoliSceneNode unit = noli_scene_member(entry, "unit");
  const char* unit_name = "";
  double factor = 1.0, flat[3] = {0};
  int32_t n;
  *placement = (NoliPolyfemPlacement){.scale = {1.0, 1.0, 1.0}};

  // scale by unit, and by dimensions or factors
  NOLI_TRY(noli_polyfem_text(import, &unit, &unit_name));
  NOLI_TRY(noli_polyfem_unit(import, &unit, unit_name, NOLI_POLYFEM_LENGTH, &factor));
  if (dimensions.value != NULL && !json_is_null(dimensions.value)) {
    NOLI_TRY(read_dimensions(import, &dimensions, mesh, placement->scale, flat));
  } else {
    NOLI_TRY(read_scale(import, &scale, placement->scale));
  }

  // rotation and translation
  NOLI_TRY(read_rotation(import, &transformation, placement->rotate));
  NOLI_TRY(
      noli_polyfem_vector(import, &translation, NOLI_POLYFEM_LENGTH, placement->translate, &n));

  // turn and scale the offset of flat meshes too
  static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 2; i >= 0; i--) {
    // where the plane of a flat mesh moved to 0, turned as the mesh is
    NoliMat3 turn = about(axes[i], placement->rotate[i]);
    double moved[3] = {0};
    for (int j = 0; j < 3; j++) {
      for (int k = 0; k < 3; k++) {
        moved[j] += turn.m[j][k] * flat[k];
      }
    }
    memcpy(flat, moved, sizeof flat);
    placement->scale[i] *= factor;
  }
  for (int i = 0; i < 3; i++) {
    placement->translate[i] += factor * flat[i];
  }
done:
  return status;
}
