"""A kernel for Jupyter whose cells are C, with heed."""
