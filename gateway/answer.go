package gateway

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

const (
	contentType = "application/json;charset=utf-8"
	// retryAfter is the Retry-After in seconds of errors that name no time.
	retryAfter = 5
)

// prepareAnswer takes over what a service said about the HTTP answer.
func prepareAnswer(ctx context.Context, w http.ResponseWriter, _ proto.Message) error {
	x, ok := w.(*exchange)
	if !ok {
		return fmt.Errorf("a response writer of type %T", w)
	}
	if x.route.policy.OAuthErrors {
		noStore(x.Header())
	}
	md, _ := runtime.ServerMetadataFromContext(ctx)
	if location := md.HeaderMD.Get(rpc.HeaderContentLocation); len(location) > 0 {
		x.Header().Set("Content-Location", location[0])
	}
	if tag := md.HeaderMD.Get(rpc.HeaderContentLanguage); len(tag) > 0 {
		x.Header().Add("Vary", "Accept-Language")
		if tag[0] != "" {
			x.Header().Set("Content-Language", tag[0])
		}
	}
	if text := md.HeaderMD.Get(rpc.HeaderHTTPStatus); len(text) > 0 {
		status, err := strconv.Atoi(text[0])
		if err != nil || status < 200 || status > 599 {
			return fmt.Errorf("the service answered the HTTP status %q", text[0])
		}
		x.success = status
	}
	return nil
}

// answer is a message on its way to the caller.
type answer struct {
	x *exchange
	m proto.Message
}

// bindAnswer lets the marshaler know for which exchange it works.
func bindAnswer(ctx context.Context, m proto.Message) (any, error) {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return m, nil
	}
	return answer{x, m}, nil
}

// writeError is the error handler of the runtime.
func writeError(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, _ *http.Request, err error) {
	x, ok := w.(*exchange)
	if !ok {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	// The generated code keeps only the text of what was wrong with the body.
	if x.fault != nil {
		x.fail(x.fault)
		return
	}
	f := fault.FromError(err)
	x.learn(f)
	x.fail(f)
}

// allow names the methods that a path has.
func (x *exchange) allow(n *noRoute) {
	if n.allow != "" {
		x.Header().Set("Allow", n.allow)
	}
}

// fail answers an error. When a part of a success was written already, all that
// is left is to cut the answer off, so that nobody takes it for whole.
func (x *exchange) fail(f *fault.Error) {
	x.cause = f
	if x.keyed.holds() {
		x.keyed.drop()
	}
	if x.status != 0 {
		x.cut = true
		return
	}
	status := f.Status
	h := x.Header()
	h.Set("Content-Type", contentType)
	h.Del("Content-Length")
	switch status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="rotaloom"`)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		seconds := f.RetrySeconds()
		if seconds == 0 {
			seconds = retryAfter
		}
		h.Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	body := errorJSON(f)
	if x.route != nil && x.route.policy.OAuthErrors {
		noStore(h)
		body = oauthJSON(f)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.WriteHeader(status)
	_, _ = x.Write(body)
}

func noStore(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
}

// errorJSON is the body of an error. Details that cannot be written are left
// out: the error itself must arrive.
func errorJSON(f *fault.Error) []byte {
	if b, err := messageJSON(f.Body()); err == nil {
		return b
	}
	b, err := messageJSON(&commonv1.ErrorBody{ErrorCode: fault.CodeInternal, Message: http.StatusText(f.Status)})
	if err != nil {
		return []byte("{}")
	}
	return b
}

func messageJSON(m proto.Message) ([]byte, error) {
	wire, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	return transcode.For(m.ProtoReflect().Descriptor()).AppendJSON(nil, wire)
}

// oauthJSON is the body of an error as RFC 6749, section 5.2, asks.
func oauthJSON(f *fault.Error) []byte {
	b := append([]byte(`{"error":`), transcode.AppendString(nil, oauthError(f))...)
	b = append(b, `,"error_description":`...)
	return append(transcode.AppendString(b, f.Message), '}')
}

// oauthError answers the error's name, which errors from elsewhere have not.
func oauthError(f *fault.Error) string {
	switch {
	case f.OAuth != "":
		return f.OAuth
	case f.Status == http.StatusUnauthorized:
		return "invalid_client"
	case f.Status == http.StatusForbidden:
		return "unauthorized_client"
	case f.Status == http.StatusTooManyRequests, f.Status == http.StatusServiceUnavailable:
		return "temporarily_unavailable"
	case f.Status >= http.StatusInternalServerError:
		return "server_error"
	}
	return "invalid_request"
}
