#conf spec.conf
# cores kept for the system; a job with --core-spec says how many itself (guide core_spec)
allocate a -n6 -w n1
allocate b -n7 -w n1
allocate c -n6 -w n2
free a
free c
allocate d -S 1 -w n1
allocate e --thread-spec=3 -w n2
free e
# the example of the guide: CpuSpecList=0-1, and one core is enough for the system
allocate f -S 1 -w n2
free d
free f
# tasks go by what that leaves
allocate g -S 1 -n7 -N1 -w n1
free g
allocate no -S 6 -n6 -N1 -w n1
allocate no -S 7 -n6 -w n2
allocate h -S 6 -n2 -N1 -w n1
