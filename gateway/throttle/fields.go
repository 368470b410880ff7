package throttle

import (
	"math"
	"net/http"
	"strconv"

	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// fields contains the parts of the RateLimit headers that change only with the policy
// (draft-ietf-httpapi-ratelimit-headers-11, structured fields of RFC 9651).
type fields struct {
	policy    []string
	remaining string // `"read";r=`
	more      string // `;t=1`: the seconds until the next unit
}

func newFields(class optionsv1.Throttle, p ratelimit.Policy) *fields {
	name := strconv.Quote(ratelimit.Name(class))
	return &fields{
		policy:    []string{name + ";q=" + strconv.FormatInt(p.Burst, 10) + ";w=" + strconv.FormatInt(p.Window(), 10)},
		remaining: name + ";r=",
		more:      ";t=" + strconv.FormatInt(int64(math.Ceil(1/p.Rate)), 10),
	}
}

// Write sets the headers RateLimit and RateLimit-Policy of a response.
func (d Decision) Write(h http.Header) {
	if d.fields == nil {
		return
	}
	var space [64]byte
	text := append(space[:0], d.fields.remaining...)
	text = strconv.AppendInt(text, d.Remaining, 10)
	switch {
	case !d.Admitted:
		text = append(text, ";t="...)
		text = strconv.AppendInt(text, max(int64(math.Ceil(d.RetryAfter.Seconds())), 1), 10)
	case d.Remaining < d.Policy.Burst:
		text = append(text, d.fields.more...)
	}
	h["Ratelimit"] = []string{string(text)}
	h["Ratelimit-Policy"] = d.fields.policy
}
