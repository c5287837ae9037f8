#conf states.conf
# drained and down nodes take nothing; reasons name them
show nodes
submit three -N3
submit named -w n3
plan
up n3
plan
drain n1
show nodes
free three
show nodes
allocate here -w n1
