#conf queue.conf
# --time-min: a shorter limit where that lets it start before the job that waits
submit long -N3 --exclusive -t 2:00:00
plan
submit wide -N4 --exclusive -t 1:00:00
submit rigid -N1 --exclusive -t 3:00:00
submit elastic -N1 --exclusive -t 3:00:00 --time-min=30:00
plan
run 6h
