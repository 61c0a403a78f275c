"""Words that any text holds, and the base of those whose forms no stemmer brings together."""

from __future__ import annotations

TERMS_VERSION = 4
"""Changes with what `terms`, the stemmer or the words below make of a text: an older index is then made anew."""

# What is a content word in another of these languages or among programmers is left out (`dos`, `sin`, `sea`, `era`, `son`), and
# so is what says when and where (`after`, `before`, `under`): it is frequent, but a query that says it means it.
_ENGLISH = """
    a about again all also am an and any are aren as at be because been being but by can could couldn did didn do does
    doesn doing don each for from had hadn has hasn have haven having he her here hers herself him himself his how i if
    in into is isn it its itself just ll me might must my myself no nor not of on only or our ours ourselves re shall
    she should shouldn so some such than that the their theirs them themselves then there these they this those to too
    upon us ve very was wasn we were weren what when where which who whom whose why will with won would wouldn you your
    yours yourself yourselves
"""
_PORTUGUESE = """
    ao aos aquela aquele as com como da das de dela dele deles depois do e ela elas ele eles em entre essa esse esta estao
    estava este eu foi for ha isso isto ja lhe mais mas me mesmo meu minha muito na nao nas nem no nos nossa nosso num numa
    o os ou para pela pelo por porque qual quando que quem se seu seus sua suas tambem te tem teu tinha tua um uma voce
"""
_SPANISH = """
    al algo como con cual cuando de del desde donde el ella ellas ellos en entre es esa ese eso esta este esto estos fue ha
    hay la las le les lo los mas me mi mis muy ni nos nosotros o otra otro para pero por porque que quien se ser si sobre
    su sus tambien te tiene tu tus un una unas uno unos y ya yo
"""

STOP_WORDS = frozenset(f"{_ENGLISH} {_PORTUGUESE} {_SPANISH}".split())
"""Of English, Portuguese and Spanish, as `terms.folded` makes them. A query drops them beside other words."""

# Measured on questions about conversations: nearly one of a hundred more finds its answer among the first ten. Left out are
# forms that are forms of another common word too (`lives`, `leaves`, `lay`, `bore`), and degrees (`better`, `worst`).
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
_BASE_FORMS = {form: base for base, *forms in (group.split() for group in _FORMS.split(";")) for form in forms}


def base_form(word: str) -> str:
    """The base form of a folded English word (`went` is `go`, `indices` are `index`); the word itself where it is regular."""
    return _BASE_FORMS.get(word, word)
