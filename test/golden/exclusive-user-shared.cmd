#conf cpu.conf
# a node held with --exclusive=user: open to plain jobs of that user, promised to others when it is left
allocate m -n1 --exclusive=user -w n1 --uid=1001 -t 120
allocate same -n1 -w n1 --uid=1001 -t 60
submit other -n2 -w n1 --uid=1002
plan
