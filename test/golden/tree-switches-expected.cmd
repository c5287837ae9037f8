#conf tree.conf
# --switches=1 must wait: promised one leaf, and what is idle meanwhile goes to the job behind it
allocate a -N2 --exclusive -w n[1-2] -t 120
allocate b -N2 --exclusive -w n[5-6] -t 120
allocate c -N2 --exclusive -w n[9-10] -t 120
submit one -N4 --exclusive --switches=1@5:00:00 -t 60
submit mid -N4 --exclusive -t 60
plan
