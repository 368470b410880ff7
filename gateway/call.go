package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/gateway/headers"
	"github.com/rotaloom/rotaloom/gateway/upload"
	"github.com/rotaloom/rotaloom/gateway/wire"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
)

// calls calls the services. It is the last handler of the chain.
type calls struct {
	bufs          buffers
	responseLimit int
	proxies       headers.Proxies
	verifier      *authn.Verifier // nil when only the services authenticate callers
}

// serviceCall is one call of a service. The generated code carries it in its context, in the request body that
// it reads, and in the response writer.
type serviceCall struct {
	*calls
	w *response
	r *request

	lines bool         // whether a success is written as JSON lines
	fault *fault.Error // the error in the request body
	buf   *[]byte      // holds the body of the response
	body  bodyWriter   // writes a response that arrives in parts, or as lines
	taken int          // bytes of the parts so far
}

type callKey struct{}

// currentCall returns the call that a context belongs to, or nil.
func currentCall(ctx context.Context) *serviceCall {
	c, _ := ctx.Value(callKey{}).(*serviceCall)
	return c
}

// serve lets the generated code call the service.
func (cs *calls) serve(ctx context.Context, w *response, r *request) {
	c := &serviceCall{calls: cs, w: w, r: r}
	if r.route.Policy.Lines {
		c.lines = headers.PrefersLines(r.Header)
		w.Header().Add("Vary", "Accept")
	}
	defer c.end()
	r.route.Handle(w, c.generatedRequest(context.WithValue(ctx, callKey{}, c)), r.params)
}

func (c *serviceCall) end() {
	if c.body != nil {
		c.body.Close()
	}
	// HTTP/2 may still read the buffer of a stream that was canceled.
	if !c.w.broken {
		c.bufs.putBuffer(c.buf)
	}
}

// generatedRequest returns the request for the generated code. It contains the parsed query values, and no
// headers that the generated code would turn into metadata: the method metadata builds the metadata of the
// call.
func (c *serviceCall) generatedRequest(ctx context.Context) *http.Request {
	f := c.r.WithContext(ctx)
	f.Header, f.Host, f.RemoteAddr = nil, "", ""
	f.Body = &callBody{c}
	f.Form, f.PostForm = c.r.query, url.Values{}
	if f.Form == nil {
		f.Form = url.Values{}
	}
	return f
}

// callBody carries the call to the marshaler: the generated code passes only the request body to it.
type callBody struct{ c *serviceCall }

// Read returns io.EOF, because bodyReader has read the body already.
func (callBody) Read([]byte) (int, error) { return 0, io.EOF }

// Close does nothing.
func (callBody) Close() error { return nil }

// prepareResponse applies the service's response headers to the HTTP response: status, entity tag, location and
// language.
func prepareResponse(ctx context.Context, rw http.ResponseWriter, m proto.Message) error {
	w, ok := rw.(*response)
	if !ok {
		return fmt.Errorf("a response writer of type %T", rw)
	}
	if w.oauth {
		noStore(w.Header())
	}
	md, _ := runtime.ServerMetadataFromContext(ctx)
	if c := currentCall(ctx); c != nil {
		c.tagVersion(md, m)
		c.linkPages(md)
		if err := c.noteTokenOwner(md); err != nil {
			return err
		}
		if c.r.route.Raw != nil && w.status == 0 {
			fields, err := wire.Of(m)
			if err == nil {
				err = upload.SetAttachment(w.Header(), c.r.route.Raw, fields, c.r.path)
			}
			if err != nil {
				return err
			}
		}
	}
	for _, name := range []string{rpc.HeaderContentLocation, rpc.HeaderMemento, rpc.HeaderPreferenceApplied} {
		if value := md.HeaderMD.Get(name); len(value) > 0 {
			w.Header().Set(name, value[0])
		}
	}
	headers.AddWarnings(w.Header(), md.HeaderMD.Get(rpc.HeaderWarning))
	if tag := md.HeaderMD.Get(rpc.HeaderContentLanguage); len(tag) > 0 {
		w.Header().Add("Vary", "Accept-Language")
		if tag[0] != "" {
			w.Header().Set("Content-Language", tag[0])
		}
	}
	if text := md.HeaderMD.Get(rpc.HeaderHTTPStatus); len(text) > 0 {
		status, err := strconv.Atoi(text[0])
		if err != nil || status < 200 || status > 599 {
			return fmt.Errorf("the service returned the HTTP status %q", text[0])
		}
		w.success = status
	}
	return nil
}

// noteTokenOwner keeps the owner of the token in the response for the access log. A log-in that the service
// repeated reports it each time, and the last one is right.
func (c *serviceCall) noteTokenOwner(md runtime.ServerMetadata) error {
	values := md.HeaderMD.Get(rpc.HeaderIssuedTo)
	if len(values) == 0 {
		return nil
	}
	owner, err := rpc.ParseTokenOwner(values[len(values)-1])
	if err == nil {
		c.r.tokenOwner = &owner
	}
	return err
}

// boundReply is a response message together with its call.
type boundReply struct {
	c *serviceCall
	m proto.Message
}

// bindReply attaches the call to the message, for the marshaler.
func bindReply(ctx context.Context, m proto.Message) (any, error) {
	if c := currentCall(ctx); c != nil {
		return boundReply{c, m}, nil
	}
	return m, nil
}

// writeError is the error handler of the grpc-gateway runtime.
func writeError(ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, _ *http.Request, err error) {
	c := currentCall(ctx)
	if c == nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	// The generated code keeps only the text of an error in the body.
	if c.fault != nil {
		c.w.fail(c.fault)
		return
	}
	f := fault.FromError(err)
	c.invalidateToken(f)
	c.w.fail(f)
}

// invalidateToken removes the token from the cache of verified tokens when a service answered 401, because
// services also check revocations.
func (c *serviceCall) invalidateToken(f *fault.Error) {
	if c.r.caller != nil && f.Status == http.StatusUnauthorized {
		c.verifier.Invalidate(c.r.token, f)
	}
}
