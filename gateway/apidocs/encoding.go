package apidocs

import (
	"strings"

	"github.com/rotaloom/rotaloom/gateway/headers"
)

// acceptsGzip reports whether a client prefers a response in gzip to one without an
// encoding (RFC 9110, section 12.5.3). A weight of 0 means that the encoding is not
// acceptable, and "*" stands for the encodings that the header does not name. The page
// is sent as it is to clients that accept neither: they get something that they can read
// with little effort, and the RFC permits that.
func acceptsGzip(accept []string) bool {
	weights := map[string]float64{}
	for _, coding := range strings.Split(strings.Join(accept, ","), ",") {
		name, params, _ := strings.Cut(coding, ";")
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
			weights[name] = headers.ParseWeight(params)
		}
	}
	rest, wildcard := weights["*"]
	gzip, ok := weights["gzip"]
	if !ok {
		if gzip, ok = weights["x-gzip"]; !ok {
			gzip = rest
		}
	}
	identity, named := weights["identity"]
	if !named && wildcard && rest == 0 {
		identity, named = 0, true
	}
	return gzip > 0 && (!named || gzip >= identity)
}
