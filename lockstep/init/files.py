"""The files of `lockstep init`, from templates, written all or none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from lockstep.certificate import keys, lcj, times
from lockstep.certificate.write import write_file
from lockstep.errors import LockstepError

CONFIGURATION = "lockstep.toml"
POLICY = "trust.json"
KEY = ".lockstep/key.pem"
IGNORED = ".lockstep/.gitignore"
WORKFLOW = ".github/workflows/lockstep.yml"
BUILT_IN = "lockstep serve --tiny --port {port}"
"""Started where no server is named, so that what was written can be tried at once."""


@dataclass(frozen=True)
class Asked:
    """What the files are made for.

    Attributes:
        endpoint: URL of a server that is there; None where one is started.
        launch: command that starts one, `{port}` for a free port; None for the endpoint, and the
            built-in server where both are None.
        controlled: whether the user states that the endpoint is theirs to load.
        source: requirement that pip installs Lockstep from; None to leave it to a variable.
    """

    endpoint: str | None = None
    launch: str | None = None
    controlled: bool = False
    source: str | None = None


def configuration(asked: Asked) -> str:
    """Give the text of lockstep.toml."""
    if asked.endpoint is not None:
        state = "" if asked.controlled else "# "
        endpoint = (
            f"endpoint = {_quoted(asked.endpoint, '--endpoint')}\n"
            f"{state}i_control_this_endpoint = true # it will be loaded heavily: is it yours?"
        )
        launch = ""
    else:
        endpoint = (
            '# endpoint = "http://127.0.0.1:8000" # a server that is there, in place of a launch\n'
            "# i_control_this_endpoint = true # it will be loaded heavily: is it yours?"
        )
        launch = (
            "\n[certify.launch]                # a server that is started and stopped here\n"
            f"command = {_quoted(asked.launch or BUILT_IN, '--launch')}\n"
            "ready_seconds = 600             # until it must answer\n"
        )
    lifetimes = "1" if asked.endpoint is not None else "2"
    return _filled("lockstep.toml", endpoint=endpoint, launch=launch, lifetimes=lifetimes)


def workflow(asked: Asked) -> str:
    """Give the text of the GitHub Actions workflow."""
    variable = ""
    if asked.source is None:
        variable = (
            "\n#   the variable LOCKSTEP_SOURCE   what pip installs, such as"
            "\n#     lockstep-llm[certify,serve] @ git+https://HOST/OWNER/lockstep@COMMIT"
        )
    source = (
        "${{ vars.LOCKSTEP_SOURCE }}" if asked.source is None else _quoted(asked.source, "--source")
    )
    return _filled("workflow.yml", source=source, variable=variable)


def write(folder: Path, asked: Asked, owner: str, years: int) -> tuple[str, str]:
    """Write the files, and give the key's id and the policy's last moment.

    Args:
        folder: is made where it is absent.
        asked: what they are made for.
        owner: the key's owner in the policy.
        years: how long key and policy hold.

    Raises:
        LockstepError: USAGE, one of the files is there already; nothing is written then.
        OSError: the folder cannot be written to; what was written before is removed.
    """
    texts: Mapping[str, str] = {
        CONFIGURATION: configuration(asked),
        WORKFLOW: workflow(asked),
        IGNORED: "# The key stays out of the repository.\n*\n",
    }
    for name in (*texts, POLICY, KEY):
        if (folder / name).exists() or (folder / name).is_symlink():
            hint = "Nothing was written. Move it away, or name another folder."
            raise LockstepError("USAGE", str(folder / name), "no such file yet", "a file", hint)
    made: list[Path] = []
    try:
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_file(folder / name, text.encode("utf-8"))
            made.append(folder / name)
        key = keys.new_key_file(folder / KEY)
        made.append(folder / KEY)
        span = times.period(years)
        policy = keys.sole_policy(key.public_key(), "default", owner, span)
        write_file(folder / POLICY, lcj.encode(policy))
    except BaseException:
        for path in made:
            with suppress(FileNotFoundError):
                path.unlink()
        raise
    return keys.key_id(key.public_key()), span[1]


def _filled(name: str, **values: str) -> str:
    text = files("lockstep.init").joinpath(name).read_text("utf-8")
    return Template(text).substitute(values)


def _quoted(text: str, option: str) -> str:
    """Give a text as a string that TOML and YAML both read.

    Raises:
        LockstepError: USAGE, it has a control character or does not fit UTF-8.
    """
    if not text or not text.isprintable():
        raise LockstepError("USAGE", option, "printable text", repr(text))
    return json.dumps(text, ensure_ascii=False)
