#conf threads-core.conf
# CR_Core with two threads a core: cores are handed out whole
allocate three -n3
allocate threads -n2 --threads-per-core=1
show nodes
allocate hint -n2 --hint=nomultithread
