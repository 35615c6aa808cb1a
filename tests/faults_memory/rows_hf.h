/* rows_hf.h - the functions of hf.h as rows; table.h explains the form. */
#include "families_memory.h"
NEVER_ROW(hd_pretrained_defaults, hd_pretrained_defaults().dtype == HD_FLOAT32)
NEVER_ROW(hd_save_pretrained_defaults, !hd_save_pretrained_defaults().source)
NEVER_ROW(hd_generate_defaults, hd_generate_defaults().top_k)
ROW(hd_from_pretrained, "three shards of Qwen 2", hd_from_pretrained(FOLDERS "/qwen2_f16", NULL))
ROW(hd_from_pretrained, "in bfloat16", hd_from_pretrained(FOLDERS "/gpt2_bf16", &stored))
ROW(hd_save_pretrained, "", hd_save_pretrained(gpt2_model, in_folder(w, "new"), &saved_beside))
ROW(hd_save_pretrained, "in bfloat16",
    hd_save_pretrained(gpt2_model, in_folder(w, "new"), &saved_stored))
ROW(hd_forward_with_mask, "GPT-2", hd_forward_with_mask(gpt2_model, prompt, one_padded))
ROW(hd_forward_with_mask, "Llama", hd_forward_with_mask(llama_model, prompt, one_padded))
DO(CALL, hd_generate_options_load, "", {
    bool ok = hd_generate_options_load(FOLDERS "/llama", &options);
    keep(o, thing_of_bool(ok));
    if (ok) {
        KEEP_OUT(o, "the end token", options.eos_token_id[0]);
    }
})
DO(CALL, hd_generate_probabilities, "", {
    hd_tensor *tokens = NULL;
    hd_tensor *p = hd_generate_probabilities(logits, prompt, &drawn, &tokens);
    keep(o, thing_of_tensor(p));
    if (p) {
        KEEP_OUT(o, "*tokens", tokens);
    }
})
ROW(hd_generate, "GPT-2", hd_generate(gpt2_model, prompt, &few))
ROW(hd_generate, "Llama, drawn, with text", hd_generate(llama_model, prompt, &drawn))
ROW(hd_generate, "with padding", hd_generate(llama_model, prompt, &padded))
NEVER_ROW(hd_lora_defaults, (hd_lora_defaults(), true))
ROW(hd_lora_apply, "", hd_lora_apply(plain, NULL))
DO(CALL, hd_lora_apply, "dropout, and a list of names", hd_lora_options options = dropped();
   keep(o, THING(hd_lora_apply(plain, &options)));)
ROW(hd_lora_save, "", hd_lora_save(adapted, in_folder(w, "new")))
ROW(hd_lora_load, "", hd_lora_load(plain, in_folder(w, "adapter")))
ROW(hd_lora_merge, "of one module", hd_lora_merge(adapted))
NEVER_ROW(hd_chat_defaults, !hd_chat_defaults().template_file)
DO(CALL, hd_chat_new, "", hd_chat *c = hd_chat_new(CHAT, &chat_options); keep(o, thing_of_bool(c));
   hd_chat_free(c);)
DO(CALL, hd_chat_add, "", hd_chat *c = chat_of_one(); keep(o, thing_of_bool(c)); hd_chat_free(c);)
DO(CALL, hd_chat_text, "", hd_chat *c = chat_of_one();
   keep(o, thing_of_bool(hd_chat_text(c, true))); hd_chat_free(c);)
DO(CALL, hd_chat_encode, "", hd_chat *c = chat_of_one();
   keep(o, thing_of_tensor(hd_chat_encode(c, bytes, true))); hd_chat_free(c);)
SKIP_ROW(hd_chat_len, "it allocates nothing")
SKIP_ROW(hd_chat_cut, "it allocates nothing")
SKIP_ROW(hd_chat_ends, "it allocates nothing")
SKIP_ROW(hd_chat_free, "the rows of chats call it")
