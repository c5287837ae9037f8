#conf queue.conf
# every waiting job has a start, and it comes true
submit r1 -N2 --exclusive -t 30
submit r2 -N2 --exclusive -t 60
plan
submit w1 -N4 --exclusive -t 30
submit w2 -N2 --exclusive -t 30
submit w3 -N2 --exclusive -t 30
submit w4 -N1 -n2 -t 10
plan
run 3h
show queue
