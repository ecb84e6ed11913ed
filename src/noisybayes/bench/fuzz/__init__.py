"""Malformed tables, damaged and crafted models, broken configurations: each is read, or refused with one sentence."""
