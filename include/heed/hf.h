/* hf.h - models that people have: folders that transformers' save_pretrained writes.
 *
 *   hd_module *model = hd_from_pretrained("SmolLM2-135M-Instruct", NULL);
 *   hd_tokenizer *tokenizer = hd_tokenizer_json("SmolLM2-135M-Instruct/tokenizer.json");
 *   hd_tensor *ids = hd_tokenizer_encode_with(tokenizer, "The capital of France is", -1, NULL);
 *   hd_tensor *all = hd_generate(model, hd_unsqueeze(ids, 0), NULL);
 *
 * A folder has config.json and model.safetensors, or shards and model.safetensors.index.json. The
 * modules have the names and the shapes of transformers' classes, so a state_dict goes to Python
 * and back without translation. hd_forward takes ids (b, t) int64 and gives the logits
 * (b, t, vocab_size); everything is computed in float32. A model in evaluation mode may run on
 * several threads at the same time.
 *
 * This is an optional library beside libheed. heed.h does not include it; link it by -lheed-hf
 * -lheed. */
#ifndef HEED_HF_H
#define HEED_HF_H

#include "heed/data.h"
#include "heed/nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- models */

/* The configuration of a GPT-2. The names and defaults are those of transformers' GPT2Config. */
typedef struct hd_gpt2_config {
    size_t size;
    int64_t vocab_size;              /* 50257 */
    int64_t n_positions;             /* 1024: the most tokens of a text */
    int64_t n_embd, n_layer, n_head; /* 768, 12, 12 */
    int64_t n_inner;                 /* 0: 4 n_embd */
    double layer_norm_epsilon;       /* 1e-5 */
    double embd_pdrop;               /* 0.1: dropout of the embeddings */
    double attn_pdrop, resid_pdrop;  /* 0.1: dropout of attention weights and residual branches */
    double initializer_range;        /* 0.02: the standard deviation of the first weights */
    bool tie_word_embeddings;        /* true: lm_head.weight is transformer.wte.weight */
    /* "gelu_new": the MLP's activation; or "gelu_pytorch_tanh", which is the same, "gelu" or "relu"
     * (max(x, 0)). In the configuration of a made model this is a static text. */
    const char *activation_function;
} hd_gpt2_config;

HD_API hd_gpt2_config hd_gpt2_config_defaults(void);
/* A GPT2LMHeadModel in training mode, with dropout; hd_module_eval ends that mode. The weights of
 * c_attn, c_proj and c_fc are (in, out). c NULL: defaults.
 *
 * Radford et al. 2019, "Language Models are Unsupervised Multitask Learners" */
HD_API hd_module *hd_gpt2_new(const hd_gpt2_config *c);

/* The configuration of a Llama, or with qkv_bias of a Qwen 2. The names and defaults are those of
 * transformers' LlamaConfig. */
typedef struct hd_llama_config {
    size_t size;
    int64_t vocab_size;              /* 32000 */
    int64_t hidden_size;             /* 4096 */
    int64_t intermediate_size;       /* 11008 */
    int64_t num_hidden_layers;       /* 32 */
    int64_t num_attention_heads;     /* 32 */
    int64_t num_key_value_heads;     /* 0: num_attention_heads; must divide it */
    int64_t head_dim;                /* 0: hidden_size / num_attention_heads */
    int64_t max_position_embeddings; /* 2048: the most tokens of a text */
    double rms_norm_eps;             /* 1e-6 */
    hd_rotary_options rope;          /* hd_rotary_defaults() */
    double initializer_range;        /* 0.02: the standard deviation of the first weights */
    int64_t pad_token_id;            /* HD_NO_PADDING; a token whose embedding gets no gradient */
    bool qkv_bias;                   /* false; true makes it a Qwen2ForCausalLM */
    bool tie_word_embeddings; /* false; if true, lm_head.weight is model.embed_tokens.weight */
    bool attention_bias;      /* false; if true, q_proj, k_proj, v_proj and o_proj have one */
    bool mlp_bias;            /* false; if true, gate_proj, up_proj and down_proj have one */
} hd_llama_config;

HD_API hd_llama_config hd_llama_config_defaults(void);
/* A LlamaForCausalLM, or with qkv_bias a Qwen2ForCausalLM, which has no attention_bias or mlp_bias.
 * c NULL: defaults.
 *
 * Touvron et al. 2023, "LLaMA: Open and Efficient Foundation Language Models" */
HD_API hd_module *hd_llama_new(const hd_llama_config *c);

/* The configuration of a Qwen 3, in which each head of queries and keys has an RMS norm. The names
 * and defaults are those of transformers' Qwen3Config. */
typedef struct hd_qwen3_config {
    size_t size;
    int64_t vocab_size;              /* 151936 */
    int64_t hidden_size;             /* 4096 */
    int64_t intermediate_size;       /* 22016 */
    int64_t num_hidden_layers;       /* 32 */
    int64_t num_attention_heads;     /* 32 */
    int64_t num_key_value_heads;     /* 32; 0: num_attention_heads; must divide it */
    int64_t head_dim;                /* 128 */
    int64_t max_position_embeddings; /* 32768: the most tokens of a text */
    double rms_norm_eps;             /* 1e-6 */
    hd_rotary_options rope;          /* hd_rotary_defaults() */
    double initializer_range;        /* 0.02: the standard deviation of the first weights */
    int64_t pad_token_id;            /* HD_NO_PADDING; a token whose embedding gets no gradient */
    bool tie_word_embeddings; /* false; if true, lm_head.weight is model.embed_tokens.weight */
    bool attention_bias;      /* false; if true, q_proj, k_proj, v_proj and o_proj have one */
} hd_qwen3_config;

HD_API hd_qwen3_config hd_qwen3_config_defaults(void);
/* A Qwen3ForCausalLM. c NULL: defaults.
 *
 * Yang et al. 2025, "Qwen3 Technical Report" */
HD_API hd_module *hd_qwen3_new(const hd_qwen3_config *c);

enum { HD_LAYERS_MOST = 128 }; /* the most layers that a list of layers holds */

/* The configuration of a SmolLM 3, in which some layers have no rotary positions. The names and
 * defaults are those of transformers' SmolLM3Config. */
typedef struct hd_smollm3_config {
    size_t size;
    int64_t vocab_size;              /* 128256 */
    int64_t hidden_size;             /* 2048 */
    int64_t intermediate_size;       /* 11008 */
    int64_t num_hidden_layers;       /* 36; at most HD_LAYERS_MOST */
    int64_t num_attention_heads;     /* 16 */
    int64_t num_key_value_heads;     /* 4; 0: num_attention_heads; must divide it */
    int64_t head_dim;                /* 0: hidden_size / num_attention_heads */
    int64_t max_position_embeddings; /* 32768: the most tokens of a text */
    double rms_norm_eps;             /* 1e-6 */
    hd_rotary_options rope;          /* hd_rotary_defaults(), but theta is 2000000 */
    double initializer_range;        /* 0.02: the standard deviation of the first weights */
    int64_t pad_token_id;            /* 128004; or HD_NO_PADDING */
    bool tie_word_embeddings;        /* true: lm_head.weight is model.embed_tokens.weight */
    bool attention_bias;            /* false; if true, q_proj, k_proj, v_proj and o_proj have one */
    bool mlp_bias;                  /* false; if true, gate_proj, up_proj and down_proj have one */
    int64_t no_rope_layer_interval; /* 4: without a list, every fourth layer has no positions */
    int64_t num_no_rope_layers;     /* 0: the length of the list, at least num_hidden_layers */
    bool no_rope_layers[HD_LAYERS_MOST]; /* the list: true for a layer with rotary positions */
} hd_smollm3_config;

HD_API hd_smollm3_config hd_smollm3_config_defaults(void);
/* A SmolLM3ForCausalLM. c NULL: defaults.
 *
 * Yang et al. 2025, "Rope to Nope and Back Again: A New Hybrid Attention Strategy" */
HD_API hd_module *hd_smollm3_new(const hd_smollm3_config *c);

/* ---------------------------------------------------------------- folders */

typedef struct hd_pretrained_options {
    size_t size;
    hd_dtype dtype; /* HD_FLOAT32: the dtype of the weights; or HD_BFLOAT16 */
    bool map;       /* true: weights of that dtype stay in the file; false: all are copied */
} hd_pretrained_options;

HD_API hd_pretrained_options hd_pretrained_defaults(void);
/* Loads the model of a folder, in evaluation mode. It is one of the classes above: the one that
 * `model_type` and `architectures` of the folder's config.json name, which must agree if both are
 * there. o NULL: defaults.
 *
 * Weights of the file's own dtype stay in the file, which is mapped as hd_load_safetensors says. As
 * long as the model lives, no other program may change the file or make it shorter, but it may
 * replace or remove it. Other weights are converted one by one. A tied model may have its weight as
 * lm_head.weight. If the file has both weights and they differ, they are not tied, and a warning
 * says so (hd_on_warning).
 *
 * The keys of config.json mean what they mean to transformers 5.23, in any order. A missing key has
 * the default of the class. The whole of rope_scaling overrides rope_parameters, and rope_theta
 * inside of them overrides rope_theta beside them. A key without effect on the model is a warning:
 * a key that heed does not know, and a key that the class does not use, such as sliding_window in a
 * Llama. So is attention_dropout, because heed's attention has no dropout in training except in a
 * GPT-2. The model keeps the text of generation_config.json, for hd_save_pretrained.
 *
 * On failure it returns NULL, and the error names the file, the key or the tensor, what was found
 * and what was expected. HD_IO: a file is missing. HD_FORMAT: a file is no JSON, a tensor is
 * missing or unknown, or Git LFS has left a pointer in place of a file. HD_SHAPE: a tensor has
 * another shape. HD_VALUE: a value has another type, or heed does not support it.
 *
 * With HD_BFLOAT16 the weights of Linear, Conv1D and Embedding take half the memory: they are
 * rounded to bfloat16, or stay as they are in a file of bfloat16, and they are frozen. Biases and
 * norms are float32, and so is every computation. hd_lora_apply makes such a model trainable. */
HD_API hd_module *hd_from_pretrained(const char *folder, const hd_pretrained_options *o);

typedef struct hd_save_pretrained_options {
    size_t size;
    hd_dtype dtype; /* HD_FLOAT32: the dtype of all tensors of the file; or HD_BFLOAT16 */
    /* NULL; a folder with a tokenizer, which is copied, with the folder's generation_config.json */
    const char *source;
} hd_save_pretrained_options;

HD_API hd_save_pretrained_options hd_save_pretrained_defaults(void);
/* Writes m as a folder from which transformers 4 and 5 and hd_from_pretrained load the same model:
 * config.json and model.safetensors, without a lm_head.weight that is tied, and copies of the
 * tokenizer's files in o->source (o NULL: defaults). Tensors of another dtype are converted in
 * memory, and for a moment a save needs the memory of the largest tensor.
 *
 * config.json describes m as it is now. These are read from the modules, whatever m was made with:
 * the sizes of the vocabulary, of positions and of the MLP, the number of layers, eps, dropouts,
 * GPT-2's activation, Llama's biases, and whether the head is tied. Special tokens, use_cache and
 * generation_config.json, unless o->source has one, come from the folder that m was loaded from; a
 * model that was not loaded has no special tokens.
 *
 * HD_STATE: a module has another class or other numbers than the class in transformers has; the
 * error names it. Examples are a head of two classes, another eps or activation in one layer, an
 * MLP of another width in one layer, a module that was taken away, and a class of your own.
 * Dropouts count, too; frozen parameters, padding_idx and inplace do not. Save such a model with
 * hd_checkpoint_save.
 *
 * Nothing is written while an error is set or m has adapters (HD_STATE), or if o->source is not a
 * folder with a tokenizer (HD_IO). HD_VALUE: transformers refuses a size or number, such as a
 * Llama's hidden size that its number of heads does not divide.
 *
 * folder must not exist; its parent must. It appears whole or not at all. A crash may leave an
 * unfinished folder beside it, with a name that begins with ".heed-" and ends in ".tmp"; the next
 * call for the same folder removes it. */
HD_API bool hd_save_pretrained(hd_module *m, const char *folder,
                               const hd_save_pretrained_options *o);

/* ---------------------------------------------------------------- batches with padding */

/* hd_forward for texts of different lengths in one batch: the logits (b, t, vocab_size) of
 * ids (b, t). attention_mask (b, t), int64 or bool, has 1 for a token of a text, and 0 for padding,
 * which may be at any place. A token's position is the number of ones before it, and it sees the
 * ones up to itself. So each row has the logits and gradients of its text alone, up to rounding.
 *
 * The logits at padding are finite but have no meaning, and their gradients reach no token: give
 * these places the target -100, which hd_cross_entropy ignores. HD_NONE and a mask of ones give the
 * result of hd_forward. HD_DTYPE, HD_SHAPE: the mask has another dtype or shape. HD_VALUE: it has
 * another value, or a row has no 1.
 *
 * transformers' model(ids, attention_mask=mask, position_ids=mask.cumsum(1) - mask) */
HD_API hd_tensor *hd_forward_with_mask(hd_module *m, hd_tensor *ids, hd_tensor *attention_mask);

/* ---------------------------------------------------------------- writing text */

enum { HD_EOS_MOST = 16 }; /* the most end tokens */

typedef struct hd_generate_options {
    size_t size;
    int64_t max_new_tokens;    /* 20: the most tokens that it adds */
    bool do_sample;            /* false: takes the likeliest token each time; true: draws */
    double temperature;        /* 1: divides the logits before each draw */
    int64_t top_k;             /* 50: draws from the k likeliest tokens; 0: from all */
    double top_p;              /* 1: draws from the likeliest tokens whose probabilities add up
                                * to top_p */
    double repetition_penalty; /* 1: divides (below 0: multiplies) the logits of tokens seen */
    int64_t eos_token_id[HD_EOS_MOST]; /* 0: a text ends with any of these num_eos tokens */
    int64_t num_eos;                   /* 0: the number of end tokens */
    int64_t pad_token_id;          /* -1: the first of eos_token_id; fills texts that have ended */
    hd_tensor *attention_mask;     /* HD_NONE; as in hd_forward_with_mask; each row ends in 1 */
    const hd_tokenizer *tokenizer; /* NULL; makes the text for on_token */
    /* NULL; called for each new token of each text `row` that has not ended. text is the part of
     * the text that the token adds, in whole characters and without special tokens: n bytes, which
     * may include U+0000, and a zero after them. It is "" if a character is not whole yet, if the
     * tokenizer lacks this token of the model, and if there is no tokenizer. If on_token returns
     * false, all texts end, without an error. It must free neither m nor the tokenizer. */
    bool (*on_token)(int64_t row, int64_t id, const char *text, int64_t n, void *user);
    void *user;
} hd_generate_options;

HD_API hd_generate_options hd_generate_defaults(void);
/* Sets *o to the defaults of a folder: those of its generation_config.json; without that file, only
 * eos_token_id is taken, from config.json or as the default of its class. A key that heed does not
 * know is a warning. On failure *o has heed's defaults. */
HD_API bool hd_generate_options_load(const char *folder, hd_generate_options *o);

/* Returns the probabilities of the next token after the texts ids (b, t) with these logits
 * (b, vocab), float32: (b, k), the likeliest first, where k is top_k or vocab. A token that top_p
 * leaves out has probability 0. *tokens gets the tokens (b, k), int64. */
HD_API hd_tensor *hd_generate_probabilities(hd_tensor *logits, hd_tensor *ids,
                                            const hd_generate_options *o, hd_tensor **tokens);

/* Returns ids (b, t) int64 and the tokens that m writes after them: (b, t + n), n <=
 * max_new_tokens. m is a model of this header. It runs in evaluation mode, and afterwards each of
 * its modules has its own mode again. Only the logits of the last position are computed, with a
 * cache of keys and values. The draws are those of hd_multinomial with the thread's generator. As
 * in transformers, the order is repetition_penalty, temperature, top_k, top_p. o NULL: defaults.
 *
 * HD_VALUE: the text would have more tokens than the model has positions; the tokenizer has more
 * tokens than the model; a row of the mask ends in 0; or there are several texts and the model
 * lacks the token that fills them.
 *
 * Prompts of different lengths need o->attention_mask, with their padding on the left. Without a
 * mask the model reads padding as text; a warning says so if rows begin or end with different
 * numbers of the token that fills texts. repetition_penalty skips padding, which transformers
 * counts as a token of the text. */
HD_API hd_tensor *hd_generate(hd_module *m, hd_tensor *ids, const hd_generate_options *o);

/* ---------------------------------------------------------------- chats */

/* A conversation, and the prompt that a model's folder makes of it:
 *
 *   hd_tokenizer *tokenizer = hd_tokenizer_json("SmolLM2/tokenizer.json");
 *   hd_chat *c = hd_chat_new("SmolLM2", NULL);
 *   hd_chat_add(c, "user", "What is the capital of France?");
 *   hd_tensor *ids = hd_unsqueeze(hd_chat_encode(c, tokenizer, true), 0);
 *   hd_tensor *all = hd_generate(model, ids, NULL);
 *   hd_tensor *answer = hd_slice(hd_select(all, 0, 0), 0, hd_size(ids, 1), INT64_MAX);
 *   hd_chat_add(c, "assistant", hd_tokenizer_decode_with(tokenizer, answer, true, NULL));
 *
 * The last line leaves out the special tokens, because the template itself writes them.
 *
 * The form of the prompt is the folder's chat template, which heed evaluates as transformers does:
 * the file chat_template.jinja, or else `chat_template` of tokenizer_config.json (of several, the
 * one named "default").
 *
 * heed has the part of Jinja that chat templates use: if, for (also with an if), set, macro,
 * generation, break and continue; the fields index, index0, first, last, previtem and nextitem of
 * loop; a if c else b, and, or, not, one of == != < <= > >= in, + - * % ~, and slices; and the
 * filters, tests, methods and functions in the tables of libs/hf/template_call.c, the tests without
 * an argument. Numbers are integers, also in options->variables, keys are strings, (a, b) is a
 * list, and two lists or dicts are not compared. A list or a dict is written by |tojson only, and
 * only ASCII letters change their case.
 *
 * Anything else is an error, HD_FORMAT with the line: a fault of form when the template is read,
 * others as soon as a text needs the part. Use another template then, or a prompt of the program's
 * own. */
typedef struct hd_chat hd_chat;

typedef struct hd_chat_options {
    size_t size;
    const char *template_file; /* NULL: the folder's template; or the file of another one */
    const char *variables;     /* NULL; a JSON object, such as {"enable_thinking": false} */
    int64_t now; /* 0: strftime_now gives the clock's local time; or a time in seconds since
                  * 1970, given as UTC */
} hd_chat_options;

HD_API hd_chat_options hd_chat_defaults(void);
/* Makes an empty conversation. Besides options->variables, the template knows the special tokens
 * that tokenizer_config.json and special_tokens_map.json name, such as bos_token and eos_token. It
 * does not know tokens that only transformers' class of the tokenizer knows. options NULL:
 * defaults. HD_VALUE: there is no template. HD_FORMAT: heed does not read the template; the message
 * has the line. */
HD_API hd_chat *hd_chat_new(const char *folder, const hd_chat_options *options);
HD_API void hd_chat_free(hd_chat *c);
/* Adds a message. The roles are those of the template: "system", "user" and "assistant" mostly.
 * HD_FORMAT: one of the texts is not UTF-8. */
HD_API bool hd_chat_add(hd_chat *c, const char *role, const char *text);
/* the number of messages; -1 on error */
HD_API int64_t hd_chat_len(const hd_chat *c);
/* Removes all but the first n messages. */
HD_API bool hd_chat_cut(hd_chat *c, int64_t n);
/* Returns the text of all messages; with for_reply, followed by the beginning of the assistant's
 * next message. It lives until the next call with c. HD_VALUE: the template refuses the messages,
 * or asks for a part of a missing value. HD_FORMAT: it needs a part of Jinja that heed lacks, or
 * adds two values that cannot be added. The length of template and messages bounds the steps and
 * the memory of a run. */
HD_API const char *hd_chat_text(hd_chat *c, bool for_reply);
/* Returns the ids of that text: (count,) int64. Special tokens keep their meaning in a message,
 * too. */
HD_API hd_tensor *hd_chat_encode(hd_chat *c, const hd_tokenizer *tokenizer, bool for_reply);
/* Adds the eos_token of the folder's tokenizer to the end tokens in *o, if it is not one of them.
 * In some folders only this token names the end of an answer. HD_VALUE: *o has HD_EOS_MOST
 * others. */
HD_API bool hd_chat_ends(const hd_chat *c, const hd_tokenizer *tokenizer, hd_generate_options *o);

/* ---------------------------------------------------------------- adapters */

/* LoRA: beside a frozen weight W (out, in), two small matrices A (r, in) and B (out, r) are
 * trained:
 *     output = base(x) + (lora_alpha / r) B(A(dropout(x)))
 * They are the modules lora_A and lora_B in the place of the base module, whose parameters keep
 * their names and stay tied: a state_dict of the base loads as before, but not strictly. To
 * optimizers and checkpoints, A and B are like any other parameters. Names, draws and files are
 * those of peft 0.21.
 *
 * Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models" */
typedef struct hd_lora_options {
    size_t size;
    int64_t r;                         /* 8: the rank of the product B A */
    double lora_alpha;                 /* 8: the product is multiplied by lora_alpha / r */
    double lora_dropout;               /* 0: the probability of dropout before A */
    const char *const *target_modules; /* {"all-linear"}: the names of modules, or their ends */
    int64_t num_target_modules;        /* 1: the number of entries */
} hd_lora_options;

HD_API hd_lora_options hd_lora_defaults(void);
/* Gives adapters to the modules below m whose dotted name is an entry of target_modules, or ends in
 * a dot and the entry: "c_attn" stands for "transformer.h.0.attn.c_attn". Their class must be
 * Linear or have the name Conv1D, whose weight is (in, out). The entry "all-linear" stands for all
 * of these modules, except m's own lm_head. As in peft, all other parameters of m are frozen,
 * whether they have an adapter or not.
 *
 * A new module is in training mode if the module that it adapts is. A is drawn from the thread's
 * generator, and B is zero, so the outputs stay the same. Make the optimizer after this call: one
 * that was made before does not have the adapters' parameters. options NULL: defaults. HD_VALUE: r
 * < 1, no module has such a name, or one has another class. HD_STATE: m has adapters. On failure
 * nothing changes. */
HD_API bool hd_lora_apply(hd_module *m, const hd_lora_options *options);
/* Makes the folder, which must not exist, with peft's adapter_config.json and
 * adapter_model.safetensors. It appears whole or not at all, as that of hd_save_pretrained.
 * HD_STATE: m has no adapters. HD_VALUE: parts of m have different options. */
HD_API bool hd_lora_save(hd_module *m, const char *folder);
/* hd_lora_apply with the options of a folder that hd_lora_save or peft wrote, and with its weights
 * in place of the draws. peft adds copies of the model's weights for an adapter of lm_head or for
 * resized embeddings: these copies are compared with m and skipped. HD_IO or HD_FORMAT: a file is
 * missing or is not as it should be. HD_VALUE or HD_SHAPE: the adapter is for another model, has
 * another tensor, or needs a feature that heed lacks, such as use_rslora, modules_to_save or a
 * bias; the message names the tensor or the key. On failure nothing changes. */
HD_API bool hd_lora_load(hd_module *m, const char *folder);
/* Adds (lora_alpha / r) B A to each weight and puts the plain modules back. The parameters stay
 * frozen. The sum is a new tensor of float32, for a weight of bfloat16 too; for a weight of float64
 * it is float64. Other parameters that were tied to a weight keep the old tensor, so no output
 * changes. HD_STATE: m has no adapters. If memory runs out, each module is either merged or as it
 * was, so the outputs are the same, and another call merges the rest. */
HD_API bool hd_lora_merge(hd_module *m);

#ifdef __cplusplus
}
#endif
#endif
