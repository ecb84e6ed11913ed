"""`noisybayes accounts`: who may log in to the review desk, and in which role."""

from __future__ import annotations

from typing import Any

import click

from .serve import open_store
from .table_options import clear_errors

_store_option = click.option(
    "--store", help="The store of the desk: a file, or postgresql://...  [default: noisybayes.db]"
)


@click.group()
def accounts() -> None:
    """Manage reviewers who log in with their own tokens."""


@accounts.command()
@click.argument("name")
@click.option(
    "--role", type=click.Choice(["viewer", "reviewer", "salesperson", "admin"]), default="reviewer", show_default=True,
    help="A viewer looks, a reviewer also gives verdicts, a salesperson also sees leads and answers customers, "
    "an admin may do everything.",
)  # fmt: skip
@_store_option
def add(name: str, role: str, store: str | None) -> None:
    """Add the account NAME and print its token, which is not stored."""
    with clear_errors(), _opened(store) as opened:
        click.echo(opened.add_account(name, role))


@accounts.command("list")
@_store_option
def list_accounts(store: str | None) -> None:
    """List the accounts and their roles."""
    with clear_errors(), _opened(store) as opened:
        for account in opened.accounts():
            click.echo(f"{account.role:<11}  {account.name}")


@accounts.command()
@click.argument("name")
@_store_option
def remove(name: str, store: str | None) -> None:
    """Remove the account NAME; its sessions end at once, its verdicts stay."""
    with clear_errors(), _opened(store) as opened:
        opened.remove_account(name)


class _opened:
    """The store; its errors are reported as input errors."""

    def __init__(self, given: str | None) -> None:
        self._store = open_store(given)

    def __enter__(self) -> Any:
        return self._store

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        from ..data.errors import InputError
        from ..web.store import StoreError

        self._store.close()
        if isinstance(error, StoreError):
            raise InputError(str(error)) from None
