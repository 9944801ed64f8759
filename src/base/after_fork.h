// Processes that were forked, and parallel regions in them.
//
// A child process has only the thread that forked. The team of OpenMP threads that
// this thread had does not exist in the child, which libgomp does not notice: the next region waits
// for the team forever. Regions of such a thread therefore start on a second thread, made in the
// child, which has a team of its own.
#pragma once

#include <stdbool.h>

// The number of forks between this process and the one that loaded the library: where it has grown,
// other threads than the one that forked, and what they held, have stayed in another process.
int noli_fork_count(void);

typedef void NoliCallFn(void* user);

// Calls fn(user), which may start regions of OpenMP, its own or those of another library, and
// returns when it has returned: on the calling thread, or on its second one if the calling thread
// was forked. False: nothing was called, because the system refuses the second thread.
bool noli_call_after_fork(NoliCallFn* fn, void* user);
