package gateway

import (
	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"

	"github.com/rotaloom/rotaloom/gateway/headers"
	"github.com/rotaloom/rotaloom/pkg/rpc"
)

// linkPages sets the Link of a response: the pages that the service reported, at the address of the request. The
// address is absolute, because many clients do not resolve relative ones.
func (c *serviceCall) linkPages(md runtime.ServerMetadata) {
	reported := md.HeaderMD.Get(rpc.HeaderPage)
	if c.r.route.Policy.Pages && len(reported) > 0 {
		address := headers.Address(c.r.Request, c.proxies.Trust(c.r.Request))
		c.w.Header().Set("Link", headers.PageLinks(address, c.r.URL.Query(), reported))
	}
}
