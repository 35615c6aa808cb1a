"""The rows hf/* of heed-bench with transformers and peft; torch_work.py has the other rows.

"stock" is the usual code of their users: generate(), AdamW. "fused" is a loop over the model with a DynamicCache,
without the other work of generate(), and AdamW(fused=True).
"""
import torch
from torch.nn import functional as F

from torch_work import itself, training_step


def load(row):
    import transformers
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers.AutoModelForCausalLM.from_pretrained(row["model"], dtype=torch.float32)


def random_ids(n):
    return torch.randint(0, 49152, (1, n))


def generate(row, fused):
    from transformers import DynamicCache
    prompt, new = row["prompt"], row["new"]
    ids = random_ids(prompt)
    model = load(row).eval()
    torch.set_grad_enabled(False)

    def by_generate():
        y = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=new,
                           min_new_tokens=new, do_sample=False, pad_token_id=0)
        return y[:, prompt]

    def by_loop():
        with torch.inference_mode():
            cache, token, written = DynamicCache(config=model.config), ids, []
            for _ in range(new):
                y = model(token, past_key_values=cache, use_cache=True, logits_to_keep=1)
                token = y.logits[:, -1].argmax(1, keepdim=True)
                written.append(token)
            return written[0]
    return by_loop if fused else by_generate, itself


def step(row, fused):
    x, target = random_ids(row["tokens"]), random_ids(row["tokens"])[0]
    model = load(row).train()
    if row["rank"]:
        from peft import LoraConfig, get_peft_model
        model = get_peft_model(model, LoraConfig(r=row["rank"], lora_alpha=8, lora_dropout=0,
                                                 target_modules="all-linear"))
    options = {"fused": True} if fused else {}
    optim = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-5, **options)
    return training_step(model, optim,
                         lambda m: F.cross_entropy(m(x).logits.flatten(0, 1), target))


def loading(row, fused):
    load(row)  # imports what it needs
    return lambda: load(row), lambda model: model.model.norm.weight


KINDS = {"hf_generate": generate, "hf_step": step, "hf_load": loading}
