import os

# scikit-learn skips its check of array API input unless scipy is told of it before its import
os.environ.setdefault("SCIPY_ARRAY_API", "1")
