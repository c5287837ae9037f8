#conf topologies.conf
# each partition by its own topology
allocate net -N6 --exclusive
free net
allocate a -N1 --exclusive -w n2
allocate nvl -p nvl -N4 --exclusive
allocate flat -p any -N4 --exclusive
allocate ring -p ring -N3 --exclusive
free ring
allocate torus -p torus -N4 --exclusive
allocate no -p torus -N3 --exclusive
