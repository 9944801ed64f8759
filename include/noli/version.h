/// @file version.h
/// The version of the headers. CMake, pkg-config and the library take theirs from here.
///
/// Versions follow Semantic Versioning. docs/reference/api.md says what a program may rely on from
/// one version to the next.
#pragma once

/// Increases when programs must change.
#define NOLI_VERSION_MAJOR 0
/// Increases with new features.
#define NOLI_VERSION_MINOR 2
/// Increases with corrections.
#define NOLI_VERSION_PATCH 0

/// Number in the name of the shared library, libnoli.so.1: increases with the first release that
/// programs of former ones cannot be run with. Growing structs and new functions do not change it.
#define NOLI_ABI_VERSION 1

/// A version as one number that increases with it, for `#if NOLI_VERSION_NUMBER >= ...`.
#define NOLI_MAKE_VERSION(major, minor, patch) (1000000 * (major) + 1000 * (minor) + (patch))
/// The version of the headers as such a number.
#define NOLI_VERSION_NUMBER                                                                        \
  NOLI_MAKE_VERSION(NOLI_VERSION_MAJOR, NOLI_VERSION_MINOR, NOLI_VERSION_PATCH)

#define NOLI_QUOTE_(text) #text
#define NOLI_QUOTE(text) NOLI_QUOTE_(text)
/// The version of the headers as text, "MAJOR.MINOR.PATCH".
#define NOLI_VERSION                                                                               \
  NOLI_QUOTE(NOLI_VERSION_MAJOR)                                                                   \
  "." NOLI_QUOTE(NOLI_VERSION_MINOR) "." NOLI_QUOTE(NOLI_VERSION_PATCH)
