package gateway

import (
	"context"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/gateway/entitytag"
	"github.com/rotaloom/rotaloom/gateway/wire"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/preference"
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

// bindPreference reads the time that the caller wants to wait for the work that the request starts. Operations
// that start no such work ignore it.
func bindPreference(_ context.Context, _ *response, r *request) *fault.Error {
	if r.route.Policy.Waits {
		r.wait = preference.ParseWait(r.Header.Values("Prefer"))
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
		version = entitytag.Version(fields, message.ProtoReflect().Descriptor())
	}
	if version != "" {
		c.w.Header().Set("ETag", `"`+version+`"`)
	}
}
