#conf cpu.conf
# --exclusive=user: nobody but jobs of the same user
allocate mine -n1 --exclusive=user -w n1 --uid=1001
allocate again -n1 --exclusive=user -w n1 --uid=1001
allocate his -n1 --exclusive=user --uid=1002
allocate other -n1 --uid=1003
show nodes
