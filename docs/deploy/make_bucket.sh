#!/bin/sh
# Creates the bucket, and the gateway's own user in the store, which may use this bucket and nothing else. It can be
# run again: it then sets the user's password from the secret, and the policy from the file.
set -eu
mc alias set store http://store:9000 administrator "$(cat /run/secrets/store_root_password)"
mc mb --ignore-existing store/duograph
mc admin user add store duograph "$(cat /run/secrets/store_password)"
mc admin policy create store duograph /etc/duograph/store-policy.json
case "$(mc admin user info store duograph)" in
*"PolicyName: duograph"*) ;;
*) mc admin policy attach store duograph --user duograph ;;
esac
