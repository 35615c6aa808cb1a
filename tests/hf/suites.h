/* suites.h - the suites of heed-hf. */
#ifndef HEED_TESTS_HF_SUITES_H
#define HEED_TESTS_HF_SUITES_H

#include "heed/heed.h"
#include "heed/hf.h"
#include "families_folders.h"
#include "support/files.h"
#include "support/golden_tensor.h"
#include "support/leak_checked.h"
#include "support/scarce.h"
#include "support/warnings.h"

#define SUITES(X)                                                                                  \
    X(models)                                                                                      \
    X(folders) X(config) X(generate) X(padding) X(refused) X(save) X(saved) X(lora) X(chat) X(null)
SUITES(DECLARE_SUITE)

/* The folders of tests/golden/models. */
#define MODELS GOLDEN_DIR "/models"
extern const char *const model_folders[MODEL_FOLDERS];

hd_module *golden_model(const char *name); /* the model of the folder; never NULL */
hd_dict *golden_of(const char *name);      /* what transformers makes of it */
/* Are they within 1e-5 of the largest? */
void ck_close(const char *model, const char *what, hd_tensor *y, hd_tensor *expected);

/* A head that keeps its logits. */
typedef struct keeper {
    hd_module base;
    hd_module *head;
    hd_tensor *kept; /* (b, n, vocab) */
} keeper;
keeper *keep_logits(hd_module *m); /* the head that m has from now on */

void remove_saved(const char *folder); /* that hd_save_pretrained has written */

#endif
