"""`kill -9` before every file operation: what is there afterwards, and what comes of doing it again."""
