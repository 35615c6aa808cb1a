/* llama.h - what Llama and Qwen 2 share: a public configuration. */
#ifndef HEED_HF_LLAMA_H
#define HEED_HF_LLAMA_H

#include "hf/decoder.h"

/* Of a hd_llama_config, which is a Qwen 2's if it has qkv_bias */
hd__decoder hd__llama_decoder(const void *values);

#endif
