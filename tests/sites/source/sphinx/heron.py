"""Send requests and read answers piece by piece."""


def send(address, timeout=30000):
    """Send a request and wait for the headers.

    :param address: Where the request goes.
    :param timeout: Milliseconds that everything may take together.
    """


class Answer:
    """What a server sent back.

    An answer keeps the connection open until it was read.
    """

    def pieces(self):
        """Read the body piece by piece."""

    def discard(self):
        """Close the connection without reading the rest."""
