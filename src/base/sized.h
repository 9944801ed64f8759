// Structs that cross the public interface and may grow: a program that was compiled with other
// headers has a shorter or a longer one.
//
// The size that a program has is what counts. A definition has it in its first member, `uint32_t
// size`, written by its noli_default_ function, which is compiled with the program; a function that
// fills a struct of the program gets it as an argument from its inline wrapper. Inside the library
// every struct is of the library's own size: definitions are taken where they come in, results are
// given where they go out. Members are only ever added at the end, so the shorter of two structs is
// the beginning of the longer one. docs/reference/api.md
#pragma once

#include "base/context.h"

// Writes defaults into a definition of `size` bytes: the beginning of `defaults` (own_size), zeros
// behind it, and its size.
void noli_sized_default(void* def, size_t size, const void* defaults, size_t own_size);

// Takes a definition: `own` (own_size), which holds defaults, gets what `given` has of it. Fails
// with NOLI_ERROR_ARGUMENT, naming `what` and the function `maker` that makes such definitions,
// where it was not made by that, or where a newer program sets members that this library does not
// have. `context` may be NULL.
NOLI_WARN_UNUSED NoliStatus noli_sized_take(NoliContext* context, const char* what,
                                            const char* maker, const void* given, void* own,
                                            size_t own_size);

// Takes a list of `n` definitions, which all have the same size. `*own`, released with noli_free,
// is NULL where there are none.
NOLI_WARN_UNUSED NoliStatus noli_sized_take_list(NoliContext* context, const char* what,
                                                 const char* maker, const void* given, int32_t n,
                                                 const void* defaults, size_t own_size, void** own);

// Gives a list of `n` definitions of the library's size as one of `size`, which they then have.
// `*given`, released with noli_free, is NULL where there are none.
NOLI_WARN_UNUSED NoliStatus noli_sized_give_list(NoliContext* context, const void* own, int32_t n,
                                                 size_t own_size, size_t size, void** given);

// Gives a result: the beginning of `own` (own_size) to `given` (size; NULL: nowhere), zeros behind
// it.
void noli_sized_give(void* given, size_t size, const void* own, size_t own_size);
