"""What travels: messages, the server's sums of them, and how many bytes they are."""

from .messages import zipped
from .server import ServerSums, messages_of, own_error, sent_and_returned, server_sums

__all__ = [
    "ServerSums",
    "messages_of",
    "own_error",
    "sent_and_returned",
    "server_sums",
    "zipped",
]
