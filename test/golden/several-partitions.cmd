#conf parts.conf
# -p a,b: where it can start first
allocate fill -p high -n4 -w n1
allocate fill2 -p high -n4 -w n2
submit both -p high,narrow -n2
plan
