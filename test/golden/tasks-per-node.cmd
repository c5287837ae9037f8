#conf cpu.conf
# --ntasks-per-node: exactly so many with -N, at most so many with -n
allocate exact -N2 --ntasks-per-node=3
allocate most -n6 --ntasks-per-node=2 -c2
allocate toomany -N1 --ntasks-per-node=9
allocate spread -N4 -n4
show nodes
