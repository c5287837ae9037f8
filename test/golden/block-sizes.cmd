#conf block.conf
# the smallest of BlockSizes that holds the job, never beyond it
allocate four -N4 --exclusive
allocate three -N3 --exclusive
allocate eight -N8 --exclusive
allocate five -N5 --exclusive
submit later -N4 --exclusive
plan
show topology
