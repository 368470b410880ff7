package gateway

import (
	"net/url"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"

	"github.com/rotaloom/rotaloom/gateway/headers"
	"github.com/rotaloom/rotaloom/pkg/rpc"
)

// pageParameters are the query parameters that name a page.
var pageParameters = []string{"before", "after", "page"}

// linkPages sets the Link (RFC 8288) of a response: the pages that the service reported, at the address of the
// request. The address is absolute, because many clients do not resolve relative ones.
func (c *serviceCall) linkPages(md runtime.ServerMetadata) {
	reported := md.HeaderMD.Get(rpc.HeaderPage)
	if !c.r.route.Policy.Pages || len(reported) == 0 {
		return
	}
	base, query := c.address(), c.r.URL.Query()
	for _, name := range pageParameters {
		query.Del(name)
	}
	var links []string
	for _, value := range reported {
		rel, text, _ := strings.Cut(value, " ")
		page, err := url.ParseQuery(text)
		if err != nil {
			continue // Another version of the service reported it.
		}
		for name, values := range query {
			page[name] = values
		}
		address := base
		if len(page) > 0 {
			address += "?" + page.Encode()
		}
		links = append(links, "<"+address+`>; rel="`+rel+`"`)
	}
	c.w.Header().Set("Link", strings.Join(links, ", "))
}

// address returns the address of the request without its query: absolute, unless the host that the client named
// could be misread within a header.
func (c *serviceCall) address() string {
	path := c.r.URL.EscapedPath()
	host := headers.Host(c.r.Request, c.proxies.Trust(c.r.Request))
	if host == "" || strings.ContainsFunc(host, notOfHost) {
		return path
	}
	return "https://" + host + path
}

// notOfHost reports whether a character does not belong into the name of a host with a port.
func notOfHost(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("-._:[]", r)
}
