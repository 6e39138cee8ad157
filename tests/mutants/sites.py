"""Sites where the product's functions can be changed by a little, drawn by a seed, and the changes.

A module is compiled with both versions of its sites: `__mutant__(number)` decides at run time which one runs.
"""

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("resolvers", "storage/metrics", "oauth")
SWITCH = "__mutant__"

_SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
}
# A function within another is visited by itself; patterns and texts cannot have a switch.
_WITHOUT_SWITCH = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.match_case, ast.JoinedStr)


@dataclass(frozen=True)
class Site:
    """The `place`th node of a module that can be changed; `line` and `was` are for people."""

    number: int
    path: str
    place: int
    line: int
    was: str
    becomes: str


def draw(count: int, seed: int) -> list[Site]:
    """Sites of all functions in FOLDERS, each as likely as any other, in the order of their files."""
    known = [
        (str(path.relative_to(ROOT)), place, node)
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for place, node in enumerate(_changeable(ast.parse(path.read_text())))
    ]
    drawn = sorted(random.Random(seed).sample(range(len(known)), count))
    sites = []
    for number, index in enumerate(drawn):
        path, place, node = known[index]
        sites.append(Site(number, path, place, node.lineno, ast.unparse(node), ast.unparse(_changed(node))))
    return sites


def compiled_with(path: Path, sites: list[Site]) -> ast.Module:
    """The module with a switch at each of its sites."""
    tree = ast.parse(path.read_text(), filename=str(path))
    nodes = list(_changeable(tree))
    switches = {id(nodes[site.place]): site.number for site in sites}
    return ast.fix_missing_locations(_Switching(switches).visit(tree))


class _Switching(ast.NodeTransformer):
    def __init__(self, switches: dict[int, int]) -> None:
        self._switches = switches

    def visit(self, node: ast.AST) -> ast.AST:
        number = self._switches.get(id(node))
        visited = super().visit(node)
        if number is None:
            return visited
        name = ast.Name(SWITCH, ast.Load())
        asked = ast.Call(name, [ast.Constant(number)], [])
        if isinstance(visited, ast.stmt):
            return ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), asked), [visited], []), node)
        return ast.copy_location(ast.IfExp(asked, _changed(visited), visited), node)


def _changed(node: ast.AST) -> ast.expr:
    match node:
        case ast.Compare(left, [operator, *operators], right):
            return ast.Compare(left, [_SWAPPED[type(operator)](), *operators], right)
        case ast.BoolOp(operator, values):
            return ast.BoolOp(_SWAPPED[type(operator)](), values)
        case ast.BinOp(left, operator, right):
            return ast.BinOp(left, _SWAPPED[type(operator)](), right)
        case ast.UnaryOp(ast.Not(), operand):
            return ast.Call(ast.Name("bool", ast.Load()), [operand], [])
        case ast.Constant(bool() as value):
            return ast.Constant(not value)
        case ast.Constant(value):
            return ast.Constant(value + 1)
        case ast.Expr():
            return ast.Constant(...)
    raise TypeError(type(node))


def _changeable(tree: ast.Module) -> Iterator[ast.expr | ast.stmt]:
    """Nodes in the bodies of functions, in the order of the text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                yield from _in_body(statement)


def _in_body(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    if isinstance(node, _WITHOUT_SWITCH):
        return
    if _can_change(node):
        yield node
    for name, child in ast.iter_fields(node):
        if name == "annotation":
            continue
        for part in child if isinstance(child, list) else [child]:
            if isinstance(part, ast.AST):
                yield from _in_body(part)


def _can_change(node: ast.AST) -> bool:
    match node:
        case ast.Compare(ops=[operator, *_]) | ast.BoolOp(op=operator) | ast.BinOp(op=operator):
            return type(operator) in _SWAPPED
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Constant(value):
            return isinstance(value, int)
        case ast.Expr(ast.Call() | ast.Await(ast.Call())):
            return True
    return False
