/* page_train.c - tells the page about each step of train_attention.
 *
 * A line with the step, both losses and the attention weights goes to the file number 3. */
#include <stdio.h>

#include "heed/heed.h"

enum { DRAWN = 3, LINE = 4096 };

void page_step(int64_t step, double loss, double loss_without, hd_tensor *w);

void page_step(int64_t step, double loss, double loss_without, hd_tensor *w) /* (n, n) */
{
    char line[LINE];
    int at = snprintf(line, LINE, "%lld %.4f %.4f", (long long)step, loss, loss_without);
    for (int64_t i = 0; i < hd_size(w, 0); i++) {
        for (int64_t j = 0; j < hd_size(w, 1) && at < LINE - 16; j++) {
            at += snprintf(line + at, LINE - (size_t)at, " %.3f", hd_get(w, i, j));
        }
    }
    dprintf(DRAWN, "%s\n", line);
}
