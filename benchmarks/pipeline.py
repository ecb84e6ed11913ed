"""What one would write instead of `noisybayes audit`, in its own process: python pipeline.py FILE OUT.

Run by path, so that nothing else of this project is imported.
"""

import sys

import pandas as pd
from cleanlab.filter import find_label_issues
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import MultinomialNB


def main(file: str, out: str) -> None:
    table = pd.read_csv(file, usecols=["text", "label"])
    codes, classes = pd.factorize(table["label"], sort=True)
    counts = CountVectorizer().fit_transform(table["text"])
    proba = cross_val_predict(MultinomialNB(), counts, codes, cv=5, method="predict_proba")
    issues = find_label_issues(codes, proba)
    suggested = classes[proba.argmax(axis=1)]
    table.assign(suggested=suggested)[issues].to_csv(out, index_label="row")


if __name__ == "__main__":
    main(*sys.argv[1:])
