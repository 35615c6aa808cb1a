/* first.c - the first program of README.md: self-attention, and the gradient of a weight. */
#include "heed.h"

int main(void)
{
    hd_on_error(hd_error_abort, NULL);     /* stops at the first mistake and says what it is */
    hd_on_warning(hd_warning_print, NULL); /* says what is probably a mistake */
    hd_manual_seed(123);
    hd_module *attention = hd_self_attention_v2_new(3, 2, false);
    hd_tensor *x = hd_rand(HD_FLOAT32, 6, 3);      /* (num_tokens, d_in) */
    hd_tensor *context = hd_forward(attention, x); /* (num_tokens, d_out) */
    hd_backward(hd_sum(context));
    hd_print(context);
    hd_print(hd_grad(hd_module_get_parameter(attention, "W_query.weight")));
    hd_module_free(attention);
    return hd_error_code();
}
