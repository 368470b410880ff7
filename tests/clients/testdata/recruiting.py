"""Does the work of two public programs: a reader of applications, which follows links to pages, candidates and
documents, and a careers page, which is built from opportunities. Prints both as one JSON object."""
import datetime
import html
import json
import re
import ssl
import sys
import urllib.error
import urllib.request

base, ca, token = sys.argv[1:4]
context = ssl.create_default_context(cafile=ca)
api = base + "/v1/recruiting/"


def get(url):
    request = urllib.request.Request(url, headers={"Authorization": "Bearer " + token})
    with urllib.request.urlopen(request, context=context, timeout=30) as response:
        return response.read(), response.headers


def pages(url):
    """Yields the items of all pages."""
    while url:
        body, headers = get(url)
        items = json.loads(body)
        yield from items
        following = re.search(r'<([^>]*)>;\s*rel="?next"?', headers.get("Link", ""))
        url = following and following[1]


def documents(application):
    """Yields the type, name and size of each document of an application."""
    for link in application["links"]:
        if link["rel"] != "documents":
            continue
        for document in json.loads(get(base + link["href"])[0]):
            file, _ = get(f"{api}applications/{application['id']}/documents/{document['id']}/download")
            yield document["document_type"], document["file_name"], len(file)


def applicants():
    """Yields a row for each application, in the way of a reader that fetches the pages after a time."""
    for application in pages(api + "applications?updated_after=2020-01-01T00:00:00Z&limit=3"):
        candidate = application["candidate"]
        own = json.loads(get(api + "applications/candidate/" + candidate["id"])[0])
        days = [datetime.datetime.fromisoformat(application[name]).date() for name in ("applied_date", "updated_at")]
        yield {
            "name": candidate["name"]["first"] + " " + candidate["name"]["last"],
            "email": candidate["contact_info"]["email"],
            "applied": len(own),
            "recent": (datetime.datetime.now(datetime.timezone.utc).date() - min(days)).days <= 1,
            "documents": list(documents(application)),
        }


def careers():
    """Returns a page of the published opportunities that are not closed."""
    since = (datetime.date.today() - datetime.timedelta(days=365)).isoformat()
    rows = []
    for opening in pages(api + "opportunities?updated_after=" + since):
        if opening.get("closed_date") or not opening.get("published_date"):
            continue
        description = opening["description"]
        texts = opening["title"]["en_us"], description["brief"]["external"]["en_us"], description["detailed"]["external"]["en_us"]
        rows.append("<h2>%s</h2><p>%s</p><p>%s</p>" % tuple(html.escape(text) for text in texts))
    return "".join(rows)


print(json.dumps({"applicants": list(applicants()), "careers": careers()}))
