/* fuzz_hf.c - fuzzes model folders. The bytes are config.json and generation_config.json of a
 * folder with the weights of a small Llama. A loaded model must have the shapes of these weights.
 * It is saved and loaded again. */
#include "fuzz.h"

#include <sys/stat.h>
#include <unistd.h>

#include "heed/hf.h"

static const char *const names[] = {
    "m/config.json", "m/generation_config.json", "m/model.safetensors",
    "n/config.json", "n/generation_config.json", "n/model.safetensors"};

static char model[128], again[128];

static int64_t weights_too(size_t size)
{
    return 64 * ((int64_t)size + 1024) + ((int64_t)1 << 22);
}

static void put(const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(fuzz_path(name), "wb");
    fuzz_check(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0, "'%s' cannot be written", name);
}

void fuzz_setup(void)
{
    static char weights[1 << 16];
    FILE *f = fopen(GOLDEN_DIR "/models/llama_f16/model.safetensors", "rb");
    size_t n = f ? fread(weights, 1, sizeof weights, f) : 0;
    fuzz_check(n > 0 && n < sizeof weights && fclose(f) == 0, "the weights cannot be read");
    snprintf(model, sizeof model, "%s", fuzz_path("m"));
    snprintf(again, sizeof again, "%s", fuzz_path("n"));
    fuzz_check(mkdir(model, 0700) == 0, "'%s' cannot be made", model);
    put(names[2], weights, n);
    fuzz_bound = weights_too;
}

void fuzz_one(const uint8_t *data, size_t size)
{
    hd_generate_options o;
    put(names[0], data, size);
    put(names[1], data, size);
    bool ok = fuzz_verdict(hd_generate_options_load(model, &o), "hd_generate_options_load");
    fuzz_check(o.num_eos >= 0 && o.num_eos <= HD_EOS_MOST && (ok || o.num_eos == 0), "the ends");
    hd_module *m = hd_from_pretrained(model, NULL);
    if (fuzz_verdict(m, "hd_from_pretrained")) {
        fuzz_check(hd_save_pretrained(m, again, NULL), "it cannot be written");
        hd_module *same = hd_from_pretrained(again, NULL);
        fuzz_check(same && strcmp(hd_module_summary(m), hd_module_summary(same)) == 0,
                   "what was written is another model");
        hd_module_free(same);
        for (int i = 3; i < 6; i++) {
            unlink(fuzz_path(names[i]));
        }
        rmdir(again);
    }
    hd_module_free(m);
}
