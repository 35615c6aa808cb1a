"""The rows hf/tokens/* of heed-bench with llama.cpp, as the Python package llama-cpp-python has it.

to_gguf writes the model's folder as a GGUF file of bfloat16 (norms are float32), with the package
gguf; llama.cpp reads no other. generate() is a work of torch_work.py.
"""
import ctypes
import json
import os
import tempfile

import numpy as np

NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
         "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
         "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
         "post_attention_layernorm": "ffn_norm"}
TOP = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}


def gguf_name(name):
    if name in TOP:
        return TOP[name]
    _, _, layer, part = name.removesuffix(".weight").split(".", 3)
    return f"blk.{layer}.{NAMES[part]}.weight"


def interleaved(w, heads):
    """The rows of q or k in the order of GGUF, where the halves of a head's rotary pairs alternate."""
    rows, columns = w.shape
    return w.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def to_gguf(folder, path):
    import gguf
    from safetensors.numpy import load_file
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    w = gguf.GGUFWriter(path, "llama")
    w.add_context_length(config["max_position_embeddings"])
    w.add_embedding_length(config["hidden_size"])
    w.add_block_count(config["num_hidden_layers"])
    w.add_feed_forward_length(config["intermediate_size"])
    w.add_head_count(heads)
    w.add_head_count_kv(kv_heads)
    w.add_layer_norm_rms_eps(config["rms_norm_eps"])
    w.add_rope_freq_base(config.get("rope_theta") or config["rope_parameters"]["rope_theta"])
    w.add_vocab_size(config["vocab_size"])
    w.add_tokenizer_model("none")  # the work is on ids
    for name, x in load_file(os.path.join(folder, "model.safetensors")).items():
        if "q_proj" in name or "k_proj" in name:
            x = interleaved(x, heads if "q_proj" in name else kv_heads)
        kind = gguf.GGMLQuantizationType.BF16 if x.ndim == 2 else gguf.GGMLQuantizationType.F32
        data = gguf.quants.quantize(np.ascontiguousarray(x), kind)
        w.add_tensor(gguf_name(name), data, raw_dtype=kind)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def generate(row, threads):
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "model.gguf")
        to_gguf(row["model"], path)
        return generate_with(row, threads, path)


def generate_with(row, threads, path):
    import torch
    import llama_cpp as ll
    prompt, new, vocab = row["prompt"], row["new"], 49152
    ids = torch.randint(0, vocab, (1, prompt))[0].tolist()
    silent = ll.llama_log_callback(lambda level, text, user: None)
    ll.llama_log_set(silent, None)
    ll.llama_backend_init()
    model = ll.llama_model_load_from_file(path.encode(), ll.llama_model_default_params())
    options = ll.llama_context_default_params()
    options.n_ctx, options.n_batch, options.n_ubatch = 1024, 512, 512
    options.n_threads = options.n_threads_batch = threads
    context = ll.llama_init_from_model(model, options)

    def next_token(tokens):
        array = (ll.llama_token * len(tokens))(*tokens)
        if ll.llama_decode(context, ll.llama_batch_get_one(array, len(tokens))) != 0:
            raise RuntimeError("llama_decode failed")
        logits = ll.llama_get_logits_ith(context, -1)
        return int(np.ctypeslib.as_array(ctypes.cast(logits, ctypes.POINTER(ctypes.c_float)),
                                         (vocab,)).argmax())

    def run(keep=silent):
        ll.llama_memory_clear(ll.llama_get_memory(context), True)
        written = [next_token(ids)]
        while len(written) < new:
            written.append(next_token(written[-1:]))
        return torch.tensor(written[0])
    return run, lambda y: y
