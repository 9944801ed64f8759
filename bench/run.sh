#!/bin/sh
# Runs the benchmarks of a build: run.sh BUILD [OPTIONS OF noli_bench].
# Threads that spin while they wait stall each other where other programs use the cores too, so they
# sleep unless told otherwise; the loops are parallel already, so BLAS gets one thread.
set -eu
build=$1
shift
OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
export OMP_WAIT_POLICY OPENBLAS_NUM_THREADS
exec "$build/noli_bench" "$@"
