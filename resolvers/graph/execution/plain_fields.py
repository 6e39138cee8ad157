"""Plain fields of the schema: attributes of models, which writers read without a resolver."""

from graphql import GraphQLField, GraphQLObjectType, GraphQLSchema

# The keys of extensions: of a type for its plain fields, of a field for its declaration.
PLAIN = "plain"
DEFINITION = "strawberry-definition"


def mark_plain_fields(schema: GraphQLSchema) -> None:
    """Note in each object type of the schema the attributes of its plain fields, by the fields' names."""
    for named in schema.type_map.values():
        if isinstance(named, GraphQLObjectType):
            attributes = {name: _attribute(field) for name, field in named.fields.items()}
            named.extensions[PLAIN] = {name: each for name, each in attributes.items() if each is not None}


def _attribute(field: GraphQLField) -> str | None:
    declared = field.extensions.get(DEFINITION)
    if declared is None or field.args or not declared.is_basic_field:
        return None
    name: str = declared.python_name
    return name
