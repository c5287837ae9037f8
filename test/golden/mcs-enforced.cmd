#conf users.conf
# mcs/user with enforced,select: every job has its user's name for a label, and no node has jobs of two users
allocate a -n1 --uid=1001
allocate b -n1 --uid=1002
allocate c -n1 --uid=1003
allocate a2 -n1 --uid=1001
allocate foreign -n1 --uid=1001 --mcs-label=user1002
