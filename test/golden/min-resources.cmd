#conf mixed.conf
# --mincpus and --cores-per-socket rule out small nodes
allocate cpus --mincpus=8
allocate none --mincpus=9
allocate cores --cores-per-socket=8
