#pragma once

// Seconds on a clock that never jumps.
double noli_seconds(void);
