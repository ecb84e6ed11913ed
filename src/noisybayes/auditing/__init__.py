"""The audit of a table: reading, fitting, and what is said of it."""
