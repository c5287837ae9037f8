#conf queue.conf
# -N as a range and as sizes, --use-min-nodes, --spread-job
allocate a -N2-3 -n2
free a
allocate b -N2-3 -n6
free b
allocate c -N1-4 --use-min-nodes -n4
free c
allocate d -N1,3 --exclusive
free d
allocate e -N1-4:2 --exclusive
free e
allocate f -n4 --spread-job
free f
allocate g -N3-8 --exclusive
allocate h -N5
