#include "output/frames/vtk_collection.h"

#include <stdio.h>

int noli_vtk_print_entry(NoliRunFrame frame, const char* file, char entry[NOLI_FRAME_ENTRY_SIZE]) {
  return snprintf(entry, NOLI_FRAME_ENTRY_SIZE,
                  "<DataSet timestep=\"%.17g\" group=\"\" part=\"0\" file=\"%s\"/>\n", frame.time,
                  file);
}

bool noli_vtk_scan_entry(const char* line, NoliRunFrame* frame) {
  long long step;
  bool good = sscanf(line, "<DataSet timestep=\"%lf\" group=\"\" part=\"0\" file=\"frame_%lld",
                     &frame->time, &step) == 2;
  frame->step = good ? step : -1;
  return good;
}
