"""`duograph keys`: the keys that sign id_tokens, and what the secret key seals."""

from gateway.cli.kit.output import Json, noun

app = noun("Rotate the keys that sign the id_tokens of OpenID Connect, and replace the secret key.")


@app.command()
def rotate(as_json: Json = False) -> None:
    """Sign with a new key from now on. The old key stays published until its tokens expire."""
    from gateway.cli.administration import keys

    keys.rotate(as_json=as_json)


@app.command()
def reseal(as_json: Json = False) -> None:
    """Seal what the database keeps anew with DUOGRAPH_SECRET_KEY, so that the accepted keys can go."""
    from gateway.cli.administration import keys

    keys.reseal(as_json=as_json)
