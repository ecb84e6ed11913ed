"""Presents an audit as a page, as files and in the formats of other tools. Nothing is computed here."""

from __future__ import annotations

from .html import render_html
from .markdown import render_markdown
from .tool_exports import cleanlab_export, label_studio_config, label_studio_tasks

__all__ = [
    "cleanlab_export",
    "label_studio_config",
    "label_studio_tasks",
    "render_html",
    "render_markdown",
]
