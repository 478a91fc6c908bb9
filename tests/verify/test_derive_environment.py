"""The environment tuple: read back from a backend, and each rule's mutation."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from lockstep.engine.backends import open_backend
from lockstep.engine.environment import environment, not_comparable
from lockstep_verify import derive, schema, spec
from lockstep_verify.derive.environment import check_environment
from lockstep_verify.errors import Refusal

AT = "/predicate/environment"
SCHEMA = spec.load("schemas/environment.schema.json")
BACKENDS = ("host", "fast", "float64", "padded_tiles")


@pytest.fixture
def tuple_() -> dict[str, Any]:
    return environment(open_backend("host"), "float32", {"OMP_NUM_THREADS": "2", "HOME": "x"})


def refusal(stated: dict[str, Any]) -> tuple[str, str]:
    schema.check({"environment": stated}, SCHEMA)
    with pytest.raises(Refusal) as caught:
        check_environment(stated, AT)
    return caught.value.code, caught.value.pointer


def place(stated: dict[str, Any], name: str) -> int:
    return [entry["name"] for entry in stated["resolved"]].index(name)


@pytest.mark.parametrize("name", BACKENDS)
def test_what_a_backend_tells_is_a_tuple(name: str) -> None:
    backend = open_backend(name)
    stated = environment(backend)
    schema.check({"environment": stated}, SCHEMA)
    found = check_environment(stated, AT)
    assert found.binding == backend.binding()
    assert found.resolved["backend"] == name


def test_requested_and_resolved_stand_apart(tuple_: dict[str, Any]) -> None:
    asked = {entry["name"]: entry["value"] for entry in tuple_["requested"]}
    assert asked == {"OMP_NUM_THREADS": "2", "backend": "host", "dtype": "float32"}
    assert environment(open_backend("host"))["requested"] != tuple_["requested"]


def test_a_host_is_bound_to_its_sources_and_numpy_alone(tuple_: dict[str, Any]) -> None:
    assert sorted(check_environment(tuple_, AT).binding) == [
        "backend", "dtype", "kernels_sha256", "numpy",
    ]  # fmt: skip


def test_a_name_out_of_order(tuple_: dict[str, Any]) -> None:
    tuple_["resolved"].insert(1, tuple_["resolved"][0])
    assert refusal(tuple_) == ("BAD_VALUE", f"{AT}/resolved/1/name")
    tuple_["requested"].reverse()
    assert refusal(tuple_) == ("BAD_VALUE", f"{AT}/requested/1/name")


def test_a_request_without_dtype_and_one_of_an_unknown_name(tuple_: dict[str, Any]) -> None:
    given = deepcopy(tuple_)
    del given["requested"][2]
    assert refusal(given) == ("MISSING_FIELD", f"{AT}/requested")
    tuple_["requested"][0]["name"] = "HOME"
    assert refusal(tuple_) == ("BAD_VALUE", f"{AT}/requested/0/name")


def test_an_unknown_backend_and_none(tuple_: dict[str, Any]) -> None:
    at = place(tuple_, "backend")
    tuple_["resolved"][at]["value"] = "abacus"
    assert refusal(tuple_) == ("BAD_VALUE", f"{AT}/resolved/{at}/value")
    del tuple_["resolved"][at]
    assert refusal(tuple_) == ("MISSING_FIELD", f"{AT}/resolved")


@pytest.mark.parametrize("name", spec.load("environment.json")["always"])
def test_a_setting_that_is_not_told(name: str, tuple_: dict[str, Any]) -> None:
    del tuple_["resolved"][place(tuple_, name)]
    assert refusal(tuple_) == ("MISSING_FIELD", f"{AT}/resolved")


@pytest.mark.parametrize("name", ["numpy", "blas_kernel"])
def test_what_binds_is_not_the_producers_choice(name: str, tuple_: dict[str, Any]) -> None:
    at = place(tuple_, name)
    tuple_["resolved"][at]["binds"] = not tuple_["resolved"][at]["binds"]
    assert refusal(tuple_) == ("BAD_VALUE", f"{AT}/resolved/{at}/binds")


def test_all_settings_of_another_backend_bind_but_python() -> None:
    stated = environment(open_backend("fast"))
    at = place(stated, "python")
    stated["resolved"][at]["binds"] = True
    assert refusal(stated) == ("BAD_VALUE", f"{AT}/resolved/{at}/binds")


def test_what_was_asked_for_is_what_is_in_force(tuple_: dict[str, Any]) -> None:
    at = place(tuple_, "dtype")
    tuple_["resolved"][at]["value"] = "float16"
    assert refusal(tuple_) == ("ENVIRONMENT_MISMATCH", f"{AT}/resolved/{at}/value")


def test_a_digest_that_is_none(tuple_: dict[str, Any]) -> None:
    at = place(tuple_, "kernels_sha256")
    tuple_["resolved"][at]["value"] = "not read"
    assert refusal(tuple_) == ("BAD_VALUE", f"{AT}/resolved/{at}/value")


def test_an_edited_setting_that_binds(tuple_: dict[str, Any]) -> None:
    tuple_["resolved"][place(tuple_, "numpy")]["value"] = "1.0"
    assert refusal(tuple_) == ("ENVIRONMENT_MISMATCH", f"{AT}/binding_sha256")


def test_bindings_are_compared_by_name_and_value() -> None:
    assert not_comparable({"numpy": "1"}, {"numpy": "1"}) == ""
    assert not_comparable({"numpy": "1"}, {"numpy": "2", "a": "3"}) == ("a absent / 3, numpy 1 / 2")


def test_each_kind_that_carries_it_holds_the_same_definitions() -> None:
    schemas = {kind: spec.load(f"schemas/{kind}.schema.json") for kind in derive.KINDS.values()}
    carrying = {kind: s for kind, s in schemas.items() if "environment" in s["properties"]}
    assert "fidelity" in carrying
    for kind, held in carrying.items():
        mine = {name: held["$defs"].get(name) for name in SCHEMA["$defs"]}
        assert mine == SCHEMA["$defs"], kind
