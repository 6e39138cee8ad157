"""The shape of passkeys."""

from resolvers.operations.shapes.shapes import Shape
from schema.accounts.second_factors import Passkey
from storage.rows.rows import table_of
from storage.tables.accounts.second_factors import PasskeyRow

PASSKEY = Shape(Passkey, table_of(PasskeyRow))
