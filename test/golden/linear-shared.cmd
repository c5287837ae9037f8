#conf linear-shared.conf
# select/linear: each job has all CPUs of its nodes; with FORCE:2 two of them share a node, idle nodes first
allocate a -n1
allocate b -n1
allocate c -n1
allocate d -n4
allocate e -n1
free a
allocate f -N2 -n2
free d
allocate g -n1
# memory is counted, and YES shares for those that ask alone
allocate h -p yes -n1 -s --mem=5000
allocate i -p yes -n1 -s --mem=5000
allocate j -p yes -n1
allocate k -p yes -n1 -s
show nodes
