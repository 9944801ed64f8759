// .seg: `v x y z` and `s i j` with indices from 1. .pt: `v x y z`, every vertex a point.
#include "mesh/formats/io.h"

static NoliStatus seg_read_vertex(NoliCursor* cursor, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  double* x = NULL;
  NOLI_TRY(noli_parts_add_vertices(cursor->context, parts, 1, &x));
  NOLI_TRY(noli_read_position_here(cursor, x));
done:
  return status;
}

static NoliStatus read_segment(NoliCursor* cursor, int64_t n_vert, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  int32_t edge[2];
  for (int i = 0; i < 2; i++) {
    int64_t index = 0;
    NOLI_TRY(noli_read_integer_here(cursor, "a vertex of the segment", 1, n_vert, &index));
    edge[i] = (int32_t)(index - 1);
  }
  NOLI_TRY(noli_parts_add_cell(cursor->context, parts, 2, edge, 0));
done:
  return status;
}

// Reads lines that begin with v and, if allowed, s.
static NoliStatus read_lines(NoliCursor* cursor, NoliMeshParts* parts, bool with_segments) {
  NoliStatus status = NOLI_OK;
  // count the vertices first: segments may name later ones
  int64_t n_vert = noli_count_statements(cursor, 'v');
  NOLI_CHECK(cursor->context, n_vert <= INT32_MAX, NOLI_ERROR_TOO_LARGE, "%s: %lld vertices",
             cursor->path, (long long)n_vert);

  for (; cursor->at < cursor->end; noli_skip_line(cursor)) {
    NoliSpan word = noli_next_word(cursor);
    if (word.n == 0 || word.at[0] == '#') {
      continue;
    }
    if (noli_span_is(word, "v")) {
      NOLI_TRY(seg_read_vertex(cursor, parts));
    } else if (with_segments && noli_span_is(word, "s")) {
      NOLI_TRY(read_segment(cursor, n_vert, parts));
    } else {
      status = noli_cursor_fail(cursor, word.at, "expected %s, got %s",
                                with_segments ? "v or s" : "v", noli_show(word).text);
      goto done;
    }
    NoliSpan rest = noli_next_word(cursor);
    if (rest.n > 0 && rest.at[0] != '#') {
      status = noli_cursor_fail(cursor, rest.at, "expected the end of the line, got %s",
                                noli_show(rest).text);
      goto done;
    }
  }
done:
  return status;
}

NoliStatus noli_seg_read(NoliCursor* cursor, NoliMeshParts* parts) {
  return read_lines(cursor, parts, true);
}

NoliStatus noli_pt_read(NoliCursor* cursor, NoliMeshParts* parts) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(read_lines(cursor, parts, false));
  for (int32_t v = 0; v < noli_parts_n_vert(parts); v++) {
    NOLI_TRY(noli_parts_add_cell(cursor->context, parts, 1, &v, 0));
  }
done:
  return status;
}
