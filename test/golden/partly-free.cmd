#conf queue.conf
# a gang whose nodes all have some room now, together too little: promised a start, and not delayed
allocate a -n1 -t 60
submit b -N4 -n16 -t 60
plan
allocate late -n1 -t 61
allocate small -n1 -t 60
plan
