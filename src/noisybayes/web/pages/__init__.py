"""The pages: plain forms, which also work without JavaScript."""

from . import chat, handover, imports, leads, lists, people, review, tables
from .page import error_page

ROUTERS = tuple(module.router for module in (tables, imports, review, lists, chat, handover, leads, people))

__all__ = ["ROUTERS", "error_page"]
