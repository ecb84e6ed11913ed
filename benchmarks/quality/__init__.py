"""Quality against the peers: data set x method x seed -> stored rows -> docs/quality.md."""
