// Package clients tests the product with common HTTP clients, because each may react to a different
// part of a response. It needs curl, python3 and node on PATH; make clients installs them.
package clients
