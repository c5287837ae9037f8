#conf queue.conf
# a job that ends before its limit lets those behind it start early
submit a -N4 --exclusive -t 10:00:00
submit b -N4 --exclusive -t 1:00:00
plan
advance 30m
free a
plan
