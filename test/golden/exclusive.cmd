#conf cpu.conf
# --exclusive: nobody else on the node, all its CPUs
allocate alone --exclusive -n1
allocate next -n1 -w n1
allocate side -n2
allocate all -N4 --exclusive
allocate pair -N2 --exclusive
show nodes
