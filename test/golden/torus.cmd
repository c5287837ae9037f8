#conf topologies.conf
# only the shapes of the site: 2x2x1 and 2x2x2 in a torus of 4x2x2
allocate a -p torus -N4 --exclusive
# the place that spoils the fewest others: beside a, so that a cube of eight is left
allocate b -p torus -N4 --exclusive
allocate c -p torus -N8 --exclusive
free b
# two places of four, and only one is left
allocate d -p torus -N8 --segment=4 --exclusive
free c
allocate e -p torus -N12 --segment=4 --exclusive
allocate f -p torus -N8 --segment=3 --exclusive
allocate g -p torus -N5 --exclusive
allocate h -p torus -N4 --segment=2 --exclusive
move n1 tori:pod:9:0:0
