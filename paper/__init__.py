"""The paper's tables and figures, with the methods that it compares with or discusses: see README.md."""
