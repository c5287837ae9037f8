#conf linear.conf
# select/linear: whole nodes
allocate a -n1
allocate b -n1 --mem=1000
allocate c -n1
show nodes
