"""What a run of pytest within a test, in the same process, has to leave out."""

# At its end a run looks for objects that were not closed, among all of the process that it is in.
# The folder for temporary files that it would make is this run's, and PostgreSQL could not enter it any more.
_PLUGINS = ("asyncio", "tmpdir", "unraisableexception", "threadexception")
WITHOUT = [f"-pno:{plugin}" for plugin in _PLUGINS]
