"""`kill -9` before every file operation: what is left afterwards, and whether repeating the command works."""
