// The entry points required by libFuzzer; replay.c calls them if there is no libFuzzer.
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
