// Tables of derivatives, which a build without them (NOLI_DERIVATIVES=OFF) leaves out.
#pragma once

// The address of a table, or NULL where it is left out.
#ifdef NOLI_NO_DERIVATIVES
#define NOLI_DERIVATIVES_OF(table) NULL
#else
#define NOLI_DERIVATIVES_OF(table) (&(table))
#endif
