"""`duograph keys`: the keys that sign id_tokens."""

from gateway.cli.database import migrated, read_settings, wait_for
from gateway.cli.output import Json, noun, show
from gateway.settings.settings import Settings
from oauth.keys import rotate as rotate_keys

app = noun("Rotate the keys that sign the id_tokens of OpenID Connect.")


@app.command()
def rotate(as_json: Json = False) -> None:
    """Sign with a new key from now on. The old key stays published until its tokens expire."""
    kid = wait_for(_rotate(read_settings()))
    show({"kid": kid}, f"Signing with the key {kid} from now on.", as_json=as_json)


async def _rotate(settings: Settings) -> str:
    async with migrated(settings) as database:
        key = await rotate_keys(database, settings.secret())
    return str(key.kid)
