#conf block.conf
# --segment: pieces that stand in one block each
allocate pair -N4 --segment=2 --exclusive
free pair
allocate spread -N4 --segment=2 --spread-segments --exclusive
free spread
allocate whole -N8 --segment=4 --exclusive
allocate more -N6 --segment=3 --exclusive
allocate odd -N6 --segment=4 --exclusive
allocate one -N2 --segment=4 --exclusive
