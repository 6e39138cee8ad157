"""The shape of passkeys."""

from resolvers.operations.shapes import Shape
from schema.second_factors import Passkey
from storage.rows import table_of
from storage.tables.second_factors import PasskeyRow

PASSKEY = Shape(Passkey, table_of(PasskeyRow))
