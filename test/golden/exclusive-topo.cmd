#conf block.conf
# --exclusive=topo: nobody else in the block, before and after
allocate a -N1 --exclusive -w n1 -t 30
allocate alone -N2 --exclusive=topo -t 20
allocate four -N4 --exclusive
allocate b -N5 --exclusive
submit next -N2 --exclusive=topo -t 10
plan
show nodes
run 20m
show nodes
