"""Sends bodies of 1 to 200 kB, 100 times over TLS to where each is refused, and reads only after
everything was sent. Prints how often which status came with a whole body, or what went wrong."""
import collections
import http.client
import socket
import ssl
import sys
import urllib.error
import urllib.request

base, ca, method, path, headers = sys.argv[1:6]
headers = dict(h.split(": ", 1) for h in headers.split("\n") if h)
context = ssl.create_default_context(cafile=ca)
host, port = base.removeprefix("https://").split(":")


def by_socket(size, more):
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {size}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in {**headers, **more}.items()) + "\r\n"
    with context.wrap_socket(socket.create_connection((host, int(port)), timeout=30), server_hostname=host) as connection:
        connection.sendall(head.encode() + b"x" * size)
        response = http.client.HTTPResponse(connection, method=method)
        response.begin()
        return response.status, response.read()


def by_urllib(size, more):
    request = urllib.request.Request(base + path, b"x" * size, {**headers, **more}, method=method)
    try:
        with urllib.request.urlopen(request, context=context, timeout=30) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as refused:
        return refused.status, refused.read()


seen = collections.Counter()
for i in range(100):
    send = (by_socket, by_urllib)[i % 2]
    more = ({}, {"Connection": "close"}, {"Expect": "100-continue"})[i % 3 if send is by_socket else 0]
    size = 1000 + i * 2010
    try:
        status, body = send(size, more)
        seen[f"{status} {'whole' if body.startswith(b'{') and body.endswith(b'}') else body}"] += 1
    except Exception as lost:
        seen[f"{send.__name__} {size} {more}: {type(lost).__name__} {lost}"] += 1
for what, times in seen.items():
    print(times, what)
