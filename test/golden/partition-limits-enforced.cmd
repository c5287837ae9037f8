#conf enforce.conf
# EnforcePartLimits=ALL: at once
submit long -t 60
submit wide -N2
submit small -p long -N1
submit either -p short,long -t 60 -N2
submit ok -p long -N2 -t 60
submit nowhere -p gone
plan
