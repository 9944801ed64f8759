// Parallel loops over fixed blocks. Blocks do not depend on the number of workers, and sums are
// combined in block order, so that results have the same bits for any number of threads.
#pragma once

#include "base/context.h"

// Processes items [begin, end). `worker`, an index for scratch, is less than the number of threads.
typedef void NoliRangeFn(void* user, int64_t begin, int64_t end, int32_t worker);

// As NoliRangeFn, and returns the sum over the range.
typedef double NoliRangeSumFn(void* user, int64_t begin, int64_t end, int32_t worker);

// Calls `fn` for consecutive blocks of at most `block` items, on `n_threads` threads, in any order.
void noli_parallel_for(int32_t n_threads, int64_t n_items, int64_t block, NoliRangeFn* fn,
                       void* user);

// Calls `fn` for every item alone, on up to `n_threads` threads, in any order: for few items that
// take long each. Parallel loops inside `fn` run on one thread.
void noli_parallel_tasks(int32_t n_threads, int64_t n_items, NoliRangeFn* fn, void* user);

// Sums `fn` over all blocks, added in block order.
double noli_parallel_sum(int32_t n_threads, int64_t n_items, int64_t block, NoliRangeSumFn* fn,
                         void* user);

// Threads that work on one thing together and wait for each other in between. Waiting is a short
// spin, then sleep: a loop of its own for every part would wake the threads each time.
typedef struct NoliTeam NoliTeam;

// Runs on every member of a team at the same time; `rank` is less than `size`.
typedef void NoliTeamFn(void* user, NoliTeam* team, int32_t rank, int32_t size);

// Calls `fn` on a team of up to `n_threads` threads, this one included.
void noli_parallel_team(int32_t n_threads, NoliTeamFn* fn, void* user);

// Returns when all members of the team have called it.
void noli_team_wait(NoliTeam* team);

// Calls `fn` for every item alone. All members call it with the same items; it returns when all
// items are done. `rank` is passed to `fn` as worker.
void noli_team_for(NoliTeam* team, int32_t rank, int64_t n_items, NoliRangeFn* fn, void* user);

// The number of cores that this process may use.
int32_t noli_hardware_threads(void);
