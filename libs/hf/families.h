/* families.h - the names of the model families; the file of each has its row.
 * Made by tools/checks/check_families --write. */
FAMILY(gpt2)
FAMILY(llama)
FAMILY(qwen2)
FAMILY(qwen3)
FAMILY(smollm3)
