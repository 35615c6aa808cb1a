/* program.c - a sample program that uses an installed heed: one step of training.
 *
 * The checks of the packages build it in every way in which a build can find heed. With WITH_VIZ,
 * WITH_HF, WITH_CONFIG and WITH_MPI it also uses the libraries beside heed. It returns 0 on
 * success. */
#include <heed/heed.h>
#ifdef WITH_VIZ
#include <heed/viz.h>
#endif
#ifdef WITH_HF
#include <heed/hf.h>
#endif
#ifdef WITH_CONFIG
#include <heed/config.h>
#endif
#ifdef WITH_MPI
#include <heed/mpi.h>
#endif
#include <stdio.h>
#include <string.h>

static bool trains(void)
{
    HD_SCOPE;
    hd_manual_seed(123);
    hd_module *layer = hd_linear_new(3, 2, true);
    hd_tensor *x = hd_rand(HD_FLOAT32, 6, 3); /* (6, 3) */
    hd_backward(hd_mean(hd_square(hd_forward(layer, x))));
    hd_tensor *dw = hd_grad(hd_module_get_parameter(layer, "weight")); /* (2, 3) */
    bool ok = hd_size(dw, 0) == 2 && hd_size(dw, 1) == 3 && hd_error_code() == HD_OK;
    hd_module_free(layer);
    return ok;
}

static bool draws(void)
{
#ifdef WITH_VIZ
    double losses[] = {3, 1, 2};
    hd_series series = {"loss", 3, NULL, losses};
    hd_picture *picture = hd_plot_lines(1, &series, NULL);
    bool ok = hd_picture_width(picture) > 0 && hd_error_code() == HD_OK;
    hd_picture_free(picture);
    return ok;
#else
    return true;
#endif
}

static bool writes(void)
{
#ifdef WITH_HF
    HD_SCOPE;
    hd_gpt2_config c = hd_gpt2_config_defaults();
    c.vocab_size = 5;
    c.n_embd = c.n_head = c.n_layer = 1;
    hd_module *model = hd_gpt2_new(&c);
    hd_tensor *ids = hd_generate(model, hd_zeros(HD_INT64, 1, 2), NULL);
    bool ok = hd_size(ids, 1) == 22 && hd_error_code() == HD_OK;
    hd_module_free(model);
    return ok;
#else
    return true;
#endif
}

static bool reads_settings(void)
{
#ifdef WITH_CONFIG
    typedef struct settings {
        int n_layers;
    } settings;
    static const hd_config_field fields[] = {
        HD_CONFIG_INT_OF(settings, n_layers, "model.n_layers", 12, 1, 96),
    };
    static const hd_config_table table = HD_CONFIG_TABLE(settings, fields, NULL);
    static const char text[] = "{\"model\": {\"n_layers\": 7}}";
    settings s;
    return hd_config_load_text(&table, &s, "text", text, strlen(text), 0, NULL) && s.n_layers == 7;
#else
    return true;
#endif
}

/* Without mpirun there is one rank. */
static bool averages(void)
{
#ifdef WITH_MPI
    HD_SCOPE;
    double one = 1;
    hd_mpi_init(NULL, NULL);
    hd_module *layer = hd_linear_new(3, 2, true);
    hd_ddp *ddp = hd_ddp_new(layer, NULL);
    hd_backward(hd_sum(hd_forward(layer, hd_ones(HD_FLOAT32, 1, 3))));
    bool ok = hd_mpi_sum(1, &one) && one == 1 && hd_mpi_size() == 1 && hd_error_code() == HD_OK;
    hd_ddp_free(ddp);
    hd_module_free(layer);
    return hd_mpi_finish() && ok;
#else
    return true;
#endif
}

int main(void)
{
    char headers[32];
    snprintf(headers, sizeof headers, "%d.%d.%d", HD_VERSION_MAJOR, HD_VERSION_MINOR,
             HD_VERSION_PATCH);
    bool ok = strcmp(headers, hd_version()) == 0 && trains() && draws() && writes() &&
              reads_settings() && averages();
    printf("heed %s: %s\n", hd_version(), ok ? "ok" : hd_error_message());
    return ok ? 0 : 1;
}
