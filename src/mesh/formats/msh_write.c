// Writes Gmsh .msh 4.1 as text: entities carry the tags.
#include "base/sort.h"
#include "math/lagrange.h"
#include "mesh/curve.h"
#include "mesh/formats/io.h"

// A kind of cell as Gmsh sees it.
typedef struct WrittenKind {
  const int32_t* vertex;
  const int32_t* tag; // NULL if untagged
  int32_t n;
  int32_t width;
  int32_t dimension;
  int32_t type;
  const int32_t* curve; // (n x n_curve) additional nodes, numbered after the vertices
  int32_t n_curve;
} WrittenKind;

enum { N_KIND = 4 };

static void written_kinds(const NoliMesh* mesh, WrittenKind kinds[N_KIND]) {
  static const int32_t tet_types[] = {4, 4, 11, 29, 30};
  kinds[0] =
      (WrittenKind){mesh->tet, mesh->tet_tag, mesh->n_tet, 4, 3, tet_types[mesh->order], NULL, 0};
  kinds[0].curve = mesh->curve;
  kinds[0].n_curve = noli_tet_nodes(noli_mesh_order(mesh)) - 4;
  kinds[1] = (WrittenKind){mesh->tri, mesh->tri_tag, mesh->n_tri, 3, 2, 2, NULL, 0};
  kinds[2] = (WrittenKind){mesh->edge, NULL, mesh->n_edge, 2, 1, 1, NULL, 0};
  kinds[3] = (WrittenKind){mesh->point, NULL, mesh->n_point, 1, 0, 15, NULL, 0};
}

static int32_t tag_of(const WrittenKind* kind, int32_t cell) {
  return kind->tag != NULL ? kind->tag[cell] : 0;
}

// The end of the run of equal tags that begins at `cell`.
static int32_t run_end(const WrittenKind* kind, int32_t cell) {
  int32_t end = cell + 1;
  while (end < kind->n && tag_of(kind, end) == tag_of(kind, cell)) {
    end++;
  }
  return end;
}

typedef struct TagList {
  int32_t* tag;
  int64_t n;
} TagList;

// Lists the distinct tags of a kind in order; an entity's number is 1 + the position of its tag.
static NoliStatus list_tags(NoliContext* context, const WrittenKind* kind, TagList* list) {
  NoliStatus status = NOLI_OK;
  int64_t n_list = kind->n > 0 ? kind->n : 1;
  NOLI_NEW(context, list->tag, n_list);
  int64_t n = 0;
  for (int32_t c = 0; c < kind->n; c = run_end(kind, c)) {
    list->tag[n++] = tag_of(kind, c);
  }
  noli_sort(list->tag, n, sizeof *list->tag, noli_compare_int32);
  list->n = 0;
  for (int64_t i = 0; i < n; i++) {
    if (list->n == 0 || list->tag[list->n - 1] != list->tag[i]) {
      list->tag[list->n++] = list->tag[i];
    }
  }
done:
  return status;
}

static int64_t entity_of(const TagList* list, int32_t tag) {
  const int32_t* found = noli_find_sorted(&tag, list->tag, list->n, sizeof tag, noli_compare_int32);
  return 1 + (found - list->tag);
}

// Lowest and highest coordinates of all vertices.
static void find_bounds(const NoliMesh* mesh, double bounds[6]) {
  for (int64_t i = 0; i < 3 * (int64_t)mesh->n_vert; i++) {
    double x = mesh->x[i];
    double *low = &bounds[i % 3], *high = &bounds[3 + i % 3];
    *low = i < 3 || x < *low ? x : *low;
    *high = i < 3 || x > *high ? x : *high;
  }
}

// Entities serve only to carry tags.
static void put_entities(NoliTextFile* file, const NoliMesh* mesh, const TagList lists[N_KIND]) {
  double bounds[6] = {0.0};
  find_bounds(mesh, bounds);
  noli_put_text(file, "$Entities\n%lld %lld %lld %lld\n", (long long)lists[3].n,
                (long long)lists[2].n, (long long)lists[1].n, (long long)lists[0].n);
  for (int kind = N_KIND - 1; kind >= 0; kind--) {
    for (int64_t i = 0; i < lists[kind].n; i++) {
      noli_put_text(file, "%lld ", (long long)(i + 1));
      noli_put_numbers(file, bounds, kind == 3 ? 3 : 6);
      int32_t tag = lists[kind].tag[i];
      if (tag != 0) {
        noli_put_text(file, " 1 %d", tag);
      } else {
        noli_put_text(file, " 0");
      }
      noli_put_text(file, kind == 3 ? "\n" : " 0\n");
    }
  }
  noli_put_text(file, "$EndEntities\n");
}

static void put_nodes(NoliTextFile* file, const NoliMesh* mesh, int32_t dimension) {
  long long n = (long long)mesh->n_vert + mesh->n_curve;
  noli_put_text(file, "$Nodes\n1 %lld 1 %lld\n%d 1 0 %lld\n", n, n, dimension, n);
  for (long long v = 0; v < n; v++) {
    noli_put_text(file, "%lld\n", v + 1);
  }
  noli_put_positions(file, "", mesh->n_vert, mesh->x);
  noli_put_positions(file, "", mesh->n_curve, mesh->curve_x);
  noli_put_text(file, "$EndNodes\n");
}

// One block for each run of cells of equal kind and tag keeps the order of the cells.
static void put_elements(NoliTextFile* file, int32_t n_vert, const WrittenKind kinds[N_KIND],
                         const TagList lists[N_KIND]) {
  int64_t n_block = 0, n_element = 0;

  // count
  for (int kind = 0; kind < N_KIND; kind++) {
    n_element += kinds[kind].n;
    for (int32_t c = 0; c < kinds[kind].n; c = run_end(&kinds[kind], c)) {
      n_block++;
    }
  }
  noli_put_text(file, "$Elements\n%lld %lld %d %lld\n", (long long)n_block, (long long)n_element,
                n_element > 0, (long long)n_element);

  // blocks
  int64_t number_of_element = 1;
  for (int k = 0; k < N_KIND; k++) {
    const WrittenKind* kind = &kinds[k];
    for (int32_t c = 0, end = 0; c < kind->n; c = end) {
      end = run_end(kind, c);
      noli_put_text(file, "%d %lld %d %d\n", kind->dimension,
                    (long long)entity_of(&lists[k], tag_of(kind, c)), kind->type, end - c);
      for (int32_t i = c; i < end; i++) {
        noli_put_text(file, "%lld", (long long)number_of_element++);
        noli_put_indices(file, kind->vertex + (int64_t)i * kind->width, kind->width, 1);
        if (kind->n_curve > 0) {
          noli_put_indices(file, kind->curve + (int64_t)i * kind->n_curve, kind->n_curve,
                           n_vert + 1);
        }
        noli_put_text(file, "\n");
      }
    }
  }
  noli_put_text(file, "$EndElements\n");
}

NoliStatus noli_msh_write(NoliTextFile* file, const NoliMesh* mesh) {
  NoliStatus status = NOLI_OK;
  WrittenKind kinds[N_KIND];
  TagList lists[N_KIND] = {{NULL, 0}};
  written_kinds(mesh, kinds);
  int32_t dimension = 0;
  for (int kind = 0; kind < N_KIND; kind++) {
    NOLI_TRY(list_tags(file->context, &kinds[kind], &lists[kind]));
    if (kinds[kind].n > 0 && kinds[kind].dimension > dimension) {
      dimension = kinds[kind].dimension;
    }
  }
  noli_put_text(file, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n");
  if (mesh->tet_tag != NULL || mesh->tri_tag != NULL) {
    put_entities(file, mesh, lists);
  }
  put_nodes(file, mesh, dimension);
  put_elements(file, mesh->n_vert, kinds, lists);
done:
  for (int kind = 0; kind < N_KIND; kind++) {
    noli_free(file->context, lists[kind].tag);
  }
  return status;
}
