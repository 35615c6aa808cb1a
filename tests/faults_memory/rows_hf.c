/* rows_hf.c - the rows of hf.h. */
#include "heed/hf.h"

#include "faults_memory/faults.h"
#include "hf/tiny.h"

#define FOLDERS GOLDEN_DIR "/models"
#define CHAT GOLDEN_DIR "/chat"

/* What every world has. */
static hd_gpt2_config gpt2;
static hd_llama_config llama;
static hd_module *gpt2_model, *llama_model;
static hd_tokenizer *bytes;
static hd_tensor *prompt, *logits, *one_padded; /* (2, 2), (2, 256), (2, 2) */
static hd_generate_options options, few, drawn, padded;
static hd_save_pretrained_options saved_beside, saved_stored;
static hd_pretrained_options stored;
static hd_chat_options chat_options;

/* without adapters, and with one in one place */
static hd_module *plain, *adapted;

static bool on_token(int64_t row, int64_t id, const char *text, int64_t n, void *user)
{
    (void)row, (void)id, (void)text, (void)n, (void)user;
    return true;
}

static void begin(world *w)
{
    gpt2 = hd_gpt2_config_defaults();
    gpt2.vocab_size = 9;
    gpt2.n_positions = 32;
    gpt2.n_embd = 8;
    gpt2.n_layer = 1;
    gpt2.n_head = 2;
    llama = hd_llama_config_defaults();
    llama.vocab_size = 256;
    llama.hidden_size = 8;
    llama.intermediate_size = 12;
    llama.num_hidden_layers = 1;
    llama.num_attention_heads = 2;
    llama.num_key_value_heads = 1;
    gpt2_model = hd_gpt2_new(&gpt2);
    llama_model = hd_llama_new(&llama);
    bytes = hd_tokenizer_bytes();
    world_add(w, "bytes", THING(bytes));
    prompt = hd_ones(HD_INT64, 2, 2);
    logits = hd_full(HD_FLOAT32, 0.5, 2, 256);
    few = hd_generate_defaults();
    few.max_new_tokens = 2;
    drawn = few;
    drawn.do_sample = true;
    drawn.top_p = 0.9;
    drawn.repetition_penalty = 1.1;
    drawn.tokenizer = bytes;
    drawn.on_token = on_token;
    one_padded = hd_ones(HD_INT64, 2, 2);
    hd_setitem_scalar(one_padded, 0, 1, 0);
    padded = drawn;
    padded.attention_mask = one_padded;
    saved_beside = hd_save_pretrained_defaults();
    saved_beside.source = GOLDEN_DIR "/chat";
    saved_stored = hd_save_pretrained_defaults();
    saved_stored.dtype = HD_BFLOAT16;
    stored = hd_pretrained_defaults();
    stored.dtype = HD_BFLOAT16;
    world_add(w, "GPT-2", thing_of_module(gpt2_model));
    world_add(w, "Llama", thing_of_module(llama_model));
    world_add(w, "prompt", thing_of_tensor(prompt));
    chat_options = hd_chat_defaults();
    chat_options.variables = "{\"a\": [15, {\"b\": null}]}";
    static const char *const names[] = {"c_attn"};
    hd_lora_options o = hd_lora_defaults();
    o.r = 2;
    o.target_modules = names;
    plain = tiny_new();
    adapted = tiny_new();
    hd_lora_apply(adapted, &o);
    hd_lora_save(adapted, in_folder(w, "adapter"));
    world_add(w, "the plain model", thing_of_module(plain));
    world_add(w, "the adapted model", thing_of_module(adapted));
}

static hd_lora_options dropped(void)
{
    static const char *const names[] = {"proj", "head"};
    hd_lora_options o = hd_lora_defaults();
    o.lora_dropout = 0.5;
    o.target_modules = names;
    o.num_target_modules = 2;
    return o;
}

/* A chat with a message; NULL: it failed. */
static hd_chat *chat_of_one(void)
{
    hd_chat *c = hd_chat_new(CHAT, &chat_options);
    if (!hd_chat_add(c, "user", "Hi")) {
        hd_chat_free(c);
        return NULL;
    }
    return c;
}

#define ROWS "faults_memory/rows_hf.h"
#define TABLE table_hf
#define NAME "hf"
#define PARTS FOLDER
#define BEGIN begin
#include "faults_memory/table.h"
