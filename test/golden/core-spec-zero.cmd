#conf spec-zero.conf
# --core-spec=0 gives the job the cores that the node keeps for the system
allocate all -n6 --core-spec=0
free all
allocate five -n5
free five
allocate never -n6
