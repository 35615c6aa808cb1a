/* rows_viz.c - the rows of viz.h. */
#include <math.h>

#include "heed/viz.h"

#define MORE_KINDS , hd_picture * : thing_of_picture
#include "faults_memory/faults.h"

/* ---------------------------------------------------------------- pictures */

static void see_picture(picture *p, const char *name, const thing *t)
{
    char *svg = hd_picture_svg(t->p);
    see_text(p, name, "its SVG", svg);
    hd_free(svg);
}

static void free_picture(thing *t)
{
    hd_picture_free((hd_picture *)(uintptr_t)t->p);
}

static thing thing_of_picture(hd_picture *p)
{
    static const kind k = {NULL, see_picture, free_picture};
    return (thing){.name = "the result", .kind = &k, .p = p};
}

/* ---------------------------------------------------------------- calls */

static hd_picture *lines(void)
{
    static const double x[] = {1, 2, 3, 5}, y[] = {0.5, 0.25, NAN, 0.125}, z[] = {3, 1, 2, 4};
    const hd_series series[] = {{"train", 4, x, y}, {"val <>", 4, NULL, z}};
    hd_plot_options o = hd_plot_defaults();
    o.title = "a title";
    o.x_label = "steps";
    o.y_label = "loss";
    o.log_y = true;
    return hd_plot_lines(2, series, &o);
}

static hd_picture *map(world *w)
{
    static const char *const words[] = {"the", "first", "last"};
    hd_attention_map_options o = hd_attention_map_defaults();
    o.title = "weights";
    return hd_attention_map(w->plain, words, NULL, &o);
}

/* What every world has. */
static hd_picture *picture_of_lines;
static hd_tensor *graph;
static hd_dict *names;

static void begin(world *w)
{
    picture_of_lines = lines();
    graph = hd_sum(hd_forward(w->linear, w->x));
    names = hd_module_named_parameters(w->linear);
    world_add(w, "picture", thing_of_picture(picture_of_lines));
    world_add(w, "graph", thing_of_tensor(graph));
    world_add(w, "names", thing_of_dict(names));
}

static const hd_graph_options whole_graph = {
    sizeof(hd_graph_options), "a graph", 0, true, true, true, true};

#define ROWS "faults_memory/rows_viz.h"
#define TABLE table_viz
#define NAME "viz"
#define PARTS (MODULES | FILES)
#define BEGIN begin
#include "faults_memory/table.h"
