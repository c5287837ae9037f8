#conf odd-even.conf
# nodes of a job stand block by block
allocate all -N8 -n8
free all
# --segment with nodes that are asked for by name
allocate named -N4 -w n[1,2,3,4] --segment=2 --exclusive
free named
allocate mixed -N4 -w n[1,8] --segment=2 --exclusive
free mixed
allocate uneven -N4 -w n[1,3,5,8] --segment=2 --exclusive
# nodes enough, but no block that has them
submit x -N2 -w n[1,3] --exclusive -t60
submit y -N2 -w n[2,4] --exclusive -t120
plan
submit three -N3 --exclusive -t60
submit four -N4 --exclusive -t60
plan
