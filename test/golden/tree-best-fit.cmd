#conf tree.conf
# 4 nodes under one leaf before any leaf is crossed; then the leaf with the least to spare
allocate a -N1 --exclusive -w n1
allocate b -N2 --exclusive -w n[5-6]
allocate four -N4 --exclusive
allocate two -N2 --exclusive
allocate three -N3 --exclusive
