package gateway

import (
	"bytes"
	"errors"
	"net/http"
	"os"

	"github.com/rotaloom/rotaloom/gateway/listener"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// readAhead reads the body before the request takes a slot, so that no slow
// client holds one.
func (x *exchange) readAhead(r *http.Request) *fault.Error {
	if x.body == http.NoBody || x.body == nil {
		return nil
	}
	pace := listener.Pace{Stall: x.edge.cfg.StallTimeout, End: x.began.Add(x.edge.cfg.Timeout)}
	from := listener.NewPacedReader(x.body, x.ResponseWriter, pace)
	x.body = from
	x.held.of = x.edge.bodies.portions(x, x.edge.proxies.address(r))
	text, bad := x.readBody()
	if bad != nil {
		return bad
	}
	from.Done()
	x.text, x.body = text, bytes.NewReader(text)
	return nil
}

// unread answers what a caller gets whose body could not be read.
func (x *exchange) unread(err error) *fault.Error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return x.tooLarge()
	case errors.Is(err, errBodyMemory):
		x.edge.metrics.overload(x.classOf(), reasonBodies)
		return overloaded()
	case errors.Is(err, os.ErrDeadlineExceeded):
		x.Header().Set("Connection", "close")
		return fault.New(fault.CodeSlow, http.StatusRequestTimeout, "The body did not come in time. Send it again, faster.").WithCause(err)
	}
	return fault.Invalid(fault.CodeBadRequest, "The body could not be read to its end.").WithCause(err)
}

// refuse says why a request is not carried out, and then lets its sender come to an
// end.
func (x *exchange) refuse(r *http.Request, bad *fault.Error) {
	if bad.Status == http.StatusRequestTimeout {
		x.fail(bad) // Whoever did not send is not waited for again.
		return
	}
	x.edge.drainer.Respond(x.ResponseWriter, r, x.principal != nil, func() { x.fail(bad) })
}
