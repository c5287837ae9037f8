#conf block.conf
# a hole in each of two blocks: four of five are left in either
down n[2,7]
allocate four -N4 --exclusive
allocate eight -N8 --exclusive
down n13
allocate small -N2 --exclusive
