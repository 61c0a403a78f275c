"""`returns.result` as pyright can follow it.

The library types `bind` and `lash` through its emulation of higher kinded types, which only its mypy plugin resolves; to
anyone else what they return is unknown. Here they say the same with plain generics. A success holds no error and a failure
no value, so the type of `Success(1) if ok else Failure("no")` is what both together can be.
"""

from collections.abc import Callable, Generator, Iterator
from typing import Generic, Never, ParamSpec, TypeVar, final

T_co = TypeVar("T_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
U = TypeVar("U")
F = TypeVar("F")
X = TypeVar("X", bound=Exception)
P = ParamSpec("P")

class Result(Generic[T_co, E_co]):
    __match_args__ = ("_inner_value",)
    _inner_value: T_co | E_co
    def map(self, function: Callable[[T_co], U]) -> Result[U, E_co]: ...
    def bind(self, function: Callable[[T_co], Result[U, F]]) -> Result[U, E_co | F]: ...
    def alt(self, function: Callable[[E_co], F]) -> Result[T_co, F]: ...
    def lash(self, function: Callable[[E_co], Result[U, F]]) -> Result[T_co | U, F]: ...
    def value_or(self, default_value: U) -> T_co | U: ...
    def unwrap(self) -> T_co: ...
    def failure(self) -> E_co: ...
    def __iter__(self) -> Iterator[T_co]: ...
    @classmethod
    def do(cls, expr: Generator[U]) -> Result[U, F]: ...

@final
class Success(Result[T_co, Never], Generic[T_co]):
    _inner_value: T_co
    def __init__(self, inner_value: T_co) -> None: ...

@final
class Failure(Result[Never, E_co], Generic[E_co]):
    _inner_value: E_co
    def __init__(self, inner_value: E_co) -> None: ...

def safe(exceptions: tuple[type[X], ...]) -> Callable[[Callable[P, U]], Callable[P, Result[U, X]]]: ...
