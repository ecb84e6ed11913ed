"""Malformed tables, damaged and crafted models, broken configurations: each is read or refused in one line."""
