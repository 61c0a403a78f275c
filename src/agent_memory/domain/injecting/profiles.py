"""Which sections an injection has, and how many tokens each may take. Free of imports, since a hook uses it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SECTIONS = (
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
"""In the order in which they are shown. `recovery`: the last words of a session that was cut off; `notes`: what was found."""

TRIM_ORDER = ("lessons", "decisions", "handoff", "facts", "conventions", "tasks", "notes", "recovery", "project")
"""What gives way first where not all of it fits."""

SHARES_ADD_UP_TO = 2_000
"""The shares below are those of this budget, and grow and shrink with it."""

SESSION_START = "session-start"
PROMPT = "prompt"
QUERY = "query"

BUILT_IN: "Mapping[str, Mapping[str, int]]" = {
    SESSION_START: {"project": 300, "recovery": 250, "handoff": 450, "tasks": 250, "decisions": 450, "lessons": 300},
    PROMPT: {"notes": 600},
    QUERY: {"notes": 2_000},
    "coding": {"project": 150, "handoff": 300, "tasks": 250, "conventions": 400, "decisions": 450, "lessons": 450},
    "review": {"project": 300, "conventions": 650, "decisions": 600, "lessons": 450},
    "debugging": {"recovery": 300, "decisions": 300, "lessons": 900, "facts": 500},
    "planning": {"project": 400, "handoff": 300, "tasks": 600, "decisions": 700},
}

_ONLY_ONE = frozenset(("project", "recovery", "handoff"))
_TOKENS_A_NOTE = 150
"""So much of a section's share makes room for one note more: 3 decisions and 2 lessons in 450 and 300 tokens."""


class Profile:
    """What one kind of injection may hold."""

    __slots__ = ("budget", "name", "shares")

    def __init__(self, name: str, budget: int, shares: "Mapping[str, int]") -> None:
        self.name = name
        self.budget = budget
        """Tokens of the whole text at most."""
        self.shares = shares
        """Tokens of each section, all above 0; what one does not need others may take."""

    def most(self, section: str) -> int:
        """How many notes the section may name."""
        share = self.shares.get(section, 0)
        if share <= 0 or section in _ONLY_ONE:
            return int(share > 0)
        return max(1, share // _TOKENS_A_NOTE)


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
