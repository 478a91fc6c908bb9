"""`lockstep keys`: make a signing key and a trust policy, and show them."""

import json
from pathlib import Path

import typer

KINDS = ("hunt",)
"""Claim kinds that a new policy lets its key sign."""
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
        from lockstep.certificate import keys, lcj
        from lockstep.certificate.statement import predicate_type
        from lockstep.certificate.write import write_file
        from lockstep.cli import say
        from lockstep.errors import LockstepError

        place = folder or keys.config_folder()
        trust = place / "trust.json"
        if trust.exists():
            hint = "Add the new key to that policy by hand, or name another folder with --dir."
            raise LockstepError("USAGE", str(trust), "no policy yet", "a file", hint)
        key = keys.new_key_file(place / "key.pem")
        now, end = period()
        signer = keys.Signer("default", owner, keys.raw(key.public_key()), ("producer",), now, end)
        kinds = [predicate_type(kind) for kind in KINDS]
        write_file(trust, lcj.encode(keys.policy([signer], kinds, version=1, expires=end)))
        say(f"key     {place / 'key.pem'} (mode 0600; keep it secret)")
        say(f"policy  {trust} (valid to {end})")
        say(f"key id  {keys.key_id(key.public_key())}")
        say(f"public  {signer.public.hex()}")
        say("Give the public key to those who are to trust your certificates, by a way they trust.")

    @group.command()
    def show(
        folder: Path | None = typer.Option(None, "--dir", help="Folder of key.pem and trust.json."),
    ) -> None:
        """Show the keys that your policy trusts.

        Example: lockstep keys show
        """
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        from lockstep.certificate import keys
        from lockstep.cli import say
        from lockstep.errors import LockstepError

        trust = (folder or keys.config_folder()) / "trust.json"
        try:
            policy = json.loads(trust.read_bytes())
        except OSError as fault:
            raise LockstepError(
                "USAGE", str(trust), "a policy", fault.strerror, "`lockstep keys init` makes one."
            ) from None
        except ValueError as fault:
            raise LockstepError("POLICY_INVALID", str(trust), "JSON", str(fault)) from None
        say(f"policy  {trust}, version {policy['version']}, expires {policy['expires']}")
        for entry in policy["keys"]:
            public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(entry["public"]))
            revoked = f", revoked at {entry['revoked_at']}" if entry["revoked_at"] else ""
            say(
                f"key     {entry['name']} of {entry['owner']}: {', '.join(entry['roles'])}{revoked}"
            )
            say(f"  id      {keys.key_id(public)}")
            say(f"  public  {entry['public']}")
            say(f"  valid   {entry['not_before']} to {entry['not_after']}")


def period() -> tuple[str, str]:
    """Give the present second and the same moment some years later, as TIME-1 writes them."""
    from datetime import UTC, datetime, timedelta

    now = datetime.now(UTC)
    form = "%Y-%m-%dT%H:%M:%SZ"
    return now.strftime(form), (now + timedelta(days=365 * YEARS)).strftime(form)
