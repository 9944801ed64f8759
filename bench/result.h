// The result of one scene, and its JSON form.
#pragma once

#include "noli/noli.h"

#include <jansson.h>

typedef enum ResultState {
  RESULT_RUNNING,
  RESULT_DONE,    // all steps that were wanted
  RESULT_BUDGET,  // stopped after the step in which the seconds ran out
  RESULT_ABSENT,  // the scene or a file that it names is not there
  RESULT_REFUSED, // the scene says something that Noli does not have
  RESULT_FAILED,  // `message` says why
  RESULT_KILLED,  // one step took far longer than the seconds allowed, or the process crashed
  RESULT_STATES,
} ResultState;

// Sent through a pipe in one piece, so it must be smaller than PIPE_BUF.
typedef struct Result {
  char scene[128];
  char message[600];
  char note[200]; // what is not as in the file of the scene
  ResultState state;
  int64_t bodies, nodes, tets, triangles, threads;
  int64_t steps, steps_wanted;
  int64_t steps_scene;   // the length of the scene
  double time_step;      // s
  double dhat;           // m
  double tolerance;      // m/s
  double setup;          // s, reading and creating
  double setup_cpu;      // s of all threads
  double wall;           // s, stepping only
  double cpu;            // s of all threads, stepping only
  double wall_max;       // s, the slowest step
  int64_t newton;        // iterations of all steps
  int64_t newton_max;    // in one step
  int64_t linear;        // iterations of the linear solver; 0 if it is direct
  double contacts;       // summed over the Newton iterations
  int64_t contacts_max;  // in one iteration
  NoliStepTiming timing; // sums, s
  NoliProfile profile;   // with --profile
  double min_distance;   // m, smallest over the steps
  double memory_mb;      // peak resident set
  int64_t steps_blocked; // steps whose prescribed motion contact cut short
  int64_t audited;       // steps that the exact audit found nothing in; it ends others
  double max_speed;      // m/s, after the last step
  double way;            // m, of the deformable bodies until the last step; NAN if it was not done
  // of the iterations, also those of a step that failed
  int64_t advances;     // of a state without penetrations, towards a target
  int64_t stalled;      // those that got nowhere
  double alpha;         // sum of the shares of the way that they got
  int64_t listed_max;   // most pairs that were looked after: contacts; constraints, pushing or not
  double added;         // pairs that came into the set of constraints, of all iterations
  double penetration;   // m, deepest in the target of the last advance of a step
  double condition;     // sum of the estimates of preconditioned systems
  double condition_max; // 0: no estimates
  int64_t conditions;   // their number
  int64_t friction_iterations; // solves with friction of their own
  double friction_error;       // largest of a step, as in NoliStepReport
  int64_t friction_off;        // steps whose friction_error exceeds FRICTION_TOLERATED
  double imbalance;            // largest of a step, as in NoliStepReport
  int64_t unbalanced;          // steps whose imbalance exceeds IMBALANCE_TOLERATED
  double shape_error; // largest relative change of a distance between two vertices of a body;
                      // NAN unless the scene ends at rest and was run to its end
} Result;

// The friction error above which "automatic" repeats a solve.
#define FRICTION_TOLERATED 0.05

// The default of solver.imbalance with inertia.
#define IMBALANCE_TOLERATED 0.01

// Nothing measured yet.
Result result_new(const char* scene);
const char* result_state_name(ResultState state);
// Whether the scene was run, if only for some steps.
bool result_was_run(const Result* result);
// Whether the result shows an error of the program.
bool result_is_bad(const Result* result);

// NAN without steps or iterations.
double result_seconds_per_step(const Result* result);
double result_cpu_per_step(const Result* result);
double result_newton_per_step(const Result* result);
double result_friction_iterations_per_step(const Result* result);
double result_contacts_average(const Result* result);
double result_linear_per_newton(const Result* result);
double result_alpha_average(const Result* result);
double result_condition_average(const Result* result);

// a / b; NAN if b is not positive.
double ratio(double a, double b);

typedef struct ResultList {
  Result* data; // (count), owned
  int32_t count;
  char suite[32];
} ResultList;

json_t* result_object(const Result* result);
// Reads a file of measurements; prints errors on stderr.
bool result_read_list(const char* path, ResultList* list);
void result_free_list(ResultList* list);
// NULL if the scene is missing.
const Result* result_find(const ResultList* list, const char* scene);

// JSON has no infinity and no NaN: null represents both.
void set_number(json_t* object, const char* key, double value);
