#conf min-nodes.conf
# MinNodes and MaxNodes fill in what the job leaves open; a wish beyond them waits
allocate a --exclusive
free a
allocate b -N2-4 --exclusive
free b
submit c -N4
submit d -n1
plan
allocate e -p sock -n3
