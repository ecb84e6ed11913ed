"""The review desk under attack and under load: killed servers, a stopped store, slow connections."""
