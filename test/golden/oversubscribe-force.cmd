#conf force.conf
# FORCE:2: two jobs on each core, idle cores first; nobody has to ask
allocate a -n3
allocate b -n2
allocate c -n2
allocate d -n1
allocate e -n1
free a
allocate f -n2
# YES: only for those that ask
allocate g -p yes -n3 -s
allocate h -p yes -n2
allocate i -p yes -n2 -s
allocate j -p yes -n2 -s
allocate k -p yes -n4 -s
allocate l -p yes -n4 -s
show nodes
