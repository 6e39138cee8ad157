"""Caches of documents, their patterns and introspection answers, each bounded in bytes."""

from dataclasses import dataclass, field

import orjson
import strawberry
from graphql import DocumentNode, GraphQLSchema, OperationDefinitionNode, get_operation_ast

from resolvers.graph.execution.core_schema import core_schema
from resolvers.graph.execution.planned.plans import DocumentPlan, plan_of
from resolvers.graph.survey.literals import Outline, Template, outline_of
from resolvers.graph.survey.surveys import Survey
from resolvers.graph.survey.templates import template_of
from resolvers.graph.survey.used_fields import used_by
from storage.caches import Cache
from storage.usage.usage import Used

LONGEST_CACHED = 8 * 1024
BYTES_OF_DOCUMENTS = 16 * 1024 * 1024
BYTES_OF_PATTERNS = 8 * 1024 * 1024
BYTES_OF_ANSWERS = 4 * 1024 * 1024
# Measured with tracemalloc: 340 to 560 bytes for each token, with its nodes; a plan takes as much again.
# There are several for the values of directives, and parts of it for the limits of links.
BYTES_PER_TOKEN = 600
PLANS_WITH_DIRECTIVES, PLANS_WITH_VARIABLES = 8, 2


@dataclass(frozen=True)
class KeptDocument:
    """A valid document with what was made of it, by the name of the operation to run.

    `surveys` are those that hold for all variables.
    """

    document: DocumentNode
    plans: dict[str | None, DocumentPlan] = field(default_factory=dict)
    uses: dict[str | None, Used | None] = field(default_factory=dict)
    surveys: dict[str | None, Survey] = field(default_factory=dict)

    def plan(self, schema: strawberry.Schema, name: str | None) -> DocumentPlan | None:
        """The plan of the operation with this name, made at the first request; None if there is none."""
        if name not in self.plans:
            definition = get_operation_ast(self.document, name)
            if definition is None:
                return None
            self.plans[name] = plan_of(schema, self.document, definition)
        return self.plans[name]

    def used(
        self, schema: strawberry.Schema, name: str | None, definition: OperationDefinitionNode
    ) -> Used | None:
        """What the operation with this name uses of the schema."""
        if name not in self.uses:
            self.uses[name] = used_by(core_schema(schema), self.document, definition)
        return self.uses[name]


@dataclass
class Pattern:
    """A valid document with literals, of which a template is made when another one has the same outline."""

    document: DocumentNode
    outline: Outline
    _template: Template | None = None
    _kept: KeptDocument | None = None
    _is_made: bool = False

    def template(self, schema: GraphQLSchema) -> tuple[Template, KeptDocument] | None:
        """The template with what is made of its document; None if there can be none."""
        if not self._is_made:
            self._is_made = True
            self._template = template_of(schema, self.document, self.outline)
            if self._template is not None:
                self._kept = KeptDocument(self._template.document)
        return None if self._template is None or self._kept is None else (self._template, self._kept)


@dataclass(frozen=True)
class Documents:
    """Valid documents by their text, and the answers to those that select only the schema.

    `patterns` are the documents with literals, by the text of their outlines.
    """

    parsed: Cache[str, KeptDocument] = field(default_factory=lambda: Cache(BYTES_OF_DOCUMENTS))
    patterns: Cache[str, Pattern] = field(default_factory=lambda: Cache(BYTES_OF_PATTERNS))
    answers: Cache[str, orjson.Fragment] = field(default_factory=lambda: Cache(BYTES_OF_ANSWERS))

    def like(self, text: str) -> DocumentNode | None:
        """The valid document with this text, or another one that differs from it in literals only."""
        if (kept := self.parsed.get(text)) is not None:
            return kept.document
        outline = outline_of(text) if _is_short(text) else None
        pattern = None if outline is None else self.patterns.get(outline.text)
        return None if pattern is None else pattern.document

    def keep(self, text: str, document: DocumentNode) -> None:
        """Cache a valid document if it is short."""
        if _is_short(text):
            plans = PLANS_WITH_DIRECTIVES if "@" in text else PLANS_WITH_VARIABLES if "$" in text else 1
            size = 4 * len(text) + document.token_count * BYTES_PER_TOKEN * (1 + plans)
            self.parsed.keep(text, KeptDocument(document), size)
            if (outline := outline_of(text)) is not None:
                self.patterns.keep(outline.text, Pattern(document, outline), size + 4 * len(text))

    @property
    def size(self) -> int:
        """The memory that documents take, as estimated."""
        return self.parsed.size + self.patterns.size

    def keep_answer(self, key: str, data: object) -> None:
        """Cache the answer to a document if its key, which contains the document, is short."""
        if _is_short(key):
            written = orjson.dumps(data)
            self.answers.keep(key, orjson.Fragment(written), 4 * len(key) + len(written))


def _is_short(text: str) -> bool:
    return len(text.encode()) <= LONGEST_CACHED
