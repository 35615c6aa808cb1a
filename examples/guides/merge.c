/* merge.c - makes one model of SmolLM2 and of the adapter that `finetune instruct` has saved. Run
 * it in the folder that has both. */
#include <heed/heed.h>
#include <heed/hf.h>

int main(void)
{
    hd_on_error(hd_error_abort, NULL);
    hd_on_warning(hd_warning_print, NULL);
    hd_module *model = hd_from_pretrained("SmolLM2", NULL);
    hd_lora_load(model, "adapter");
    hd_lora_merge(model);
    hd_save_pretrained_options o = hd_save_pretrained_defaults();
    o.source = "SmolLM2"; /* its tokenizer goes with the model */
    hd_save_pretrained(model, "merged", &o);
    hd_module_free(model);
    return hd_error_code();
}
