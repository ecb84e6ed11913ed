"""The steps from one schema to the next, for Alembic.

A released step is never changed. To change the schema, change `schema.py` and add a file to `versions` whose
`down_revision` is the newest one so far.
"""
