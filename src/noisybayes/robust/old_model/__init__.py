"""The model: families, mislabeling matrix, EM. Depends only on numpy and scipy."""
