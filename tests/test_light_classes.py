"""Classes of `light_classes` beside the same ones of attrs."""

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import pytest
from cattrs.preconf.json import make_converter

from agent_memory.values import define, evolve, field, field_names, frozen

NUMBERS = (1, 2)


@frozen
class Point:
    """A point."""

    x: int
    y: int = 2
    """Upwards."""
    tags: tuple[str, ...] = ()
    seen: dict[str, int] = field(factory=dict, metadata={"meaning": "how often"})
    _hidden: str = field(default="h", repr=False)
    AXES: ClassVar[int] = 2

    @property
    def sum(self) -> int:
        return self.x + self.y

    @classmethod
    def of(cls, x: int) -> "Point":
        return cls(x)

    def me(self) -> type:
        return __class__  # type: ignore[name-defined, no-any-return]


@attrs.frozen
class AttrsPoint:
    """A point."""

    x: int
    y: int = 2
    tags: tuple[str, ...] = ()
    seen: dict[str, int] = attrs.field(factory=dict, metadata={"meaning": "how often"})
    _hidden: str = attrs.field(default="h", repr=False)
    AXES: ClassVar[int] = 2


@frozen
class Deep(Point):
    y: int = 7
    z: int = 3


@frozen
class Hashed:
    name: str
    inner: tuple[int, ...] = NUMBERS


@frozen
class Other:
    name: str
    inner: tuple[int, ...] = NUMBERS


@frozen
class Nothing:
    pass


@define
class Tally:
    count: int = 0
    names: list[str] = field(factory=list)


class TestWhatIsMade:
    @pytest.mark.parametrize(
        ("values", "named"),
        [
            ((1,), {}),
            ((1, 5), {}),
            ((1,), {"hidden": "i"}),
            ((), {"x": 1, "seen": {"a": 1}}),
            ((1, 2, ("t",), {}, "j"), {}),
        ],
    )
    def test_holds_and_shows_what_a_class_of_attrs_would(self, values: tuple[Any, ...], named: dict[str, Any]) -> None:
        ours, theirs = Point(*values, **named), AttrsPoint(*values, **named)
        assert repr(ours) == repr(theirs).replace("AttrsPoint", "Point")
        assert attrs.asdict(ours) == attrs.asdict(theirs)

    @pytest.mark.parametrize(
        ("values", "named"), [((), {}), ((1,), {"z": 1}), ((1,), {"_hidden": "i"}), ((1,) * 6, {})]
    )
    def test_takes_no_other_arguments(self, values: tuple[Any, ...], named: dict[str, Any]) -> None:
        for cls in (Point, AttrsPoint):
            with pytest.raises(TypeError):
                cls(*values, **named)

    def test_a_factory_makes_a_new_value_each_time(self) -> None:
        assert Point(1).seen is not Point(1).seen

    def test_has_its_methods_docstring_and_class_variables(self) -> None:
        assert (Point(1).sum, Point.of(4).x, Point.AXES, Point.__doc__) == (3, 4, 2, "A point.")
        assert Point(1).me() is Point

    def test_has_no_room_for_anything_else(self) -> None:
        assert not hasattr(Point(1), "__dict__")
        with pytest.raises(AttributeError):
            Tally().other = 1  # type: ignore[attr-defined]

    def test_is_matched_by_position(self) -> None:
        match Point(8):
            case Point(x, y):
                assert (x, y) == (8, 2)

    def test_inherits_fields_in_their_order(self) -> None:
        assert list(attrs.asdict(Deep(1)).items()) == list(
            {"x": 1, "tags": (), "seen": {}, "_hidden": "h", "y": 7, "z": 3}.items()
        )
        assert Deep(1) != Point(1, 7)


class TestEquality:
    def test_is_of_class_and_fields(self) -> None:
        assert Hashed("a") == Hashed("a")
        assert Hashed("a") != Hashed("b")
        assert Hashed("a") != Other("a")  # type: ignore[comparison-overlap]
        assert Nothing() == Nothing()
        assert len({Hashed("a"), Hashed("a"), Other("a"), Hashed("a", ()), Nothing(), Nothing()}) == 4

    def test_of_what_may_change_gives_no_hash(self) -> None:
        assert Tally(1) == Tally(1)
        with pytest.raises(TypeError):
            hash(Tally())
        with pytest.raises(TypeError):
            hash(Point(1))  # it holds a dict

    def test_a_class_may_have_its_own(self) -> None:
        @frozen
        class Alike:
            name: str

            def __eq__(self, other: object) -> bool:
                return isinstance(other, Alike)

            def __hash__(self) -> int:
                return 5

        assert Alike("a") == Alike("b")
        assert hash(Alike("a")) == 5


class TestChange:
    def test_is_refused_by_what_is_frozen(self) -> None:
        point = Point(1)
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            point.x = 2  # type: ignore[misc]
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            del point.x
        assert point.x == 1

    def test_is_taken_by_what_is_not(self) -> None:
        tally = Tally()
        tally.count = 3
        assert tally == Tally(3)

    @pytest.mark.parametrize("change", [evolve, attrs.evolve])
    def test_evolve_gives_another_value(self, change: Callable[..., Any]) -> None:
        point = Point(1, hidden="i")
        assert change(point, y=5, hidden="j") == Point(1, 5, hidden="j")
        assert point == Point(1, hidden="i")
        with pytest.raises(TypeError):
            change(point, w=1)

    def test_evolve_takes_a_value_of_attrs_too(self) -> None:
        assert evolve(AttrsPoint(1), y=4) == AttrsPoint(1, 4)

    def test_copies_and_pickles_are_equal(self) -> None:
        point = Point(1, tags=("a",))
        assert copy.copy(point) == copy.deepcopy(point) == point
        assert pickle.loads(pickle.dumps(Hashed("a"))) == Hashed("a")


class TestForAttrs:
    def test_the_fields_are_told_as_attrs_tells_them(self) -> None:
        ours, theirs = attrs.fields(attrs.resolve_types(Point)), attrs.fields(attrs.resolve_types(AttrsPoint))
        told = [
            [(each.name, each.alias, each.default, each.type, dict(each.metadata), each.repr) for each in fields]
            for fields in (ours, theirs)
        ]
        assert told[0] == told[1]
        assert attrs.has(Point)
        assert [each.name for each in attrs.fields(Deep)] == [*field_names(Deep)]
        assert field_names(Deep) == ("x", "tags", "seen", "_hidden", "y", "z")

    def test_cattrs_reads_and_writes_them(self) -> None:
        converter = make_converter()
        deep = Deep(1, tags=("a",), z=9)
        assert converter.structure(converter.unstructure(deep), Deep) == deep


class TestWhatIsRefused:
    def test_a_field_without_default_after_one_with(self) -> None:
        with pytest.raises(TypeError, match="no default"):

            @frozen
            class Wrong:
                a: int = 1
                b: int  # type: ignore[misc]

    def test_a_field_without_type(self) -> None:
        with pytest.raises(TypeError, match="no type"):

            @frozen
            class Wrong:
                a = field(default=1)  # type: ignore[var-annotated]

    def test_what_only_attrs_does(self) -> None:
        with pytest.raises(TypeError, match="attrs"):

            @frozen
            class Wrong:
                a: int

                def __attrs_post_init__(self) -> None:
                    raise AssertionError

        with pytest.raises(TypeError, match="attrs"):

            @frozen
            class WrongToo(AttrsPoint):
                pass


MANY = 300


def rare() -> type[Any]:
    """A class of which no value was made."""

    @frozen
    class Rare:
        a: int
        b: tuple[int, ...] = field(factory=tuple)
        c: str = "c"
        _d: int = field(default=4, repr=False)

    return Rare


def test_methods_are_compiled_only_when_many_values_are_made() -> None:
    cls = rare()
    cls(1)
    assert "a" not in inspect.signature(cls.__init__).parameters
    for number in range(MANY):
        cls(number)
    assert [*inspect.signature(cls.__init__).parameters] == ["self", "a", "b", "c", "d"]


def test_values_are_the_same_before_and_after_their_methods_are_compiled() -> None:
    cls = rare()
    values = [cls(1, c="x", d=number // (MANY // 2)) for number in range(MANY)]
    alike, others = values[: MANY // 2], values[MANY // 2 :]
    assert len({hash(each) for each in alike}) == len(set(alike)) == 1
    assert all(each == alike[0] and each != other for each, other in zip(alike, others, strict=True))
    assert {repr(each) for each in values} == {repr(values[0])}
    assert (alike[0].a, alike[0].b, alike[0].c, alike[0]._d) == (1, (), "x", 0)


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), ((1, (), "", 4, 5), {}), ((1,), {"a": 1}), ((1,), {"e": 1}), ((), {"b": ()}), ((1,), {"_d": 1})],
)
def test_arguments_that_do_not_fit_are_refused_from_the_first_value_on(
    values: tuple[Any, ...], named: dict[str, Any]
) -> None:
    for made_before in (0, MANY):
        cls = rare()
        for number in range(made_before):
            cls(number)
        with pytest.raises(TypeError, match="__init__"):
            cls(*values, **named)
