/* suggest.c - finds the name that a user meant by a misspelled one: "did you mean 'seed'?"
 *
 * The distance of two names is the smallest number of changes that turn one into the other. A
 * change adds, drops or replaces a letter, or swaps two neighbours; case is ignored. A path is near
 * if its distance is at most 1 + n / 4, where n is the length of the last name in the misspelled
 * path. */
#include "config/config_internal.h"

enum { LONGEST = 63, FAR = 1000 };

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Returns the optimal string alignment distance of a and b, or FAR if one is longer than LONGEST.
 * Keeps only the last three rows of the table of distances. */
static int letter_distance(const char *a, size_t na, const char *b, size_t nb)
{
    int rows[3][LONGEST + 1];
    if (na > LONGEST || nb > LONGEST) {
        return FAR;
    }
    for (size_t k = 0; k <= nb; k++) {
        rows[0][k] = (int)k;
    }
    for (size_t i = 1; i <= na; i++) {
        int *row = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t k = 1; k <= nb; k++) {
            bool same = lower(a[i - 1]) == lower(b[k - 1]);
            row[k] = least(before[k - 1] + !same, least(before[k], row[k - 1]) + 1);
            if (i > 1 && k > 1 && lower(a[i - 1]) == lower(b[k - 2]) &&
                lower(a[i - 2]) == lower(b[k - 1])) {
                row[k] = least(row[k], earlier[k - 2] + 1);
            }
        }
    }
    return rows[na % 3][nb];
}

/* Returns the beginning of the last name in a path of n bytes. */
static const char *last_of(const char *path, size_t n)
{
    const char *last = path;
    for (size_t i = 0; i < n; i++) {
        last = path[i] == '.' ? path + i + 1 : last;
    }
    return last;
}

/* Returns the distance from `path` to the first n bytes of `there`. It is the distance of the whole
 * paths, or 1 plus that of their last names, whichever is smaller. */
static int path_distance(const char *path, const char *there, size_t n)
{
    size_t len = strlen(path);
    const char *a = last_of(path, len), *b = last_of(there, n);
    int elsewhere = letter_distance(a, len - (size_t)(a - path), b, n - (size_t)(b - there)) + 1;
    return least(letter_distance(path, len, there, n), elsewhere);
}

/* The nearest name so far. */
typedef struct nearest {
    int far;    /* the distance of this name */
    char *name; /* HD__SHOWN bytes */
} nearest;

static void take_nearer(nearest *best, int far, const char *name, size_t n)
{
    if (far < best->far) {
        best->far = far;
        n = n < HD__SHOWN ? n : HD__SHOWN - 1;
        memcpy(best->name, name, n);
        best->name[n] = '\0';
    }
}

static bool is_near(const nearest *best, size_t letters)
{
    return best->far <= 1 + (int)(letters < LONGEST ? letters : LONGEST) / 4;
}

bool hd__config_meant(const hd_config_table *t, const char *path, char out[HD__SHOWN])
{
    nearest best = {FAR, out};
    for (int64_t i = 0; i < t->n; i++) {
        const char *there = t->fields[i].path;
        size_t n;
        for (int depth = 0; (n = hd__config_prefix(there, depth)); depth++) {
            take_nearer(&best, path_distance(path, there, n), there, n);
        }
    }
    return is_near(&best, strlen(last_of(path, strlen(path))));
}

bool hd__config_meant_choice(const hd_config_field *f, const char *text, char out[HD__SHOWN])
{
    nearest best = {FAR, out};
    size_t n;
    const char *at;
    for (int64_t i = 0; (at = hd__config_choice_at(f, i, &n)); i++) {
        take_nearer(&best, letter_distance(text, strlen(text), at, n), at, n);
    }
    return is_near(&best, strlen(text));
}
