#conf partition-memory.conf
# SelectTypeParameters of a partition: memory is handed out in one and not in the other
allocate a -n1 -p loose --mem=3000
allocate b -n1 -p loose --mem=6000
free a
free b
allocate c -n1 --mem=3000
allocate d -n1 --mem=6000
allocate e -n1 -p loose --mem=6000
# what the loose one holds counts where memory is handed out
allocate f -n1 --mem=1000
