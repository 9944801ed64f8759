#include "define/body_proxy.h"

#include "define/choices.h"
#include "define/definition.h"
#include "math/vec3.h"

// Default limits of a given proxy: distance of its vertices from the body, relative to the diagonal
// of the body, and extrapolation of elements.
#define PROXY_DISTANCE 0.05
#define PROXY_EXTRAPOLATION 0.5

static double diagonal_of(const NoliMesh* mesh) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int64_t i = 0; i < 3 * (int64_t)mesh->n_vert; i++) {
    low[i % 3] = fmin(low[i % 3], mesh->x[i]);
    high[i % 3] = fmax(high[i % 3], mesh->x[i]);
  }
  return noli_norm3(noli_sub3(noli_load3(high), noli_load3(low)));
}

static NoliProxyLimits limits_of(const NoliBodyDef* body) {
  const NoliProxyDef* def = &body->proxy;
  return (NoliProxyLimits){
      .distance =
          def->max_distance > 0.0 ? def->max_distance : PROXY_DISTANCE * diagonal_of(body->mesh),
      .extrapolation = def->max_extrapolation > 0.0 ? def->max_extrapolation : PROXY_EXTRAPOLATION};
}

// A proxy of given triangles; logs how well they fit.
static NoliStatus carry_mesh(NoliContext* context, const char* name, const NoliBodyDef* body,
                             const NoliSpace* space, NoliProxy* proxy) {
  const NoliProxyDef* def = &body->proxy;
  const NoliMesh* mesh = def->mesh;
  if (def->carrier != NULL) {
    return noli_proxy_from_places(context, space, mesh, def->carrier, def->place, proxy);
  }
  NoliProxyReport report;
  NoliStatus status = noli_proxy_from_mesh(context, space, mesh, limits_of(body), proxy, &report);
  if (status == NOLI_OK) {
    noli_log(
        context, NOLI_LOG_INFO,
        "body \"%s\": collision proxy of %d vertices, %d of them outside all tetrahedra: at most "
        "%.3g m outside, extrapolated by %.3g, largest weight %.3g, largest gap to its place "
        "in a curved tetrahedron %.3g m",
        name, proxy->n_vert, report.n_outside, report.largest_distance,
        report.largest_extrapolation, report.largest_weight, report.largest_gap);
  }
  return status;
}

NoliStatus noli_body_proxy_make(NoliContext* context, const char* name, const NoliBodyDef* body,
                                const NoliSpace* space, NoliProxy* proxy) {
  NoliStatus status = NOLI_OK;
  int32_t n = space->order > space->geometry_order ? space->order : space->geometry_order;
  switch (noli_proxy_kind(&body->proxy)) {
  case NOLI_PROXY_MESH:
    return carry_mesh(context, name, body, space, proxy);
  case NOLI_PROXY_EDGE_LENGTH:
    NOLI_TRY(noli_proxy_subdivision(context, space, body->proxy.edge_length, &n));
    break;
  case NOLI_PROXY_SUBDIVISION:
    n = body->proxy.subdivision;
    break;
  case NOLI_PROXY_AUTOMATIC:
    break;
  }
  NOLI_TRY(noli_proxy_from_boundary(context, space, n, proxy));
done:
  return status;
}

// ---- changes of the rest shape ------------------------------------------------------------------

static NoliStatus settle_mesh(NoliContext* context, const NoliSpace* space, NoliBodyDef* body,
                              NoliProxyPlaces* made) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = body->proxy.mesh;
  NOLI_NEW(context, made->carrier, mesh->n_vert);
  NOLI_NEW(context, made->place, 3 * (int64_t)mesh->n_vert);
  NOLI_TRY(noli_proxy_locate(context, space, mesh->n_vert, mesh->x, limits_of(body), made->carrier,
                             made->place));
  body->proxy.carrier = made->carrier;
  body->proxy.place = made->place;
done:
  if (status != NOLI_OK) {
    noli_free(context, made->carrier);
    noli_free(context, made->place);
    *made = (NoliProxyPlaces){0};
  }
  return status;
}

NoliStatus noli_body_proxy_settle(NoliContext* context, NoliBodyDef* body, NoliProxyPlaces* made) {
  NoliStatus status = NOLI_OK;
  NoliSpace space = {0};
  NoliProxyDef* def = &body->proxy;
  NoliProxyKind kind = noli_proxy_kind(def);
  *made = (NoliProxyPlaces){0};
  bool follows =
      kind == NOLI_PROXY_EDGE_LENGTH || (kind == NOLI_PROXY_MESH && def->carrier == NULL);
  if (!follows || body->mesh->n_tet == 0) {
    return NOLI_OK; // without tetrahedra it is refused when the definition is checked
  }
  NOLI_TRY(noli_space_create(context, body->mesh, body->order > 1 ? body->order : 1, &space));
  if (kind == NOLI_PROXY_MESH) {
    NOLI_TRY(settle_mesh(context, &space, body, made));
  } else {
    NOLI_TRY(noli_proxy_subdivision(context, &space, def->edge_length, &def->subdivision));
    def->kind = "subdivision";
  }
done:
  noli_space_destroy(context, &space);
  return body->name != NULL ? noli_definition_locate_body(context, body, body->name, status)
                            : status;
}

void noli_body_proxy_follow(const NoliBodyDef* body, const double* displacement) {
  const NoliProxyDef* def = &body->proxy;
  if (noli_proxy_kind(def) != NOLI_PROXY_MESH || def->carrier == NULL) {
    return;
  }
  for (int64_t v = 0; v < def->mesh->n_vert; v++) {
    const int32_t* corner = body->mesh->tet + 4 * (int64_t)def->carrier[v];
    const double* xi = def->place + 3 * v;
    const double share[4] = {1.0 - xi[0] - xi[1] - xi[2], xi[0], xi[1], xi[2]};
    NoliVec3 x = noli_load3(def->mesh->x + 3 * v);
    for (int c = 0; c < 4; c++) {
      x = noli_mul_add3(x, share[c], noli_load3(displacement + 3 * (int64_t)corner[c]));
    }
    noli_store3(def->mesh->x + 3 * v, x);
  }
}
