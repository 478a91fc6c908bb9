"""`lockstep keys`: make a signing key and a trust policy, and show them."""

import json
from pathlib import Path
from typing import Any

import typer

from lockstep.cli.tables import printable

YEARS = 2
"""How long a new key and policy hold."""


def register(app: typer.Typer) -> None:
    """Add the group `keys`."""
    group = typer.Typer(no_args_is_help=True, help="Make and show signing keys.")
    app.add_typer(group, name="keys")

    @group.command()
    def init(
        folder: Path | None = typer.Option(
            None, "--dir", help="Folder for key.pem and trust.json (default: your configuration)."
        ),
        owner: str = typer.Option("me", help="The owner's name in the policy."),
    ) -> None:
        """Make a key (mode 0600) and a policy that trusts it; overwrites nothing.

        Example: lockstep keys init --owner alice
        """
        from lockstep.certificate import keys, lcj, times
        from lockstep.certificate.write import write_file
        from lockstep.cli import say
        from lockstep.errors import LockstepError

        keys.require_owner(owner, "--owner")
        place = folder or keys.config_folder()
        trust = place / "trust.json"
        if trust.exists():
            hint = "Add the new key to that policy by hand, or name another folder with --dir."
            raise LockstepError("USAGE", str(trust), "no policy yet", "a file", hint)
        key = keys.new_key_file(place / "key.pem")
        span = times.period(YEARS)
        write_file(trust, lcj.encode(keys.sole_policy(key.public_key(), "default", owner, span)))
        say(f"key     {place / 'key.pem'} (mode 0600; keep it secret)")
        say(f"policy  {trust} (valid to {span[1]})")
        say(f"key id  {keys.key_id(key.public_key())}")
        say(f"public  {keys.raw(key.public_key()).hex()}")
        say("Give the public key to those who are to trust your certificates, by a way they trust.")

    @group.command()
    def show(
        folder: Path | None = typer.Option(None, "--dir", help="Folder of key.pem and trust.json."),
        as_json: bool = typer.Option(False, "--json", help="Print them as JSON, with their ids."),
    ) -> None:
        """Show the keys that your policy trusts, and the signing key beside it.

        Example: lockstep keys show
        """
        from lockstep.certificate import keys
        from lockstep.cli import say

        place = folder or keys.config_folder()
        policy = _policy(place / "trust.json")
        own = place / "key.pem"
        signing = keys.key_id(keys.load_key(own).public_key()) if own.exists() else None
        if as_json:
            say(json.dumps({**policy, "signing_key": signing}, sort_keys=True))
            return
        say(f"policy  {place / 'trust.json'}, version {policy['version']}, {policy['expires']}")
        for entry in policy["keys"]:
            revoked = f", revoked at {entry['revoked_at']}" if entry["revoked_at"] else ""
            mine = ", signs by default" if entry["id"] == signing else ""
            roles = ", ".join(entry["roles"])
            say(printable(f"key     {entry['name']} of {entry['owner']}: {roles}{revoked}{mine}"))
            say(f"  id      {entry['id']}")
            say(f"  public  {entry['public']}")
            say(f"  valid   {entry['not_before']} to {entry['not_after']}")
        if signing is None:
            say(f"no signing key at {own}")


def _policy(path: Path) -> dict[str, Any]:
    """Read a policy and put each key's id beside it.

    Raises:
        LockstepError: USAGE, there is no such file; POLICY_INVALID, it is no policy.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from lockstep.certificate import keys, lcj
    from lockstep.errors import LockstepError

    try:
        policy = json.loads(path.read_bytes())
        for entry in policy["keys"]:
            public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(entry["public"]))
            entry["id"] = keys.key_id(public)
            for name in ("name", "owner", "not_before", "not_after"):
                if printable(entry[name]) != entry[name]:
                    raise ValueError(f"{name} is not printable ASCII")
            if not all(type(role) is str for role in [*entry["roles"], entry["revoked_at"] or ""]):
                raise ValueError("a role or time is no string")
        if type(policy["version"]) is not int or type(policy["expires"]) is not str:
            raise ValueError("version or expires is of another type")
        lcj.encode(policy)
    except OSError as fault:
        hint = "`lockstep keys init` makes one."
        raise LockstepError("USAGE", str(path), "a policy", fault.strerror, hint) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        got = f"{type(fault).__name__}: {fault}"
        raise LockstepError("POLICY_INVALID", str(path), "a policy", got) from None
    return dict(policy)
