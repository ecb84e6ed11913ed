"""Several labels of a row: how often the consensus of each method is the true label, against known truth."""
