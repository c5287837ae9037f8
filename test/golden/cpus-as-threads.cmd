#conf threads-cpu.conf
# CR_CPU: single threads are handed out
allocate three -n3
allocate one -n1
show nodes
