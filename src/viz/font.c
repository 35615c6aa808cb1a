/* font.c - a font of strokes for ASCII, on a grid with 9 units from cap height to baseline.
 *
 * A glyph is a text: one digit for its width, then its strokes, with spaces between them. A stroke
 * is a row of points, each of two hexadecimal digits: x to the right and y downwards. y is 0 at cap
 * height, 3 at the top of small letters, 9 at the baseline and C at the lowest point. Two units
 * separate glyphs. Beside ASCII there are the open box that shows a space, and dots; any other
 * character is a box. */
#include "viz/viz_internal.h"

static const char *const ascii[95] = {
    "2",                                            /* space */
    "0 0006 0909",                                  /* ! */
    "2 0002 2022",                                  /* " */
    "6 2019 5049 0363 0666",                        /* # */
    "4 413010010314344548391908 202A",              /* $ */
    "8 100102132332312010 665758697988877666 7019", /* % */
    "7 791211204051520608194975",                   /* & */
    "0 0002",                                       /* ' */
    "2 2003072A",                                   /* ( */
    "2 0023270A",                                   /* ) */
    "4 2125 0244 4204",                             /* * */
    "6 3339 0666",                                  /* + */
    "1 190B",                                       /* , */
    "3 0636",                                       /* - */
    "1 0919",                                       /* . */
    "4 4009",                                       /* / */
    "5 100108194958514010",                         /* 0 */
    "5 123039",                                     /* 1 */
    "5 01104051530959",                             /* 2 */
    "5 01104051534424 445558491908",                /* 3 */
    "5 49400656",                                   /* 4 */
    "5 50000413435458491908",                       /* 5 */
    "5 514010010819495855441405",                   /* 6 */
    "5 005019",                                     /* 7 */
    "5 14030110405153441405081949585544",           /* 8 */
    "5 081949585140100104154554",                   /* 9 */
    "0 0404 0909",                                  /* : */
    "1 1414 190B",                                  /* ; */
    "5 530659",                                     /* < */
    "6 0464 0767",                                  /* = */
    "5 035609",                                     /* > */
    "4 01103041432526 2929",                        /* ? */
    "8 6366778683612103082A6A 6453433436475766",    /* @ */
    "6 093069 1656",                                /* A */
    "5 043443413000094958554434",                   /* B */
    "6 6150100108195968",                           /* C */
    "6 00406267490900",                             /* D */
    "5 50000959 0444",                              /* E */
    "5 500009 0444",                                /* F */
    "6 61501001081959686535",                       /* G */
    "6 0009 6069 0464",                             /* H */
    "2 0020 1019 0929",                             /* I */
    "4 4048391908",                                 /* J */
    "6 0009 6005 2369",                             /* K */
    "5 000959",                                     /* L */
    "8 0900468089",                                 /* M */
    "6 09006960",                                   /* N */
    "6 100108195968615010",                         /* O */
    "5 09004051544505",                             /* P */
    "6 100108195968615010 476A",                    /* Q */
    "5 09004051534404 2459",                        /* R */
    "5 514010010314445558491908",                   /* S */
    "6 0060 3039",                                  /* T */
    "6 000819596860",                               /* U */
    "6 003960",                                     /* V */
    "8 0029426980",                                 /* W */
    "6 0069 6009",                                  /* X */
    "6 003460 3439",                                /* Y */
    "6 00600969",                                   /* Z */
    "2 20000A2A",                                   /* [ */
    "4 0049",                                       /* \ */
    "2 00202A0A",                                   /* ] */
    "4 032043",                                     /* ^ */
    "5 0B5B",                                       /* _ */
    "1 0012",                                       /* ` */
    "5 5359 5443130408194958",                      /* a */
    "5 0009 0413435458491908",                      /* b */
    "5 5443130408194958",                           /* c */
    "5 5059 5443130408194958",                      /* d */
    "5 06565443130408194958",                       /* e */
    "3 30201119 0333",                              /* f */
    "5 5443130408194958 535B4C1C0B",                /* g */
    "5 0009 0413435459",                            /* h */
    "0 0309 0000",                                  /* i */
    "2 232B1C0C 2020",                              /* j */
    "5 0009 5306 2559",                             /* k */
    "1 000819",                                     /* l */
    "8 0309 0413334449 4453738489",                 /* m */
    "5 0309 0413435459",                            /* n */
    "5 130408194958544313",                         /* o */
    "5 030C 0413435458491908",                      /* p */
    "5 535C 5443130408194958",                      /* q */
    "3 0309 041333",                                /* r */
    "4 443313040516364748391908",                   /* s */
    "3 11182939 0333",                              /* t */
    "5 0308194958 5359",                            /* u */
    "4 032943",                                     /* v */
    "6 0319345963",                                 /* w */
    "4 0349 4309",                                  /* x */
    "4 0329 431C0C",                                /* y */
    "4 03430949",                                   /* z */
    "3 302011140516192A3A",                         /* { */
    "0 000B",                                       /* | */
    "3 001021243526291A0A",                         /* } */
    "6 061525475766",                               /* ~ */
};

static bool is_wide(uint32_t code) /* East Asian scripts and pictographs: square characters */
{
    return (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
           (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
           (code >= 0xFF00 && code <= 0xFF60) || code >= 0x1F300;
}

const char *hd__glyph(uint32_t code, double *advance)
{
    const char *g = code >= 0x20 && code < 0x7F ? ascii[code - 0x20]
                    : code == 0x2423            ? "5 07095957"
                    : code == 0x2026            ? "6 0909 3939 6969"
                    : is_wide(code)             ? "9 0009999000"
                                                : "5 0009595000";
    *advance = is_wide(code) ? 12.5 : g[0] - '0' + 2;
    return g + 1;
}

double hd__text_width(const char *text, double size)
{
    double units = 0, advance;
    while (*text) {
        hd__glyph(hd__viz_character(&text), &advance);
        units += advance;
    }
    return units * HD__FONT_UNIT * size;
}

void hd__text_fit(char *out, size_t room, const char *text, double size, double width)
{
    static const char dots[] = "\xe2\x80\xa6";
    double all = hd__text_width(text, size);
    double left = all <= width ? width : width - hd__text_width(dots, size), advance;
    size_t n = 0;
    while (*text) {
        const char *next = text;
        hd__glyph(hd__viz_character(&next), &advance);
        left -= advance * HD__FONT_UNIT * size;
        if (left < -1e-6 || n + (size_t)(next - text) + sizeof dots > room) {
            memcpy(out + n, dots, sizeof dots);
            return;
        }
        memcpy(out + n, text, (size_t)(next - text));
        n += (size_t)(next - text);
        text = next;
    }
    out[n] = '\0';
}
