// How the surfaces of bodies and obstacles look (mesh/looks.h), for results in other formats.
#pragma once

#include "mesh/looks.h"
#include "noli/scene.h"
#include "text/node.h"

// Looks of a body, in the coordinates of its file: surfaces are found by the positions of vertices.
typedef struct NoliSceneLooks {
  NoliMeshLooks looks; // no triangles: it has none
  char* folder;        // of the file, where names of its files begin
  int32_t n_vert;
  double* x; // (n_vert x 3) of the vertices of the body
  int32_t n_proxy;
  double* proxy_x; // (n_proxy x 3) of those of its proxy
} NoliSceneLooks;

// Notes the file of an entry of "bodies" or "obstacles", if it names one. Fails, located, where it
// cannot be read.
NOLI_WARN_UNUSED NoliStatus noli_scene_note_appearance(const NoliSceneSource* source,
                                                       const NoliSceneNode* entry);

// Reads those of the `body`-th body or obstacle: of the file "appearance", of its proxy or its
// mesh.
NOLI_WARN_UNUSED NoliStatus noli_scene_read_looks(const NoliScene* scene, int32_t body,
                                                  NoliSceneLooks* looks);
void noli_scene_free_looks(NoliContext* context, NoliSceneLooks* looks);
