// Lists of frames as collections of VTK, which ParaView opens as animations.
#pragma once

#include "output/frames/frame_format.h"

int noli_vtk_print_entry(NoliRunFrame frame, const char* file, char entry[NOLI_FRAME_ENTRY_SIZE]);
bool noli_vtk_scan_entry(const char* line, NoliRunFrame* frame);

// The list of a format whose frames are named frame_000012 and a suffix, in the file `name_`.
#define NOLI_VTK_COLLECTION(name_)                                                                 \
  {                                                                                                \
    .name = (name_),                                                                               \
    .begin = "<?xml version=\"1.0\"?>\n"                                                           \
             "<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n",                      \
    .separator = "", .end = "</Collection>\n</VTKFile>\n", .print = noli_vtk_print_entry,          \
    .scan = noli_vtk_scan_entry                                                                    \
  }
