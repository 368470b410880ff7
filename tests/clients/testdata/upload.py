"""Sends so many bytes, and prints the status and the body of the response."""
import ssl
import sys
import urllib.error
import urllib.request

url, ca, token, size = sys.argv[1:5]
request = urllib.request.Request(
    url,
    data=b'"' + b"x" * (int(size) - 2) + b'"',
    headers={"Authorization": "Bearer " + token, "Content-Type": "application/json"},
)
try:
    response = urllib.request.urlopen(request, context=ssl.create_default_context(cafile=ca))
except urllib.error.HTTPError as refused:
    response = refused
print(response.status, response.read().decode())
