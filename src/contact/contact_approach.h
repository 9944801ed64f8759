// Whether close pairs come closer from one contact set to the next.
#pragma once

#include "contact/contact_set.h"

// Whether any pair whose gap over its range is below sqrt(gap_sqr_limit) in `before` has a squared
// gap in `after` that is less than `share_sqr` times the one before; with 1, whether it has come
// closer. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_contact_set_approached(const NoliContactSet* before,
                                                        const NoliContactSet* after,
                                                        NoliContext* context, double gap_sqr_limit,
                                                        double share_sqr, bool* approached);
