"""The review desk under attack and under load: servers that are killed, a store that stops, slow connections."""
