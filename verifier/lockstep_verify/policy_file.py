"""Where the policy lies and which version of it was seen last (TRUST-1, 2, 7 and 9)."""

import hashlib
import os

from lockstep_verify import lcj, limits, trust
from lockstep_verify.bytes import read_file
from lockstep_verify.errors import Refusal


def _base(variable: str, default: str) -> str:
    """Give a base folder of the XDG specification, which ignores relative paths."""
    value = os.environ.get(variable, "")
    return value if os.path.isabs(value) else os.path.join(os.path.expanduser("~"), default)


def default_path() -> str:
    """Give the place of the user's own policy."""
    return os.path.join(_base("XDG_CONFIG_HOME", ".config"), "lockstep", "trust.json")


def _state_path(policy: str, state: str | None) -> str:
    folder = state or os.path.join(
        _base("XDG_STATE_HOME", os.path.join(".local", "state")), "lockstep"
    )
    digest = hashlib.sha256(os.fsencode(os.path.realpath(policy))).hexdigest()
    return os.path.join(folder, f"policy-{digest}.json")


def _last_version(path: str) -> int | None:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Refusal(
            "POLICY_ROLLBACK", "", "a readable record of the last version", error.strerror
        ) from None
    try:
        record = lcj.parse(read_file(path, limits.POLICY_BYTES), "NONCANONICAL_PAYLOAD")
    except Refusal as inner:
        raise Refusal("POLICY_ROLLBACK", "", f"a record in {path}", inner.code) from None
    version = record.get("version")
    if len(record) != 1 or type(version) is not int:
        raise Refusal("POLICY_ROLLBACK", "", f'{{"version":n}} in {path}', "another record")
    return version


def _remember(path: str, version: int) -> bool:
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(lcj.encode({"version": version}))
        os.replace(temporary, path)
    except OSError:
        return False
    return True


def load(path: str | None, state: str | None, clock: int) -> tuple[trust.Policy | None, str]:
    """Find, read and judge the policy; give it (None if there is none) and a notice for people.

    Raises:
        Refusal: POLICY_INVALID, WEAK_KEY, POLICY_ROLLBACK, POLICY_EXPIRED.
    """
    place = default_path() if path is None else path
    if path is None and not os.path.lexists(place):
        return None, ""
    try:
        data = read_file(place, limits.POLICY_BYTES)
    except Refusal as inner:
        raise Refusal("POLICY_INVALID", "", inner.expected, f"{inner.code}: {inner.got}") from None
    policy = trust.load(data)
    record = _state_path(place, state)
    last = _last_version(record)
    trust.check_current(policy, clock, last)
    if (last is None or policy.version > last) and not _remember(record, policy.version):
        return policy, "the policy's version could not be remembered; an older one would pass"
    return policy, ""
