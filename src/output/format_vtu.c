// Frames as VTK XML unstructured grids, listed in frames.pvd, which ParaView opens as an animation.
#include "output/frame_format.h"
#include "output/vtu.h"
#include "output/vtu_reader.h"

#include <stdio.h>

static int print_entry(NoliRunFrame frame, const char* file, char entry[NOLI_FRAME_ENTRY_SIZE]) {
  return snprintf(entry, NOLI_FRAME_ENTRY_SIZE,
                  "<DataSet timestep=\"%.17g\" group=\"\" part=\"0\" file=\"%s\"/>\n", frame.time,
                  file);
}

static bool scan_entry(const char* line, NoliRunFrame* frame) {
  long long step;
  bool good = sscanf(line, "<DataSet timestep=\"%lf\" group=\"\" part=\"0\" file=\"frame_%lld.vtu",
                     &frame->time, &step) == 2;
  frame->step = good ? step : -1;
  return good;
}

const NoliFrameFormat noli_frame_format_vtu = {
    .name = "vtu",
    .suffix = ".vtu",
    .has_cells = true,
    .list = {.name = "frames.pvd",
             .begin = "<?xml version=\"1.0\"?>\n"
                      "<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n",
             .separator = "",
             .end = "</Collection>\n</VTKFile>\n",
             .print = print_entry,
             .scan = scan_entry},
    .write = noli_vtu_write,
    .read = noli_vtu_read,
};
