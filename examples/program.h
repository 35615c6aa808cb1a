/* program.h - functions that the example programs share: their standard files, --help and
 * --version, a clock, words for a shell, and the names of directories. */
#ifndef HEED_EXAMPLES_PROGRAM_H
#define HEED_EXAMPLES_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Opens /dev/null as stdin, stdout or stderr if it is closed. Otherwise the next opened file would
 * take its place, and messages would go into that file. A program that writes files calls this
 * first. */
void open_standard_files(void);

/* Flushes stdout. If a part could not be written, says so on stderr and returns false. */
bool stdout_written(const char *program);

/* Prints the help, or the version of heed, if --help or --version is the only argument. Returns the
 * exit status, or -1 if the arguments are others. */
int about_status(int argc, char **argv, const char *program, const char *help);

double seconds_now(void); /* on a clock that never goes back */

enum { SHELL_WORD = 4 * 4096 + 3 }; /* has room for every path */

/* Writes text to out as one word of a shell's command line, in quotes if it needs them. Returns
 * out. */
const char *shell_word(const char *text, char out[SHELL_WORD]);

/* The number of bytes of a directory's name without the slashes at its end; "/" keeps its own. */
int directory_length(const char *dir);

/* Makes the folder of --pictures if it does not exist. A program calls it before a training, so
 * that no training is lost. If it cannot write pictures there, it says so and returns false. */
bool pictures_folder(const char *program, const char *folder);

#endif
