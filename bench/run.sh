#!/bin/sh
# Runs the benchmarks of a build: run.sh BUILD [OPTIONS OF noli_bench].
# Spinning threads stall each other on a shared machine, so they sleep unless the environment sets
# another policy; the loops are already parallel, so BLAS gets one thread.
set -eu
build=$1
shift
OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
export OMP_WAIT_POLICY OPENBLAS_NUM_THREADS
exec "$build/noli_bench" "$@"
