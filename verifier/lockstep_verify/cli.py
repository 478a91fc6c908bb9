"""The command `lockstep-verify`: options, files and exit status; every decision is elsewhere."""

import argparse
import contextlib
import gc
import os
import sys
import time
from typing import NoReturn

from lockstep_verify import limits, policy_file, render, verify
from lockstep_verify.bytes import read_file, sha256_file
from lockstep_verify.derive import Options
from lockstep_verify.errors import Refusal, registry
from lockstep_verify.result import Result, worst
from lockstep_verify.times import seconds
from lockstep_verify.trust import Policy
from lockstep_verify.withdrawals import PREDICATE_TYPE, Withdrawal, files


class _Parser(argparse.ArgumentParser):
    """A parser whose faults become USAGE with a code on standard output (OUT-1)."""

    def error(self, message: str) -> NoReturn:
        raise Refusal("USAGE", got=message)


class _Version(argparse.Action):
    """Looks the version up when it is asked for, and not at every start."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        from lockstep_verify import __version__

        print(f"lockstep-verify {__version__}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="lockstep-verify",
        description="Re-derive signed certificates. Exit: 0 verified, 1 unreadable, 2 usage, "
        "3 refused, 4 internal fault, 5 derived but unsigned.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="certificates (*.cert.json)")
    add("--trust", metavar="FILE", help="trust policy (default: the user's configuration folder)")
    add("--state", metavar="DIR", help="where the last policy version seen is remembered")
    add("--at", metavar="TIME", help="the verifier's clock, YYYY-MM-DDTHH:MM:SSZ")
    add("--evidence", metavar="DIR", help="folder of sidecar files")
    add("--subject", metavar="FILE", help="a file that a subject's sha256 must match")
    add("--withdrawals", metavar="DIR", help="folder of withdrawals to heed")
    add("--solve", action="store_true", help="put queries again to z3 and cvc5 on the PATH")
    add("--solver", action="append", metavar="PROGRAM", help="or to this program (repeatable)")
    add("--replay", action="store_true", help="execute again, where the engine is installed")
    add("--exhaustive", action="store_true", help="enumerate without the usual bound")
    add("--unsigned", action="store_true", help="re-derive a published document without signature")
    add("--protocol", action="store_true", help="answer the requests of a conformance run")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one line of canonical JSON a file")
    form.add_argument("--attest", action="store_true", help="a verification summary a file")
    form.add_argument("--explain", metavar="CODE", help="explain a code and stop")
    add("--version", action=_Version, nargs=0, help="print the version and stop")
    return parser


class _Run:
    """One run of the command over its files."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.clock = int(time.time())
        if arguments.at is not None:
            moment = seconds(arguments.at)
            if moment is None:
                raise Refusal("USAGE", expected="--at YYYY-MM-DDTHH:MM:SSZ", got=arguments.at)
            self.clock = moment
        self.options = Options(arguments.exhaustive, replay=arguments.replay)
        if arguments.solve or arguments.solver:
            from lockstep_verify.solvers import programs

            self.options = self.options._replace(solvers=programs(arguments.solver or []))
        if arguments.evidence is not None:
            from pathlib import Path

            if not os.path.isdir(arguments.evidence):
                raise Refusal("USAGE", "", "--evidence: a folder", arguments.evidence)
            self.options = self.options._replace(evidence=Path(arguments.evidence))
        self.subject_sha256: str | None = None
        if arguments.subject is not None:
            try:
                self.subject_sha256 = sha256_file(arguments.subject)
            except Refusal as inner:
                raise Refusal("USAGE", "", "--subject: a regular file", inner.got) from None
        self.withdrawals: list[Withdrawal] = []
        self.withdrawal_files: list[str] = []
        if arguments.withdrawals is not None:
            if arguments.unsigned:
                raise Refusal("USAGE", "", "--withdrawals: signed certificates", "--unsigned")
            self.withdrawal_files = files(arguments.withdrawals)
        self.policy: Policy | None = None
        self.policy_refusal: Refusal | None = None

    def load_policy(self) -> None:
        """Judge the policy once; a refusal is then the answer for every file (ORDER-3)."""
        if self.arguments.unsigned:
            return
        try:
            self.policy, notice = policy_file.load(
                self.arguments.trust, self.arguments.state, self.clock
            )
        except Refusal as refusal:
            self.policy_refusal = refusal
            return
        if notice:
            print(f"lockstep-verify: {notice}", file=sys.stderr)

    def judge(self, file: str, withdrawing: bool = False) -> Result:
        """Judge one file; whatever happens becomes a result (EXIT-1)."""
        # Names are shown as UTF-8 whatever the locale made of them.
        name = os.fsencode(file).decode("utf-8", "backslashreplace")
        blank = Result(name)
        try:
            if self.policy_refusal is not None:
                place = self.arguments.trust or policy_file.default_path()
                return verify.refused(blank._replace(policy=place), self.policy_refusal)
            if self.arguments.unsigned:
                data = read_file(file, limits.PUBLISHED_BYTES)
                return verify.derive_unsigned(name, data, self.options)
            return self._verified(name, file, withdrawing)
        except Refusal as refusal:
            return verify.refused(blank, refusal)
        except Exception as fault:
            return _internal(blank, fault)

    def _verified(self, name: str, file: str, withdrawing: bool) -> Result:
        """Judge a certificate; a withdrawal of the folder is kept where it holds (WDR-3)."""
        # What is asked of the files, such as a solver, is not asked of withdrawals.
        options = Options() if withdrawing else self.options
        judge = verify.Verification(name, self.policy, self.clock, options)
        if not withdrawing:
            judge.subject_sha256, judge.withdrawals = self.subject_sha256, self.withdrawals
        result = judge.run(read_file(file, judge.envelope_limit))
        kept = withdrawing and result.exit == 0 and result.predicate_type == PREDICATE_TYPE
        if kept and judge.predicate is not None:
            self.withdrawals.append(Withdrawal(name, judge.predicate, judge.signers))
        return result

    def report(self, result: Result) -> str:
        """Write a result in the form that was asked for."""
        if self.arguments.json:
            return render.json_line(result)
        if self.arguments.attest:
            place = self.arguments.trust or policy_file.default_path()
            digest = sha256_file(place) if self.policy else None
            return render.attestation(result, self.clock, place, digest)
        return render.text(result)


def _internal(blank: Result, fault: Exception) -> Result:
    trace, where = fault.__traceback__, ""
    while trace is not None:
        where = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return blank._replace(got=f"{type(fault).__name__} in {where}: {fault}")


def _run(argv: list[str] | None) -> int:
    try:
        arguments = _parser().parse_args(argv)
        if arguments.explain is not None:
            if arguments.explain not in registry():
                raise Refusal("USAGE", expected="a code of spec/errors.json", got=arguments.explain)
            print(render.explain(arguments.explain))
            return 0
        if arguments.protocol:
            from lockstep_verify import protocol

            return protocol.serve(sys.stdin.buffer, sys.stdout.buffer)
        if not arguments.files:
            raise Refusal("USAGE", expected="at least one FILE")
        run = _Run(arguments)
    except Refusal as refusal:
        print(render.text(verify.refused(Result("lockstep-verify"), refusal)))
        return refusal.exit
    run.load_policy()
    results = []
    wanted = [(file, True) for file in run.withdrawal_files]
    wanted += [(file, False) for file in arguments.files]
    for file, withdrawing in wanted:
        result = run.judge(file, withdrawing)
        try:
            report = run.report(result)
        except Exception as fault:
            # A report that cannot be written must not keep the files after it from being judged.
            result = _internal(Result(result.file), fault)
            report = run.report(result)
        results.append(result)
        print(report, flush=True)
    return worst(results)


def main(argv: list[str] | None = None) -> int:
    """Run the command and give its exit status; never raises for a fault of its own."""
    # Documents are trees: nothing that is built here is cyclic, and collecting costs time.
    gc.disable()
    # The environment's locale must not decide what can be printed.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    try:
        return _run(argv)
    except BrokenPipeError:
        # Whoever read left, as `head` does: nobody is there to tell. The interpreter flushes once
        # more at its end, which must not complain either.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 4
    except Exception as fault:
        try:
            print(render.text(_internal(Result("lockstep-verify"), fault)), flush=True)
        except Exception:
            # Standard output is gone, or the spec's data is: the bare code must do.
            print("INTERNAL lockstep-verify", file=sys.stderr)
        return 4
