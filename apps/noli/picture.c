// `noli picture`: the page of a run, opened in a browser without a display that saves what it
// shows.
#define _XOPEN_SOURCE 700
#include "commands.h"
#include "console.h"
#include "page.h"

#include "noli/extend.h"
#include "noli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  PICTURE_OUTPUT,
  PICTURE_STEP,
  PICTURE_COLOUR,
  PICTURE_SIZE,
  PICTURE_ARROWS,
  PICTURE_EDGES,
  PICTURE_DARK,
  N_PICTURE_OPTIONS
};

static const Option picture_options[] = {
    [PICTURE_OUTPUT] = {"output", 'o', OPTION_TEXT, "FILE",
                        "the PNG file (default: DIR/picture.png)", 0, 0},
    [PICTURE_STEP] = {"step", 's', OPTION_INTEGER, "N",
                      "the frame of step N (default: the last one)", 0, 0},
    [PICTURE_COLOUR] = {"colour", 'c', OPTION_TEXT, "FIELD",
                        "body (default), von_mises, speed, contact_force, friction_force, "
                        "contact_pressure, displacement, distance, plastic_strain, slid or held",
                        0, 0},
    [PICTURE_SIZE] = {"size", 0, OPTION_TEXT, "WxH", "pixels (default 1280x800)", 0, 0},
    [PICTURE_ARROWS] = {"arrows", 0, OPTION_FLAG, "", "show contact forces", 0, 0},
    [PICTURE_EDGES] = {"edges", 0, OPTION_FLAG, "", "show edges", 0, 0},
    [PICTURE_DARK] = {"dark", 0, OPTION_FLAG, "", "on a dark background", 0, 0},
};

// Browsers that can do it, by the names that they have in distributions.
static const char* const browsers[] = {"chromium", "chromium-browser", "google-chrome",
                                       "google-chrome-stable"};
enum { N_BROWSERS = sizeof browsers / sizeof *browsers, NO_BROWSER = 127 };

// Most pixels along a side.
enum { LARGEST = 8192 };

// Milliseconds of the clock of the page after which a picture is taken, less where nothing is left
// to do.
static const char* const budgets[] = {"5000", "120000"};

// The picture that is asked for, and files on the way.
typedef struct Picture {
  const char* directory;
  const char* output;
  long width, height;
  char folder[64];     // temporary, with the page
  char page[96];       // in it
  char address[512];   // of the page, with what it shall show
  char shot[4096];     // argument with the file that the browser writes
  const char* part;    // that file
  char window[64];     // argument
  char profile[128];   // argument
  char complaint[512]; // of the page, "" for none
  bool drawn;          // the page said so
} Picture;

static NoliStatus read_size(NoliContext* context, const OptionValue* option, Picture* picture) {
  NoliStatus status = NOLI_OK;
  char* end = NULL;
  picture->width = 1280;
  picture->height = 800;
  if (option->given) {
    picture->width = strtol(option->text, &end, 10);
    picture->height = *end == 'x' ? strtol(end + 1, &end, 10) : 0;
    NOLI_CHECK(context,
               *end == '\0' && picture->width >= 16 && picture->width <= LARGEST &&
                   picture->height >= 16 && picture->height <= LARGEST,
               NOLI_ERROR_ARGUMENT, "--size %s: two numbers from 16 to %d, such as 1280x800",
               option->text, LARGEST);
  }
done:
  return status;
}

static NoliStatus prepare(NoliContext* context, const Arguments* arguments, Picture* picture) {
  NoliStatus status = NOLI_OK;
  const OptionValue* option = arguments->option;
  const char* root = getenv("TMPDIR");

  NOLI_TRY(read_size(context, &option[PICTURE_SIZE], picture));
  const char* colour = option[PICTURE_COLOUR].given ? option[PICTURE_COLOUR].text : "body";
  NOLI_CHECK(context, colour[strspn(colour, "abcdefghijklmnopqrstuvwxyz_")] == '\0',
             NOLI_ERROR_ARGUMENT, "--colour %s: the name of a field has letters only", colour);

  snprintf(picture->folder, sizeof picture->folder, "%s/noli-XXXXXX",
           root != NULL && strlen(root) < 40 ? root : "/tmp");
  NOLI_CHECK(context, mkdtemp(picture->folder) != NULL, NOLI_ERROR_IO,
             "%s: cannot make a temporary directory: %s", picture->folder, strerror(errno));

  snprintf(picture->page, sizeof picture->page, "%s/page.html", picture->folder);
  snprintf(picture->profile, sizeof picture->profile, "--user-data-dir=%s/profile",
           picture->folder);
  snprintf(picture->window, sizeof picture->window, "--window-size=%ld,%ld", picture->width,
           picture->height);
  snprintf(picture->shot, sizeof picture->shot, "--screenshot=%s.part.png", picture->output);
  picture->part = picture->shot + strlen("--screenshot=");
  int n = snprintf(picture->address, sizeof picture->address, "file://%s#picture&%s&colour=%s%s%s",
                   picture->page, option[PICTURE_DARK].given ? "dark" : "light", colour,
                   option[PICTURE_ARROWS].given ? "&arrows" : "",
                   option[PICTURE_EDGES].given ? "&edges" : "");
  if (option[PICTURE_STEP].given) {
    snprintf(picture->address + n, sizeof picture->address - (size_t)n, "&step=%lld",
             (long long)option[PICTURE_STEP].integer);
  } else {
    snprintf(picture->address + n, sizeof picture->address - (size_t)n, "&last");
  }
done:
  return status;
}

// In the child: becomes the browser; its messages go to `messages`.
static void become_browser(const Picture* picture, const char* budget, int messages) {
  char time[48];
  snprintf(time, sizeof time, "--virtual-time-budget=%s", budget);
  // Chromium refuses to run as root within its sandbox; the page comes from this program
  const char* sandbox = geteuid() == 0 ? "--no-sandbox" : "--no-first-run";
  int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(messages, STDERR_FILENO);
  for (int32_t k = 0; k < N_BROWSERS; k++) {
    execlp(browsers[k], browsers[k], "--headless=new", sandbox, "--use-gl=angle",
           "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars",
           "--enable-logging=stderr", time, picture->profile, picture->window, picture->shot,
           picture->address, (char*)NULL);
  }
  _exit(NO_BROWSER);
}

// Reads a line of the messages of the browser, among which are those of the page.
static void read_message(const char* line, Picture* picture) {
  static const char error[] = "noli: error: ";
  const char* found = strstr(line, error);
  picture->drawn = picture->drawn || strstr(line, "noli: drawn") != NULL;
  if (found != NULL) {
    const char* text = found + strlen(error);
    const char* end = strstr(text, "\", source:");
    int length = end != NULL ? (int)(end - text) : (int)strcspn(text, "\n");
    snprintf(picture->complaint, sizeof picture->complaint, "%.*s", length, text);
  }
}

// Runs the browser once. Fails with NOLI_ERROR_BACKEND where there is none.
static NoliStatus take(NoliContext* context, const char* budget, Picture* picture) {
  NoliStatus status = NOLI_OK;
  int ends[2] = {-1, -1}, outcome = 0;
  char line[2048];

  NOLI_CHECK(context, pipe(ends) == 0, NOLI_ERROR_IO, "cannot make a pipe: %s", strerror(errno));
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    become_browser(picture, budget, ends[1]);
  }

  close(ends[1]);
  FILE* messages = fdopen(ends[0], "r");
  while (child > 0 && messages != NULL && fgets(line, sizeof line, messages) != NULL) {
    read_message(line, picture);
  }
  if (messages != NULL) {
    fclose(messages);
  }
  NOLI_CHECK(context, child > 0 && waitpid(child, &outcome, 0) == child, NOLI_ERROR_IO,
             "cannot start a browser: %s", strerror(errno));
  NOLI_CHECK(context, !WIFEXITED(outcome) || WEXITSTATUS(outcome) != NO_BROWSER, NOLI_ERROR_BACKEND,
             "a picture needs Chromium, and there is none on the path: install it (sudo apt-get "
             "install chromium), or use scripts/render.py");
done:
  return status;
}

static NoliStatus make_picture(NoliContext* context, Console* console, Picture* picture) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(page_write(context, console, picture->directory, picture->page));
  for (size_t k = 0; k < sizeof budgets / sizeof *budgets && !picture->drawn; k++) {
    NOLI_TRY(take(context, budgets[k], picture));
    NOLI_CHECK(context, picture->complaint[0] == '\0', NOLI_ERROR_ARGUMENT, "%s: %s",
               picture->directory, picture->complaint);
  }
  NOLI_CHECK(context, picture->drawn && access(picture->part, R_OK) == 0, NOLI_ERROR_BACKEND,
             "Chromium has not drawn the page, or could not write %s", picture->part);
  NOLI_CHECK(context, rename(picture->part, picture->output) == 0, NOLI_ERROR_IO,
             "%s: cannot be written: %s", picture->output, strerror(errno));
done:
  return status;
}

static int remove_entry(const char* path, const struct stat* about, int kind, struct FTW* where) {
  (void)about;
  (void)kind;
  (void)where;
  return remove(path);
}

// Removes a directory of ours with all that the browser left in it.
static void remove_folder(const char* folder) {
  enum { DESCRIPTORS = 16 };
  if (folder[0] != '\0') {
    nftw(folder, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
  }
}

static int picture(const Arguments* arguments) {
  int exit_status = EXIT_DONE;
  const OptionValue* output = &arguments->option[PICTURE_OUTPUT];
  Console console = {0};
  NoliContext* context = console_context(&console, 0);
  char* made = output->given ? NULL : page_path(arguments->argument[0], "picture.png");
  Picture wanted = {.directory = arguments->argument[0],
                    .output = output->given ? output->text : made};
  if (context == NULL || wanted.output == NULL) {
    free(made);
    return EXIT_SYSTEM;
  }
  NoliStatus status = prepare(context, arguments, &wanted);
  if (status == NOLI_OK) {
    status = make_picture(context, &console, &wanted);
    unlink(wanted.part);
  }
  if (status == NOLI_OK) {
    print("picture: %s\n", wanted.output);
  } else {
    exit_status = console_fail(&console, context, status);
  }

  remove_folder(wanted.folder);
  noli_context_destroy(&context);
  free(made);
  return exit_status;
}

const Command command_picture = {
    .name = "picture",
    .usage = "DIR",
    .summary = "Save a picture of a run.",
    .details = "Draws a frame of a result directory as `noli view` shows it, without a display,\n"
               "to a PNG file. Needs Chromium.",
    .n_arguments = 1,
    .options = picture_options,
    .n_options = N_PICTURE_OPTIONS,
    .run = picture,
};
