#conf topologies.conf
# neighbours on a ring, around its end too; two rings of eight
allocate a -p ring -N3 --exclusive -w n[3-5]
allocate around -p ring -N5 --exclusive -w n7
# the shortest run that does; r1 is full
allocate b -p ring -N2 --exclusive
allocate c -p ring -N6 --exclusive
free b
# no run of seven until a or around ends
allocate d -p ring -N7 --exclusive
free a
free around
# segments stand on any ring, each in neighbours; a list that is no run is refused
allocate e -p ring -N8 --segment=4 --exclusive
allocate f -p ring -N9 --segment=4 --exclusive
allocate g -p ring -N3 --exclusive -w n[9,11,15]
allocate h -p ring -N9 --exclusive
allocate i -p ring -N17 --exclusive
move n1 rings:r1:16
show topology
