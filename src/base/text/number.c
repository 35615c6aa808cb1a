/* number.c - numbers as text, with a decimal point in every locale.
 *
 * printf writes the locale's decimal point, which may have several bytes. plain_point replaces the
 * bytes between the digits by a point. heed does not ask for the locale, because another thread
 * might be changing it. strtod reads a text either without a point, or before its point is
 * replaced. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/number.h"
#include "base/text/text.h"

static const char *not_finite(double v)
{
    return isnan(v) ? "nan" : v < 0 ? "-inf" : "inf";
}

static void plain_point(char *text)
{
    char *point = text + (*text == '-');
    while (hd__text_is_digit(*point)) {
        point++;
    }
    char *after = point;
    while (*after && *after != 'e' && !hd__text_is_digit(*after)) {
        after++;
    }
    if (after > point) {
        *point = '.';
        memmove(point + 1, after, strlen(after) + 1);
    }
}

int hd__text_of_number(char text[HD__NUMBER_TEXT], double v, char form, int precision)
{
    if (!isfinite(v)) {
        return snprintf(text, HD__NUMBER_TEXT, "%s", not_finite(v));
    }
    snprintf(text, HD__NUMBER_TEXT, form == 'e' ? "%.*e" : "%.*f", precision, v);
    plain_point(text);
    return (int)strlen(text);
}

/* Writes the digits, without trailing zeros, of the shortest decimal number that reads back as v >
 * 0. Returns the power of ten of the first digit. To round v to n digits is not enough: just below
 * a power of two the doubles lie closer together, and the next higher number of n digits may be the
 * only one that reads back as v. */
static int shortest(double v, char digits[24])
{
    char text[HD__NUMBER_TEXT], attempt[40];
    for (int n = 0;; n++) { /* 17 digits always read back as v */
        hd__text_of_number(text, v, 'e', n);
        int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10) - n;
        uint64_t whole = (uint64_t)(text[0] - '0');
        for (int i = 0; i < n; i++) {
            whole = 10 * whole + (uint64_t)(text[2 + i] - '0');
        }
        for (int up = 0; up <= 1; up++) {
            snprintf(attempt, sizeof attempt, "%" PRIu64 "e%d", whole + (uint64_t)up, exponent);
            if (strtod(attempt, NULL) == v || (n == 16 && up == 0)) {
                int len = snprintf(digits, 24, "%" PRIu64, whole + (uint64_t)up);
                /* The last digit is not 0: otherwise a smaller n would have read back as v. */
                return exponent + len - 1;
            }
        }
    }
}

static void positive_text(double v, char text[48])
{
    char digits[24];
    int first = shortest(v, digits), len = (int)strlen(digits);
    if (first < -4 || first >= 16) {
        snprintf(text, 48, "%c%s%se%c%02d", digits[0], len > 1 ? "." : "", digits + 1,
                 first < 0 ? '-' : '+', abs(first));
    } else if (first < 0) {
        snprintf(text, 48, "0.%.*s%s", -first - 1, "000", digits);
    } else if (len <= first + 1) {
        snprintf(text, 48, "%s%.*s.0", digits, first + 1 - len, "000000000000000");
    } else {
        snprintf(text, 48, "%.*s.%s", first + 1, digits, digits + first + 1);
    }
}

const char *hd__text_of_float(double v, char text[HD__FLOAT_TEXT])
{
    if (!isfinite(v)) {
        strcpy(text, not_finite(v));
    } else if (v == 0) {
        strcpy(text, signbit(v) ? "-0.0" : "0.0");
    } else {
        text[0] = '-';
        positive_text(fabs(v), text + (v < 0));
    }
    return text;
}

/* The loop ends, because 17 digits always read back as v. */
const char *hd__text_shortest(double v, char text[HD__FLOAT_TEXT])
{
    if (!isfinite(v)) {
        return strcpy(text, not_finite(v));
    }
    int digits = 15;
    do {
        snprintf(text, HD__FLOAT_TEXT, "%.*g", digits, v);
    } while (strtod(text, NULL) != v && digits++ < 17);
    plain_point(text);
    return text;
}
