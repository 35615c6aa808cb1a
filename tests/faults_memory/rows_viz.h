/* rows_viz.h - the functions of viz.h as rows; table.h explains the form. */
SKIP_ROW(hd_picture_free, "every world calls it")
NEVER_ROW(hd_picture_width, hd_picture_width(picture_of_lines))
NEVER_ROW(hd_picture_height, hd_picture_height(picture_of_lines))
ROW(hd_picture_svg, "", hd_picture_svg(picture_of_lines))
NEVER_ROW(hd_picture_save_svg, hd_picture_save_svg(picture_of_lines, in_folder(w, "new.svg")))
NEVER_ROW(hd_plot_defaults, hd_plot_defaults().width)
ROW(hd_plot_lines, "", lines())
NEVER_ROW(hd_attention_map_defaults, hd_attention_map_defaults().columns == 0)
ROW(hd_attention_map, "", map(w))
ROW(hd_attention_map, "of a batch's element, without texts",
    hd_attention_map(hd_select(hd_unsqueeze(hd_detach(w->x), 0), 0, 0), NULL, NULL, NULL))
NEVER_ROW(hd_graph_defaults, hd_graph_defaults().legend)
ROW(hd_graph_dot, "", hd_graph_dot(graph, names))
ROW(hd_graph_dot, "without names", hd_graph_dot(graph, NULL))
ROW(hd_graph_save_dot, "", hd_graph_save_dot(graph, names, in_folder(w, "new.dot")))
ROW(hd_graph_dot_with, "", hd_graph_dot_with(graph, names, &whole_graph))
ROW(hd_graph_save_dot_with, "in place of another file",
    hd_graph_save_dot_with(graph, names, in_folder(w, "x.npy"), &whole_graph))
