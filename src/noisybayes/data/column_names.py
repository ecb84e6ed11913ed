"""What column names suggest, in several languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

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


def new_names(names: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Names for columns that are added to a table; changed if the table already has such a name."""
    taken = set(taken)
    return [_new_name(name, taken) for name in names]


def _new_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"noisybayes_{name}"
    return name


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


def is_id_name(name: str) -> bool:
    return _ID_PATTERN.fullmatch(plain(name)) is not None


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
