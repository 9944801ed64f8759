// The kind of work that the library does at the moment, for noli_profile.
//
// Kinds of work nest, and each has the cost of what is in it alone: who begins some work names it
// and, at the end, names what was done before.
#pragma once

#include "noli/profile.h"

// Begins some work; returns the kind that it interrupts, to which the caller goes back.
NoliWork noli_work(NoliWork work);

// Begin and end of a loop that threads share, on the thread that starts it. The first member of a
// team may end it for what it does alone, and begin it again.
void noli_work_share(void);
void noli_work_join(void);
