// Frames as VTK XML unstructured grids, listed in frames.pvd, which ParaView opens as an animation.
#include "output/frames/vtk_collection.h"
#include "output/frames/vtu.h"
#include "output/frames/vtu_reader.h"

const NoliFrameFormat noli_frame_format_vtu = {
    .name = "vtu",
    .suffix = ".vtu",
    .has_cells = true,
    .caches = true,
    .list = NOLI_VTK_COLLECTION("frames.pvd"),
    .write = noli_vtu_write,
    .read = noli_vtu_read,
};
