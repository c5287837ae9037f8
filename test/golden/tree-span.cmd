#conf tree.conf
# larger than a leaf: two leaves of three
allocate six -N6 --exclusive
allocate six2 -N6 --exclusive
