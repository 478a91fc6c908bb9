"""`lockstep measure metrics`, `sign` and `show`, and `lockstep withdraw`."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep import spec
from lockstep.certificate import keys, lcj
from lockstep.evidence.make_measurement import DATA
from lockstep.issue_measurement import issue_measurement
from tests.refusals import refused

Run = Callable[..., str]
SPAN = ("2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z")
ISSUED = ("--issued-at", "2026-05-01T00:00:00Z")
DOCUMENT = """
profiles = [{id = "p", model = "a model"}]
arms = [{id = "a", engine = "lockstep", profile = "p", launch = 1, budget_tokens = 64}]
records = [
    {id = "r1", arm = "a", values = [{quantity = "wall_us", value = 5100}, TOKENS1]},
    {id = "r2", arm = "a", values = [{quantity = "wall_us", value = 9000}, TOKENS2]},
    {id = "r3", arm = "a", values = [{quantity = "wall_us", value = 13200}, TOKENS3]},
]
direct = [
    {name = "wall_us", records = ["r1", "r2", "r3"], quantity = "wall_us", statistic = "mean"},
]
fits = [{name = "law", law = "linear", arms = ["a"]}]
"""


def document() -> str:
    text = DOCUMENT
    for i, tokens in enumerate((100, 200, 300), 1):
        text = text.replace(f"TOKENS{i}", f'{{quantity = "tokens", value = {tokens}}}')
    return text


def told(number: str) -> str:
    """Give what adds a number that is given to the document, before its fits."""
    reading = f'{{name = "x_us", operation = "given", given = {number}, unit = "us"}}'
    return f"derived = [{reading}]\nfits"


@pytest.fixture
def signed(lockstep: Run) -> Path:
    """A certificate of three records, signed by key.pem, and trust.json that trusts that."""
    key = Ed25519PrivateKey.from_private_bytes(b"1" * 32)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
    Path("key.pem").write_bytes(key.private_bytes(*form, serialization.NoEncryption()))
    Path("key.pem").chmod(0o600)
    policy = keys.sole_policy(key.public_key(), "own", "own", SPAN)
    Path("trust.json").write_bytes(lcj.encode(policy))
    Path("d.toml").write_text(document(), "utf-8")
    said = lockstep("measure", "sign", "d.toml", "-o", "c.cert.json", "--key", "key.pem", *ISSUED)
    assert "3 records, 0 refused" in said
    return Path("c.cert.json")


def test_metrics_are_listed_with_what_they_do_not_answer(lockstep: Run) -> None:
    said = lockstep("measure", "metrics", "vllm", "--question", "steps")
    assert "does not answer  vllm:iteration_tokens_total_count" in said
    assert "answers          vllm:estimated_flops_per_gpu_total" in said
    assert "sglang" not in said
    assert "lockstep_steps_total" in lockstep("measure", "metrics")


def test_an_unsupported_question_is_refused_with_what_answers_it(lockstep: Run) -> None:
    ask = ("measure", "metrics", "vllm", "--question", "steps", "--metric")
    told = lockstep(*ask, "vllm:iteration_tokens_total_count", exit=3)
    assert "METRIC_NOT_AN_ANSWER" in told
    assert "Ask vllm:estimated_flops_per_gpu_total instead." in told
    assert "answers steps" in lockstep(*ask, "vllm:estimated_flops_per_gpu_total")
    assert "METRIC_NOT_AN_ANSWER" in lockstep(
        "measure", "metrics", "sglang", "--question", "steps", exit=3
    )


@pytest.mark.parametrize(
    "arguments", [("nobody",), ("vllm", "--question", "why"), ("vllm", "--metric", "vllm:x")]
)
def test_what_cannot_be_asked_is_usage(lockstep: Run, arguments: tuple[str, ...]) -> None:
    lockstep("measure", "metrics", *arguments, exit=2)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (('quantity = "wall_us", value', 'quantity = "wall_ms", value'), "BAD_VALUE"),
        (('statistic = "mean"', 'statistic = "only"'), "BAD_VALUE"),
        (('name = "wall_us", records', 'name = "wall_s", records'), "UNIT_MISMATCH"),
        (('law = "linear"', 'law = "wall"'), "FIT_NOT_IDENTIFIED"),
        (('launch = 1, ', ''), "MISSING_FIELD"),
        (("value = 9000", "value = 0"), "RECORD_REFUSED"),
        (("value = 9000", "value = 9.5"), "WRONG_TYPE"),
        (("profiles", "profiles = 3\nother"), "WRONG_TYPE"),
        (("fits", told('"1/0"')), "WRONG_TYPE"),
        (("fits", told("inf")), "WRONG_TYPE"),
    ],
)  # fmt: skip
def test_a_document_that_breaks_a_rule_is_refused(change: tuple[str, str], code: str) -> None:
    changed = document().replace(*change, 1)
    key = Ed25519PrivateKey.from_private_bytes(b"1" * 32)

    def sign() -> None:
        issue_measurement(tomllib.loads(changed), [key], issued_at=ISSUED[1], command="none")

    refused(code, sign)


def test_a_file_that_is_no_document_is_refused(lockstep: Run) -> None:
    Path("d.toml").write_bytes(b"\xff")
    assert "BAD_ENCODING" in lockstep("measure", "sign", "d.toml", exit=3)
    Path("d.toml").write_text("[", "utf-8")
    assert "BAD_VALUE" in lockstep("measure", "sign", "d.toml", exit=3)
    assert "FILE_UNREADABLE" in lockstep("measure", "sign", "none.toml", exit=2)
    assert not Path("measurement.cert.json").exists()


def test_show_prints_fits_and_readings(lockstep: Run, signed: Path) -> None:
    said = lockstep("measure", "show", str(signed), "--trust", "trust.json", "--rows")
    assert "VERIFIED: MEASURED" in said
    assert "per_token 40.5000 us/token" in said
    assert "wall_us  9,100" in said
    assert "NOT VERIFIED" in lockstep("measure", "show", str(signed), exit=3)


def test_show_says_how_figures_are_made_and_judged(lockstep: Run, signed: Path) -> None:
    assert "measured: mean wall_us of r1, r2, r3, 5,100 to 13,200, wide spread" in lockstep(
        "measure", "show", str(signed), "--trust", "trust.json", "--rows"
    )
    said = lockstep("measure", "show", str(signed), "--plot", "fit.svg", exit=3)
    assert "fit.svg is not drawn" in said
    assert not Path("fit.svg").exists()


GATE = """
sources = [{id = "text", title = "t", place = "p"}]
profiles = [{id = "p", model = "a model"}, {id = "q", model = "a model", topology = "two"},
            {id = "r"}]
arms = [ARMS]
records = [RECORDS]
direct = [{name = "d_unat", records = ["r0"], quantity = "distance_unat", statistic = "only"}]
gates = [{name = "g", first = "p", second = "q"}, {name = "h", first = "p", second = "r"}]
"""


def gated(across: int) -> str:
    """Give a document of repeats and relaunches at 5, and of another distance across."""
    pairs = [("p0", "p0", 5), ("p0", "p1", 5), ("q0", "q0", 5), ("q0", "q1", 5)]
    pairs.append(("p0", "q0", across))
    arms = [
        f'{{id = "{name}{n}", engine = "vllm", profile = "{name}", launch = {n}}}'
        for name in "pqr"
        for n in (0, 1)
    ]
    records = [
        f'{{id = "r{i}", arm = "{a}", against = "{b}", source = "text", '
        f'values = [{{quantity = "distance_unat", value = {d}}}]}}'
        for i, (a, b, d) in enumerate(pairs)
    ]
    return GATE.replace("ARMS", ", ".join(arms)).replace("RECORDS", ", ".join(records))


def test_one_profile_serves_for_another_only_where_it_was_measured(
    lockstep: Run, signed: Path
) -> None:
    asked = ("measure", "substitute")
    trust = ("--trust", "trust.json")
    for across, status in ((5, 0), (6, 3)):
        Path("g.toml").write_text(gated(across), "utf-8")
        sign = ("measure", "sign", "g.toml", "-o", f"{across}.cert.json", "--key", "key.pem")
        lockstep(*sign, *ISSUED)
        for pair in (("p", "q"), ("q", "p")):
            said = lockstep(*asked, f"{across}.cert.json", *pair, *trust, exit=status)
            assert ("may serve" if status == 0 else "SUBSTITUTION_REFUSED") in said
    assert "unmeasured" in lockstep(*asked, "5.cert.json", "p", "r", *trust, exit=3)
    assert "unmeasured" in lockstep(*asked, "5.cert.json", "q", "r", *trust, exit=3)
    assert "UNTRUSTED_SIGNER" in lockstep(*asked, "5.cert.json", "p", "q", exit=3)
    lockstep(*asked, "5.cert.json", "p", "nobody", *trust, exit=2)


def test_a_certificate_of_another_kind_has_no_profiles(lockstep: Run, signed: Path) -> None:
    lockstep(
        "withdraw", str(signed), "--pointer", "/predicate/direct/0", "--reason", "A clock was set.",
        "--instead", "Nothing.", "--key", "key.pem", "-o", "c.cert.json", *ISSUED,
    )  # fmt: skip
    trust = ("--trust", "trust.json")
    said = lockstep("measure", "substitute", "c.cert.json", "p", "q", *trust, exit=2)
    assert "kind measurement" in said


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (("--pointer", "nonsense"), 3),
        (("--pointer", "/subject/0"), 3),
        (("--pointer", "/predicate/nothing"), 3),
        (("--reason", ""), 2),
        (("--reason", "Zo\u00eb said so."), 2),
        (("--instead", "a" * 401), 2),
    ],
)
def test_what_no_withdrawal_may_say_is_refused_and_nothing_is_written(
    lockstep: Run, signed: Path, given: tuple[str, str], status: int
) -> None:
    options = {"--pointer": "/predicate/direct/0", "--reason": "A clock was set."}
    words = [word for pair in {**options, given[0]: given[1]}.items() for word in pair]
    lockstep("withdraw", str(signed), *words, "--key", "key.pem", *ISSUED, exit=status)
    assert not Path("withdrawal.cert.json").exists()


def test_withdrawn_claims_are_shown(lockstep: Run, signed: Path) -> None:
    Path("w").mkdir()
    lockstep(
        "withdraw", str(signed), "--pointer", "/predicate/direct/0", "--reason", "A clock was set.",
        "--instead", "Nothing.", "--key", "key.pem", "-o", "w/c.cert.json", *ISSUED,
    )  # fmt: skip
    heed = ("--trust", "trust.json", "--withdrawals", "w")
    for command in (("show",), ("measure", "show")):
        said = lockstep(*command, str(signed), *heed, exit=3)
        assert "NOT VERIFIED: CLAIM_WITHDRAWN" in said
        assert "WITHDRAWN /predicate/direct/0: A clock was set. Instead: Nothing." in said
    assert "A clock was set." in lockstep("show", "w/c.cert.json", "--trust", "trust.json")


def test_a_plot_is_of_a_measurement_and_of_a_form_that_there_is(
    lockstep: Run, signed: Path
) -> None:
    trust = ("--trust", "trust.json")
    assert "--plot" in lockstep("measure", "show", str(signed), *trust, "--plot", "f.gif", exit=2)
    lockstep(
        "withdraw", str(signed), "--pointer", "", "--reason", "A clock was set.",
        "--key", "key.pem", *ISSUED,
    )  # fmt: skip
    asked = ("measure", "show", "withdrawal.cert.json", *trust, "--plot", "f.svg")
    assert "not one of kind measurement" in lockstep(*asked, exit=2)
    assert not Path("f.svg").exists()


def test_a_plot_is_drawn_of_the_fits(lockstep: Run, signed: Path) -> None:
    pytest.importorskip("matplotlib")
    arguments = ("measure", "show", str(signed), "--trust", "trust.json", "--plot")
    lockstep(*arguments, "fit.svg")
    first = Path("fit.svg").read_bytes()
    assert b"<svg" in first
    lockstep(*arguments, "again.svg")
    assert Path("again.svg").read_bytes() == first


def test_without_the_library_the_plot_says_so(
    lockstep: Run, signed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    arguments = ("measure", "show", str(signed), "--trust", "trust.json")
    assert "LIBRARY_MISSING" in lockstep(*arguments, "--plot", "fit.svg", exit=2)
    assert "VERIFIED" in lockstep(*arguments)


def test_the_document_of_seed_001_is_signed_as_it_stands(lockstep: Run) -> None:
    said = lockstep("measure", "sign", str(spec.root() / DATA), "-o", "seed.cert.json")
    assert "CONTRADICTED: of 65 printed figures 42 agree" in said
