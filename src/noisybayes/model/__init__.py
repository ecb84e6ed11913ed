"""The model of the paper: families, mislabeling matrix, EM. Depends only on numpy and scipy."""
