"""`noisybayes completion`: the shell script that completes commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    bash:  noisybayes completion bash >> ~/.bashrc
    zsh:   noisybayes completion zsh >> ~/.zshrc
    fish:  noisybayes completion fish > ~/.config/fish/completions/noisybayes.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "noisybayes", "_NOISYBAYES_COMPLETE").source())
