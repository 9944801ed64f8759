#include "support.h"

#include "contact/gcp/gcp_jet.h"

// Functions of four vectors whose derivatives are jets.
typedef NoliJet JetFunction(const NoliVec3* u);

static NoliJet cosine(const NoliVec3* u) {
  return noli_jet_cosine(4, u, 2, 1, true);
}
static NoliJet normal_cosine(const NoliVec3* u) {
  return noli_jet_normal_cosine(4, u, 3, 0, 2, true);
}
static NoliJet chain(const NoliVec3* u) {
  NoliJet c = noli_jet_cosine(4, u, 0, 3, true);
  return noli_jet_chain(&c, exp(c.value), exp(c.value), exp(c.value));
}
static NoliJet product_and_sum(const NoliVec3* u) {
  NoliJet a = cosine(u), b = normal_cosine(u), c = chain(u);
  NoliJet out = noli_jet_product(&a, &b);
  noli_jet_add(&out, -0.7, &c);
  return out;
}

static double evaluate(void* user, const double* x, double* gradient, double* hessian) {
  NoliVec3 u[4];
  for (int i = 0; i < 4; i++) {
    u[i] = noli_load3(x + 3 * i);
  }
  NoliJet jet = (*(JetFunction**)user)(u);
  memcpy(gradient, jet.gradient, sizeof jet.gradient);
  if (hessian != NULL) {
    memcpy(hessian, jet.hessian, sizeof jet.hessian);
  }
  return jet.value;
}

static void derivatives_agree_with_differences(void** state) {
  (void)state;
  JetFunction* functions[] = {cosine, normal_cosine, chain, product_and_sum};
  TestRandom random = {31};
  for (int f = 0; f < 4; f++) {
    for (int k = 0; k < 50; k++) {
      double x[12];
      for (int i = 0; i < 12; i++) {
        x[i] = test_random(&random, -1.0, 1.0);
      }
      test_derivatives(evaluate, &functions[f], 12, x, 1e-1, 1e-6, 1e-5);
    }
  }
}

// Parallel, opposite and orthogonal vectors, where the first derivative of the angle would jump.
static void derivatives_agree_for_special_angles(void** state) {
  (void)state;
  static const double angles[][3] = {{2.0, 0.0, 0.0}, {-0.5, 0.0, 0.0}, {0.0, 3.0, 0.0}};
  JetFunction* functions[] = {cosine, normal_cosine};
  for (int f = 0; f < 2; f++) {
    for (int k = 0; k < 3; k++) {
      double x[12] = {0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0};
      memcpy(x + 6, angles[k], sizeof angles[k]);
      test_derivatives(evaluate, &functions[f], 12, x, 1e-1, 1e-6, 1e-5);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(derivatives_agree_for_special_angles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
