package gateway

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"sync"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/gateway/wire"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// marshaler reads request bodies and writes responses for the generated code.
type marshaler struct{}

var _ runtime.Marshaler = marshaler{}

// ContentType returns the content type of all responses.
func (marshaler) ContentType(any) string { return contentType }

// Marshal returns the JSON of a message. For a response it returns only the last part: the preceding parts are
// already written. The bytes are valid until the call ends.
func (marshaler) Marshal(v any) ([]byte, error) {
	switch v := v.(type) {
	case boundReply:
		return v.marshal()
	case proto.Message:
		fields, err := wire.Of(v)
		if err != nil {
			return nil, err
		}
		return planFor(v).AppendJSON(nil, fields)
	}
	return nil, fmt.Errorf("%T is not a protobuf message", v)
}

func (b boundReply) marshal() ([]byte, error) {
	if b.c.w.success == http.StatusNoContent {
		return nil, nil
	}
	if raw := b.c.r.route.Raw; raw != nil {
		fields, err := wire.Of(b.m)
		if err == nil {
			err = raw.Write(b.c.w, fields)
		}
		return nil, err
	}
	fields, err := wire.Of(b.m)
	plan := planFor(b.m)
	if err == nil && b.c.w.success == http.StatusMultiStatus {
		fields, err = b.c.w.about.ExtendFailure(plan, fields)
	}
	if err == nil && b.c.body == nil && b.c.lines && b.c.w.success < http.StatusMultipleChoices {
		err = b.c.takePart(fields)
	}
	if err != nil {
		return nil, err
	}
	if b.c.body != nil {
		return b.c.lastPart()
	}
	b.c.buf = b.c.bufs.get()
	last, err := plan.StreamJSON((*b.c.buf)[:0], fields, b.c.w)
	if err == nil {
		*b.c.buf = last
	}
	return last, err
}

func planFor(m proto.Message) *transcode.Plan {
	return transcode.For(m.ProtoReflect().Descriptor())
}

// Unmarshal reads JSON into the unknown fields of a message.
func (marshaler) Unmarshal(data []byte, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is not a protobuf message", v)
	}
	wire, err := planFor(m).AppendWire(nil, data)
	if err != nil {
		return err
	}
	m.ProtoReflect().SetUnknown(wire)
	return nil
}

// NewDecoder reads the body of a request.
func (m marshaler) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(v any) error {
		b, ok := r.(*callBody)
		if !ok {
			return fmt.Errorf("a body of type %T", r)
		}
		if b.c.fault = b.c.decode(v); b.c.fault != nil {
			return b.c.fault
		}
		return nil
	})
}

// NewEncoder writes the JSON of messages to w.
func (m marshaler) NewEncoder(w io.Writer) runtime.Encoder {
	return runtime.EncoderFunc(func(v any) error {
		b, err := m.Marshal(v)
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	})
}

// decode reads the body into the unknown fields of the message that v points to. If v points to a nil pointer,
// decode allocates the message.
func (c *serviceCall) decode(v any) *fault.Error {
	m := messageAt(v)
	if m == nil {
		return fault.Internal(fmt.Errorf("a body of type %T", v))
	}
	if c.r.body.file != nil {
		c.r.body.file.Decode(m)
		return nil
	}
	plan := planFor(m)
	var wire []byte
	var err error
	switch {
	case c.r.body.form:
		wire, err = plan.AppendForm(nil, c.r.body.text)
	case len(c.r.body.text) == 0 && c.r.route.EmptyBody:
	default:
		// RFC 8259, section 8.1: a parser may ignore a byte order mark.
		wire, err = plan.AppendWire(nil, bytes.TrimPrefix(c.r.body.text, []byte("\ufeff")))
	}
	if err != nil {
		return fault.FromError(err)
	}
	m.ProtoReflect().SetUnknown(c.r.route.AppendPage(wire, c.r.query))
	return nil
}

// messageAt returns the message that v is or points to, or nil.
func messageAt(v any) proto.Message {
	if m, ok := v.(proto.Message); ok {
		return m
	}
	at := reflect.ValueOf(v)
	if at.Kind() != reflect.Pointer || at.Elem().Kind() != reflect.Pointer {
		return nil
	}
	created := reflect.New(at.Elem().Type().Elem())
	m, ok := created.Interface().(proto.Message)
	if ok {
		at.Elem().Set(created)
	}
	return m
}

// buffers pools byte slices.
type buffers struct{ pool sync.Pool }

// maxPooledBuffer is the size in bytes of the largest buffer that is pooled, so that one large response does
// not occupy memory for long.
const maxPooledBuffer = 32 << 20

func (b *buffers) get() *[]byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return buf
	}
	return &[]byte{}
}

func (b *buffers) putBuffer(buf *[]byte) {
	if buf != nil && cap(*buf) <= maxPooledBuffer {
		b.pool.Put(buf)
	}
}
