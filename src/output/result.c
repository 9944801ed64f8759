#include "output/result.h"

#include "output/file.h"

NoliStatus noli_result_load(NoliContext* context, const char* directory, NoliScene** scene,
                            NoliSim** sim, NoliFrameLayout* layout, NoliFrameList* frames) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(noli_file_join(context, directory, "scene.json", &path));
  NOLI_CHECK(context, noli_file_exists(path), NOLI_ERROR_FORMAT,
             "%s: not a result of Noli: it has no scene.json", directory);
  NOLI_TRY(noli_scene_load(context, path, NULL, 0, scene));
  const NoliSimDef* def = noli_scene_sim_def(*scene);
  NOLI_TRY(noli_sim_create(context, def, sim));
  NOLI_TRY(noli_frame_layout_create(context, *sim, def, layout));
  frames->format = noli_frame_format_find(noli_scene_output(*scene).frame_format);
done:
  noli_free(context, path);
  return status;
}
