#conf multifactor.conf
# age (10 a minute) against the partition's factor (200 apart) and nice
submit first -N4 --exclusive -t 1:00:00
plan
submit old -N4 --exclusive
advance 00:15:00
submit high -p high -N4 --exclusive
plan
advance 00:10:00
submit late -p high -N4 --exclusive
submit nice -p high -N4 --exclusive --nice=500
plan
