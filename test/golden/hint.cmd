#conf threads-core.conf
# --hint and --threads-per-core: threads that tasks use
allocate a -n4 --hint=nomultithread
free a
allocate b -n4 --hint=multithread
free b
allocate c -n2 --hint=memory_bound
free c
allocate d -n2 --threads-per-core=1
free d
allocate e -n2 --ntasks-per-core=1
free e
allocate f -n4 --ntasks-per-socket=1
allocate g -B 2:2:2
allocate h -B 3
