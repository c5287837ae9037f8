#conf tree.conf
# --switches: one leaf now, or a wait of at most the time behind @ (then any leaves)
allocate a -N2 --exclusive -w n[1-2]
allocate b -N2 --exclusive -w n[5-6]
allocate c -N2 --exclusive -w n[9-10]
allocate any -N4 --exclusive
free any
submit one -N4 --exclusive --switches=1 -t 30
free a
plan
