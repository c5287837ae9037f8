#conf partition-socket.conf
# SelectTypeParameters of a partition
allocate a -n1
allocate b -n1 -p sockets
allocate c -n1 -w n1
allocate d -n5 -p sockets
