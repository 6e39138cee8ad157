"""The port that metrics are served on."""

import socket


def listening(address: str, port: int) -> socket.socket:
    """Raises `OSError` if the port cannot be used."""
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener
