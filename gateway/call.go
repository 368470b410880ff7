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
	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/gateway/wire"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
)

// calls calls services: the end of the chain.
type calls struct {
	bufs          buffers
	responseLimit int
	proxies       headers.Proxies
	verifier      *authn.Verifier // nil when the services alone say who is let in
}

// serviceCall is one call of a service. The generated code hands it back in its context, in
// the body that it reads, and in the writer that it writes to.
type serviceCall struct {
	*calls
	w *response
	r *request

	fault  *fault.Error      // what was wrong with the body
	buf    *[]byte           // holds the JSON of the response
	joined *transcode.Joined // writes a response that comes in parts
	taken  int               // bytes of its parts
}

type callKey struct{}

// callOf returns the call that a context belongs to, or nil.
func callOf(ctx context.Context) *serviceCall {
	c, _ := ctx.Value(callKey{}).(*serviceCall)
	return c
}

// serve has the generated code call the service.
func (cs *calls) serve(ctx context.Context, w *response, r *request) {
	c := &serviceCall{calls: cs, w: w, r: r}
	defer c.end()
	r.route.Handle(w, c.forwarded(context.WithValue(ctx, callKey{}, c)), r.params)
}

func (c *serviceCall) end() {
	if c.joined != nil {
		c.joined.Close()
	}
	// HTTP/2 may still be reading the buffer of a stream that was given up.
	if !c.w.broken {
		c.bufs.put(c.buf)
	}
}

// forwarded is the request as the generated code gets it: with the query's values
// already read, and without anything that it would make metadata of. The services get
// that of the call, see metadata.
func (c *serviceCall) forwarded(ctx context.Context) *http.Request {
	f := c.r.WithContext(ctx)
	f.Header, f.Host, f.RemoteAddr = nil, "", ""
	f.Body = &callBody{c}
	f.Form, f.PostForm = c.r.query, url.Values{}
	if f.Form == nil {
		f.Form = url.Values{}
	}
	return f
}

// callBody carries the call to the marshaler, which the generated code gives
// nothing but the body of the request.
type callBody struct{ c *serviceCall }

// Read says that nothing is left: the body was read before.
func (callBody) Read([]byte) (int, error) { return 0, io.EOF }

// Close does nothing.
func (callBody) Close() error { return nil }

// prepareResponse takes over what a service said about the HTTP response.
func prepareResponse(ctx context.Context, rw http.ResponseWriter, m proto.Message) error {
	w, ok := rw.(*response)
	if !ok {
		return fmt.Errorf("a response writer of type %T", rw)
	}
	if w.oauth {
		noStore(w.Header())
	}
	md, _ := runtime.ServerMetadataFromContext(ctx)
	if c := callOf(ctx); c != nil {
		c.tagVersion(md, m)
		if c.r.route.Raw != nil && w.status == 0 {
			fields, err := wire.Of(m)
			if err == nil {
				err = c.setRawType(fields)
			}
			if err != nil {
				return err
			}
		}
	}
	if location := md.HeaderMD.Get(rpc.HeaderContentLocation); len(location) > 0 {
		w.Header().Set("Content-Location", location[0])
	}
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

// boundReply is a message on its way to the caller.
type boundReply struct {
	c *serviceCall
	m proto.Message
}

// bindReply lets the marshaler know for which call it works.
func bindReply(ctx context.Context, m proto.Message) (any, error) {
	if c := callOf(ctx); c != nil {
		return boundReply{c, m}, nil
	}
	return m, nil
}

// writeError is the error handler of the runtime.
func writeError(ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, _ *http.Request, err error) {
	c := callOf(ctx)
	if c == nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	// The generated code keeps only the text of what was wrong with the body.
	if c.fault != nil {
		c.w.fail(c.fault)
		return
	}
	f := fault.FromError(err)
	c.invalidateToken(f)
	c.w.fail(f)
}

// invalidateToken takes over what a service said about the token, which knows more of it.
func (c *serviceCall) invalidateToken(f *fault.Error) {
	if c.r.caller != nil && f.Status == http.StatusUnauthorized {
		c.verifier.Invalidate(c.r.token, f)
	}
}
