"""Methods that the paper compares with or discusses, as classifiers with the interface of scikit-learn."""
