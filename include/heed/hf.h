/* hf.h - pretrained models: the folders that save_pretrained of the Python package transformers
 * writes.
 *
 *   hd_module *model = hd_from_pretrained("SmolLM2-135M-Instruct", NULL);
 *   hd_tokenizer *tokenizer = hd_tokenizer_json("SmolLM2-135M-Instruct/tokenizer.json");
 *   hd_tensor *ids = hd_tokenizer_encode_with(tokenizer, "The capital of France is", -1, NULL);
 *   hd_tensor *all = hd_generate(model, hd_unsqueeze(ids, 0), NULL);
 *
 * A folder has config.json and model.safetensors, or config.json, model.safetensors.index.json and
 * several files of weights (shards). Modules and parameters have the names and shapes of
 * transformers' classes, so either side can load the state_dict of the other. hd_forward takes ids
 * (b, t) int64 and returns the logits (b, t, vocab_size). Everything is computed in float32. A
 * model in evaluation mode may run on several threads at the same time.
 *
 * This is an optional library beside libheed. heed.h does not include hf.h. Link it with -lheed-hf
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
    int64_t vocab_size;  /* default 50257; the number of token ids */
    int64_t n_positions; /* default 1024; the most tokens of a text */
    /* default 768, 12, 12; embedding size, number of layers, of heads */
    int64_t n_embd, n_layer, n_head;
    int64_t n_inner;           /* default 0: 4 * n_embd; the inner size of the MLP */
    double layer_norm_epsilon; /* default 1e-5; the eps of the layer norms */
    double embd_pdrop;         /* default 0.1; the dropout probability of the embeddings */
    /* default 0.1; the dropout probability of attention weights, and that of residual branches */
    double attn_pdrop, resid_pdrop;
    double initializer_range; /* default 0.02; the standard deviation of the initial weights */
    bool tie_word_embeddings; /* default true: lm_head.weight is transformer.wte.weight */
    /* default "gelu_new"; the MLP's activation. It may also be "gelu", "relu", or
     * "gelu_pytorch_tanh", which is the same function as "gelu_new". In the configuration of an
     * existing model, the text is static. */
    const char *activation_function;
} hd_gpt2_config;

HD_API hd_gpt2_config hd_gpt2_config_defaults(void);
/* Makes a GPT2LMHeadModel in training mode, so dropout is on until hd_module_eval. The weights of
 * c_attn, c_proj and c_fc are (in, out). c NULL: the defaults.
 *
 * Radford et al. 2019, "Language Models are Unsupervised Multitask Learners" */
HD_API hd_module *hd_gpt2_new(const hd_gpt2_config *c);

/* The configuration of a Llama, or, with qkv_bias, of a Qwen 2. The names and defaults are those of
 * transformers' LlamaConfig. */
typedef struct hd_llama_config {
    size_t size;
    int64_t vocab_size;          /* default 32000; the number of token ids */
    int64_t hidden_size;         /* default 4096; the size of a token's vector */
    int64_t intermediate_size;   /* default 11008; the inner size of the MLP */
    int64_t num_hidden_layers;   /* default 32; the number of layers */
    int64_t num_attention_heads; /* default 32; the number of query heads */
    int64_t num_key_value_heads; /* default 0: num_attention_heads; other values must divide it */
    int64_t head_dim;            /* default 0: hidden_size / num_attention_heads */
    int64_t max_position_embeddings; /* default 2048; the most tokens of a text */
    double rms_norm_eps;             /* default 1e-6; the eps of the RMS norms */
    hd_rotary_options rope;   /* default hd_rotary_defaults(); options of the rotary positions */
    double initializer_range; /* default 0.02; the standard deviation of the initial weights */
    int64_t pad_token_id;     /* default HD_NO_PADDING; a token whose embedding gets no gradient */
    bool qkv_bias;            /* default false; if true, the model is a Qwen2ForCausalLM */
    /* default false; if true, lm_head.weight is model.embed_tokens.weight */
    bool tie_word_embeddings;
    bool attention_bias; /* default false; if true, q_proj, k_proj, v_proj and o_proj have a bias */
    bool mlp_bias;       /* default false; if true, gate_proj, up_proj and down_proj have a bias */
} hd_llama_config;

HD_API hd_llama_config hd_llama_config_defaults(void);
/* Makes a LlamaForCausalLM, or a Qwen2ForCausalLM if qkv_bias is true. With qkv_bias, the call
 * fails with HD_VALUE if attention_bias or mlp_bias is true. c NULL: the defaults.
 *
 * Touvron et al. 2023, "LLaMA: Open and Efficient Foundation Language Models" */
HD_API hd_module *hd_llama_new(const hd_llama_config *c);

/* The configuration of a Qwen 3, in which each head of queries and keys has an RMS norm. The names
 * and defaults are those of transformers' Qwen3Config. */
typedef struct hd_qwen3_config {
    size_t size;
    int64_t vocab_size;          /* default 151936; the number of token ids */
    int64_t hidden_size;         /* default 4096; the size of a token's vector */
    int64_t intermediate_size;   /* default 22016; the inner size of the MLP */
    int64_t num_hidden_layers;   /* default 32; the number of layers */
    int64_t num_attention_heads; /* default 32; the number of query heads */
    /* default 32; 0 means num_attention_heads; any other must divide it */
    int64_t num_key_value_heads;
    int64_t head_dim;                /* default 128; the size of a head */
    int64_t max_position_embeddings; /* default 32768; the most tokens of a text */
    double rms_norm_eps;             /* default 1e-6; the eps of the RMS norms */
    hd_rotary_options rope;   /* default hd_rotary_defaults(); options of the rotary positions */
    double initializer_range; /* default 0.02; the standard deviation of the initial weights */
    int64_t pad_token_id;     /* default HD_NO_PADDING; a token whose embedding gets no gradient */
    /* default false; if true, lm_head.weight is model.embed_tokens.weight */
    bool tie_word_embeddings;
    bool attention_bias; /* default false; if true, q_proj, k_proj, v_proj and o_proj have a bias */
} hd_qwen3_config;

HD_API hd_qwen3_config hd_qwen3_config_defaults(void);
/* Makes a Qwen3ForCausalLM. c NULL: the defaults.
 *
 * Yang et al. 2025, "Qwen3 Technical Report" */
HD_API hd_module *hd_qwen3_new(const hd_qwen3_config *c);

enum { HD_LAYERS_MOST = 128 }; /* the length of hd_smollm3_config's array of layers */

/* The configuration of a SmolLM 3, in which some layers have no rotary positions. The names and
 * defaults are those of transformers' SmolLM3Config. */
typedef struct hd_smollm3_config {
    size_t size;
    int64_t vocab_size;          /* default 128256; the number of token ids */
    int64_t hidden_size;         /* default 2048; the size of a token's vector */
    int64_t intermediate_size;   /* default 11008; the inner size of the MLP */
    int64_t num_hidden_layers;   /* default 36; the number of layers; at most HD_LAYERS_MOST */
    int64_t num_attention_heads; /* default 16; the number of query heads */
    /* default 4; 0 means num_attention_heads; any other must divide it */
    int64_t num_key_value_heads;
    int64_t head_dim;                /* default 0: hidden_size / num_attention_heads */
    int64_t max_position_embeddings; /* default 32768; the most tokens of a text */
    double rms_norm_eps;             /* default 1e-6; the eps of the RMS norms */
    hd_rotary_options rope;          /* default hd_rotary_defaults(); its theta is 2000000 */
    double initializer_range; /* default 0.02; the standard deviation of the initial weights */
    int64_t pad_token_id;     /* default 128004; a token that gets no gradient; or HD_NO_PADDING */
    bool tie_word_embeddings; /* default true: lm_head.weight is model.embed_tokens.weight */
    bool attention_bias; /* default false; if true, q_proj, k_proj, v_proj and o_proj have a bias */
    bool mlp_bias;       /* default false; if true, gate_proj, up_proj and down_proj have a bias */
    /* default 4; if no_rope_layers is not set, every fourth layer has no rotary positions */
    int64_t no_rope_layer_interval;
    /* default 0: no_rope_layers is not set; else its length, at least num_hidden_layers */
    int64_t num_no_rope_layers;
    /* default false; in spite of the name, entry i is true if layer i has rotary positions */
    bool no_rope_layers[HD_LAYERS_MOST];
} hd_smollm3_config;

HD_API hd_smollm3_config hd_smollm3_config_defaults(void);
/* Makes a SmolLM3ForCausalLM. c NULL: the defaults.
 *
 * Yang et al. 2025, "Rope to Nope and Back Again: A New Hybrid Attention Strategy" */
HD_API hd_module *hd_smollm3_new(const hd_smollm3_config *c);

/* ---------------------------------------------------------------- folders */

typedef struct hd_pretrained_options {
    size_t size;
    hd_dtype dtype; /* default HD_FLOAT32; the dtype of the weights; or HD_BFLOAT16 */
    bool map; /* default true: weights that have this dtype in the file are mapped, not copied */
} hd_pretrained_options;

HD_API hd_pretrained_options hd_pretrained_defaults(void);
/* Loads the model of a folder, in evaluation mode. Its class is the one that `model_type` and
 * `architectures` of the folder's config.json name, and must be a class of this header. If
 * config.json has both keys, they must agree. o NULL: the defaults.
 *
 * With o->map, weights that have dtype o->dtype in the file stay there: the file is mapped, as
 * hd_load_safetensors describes. Until the model is freed, other programs must not change or
 * shorten the file, but they may replace or remove it. Other weights are converted one by one. The
 * file of a tied model may have the shared weight under the name lm_head.weight. If the file has
 * both weights and they differ, they are not tied, and a warning says so (hd_on_warning).
 *
 * heed reads the keys of config.json as transformers 5.23 does, in any order. A missing key has the
 * default of the class. rope_scaling, if it is there, replaces rope_parameters as a whole; and a
 * rope_theta inside one of these objects overrides the rope_theta outside of it. A key that heed
 * does not know gives a warning. So does a key that changes other models but not this one, such as
 * sliding_window in a Llama. attention_dropout is such a key, except in a GPT-2, because heed's
 * other models have no dropout in their attention. The model keeps the text of
 * generation_config.json, for hd_save_pretrained.
 *
 * If the call fails, the message names the file, the key or the tensor, the value that was found
 * and the one that was expected. HD_IO: a file is missing. HD_FORMAT: a file is not JSON, a tensor
 * is missing or unknown, or a file is only a pointer that Git LFS left. HD_SHAPE: a tensor has
 * another shape than the model. HD_VALUE: a value has the wrong type, or heed does not support it.
 *
 * With HD_BFLOAT16 the weights of Linear, Conv1D and Embedding take half the memory. They are
 * rounded to bfloat16, unless the file has bfloat16, and they are frozen. Biases and the parameters
 * of norms are float32, and so is every computation. hd_lora_apply makes such a model trainable. */
HD_API hd_module *hd_from_pretrained(const char *folder, const hd_pretrained_options *o);

typedef struct hd_save_pretrained_options {
    size_t size;
    hd_dtype dtype; /* default HD_FLOAT32; the dtype of all tensors of the file; or HD_BFLOAT16 */
    /* default NULL; a folder whose tokenizer files and generation_config.json are copied */
    const char *source;
} hd_save_pretrained_options;

HD_API hd_save_pretrained_options hd_save_pretrained_defaults(void);
/* Writes m as a folder from which transformers 4 and 5, and hd_from_pretrained, load the same
 * model. The folder has config.json, model.safetensors, and copies of the tokenizer's files in
 * o->source. If lm_head.weight is tied, the file does not have it. Tensors of another dtype than
 * o->dtype are converted one by one, so the call needs additional memory for the largest of them. o
 * NULL: the defaults.
 *
 * config.json describes m as it is now. Many values are read from the current modules, even if m
 * was made with others: the sizes of the vocabulary, of positions and of the MLP, the number of
 * layers, eps, dropouts, GPT-2's activation, Llama's biases, and whether the head is tied. Special
 * tokens and use_cache come from the folder from which m was loaded. So does
 * generation_config.json, unless o->source has one. A model that was not loaded has no special
 * tokens.
 *
 * HD_STATE: the class in transformers cannot describe m, because a module of m has another class or
 * other sizes or options; the message names this module. Examples are a classification head of two
 * classes, a layer with another eps, activation or width of its MLP, a module that was removed, and
 * a class of your own. Dropout probabilities count, too; frozen parameters, padding_idx and inplace
 * do not. Save such a model with hd_checkpoint_save.
 *
 * The call fails and writes nothing while an error is set, if m has adapters (HD_STATE), and if
 * o->source is not a folder with a tokenizer (HD_IO). HD_VALUE: transformers refuses a size or
 * another number, such as a Llama's hidden size that is not divisible by its number of heads.
 *
 * The folder appears whole or not at all. HD_IO: it exists already, or its parent does not exist. A
 * crash may leave an unfinished folder beside it, with a name that begins with ".heed-" and ends in
 * ".tmp"; the next call for the same folder removes it. */
HD_API bool hd_save_pretrained(hd_module *m, const char *folder,
                               const hd_save_pretrained_options *o);

/* ---------------------------------------------------------------- batches with padding */

/* Does the same as hd_forward for texts of different lengths in one batch: returns the logits (b,
 * t, vocab_size) of ids (b, t). attention_mask (b, t), int64 or bool, has 1 for a token of a text
 * and 0 for padding, which may be anywhere. The position of a token is the number of ones before
 * it. A token sees the tokens with ones before it, and itself. So, up to rounding, each row has the
 * logits and gradients that its text has alone.
 *
 * The logits at padding are finite but have no meaning, and their gradients reach no token. In a
 * loss, give padding the target -100, which hd_cross_entropy ignores. HD_NONE and a mask of ones
 * give the result of hd_forward. HD_DTYPE, HD_SHAPE: the mask has another dtype or shape. HD_VALUE:
 * it has values other than 0 and 1, or a row has no 1.
 *
 * In transformers: model(ids, attention_mask=mask, position_ids=mask.cumsum(1) - mask) */
HD_API hd_tensor *hd_forward_with_mask(hd_module *m, hd_tensor *ids, hd_tensor *attention_mask);

/* ---------------------------------------------------------------- writing text */

enum { HD_EOS_MOST = 16 }; /* the most end tokens in hd_generate_options */

typedef struct hd_generate_options {
    size_t size;
    int64_t max_new_tokens; /* default 20; the most tokens that hd_generate adds to a text */
    bool do_sample; /* default false: takes the likeliest token each time; true: draws a token */
    double temperature; /* default 1; the logits are divided by this number before each draw */
    int64_t top_k;      /* default 50; draws from this many of the likeliest tokens; 0: from all */
    /* default 1; draws only from the likeliest tokens: the fewest whose probabilities add up to
     * top_p or more */
    double top_p;
    /* default 1; for tokens that the text already has, a positive logit is divided by this
     * number, and a negative one is multiplied by it */
    double repetition_penalty;
    int64_t eos_token_id[HD_EOS_MOST]; /* default 0; the first num_eos entries end a text */
    int64_t num_eos;                   /* default 0; the number of end tokens in eos_token_id */
    /* default -1: eos_token_id[0]; this token fills a row whose text has ended */
    int64_t pad_token_id;
    /* default HD_NONE: no mask; else a mask as in hd_forward_with_mask. Each row of it must end
     * in 1. */
    hd_tensor *attention_mask;
    const hd_tokenizer *tokenizer; /* default NULL; makes the text for on_token */
    /* default NULL; hd_generate calls it for each new token id of each row whose text has not
     * ended. text is the part that the token adds to the decoded text, in whole characters and
     * without special tokens: n bytes, which may include U+0000, and a zero after them. It is ""
     * if the token ends inside a character, if the tokenizer lacks the token, or if there is no
     * tokenizer. If on_token returns false, all texts end, without an error. It must free
     * neither m nor the tokenizer. */
    bool (*on_token)(int64_t row, int64_t id, const char *text, int64_t n, void *user);
    void *user; /* default NULL; the last argument of on_token */
} hd_generate_options;

HD_API hd_generate_options hd_generate_defaults(void);
/* Sets *o to the defaults of a folder, which are in its generation_config.json. Without this file,
 * only eos_token_id is set: to the value in config.json, or to the default of the model's class. A
 * key that heed does not know gives a warning. On failure *o has heed's defaults. */
HD_API bool hd_generate_options_load(const char *folder, hd_generate_options *o);

/* Returns the probabilities with which hd_generate draws the next token of each text. ids (b, t)
 * are the texts, and logits (b, vocab), float32, are the model's logits of their last position. The
 * result is (b, k), the likeliest token first. k is top_k, or vocab if top_k is 0 or larger than
 * vocab. A token that top_p excludes has probability 0. *tokens gets the tokens (b, k), int64. o
 * NULL: the defaults. */
HD_API hd_tensor *hd_generate_probabilities(hd_tensor *logits, hd_tensor *ids,
                                            const hd_generate_options *o, hd_tensor **tokens);

/* Returns ids (b, t) int64 followed by the tokens that m generates: (b, t + n), n <=
 * max_new_tokens. m is a model of this header. It runs in evaluation mode; afterwards each of its
 * modules has its previous mode again. If memory runs out while heed restores the modes, a module
 * may get its parent's mode. Each step computes only the logits of the last position, with a cache
 * of keys and values. hd_multinomial draws the tokens, from the thread's generator. As in
 * transformers, repetition_penalty is applied first, then temperature, top_k and top_p. o NULL: the
 * defaults.
 *
 * HD_VALUE: a text would have more tokens than the model has positions; the tokenizer has more
 * tokens than the model; a row of the mask ends in 0; or there are several texts and end tokens,
 * and the token that fills a row is not in the model's vocabulary.
 *
 * Prompts of different lengths need padding on the left, and o->attention_mask. Without a mask the
 * model reads padding as text. A warning says so if rows begin or end with different numbers of the
 * token that fills texts. repetition_penalty ignores padding; transformers counts it as a token of
 * the text. */
HD_API hd_tensor *hd_generate(hd_module *m, hd_tensor *ids, const hd_generate_options *o);

/* ---------------------------------------------------------------- chats */

/* A conversation. heed writes it as a prompt, in the form that a model's folder defines:
 *
 *   hd_tokenizer *tokenizer = hd_tokenizer_json("SmolLM2/tokenizer.json");
 *   hd_chat *c = hd_chat_new("SmolLM2", NULL);
 *   hd_chat_add(c, "user", "What is the capital of France?");
 *   hd_tensor *ids = hd_unsqueeze(hd_chat_encode(c, tokenizer, true), 0);
 *   hd_tensor *all = hd_generate(model, ids, NULL);
 *   hd_tensor *answer = hd_slice(hd_select(all, 0, 0), 0, hd_size(ids, 1), INT64_MAX);
 *   hd_chat_add(c, "assistant", hd_tokenizer_decode_with(tokenizer, answer, true, NULL));
 *
 * The last line decodes the answer without special tokens, because the template itself adds them.
 *
 * The form of the prompt is the folder's chat template: the file chat_template.jinja, or else
 * `chat_template` of tokenizer_config.json (if it has several, the one named "default"). heed
 * evaluates the template as transformers does.
 *
 * heed supports the part of Jinja that chat templates use:
 *   statements   if, for (even with an if), set, macro, generation, break, continue
 *   loop.        index, index0, first, last, previtem, nextitem
 *   expressions  a if c else b, and, or, not, + - * % ~, slices, and a single comparison, one of
 *                == != < <= > >= in
 *   names        the filters, tests, methods and functions in the tables of
 *                libs/hf/template_call.c; a test takes no argument
 * Numbers, even those in options->variables, are integers. Keys are strings, and (a, b) is a list.
 * Two lists or two dicts cannot be compared. Only |tojson writes a list or a dict, and only ASCII
 * letters change their case.
 *
 * Anything else fails with HD_FORMAT, and the message has the line. A syntax error fails when the
 * template is read; a part that heed lacks fails when a text needs this part. In this case use
 * another template, or write the prompt in the program. */
typedef struct hd_chat hd_chat;

typedef struct hd_chat_options {
    size_t size;
    /* default NULL: the folder's template; else a file with another template */
    const char *template_file;
    const char *variables; /* default NULL; a JSON object, such as {"enable_thinking": false} */
    /* default 0: strftime_now returns the current local time; else it returns this time, in
     * seconds since 1970, as UTC */
    int64_t now;
} hd_chat_options;

HD_API hd_chat_options hd_chat_defaults(void);
/* Makes an empty conversation. The template can use options->variables and the special tokens that
 * tokenizer_config.json and special_tokens_map.json name, such as bos_token and eos_token. It
 * cannot use special tokens that only the tokenizer's class in transformers defines. options NULL:
 * the defaults. HD_VALUE: there is no template, or options->variables is not a JSON object.
 * HD_FORMAT: heed cannot read the template; the message has the line. */
HD_API hd_chat *hd_chat_new(const char *folder, const hd_chat_options *options);
HD_API void hd_chat_free(hd_chat *c); /* frees c; takes NULL */
/* Adds a message. The template defines the roles; most have "system", "user" and "assistant".
 * HD_FORMAT: role or text is not UTF-8. */
HD_API bool hd_chat_add(hd_chat *c, const char *role, const char *text);
/* the number of messages; -1 on error */
HD_API int64_t hd_chat_len(const hd_chat *c);
/* Removes all messages except the first n. HD_INDEX: n is negative, or there are fewer messages. */
HD_API bool hd_chat_cut(hd_chat *c, int64_t n);
/* Returns the prompt: the text of all messages, and, with for_reply, the beginning of the
 * assistant's next message. The text is valid until the next call with c. HD_VALUE: there are no
 * messages, the template refuses them, or it reads a member of a missing value. HD_FORMAT: the
 * template needs a part of Jinja that heed lacks, or adds two values that cannot be added. heed
 * limits the steps and the memory of one evaluation, in proportion to the length of template and
 * messages; a template that needs more fails with HD_VALUE. */
HD_API const char *hd_chat_text(hd_chat *c, bool for_reply);
/* Returns the ids of the text of hd_chat_text: (count,) int64. Special tokens keep their meaning
 * even inside a message. */
HD_API hd_tensor *hd_chat_encode(hd_chat *c, const hd_tokenizer *tokenizer, bool for_reply);
/* Adds an end token to o->eos_token_id: the id that tokenizer has for the eos_token of c's folder.
 * In some folders only this token ends an answer. If the folder names no eos_token, if tokenizer
 * does not have it, or if *o has its id already, the call returns true and changes nothing.
 * HD_VALUE: *o already has HD_EOS_MOST other end tokens. */
HD_API bool hd_chat_ends(const hd_chat *c, const hd_tokenizer *tokenizer, hd_generate_options *o);

/* ---------------------------------------------------------------- adapters */

/* LoRA: a program trains two small matrices A (r, in) and B (out, r) beside a frozen weight W (out,
 * in):
 *     output = base(x) + (lora_alpha / r) * B(A(dropout(x)))
 * A module with the children lora_A and lora_B takes the place of the base module. The base's
 * parameters keep their names and stay tied, so a state_dict of the base model still loads, but not
 * strictly. For optimizers and checkpoints, A and B are parameters like any other. Names, random
 * draws and files are those of the Python package peft 0.21.
 *
 * Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models" */
typedef struct hd_lora_options {
    size_t size;
    int64_t r;           /* default 8; the rank of the product B @ A */
    double lora_alpha;   /* default 8; the product is multiplied by lora_alpha / r */
    double lora_dropout; /* default 0; the probability of dropout before A */
    /* default {"all-linear"}; names of modules, or ends of names */
    const char *const *target_modules;
    int64_t num_target_modules; /* default 1; the number of entries of target_modules */
} hd_lora_options;

HD_API hd_lora_options hd_lora_defaults(void);
/* Adds adapters to the modules inside m whose dotted name is an entry of target_modules, or ends in
 * a dot and the entry: "c_attn" matches "transformer.h.0.attn.c_attn". The class of such a module
 * must be Linear or Conv1D, whose weight is (in, out). The entry "all-linear" stands for all
 * modules of these classes, except m's own lm_head. As in peft, all parameters that m had before
 * are frozen, even those without an adapter.
 *
 * An adapter is in training mode if the module that it adapts is. A is drawn from the thread's
 * generator, and B is zero, so the outputs of m stay the same. Make the optimizer after this call:
 * one that was made before does not have the adapters' parameters. options NULL: the defaults.
 * HD_VALUE: r < 1, lora_alpha is not finite, lora_dropout is not from 0 to 1, target_modules
 * matches no module, or a matched module has another class. HD_STATE: m has adapters already. On
 * failure nothing changes. */
HD_API bool hd_lora_apply(hd_module *m, const hd_lora_options *options);
/* Saves the adapters of m as a folder with peft's adapter_config.json and
 * adapter_model.safetensors. The folder appears whole or not at all, as with hd_save_pretrained.
 * HD_IO: it exists already. HD_STATE: m has no adapters. HD_VALUE: adapters of m have different
 * options. */
HD_API bool hd_lora_save(hd_module *m, const char *folder);
/* Adds the adapters of a folder that hd_lora_save or peft wrote: calls hd_lora_apply with the
 * folder's options, then sets A and B to the folder's weights. For an adapter of lm_head, or for
 * resized embeddings, peft also saves copies of the model's weights. These copies must be equal to
 * m's weights, and are not loaded. HD_IO, HD_FORMAT: a file is missing or malformed. HD_VALUE,
 * HD_SHAPE: the adapters are for another model, have an unknown tensor, or need a feature that heed
 * lacks, such as use_rslora, modules_to_save or a bias; the message names the tensor or the key. On
 * failure nothing changes. */
HD_API bool hd_lora_load(hd_module *m, const char *folder);
/* Adds (lora_alpha / r) * B @ A to each adapted weight and puts the base modules back into their
 * places. The parameters stay frozen. The sum is a new tensor: float64 for a weight of float64,
 * else float32, even for a weight of bfloat16. Other parameters that were tied to a weight keep the
 * old tensor, so no output changes. HD_STATE: m has no adapters. If memory runs out, each module is
 * either merged or as it was. So the outputs are the same, and another call merges the modules that
 * are left. */
HD_API bool hd_lora_merge(hd_module *m);

#ifdef __cplusplus
}
#endif
#endif
