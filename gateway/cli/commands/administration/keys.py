"""`duograph keys`: the keys that sign id_tokens."""

from gateway.cli.kit.output import Json, noun

app = noun("Rotate the keys that sign the id_tokens of OpenID Connect.")


@app.command()
def rotate(as_json: Json = False) -> None:
    """Sign with a new key from now on. The old key stays published until its tokens expire."""
    from gateway.cli.administration import keys

    keys.rotate(as_json=as_json)
