// Loaded before a program (LD_PRELOAD): libraries stay loaded until it ends, so that LeakSanitizer,
// which looks afterwards, can name those of MPI that have not freed their memory (leaks.supp).
int dlclose(void* handle);

int dlclose(void* handle) {
  (void)handle;
  return 0;
}
