#conf queue.conf
# what is wrong says so, and the next line is read
allocat x
allocate x -n
allocate x --cpus=3
allocate x script.sh
allocate x --wrap=true
allocate x -n1
allocate x -n1
show weather
advance soon
free y
submit arr --array=5-3
allocate 'unclosed
plan now
