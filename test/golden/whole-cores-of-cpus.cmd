#conf threads-cpu.conf
# CPUs are handed out one by one; whole nodes too have no more tasks than cores for them
allocate one -n5 --ntasks-per-core=1 --exclusive
free one
allocate hint -n5 --hint=nomultithread --exclusive
free hint
allocate wide -n2 -c3 --threads-per-core=1 --exclusive
free wide
allocate fits -n4 --ntasks-per-core=1 --exclusive
