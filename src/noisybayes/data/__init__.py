"""Where rows come from: readers, data sets, simulation, label corruption."""
