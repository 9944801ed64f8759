// checkpoint.h5: the complete state of a simulation.
//
// The HDF5 file is made in memory and written by noli_file_replace, so that every write is checked
// and a full disk leaves the previous file. 512 bytes stand before the HDF5 signature (a "user
// block", which every HDF5 reader skips): a line with the length and the CRC-32 of what follows.
// Damage is found there, before the HDF5 library sees a single byte.
//
//   /            attributes: format, noli, step, time, hash
//   /state/NAME  one data set per noli_sim_state_field
//   /model       for each body what its state belongs to (model/fingerprint.h)
//   /files       digest and path of each file that the scene refers to, a line each
//   /scene       JSON text of the scene as run
//   /summary     JSON text of the totals so far
#pragma once

#include "noli/output.h"

// noli_checkpoint_save with the totals of a run and the files that its scene read (run_files.h);
// all three texts may be NULL.
NOLI_WARN_UNUSED NoliStatus noli_checkpoint_write(NoliContext* context, NoliSim* sim,
                                                  const char* scene_json, const char* summary_json,
                                                  const char* files, const char* path);

// A text of a checkpoint ("scene", "summary", "files"), owned by the caller; NULL if it has none.
NOLI_WARN_UNUSED NoliStatus noli_checkpoint_read_text(NoliContext* context, const char* path,
                                                      const char* name, char** text);

// Validator of the layout of a checkpoint (base/validate.h): fields (n_fields) of a state.
const char* noli_checkpoint_layout_defect(const NoliStateField* fields, int32_t n_fields);
