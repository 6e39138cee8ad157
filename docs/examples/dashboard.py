"""Prints sales of the last 30 days by share: DUOGRAPH=http://localhost:8000 TOKEN=... python dashboard.py"""

import json
import os
from datetime import date, timedelta
from urllib.parse import urlencode
from urllib.request import Request, urlopen

names = ["file_share_revenue", "file_share_sessions", "file_share_downloads", "active_user_by_event"]
asked = {"metrics": names, "interval": "day", "compare": "previous", "group_by": "share"}
days = {"start_date": date.today() - timedelta(29), "end_date": date.today()}
address = f"{os.environ['DUOGRAPH']}/api/metrics/?{urlencode(asked | days, doseq=True)}"
request = Request(address, headers={"Authorization": f"Bearer {os.environ['TOKEN']}"})
answer = json.load(urlopen(request))
parts = {"Total": answer, "Before": answer["comparison"]} | {each["label"]: each for each in answer["groups"]}
for name, part in parts.items():
    print(name, *(part["totals"][metric] for metric in names), sep="\t")
