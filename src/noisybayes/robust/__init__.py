"""The default fit: cross-fitted scores, calibrated on the labels, and labels that count as far as they look right."""
