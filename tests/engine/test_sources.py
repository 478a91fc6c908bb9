"""What the digest of the engine's sources leaves out bears on no result."""

import ast
from importlib.util import find_spec
from pathlib import Path

from lockstep.engine.sources import ENGINE
from lockstep.fuzz import campaign as fuzzing
from lockstep.mutation import campaign as mutating
from lockstep.relations import run as relations

ROOT = Path(__file__).parents[2]

NOT_BOUND = {
    "lockstep.certificate.lcj",
    "lockstep.certificate.write",
    "lockstep.errors",
    "lockstep.limits",
    "lockstep.portable_schema",
    "lockstep.spec",
}
"""Reading, writing and refusing: they give a result or none, never another one."""


def source(module: str) -> Path | None:
    """Give a module's or a package's file; None where the name is another thing's."""
    path = ROOT / module.replace(".", "/")
    found = [one for one in (path / "__init__.py", path.with_suffix(".py")) if one.exists()]
    return found[0] if found else None


def imports(path: Path) -> set[str]:
    """Give the modules of the project that one imports anywhere, but for its types alone."""
    found = set()
    for node in running(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {name for name in below if source(name)}
            found |= modules if modules == below else modules | {node.module}
    return {name for name in found if name.partition(".")[0] == "lockstep" and source(name)}


def running(tree: ast.AST) -> list[ast.AST]:
    """Give the nodes of a tree without what only a type checker reads."""
    nodes, found = [tree], []
    while nodes:
        node = nodes.pop()
        found.append(node)
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            nodes += ast.iter_child_nodes(node)
    return found


def bound(names: tuple[str, ...]) -> set[str]:
    """Give the modules whose sources a list binds, as `machine.sources_digest` reads it."""
    found = set()
    for name in names:
        path = source(name)
        assert path, name
        paths = path.parent.glob("*.py") if path.name == "__init__.py" else [path]
        found |= {
            name if one.name in ("__init__.py", path.name) else f"{name}.{one.stem}"
            for one in paths
        }
    return found


def test_the_list_is_closed_under_imports() -> None:
    inside = bound(ENGINE)
    reached, left = set(inside), list(inside)
    while left:
        path = source(left.pop())
        assert path
        new = imports(path) - reached
        reached |= new
        left += new
    assert reached - inside == NOT_BOUND


def test_lists_name_what_exists_once() -> None:
    for names in (ENGINE, relations.SOURCES, fuzzing.SOURCES, mutating.SOURCES):
        assert len(set(names)) == len(names)
        assert all(find_spec(name) for name in names)
        assert set(ENGINE) <= set(names)
