#conf tree.conf
# fewest leaf switches, and the fullest leaf that suffices (checklist row 94)
allocate first -N1 --exclusive
allocate four -N4 --exclusive
allocate three -N3 --exclusive
allocate rest -N4 --exclusive
show nodes
