"""Sockets: the download handler, the gate that sets the pace, and the guard that judges every address dialled."""
