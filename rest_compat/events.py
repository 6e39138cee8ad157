"""`/api/events/`."""

from resolvers.events import events
from resolvers.events import ingestion as event_ingestion
from rest_compat.routing.router import Router

router = Router("/events", "Events", "What customers do, as a workspace reports it; metrics count it.")
router.get("/", events.list_events)
router.post("/ingest", event_ingestion.ingest_events)
router.get("/names", events.list_event_names)
router.get("/{id}", events.get_event)
