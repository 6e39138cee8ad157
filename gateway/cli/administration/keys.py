"""What `duograph keys` does."""

from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.output import show
from gateway.settings.settings import Settings
from oauth.provider.keys import rotate as rotate_keys


def rotate(*, as_json: bool) -> None:
    kid = wait_for(_rotate(read_settings()))
    show({"kid": kid}, f"Signing with the key {kid} from now on.", as_json=as_json)


async def _rotate(settings: Settings) -> str:
    async with migrated(settings) as database:
        key = await rotate_keys(database, settings.secret())
    return str(key.kid)
