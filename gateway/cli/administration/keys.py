"""What `duograph keys` does."""

from dataclasses import asdict

from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.output import show
from gateway.settings.settings import Settings
from oauth.provider.keys import rotate as rotate_keys
from storage.upkeep.resealing import Resealed
from storage.upkeep.resealing import reseal as reseal_texts


def rotate(*, as_json: bool) -> None:
    kid = wait_for(_rotate(read_settings()))
    show({"kid": kid}, f"Signing with the key {kid} from now on.", as_json=as_json)


def reseal(*, as_json: bool) -> None:
    counts = wait_for(_reseal(read_settings()))
    text = f"{counts.anew} texts are sealed anew by DUOGRAPH_SECRET_KEY; {counts.current} were already."
    if counts.unreadable:
        text += (
            f" {counts.unreadable} are of keys that are not in DUOGRAPH_ACCEPTED_SECRET_KEYS, or recovery "
            "codes of an earlier version, which work for as long as their key is accepted."
        )
    show(asdict(counts), text, as_json=as_json)


async def _reseal(settings: Settings) -> Resealed:
    async with migrated(settings) as database:
        return await reseal_texts(database, settings.secret())


async def _rotate(settings: Settings) -> str:
    async with migrated(settings) as database:
        key = await rotate_keys(database, settings.secret())
    return str(key.kid)
