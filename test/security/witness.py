"""A service of root's that anybody may connect to, and that trusts uid 0: it notes who came."""
import os
import socket
import struct
import threading


class Witness:
    def __init__(self, path, mode):
        self.path, self.seen, self.for_all = path, [], bool(mode & 0o002)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        os.chmod(path, mode)
        self.socket.listen(50)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                peer, _ = self.socket.accept()
            except OSError:
                return
            _, uid, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            self.seen.append(uid)
            peer.close()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(5)
        os.unlink(self.path)
