"""Frames and fields by hand, where a program of an attacker's does what none of ours would: half a frame, a wrong length,
a flood that waits for no answer. Numbers are looked up by name in the program that knows them all."""
import socket
import struct

REQUEST, ANSWER, NOTICE, ERROR = 1, 2, 4, 5
MOST_TEXTS = 1 << 20    # bytes of a user's request that is names and texts: what is longer is refused at its header (wire/request_size.cc)


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    """Numbers as varints, everything else as bytes with a length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def empty_messages(path, size):
    """Not more than `size` bytes of messages with nothing in them, in the list at this chain of field numbers."""
    *outer, last = path
    payload = varint(last << 3 | 2) + b"\0"
    payload *= (size - 8 * len(outer)) // len(payload)
    for number in reversed(outer):
        payload = field(number, payload)
    return payload


def frame(kind, number, payload, ident=1):
    return struct.pack("<IBQH", len(payload) + 11, kind, ident, number) + payload


def read_frame(s):
    """(kind, message, payload), or None at the end."""
    def exactly(n):
        data = b""
        while len(data) < n:
            more = s.recv(n - len(data))
            if not more:
                return None
            data += more
        return data
    head = exactly(15)
    if head is None:
        return None
    length, kind, _, number = struct.unpack("<IBQH", head)
    body = exactly(length - 11) if length > 11 else b""
    return kind, number, body


def unix(path, timeout=10):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(timeout)
    s.connect(path)
    return s
