// Package errorbody writes the bodies of errors, in the form that the contract asks for.
package errorbody

import (
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/gateway/apidocs"
	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/gateway/transcode/jsontext"
	"github.com/rotaloom/rotaloom/gateway/wire"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Context is the part of an error's body that does not depend on the error.
type Context struct {
	// RequestID is the id of the request, or "" for a connection that carried none.
	RequestID string
	// Docs reports whether this server serves the page of error codes.
	Docs bool
}

// help returns the address of the explanation of an error code on this server, or "".
func (c Context) help(code string) string {
	if !c.Docs {
		return ""
	}
	return apidocs.ErrorsPath + "#" + code
}

// JSON returns the body of an error. If the details cannot be encoded, it omits them.
func (c Context) JSON(f *fault.Error) []byte {
	body := f.Body()
	body.RequestId, body.Help = c.RequestID, c.help(f.Code)
	if b, err := messageJSON(body); err == nil {
		return b
	}
	b, err := messageJSON(&commonv1.ErrorBody{
		ErrorCode: fault.CodeInternal, Message: http.StatusText(f.Status), RequestId: c.RequestID, Help: c.help(fault.CodeInternal),
	})
	if err != nil {
		return []byte("{}")
	}
	return b
}

// ExtendFailure adds the request id, and the address that explains the code, to the failure of a response that is given
// by its wire bytes. Without a failure it returns the bytes unchanged.
func (c Context) ExtendFailure(plan *transcode.Plan, fields []byte) ([]byte, error) {
	failure := plan.Failure(fields)
	if failure == nil {
		return fields, nil
	}
	code := wire.LastText(failure, (&commonv1.ErrorBody{}).ProtoReflect().Descriptor().Fields().ByName("error_code"))
	added, err := proto.Marshal(&commonv1.ErrorBody{RequestId: c.RequestID, Help: c.help(string(code))})
	if err != nil {
		return nil, err
	}
	return plan.ExtendFailure(fields, added), nil
}

func messageJSON(m proto.Message) ([]byte, error) {
	fields, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	return transcode.For(m.ProtoReflect().Descriptor()).AppendJSON(nil, fields)
}

// OAuth returns the body of an error in the form of RFC 6749, section 5.2.
func (c Context) OAuth(f *fault.Error) []byte {
	b := append([]byte(`{"error":`), jsontext.AppendString(nil, oauthName(f))...)
	b = jsontext.AppendString(append(b, `,"error_description":`...), f.Message)
	return append(c.appendTo(b, "error_uri", f.Code), '}')
}

// appendTo appends the properties of the context to an object in JSON. help is the name of the address of the
// explanation.
func (c Context) appendTo(b []byte, help, code string) []byte {
	if c.RequestID != "" {
		b = jsontext.AppendString(append(b, `,"request_id":`...), c.RequestID)
	}
	if address := c.help(code); address != "" {
		b = jsontext.AppendString(append(b, `,"`+help+`":`...), address)
	}
	return b
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
