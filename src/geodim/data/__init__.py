"""Where columns come from: arrays, sparse matrices, frames, files, graphs and named data sets."""
