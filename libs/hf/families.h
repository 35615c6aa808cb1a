/* families.h - the model families, each of which has its file and its row there.
 * Made by tools/checks/check_families --write. */
FAMILY(gpt2)
FAMILY(llama)
FAMILY(qwen2)
FAMILY(qwen3)
FAMILY(smollm3)
