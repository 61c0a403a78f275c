"""The base form of English words whose forms no stemmer brings together: `went` is `go`, `indices` are `index`.

Measured on questions about conversations: nearly one of a hundred more finds its answer among the first ten. Left out are
forms that are forms of another common word too (`lives`, `leaves`, `lay`, `bore`), and degrees (`better`, `worst`).
"""

from __future__ import annotations

_FORMS = """
    become became; begin began begun; bend bent; bind bound; bite bit bitten; blow blew blown; break broke broken;
    bring brought; build built; buy bought; catch caught; choose chose chosen; come came; deal dealt; dig dug;
    draw drew drawn; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt;
    fight fought; find found; fly flew flown; forbid forbade forbidden; forget forgot forgotten; forgive forgave forgiven;
    freeze froze frozen; get got gotten; give gave given; go went gone; grow grew grown; hang hung; hear heard; hide hid hidden;
    hold held; keep kept; know knew known; lead led; leave left; lend lent; lose lost; make made; mean meant; meet met;
    overwrite overwrote overwritten; pay paid; rebuild rebuilt; rewrite rewrote rewritten; ride rode ridden; ring rang rung;
    rise rose risen; run ran; say said; see saw seen; seek sought; sell sold; send sent; shake shook shaken; shoot shot;
    show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept; speak spoke spoken; spend spent;
    spin spun; stand stood; steal stole stolen; stick stuck; strike struck; swear swore sworn; sweep swept; swim swam swum;
    swing swung; take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown; tie tying;
    understand understood; undo undid undone; wake woke woken; wear wore worn; weave wove woven; win won; withdraw withdrew
    withdrawn; write wrote written; child children; foot feet; goose geese; index indices; knife knives;
    man men; matrix matrices; mouse mice; person people; radius radii; schema schemata; shelf shelves;
    tooth teeth; vertex vertices; wife wives; wolf wolves; woman women
"""


def _base_forms() -> dict[str, str]:
    groups = (group.split() for group in _FORMS.split(";"))
    return {form: base for base, *forms in groups for form in forms}


_BASE_FORMS = _base_forms()


def base_form(word: str) -> str:
    """The base form of a folded English word; the word itself where it is regular, or none."""
    return _BASE_FORMS.get(word, word)
