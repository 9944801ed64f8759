#include "linalg/solvers/bicgstab.h"

#include "base/parallel.h"
#include "linalg/dot.h"

#include <math.h>
#include <string.h>

enum { LOOP_BLOCK = 4096 };

// Most restarts with a new shadow residual after a breakdown, in one solve.
enum { MOST_RESTARTS = 20 };

// A product of vectors below this share of their lengths is rounding.
#define BREAKDOWN 1e-14

void noli_bicgstab_free(NoliContext* context, NoliBicgstab* work) {
  for (int32_t k = 0; k < 8; k++) {
    noli_free(context, work->vector[k]);
  }
  *work = (NoliBicgstab){0};
}

// The names of [vanderVorst1992].
typedef struct Iteration {
  NoliContext* context;
  int32_t n_threads;
  int64_t n; // scalars
  NoliLinearMap matrix;
  NoliLinearMap preconditioner;
  double *r, *shadow, *p, *v, *s, *t, *p_hat, *s_hat;
} Iteration;

static double bicgstab_dot(const Iteration* it, const double* a, const double* b) {
  return noli_dot(it->n_threads, it->n, a, b);
}

// z = a + s b + t c
typedef struct CombineJob {
  double* z;
  const double *a, *b, *c;
  double s, t;
} CombineJob;

static void combine_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const CombineJob* job = user;
  for (int64_t k = begin; k < end; k++) {
    double value = job->a[k] + job->s * job->b[k];
    job->z[k] = job->c != NULL ? value + job->t * job->c[k] : value;
  }
}

static void bicgstab_combine(const Iteration* it, double* z, const double* a, double s,
                             const double* b, double t, const double* c) {
  CombineJob job = {z, a, b, c, s, t};
  noli_parallel_for(it->n_threads, it->n, LOOP_BLOCK, combine_range, &job);
}

// r = b - A x
static NoliStatus true_residual(Iteration* it, const double* b, const double* x) {
  NoliStatus status = it->matrix.apply(it->matrix.user, x, it->t);
  bicgstab_combine(it, it->r, b, -1.0, it->t, 0.0, NULL);
  return status;
}

// Starts the recurrence at the present residual.
static double restart(Iteration* it) {
  size_t bytes = sizeof(double) * (size_t)it->n;
  memcpy(it->shadow, it->r, bytes);
  memcpy(it->p, it->r, bytes);
  return bicgstab_dot(it, it->r, it->r);
}

// One iteration from the present p and rho. `*broken`: nothing can be divided by.
static NoliStatus bicgstab_iterate(Iteration* it, double* x, double* rho, bool* broken) {
  NoliStatus status = NOLI_OK;
  *broken = true;
  NOLI_TRY(it->preconditioner.apply(it->preconditioner.user, it->p, it->p_hat));
  NOLI_TRY(it->matrix.apply(it->matrix.user, it->p_hat, it->v));
  double shadow_v = bicgstab_dot(it, it->shadow, it->v);
  double size = sqrt(bicgstab_dot(it, it->shadow, it->shadow) * bicgstab_dot(it, it->v, it->v));
  if (!(fabs(shadow_v) > BREAKDOWN * size)) {
    goto done;
  }

  // half a step along p
  double alpha = *rho / shadow_v;
  bicgstab_combine(it, it->s, it->r, -alpha, it->v, 0.0, NULL);
  NOLI_TRY(it->preconditioner.apply(it->preconditioner.user, it->s, it->s_hat));
  NOLI_TRY(it->matrix.apply(it->matrix.user, it->s_hat, it->t));

  // then the step along s that makes the residual smallest
  double t_sqr = bicgstab_dot(it, it->t, it->t), t_s = bicgstab_dot(it, it->t, it->s);
  double omega = t_sqr > 0.0 ? t_s / t_sqr : 0.0;
  bicgstab_combine(it, x, x, alpha, it->p_hat, omega, it->s_hat);
  bicgstab_combine(it, it->r, it->s, -omega, it->t, 0.0, NULL);
  double rho_next = bicgstab_dot(it, it->shadow, it->r);
  double r_size = sqrt(bicgstab_dot(it, it->shadow, it->shadow) * bicgstab_dot(it, it->r, it->r));
  if (!(fabs(rho_next) > BREAKDOWN * r_size) || omega == 0.0) {
    goto done;
  }

  // p = r + beta (p - omega v)
  double beta = (rho_next / *rho) * (alpha / omega);
  bicgstab_combine(it, it->p, it->r, beta, it->p, -beta * omega, it->v);
  *rho = rho_next;
  *broken = !isfinite(beta);
done:
  return status;
}

static NoliStatus bicgstab_reserve(NoliBicgstab* work, NoliContext* context, int64_t n) {
  NoliStatus status = NOLI_OK;
  for (int32_t k = 0; k < 8; k++) {
    NOLI_TRY(noli_grow(context, (void**)&work->vector[k], &work->capacity[k], n, sizeof(double)));
  }
done:
  return status;
}

NoliStatus noli_bicgstab(NoliBicgstab* work, NoliContext* context, int32_t n, NoliLinearMap matrix,
                         NoliLinearMap preconditioner, const double* b, double tolerance,
                         int64_t most, double* x, int64_t* iterations) {
  NoliStatus status = NOLI_OK;
  *iterations = 0;
  NOLI_TRY(bicgstab_reserve(work, context, 3 * (int64_t)n));

  // start at x = 0
  double** w = work->vector;
  Iteration it = {.context = context,
                  .n_threads = noli_context_threads(context),
                  .n = 3 * (int64_t)n,
                  .matrix = matrix,
                  .preconditioner = preconditioner,
                  .r = w[0],
                  .shadow = w[1],
                  .p = w[2],
                  .v = w[3],
                  .s = w[4],
                  .t = w[5],
                  .p_hat = w[6],
                  .s_hat = w[7]};
  memset(x, 0, sizeof(double) * (size_t)it.n);
  memcpy(it.r, b, sizeof(double) * (size_t)it.n);
  double b_sqr = bicgstab_dot(&it, b, b), goal = tolerance * tolerance * b_sqr;
  NOLI_CHECK(context, isfinite(b_sqr), NOLI_NOT_FINITE, "the right side is not finite");

  // iterate; the true residual verifies what the recurrence claims
  double rho = restart(&it), r_sqr = b_sqr;
  int32_t restarts = 0;
  while (!(r_sqr <= goal)) {
    NOLI_CHECK(context, *iterations < most && restarts <= MOST_RESTARTS && isfinite(r_sqr),
               NOLI_NOT_CONVERGED,
               "biconjugate gradients stand at %.3g of the residual after %lld iterations",
               sqrt(r_sqr / b_sqr), (long long)*iterations);
    bool broken;
    NOLI_TRY(bicgstab_iterate(&it, x, &rho, &broken));
    (*iterations)++;
    r_sqr = bicgstab_dot(&it, it.r, it.r);
    if (broken || r_sqr <= goal || !isfinite(r_sqr)) {
      NOLI_TRY(true_residual(&it, b, x));
      rho = restart(&it);
      r_sqr = rho;
      restarts++;
    }
  }
done:
  return status;
}
