// Text of users that goes to terminals and logs.
#include "noli/extend.h"

// Bytes of the UTF-8 character at `text`; 0: there is none.
static int length_of(const unsigned char* text) {
  unsigned char first = text[0];
  int n = first < 0x80                    ? 1
          : first >= 0xc2 && first < 0xe0 ? 2
          : first >= 0xe0 && first < 0xf0 ? 3
          : first >= 0xf0 && first < 0xf5 ? 4
                                          : 0;
  for (int i = 1; i < n; i++) {
    if (text[i] < 0x80 || text[i] >= 0xc0) {
      return 0;
    }
  }
  return n;
}

// Whether a character of one byte (first block of Unicode) or two (second block) is a control one.
static bool is_control(const unsigned char* text, int n) {
  bool line = text[0] == '\n' || text[0] == '\t';
  return n == 1 ? (text[0] < 0x20 && !line) || text[0] == 0x7f
                : n == 2 && text[0] == 0xc2 && text[1] < 0xa0;
}

void noli_make_printable(char* text) {
  unsigned char* at = (unsigned char*)text;
  while (at != NULL && *at != '\0') {
    int n = length_of(at);
    bool good = n > 0 && !is_control(at, n);
    n = n > 0 ? n : 1;
    for (int i = 0; i < n && !good; i++) {
      at[i] = '?';
    }
    at += n;
  }
}
