"""What a column of a table looks like, by its name (in several languages) and its cells: an identifier, a text, a
category, a number, a yes/no.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from .cells import LARGEST, as_numbers, as_text, as_truths

_LABEL_NAMES = (
    "label", "labels", "given_label", "observed_label", "noisy_label", "y", "class", "category", "target", "intent",
    "topic", "tag", "sentiment", "class_name", "label_name", "category_name", "species", "diagnosis", "outcome",
    "kategorie", "klasse", "thema",  # German
    "étiquette", "etiquette", "catégorie", "categorie", "classe", "sujet",  # French, Dutch, Italian, Portuguese
    "etiqueta", "categoría", "categoria", "clase", "etichetta", "rótulo", "rotulo",  # Spanish, Italian, Portuguese
    "etykieta", "kategoria", "klasa", "kategori", "etiket", "sınıf",  # Polish, Swedish, Turkish
    "метка", "категория", "класс",
    "标签", "类别", "分类", "類別", "分類", "標籤", "ラベル", "カテゴリ", "カテゴリー", "라벨", "레이블", "카테고리",
)  # fmt: skip
_LABEL_PATTERN = re.compile(r"\w+_(label|class|category|kategorie|klasse)")
#: Predictions of a model or of this program, not labels given by people.
_MODEL_PATTERN = re.compile(r"(predicted|prediction|predictions|suggested|suggestion|model|auto|old|previous)_\w+")
#: Columns that may contain the true label: a model that used them would find nothing.
_TRUTH_NAMES = {
    "gt", "gold", "truth", "ground_truth", "verified", "expert", "ys", "y_true", "correct", "corrected", "clean",
}  # fmt: skip
_TRUTH_PATTERN = re.compile(
    r"(true|gold|gt|verified|correct|corrected|clean|expert|real|actual)_(label|class|category|y)"
)
_TEXT_NAMES = {
    "text", "message", "comment", "body", "question", "utterance", "content", "description", "review", "tweet",
    "sentence", "subject", "title", "query", "document", "note", "notes", "feedback",
    "nachricht", "frage", "kommentar", "texte", "commentaire", "texto", "comentario", "mensaje", "pregunta", "testo",
    "сообщение", "текст", "文本", "内容", "评论", "问题",
}  # fmt: skip
_ID_PATTERN = re.compile(r"id|uuid|guid|index|key|\w+_(id|uuid|key|index)|row|row_(number|nr|no)|unnamed:_0")
#: Who labeled a row.
_LABELER_PATTERN = re.compile(
    r"(annotator|annotators|annotated_by|label+ed_by|label+er|rater|worker|reviewer|reviewed_by|completed_by|created_by"
    r"|updated_by|submitted_by|bearbeiter)(_(id|ids|name|email))?"
)
#: When a row was labeled and how long it took: about the labeling, not about the content.
_LABELING_PATTERN = re.compile(
    r"lead_time|time_spent|annotation_time|label+ing_time|elapsed|elapsed_time|\w*timestamp"
    r"|(created|updated|modified|annotated|label+ed|submitted|inserted|completed|reviewed|draft_created)_(at|on|date|time)"
    r"|was_cancelled|_\w*hash|_\w+_id|_timestamp|_view_id"
)

_SPACELESS = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"

#: T-10000, 2024/00017, a UUID, a hash
_CODE = (
    r"^([A-Za-z]{1,8}[-_#:/.]?\d{2,}([-_/.:]\d+)*|\d+([-_/]\d+)+"
    r"|[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9a-f]{24,64})$"
)
_CLOCK = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp]\.?[Mm]\.?)?( ?(Z|UTC|[+-]\d{2}:?\d{2}))?"
_DAY = r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
_DATE = f"^({_DAY}([T ,]+{_CLOCK})?|{_CLOCK})$"

# Dates with an unambiguous order of day, month and year.
_CLEAR_DATE = r"^\s*(\d{4}[-/.]|\d{1,2}\.\d{1,2}\.\d{4})"
_DATES = "contains dates, which are not used as they are; --categorical {} uses year, month, weekday and hour"

_MOST_CATEGORIES = 100
_FEWEST_CODES = 5
_MOSTLY = 0.5
_MOST_LABELS = 50
_FEW_NUMBERS = 10
# A column of numbers may have at most this share of other cells.
_FEW_ODD, _LONGEST_EXAMPLE = 0.1, 20
_SHORT = 40  # characters
_WORDS_OF_A_TEXT = 3
_SAMPLE = 2_000  # rows


class Guess(NamedTuple):
    role: str | None  # "id", "text", "categorical", "numeric", "binary", or None: not used
    why: str


def guess(column: pl.Series, answers: list[pl.Series]) -> Guess:
    """`answers`: the label columns, as text; a column that says the same is not a feature."""
    if is_truth_name(column.name):
        return Guess(None, f"named like the true label, so it is not a feature; --verified {column.name} uses it")
    if is_labeler_name(column.name):
        return Guess(None, f"named like a labeler, so it is not a feature; --labeler {column.name} uses it")
    if is_labeling_name(column.name):
        return Guess(None, f"about the labeling, not about the content; --categorical {column.name} uses it")
    if column.dtype in (pl.Date, pl.Datetime):
        return Guess(None, _DATES.format(column.name))
    if _is_unsupported(column.dtype):
        return Guess(None, f"contains {_type_name(column.dtype)}, which are not used as a feature")
    text = as_text(column)
    values = text.drop_nulls()
    n_distinct = values.n_unique()
    if n_distinct == 0:
        return Guess(None, "empty")
    if n_distinct == 1 and len(values) == len(text):
        return Guess(None, "the same value in every row")
    if _are_dates(values):
        clear = bool(values.str.contains(_CLEAR_DATE).all())
        return Guess(None, _DATES.format(column.name) if clear else "contains dates, which are not used as a feature")
    if _looks_like_id(column):
        return Guess("id", "looks like an identifier")
    for answer in answers:
        if n_distinct == answer.drop_nulls().n_unique() == _n_pairs(text, answer):
            return Guess(None, f"says the same as {answer.name!r}")
    return _feature(column, values, n_distinct)


def is_row_id(column: pl.Series) -> bool:
    """Every row has a different value, and it looks like an identifier."""
    return not is_truth_name(column.name) and _looks_like_id(column) and column.n_unique() == len(column)


def may_be_labels(column: pl.Series) -> bool:
    """Few distinct values, each occurring several times, that are names rather than measurements."""
    is_other = is_truth_name(column.name) or is_model_name(column.name) or is_labeling_name(column.name)
    if is_other or _is_unsupported(column.dtype) or column.dtype.is_float() or _looks_like_id(column):
        return False
    values = as_text(column).drop_nulls()
    if not 2 <= values.n_unique() <= min(_MOST_LABELS, len(values) / 2):
        return False
    if is_text_name(column.name) or _are_dates(values):
        return False
    is_short = _mean(values.gather_every(max(1, len(values) // _SAMPLE)).str.len_chars()) <= _SHORT
    return is_short and (column.dtype.is_integer() or not _are_numbers(column) or values.n_unique() <= _FEW_NUMBERS)


def _looks_like_id(column: pl.Series) -> bool:
    if _is_unsupported(column.dtype):
        return False
    return bool(_ID_PATTERN.fullmatch(plain(column.name))) or _are_distinct_integers(column) or _are_codes(column)


def _are_codes(column: pl.Series) -> bool:
    """Such as T-10000, or a UUID, with hardly any duplicates."""
    if column.dtype != pl.String:
        return False
    values = column.drop_nulls()
    sample = values.head(_SAMPLE).str.strip_chars()
    if len(values) < _FEWEST_CODES or not sample.str.contains(_CODE).all() or _are_dates(values):
        return False
    return values.n_unique() > _MOSTLY * len(values)


def _are_dates(values: pl.Series) -> bool:
    sample = values.head(_SAMPLE).str.strip_chars()
    return bool(sample.str.contains(_DATE).all()) and bool(values.str.strip_chars().str.contains(_DATE).all())


def _are_distinct_integers(column: pl.Series) -> bool:
    if column.dtype == pl.Boolean or not _are_numbers(column):
        return False
    numbers = as_numbers(column).values
    is_whole = not numbers.has_nulls() and bool((numbers == numbers.floor()).all())
    return is_whole and numbers.n_unique() == len(numbers)


def _are_numbers(column: pl.Series) -> bool:
    # for most texts, a few rows show that they are not identifiers
    return not (as_numbers(column.head(_SAMPLE)).bad.any() or as_numbers(column).bad.any())


def _are_huge(column: pl.Series) -> bool:
    """Numbers throughout, some of which are too large to compute with."""
    for part in (column.head(_SAMPLE), column):
        parsed = as_numbers(part)
        if not parsed.values.filter(parsed.bad).is_finite().fill_null(False).all():
            return False
    return True


def _is_unsupported(dtype: pl.DataType) -> bool:
    return dtype.is_nested() or dtype.is_temporal() or dtype in (pl.Object, pl.Binary)


def _type_name(dtype: pl.DataType) -> str:
    """Plain words instead of the name of the type: users may not know the library."""
    words = {
        pl.Time: "times of day", pl.Duration: "durations",
        pl.List: "lists", pl.Array: "lists", pl.Struct: "records", pl.Binary: "bytes",
    }  # fmt: skip
    return words.get(type(dtype), "objects")


def _n_pairs(text: pl.Series, answer: pl.Series) -> int:
    return pl.DataFrame({"text": text, "answer": answer}).drop_nulls().unique().height


def _feature(column: pl.Series, values: pl.Series, n_distinct: int) -> Guess:
    count = f"{n_distinct} distinct values"
    if n_distinct <= 2 and not as_truths(column).bad.any():
        return Guess("binary", "")
    if _are_numbers(column):
        return Guess("numeric", "") if n_distinct > _FEW_NUMBERS else Guess("categorical", count)
    if _are_huge(column):
        return Guess(None, f"contains numbers beyond {LARGEST:g}, whose squares cannot be computed")
    sample = values.gather_every(max(1, len(values) // _SAMPLE))
    is_short = _mean(sample.str.len_chars()) <= _SHORT
    if is_text_name(column.name):
        return Guess("text", "")
    if is_short and n_distinct <= min(_MOST_CATEGORIES, len(values) / 3):
        return Guess("categorical", count)
    n_words = _mean(sample.str.count_matches(r"\S+")) + _mean(sample.str.count_matches(_SPACELESS)) / 2
    if n_words >= _WORDS_OF_A_TEXT:
        return Guess("text", "")
    odd = column.filter(as_numbers(column).bad)
    if 0 < len(odd) <= _FEW_ODD * len(values):
        example = as_text(odd)[0][:_LONGEST_EXAMPLE]
        return Guess(
            None,
            f"not a number in {len(odd):,} of {len(values):,} rows, such as {example!r}; clear these cells to use the "
            "column, or --categorical uses it as it is",
        )
    return Guess(None, f"{count}, neither a text nor a small set of values; --text or --categorical uses it")


def _mean(counts: pl.Series) -> float:
    return float(counts.cast(pl.Float64).to_numpy().mean())


def plain(name: str) -> str:
    """A column name in normal form: "True Label", "trueLabel" and "true-label" are the same."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[\s\-.]+", "_", words).casefold()


def is_truth_name(name: str) -> bool:
    return plain(name) in _TRUTH_NAMES or _TRUTH_PATTERN.fullmatch(plain(name)) is not None


def is_labeler_name(name: str) -> bool:
    return _LABELER_PATTERN.fullmatch(plain(name)) is not None


def is_labeling_name(name: str) -> bool:
    """Who labeled a row, when, or how long it took."""
    return is_labeler_name(name) or _LABELING_PATTERN.fullmatch(plain(name)) is not None


def is_text_name(name: str) -> bool:
    return plain(name) in _TEXT_NAMES


def named_like_label(names: Sequence[str]) -> str | None:
    """The name that looks most like that of a label column."""
    spellings = {plain(name): name for name in reversed(names)}
    exact = next((spellings[known] for known in _LABEL_NAMES if known in spellings), None)
    if exact is not None:
        return exact
    return next((name for name in names if _LABEL_PATTERN.fullmatch(plain(name)) and not is_model_name(name)), None)


def is_model_name(name: str) -> bool:
    return _MODEL_PATTERN.fullmatch(plain(name)) is not None
