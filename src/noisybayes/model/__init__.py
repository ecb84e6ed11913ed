"""The model: families, mislabeling matrix, EM. Knows numpy and scipy only."""
