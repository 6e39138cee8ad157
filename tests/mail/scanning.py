"""What a secret-scanning report of GitHub says."""

PATH = "/api/integrations/github/secret-scanning"
URL = "https://github.com/octocat/hello/blob/main/.env"


def find(token, url=URL):
    return {"token": token, "type": "duograph_token", "url": url, "source": "content"}


async def still_works(gateway, token):
    answer = await gateway.client.get("/api/viewer", headers={"Authorization": f"Bearer {token}"})
    return answer.status_code == 200
