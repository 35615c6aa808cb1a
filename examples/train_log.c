/* train_log.c - the logs of a training run.
 *
 * The rows hold no times. So a run that was stopped and resumed leaves the same rows as a run that
 * was not. */
#include "train_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- files */

static bool fail(const char *what)
{
    return hd_error_set(HD_IO, "run log: %s: %s", what, strerror(errno));
}

/* Opens the file, cuts it to `size` bytes and goes to its end. Returns NULL with an error if the
 * file is shorter, or cannot be opened or cut. */
static FILE *open_cut(const char *dir, const char *name, int64_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, size > 0 ? "r+b" : "wb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        fail(path);
    } else if (ftell(f) < size) {
        hd_error_set(HD_FORMAT, "run log: %s: %ld bytes: expected at least %lld", path, ftell(f),
                     (long long)size);
    } else if (ftruncate(fileno(f), (off_t)size) == 0 && fseek(f, 0, SEEK_END) == 0) {
        return f;
    } else {
        fail(path);
    }
    if (f) {
        fclose(f);
    }
    return NULL;
}

bool log_open(run_log *l, const char *dir, int64_t csv_size, int64_t jsonl_size)
{
    l->csv = open_cut(dir, "log.csv", csv_size);
    l->jsonl = l->csv ? open_cut(dir, "log.jsonl", jsonl_size) : NULL;
    if (!l->jsonl) {
        return false;
    }
    return csv_size > 0 || fputs("step,epoch,lr,loss,val_loss\n", l->csv) >= 0 || fail("log.csv");
}

void log_add_events(run_log *l, const char *dir, int64_t resumed)
{
    l->events = events_new(dir, resumed);
}

static bool write_events(event_log *e, const log_row *row)
{
    const event_scalar scalars[] = {{"loss/train", row->loss},
                                    {"lr", row->lr},
                                    {"epoch", (double)row->epoch},
                                    {"loss/validation", row->val_loss}};
    return events_write(e, row->step, isnan(row->val_loss) ? 3 : 4, scalars);
}

bool log_write(run_log *l, const log_row *row)
{
    long long step = row->step, epoch = row->epoch;
    char val[32] = "", loss[32] = "null";
    if (!isnan(row->val_loss)) {
        snprintf(val, sizeof val, "%.9g", row->val_loss);
    }
    if (isfinite(row->loss)) { /* JSON has no NaN */
        snprintf(loss, sizeof loss, "%.9g", row->loss);
    }
    bool ok =
        fprintf(l->csv, "%lld,%lld,%.9g,%.9g,%s\n", step, epoch, row->lr, row->loss, val) > 0 &&
        fprintf(l->jsonl, "{\"step\": %lld, \"epoch\": %lld, \"lr\": %.9g, \"loss\": %s", step,
                epoch, row->lr, loss) > 0 &&
        (!isfinite(row->val_loss) || fprintf(l->jsonl, ", \"val_loss\": %s", val) > 0) &&
        fputs("}\n", l->jsonl) >= 0 && fflush(l->csv) == 0 && fflush(l->jsonl) == 0;
    return ok ? write_events(&l->events, row) : fail("writing");
}

bool log_sync(const run_log *l, int64_t *csv_size, int64_t *jsonl_size)
{
    bool ok = fflush(l->csv) == 0 && fsync(fileno(l->csv)) == 0 && fflush(l->jsonl) == 0 &&
              fsync(fileno(l->jsonl)) == 0;
    *csv_size = ftell(l->csv);
    *jsonl_size = ftell(l->jsonl);
    ok = ok && *csv_size >= 0 && *jsonl_size >= 0;
    return ok ? events_sync(&l->events) : fail("syncing");
}

void log_close(run_log *l)
{
    if (l->csv) {
        fclose(l->csv);
    }
    if (l->jsonl) {
        fclose(l->jsonl);
    }
    events_close(&l->events);
    *l = (run_log){0};
}
