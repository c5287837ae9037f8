#conf mixed.conf
# -w and -x
allocate named -w n2
allocate two -w n[1-2] -N2 -n6
allocate without -x n[3-4] -N1
allocate unknown -w n9
allocate part -N3 -w n5 -n3
allocate excluded -w n1 -x n1
