/* test_examples.c - tests parts of the examples that a whole run does not reach: checksums and
 * bytes of event files, the progress line at every width, the draw of a token at the limits of its
 * options, the output of tokens that are parts of characters, and the line about its speed. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../examples/generate.h"
#include "../../examples/program.h"
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

/* ---------------------------------------------------------------- writing a text */

enum { CONTEXT = 16 };
static const gpt_config bytes_config = {256, CONTEXT, CONTEXT, 1, 1, 0, false};

/* A GPT whose likeliest token after i tokens is text[i - 1]. Only the embedding of the position is
 * not zero before out_head, whose column i makes byte i likely. */
static hd_module *writer_of(const char *text)
{
    HD_SCOPE;
    HD_NO_GRAD;
    hd_module *gpt = gpt_model_new(&bytes_config);
    hd_list *all = hd_module_parameters(gpt);
    for (int64_t i = 0; i < hd_list_len(all); i++) {
        hd_zero_(hd_list_get(all, i));
    }
    gpt_model *m = (gpt_model *)gpt;
    hd_fill_(((layer_norm *)m->final_norm)->scale, 1);
    hd_copy_(hd_module_get_parameter(m->pos_emb, "weight"), hd_eye(HD_FLOAT32, CONTEXT, CONTEXT));
    hd_tensor *head = hd_module_get_parameter(m->out_head, "weight"); /* (256, CONTEXT) */
    for (int i = 0; text[i] != '\0'; i++) {
        hd_set(head, 1, (unsigned char)text[i], i);
    }
    ck_assert_msg(hd_error_code() == HD_OK, "%s", hd_error_message());
    return gpt;
}

/* Writes the text and asserts that it arrives in these pieces, which a '|' separates. Every write
 * to a socket of datagrams arrives by itself. */
static void ck_pieces(const char *text, const char *pieces, bool cache)
{
    HD_SCOPE;
    const sampling likeliest = {0, 0, 1, cache};
    char got[256] = "";
    size_t n = 0;
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
    ck_assert_int_eq(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    FILE *f = fdopen(ends[0], "w");
    hd_module *gpt = writer_of(text);
    hd_tokenizer *bytes = hd_tokenizer_bytes();
    hd_tensor *prompt = hd_tokenizer_encode(bytes, "x", 1, HD_SPECIAL_TEXT); /* (1,) */
    bool ok =
        generate(gpt, &bytes_config, bytes, prompt, (int64_t)strlen(text), &likeliest, f, NULL);
    ck_assert_msg(ok, "%s", hd_error_message());
    for (ssize_t some; (some = read(ends[1], got + n, 32)) > 0;) {
        n += (size_t)some;
        got[n++] = '|';
    }
    got[n > 0 ? n - 1 : 0] = '\0';
    ck_assert_str_eq(got, pieces);
    hd_tokenizer_free(bytes);
    hd_module_free(gpt);
    fclose(f);
    close(ends[1]);
}

/* Characters of one to four bytes come whole, in as few pieces as there are characters. */
START_TEST(characters_come_whole)
{
    ck_pieces("ab", "a|b", true);
    ck_pieces("z\xD0\xB6\xE2\x82\xAC\xF0\x9F\x98\x80!",
              "z|\xD0\xB6|\xE2\x82\xAC|\xF0\x9F\x98\x80|!", true);
    ck_pieces("\xD0\xB6\xE2\x82\xAC", "\xD0\xB6|\xE2\x82\xAC", false);
    ck_pieces("\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF",
              "\xC2\x80|\xDF\xBF|\xE0\xA0\x80|\xED\x9F\xBF", true);
    ck_pieces("\xDF\xBFz\xEF\xBF\xBFz", "\xDF\xBF|z|\xEF\xBF\xBF|z", true);
    ck_pieces("\xEE\x80\x80\xF0\x90\x80\x80\xF4\x8F\xBF\xBF",
              "\xEE\x80\x80|\xF0\x90\x80\x80|\xF4\x8F\xBF\xBF", true);
}
END_TEST

/* What cannot become a character is written as soon as that is clear, and no byte is lost. */
START_TEST(other_bytes_pass)
{
    ck_pieces("\x80\xBF\xC0\xC1\xF5\xFF", "\x80|\xBF|\xC0|\xC1|\xF5|\xFF", true);
    ck_pieces("\xE0\x9F\x80", "\xE0\x9F|\x80", true); /* overlong */
    ck_pieces("\xF0\x8F\x80", "\xF0\x8F|\x80", true);
    ck_pieces("\xED\xA0\x80", "\xED\xA0|\x80", true); /* a surrogate */
    ck_pieces("\xF4\x90\x80", "\xF4\x90|\x80", true); /* beyond U+10FFFF */
    ck_pieces("\xE2\x7Fz", "\xE2\x7F|z", true);
    ck_pieces("\xF0\x9F\x98z", "\xF0\x9F\x98z", true);
    ck_pieces("\xE2\x82\xD0\xB6", "\xE2\x82|\xD0\xB6", true); /* the next one begins */
    ck_pieces("\xE2\x82\xFFz", "\xE2\x82\xFF|z", true);
}
END_TEST

/* A character that is not whole at the end of the text is written as it is. */
START_TEST(the_end_passes)
{
    ck_pieces("z\xD0", "z|\xD0", true);
    ck_pieces("z\xE2\x82", "z|\xE2\x82", false);
    ck_pieces("z\xF0\x9F\x98", "z|\xF0\x9F\x98", true);
    ck_pieces("", "", true);
}
END_TEST

static const char *line_of_speed(int64_t prompt_tokens, double prompt_seconds, int64_t tokens,
                                 double seconds)
{
    static char out[SPEED_LINE];
    const writing_speed speed = {prompt_tokens, tokens, prompt_seconds, seconds};
    ck_assert_ptr_eq(speed_line(&speed, out), out);
    return out;
}

START_TEST(lines_of_speed)
{
    ck_assert_str_eq(line_of_speed(128, 0.16, 201, 1.25),
                     "prompt of 128 tokens: 0.16 s; 201 tokens in 1.25 s, 160 tokens/s");
    ck_assert_str_eq(line_of_speed(1, 0, 2, 1),
                     "prompt of 1 token: 0.0 ms; 2 tokens in 1.00 s, 1.0 tokens/s");
    ck_assert_str_eq(line_of_speed(2, 61.5, 1, 0.0042),
                     "prompt of 2 tokens: 61.50 s; 1 token in 4.2 ms");
    ck_assert_str_eq(line_of_speed(2, 0, 0, 0), "prompt of 2 tokens: 0.0 ms; 0 tokens in 0.0 ms");
    ck_assert_str_eq(line_of_speed(2, 0, 2, 0),
                     "prompt of 2 tokens: 0.0 ms; 2 tokens in 0.0 ms, 1000000000 tokens/s");
}
END_TEST

/* The times are those between the calls of the clock: together no more than the whole call took. */
START_TEST(speed_of_a_text)
{
    HD_SCOPE;
    const sampling likeliest = {0, 0, 1, true};
    FILE *f = tmpfile();
    hd_module *gpt = writer_of("abc");
    hd_tokenizer *bytes = hd_tokenizer_bytes();
    hd_tensor *prompt = hd_tokenizer_encode(bytes, "xyz", 3, HD_SPECIAL_TEXT); /* (3,) */
    for (int n = 0; n < 4; n++) {
        writing_speed speed = {-1, -1, -1, -1};
        double start = seconds_now();
        ck_assert(generate(gpt, &bytes_config, bytes, prompt, n, &likeliest, f, &speed));
        double whole = seconds_now() - start;
        ck_assert_int_eq(speed.prompt_tokens, 3);
        ck_assert_int_eq(speed.tokens, n);
        ck_assert(n > 0 ? speed.prompt_seconds > 0 : speed.prompt_seconds == 0);
        ck_assert(speed.seconds >= 0 && speed.prompt_seconds + speed.seconds <= whole + 1e-6);
    }
    hd_tokenizer_free(bytes);
    hd_module_free(gpt);
    fclose(f);
}
END_TEST

static Suite *suite_parts(void)
{
    const TTest *const tests[] = {crc32c_vectors,        event_errors,      event_bytes,
                                  progress_widths,       progress_extremes, draws_at_the_ends,
                                  characters_come_whole, other_bytes_pass,  the_end_passes,
                                  lines_of_speed,        speed_of_a_text};
    return SUITE_OF("parts", tests);
}

#define SUITES(X) X(parts)

int main(void)
{
    return RUN_SUITES(SUITES);
}
