"""`dither completion`: the script that teaches a shell the commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["command"]

CLICK_ADDS = "COMPREPLY+=($value)"
# In quotes, so that COUNT(*) is not taken for a pattern of file names; what goes on
# gets no space behind it.
WE_ADD = 'COMPREPLY+=("$value"); [[ $value == *[" ="]* ]] && compopt -o nospace'


@click.command("completion", short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    bash: eval "$(dither completion bash)"      in ~/.bashrc
    zsh:  eval "$(dither completion zsh)"       in ~/.zshrc
    fish: dither completion fish | source       in ~/.config/fish/config.fish
    """
    root = click.get_current_context().find_root().command
    found = get_completion_class(shell)
    if found is None:
        raise click.ClickException(f"click knows no completion for {shell}")
    click.echo(
        found(root, {}, "dither", "_DITHER_COMPLETE")
        .source()
        .replace(CLICK_ADDS, WE_ADD)
    )
