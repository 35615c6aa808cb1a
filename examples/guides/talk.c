/* talk.c - the program of docs/guides/talking.md: a model continues a text. Run it in the folder
 * that has SmolLM2. */
#include <stdio.h>

#include <heed/heed.h>
#include <heed/hf.h>

int main(void)
{
    hd_on_error(hd_error_abort, NULL);
    hd_on_warning(hd_warning_print, NULL);
    hd_module *model = hd_from_pretrained("SmolLM2", NULL);
    hd_tokenizer *tokenizer = hd_tokenizer_json("SmolLM2/tokenizer.json");
    hd_generate_options o = hd_generate_defaults(); /* always the likeliest token */
    hd_generate_options_load("SmolLM2", &o);        /* the folder's own options */
    o.do_sample = false;
    o.max_new_tokens = 30;
    hd_tensor *ids = hd_tokenizer_encode_with(tokenizer, "The sun is", -1, NULL); /* (tokens,) */
    hd_tensor *text = hd_generate(model, hd_unsqueeze(ids, 0), &o);               /* (1, tokens) */
    puts(hd_tokenizer_decode_with(tokenizer, text, true, NULL)); /* without special tokens */
    hd_tokenizer_free(tokenizer);
    hd_module_free(model);
    return hd_error_code();
}
