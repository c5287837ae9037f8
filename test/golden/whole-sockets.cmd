#conf socket.conf
# CR_Socket: jobs get whole sockets
allocate one
allocate two -n5
allocate three -n1
allocate four -n1
show nodes
