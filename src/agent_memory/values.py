"""What our values are made with: `frozen`, `define`, `field` and `evolve`, as attrs has them, for a tenth of what they cost
it at start-up (see `light_classes`). A class that asks for more than these offer takes attrs itself.
"""

from __future__ import annotations

from agent_memory.light_classes import described_fields, field_names, is_value_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    # What type checkers know how to read.
    from attrs import define, evolve, field, frozen
else:
    from agent_memory.light_classes import define, evolve, field, frozen

__all__ = ["define", "described_fields", "evolve", "field", "field_names", "frozen", "is_value_class"]
