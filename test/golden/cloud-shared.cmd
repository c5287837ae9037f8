#conf cloud.conf
# a node on its way up has room for others, as one that is up
submit a -n1 -w c1 -t 30
submit b -n2 -w c1 -t 30
submit c -n2 -w c1 -t 10
plan
