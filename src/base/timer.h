#pragma once

// Seconds on a monotonic clock.
double noli_seconds(void);
