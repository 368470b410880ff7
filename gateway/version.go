package gateway

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/gateway/wire"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
)

// bindVersion reads If-Match (RFC 9110, section 13.1.1) of an operation that
// replaces or deletes what has a version. It goes before the version that the
// request itself may name.
func bindVersion(_ context.Context, _ *response, r *request) *fault.Error {
	tags := r.Header.Values("If-Match")
	if len(tags) == 0 || !r.route.Policy.Versioned || r.Method != http.MethodPut && r.Method != http.MethodDelete {
		return nil
	}
	tag := strings.TrimSpace(tags[0])
	if len(tags) > 1 || strings.Contains(tag, ",") {
		return fault.Invalid(fault.CodeValue, "If-Match must be one entity tag, as an ETag gives it, or *.")
	}
	if tag == "*" { // Whatever there is.
		return nil
	}
	text, opened := strings.CutPrefix(strings.TrimPrefix(tag, "W/"), `"`)
	text, closed := strings.CutSuffix(text, `"`)
	if !opened || !closed {
		return fault.Invalid(fault.CodeValue, `If-Match must be an entity tag in quotes, as "3".`)
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || version <= 0 || tag[0] == 'W' || strconv.FormatInt(version, 10) != text {
		return fault.New(fault.CodeStale, http.StatusPreconditionFailed, "If-Match is no entity tag of this object. Read it again.")
	}
	r.version = version
	if r.route.HasBody {
		return nil
	}
	if r.query == nil {
		r.query = url.Values{}
	}
	r.query.Set(policy.Version, text)
	return nil
}

// withVersion appends the version that If-Match names to the bytes of a body: the
// last value of a field wins, and what comes twice of a message is merged.
func (r *request) withVersion(body []byte, m proto.Message) []byte {
	if r.version == 0 {
		return body
	}
	desc := m.ProtoReflect().Descriptor()
	if field := policy.VersionField(desc); field != nil {
		return append(body, r.versionAs(field)...)
	}
	for number := range wire.Texts(body) {
		if field := policy.WrappedVersion(desc, number); field != nil {
			body = protowire.AppendTag(body, number, protowire.BytesType)
			body = protowire.AppendBytes(body, r.versionAs(field))
		}
	}
	return body
}

// versionAs is the version that If-Match names, as a field of a message.
func (r *request) versionAs(field protoreflect.FieldDescriptor) []byte {
	if field.Kind() == protoreflect.StringKind {
		text := protowire.AppendTag(nil, field.Number(), protowire.BytesType)
		return protowire.AppendString(text, strconv.FormatInt(r.version, 10))
	}
	count := protowire.AppendTag(nil, field.Number(), protowire.VarintType)
	return protowire.AppendVarint(count, uint64(r.version))
}

// stale is a fault as the caller of this request gets it: what does not match
// If-Match fails a precondition.
func (r *request) stale(f *fault.Error) *fault.Error {
	if r.version == 0 || f.Code != fault.CodeStale {
		return f
	}
	return fault.New(f.Code, http.StatusPreconditionFailed, f.Message)
}

// tagVersion gives a response its entity tag.
func (c *serviceCall) tagVersion(message proto.Message) {
	if !c.r.route.Policy.Versioned {
		return
	}
	fields, err := wire.Of(message)
	if err != nil {
		return // The marshaler meets it too, and fails.
	}
	if version := versionOf(fields, message.ProtoReflect().Descriptor()); version != "" {
		c.w.Header().Set("ETag", `"`+version+`"`)
	}
}

// versionOf is the version in the bytes of a message, or "" when it has none.
func versionOf(fields []byte, desc protoreflect.MessageDescriptor) string {
	if field := policy.VersionField(desc); field != nil {
		return versionIn(fields, field)
	}
	for number, inner := range wire.Texts(fields) {
		if field := policy.WrappedVersion(desc, number); field != nil {
			return versionIn(inner, field)
		}
	}
	return ""
}

func versionIn(fields []byte, field protoreflect.FieldDescriptor) string {
	if field.Kind() == protoreflect.StringKind {
		return string(wire.LastText(fields, field))
	}
	if version := wire.LastVarint(fields, field); version != 0 {
		return strconv.FormatUint(version, 10)
	}
	return ""
}
