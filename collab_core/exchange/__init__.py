"""What travels: messages, the server's sums of them, and how many bytes they are."""

from .server import ServerSums, messages_of, server_sums

__all__ = ["ServerSums", "messages_of", "server_sums"]
