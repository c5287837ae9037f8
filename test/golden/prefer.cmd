#conf mixed.conf
# --prefer in place of --constraint where that is possible, else --constraint
allocate a -n1 --prefer=intel
allocate b -N2 --exclusive --prefer=intel -C ib
allocate c -n1 -C amd --prefer=big
allocate d -n8 -C amd --prefer='big&amd'
allocate e -n1 --prefer=nosuch
allocate f -N1 --exclusive -C '[intel|amd]' --prefer=ib
