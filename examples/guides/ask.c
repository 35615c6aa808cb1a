/* ask.c - asks the classifier of `finetune classify SmolLM2 --save classifier` whether a message is
 * an offer. Run it in the folder that has both. */
#include <stdio.h>

#include <heed/heed.h>
#include <heed/hf.h>

int main(int argc, char **argv)
{
    const char *message = argc > 1 ? argv[1] : "You won a new phone! Text WIN to 80123 now!";
    hd_on_error(hd_error_abort, NULL);
    hd_on_warning(hd_warning_print, NULL);
    hd_dict *weights, *state;
    hd_checkpoint_load("classifier", &weights, &state);
    hd_module *model = hd_from_pretrained("SmolLM2", NULL);
    hd_tokenizer *tokenizer = hd_tokenizer_json("SmolLM2/tokenizer.json");
    int64_t width = hd_size(hd_module_get_parameter(model, "lm_head.weight"), 1);
    hd_module_set(model, "lm_head", hd_linear_new(width, 2, true)); /* the head of two classes */
    hd_module_load_state_dict(model, weights, true, NULL);
    int64_t longest, pad; /* the length and the padding of the messages in the training */
    hd_dict_get_int(state, "longest", &longest);
    hd_dict_get_int(state, "pad", &pad);
    hd_tensor *ids = hd_tokenizer_encode_with(tokenizer, message, -1, NULL); /* (n,) */
    int64_t more = hd_numel(ids) < longest ? longest - hd_numel(ids) : 0;
    ids = hd_cat(0, ids, hd_full(HD_INT64, (double)pad, more));
    hd_tensor *logits = hd_select(hd_forward(model, hd_unsqueeze(ids, 0)), 1, -1); /* (1, 2) */
    puts(hd_item_int(hd_argmax(logits)) == 1 ? "an offer" : "no offer");
    hd_tokenizer_free(tokenizer);
    hd_module_free(model);
    hd_dict_free(weights), hd_dict_free(state);
    return hd_error_code();
}
