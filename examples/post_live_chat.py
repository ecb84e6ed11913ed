"""Send the messages of a live-chat export to a bot, and print its replies.

The export is a CSV file with the columns `id`, `person` and `message`, one row per message, oldest first. A message
that is sent again is not answered twice, so you can rerun the script after a failure or on a growing file.

Usage: python examples/post_live_chat.py EXPORT.csv --url http://127.0.0.1:8000 --bot shop [--public]
"""

import argparse
import csv
import json
import os
import time
import urllib.error
import urllib.request


def post(url: str, body: dict[str, object]) -> dict[str, object]:
    """Send one message; retry with growing pauses while the server is down or busy."""
    headers = {"Content-Type": "application/json"}
    if token := os.environ.get("NOISYBAYES_TOKEN"):
        headers["Authorization"] = f"Bearer {token}"
    if token := os.environ.get("BOT_TOKEN"):
        headers["X-Bot-Token"] = token
    pause = 1.0
    while True:
        try:
            request = urllib.request.Request(url, json.dumps(body).encode(), headers)
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:
                return {"reply": "", "problem": json.load(error)["detail"]}
        except OSError:
            pass
        time.sleep(pause)
        pause = min(2 * pause, 30.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("export")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--bot", default="bot")
    parser.add_argument("--public", action="store_true", help="comments that everybody can read")
    options = parser.parse_args()
    address = f"{options.url}/api/bots/{options.bot}/messages"
    with open(options.export, encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            body = {"message_id": row["id"], "person": row["person"], "message": row["message"]}
            answer = post(address, body | {"public": options.public})
            said = answer.get("problem") or answer["reply"] or "(nothing)"
            print(f"{row['person']}: {row['message']}\n  -> {said}")


if __name__ == "__main__":
    main()
