/// @file output.h
/// Files of a simulation: a frame for ParaView (VTU), and a checkpoint (HDF5) from which it can be
/// continued exactly. Files are written under a temporary name and renamed, so that a reader never
/// sees an incomplete file and a full disk never destroys an existing one.
///
/// Contexts in several threads may save and load checkpoints at the same time: calls of HDF5 share
/// one lock. A host that calls HDF5 in another thread at the same time needs a thread-safe HDF5.
#pragma once

#include "noli/repair.h"
#include "noli/scene.h"
#include "noli/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Writes the present state as a VTK XML unstructured grid: tetrahedra, obstacle triangles,
/// segments and points as cells. Point data: `displacement` (m), `velocity` (m/s), `body`,
/// `contact_force` and `friction_force` (N, of the last accepted step). Cell data: `von_mises`
/// (Pa, 0 for obstacles; triangles of collision proxies have that of the elements around them),
/// `body`, `tag`; in scenes with shells `membrane_force` and `bending_moment` (NoliSheetForces),
/// with rods `rod_tension`, `rod_bending` and `rod_twist` (NoliRodForces), with twist `rod_angle`
/// (rad) and `rod_angle_rate` (rad/s), with elliptic sections `rod_normal` (the unit vector along
/// the first axis now), 0 in cells of other bodies. The angles of rods, which the simulation
/// numbers as nodes, are no points of the grid. Positions are doubles, the other reals floats;
/// blocks are compressed with zlib. `TimeValue` is the simulated time in seconds. `def` is the
/// definition the simulation was made from, for the tags of its cells; NULL: tags 0. Fails with
/// NOLI_ERROR_IO (the message has the path and the reason; an older file at `path` is untouched),
/// NOLI_ERROR_ARGUMENT when `def` does not fit the simulation, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_output_write_vtu(NoliContext* context, NoliSim* sim,
                                                           const NoliSimDef* def, const char* path);

/// Writes a picture of initial defects, as noli_sim_check found them (n_defects) in `def`: a VTK
/// XML unstructured grid with the primitives of each and a vertex where they meet. Cell
/// data: `defect` (number in the list), `kind` (of NoliDefect), `body` (-1 for the meeting
/// point), `distance` (m). Nodes and vertices of proxies that the mesh of a body does not have are
/// left out. Fails with NOLI_ERROR_IO (an older file at `path` is untouched), NOLI_ERROR_TOO_LARGE,
/// NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_output_write_defects(NoliContext* context,
                                                               const NoliSimDef* def,
                                                               const NoliDefect* defects,
                                                               int64_t n_defects, const char* path);

/// Writes the page of a scene before it runs, also of one that does not start: bodies and obstacles
/// where they begin, prescribed vertices, loads and probes marked, where obstacles and prescribed
/// vertices will be after each quarter of the duration, initial defects as noli_sim_check finds
/// them, and gaps below the contact distance (docs/howto/view.md). Fails with NOLI_ERROR_IO (an
/// older file at `path` is untouched), NOLI_ERROR_MEMORY, or as noli_sim_check.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_output_write_scene_page(NoliContext* context,
                                                                  const NoliScene* scene,
                                                                  const char* path);

/// Writes the page of a run: one HTML file that a browser opens from the disk, without server or
/// network, with the frames, histories, log and scene of the result directory (docs/howto/view.md).
/// Runs that have not ended have a page too. Positions on it are rounded to 1/65535 of the box of
/// 16 frames, 256 times finer near other surfaces, stresses and speeds to 1/255, components of
/// forces to 1/127 of the largest. Fails with NOLI_ERROR_FORMAT when the directory is not a result
/// of Noli, NOLI_ERROR_ARGUMENT when its scene cannot be rebuilt, NOLI_ERROR_IO (an older file at
/// `path` is untouched), NOLI_ERROR_BACKEND when zlib fails, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_output_write_page(NoliContext* context,
                                                            const char* directory,
                                                            const char* path);

/// Called after each frame of a page: `done` of `n_frames`.
typedef void NoliPageProgressFn(void* user, int64_t done, int64_t n_frames);

typedef struct NoliPageOptions {
  NoliPageProgressFn* progress; ///< NULL: none
  void* user;                   ///< passed to it
} NoliPageOptions;

/// Does the work of noli_output_write_page with options, NULL for none.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_output_write_page_with(NoliContext* context,
                                                                 const char* directory,
                                                                 const char* path,
                                                                 const NoliPageOptions* options);

/// Writes the report of a run: one HTML page to read and to print, with six pictures, what was
/// simulated, histories, forces by pair, where the time went, warnings, and the result of an audit
/// of the directory (noli_run_audit), which this call performs. Fails as noli_output_write_page.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_output_write_report(NoliContext* context,
                                                              const char* directory,
                                                              const char* path);

/// Writes zero-terminated text, such as that of noli_scene_json, to a file. Fails with
/// NOLI_ERROR_IO (an older file at `path` is untouched), NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_output_write_text(NoliContext* context, const char* path,
                                                            const char* text);

/// Writes a scene as noli_scene_json does, with the start that a repair of its definition found:
/// bodies that were only translated, and whose place nothing else in the scene refers to, get
/// another `translate`; for others the key `start` names a file `NAME_BODY_start.vtk` beside
/// `path`, which ends in `.json`. The new scene is read and passes noli_sim_check before anything
/// stays: otherwise no file does. Fails with NOLI_ERROR_IO, NOLI_ERROR_ARGUMENT,
/// NOLI_ERROR_INTERSECTION when rounding brings defects back, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_output_write_repaired(NoliContext* context,
                                                                const NoliScene* scene,
                                                                const NoliRepair* repair,
                                                                const char* path);

/// Writes a scene as noli_scene_json does, with the parameters that follow from `variables` of its
/// design (noli_scene_design, noli_design_create) in place of its own, and without the design:
/// numbers at their keys, rest and initial positions as lists. Fails with NOLI_ERROR_ARGUMENT where
/// a scene has no place for a parameter, such as a modulus of each element, NOLI_ERROR_IO,
/// NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_output_write_design(NoliContext* context,
                                                              const NoliScene* scene,
                                                              const NoliDesign* design,
                                                              const double* variables,
                                                              const char* path);

/// Saves every bit of the state of `sim` (all of noli_sim_state_field, the time, the number of
/// steps and a hash), a description of its model, and a copy of `scene_json` (may be NULL) to an
/// HDF5 file. Fails with NOLI_ERROR_IO (an older file at `path` is untouched), NOLI_ERROR_BACKEND
/// when HDF5 fails, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_checkpoint_save(NoliContext* context, NoliSim* sim,
                                                          const char* scene_json, const char* path);

/// Restores a checkpoint into a simulation made from the same definition.
/// The model (cells, their division into parts, and rest shape of each body, up to rounding),
/// names, types and sizes of all fields are checked before any is changed, the hash afterwards.
/// Materials, friction, motions, loads and half-spaces may differ from those of the saved
/// simulation. Fails with NOLI_ERROR_IO, or NOLI_ERROR_FORMAT when the file is damaged or belongs
/// to another model; unless the hash is wrong, the simulation is unchanged.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_checkpoint_load(NoliContext* context, NoliSim* sim,
                                                          const char* path);

/// noli_checkpoint_save to memory instead of a file: `*bytes`, released with noli_free, and their
/// number.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_checkpoint_to_memory(NoliContext* context, NoliSim* sim,
                                                               const char* scene_json, void** bytes,
                                                               size_t* size);

/// noli_checkpoint_load from memory: the bytes of noli_checkpoint_to_memory or of a file.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_checkpoint_from_memory(NoliContext* context, NoliSim* sim,
                                                                 const void* bytes, size_t size);

/// Description of a checkpoint.
typedef struct NoliCheckpointInfo {
  char version[32]; ///< of the library that wrote it
  int64_t step;     ///< number of steps done
  double time;      ///< s
  uint64_t hash;    ///< of the state
  char* scene_json; ///< owned; released with noli_checkpoint_info_free; NULL if none was given
} NoliCheckpointInfo;

/// noli_checkpoint_info for a struct of `size` bytes.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_checkpoint_info_sized(NoliContext* context,
                                                                const char* path,
                                                                NoliCheckpointInfo* info,
                                                                size_t size);

/// Reads the description of a checkpoint. Fails with NOLI_ERROR_IO or NOLI_ERROR_FORMAT.
static inline NOLI_WARN_UNUSED NoliStatus noli_checkpoint_info(NoliContext* context,
                                                               const char* path,
                                                               NoliCheckpointInfo* info) {
  return noli_checkpoint_info_sized(context, path, info, sizeof *info);
}
/// Releases what the description owns.
NOLI_API void noli_checkpoint_info_free(NoliContext* context, NoliCheckpointInfo* info);

#ifdef __cplusplus
}
#endif
