"""The table of model families (libs/hf): facts about each for the golden data, the oracles and the tests.

    family("qwen3", "Qwen3ForCausalLM", SMALL, {"qwen3": folder("not tied", head_dim=8)}, head_dim=[4, 8, 6])

family(name, architecture, small, folders, config=, **keys)
    name: the model_type of config.json, and the name of the file libs/hf/NAME.c. config: the name of the public
    configuration, where it is another family's.
    small: the sizes of a small model.
    folders: those of tests/golden/models by their names, which tools/golden/golden_models.py makes.
    keys: values of config.json that tools/oracle/hf_configs.py tries beside those of KEYS, and of fields that
    tools/oracle/hf_saved.py tries. None: the key may be null.
folder(peculiarity, dtype=, files=, older=, drawn=, **keys)
    A small model with these keys, in files of this dtype. older: config.json in its form before transformers 5.
    drawn: its biases, which begin as 0, are drawn.
"""
import collections

Family = collections.namedtuple("Family", "name architecture small folders config keys")
Folder = collections.namedtuple("Folder", "note dtype files older drawn keys")

FAMILIES = {}   # by their names

SMALL = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 64}
PLAIN = {"rope_type": "default", "rope_theta": 10000.0}
# The wavelengths of a head of 8 are 6, 63, 628 and 6283: two stay, one is between, one is stretched.
LLAMA3 = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 1024}
# Keys that the config.json of a decoder may have
KEYS = {"head_dim": [None, 4, 8, 6, 3], "num_key_value_heads": [None, 1], "rms_norm_eps": [1e-5, 0.1, 1.0],
        "initializer_range": [0.02, 0.5], "tie_word_embeddings": [True, False],
        "hidden_act": ["silu", "swish", "gelu"], "attention_bias": [True, False], "mlp_bias": [True, False],
        "attention_dropout": [0, 0.1, None], "pretraining_tp": [1, None], "use_sliding_window": [True, False],
        "sliding_window": [None, 2], "layer_types": [None, ["full_attention"] * 2, ["sliding_attention"] * 2],
        "pad_token_id": [None, 0, 5, -1], "rope_interleaved": [False, True], "is_llama_config": [True],
        "max_window_layers": [1]}
WINDOWS = {"attention_dropout": [0, 0.1], "max_window_layers": [0, 1, 28], "sliding_window": [None, 2, 4096]}


def family(name, architecture, small, folders, config=None, **keys):
    FAMILIES[name] = Family(name, architecture, small, folders, config or name, keys)


def folder(note, dtype="float32", files=1, older=False, drawn=False, **keys):
    return Folder(note, dtype, files, older, drawn, keys)


family("gpt2", "GPT2LMHeadModel", {"vocab_size": 64, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64}, {
    "gpt2": folder("tied, as all of GPT-2"),
    "gpt2_bf16": folder("the older form of config.json (torch_dtype)", "bfloat16", 3, older=True),
    "gpt2_gelu": folder("the activation gelu; no bias is 0", drawn=True, activation_function="gelu")},
    n_inner=[None, 12, 64], layer_norm_epsilon=[1e-5, 0.1, 1.0], embd_pdrop=[0, 0.1, 1.0], attn_pdrop=[0, 0.5],
    resid_pdrop=[0.1], initializer_range=[0.02, 2.0], tie_word_embeddings=[True, False],
    activation_function=["gelu_new", "gelu_pytorch_tanh", "gelu", "relu", "silu", "gelu_fast"],
    scale_attn_weights=[True, False], scale_attn_by_inverse_layer_idx=[True, False],
    reorder_and_upcast_attn=[True, False], add_cross_attention=[False, True], n_ctx=[32], hidden_size=[8, 16],
    num_hidden_layers=[1, 3], num_attention_heads=[2, 4], max_position_embeddings=[16, 64], pad_token_id=[None, 3, 99],
    summary_type=["first"])

family("llama", "LlamaForCausalLM", SMALL, {
    "llama": folder("not tied", files=3, rope_parameters=PLAIN, tie_word_embeddings=False, pad_token_id=0),
    "llama_bias": folder("attention_bias and mlp_bias; no bias is 0", drawn=True, rope_parameters=PLAIN,
                         tie_word_embeddings=False, pad_token_id=0, attention_bias=True, mlp_bias=True),
    "llama_f16": folder("tied", "float16", rope_parameters=PLAIN, tie_word_embeddings=True, pad_token_id=0),
    "llama3": folder("rotary scaling llama3; tied; head_dim is not the width by the heads", rope_parameters=LLAMA3,
                     tie_word_embeddings=True, pad_token_id=0, head_dim=8, max_position_embeddings=8192),
    "llama3_bf16": folder("the same, not tied; the older form of config.json (rope_theta, rope_scaling)", "bfloat16", 3,
                          older=True, rope_parameters=LLAMA3, tie_word_embeddings=False, pad_token_id=0, head_dim=8,
                          max_position_embeddings=8192)})

family("qwen2", "Qwen2ForCausalLM", SMALL, {
    "qwen2": folder("not tied", rope_parameters=PLAIN, tie_word_embeddings=False),
    "qwen2_f16": folder("tied; the older form of config.json", "float16", 3, older=True, rope_parameters=PLAIN,
                        tie_word_embeddings=True)}, config="llama", **WINDOWS)

family("qwen3", "Qwen3ForCausalLM", SMALL, {
    "qwen3": folder("a norm of each head; head_dim is not the width by the heads", head_dim=8)},
    head_dim=[4, 8, 6], **WINDOWS)

family("smollm3", "SmolLM3ForCausalLM", dict(SMALL, pad_token_id=0), {
    "smollm3": folder("the first layer has rotary positions, the second has none", no_rope_layers=[1, 0])},
    no_rope_layers=[None, [1, 0, 1], [0, 0], [0, 2], [1]], no_rope_layer_interval=[1, 2, 4, 0], sliding_window=[None, 2],
    attention_dropout=[0, 0.1])
