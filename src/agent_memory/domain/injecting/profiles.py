"""Which sections an injection has, and how many tokens each is sure of. Free of imports, since a hook uses it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SECTIONS = (
    "hot",
    "project",
    "recovery",
    "handoff",
    "tasks",
    "conventions",
    "decisions",
    "lessons",
    "facts",
    "notes",
)
"""In the order in which they are shown. `hot`: what is pinned or hot, of whatever kind; `recovery`: the last words of a session
that was cut off; `conventions`: preferences, too; `notes`: what was found."""

SHARES_ADD_UP_TO = 2_000
"""The shares below are those of this budget, and grow and shrink with it."""

SESSION_START = "session-start"
PROMPT = "prompt"
QUERY = "query"

BUILT_IN: "Mapping[str, Mapping[str, int]]" = {
    SESSION_START: {
        "hot": 800,
        "project": 150,
        "recovery": 200,
        "handoff": 200,
        "tasks": 150,
        "conventions": 150,
        "decisions": 150,
        "lessons": 100,
        "facts": 100,
    },
    PROMPT: {"notes": 600},
    QUERY: {"notes": 2_000},
    "coding": {
        "hot": 600,
        "project": 100,
        "handoff": 200,
        "tasks": 200,
        "conventions": 300,
        "decisions": 300,
        "lessons": 300,
    },
    "review": {"hot": 600, "project": 200, "conventions": 500, "decisions": 400, "lessons": 300},
    "debugging": {"hot": 300, "recovery": 200, "decisions": 300, "lessons": 700, "facts": 500},
    "planning": {"hot": 500, "project": 300, "handoff": 200, "tasks": 500, "decisions": 500},
}


class Profile:
    """What one kind of injection may hold."""

    __slots__ = ("budget", "name", "shares")

    def __init__(self, name: str, budget: int, shares: "Mapping[str, int]") -> None:
        self.name = name
        self.budget = budget
        """Tokens of the whole text at most."""
        self.shares = shares
        """Tokens of each section, all above 0; what one does not need the others take."""


def profile_named(name: str, own: "Mapping[str, Mapping[str, int]]", budget: int) -> Profile | None:
    """The person's own profile of this name, whose shares are tokens as they stand, else the built-in one, whose shares
    grow and shrink with the budget; None for an unknown name. Neither takes more than the budget, nor more than its shares
    together."""
    if name in own:
        return _within(name, own[name], budget)
    if name not in BUILT_IN:
        return None
    return _within(
        name, {section: share * budget // SHARES_ADD_UP_TO for section, share in BUILT_IN[name].items()}, budget
    )


def with_notes(profile: Profile, budget: int) -> Profile:
    """The profile with room for what a query finds, if it has none yet."""
    if profile.shares.get("notes"):
        return profile
    room = BUILT_IN[PROMPT]["notes"] * budget // SHARES_ADD_UP_TO
    return _within(profile.name, {**profile.shares, "notes": room}, budget)


def section_problem(name: str) -> str | None:
    """What is wrong with a section's name in a config, or None."""
    return None if name in SECTIONS else f"must be one of {', '.join(SECTIONS)}"


def _within(name: str, shares: "Mapping[str, int]", budget: int) -> Profile:
    kept = {section: tokens for section, tokens in shares.items() if tokens > 0}
    return Profile(name, min(budget, sum(kept.values())), kept)
