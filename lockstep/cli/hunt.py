"""`lockstep hunt`: hunt a set of layouts, sign the certificate, verify it."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lockstep.cli.options import require_output

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.layouts.sets import LayoutSet


def register(app: typer.Typer) -> None:
    """Add the command `hunt`."""

    @app.command()
    def hunt(
        name: str = typer.Option(
            "seed-004", "--set", help="A set of layouts/sets, or a TOML file."
        ),
        tokens: int | None = typer.Option(None, help="Tokens in the cache."),
        layers: int | None = typer.Option(None, help="Layers."),
        kv_heads: int | None = typer.Option(None, help="KV heads."),
        head_dim: int | None = typer.Option(None, help="Head dimension."),
        latent_dim: int | None = typer.Option(None, help="Latent dimension, for MLA."),
        rope_dim: int | None = typer.Option(None, help="Rope dimension, for MLA."),
        dtype: str | None = typer.Option(None, help="float16, bfloat16 or float32."),
        output: Path = typer.Option(Path("hunt.cert.json"), "--output", "-o", help="Where to."),
        key: Path | None = typer.Option(None, help="Signing key (default: your configuration's)."),
        trust: Path | None = typer.Option(
            None, help="Policy that the result is verified under (default: one with this key only)."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print the verifier's result as JSON."),
        issued_at: str | None = typer.Option(None, help="YYYY-MM-DDTHH:MM:SSZ (default: now)."),
    ) -> None:
        """Hunt a set of layouts at a geometry and write a signed certificate.

        Sizes that are not given are the set's own.

        A geometry at which an anchor does not exist is refused with an X-code, exit 3.

        Example: lockstep hunt --set engines -o engines.cert.json
        """
        import json

        from lockstep.certificate import keys, times
        from lockstep.certificate.write import write_file
        from lockstep.cli import say
        from lockstep.issue import issue_hunt
        from lockstep.layouts.sets import load_set

        issued_at = times.claimed(issued_at)
        layouts = load_set(name)
        sizes = {
            "tokens": tokens,
            "layers": layers,
            "kv_heads": kv_heads,
            "head_dim": head_dim,
            "latent_dim": latent_dim,
            "rope_dim": rope_dim,
            "dtype": dtype,
        }
        given: dict[str, Any] = {size: value for size, value in sizes.items() if value is not None}
        geometry = dataclasses.replace(layouts.geometry, **given)
        signer = keys.load_key(key or keys.config_folder() / "key.pem")
        # A hunt may take a minute; what can be told before it is told before it.
        require_output(output)
        if trust is not None and not trust.is_file():
            raise typer.BadParameter(f"{trust} is no file", param_hint="--trust")
        options = [f"--{size.replace('_', '-')} {value}" for size, value in given.items()]
        issued = issue_hunt(
            layouts,
            geometry,
            [signer],
            issued_at=issued_at,
            command=" ".join(["lockstep hunt --set", layouts.name, *options]),
            progress=progress(),
        )
        write_file(output, issued.certificate)
        result = verified(output, signer, trust, layouts)
        if as_json:
            say(json.dumps(result, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
        else:
            say(f"wrote {output}, {len(issued.certificate):,} bytes")
            for line in summary(issued.predicate):
                say(line)
            under = f"under {trust}" if trust else "under a policy that trusts this key alone"
            say(f"lockstep-verify, {under}: {result['code']}, exit {result['exit']}")
        if result["exit"]:
            if not as_json:
                say(f"  at {result['pointer'] or 'the document'}; lockstep-verify says more")
            raise typer.Exit(3)


def verified(
    certificate: Path, key: "Ed25519PrivateKey", trust: Path | None, layouts: "LayoutSet"
) -> dict[str, Any]:
    """Give the verifier's result under a policy, or under one that trusts a key alone.

    The verifier is shown the files that the layouts were read from, at their source paths.
    """
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        evidence = Path(scratch)
        for name, layout in layouts.layouts.items():
            place = evidence / layout.source_path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(layouts.files[name].read_bytes())
        return verified_with(certificate, key, trust, evidence)


def verified_with(
    certificate: Path,
    key: "Ed25519PrivateKey",
    trust: Path | None,
    evidence: Path,
    *asked: str,
) -> dict[str, Any]:
    """Give the verifier's result under a policy, or under one that trusts a key alone.

    Args:
        certificate: the file.
        key: what it was signed with.
        trust: the policy, if one was given.
        evidence: the folder of sidecars.
        asked: further options of the verifier.
    """
    import tempfile

    from lockstep.certificate import keys, lcj, times
    from lockstep.certificate.verifier import verify
    from lockstep.cli.keys import YEARS

    with tempfile.TemporaryDirectory() as scratch:
        options = ["--evidence", str(evidence), *asked]
        if trust is None:
            span = times.period(YEARS)
            policy = keys.sole_policy(key.public_key(), "signer", "signer", span)
            trust = Path(scratch, "trust.json")
            trust.write_bytes(lcj.encode(policy))
            options += ["--state", scratch]
        return verify([certificate], *options, "--trust", str(trust)).results[0]


def now() -> str:
    """Give the present second as TIME-1 writes it."""
    from lockstep.certificate import times

    return times.claimed(None)


def progress() -> Callable[[str, int, int], None]:
    """Give a function that shows progress on standard error, a line whenever the step changes.

    A terminal also sees how far a step has come, and how long the rest may take.
    """
    import sys
    import time

    started = time.monotonic()
    begun: dict[str, float] = {}
    live = sys.stderr.isatty()

    def tell(what: str, done: int, whole: int) -> None:
        now = time.monotonic()
        new = what not in begun
        begun.setdefault(what, now)
        if not new and not live:
            return
        line = f"  [{now - started:5.1f} s] {what}"
        if not new and done:
            rest = (now - begun[what]) * (whole - done) / done
            line += f" {done}/{whole}, about {rest:.0f} s left"
        # A step's line stays; its progress is written below it and over itself.
        head = "\r\x1b[K" if live else ""
        print(head + line, end="\n" if new else "", file=sys.stderr, flush=True)

    return tell


def summary(predicate: dict[str, Any]) -> list[str]:
    """Give the lines that sum up a hunt for people."""
    counts, coverage = predicate["counts"], predicate["coverage"]
    return [
        f"{counts['rows']} rows over {counts['layouts']} layouts: "
        f"EXACT_BYTE {counts['exact_byte']}, EXACT_TOKEN {counts['exact_token']}, "
        f"NOT_EXACT {counts['not_exact']}, REFUSED {counts['refused']}, "
        f"UNPROVEN {counts['unproven']}",
        f"positions checked: {counts['positions_checked']:,} destination, "
        f"{counts['source_positions_checked']:,} source; "
        f"{counts['distinct_positions']:,} distinct, in {counts['distinct_images']} images",
        f"enumerated {coverage['layouts_enumerated']} layouts over one layer, composed "
        f"{coverage['rows_composed']} rows, decoded {coverage['rows_decoded']} rows over "
        f"{coverage['layers_decoded']} layers",
        f"falsifications: {len(predicate['falsifications'])}, each with its registered code; "
        f"lemmas: {counts['lemmas']}, named by statement digest",
    ]
