"""`lockstep init`: what a repository needs to certify an endpoint every night."""

from __future__ import annotations

import shlex
from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add the command `init`."""
    app.command("init")(init)


def init(
    folder: Path = typer.Argument(Path("."), metavar="DIR", help="Folder (default: this one)."),
    endpoint: str | None = typer.Option(None, "--endpoint", help="URL of a server of your own."),
    controlled: bool = typer.Option(
        False, "--i-control-this-endpoint", help="State that the server is yours to load."
    ),
    launch: str | None = typer.Option(
        None, "--launch", help="Command that starts the server; {port} stands for a free port."
    ),
    owner: str = typer.Option("me", help="The key's owner in the policy."),
    source: str | None = typer.Option(
        None, help="What pip installs Lockstep from (default: the variable LOCKSTEP_SOURCE)."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print what was made as JSON."),
) -> None:
    """Write lockstep.toml, a key, a trust policy and a workflow that certifies every night.

    Overwrites nothing. Without a server's address or command it is made for the built-in one, so
    that it can be tried at once.

    Example: lockstep init --launch "vllm serve /models/m --port {port}" --owner alice
    """
    from lockstep.certificate import keys, lcj
    from lockstep.certify.hosts import require_own
    from lockstep.cli import say
    from lockstep.cli.keys import YEARS
    from lockstep.init import files

    if endpoint is not None and launch is not None:
        raise typer.BadParameter("an endpoint is there already", param_hint="--launch")
    if launch is not None and "{port}" not in launch:
        raise typer.BadParameter("write {port} where its port stands", param_hint="--launch")
    if endpoint is not None:
        # What `certify` would refuse is not written; whose the server is may be stated later.
        require_own(endpoint, controlled=True)
    keys.require_owner(owner, "--owner")
    asked = files.Asked(endpoint, launch, controlled, source)
    key_id, until = files.write(folder, asked, owner, YEARS)
    if as_json:
        names = (files.CONFIGURATION, files.KEY, files.POLICY, files.WORKFLOW)
        made = {"version": 1, "key_id": key_id, "files": [str(folder / name) for name in names]}
        say(lcj.encode(made).decode())
        return
    say(f"configuration  {folder / files.CONFIGURATION}")
    say(f"key            {folder / files.KEY} (mode 0600, ignored by git; keep it secret)")
    say(f"policy         {folder / files.POLICY} (trusts that key, {key_id[:16]}…, to {until})")
    say(f"workflow       {folder / files.WORKFLOW} (nightly)")
    say("Next:")
    for number, line in enumerate(_next(folder, asked.endpoint, controlled, source), 1):
        say(f"  {number}. {line}")


def _next(folder: Path, endpoint: str | None, controlled: bool, source: str | None) -> list[str]:
    """Give what is left to do, a line each."""
    from lockstep.init import files

    place = "" if folder == Path(".") else f"cd {shlex.quote(str(folder))} && "
    lines = [
        f"{place}lockstep certify --plan                     # what would run, and for how long",
        f"{place}lockstep certify --key {files.KEY} --certificate endpoint.cert.json",
        f"{place}lockstep-verify --trust {files.POLICY} endpoint.cert.json",
        f"Put what {files.KEY} holds into the repository's secret LOCKSTEP_KEY.",
        f"Commit {files.CONFIGURATION}, {files.POLICY} and {files.WORKFLOW}.",
    ]
    if endpoint is not None and not controlled:
        lines.insert(0, "In lockstep.toml, state that the endpoint is yours to load.")
    if source is None:
        lines.insert(-1, "Set its variable LOCKSTEP_SOURCE to what pip installs Lockstep from.")
    return lines
