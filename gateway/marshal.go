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
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// marshaler is how the generated code reads bodies and writes answers.
type marshaler struct{}

var _ runtime.Marshaler = marshaler{}

// ContentType is that of every answer.
func (marshaler) ContentType(any) string { return contentType }

// Marshal answers the JSON of a message. Of an answer it is the last part: what
// comes before was written by then. Its bytes are only valid until its exchange
// ends.
func (marshaler) Marshal(v any) ([]byte, error) {
	switch v := v.(type) {
	case answer:
		return v.marshal()
	case proto.Message:
		wire, err := wireOf(v)
		if err != nil {
			return nil, err
		}
		return planOf(v).AppendJSON(nil, wire)
	}
	return nil, fmt.Errorf("%T is no message", v)
}

func (a answer) marshal() ([]byte, error) {
	if a.x.successStatus() == http.StatusNoContent {
		return nil, nil
	}
	if a.x.joined != nil {
		return a.x.lastPart(), nil
	}
	wire, err := wireOf(a.m)
	if err != nil {
		return nil, err
	}
	a.x.buf = a.x.edge.bufs.get()
	last, err := planOf(a.m).StreamJSON((*a.x.buf)[:0], wire, a.x)
	if err == nil && a.x.buf != nil {
		*a.x.buf = last
	}
	return last, err
}

// wireOf answers the bytes of a message, which are in its unknown fields: it has
// them instead of known ones or beside them.
func wireOf(m proto.Message) ([]byte, error) {
	wire := []byte(m.ProtoReflect().GetUnknown())
	if proto.Size(m) == len(wire) {
		return wire, nil
	}
	return proto.Marshal(m)
}

func planOf(m proto.Message) *transcode.Plan {
	return transcode.For(m.ProtoReflect().Descriptor())
}

// Unmarshal reads JSON into the unknown fields of a message.
func (marshaler) Unmarshal(data []byte, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is no message", v)
	}
	wire, err := planOf(m).AppendWire(nil, data)
	if err != nil {
		return err
	}
	m.ProtoReflect().SetUnknown(wire)
	return nil
}

// NewDecoder reads the body of a request.
func (m marshaler) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(v any) error {
		b, ok := r.(*body)
		if !ok {
			return fmt.Errorf("a body of type %T", r)
		}
		if b.x.fault = b.x.decode(v); b.x.fault != nil {
			return b.x.fault
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

// decode reads the body into the unknown fields of the message that v points
// to. When v points to a pointer, it makes the message.
func (x *exchange) decode(v any) *fault.Error {
	m := messageAt(v)
	if m == nil {
		return fault.Internal(fmt.Errorf("a body of type %T", v))
	}
	plan := planOf(m)
	var wire []byte
	var err error
	switch {
	case x.form:
		wire, err = plan.AppendForm(nil, x.text)
	case len(x.text) == 0 && x.route.bodiless:
	default:
		// RFC 8259, section 8.1: who reads JSON may skip a byte order mark.
		wire, err = plan.AppendWire(nil, bytes.TrimPrefix(x.text, []byte("\ufeff")))
	}
	if err != nil {
		return fault.FromError(err)
	}
	m.ProtoReflect().SetUnknown(wire)
	return nil
}

// messageAt answers the message that v is or points to, or nil.
func messageAt(v any) proto.Message {
	if m, ok := v.(proto.Message); ok {
		return m
	}
	at := reflect.ValueOf(v)
	if at.Kind() != reflect.Pointer || at.Elem().Kind() != reflect.Pointer {
		return nil
	}
	made := reflect.New(at.Elem().Type().Elem())
	m, ok := made.Interface().(proto.Message)
	if ok {
		at.Elem().Set(made)
	}
	return m
}

// buffers keeps byte slices for reuse.
type buffers struct{ pool sync.Pool }

// maxKept is the size in bytes above which a buffer is not kept, so that one
// large answer does not hold its memory for long.
const maxKept = 32 << 20

func (b *buffers) get() *[]byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return buf
	}
	return &[]byte{}
}

func (b *buffers) put(buf *[]byte) {
	if buf != nil && cap(*buf) <= maxKept {
		b.pool.Put(buf)
	}
}
