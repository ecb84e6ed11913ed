"""The default fit: cross-fitted scores, calibrated on the labels, and labels weighted by how likely they are right."""
