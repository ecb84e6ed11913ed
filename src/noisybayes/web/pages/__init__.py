"""The pages: plain forms, which also work without JavaScript."""

from . import account, imports, review, suspect_list, table_overview
from .rendering import error_page

_MODULES = (table_overview, imports, review, suspect_list, account)
ROUTERS = tuple(module.router for module in _MODULES)

__all__ = ["ROUTERS", "error_page"]
