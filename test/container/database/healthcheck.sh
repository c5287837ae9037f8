#!/bin/sh
exec mariadb --no-defaults -S /run/mysqld/s -e 'SELECT 1'
