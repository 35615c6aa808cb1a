/* suites.h - the suites of heed-hf. */
#ifndef HEED_TESTS_HF_SUITES_H
#define HEED_TESTS_HF_SUITES_H

#include "heed/heed.h"
#include "heed/hf.h"
#include "support/files.h"
#include "support/golden_tensor.h"
#include "support/leak_checked.h"
#include "support/scarce.h"
#include "support/warnings.h"

#define SUITES(X) X(models) X(folders) X(generate) X(refused) X(save) X(lora) X(chat) X(null)
SUITES(DECLARE_SUITE)

/* The folders of tests/golden/models. */
#define MODELS GOLDEN_DIR "/models"
enum { MODEL_FOLDERS = 8 };
extern const char *const model_folders[MODEL_FOLDERS];

hd_module *golden_model(const char *name); /* the model of the folder; never NULL */
hd_dict *golden_of(const char *name);      /* what transformers makes of it */

#endif
