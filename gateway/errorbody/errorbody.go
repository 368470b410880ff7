// Package errorbody writes the bodies of errors, in the form that the contract asks for.
package errorbody

import (
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/gateway/transcode/jsontext"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// JSON returns the body of an error. If the details cannot be encoded, it omits them.
func JSON(f *fault.Error) []byte {
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

// OAuth returns the body of an error in the form of RFC 6749, section 5.2.
func OAuth(f *fault.Error) []byte {
	b := append([]byte(`{"error":`), jsontext.AppendString(nil, oauthName(f))...)
	b = append(b, `,"error_description":`...)
	return append(jsontext.AppendString(b, f.Message), '}')
}

// oauthName returns the OAuth name of an error, derived from the status if the error has none.
func oauthName(f *fault.Error) string {
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
