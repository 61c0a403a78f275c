"""A note as it may be injected: ready-made text, redacted and neutral. Free of imports, since a hook uses it."""


class Passage:
    """One note in one section: whole, as one line, and by its title alone; never anything between."""

    __slots__ = ("brief", "id", "section", "title", "whole")

    def __init__(self, id: str, section: str, whole: str, brief: str, title: str = "") -> None:
        self.id = id
        self.section = section
        self.whole = whole
        """Several lines; empty for a note of which only the brief form may be shown."""
        self.brief = brief
        """One line, a list item."""
        self.title = title or brief
        """The same without a description."""

    @property
    def forms(self) -> tuple[str, ...]:
        """What of it may be shown, from the least to the most."""
        return tuple(dict.fromkeys(each for each in (self.title, self.brief, self.whole) if each))

    @property
    def values(self) -> tuple[str, str, str, str, str]:
        """All of it, as it is kept."""
        return (self.id, self.section, self.whole, self.brief, self.title)


class Injection:
    """What is put into a session."""

    __slots__ = ("budget", "ids", "left_out", "profile", "shortened", "text", "tokens")

    def __init__(
        self,
        text: str = "",
        ids: tuple[str, ...] = (),
        tokens: int = 0,
        budget: int = 0,
        profile: str = "",
        shortened: int = 0,
        left_out: int = 0,
    ) -> None:
        self.text = text
        """Between the marks of a context; empty where there is nothing to say."""
        self.ids = ids
        """Of the notes in it, in their order."""
        self.tokens = tokens
        """By the estimate of `tokens`, of the whole text."""
        self.budget = budget
        self.profile = profile
        self.shortened = shortened
        """Notes of which not all found room."""
        self.left_out = left_out
        """Notes that were chosen and found no room."""


NOTHING = Injection()
