#conf one-per-core.conf
# CR_ONE_TASK_PER_CORE; --ntasks-per-core overrides
allocate a -n4
free a
allocate b -n4 --ntasks-per-core=2
allocate c -n5
