/* test_null.c - passes NULL for each pointer that hf's functions take. */
#include "support/null_rows.h"
#include "suites.h"

static void run_table(const char *error)
{
    HD_SCOPE;
    hd_module *model = golden_model("gpt2");
    hd_chat *chat = hd_chat_new(GOLDEN_DIR "/chat", NULL);
    hd_tokenizer *tokenizer = hd_tokenizer_json(GOLDEN_DIR "/chat/tokenizer.json");
    hd_generate_options options;
    hd_tensor *ids = hd_ones(HD_INT64, 1, 2), *logits = hd_ones(HD_FLOAT32, 1, 8), *tokens, *bad;
#include "families_null.h"
#include "null_table.h"
    ck_assert_msg(wrong == 0, "%d of the above", wrong);
    hd_module_free(model);
    hd_chat_free(chat);
    hd_tokenizer_free(tokenizer);
}

NULL_SUITE
