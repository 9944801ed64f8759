#include "text/locate.h"

#include <string.h>

typedef struct Scanner {
  const char* at;
  const char* end;
  int32_t line;
} Scanner;

static char peek(const Scanner* scanner) {
  return scanner->at < scanner->end ? *scanner->at : '\0';
}

static void locate_advance(Scanner* scanner) {
  if (scanner->at < scanner->end) {
    scanner->line += *scanner->at == '\n';
    scanner->at++;
  }
}

static void skip_space(Scanner* scanner) {
  while (scanner->at < scanner->end && strchr(" \t\r\n", *scanner->at) != NULL &&
         *scanner->at != '\0') {
    locate_advance(scanner);
  }
}

// Consumes the wanted character, with the space before and after it.
static bool accept(Scanner* scanner, char wanted) {
  skip_space(scanner);
  if (peek(scanner) != wanted) {
    return false;
  }
  locate_advance(scanner);
  skip_space(scanner);
  return true;
}

static int32_t hex_digits(const Scanner* scanner) {
  int32_t value = 0;
  for (int i = 0; i < 4 && scanner->at + i < scanner->end; i++) {
    char c = scanner->at[i];
    int32_t digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : 0;
    value = 16 * value + digit;
  }
  return value;
}

// Writes the UTF-8 form of a code point and returns its length.
static int utf8(int32_t code, char out[4]) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  int n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (int i = n - 1; i > 0; i--) {
    out[i] = (char)(0x80 | (code & 0x3f));
    code >>= 6;
  }
  out[0] = (char)((0xf00 >> n) | code);
  return n;
}

// Decodes what follows a backslash.
static int unescape(Scanner* scanner, char out[4]) {
  static const char from[] = "bfnrt";
  static const char to[] = "\b\f\n\r\t";
  char c = peek(scanner);
  locate_advance(scanner);
  if (c == 'u') {
    int32_t code = hex_digits(scanner);
    for (int i = 0; i < 4; i++) {
      locate_advance(scanner);
    }
    // the second half of a surrogate pair
    if (code >= 0xd800 && code < 0xdc00 && peek(scanner) == '\\') {
      locate_advance(scanner);
      locate_advance(scanner);
      code = 0x10000 + ((code - 0xd800) << 10) + ((hex_digits(scanner) - 0xdc00) & 0x3ff);
      for (int i = 0; i < 4; i++) {
        locate_advance(scanner);
      }
    }
    return utf8(code, out);
  }
  const char* found = c != '\0' ? strchr(from, c) : NULL;
  out[0] = found != NULL ? to[found - from] : c;
  return 1;
}

// Consumes a string and returns whether it equals `wanted` (NULL: false).
static bool string_equals(Scanner* scanner, const char* wanted) {
  bool equal = wanted != NULL;
  size_t rest = equal ? strlen(wanted) : 0;
  locate_advance(scanner);
  while (scanner->at < scanner->end && *scanner->at != '"') {
    char bytes[4];
    int n = 1;
    bytes[0] = *scanner->at;
    locate_advance(scanner);
    if (bytes[0] == '\\') {
      n = unescape(scanner, bytes);
    }
    equal = equal && rest >= (size_t)n && memcmp(wanted, bytes, (size_t)n) == 0;
    if (equal) {
      wanted += n;
      rest -= (size_t)n;
    }
  }
  locate_advance(scanner);
  return equal && rest == 0;
}

// Consumes a value of any kind without recursion, so that depth costs nothing.
static void skip_value(Scanner* scanner) {
  int64_t depth = 0;
  skip_space(scanner);
  while (scanner->at < scanner->end) {
    char c = *scanner->at;
    if (c == '"') {
      (void)string_equals(scanner, NULL);
    } else if (depth == 0 && (c == ',' || c == ']' || c == '}')) {
      return;
    } else {
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
      locate_advance(scanner);
    }
    if (depth == 0 && (c == '"' || c == '}' || c == ']')) {
      return;
    }
  }
}

// Moves to the value of member `key`; `*line` becomes the line of the key.
static bool enter_member(Scanner* scanner, const char* key, int32_t* line) {
  if (!accept(scanner, '{')) {
    return false;
  }
  while (peek(scanner) == '"') {
    int32_t key_line = scanner->line;
    bool found = string_equals(scanner, key);
    if (!accept(scanner, ':')) {
      return false;
    }
    if (found) {
      *line = key_line;
      return true;
    }
    skip_value(scanner);
    if (!accept(scanner, ',')) {
      return false;
    }
  }
  return false;
}

static bool enter_item(Scanner* scanner, size_t index, int32_t* line) {
  if (!accept(scanner, '[')) {
    return false;
  }
  for (size_t i = 0; i < index; i++) {
    skip_value(scanner);
    if (!accept(scanner, ',')) {
      return false;
    }
  }
  if (peek(scanner) == ']' || peek(scanner) == '\0') {
    return false;
  }
  *line = scanner->line;
  return true;
}

int32_t noli_scene_locate(const char* text, size_t size, const NoliSceneStep* steps,
                          int32_t n_steps, bool* found) {
  Scanner scanner = {.at = text, .end = text + size, .line = 1};
  skip_space(&scanner);
  int32_t line = scanner.line;
  *found = true;
  for (int32_t i = 0; i < n_steps && *found; i++) {
    *found = steps[i].key != NULL ? enter_member(&scanner, steps[i].key, &line)
                                  : enter_item(&scanner, steps[i].index, &line);
  }
  return line;
}
