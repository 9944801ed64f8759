// Where the time of measured scenes went: tables of profiles.
#pragma once

#include "result.h"

// Shares of the kinds of work, how much of each threads share, and what they leave on one thread,
// as Markdown. Returns false after a message if no scene has a profile.
bool work_print(const ResultList* list);
