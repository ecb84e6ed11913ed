"""The pages: plain forms, which also work without JavaScript."""

from . import account, chat, handover, imports, leads, review, suspect_list, table_overview
from .rendering import error_page

_MODULES = (table_overview, imports, review, suspect_list, chat, handover, leads, account)
ROUTERS = tuple(module.router for module in _MODULES)

__all__ = ["ROUTERS", "error_page"]
