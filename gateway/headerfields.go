package gateway

import (
	"context"
	"net/http"
	"strconv"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/gateway/wire"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/rpc"
)

// bindCondition reads the If-Match of a request that is not a GET. The service compares it in the transaction
// that writes. For an operation without a version, only * is accepted.
func bindCondition(_ context.Context, _ *response, r *request) *fault.Error {
	lines := r.Header.Values("If-Match")
	if len(lines) == 0 || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	condition, bad := precondition.Parse(lines)
	switch {
	case bad != nil:
		return bad
	case r.route.Policy.TakesIfMatch(r.route.Method, r.route.Path):
		r.condition = condition.String()
	case condition.NamesVersions():
		return fault.Invalid(precondition.CodeNoVersion,
			"The object of this operation has no version, so If-Match cannot be compared. Leave If-Match out. If the items of the request have versions, send these.")
	}
	return nil
}

// tagVersion sets the entity tag of a response: the version that the service reported, or the version in the
// response.
func (c *serviceCall) tagVersion(md runtime.ServerMetadata, message proto.Message) {
	if !c.r.route.Policy.Versioned {
		return
	}
	version := ""
	if reported := md.HeaderMD.Get(rpc.HeaderVersion); len(reported) > 0 {
		version = reported[len(reported)-1]
	} else if fields, err := wire.Of(message); err == nil { // The marshaler reports the error.
		version = messageVersion(fields, message.ProtoReflect().Descriptor())
	}
	if version != "" {
		c.w.Header().Set("ETag", `"`+version+`"`)
	}
}

// messageVersion returns the version in the bytes of a message, or "".
func messageVersion(fields []byte, desc protoreflect.MessageDescriptor) string {
	if field := policy.VersionField(desc); field != nil {
		return fieldVersion(fields, field)
	}
	for number, inner := range wire.Texts(fields) {
		if field := policy.WrappedVersion(desc, number); field != nil {
			return fieldVersion(inner, field)
		}
	}
	return ""
}

func fieldVersion(fields []byte, field protoreflect.FieldDescriptor) string {
	if field.Kind() == protoreflect.StringKind {
		return string(wire.LastText(fields, field))
	}
	if version := wire.LastVarint(fields, field); version != 0 {
		return strconv.FormatUint(version, 10)
	}
	return ""
}
