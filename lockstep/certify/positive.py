"""The server of the positive control: the same one, with what makes it deterministic left out."""

from __future__ import annotations

import re
from dataclasses import replace

from lockstep.certify.adapters.adapter import Adapter
from lockstep.certify.config import Command, Config
from lockstep.certify.launch import shown
from lockstep.errors import LockstepError

_MODE = re.compile(r"--mode[ =](invariant|fast)")


def positive_of(config: Config, adapter: Adapter) -> tuple[str, Command] | None:
    """Give the kind of the positive control, and how its server is started; None for none.

    A user's own command is of kind `fault` where it asks for one, else `mode_off`. The built-in
    server, where it was started here without a fault, has its mode `fast`.

    Raises:
        LockstepError: USAGE, as a certificate shows it the command is the server's own [CERT-19].
    """
    found = _chosen(config, adapter)
    if found is not None and config.launch is not None:
        own, other = (shown(one.text, str) for one in (config.launch, found[1]))
        if own == other:
            hint = "Write it so that its first 400 characters, without paths, differ."
            expected = "another command than the server's"
            raise LockstepError("USAGE", "--positive", expected, other, hint)
    return found


def _chosen(config: Config, adapter: Adapter) -> tuple[str, Command] | None:
    if config.positive is not None:
        return ("fault" if "--fault" in config.positive.text else "mode_off"), config.positive
    launch = config.launch
    if launch is None or adapter.name != "lockstep" or "--fault" in launch.text:
        return None
    if _MODE.search(launch.text):
        if _MODE.sub("--mode fast", launch.text) == launch.text:
            return None
        return "mode_off", replace(launch, text=_MODE.sub("--mode fast", launch.text))
    return "mode_off", replace(launch, text=f"{launch.text} --mode fast")
