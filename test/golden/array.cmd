#conf queue.conf
# an array with %limit
submit arr -n2 -t 30 --array=0-5%2
plan
show queue
free arr_0
plan
run 2h
