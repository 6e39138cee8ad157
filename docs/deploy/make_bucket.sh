#!/bin/sh
# Makes the bucket, and the gateway's own user of the store, who may use this bucket and do nothing else. It can be
# run again: the user gets the password of the secret, and the policy of the file.
set -eu
mc alias set store http://store:9000 administrator "$(cat /run/secrets/store_root_password)"
mc mb --ignore-existing store/duograph
mc admin user add store duograph "$(cat /run/secrets/store_password)"
mc admin policy create store duograph /etc/duograph/store-policy.json
case "$(mc admin user info store duograph)" in
*"PolicyName: duograph"*) ;;
*) mc admin policy attach store duograph --user duograph ;;
esac
