#conf parts.conf
# expected starts know that CPUs are shared: the third job waits for the first of the two to end, not for both
allocate s1 -p shared -n4 -s -t 10
allocate s2 -p shared -n4 -s -t 20
allocate s3 -p shared -n4 -s
# one that shares nothing waits for both
allocate alone -p shared -n4
submit w1 -p shared -n4 -s -t 30
submit w2 -p shared -n4 -s -t 30
submit w3 -p shared -n4 -t 30
plan
run 00:10:00
plan
