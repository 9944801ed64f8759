#include "output/audit/auditor.h"

#include "math/vec3.h"
#include "model/audit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Defects of one state that are listed at most; all are counted.
enum { LISTED = 100 };

// Counts a finding and gives the place for it; `*finding` is NULL when enough are listed.
static NoliStatus new_finding(NoliAuditor* auditor, NoliFindingKind kind, const char* file,
                              int64_t step, NoliFinding** finding) {
  NoliStatus status = NOLI_OK;
  NoliRunAudit* audit = auditor->audit;
  *finding = NULL;
  audit->n_found++;
  if (auditor->n_of_state >= LISTED) {
    return NOLI_OK;
  }
  auditor->n_of_state++;
  NOLI_TRY(noli_grow(auditor->context, (void**)&audit->findings, &auditor->allocated,
                     audit->n_findings + 1, sizeof *audit->findings));
  *finding = &audit->findings[audit->n_findings++];
  **finding = (NoliFinding){.kind = kind, .step = step};
  snprintf((*finding)->file, sizeof(*finding)->file, "%s", file);
done:
  return status;
}

NoliStatus noli_auditor_find(NoliAuditor* auditor, NoliFindingKind kind, const char* file,
                             int64_t step, const char* format, ...) {
  NoliFinding* finding;
  NoliStatus status = new_finding(auditor, kind, file, step, &finding);
  if (finding != NULL) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->message, sizeof finding->message, format, arguments);
    va_end(arguments);
  }
  return status;
}

NoliStatus noli_auditor_excuse(NoliAuditor* auditor, NoliStatus status, const char* file,
                               int64_t step) {
  if (status != NOLI_ERROR_FORMAT) {
    return status;
  }
  char message[sizeof auditor->context->message];
  memcpy(message, auditor->context->message, sizeof message);
  return noli_auditor_find(auditor, NOLI_FINDING_FILE, file, step, "%.600s", message);
}

static NoliStatus add_defect(NoliAuditor* auditor, const char* file, int64_t step,
                             const NoliDefect* defect) {
  const NoliModel* model = auditor->run.sim->model;
  NoliFinding* finding;
  NoliFindingKind kind = defect->kind == NOLI_DEFECT_HALF_SPACE ? NOLI_FINDING_HALF_SPACE
                         : defect->kind == NOLI_DEFECT_INVERTED ? NOLI_FINDING_INVERTED
                         : defect->kind == NOLI_DEFECT_NESTED   ? NOLI_FINDING_NESTED
                                                                : NOLI_FINDING_INTERSECTION;
  NoliStatus status = new_finding(auditor, kind, file, step, &finding);
  if (finding == NULL) {
    return status;
  }
  char text[NOLI_DEFECT_TEXT];
  finding->defect = *defect;
  for (int side = 0; side < 2; side++) {
    int32_t entity = defect->entity[side];
    if (entity != NOLI_NULL_INDEX) {
      snprintf(finding->entity[side], sizeof finding->entity[side], "%s", model->name[entity]);
    }
  }
  noli_defect_describe(model, defect, text);
  snprintf(finding->message, sizeof finding->message, "%s: step %lld: %s", file, (long long)step,
           text);
  return status;
}

// ---- one state ----

NoliStatus noli_auditor_check_positions(NoliAuditor* auditor, const char* file, int64_t step,
                                        const double* x) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = auditor->run.sim->model;
  NoliDefects defects = {0};
  auditor->n_of_state = 0;
  for (int32_t i = 0; i < model->problem.n_vert; i++) {
    if (!noli_is_finite3(noli_load3(&x[3 * (int64_t)i]))) {
      int32_t body = model->problem.surface->body[i];
      NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_NOT_FINITE, file, step,
                                 "%s: step %lld: vertex %d of \"%s\" is not finite", file,
                                 (long long)step, (int)noli_model_local(model, i),
                                 model->name[body]));
      goto done;
    }
  }
  NOLI_TRY(noli_audit_model(model, x, &defects));
  for (int64_t i = 0; i < defects.count; i++) {
    NOLI_TRY(add_defect(auditor, file, step, &defects.data[i]));
  }
done:
  auditor->n_of_state = 0;
  noli_array_free(auditor->context, &defects);
  return status;
}
