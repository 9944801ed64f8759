/// @file noli.h
/// Everything: the toolkit (meshes, distances, barrier, CCD, broad phase) and the simulator.
#pragma once

#include "noli/barrier.h"
#include "noli/base.h"
#include "noli/mesh.h"
#include "noli/sim.h"
