#conf cpu.conf
# Tasks and CPUs: block fill over nodes, cyclic over sockets (sbatch -n, -c; guide cpu_management)
allocate one
allocate four -n4
allocate wide -n2 -c3
allocate spill -n12
show nodes
allocate full -n9
