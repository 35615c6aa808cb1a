/* Parts of the examples that their whole runs do not reach: checksums and bytes of event files, the
 * line of the progress at every width, and the draw of a token at the ends of its options. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../examples/generate.h"
#include "support/run_suites.h"
#include "../../examples/train_events.h"
#include "../../examples/train_progress.h"

/* ---------------------------------------------------------------- event files */

/* The vectors of RFC 3720, B.4, and the check value of the catalogues. */
START_TEST(crc32c_vectors)
{
    uint8_t bytes[32];
    ck_assert_uint_eq(events_crc32c("", 0), 0);
    ck_assert_uint_eq(events_crc32c("123456789", 9), 0xE3069283u);
    memset(bytes, 0, 32);
    ck_assert_uint_eq(events_crc32c(bytes, 32), 0x8A9136AAu);
    memset(bytes, 0xFF, 32);
    ck_assert_uint_eq(events_crc32c(bytes, 32), 0x62A8AB43u);
    for (int i = 0; i < 32; i++) {
        bytes[i] = (uint8_t)i;
    }
    ck_assert_uint_eq(events_crc32c(bytes, 32), 0x46DD794Eu);
    for (int i = 0; i < 32; i++) {
        bytes[i] = (uint8_t)(31 - i);
    }
    ck_assert_uint_eq(events_crc32c(bytes, 32), 0x113FDB5Cu);
}
END_TEST

/* A file that cannot be made is an error that names the directory; a log without a directory writes
 * nothing. */
START_TEST(event_errors)
{
    const event_scalar loss = {"loss", 1};
    event_log none = events_new(NULL, 0), lost = events_new("/nonexistent/folder", 0);
    ck_assert(events_write(&none, 1, 1, &loss) && events_sync(&none));
    events_close(&none);
    ck_assert(!events_write(&lost, 1, 1, &loss));
    ck_assert_int_eq(hd_error_code(), HD_IO);
    ck_assert(strstr(hd_error_message(), "/nonexistent/folder: the event file: "));
    hd_error_clear();
    events_close(&lost);
}
END_TEST

/* The record of step 300 with one scalar, without its checksums and its time. */
START_TEST(event_bytes)
{
    static const char summary[] = "\x10\xAC\x02\x2A\x0D\x0A\x0B\x0A\x04loss\x15\x00\x00\xC0\x3F";
    const event_scalar loss = {"loss", 1.5};
    char dir[] = "/tmp/heed-events-XXXXXX", command[64];
    unsigned char bytes[256];
    ck_assert(mkdtemp(dir));
    event_log e = events_new(dir, 0);
    ck_assert(events_write(&e, 300, 1, &loss));
    events_close(&e);
    snprintf(command, sizeof command, "cat %s/events.out.tfevents.*", dir);
    FILE *f = popen(command, "r");
    size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    ck_assert(f && pclose(f) == 0);
    size_t first = 12 + 9 + 2 + 15 + 4; /* time, step 0, "brain.Event:2" */
    ck_assert_uint_eq(n, first + 12 + 9 + (sizeof summary - 1) + 4);
    ck_assert_uint_eq(bytes[0], 9 + 2 + 15);
    ck_assert(memcmp(bytes + 12 + 9,
                     "\x10\x00\x1A\x0D"
                     "brain.Event:2",
                     17) == 0);
    ck_assert_uint_eq(bytes[first], 9 + sizeof summary - 1);
    ck_assert_uint_eq(bytes[first + 12], 9);
    ck_assert(memcmp(bytes + first + 12 + 9, summary, sizeof summary - 1) == 0);
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* ---------------------------------------------------------------- the line of the progress */

static const char *line_of(int columns, bool bar, double val_loss)
{
    static char out[PROGRESS_LINE];
    const progress_numbers n = {175, 1000, 2.12344, val_loss, 19912.4, 3661};
    int length = progress_line(out, &n, columns, bar);
    ck_assert_int_eq(length, (int)strlen(out));
    ck_assert(columns == 0 || length < columns);
    return out;
}

START_TEST(progress_widths)
{
    static const char all[] = "step 175/1000  loss 2.1234  19912 tokens/s  ETA 1:01:01";
    ck_assert_str_eq(line_of(0, false, NAN), all);
    ck_assert_str_eq(line_of(56, false, NAN), all);
    ck_assert_str_eq(line_of(55, false, NAN), "step 175/1000  loss 2.1234  ETA 1:01:01");
    ck_assert_str_eq(line_of(39, true, NAN), "step 175/1000  loss 2.1234");
    ck_assert_str_eq(line_of(40, true, NAN), "[#.......] step 175/1000  loss 2.1234");
    ck_assert_str_eq(
        line_of(80, true, NAN),
        "[###................] step 175/1000  loss 2.1234  19912 tokens/s  ETA 1:01:01");
    ck_assert_ptr_nonnull(strstr(line_of(120, true, NAN), "] step 175"));
    ck_assert_int_eq((int)strlen(line_of(200, true, NAN)), 33 + (int)sizeof all - 1);
    ck_assert_str_eq(line_of(46, false, 2.5), "step 175/1000  loss 2.1234  validation 2.5000");
    ck_assert_str_eq(line_of(45, false, 2.5), "step 175/1000  loss 2.1234  val 2.5000");
    ck_assert_str_eq(line_of(38, false, 2.5), "175/1000  2.1234  2.5000");
    ck_assert_str_eq(line_of(20, false, 2.5), "175/1000  2.5000");
    ck_assert_str_eq(line_of(20, true, NAN), "175/1000  2.1234");
    ck_assert_str_eq(line_of(9, false, NAN), "175/1000");
    ck_assert_str_eq(line_of(8, false, NAN), "17%");
    ck_assert_str_eq(line_of(6, true, NAN), "17%");
    ck_assert_str_eq(line_of(5, true, NAN), "");
    ck_assert_str_eq(line_of(1, true, NAN), "");
    for (int columns = 1; columns <= 2 * PROGRESS_LINE; columns++) {
        line_of(columns, true, NAN);
        line_of(columns, true, 1e300);
        line_of(columns, false, INFINITY);
    }
}
END_TEST

START_TEST(progress_extremes)
{
    char out[PROGRESS_LINE];
    const double large[] = {1e308, INFINITY, 999999999, NAN};
    for (int i = 0; i < 4 * 2 * PROGRESS_LINE; i++) {
        double v = large[i % 4];
        const progress_numbers n = {INT64_MAX, INT64_MAX, -v, i % 8 < 4 ? v : NAN, v, INT64_MAX};
        int columns = i / 4, length = progress_line(out, &n, columns, i % 8 >= 4);
        ck_assert(length == (int)strlen(out) && (columns == 0 || length < columns));
    }
}
END_TEST

/* ---------------------------------------------------------------- drawing a token */

static int64_t draw(double temperature, int64_t top_k, double top_p)
{
    static const float logits[] = {1, 5, 2, 4.9f};
    const sampling how = {temperature, top_k, top_p, false};
    hd_manual_seed(3);
    int64_t drawn[4] = {0};
    for (int i = 0; i < 200; i++) {
        HD_SCOPE;
        int64_t id = sample_token(hd_from_data(HD_FLOAT32, logits, 4), &how);
        ck_assert_msg(id >= 0 && id < 4, "%s", hd_error_message());
        drawn[id]++;
    }
    return drawn[1] == 200 ? 1 : drawn[1] + drawn[3] == 200 ? 2 : 4; /* how many may come */
}

/* The likeliest token always stays; its probability is 0.50. */
START_TEST(draws_at_the_ends)
{
    ck_assert_int_eq(draw(1, 0, 1), 4);
    ck_assert_int_eq(draw(1, INT64_MAX, 1), 4);
    ck_assert_int_eq(draw(1, 2, 1), 2);
    ck_assert_int_eq(draw(1, 0, 0.6), 2);
    ck_assert_int_eq(draw(1, 1, 1), 1);
    ck_assert_int_eq(draw(1, 0, 0), 1);
    ck_assert_int_eq(draw(1, 3, 0), 1);
    ck_assert_int_eq(draw(1, 0, 1e-50), 1);
    ck_assert_int_eq(draw(1, 0, 0.4), 1);
    ck_assert_int_eq(draw(0, 0, 1), 1);
    ck_assert_int_eq(draw(1e-300, 0, 1), 1);
    ck_assert_int_eq(draw(1e6, 0, 1), 4);
}
END_TEST

static Suite *suite_parts(void)
{
    const TTest *const tests[] = {crc32c_vectors,  event_errors,      event_bytes,
                                  progress_widths, progress_extremes, draws_at_the_ends};
    return SUITE_OF("parts", tests);
}

#define SUITES(X) X(parts)

int main(void)
{
    return RUN_SUITES(SUITES);
}
