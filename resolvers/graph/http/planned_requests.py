"""Finds the plan of a request: that of its document, or of a template that its literals fill."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import strawberry
from graphql import GraphQLError

from resolvers.graph.execution.core_schema import core_schema
from resolvers.graph.execution.planned.plans import DocumentPlan, Prepared
from resolvers.graph.execution.selections import WrongValues
from resolvers.graph.http.requests import GraphQLRequest
from resolvers.graph.survey.documents import Documents, KeptDocument
from resolvers.graph.survey.extension import Submission, survey_of
from resolvers.graph.survey.literals import Template
from resolvers.graph.survey.surveys import Survey


@dataclass
class PlannedRequest:
    """A request with its document and plan. `is_kept`: what the plan makes of the variables was known."""

    sent: GraphQLRequest
    kept: KeptDocument
    plan: DocumentPlan
    variables: dict[str, Any]
    template: Template | None = None
    is_kept: bool = field(init=False)
    _prepared: Prepared | None = field(init=False)

    def __post_init__(self) -> None:
        self._prepared = None if self.sent.prepared is None else self.sent.prepared.prepared()
        self.is_kept = self._prepared is not None

    def prepare(self) -> Prepared | None:
        """What the plan makes of the variables; None if they are wrong. Raises `TooComplex`."""
        if self._prepared is None:
            with suppress(WrongValues):
                self._prepared = self.plan.prepare(self.variables)
        return self._prepared

    def survey(self, schema: strawberry.Schema) -> Survey:
        """What the document requests with these variables. Raises `TooLarge` and `TooComplex`."""
        name = self.sent.name
        known = self.sent.survey or self.kept.surveys.get(name)
        if known is not None:
            return known
        submitted = Submission(self.kept.document, self.plan.definition, self.variables, self.sent.size)
        found = survey_of(core_schema(schema), submitted)
        if not found.is_for_variables:
            self.kept.surveys[name] = found
        return found

    def placed(self, errors: list[GraphQLError]) -> list[GraphQLError]:
        """The errors with their places in the document that was sent."""
        template, outline = self.template, self.sent.outline
        if template is None or outline is None:
            return errors
        return [template.placed(error, self.sent.text, outline) for error in errors]


def planned(schema: strawberry.Schema, documents: Documents, sent: GraphQLRequest) -> PlannedRequest | None:
    """The request with its plan; None if its document is new, or not to be planned at all.

    Literals that a template refuses are left to the document itself, which is read and refused as a whole.
    """
    kept = documents.parsed.get(sent.text)
    if kept is not None:
        plan = kept.plan(schema, sent.name)
        return None if plan is None else PlannedRequest(sent, kept, plan, sent.variables)
    # Variables without definitions could have the names of those of a template.
    outline = None if sent.variables else sent.outline
    pattern = None if outline is None else documents.patterns.get(outline.text)
    found = None if pattern is None else pattern.template(core_schema(schema))
    if outline is None or found is None:
        return None
    template, kept = found
    plan = kept.plan(schema, sent.name)
    if plan is None:
        return None
    request = PlannedRequest(sent, kept, plan, template.variables(outline), template)
    return None if request.prepare() is None else request
