/// @file noli.h
/// Everything: the toolkit (meshes, distances, barrier, CCD, broad phase) and the simulator.
#pragma once

#include "noli/audit.h"
#include "noli/barrier.h"
#include "noli/batch.h"
#include "noli/base.h"
#include "noli/broad_phase.h"
#include "noli/intersection.h"
#include "noli/ccd.h"
#include "noli/choice.h"
#include "noli/distance.h"
#include "noli/extend.h"
#include "noli/gcp.h"
#include "noli/live.h"
#include "noli/mesh.h"
#include "noli/repair.h"
#include "noli/sim.h"
#include "noli/scene.h"
#include "noli/output.h"
#include "noli/run.h"
#include "noli/types.h"
#include "noli/version.h"
