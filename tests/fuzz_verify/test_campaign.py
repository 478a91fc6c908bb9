"""The campaign finds nothing on the verifier, and finds what a wrong verifier does."""

import base64
import copy
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lockstep import fuzz_verify, limits, spec
from lockstep.certificate.lcj import encode
from lockstep.errors import LockstepError
from lockstep.falsify.forge import Forge
from lockstep.fuzz_verify import second_opinion
from lockstep.fuzz_verify.mutants import BYTES, Mutant
from lockstep.fuzz_verify.oracle import REDECLARED, judge, supplies
from lockstep.fuzz_verify.process import Answer, Verifier

MUTANTS = 5_000


@pytest.fixture(scope="module")
def parent():
    return fuzz_verify.make()


@pytest.mark.slow  # `make fuzz-verify` is it 20 times
def test_5000_mutants_get_the_answers_that_they_must(parent):
    outcome = fuzz_verify.run(parent.forge, parent.evidence, MUTANTS, seed=1, jobs=2)
    told = [
        (failure.mutant.number, failure.mutant.where, failure.mutant.operator, failure.wrong)
        for failure in outcome.tally.failures
    ]
    assert told == []
    assert sum(outcome.tally.outcomes.values()) == MUTANTS
    assert outcome.derived_leaves_hit == len(outcome.derived_leaves) > 500
    assert outcome.tally.cells <= outcome.cells_of_document <= outcome.cells_of_schema
    assert len(outcome.cells_of_document - outcome.tally.cells) < 30
    # Cells without a value: fields of this version that a document of this set never holds.
    assert len(outcome.cells_of_schema - outcome.cells_of_document) < 30
    codes = {code for _, _, code in outcome.tally.outcomes}
    assert len(codes) > 20 and "OK" in codes


def certificate_of(kind, folder):
    """The file of the vectors' valid certificate of a kind, signed by nobody that matters."""
    vectors = Path(__file__).parents[2] / "conformance/vectors/v1"
    payload = (vectors / kind / "files/valid.payload").read_bytes()
    path = folder / f"{kind}.cert.json"
    path.write_text(json.dumps({"payload": base64.b64encode(payload).decode()}))
    return path


@pytest.mark.parametrize("kind", ["fidelity", "replay"])
def test_mutants_of_another_kind_get_the_answers_that_they_must(kind, tmp_path):
    parent = fuzz_verify.read(certificate_of(kind, tmp_path))
    outcome = fuzz_verify.run(parent.forge, parent.evidence, 150, seed=1)
    assert [failure.wrong for failure in outcome.tally.failures] == []
    assert len({code for _, _, code in outcome.tally.outcomes}) > 8
    assert outcome.tally.cells <= outcome.cells_of_document <= outcome.cells_of_schema


def test_a_second_verifier_that_answers_otherwise_is_told(tmp_path):
    parent = fuzz_verify.read(certificate_of("fidelity", tmp_path))
    against = (sys.executable, "-c", ACCEPTING)
    outcome = fuzz_verify.run(parent.forge, parent.evidence, 20, seed=1, against=against)
    assert outcome.tally.failed > 10
    assert "second verifier OK" in outcome.tally.failures[0].wrong


def test_what_is_no_certificate_is_no_parent(tmp_path):
    (tmp_path / "x.cert.json").write_text("{}")
    for path in (tmp_path / "x.cert.json", tmp_path / "absent.cert.json"):
        with pytest.raises(LockstepError) as caught:
            fuzz_verify.read(path)
        assert caught.value.code == "FILE_UNREADABLE"


def test_what_the_signer_alone_can_say_is_no_failure():
    added = replace(mutant("/not_run"), operator="insert")
    assert judge(added, GOOD, GOOD, "fidelity", False) == ("OK", None)
    told = replace(mutant("/runs/*/outcome"), before="not_run", after="vacuous")
    assert judge(told, GOOD, GOOD, "invariance", False) == ("OK", None)
    assert judge(replace(told, after="holds"), GOOD, GOOD, "invariance", False)[1] is not None
    digest = mutant("/runs/*/workloads/*", ("witnessed",))
    assert judge(digest, GOOD, GOOD, "invariance", False) == ("OK", None)


GOOD = Answer("OK", 0.01, "", "DERIVED", {"rows": 6})


def mutant(path="/rows/*/verdict", changed=("derived",), number=1, predicate=None):
    return Mutant(
        number, path, (), "nullify", changed[0], frozenset(changed), predicate, b"", None, None
    )


@pytest.mark.parametrize(
    ("mutated", "answer"),
    [
        (mutant(), GOOD),
        (mutant(changed=(BYTES,)), GOOD),
        (mutant("/producer/name", ("attested", "shape")), GOOD),
        (mutant("/layouts/*/source/sha256", ("witnessed",), number=2), GOOD),
        (mutant("/layouts/*/source/sha256", ("witnessed",), predicate={}), GOOD),
        (mutant("/producer/name", ("attested",)), replace(GOOD, counts={"rows": 7})),
        (mutant("/producer/name", ("attested",)), replace(GOOD, verdict="OTHER")),
        (mutant(), Answer("INTERNAL", 0.01)),
        (mutant(), Answer("CRASH", 0.01)),
        (mutant(), Answer("TIMEOUT", 2.0)),
        (mutant(), Answer("NO_SUCH_CODE", 0.01)),
        (mutant(), Answer("H2_VERDICT_NOT_DERIVED", 2.01)),
    ],
)
def test_the_oracle_refuses_a_wrong_answer(mutated, answer, monkeypatch):
    monkeypatch.setattr(second_opinion, "agrees", lambda predicate: False)
    assert judge(mutated, answer, GOOD)[1] is not None


@pytest.mark.parametrize(
    ("mutated", "answer", "outcome"),
    [
        (mutant(), Answer("H2_VERDICT_NOT_DERIVED", 0.01), "H2_VERDICT_NOT_DERIVED"),
        (mutant("/producer/name", ("attested",)), GOOD, "OK"),
        (mutant("/groups/*/members", ("derived",), predicate={}), GOOD, REDECLARED),
    ],
)
def test_the_oracle_passes_a_right_answer(mutated, answer, outcome, monkeypatch):
    monkeypatch.setattr(second_opinion, "agrees", lambda predicate: True)
    assert judge(mutated, answer, GOOD) == (outcome, None)


def test_witnessed_bytes_are_supplied_with_every_other_mutant():
    assert supplies(mutant(changed=("witnessed",), number=4))
    assert not supplies(mutant(changed=("witnessed",), number=5))
    assert not supplies(mutant(number=4))


def lemmas_of_first(predicate):
    """The lemmas of the first layout: three behind the general ones, where a row starts from it."""
    name, general = predicate["layouts"][0]["name"], len(spec.load("lemmas.json")["rows"])
    row = next(row for row in predicate["rows"] if row["src"] == name and row["proof"])
    return [lemma["name"] for lemma in row["proof"]["lemmas"][general : general + 3]]


def without_lemmas(predicate, lemmas):
    """A copy in which no row names any of some lemmas."""
    copied = copy.deepcopy(predicate)
    for row in copied["rows"]:
        if row["proof"] is not None:
            held = row["proof"]["lemmas"]
            row["proof"]["lemmas"] = [one for one in held if one["name"] not in lemmas]
    return copied


def test_the_second_opinion_tells_another_way_of_saying_from_another_thing(parent):
    predicate = parent.forge.statement["predicate"]
    assert second_opinion.agrees(predicate)

    def changed(**fields):
        first = {**predicate["layouts"][0], **fields}
        return {**predicate, "layouts": [first, *predicate["layouts"][1:]]}

    # The same heads, said in another way, are another declaration, and no lemma speaks of it.
    heads = changed(kv_heads=predicate["geometry"]["kv_heads"])
    assert not second_opinion.agrees(heads)
    assert second_opinion.agrees(without_lemmas(heads, lemmas_of_first(predicate)))
    assert not second_opinion.agrees(changed(kv_heads=1))
    assert not second_opinion.agrees(changed(block=8))
    tensor = predicate["layouts"][0]["tensors"][0]
    wide = [{**part, "bits": 32} for part in tensor["components"]]
    assert not second_opinion.agrees(changed(tensors=[{**tensor, "components": wide}]))
    group = predicate["groups"][0]
    turned = {**group, "members": group["members"][::-1]}
    assert second_opinion.agrees({**predicate, "groups": [turned]})
    fewer = {**group, "members": group["members"][:-1]}
    assert not second_opinion.agrees({**predicate, "groups": [fewer]})
    assert not second_opinion.declares("/layouts/*/derived/positions")
    assert not second_opinion.declares("/rows/*/verdict")


def verifier(parent, script):
    policy = encode(parent.forge.policy())
    return Verifier(policy, parent.forge.issued_at, (sys.executable, "-c", script))


ACCEPTING = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": "mutant", "result": "ok", "code": "OK", "value": {}}), flush=True)
"""
GREEDY = """
import json, sys
for line in sys.stdin:
    held = bytearray(1 << 30)
    print(json.dumps({"code": "OK"}), flush=True)
"""


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("import sys; sys.stdin.readline()", "CRASH"),
        ("print('what?', flush=True); input(); input()", "CRASH"),
        ("print('[]', flush=True); input(); input()", "CRASH"),
        (GREEDY, "CRASH"),
        ("import time; time.sleep(60)", "TIMEOUT"),
        (ACCEPTING, "OK"),
    ],
)
def test_what_a_process_does_is_told(parent, monkeypatch, script, code):
    monkeypatch.setattr(limits, "MUTANT_FIRST_SECONDS", 2.0 if code == "TIMEOUT" else 30.0)
    with verifier(parent, script) as judged:
        assert judged.judge(b"{}").code == code
        # A process that died is started anew.
        assert judged.judge(b"{}").code == code


def test_an_accepting_verifier_is_found_out_and_its_failures_are_written(
    parent, monkeypatch, tmp_path
):
    real = Verifier.__init__

    def wrong(self, policy, clock, command=()):
        real(self, policy, clock, (sys.executable, "-c", ACCEPTING))

    monkeypatch.setattr(Verifier, "__init__", wrong)
    outcome = fuzz_verify.run(parent.forge, parent.evidence, 60, seed=3)
    assert outcome.tally.failed > 40
    fuzz_verify.write(outcome, tmp_path / "results")
    summary = json.loads((tmp_path / "results/summary.json").read_text())
    assert summary["failed"] == outcome.tally.failed
    first = outcome.tally.failures[0]
    name = f"failure-{first.mutant.number}"
    told = json.loads((tmp_path / f"results/{name}.json").read_text())
    assert told["operator"] == first.mutant.operator and told["wrong"]
    written = (tmp_path / f"results/{name}.cert.json").read_bytes()
    assert written == first.mutant.certificate


def test_a_parent_that_is_refused_proves_nothing(parent):
    statement = json.loads(json.dumps(parent.forge.statement))
    statement["predicate"]["counts"]["rows"] += 1
    with pytest.raises(LockstepError) as caught:
        fuzz_verify.run(Forge(statement, parent.forge.issued_at), parent.evidence, 10, seed=1)
    assert caught.value.got == "H10_COUNTS_DO_NOT_RECOMPUTE"


def test_the_command_reports_and_writes(tmp_path):
    import typer

    from lockstep.cli import fuzz

    app = typer.Typer()
    fuzz.register(app)
    app.callback()(lambda: None)
    folder = tmp_path / "out"
    done = CliRunner().invoke(
        app, ["fuzz-verify", "--mutants", "40", "--seed", "2", "--jobs", "1", "-o", str(folder)]
    )
    assert done.exit_code == 0, done.output
    assert "40 mutants from seed 2: 0 failures" in done.output
    assert json.loads((folder / "summary.json").read_text())["mutants"] == 40
