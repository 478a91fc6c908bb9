"""Attacks through policies, the user's other files, kinds of file and the verifier's process."""

import os
import threading
from pathlib import Path
from typing import Any

from lockstep.certificate.lcj import encode
from lockstep.certificate.statement import predicate_type
from lockstep.falsify.content import verdict_relabelled
from lockstep.falsify.envelopes import stranger_with_key, two_ids
from lockstep.falsify.forge import Forge
from lockstep.falsify.trial import Answer, Setting, Trial, holding

_ESCAPE = "\x1b[2J"
_SHOWN = b"\\u{1b}[2J"
_LARGE_BYTES = 40_000_000
_TOUCHED_BYTES = 16 << 20
# A file of the kernel that says it is empty, and is not.
_GROWING = Path("/proc/version")

CONDITIONS: dict[str, dict[str, Any]] = {
    "locale-c": {"environment": (("LC_ALL", "C"), ("LANG", "C"), ("PYTHONUTF8", "0"))},
    "hash-seed": {"environment": (("PYTHONHASHSEED", "4294967295"),)},
    "optimised-interpreter": {"interpreter": ("-O",)},
}
"""Conditions that no verdict may depend on."""


def policy_trials(forge: Forge) -> list[Trial]:
    """Give the trials that differ in the policy and the user's other files."""
    good = forge.signed(forge.payload)
    usual = encode(forge.policy())
    small_order = forge.policy_of_ann(public="00" * 32)
    older = forge.issued_at
    floor = {"predicateType": predicate_type("hunt"), "count": "rows"}
    too_many = len(forge.statement["predicate"]["rows"]) + 1
    source = forge.statement["predicate"]["layouts"][0]["source"]["path"]

    def against(name: str, policy: dict[str, Any], data: bytes = good, **more: Any) -> Trial:
        return Trial(name, holding(data), Setting(encode(policy), **more))

    return [
        against("floor-above-observation", forge.policy(floors=[{**floor, "minimum": too_many}])),
        against("low-order-key-in-the-policy", small_order),
        against("one-key-under-two-ids", forge.policy_of_rule(threshold=2), two_ids(forge)),
        Trial("key-inside-the-payload", holding(stranger_with_key(forge)), Setting(None)),
        against("predicate-replayed", forge.policy_of_ann(roles=["archivist"])),
        against("older-policy", forge.policy(), remembered=2),
        against("revoked-key-back-dated", forge.policy_of_ann(revoked_at=older)),
        Trial("another-subject-file", holding(good), Setting(usual, subject=b"another")),
        Trial("layout-source-absent", holding(good), Setting(usual, evidence=())),
        Trial("layout-source-edited", holding(good), Setting(usual, evidence=((source, b"x"),))),
    ]


def _large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(_LARGE_BYTES)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _growing(path: Path) -> None:
    if _GROWING.is_file():
        path.symlink_to(_GROWING)
        return
    # Elsewhere a file whose time of modification changes all the while it is read.
    with path.open("wb") as file:
        file.truncate(_TOUCHED_BYTES)
    threading.Thread(target=_touch, args=(path,), daemon=True).start()


def _touch(path: Path) -> None:
    """Change a file's time of modification until the file is gone."""
    moment = 0
    while True:
        moment += 1
        try:
            os.utime(path, ns=(moment, moment))
        except FileNotFoundError:
            return


def file_trials(forge: Forge) -> list[Trial]:
    """Give the trials of things that are no certificate's file."""
    setting = Setting(encode(forge.policy()))
    places = {
        "forty-megabytes": _large,
        "fifo": os.mkfifo,
        "device-without-end": _device,
        "link-to-itself": _loop,
        "file-that-is-not-as-long-as-it-says": _growing,
    }
    return [Trial(name, place, setting) for name, place in places.items()]


def condition_trials(forge: Forge) -> list[Trial]:
    """Give, for each condition, the trials of a good certificate and of a relabelled verdict."""
    policy = encode(forge.policy())
    lie = forge.draft()
    verdict_relabelled(lie)
    files = {"true": forge.signed(forge.payload), "lie": forge.signed(encode(lie))}
    return [
        Trial(f"{name}/{kind}", holding(data), Setting(policy, **condition), f"{kind}.cert.json")
        for name, condition in CONDITIONS.items()
        for kind, data in files.items()
    ]


def condition_code(answers: dict[str, Answer], name: str, lie: str) -> str:
    """Give OK if a condition changed neither verdict, else the code that it gave instead.

    Args:
        answers: those of `condition_trials` among others.
        name: the condition's falsification.
        lie: the code that a relabelled verdict must get.
    """
    code = answers[f"{name}/true"].code
    if code != "OK":
        return code
    refused = answers[f"{name}/lie"].code
    return "OK" if refused == lie else "INTERNAL"


def escape_trial(forge: Forge) -> Trial:
    """Give the trial of a certificate whose details and name would clear a terminal."""
    draft = forge.draft()
    draft["predicate"]["layouts"][0]["citation"]["note"] = _ESCAPE
    draft["subject"].append({"name": _ESCAPE, "digest": {"sha256": "0" * 64}})
    setting = Setting(encode(forge.policy()), text=True)
    place = holding(forge.signed(encode(draft)))
    name = "terminal-escapes-in-a-detail"
    return Trial(name, place, setting, f"{_ESCAPE}.cert.json")


def escape_code(answer: Answer) -> str:
    """Give the code of that trial, or INTERNAL if a raw byte got through or nothing was shown."""
    harmless = all(0x20 <= byte <= 0x7E or byte == 0x0A for byte in answer.report)
    return answer.code if harmless and _SHOWN in answer.report else "INTERNAL"
