// Converts a scene of any format to a native one and prints it: IPC (.txt, .ipc), PolyFEM or Noli
// (.json).
#include <noli/import.h>
#include <stdio.h>

int main(int argc, char** argv) {
  NoliContext* context = NULL;
  NoliScene* scene = NULL;
  char* json = NULL;
  if (argc != 2) {
    fprintf(stderr, "usage: to_native SCENE\n");
    return 2;
  }
  NoliStatus status = noli_context_create(NULL, &context);
  if (status == NOLI_OK) {
    status = noli_import_load(context, argv[1], NULL, 0, &scene);
  }
  if (status == NOLI_OK) {
    // files are named relative to this folder, so that the result may be saved here
    status = noli_scene_json_in(scene, ".", &json);
  }
  if (status == NOLI_OK) {
    fputs(json, stdout);
  } else {
    fprintf(stderr, "%s\n", noli_context_message(context));
  }
  noli_scene_free_text(context, &json);
  noli_scene_destroy(&scene);
  noli_context_destroy(&context);
  return status == NOLI_OK ? 0 : 1;
}
