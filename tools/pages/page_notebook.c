/* page_notebook.c - the main function of a notebook on a page: it also tells the page the graph
 * behind the last result.
 *
 * The notebook's files are compiled with -Dmain=notebook_main and -Dhd_repr=page_repr, so that this
 * file sees each tensor that a cell shows. The graph goes to the file number 3, as JSON: a node has
 * its name, its sizes and the nodes of its inputs. A node that two others use stands in both of
 * them. */
#include <stdio.h>

#include "heed/heed.h"

enum { GRAPH = 3 };

int notebook_main(int argc, char **argv);
const char *page_repr(const hd_tensor *x);

static hd_tensor *shown;

const char *page_repr(const hd_tensor *x)
{
    shown = (hd_tensor *)x;
    return hd_repr(x);
}

static void write_node(const hd_node *n, int output)
{
    int ndim;
    const int64_t *sizes = hd_node_sizes(n, output, &ndim);
    dprintf(GRAPH, "{\"name\": \"%s\", \"sizes\": [", hd_node_name(n));
    for (int i = 0; i < ndim; i++) {
        dprintf(GRAPH, "%s%lld", i > 0 ? ", " : "", (long long)sizes[i]);
    }
    dprintf(GRAPH, "], \"inputs\": [");
    bool first = true;
    for (int i = 0; i < hd_node_inputs(n); i++) {
        if (hd_needs_grad(n, i)) {
            int from;
            const hd_node *input = hd_node_input(n, i, &from);
            dprintf(GRAPH, "%s", first ? "" : ", ");
            write_node(input, from);
            first = false;
        }
    }
    dprintf(GRAPH, "]}");
}

int main(int argc, char **argv)
{
    int status = notebook_main(argc, argv);
    if (status == 0 && shown && hd_requires_grad(shown)) {
        write_node(hd_grad_node(shown), 0);
    }
    return status;
}
