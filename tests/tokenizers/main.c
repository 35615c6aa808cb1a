/* main.c - runs every suite of the tokenizers. */
#include "suites.h"

int main(void)
{
    int result = folder_make() ? RUN_SUITES(SUITES) : EXIT_FAILURE;
    folder_remove();
    return result;
}
