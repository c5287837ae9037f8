#conf parts.conf
# nodes are shared by default, CPUs never; OverSubscribe=EXCLUSIVE and YES:2 on partitions
allocate a -n2 -w n1
allocate b -n2 -w n1
allocate c -n1 -w n1
allocate whole -p whole -n1
allocate second -p whole -n1
allocate s1 -p shared -n4 --oversubscribe
allocate s2 -p shared -n4 --oversubscribe
allocate s3 -p shared -n4 --oversubscribe
show nodes
