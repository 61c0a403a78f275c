"""Words that any text holds, of English, Portuguese and Spanish, as `folded` makes them. A query drops them beside others.

Left out is what is a content word in another of these languages or among programmers (`dos`, `sin`, `sea`, `era`, `son`),
and what says when and where (`after`, `before`, `under`): it is frequent, but a query that says it means it.
"""

from __future__ import annotations

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
