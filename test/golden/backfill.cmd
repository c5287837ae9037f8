#conf queue.conf
# a short job goes before the one that waits, a long one must not delay it
submit long -N3 --exclusive -t 2:00:00
plan
submit wide -N4 --exclusive -t 1:00:00
submit short -N1 --exclusive -t 1:00:00
submit toolong -N1 --exclusive -t 3:00:00
plan
explain wide
explain toolong
run 6h
