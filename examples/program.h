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

/* Flushes stdout. If a part of the output could not be written, prints a message to stderr and
 * returns false. */
bool stdout_written(const char *program);

/* Prints `help` if --help is the only argument, and heed's version if --version is. Returns the
 * exit status, or -1 if it printed nothing. */
int about_status(int argc, char **argv, const char *program, const char *help);

double seconds_now(void); /* the time of a clock that never goes back */

enum { SHELL_WORD = 4 * 4096 + 3 }; /* the bytes that any path takes in quotes */

/* Writes text to out as one word of a shell's command line, in quotes if it needs them. Returns
 * out. */
const char *shell_word(const char *text, char out[SHELL_WORD]);

/* Returns the length of dir without the slashes at its end. The length of "/" is 1. */
int directory_length(const char *dir);

/* Makes the folder of --pictures if it does not exist. If the program cannot write pictures there,
 * prints a message and returns false. Programs call it before they train, so that a wrong folder
 * costs no training. */
bool pictures_folder(const char *program, const char *folder);

#endif
