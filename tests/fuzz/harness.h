// The entry points that libFuzzer asks for; replay.c calls them where there is no libFuzzer.
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
