"""`/api/second-factors/`."""

from resolvers.second_factors import overview as second_factors
from resolvers.second_factors import totp
from rest_compat.routing.router import Router

router = Router("/second-factors", "Second factors", "What the user needs to sign in besides the password.")
router.get("/", second_factors.get_second_factors)
router.delete("/totp", totp.delete_totp)
