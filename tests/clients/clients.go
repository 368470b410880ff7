// Package clients tries the product with the HTTP clients that people use: what one
// client sees of a response, another may never look at. It needs curl, python3 and node
// on PATH; make clients installs them.
package clients
