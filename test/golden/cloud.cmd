#conf cloud.conf
# CLOUD nodes are powered up only when those that are up do not suffice; FUTURE nodes do not exist yet
show nodes
allocate awake -n2
allocate asleep -N2 --exclusive
allocate awake2 -n2
show nodes
allocate four -N4 --exclusive
allocate future -w f1
