#conf tree.conf
# --switches=1@10: ten minutes of patience
allocate a -N2 --exclusive -w n[1-2]
allocate b -N2 --exclusive -w n[5-6]
allocate c -N2 --exclusive -w n[9-10]
submit patient -N4 --exclusive --switches=1@10:00 -t 30
advance 10m
plan
