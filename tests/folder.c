// Apart from support.h because chdir is no function of C17, in which tests are written.
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <unistd.h>

void test_enter_folder(void) {
  if (chdir(TEST_FOLDER) != 0) {
    perror(TEST_FOLDER);
    exit(1);
  }
}
