/* comma_locale.h - switches the program to a locale whose numbers have a comma, as a user's
 * setlocale(LC_ALL, "") may. setlocale(LC_ALL, "C") switches back. */
#ifndef HEED_TESTS_COMMA_LOCALE_H
#define HEED_TESTS_COMMA_LOCALE_H

#include <locale.h>
#include <stdio.h>

/* If the system has no such locale, the test says so and goes on in the C locale. */
static inline void comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8",
                                        "de_DE",       "nl_NL.utf8", "pt_BR.utf8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (setlocale(LC_ALL, names[i]) && localeconv()->decimal_point[0] == ',') {
            return;
        }
    }
    setlocale(LC_ALL, "C");
    printf("skipped: there is no locale with a decimal comma (packages: locales-all)\n");
}

#endif
