/* train_events.c - writes TensorBoard's event files.
 *
 * An event file is a sequence of TFRecords. A record is the length of its data (8 bytes, the lowest
 * first), a masked CRC-32C of these 8 bytes (4 bytes), the data, and a masked CRC-32C of the data.
 * The data is an `Event` in the encoding of protocol buffers. heed writes these fields, with their
 * numbers in TensorFlow's event.proto and summary.proto:
 *   Event          wall_time 1 (double), step 2 (int64), file_version 3 (string),
 *                  summary 5 (Summary), session_log 7 (SessionLog)
 *   Summary        value 1 (Value, repeated)
 *   Value          tag 1 (string), simple_value 2 (float)
 *   SessionLog     status 1 (1: START)
 * The first record has the file_version. In the file of a resumed run, the second record is a
 * START at the next step. There TensorBoard drops the older records of this step and of later
 * ones, which the run had done after its checkpoint. */
#include "train_events.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "heed/heed.h"

enum { EVENT_WALL_TIME = 1, EVENT_STEP, EVENT_FILE_VERSION, EVENT_SUMMARY = 5, EVENT_SESSION = 7 };
enum { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_SIMPLE = 2, SESSION_STATUS = 1, SESSION_START = 1 };
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 }; /* how a field is encoded */
enum { MESSAGE = 512, PATH = 4096 };

static const char name_start[] = "events.out.tfevents.";

uint32_t events_crc32c(const void *bytes, size_t n)
{
    const uint8_t *b = bytes;
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < n; i++) {
        crc ^= b[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
        }
    }
    return ~crc;
}

/* ---------------------------------------------------------------- messages */

typedef struct {
    uint8_t bytes[MESSAGE];
    size_t n;
} message;

/* Appends the lowest n bytes of v, the lowest first. */
static void put_fixed(message *m, uint64_t v, int n)
{
    for (int i = 0; i < n; i++) {
        m->bytes[m->n++] = (uint8_t)(v >> 8 * i);
    }
}

/* Appends v in groups of 7 bits, the lowest group first. The top bit of a byte says that another
 * one follows. */
static void put_varint(message *m, uint64_t v)
{
    for (; v >= 0x80; v >>= 7) {
        m->bytes[m->n++] = (uint8_t)(v | 0x80);
    }
    m->bytes[m->n++] = (uint8_t)v;
}

static void put_key(message *m, int field, int encoding)
{
    put_varint(m, (uint64_t)field << 3 | (uint64_t)encoding);
}

static void put_int(message *m, int field, int64_t v)
{
    put_key(m, field, VARINT);
    put_varint(m, (uint64_t)v);
}

static void put_bytes(message *m, int field, const void *bytes, size_t n)
{
    put_key(m, field, BYTES);
    put_varint(m, n);
    memcpy(m->bytes + m->n, bytes, n);
    m->n += n;
}

static void put_double(message *m, int field, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_key(m, field, FIXED64);
    put_fixed(m, bits, 8);
}

static void put_float(message *m, int field, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_key(m, field, FIXED32);
    put_fixed(m, bits, 4);
}

/* Begins an event of this step, with the time now. */
static message event_at(int64_t step)
{
    message m = {.n = 0};
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    put_double(&m, EVENT_WALL_TIME, (double)t.tv_sec + 1e-9 * (double)t.tv_nsec);
    put_int(&m, EVENT_STEP, step);
    return m;
}

/* ---------------------------------------------------------------- the file */

static bool fail(const event_log *e)
{
    return hd_error_set(HD_IO, "%s: the event file: %s", e->dir, strerror(errno));
}

/* Appends n bytes to the file. If that fails, for example because the disk is full, cuts off the
 * part that was written, and returns false with an error. */
static bool append(const event_log *e, const uint8_t *bytes, size_t n)
{
    off_t start = lseek(e->fd, 0, SEEK_END);
    for (size_t done = 0; done < n;) {
        ssize_t some = write(e->fd, bytes + done, n - done);
        if (some < 0 && errno != EINTR) {
            fail(e);
            int taken = ftruncate(e->fd, start); /* if it fails, readers stop at the cut record */
            (void)taken;
            return false;
        }
        done += some > 0 ? (size_t)some : 0;
    }
    return true;
}

/* Returns the checksum in the form of TFRecords: rotated by 15 bits, plus a constant. */
static uint32_t masked_crc(const uint8_t *bytes, size_t n)
{
    uint32_t crc = events_crc32c(bytes, n);
    return (crc >> 15 | crc << 17) + 0xA282EAD8u;
}

static bool write_record(const event_log *e, const message *event)
{
    message r = {.n = 0}; /* an event has at most MESSAGE - 16 bytes */
    put_fixed(&r, event->n, 8);
    put_fixed(&r, masked_crc(r.bytes, 8), 4);
    memcpy(r.bytes + r.n, event->bytes, event->n);
    r.n += event->n;
    put_fixed(&r, masked_crc(event->bytes, event->n), 4);
    return append(e, r.bytes, r.n);
}

/* Returns the TIME of the newest event file in the directory, or 0 if there is none. */
static long long newest_time(const char *path)
{
    long long newest = 0;
    DIR *dir = opendir(path);
    for (struct dirent *f; dir && (f = readdir(dir)) != NULL;) {
        bool events = strncmp(f->d_name, name_start, sizeof name_start - 1) == 0;
        long long t = events ? strtoll(f->d_name + sizeof name_start - 1, NULL, 10) : 0;
        newest = t > newest ? t : newest;
    }
    if (dir) {
        closedir(dir);
    }
    return newest;
}

static bool open_file(event_log *e)
{
    static const char version[] = "brain.Event:2";
    char path[PATH], host[256] = "";
    long long now = (long long)time(NULL), newest = newest_time(e->dir);
    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "%s/%s%010lld.%s", e->dir, name_start,
             now > newest ? now : newest + 1, host[0] != '\0' ? host : "localhost");
    e->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (e->fd < 0) {
        return fail(e);
    }
    message first = event_at(0);
    put_bytes(&first, EVENT_FILE_VERSION, version, sizeof version - 1);
    if (!write_record(e, &first) || e->resumed == 0) {
        return hd_error_code() == HD_OK;
    }
    message start = event_at(e->resumed + 1), status = {.n = 0};
    put_int(&status, SESSION_STATUS, SESSION_START);
    put_bytes(&start, EVENT_SESSION, status.bytes, status.n);
    return write_record(e, &start);
}

/* ---------------------------------------------------------------- the log */

event_log events_new(const char *dir, int64_t resumed)
{
    return (event_log){.dir = dir, .resumed = resumed, .fd = -1};
}

bool events_write(event_log *e, int64_t step, int n, const event_scalar *scalars)
{
    if (!e->dir) {
        return true;
    }
    if (e->fd < 0 && !open_file(e)) {
        return false;
    }
    message summary = {.n = 0}, event = event_at(step);
    for (int i = 0; i < n; i++) {
        message value = {.n = 0};
        put_bytes(&value, VALUE_TAG, scalars[i].tag, strlen(scalars[i].tag));
        put_float(&value, VALUE_SIMPLE, (float)scalars[i].value);
        put_bytes(&summary, SUMMARY_VALUE, value.bytes, value.n);
    }
    put_bytes(&event, EVENT_SUMMARY, summary.bytes, summary.n);
    return write_record(e, &event);
}

bool events_sync(const event_log *e)
{
    return !e->dir || e->fd < 0 || fsync(e->fd) == 0 || fail(e);
}

void events_close(event_log *e)
{
    if (e->dir && e->fd >= 0) {
        close(e->fd);
    }
    *e = events_new(NULL, 0);
}
