/* rows_data.h - the functions of data.h as rows; table.h explains the form. */

/* ---------------------------------------------------------------- tokenizers */

ROW(hd_tokenizer_bytes, "", hd_tokenizer_bytes())
ROW(hd_tokenizer_chars, "", hd_tokenizer_chars(text, -1))
ROW(hd_tokenizer_bpe, "",
    hd_tokenizer_bpe(GOLDEN_DIR "/bpe_vocab.json", GOLDEN_DIR "/bpe_merges.txt"))
ROW(hd_tokenizer_json, "Qwen 2", hd_tokenizer_json(GOLDEN_DIR "/tokenizers/qwen2.json"))
ROW(hd_tokenizer_json, "Llama 2", hd_tokenizer_json(GOLDEN_DIR "/tokenizers/llama2.json"))
SKIP_ROW(hd_tokenizer_free, "every world calls it")
NEVER_ROW(hd_tokenizer_size, hd_tokenizer_size(w->bpe))
NEVER_ROW(hd_tokenizer_id, hd_tokenizer_id(w->chars, "v", -1))
ROW(hd_tokenizer_encode, "bytes", hd_tokenizer_encode(w->bytes, text, -1, HD_SPECIAL_TEXT))
ROW(hd_tokenizer_encode, "characters", hd_tokenizer_encode(w->chars, text, -1, HD_SPECIAL_TEXT))
ROW(hd_tokenizer_encode, "BPE",
    hd_tokenizer_encode(w->bpe, "every <|endoftext|> character", -1, HD_SPECIAL_ALLOW))
NEVER_ROW(hd_encode_defaults, hd_encode_defaults().add_special_tokens)
ROW(hd_tokenizer_encode_with, "Qwen 2",
    hd_tokenizer_encode_with(w->qwen2, "every <|im_end|> e\xCC\x81\xCC\xA3 12 [L]", -1, NULL))
ROW(hd_tokenizer_encode_with, "Llama 2",
    hd_tokenizer_encode_with(w->llama2, "every <s> character \xF0\x9F\xA7\xBF", -1, NULL))
ROW(hd_tokenizer_decode_bytes, "", hd_tokenizer_decode_bytes(w->bpe, w->indices, NULL))
ROW(hd_tokenizer_decode, "", hd_tokenizer_decode(w->bpe, w->indices, NULL))
ROW(hd_tokenizer_decode, "bytes that are no UTF-8",
    hd_tokenizer_decode(w->bytes, hd_full(HD_INT64, 200, 9), NULL))
ROW(hd_tokenizer_decode_with, "Qwen 2", hd_tokenizer_decode_with(w->qwen2, w->indices, true, NULL))
ROW(hd_tokenizer_decode_with, "Llama 2, bytes that are no UTF-8",
    hd_tokenizer_decode_with(w->llama2, hd_full(HD_INT64, 200, 9), true, NULL))
ROW(hd_tokenizer_save, "bytes", hd_tokenizer_save(w->bytes, w->dict, "t"))
ROW(hd_tokenizer_save, "characters", hd_tokenizer_save(w->chars, w->dict, "t"))
ROW(hd_tokenizer_save, "BPE", hd_tokenizer_save(w->bpe, w->dict, "t"))
ROW(hd_tokenizer_save, "a tokenizer.json", hd_tokenizer_save(w->llama2, w->dict, "t"))
ROW(hd_tokenizer_load, "characters", hd_tokenizer_load(w->data_state, "chars"))
ROW(hd_tokenizer_load, "BPE", hd_tokenizer_load(w->data_state, "bpe"))
ROW(hd_tokenizer_load, "a tokenizer.json", hd_tokenizer_load(w->data_state, "llama2"))

/* ---------------------------------------------------------------- tokens */

ROW(hd_tokens_open, "", hd_tokens_open(in_folder(w, "tokens.bin"), HD_TOKEN_U16))
ROW(hd_tokens_from, "", hd_tokens_from(w->target))
ROW(hd_tokens_write, "", hd_tokens_write(in_folder(w, "new.bin"), HD_TOKEN_U32, w->target))
ROW(hd_tokens_write, "in place of another",
    hd_tokens_write(in_folder(w, "tokens.bin"), HD_TOKEN_U32, w->target))
SKIP_ROW(hd_tokens_free, "every world calls it")
NEVER_ROW(hd_tokens_len, hd_tokens_len(w->tokens))
ROW(hd_tokens_read, "", hd_tokens_read(w->tokens, 3, 5))
DO(CALL, hd_tokens_split, "", {
    hd_tokens *first = NULL;
    hd_tokens *rest = NULL;
    bool ok = hd_tokens_split(w->tokens, 0.75, &first, &rest);
    keep(o, thing_of_bool(ok));
    if (ok) {
        KEEP_OUT(o, "first", first);
        KEEP_OUT(o, "rest", rest);
    }
})

/* ---------------------------------------------------------------- datasets */

ROW(hd_windows_new, "", hd_windows_new(w->tokens, 3, 1))
ROW(hd_dataset_new, "", hd_dataset_new(3, own_item, NULL, NULL))
DO(CALL, hd_random_split, "", {
    hd_dataset *parts[2] = {NULL, NULL};
    bool ok = hd_random_split(w->windows, 2, (int64_t[]){3, 4}, NULL, parts);
    keep(o, thing_of_bool(ok));
    if (ok) {
        KEEP_OUT(o, "part 0", parts[0]);
        KEEP_OUT(o, "part 1", parts[1]);
    }
})
DO(CALL, hd_random_split, "a generator of its own", {
    hd_dataset *part = NULL;
    bool ok = hd_random_split(w->windows, 1, (int64_t[]){7}, w->generator, &part);
    keep(o, thing_of_bool(ok));
    if (ok) {
        KEEP_OUT(o, "the part", part);
    }
})
SKIP_ROW(hd_dataset_free, "every world calls it")
NEVER_ROW(hd_dataset_len, hd_dataset_len(w->windows))
DO(CALL, hd_dataset_get, "", {
    hd_tensor *x = NULL;
    hd_tensor *y = NULL;
    bool ok = hd_dataset_get(w->windows, 2, &x, &y);
    keep(o, thing_of_bool(ok));
    if (ok) {
        KEEP_OUT(o, "input", x);
        KEEP_OUT(o, "target", y);
    }
})

/* ---------------------------------------------------------------- loaders */

NEVER_ROW(hd_loader_defaults, hd_loader_defaults().batch_size)
ROW(hd_loader_new, "", hd_loader_new(w->windows, NULL))
ROW(hd_loader_new, "shuffled", hd_loader_new(w->windows, &(hd_loader_options[]){shuffled()}[0]))
SKIP_ROW(hd_loader_free, "every world calls it")
NEVER_ROW(hd_loader_len, hd_loader_len(w->loader))
DO(CALL, hd_loader_next, "in an epoch", batches(w->loader, o);)
DO(CALL, hd_loader_next, "the first of an epoch", batches(w->fresh_loader, o);)
DO(CALL, hd_loader_next, "items of the program's own", batches(w->own_loader, o);)
DO(CALL, hd_loader_next_list, "windows", all_of_batch(w->loader, o);)
DO(CALL, hd_loader_next_list, "items of the program's own", all_of_batch(w->own_loader, o);)
DO(CALL, hd_loader_next_list, "padded items", all_of_batch(w->pad_loader, o);)
NEVER_ROW(hd_collate_pad_defaults, hd_collate_pad_defaults().ignore_index)
ROW(hd_collate_pad, "", hd_list_get(hd_collate_pad(&(hd_list *){own_item(4, NULL)}, 1, NULL), 1))
NEVER_ROW(hd_loader_restart, hd_loader_restart(w->loader))
NEVER_ROW(hd_loader_epoch, hd_loader_epoch(w->loader))
NEVER_ROW(hd_loader_batch, hd_loader_batch(w->loader))
ROW(hd_loader_save, "", hd_loader_save(w->loader, w->dict, "new"))
ROW(hd_loader_save, "in place of others", hd_loader_save(w->loader, w->data_state, "loader"))
ROW(hd_loader_load, "", hd_loader_load(w->loader, w->data_state, "loader"))
