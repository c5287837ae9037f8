#conf parts.conf
# MaxTime, MaxNodes, MaxCPUsPerNode, State=DOWN; EnforcePartLimits=NO lets jobs wait
submit long -p high -t 3:00:00
submit wide -p high -N2
submit down -p closed
submit narrow -p narrow -n3
plan
