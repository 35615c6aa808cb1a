/* png.c - saves a picture as PNG, through libpng. Without libpng that is an error. */
#include <inttypes.h>

#include "viz/font.h"
#include "viz/raster.h"

static bool scale_ok(const hd_picture *p, double scale)
{
    if (!(scale >= 0.1 && scale <= 16)) {
        return hd_error_set(HD_VALUE, "hd_picture_save_png: scale %g: expected 0.1 to 16", scale);
    }
    if (p->width * scale > 32768 || p->height * scale > 32768) {
        return hd_error_set(HD_VALUE,
                            "hd_picture_save_png: %.0f x %.0f at scale %g: expected sides of at "
                            "most 32768 pixels",
                            p->width, p->height, scale);
    }
    return true;
}

#ifdef HEED_HAVE_PNG

#include <png.h>

typedef struct encoder {
    hd__text file;
    const hd__canvas *canvas;
} encoder;

static void *png_allocate(png_structp png, png_alloc_size_t n)
{
    (void)png;
    return hd_alloc(n);
}

static void png_release(png_structp png, void *p)
{
    (void)png;
    hd_free(p);
}

static void png_fail(png_structp png, const char *message)
{
    if (hd_error_code() == HD_OK) { /* otherwise hd_alloc has said that memory ran out */
        hd_error_set(HD_IO, "hd_picture_save_png: libpng: %s", message);
    }
    png_longjmp(png, 1);
}

static void png_ignore(png_structp png, const char *message)
{
    (void)png, (void)message;
}

static void png_append(png_structp png, png_bytep bytes, size_t n)
{
    encoder *e = png_get_io_ptr(png);
    hd__text_add(&e->file, (const char *)bytes, n);
    if (e->file.failed) {
        png_error(png, "out of memory");
    }
}

static void png_no_flush(png_structp png)
{
    (void)png;
}

/* A failed call of libpng returns to setjmp by longjmp. No variable that changes after setjmp is
 * read there. */
static bool png_encode(encoder *e)
{
    const hd__canvas *c = e->canvas;
    png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, NULL, png_fail, png_ignore,
                                                NULL, png_allocate, png_release);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_set_write_fn(png, e, png_append, png_no_flush);
    png_set_IHDR(png, info, (png_uint_32)c->width, (png_uint_32)c->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int y = 0; y < c->height; y++) {
        png_write_row(png, c->rgb + 3 * (size_t)y * (size_t)c->width);
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

/* Does the font have every character of the picture? */
static bool letters_ok(const hd_picture *p)
{
    for (int64_t i = 0; i < p->n_items; i++) {
        const char *text = p->texts.s + p->items[i].first, *next = text;
        while (p->items[i].kind == HD__TEXT && *next) {
            const char *at = next;
            uint32_t code = hd__viz_character(&next);
            if (!hd__glyph_of(code).known) {
                return hd_error_set(HD_VALUE,
                                    "hd_picture_save_png: '%.*s' has U+%04" PRIX32
                                    " '%.*s', which the font of a PNG does not have: expected "
                                    "Latin, Greek, Cyrillic or Korean letters; hd_picture_save_svg "
                                    "takes any text",
                                    HD__CUT(text), code, (int)(next - at), at);
            }
        }
    }
    return true;
}

static bool save_png(const hd_picture *p, const char *path, double scale)
{
    hd__canvas c = {0};
    encoder e = {.canvas = &c};
    bool ok = letters_ok(p) && hd__rasterise(&c, p, scale) && png_encode(&e) &&
              hd__whole_write("hd_picture_save_png", path, e.file.s, e.file.len);
    hd_free(e.file.s);
    hd__canvas_free(&c);
    return ok;
}

bool hd_has_png(void)
{
    return true;
}

#else

static bool save_png(const hd_picture *p, const char *path, double scale)
{
    (void)p, (void)path, (void)scale;
    return hd_error_set(HD_STATE, "hd_picture_save_png: heed was built without libpng");
}

bool hd_has_png(void)
{
    return false;
}

#endif

bool hd_picture_save_png(const hd_picture *p, const char *path, double scale)
{
    return hd__picture_given("hd_picture_save_png", p) &&
           hd__viz_may_save("hd_picture_save_png", "p", p, path) && scale_ok(p, scale) &&
           save_png(p, path, scale);
}
