#conf tree.conf
# the number of nodes follows from the tasks: still one leaf, the fullest that has them
allocate a -N1 --exclusive -w n9
allocate twelve -n12
allocate sixteen -n16
allocate twenty -n20
