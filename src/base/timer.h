#pragma once

// Seconds on a monotonic clock.
double noli_seconds(void);

// Seconds of processor time of the process, of all its threads.
double noli_processor_seconds(void);
