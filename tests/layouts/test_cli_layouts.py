"""`lockstep layouts`."""

import pytest
import typer
from typer.testing import CliRunner, Result

from lockstep.cli import layouts
from lockstep.errors import LockstepError


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer()

    @made.callback()
    def options() -> None:
        """A group's commands need a parent."""

    layouts.register(made)
    return made


def run(app: typer.Typer, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["layouts", *arguments])


def test_list_names_every_layout(app: typer.Typer) -> None:
    result = run(app, "list")
    assert result.exit_code == 0
    assert "vllm/vllm-lbnhc " in result.output
    assert "kv [L Tb Ti H C]" in result.output


def test_show_derives_at_a_geometry(app: typer.Typer) -> None:
    result = run(app, "show", "seed-004/vllm-fa", "--tokens", "40", "--kv-heads", "2")
    assert "shape [2, 3, 16, 2, 16]" in result.output
    assert "positions a layer 3072, of them padding 512" in result.output
    assert "not realisable" in run(app, "show", "vllm/vllm-tp8-sharded").output
    result = run(app, "show", "vllm:HND,block=24", "--tokens", "40", "--kv-heads", "2")
    assert "shape [2, 2, 2, 24, 16]" in result.output


def test_recipe_gives_steps_and_words(app: typer.Typer) -> None:
    result = run(app, "recipe", "llamacpp-no-flash", "hf-dynamic")
    assert "in words: " in result.output
    assert "crop" in result.output
    result = run(app, "recipe", "lmcache:KV_2LTD", "vllm:NHD,block=8")
    assert "lmcache-kv-2ltd to vllm-0.23-nhd" in result.output


def test_refusals_keep_their_codes(app: typer.Typer) -> None:
    for arguments, code in (
        (("show", "no-such"), "USAGE"),
        (("recipe", "vllm/vllm-mla", "vllm/vllm-0.22-nhd"), "X1_LATENT_KV"),
        (("recipe", "vllm/vllm-mla", "vllm/vllm-fp8-ds-mla"), "BAD_VALUE"),
        (("show", "vllm-lbnhc", "--tokens", "0"), "BAD_VALUE"),
    ):
        result = run(app, *arguments)
        assert isinstance(result.exception, LockstepError)
        assert result.exception.code == code
