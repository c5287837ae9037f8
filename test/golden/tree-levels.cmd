#conf deep-tree.conf
# the lowest switch that has room; under it the fewest leaves
allocate a -N1 --exclusive -w n1
allocate four -N4 --exclusive
allocate six -N6 --exclusive
allocate rest -N5 --exclusive
show nodes
show topology
