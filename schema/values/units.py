"""What the number of a field counts, marked on its type: pages write and read it accordingly."""

from enum import Enum, auto
from typing import Annotated

from schema.values.scalars import Int, Long, LongInt


class Unit(Enum):
    """An amount in the minor unit of the currency beside it, or a size in bytes."""

    MINOR = auto()
    BYTE = auto()


Money = Annotated[int, Unit.MINOR]
MoneyInput = Annotated[Int, Unit.MINOR]
LongMoneyInput = Annotated[LongInt, Unit.MINOR]
Size = Annotated[Long, Unit.BYTE]
SizeInput = Annotated[LongInt, Unit.BYTE]
