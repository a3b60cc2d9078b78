"""`dither completion`: the script that teaches a shell the commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["command"]

CLICK_ADDS = "COMPREPLY+=($value)"
# In quotes, so that COUNT(*) is not taken for a pattern of file names. No space follows
# a word that is not complete.
WE_ADD = 'COMPREPLY+=("$value"); [[ $value == *[" ="]* ]] && compopt -o nospace'


@click.command("completion", short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script with which SHELL completes commands, options, files, accounts,
    tables and columns. Add its line to the start-up file of your shell:

    \b
    ~/.bashrc                   eval "$(dither completion bash)"
    ~/.zshrc                    eval "$(dither completion zsh)"
    ~/.config/fish/config.fish  dither completion fish | source

    \b
    Examples:
      dither completion bash > dither-completion.bash
    """
    root = click.get_current_context().find_root().command
    found = get_completion_class(shell)
    if found is None:
        raise click.ClickException(f"click does not support completion for {shell}")
    click.echo(
        found(root, {}, "dither", "_DITHER_COMPLETE")
        .source()
        .replace(CLICK_ADDS, WE_ADD)
    )
