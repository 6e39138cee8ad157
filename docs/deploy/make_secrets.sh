#!/bin/sh
# Creates the secrets of compose.yaml that are missing. The first argument is the address of the mail server.
set -eu
cd "$(dirname "$0")"
# Compose mounts a file as it is, and the gateway in the container is another user, so all may read the files.
# The folder keeps others out.
mkdir -p secrets
chmod 700 secrets
keep() { [ -e "secrets/$1" ] || printf %s "$2" > "secrets/$1"; }
# An assignment ends the script if openssl fails; an argument would be empty.
keep_random() { random=$(openssl rand -hex 32); keep "$1" "$random"; }
keep_random secret_key
keep_random store_password
keep_random store_root_password
keep_random database_password
keep_random redis_password
keep redis_configuration "requirepass $(cat secrets/redis_password)"
keep redis_url "redis://:$(cat secrets/redis_password)@redis"
keep database_url "postgresql://duograph:$(cat secrets/database_password)@database/duograph"
[ -e secrets/smtp_url ] || keep smtp_url "${1:?name the mail server: smtp://USER:PASSWORD@HOST:PORT}"
chmod 444 secrets/*
