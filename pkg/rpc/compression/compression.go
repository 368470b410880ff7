// Package compression compresses large responses between services.
package compression

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/s2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/protobuf/proto"
)

// Schedules repeat themselves, and S2 makes a tenth of them in less time than
// their bytes would take through TLS and HTTP/2.
const (
	name = "s2"
	// threshold is the size in bytes from which on a response is compressed.
	threshold = 64 << 10
)

// Register makes the compressor known to gRPC, once.
var Register = sync.OnceFunc(func() {
	encoding.RegisterCompressor(&compressor{
		writers: sync.Pool{New: func() any { return s2.NewWriter(nil, s2.WriterConcurrency(1)) }},
		readers: sync.Pool{New: func() any { return s2.NewReader(nil) }},
	})
})

// compressor keeps its writers and readers, which have large buffers.
type compressor struct{ writers, readers sync.Pool }

// Name is that on the wire.
func (c *compressor) Name() string { return name }

// Compress returns a writer of the compressed form.
func (c *compressor) Compress(w io.Writer) (io.WriteCloser, error) {
	writer := c.writers.Get().(*s2.Writer)
	writer.Reset(w)
	return &compressing{writer, c}, nil
}

// Decompress returns a reader of the original form.
func (c *compressor) Decompress(r io.Reader) (io.Reader, error) {
	reader := c.readers.Get().(*s2.Reader)
	reader.Reset(r)
	return &decompressing{reader, c}, nil
}

type compressing struct {
	*s2.Writer
	from *compressor
}

// Close writes the end.
func (w *compressing) Close() error {
	defer w.from.writers.Put(w.Writer)
	return w.Writer.Close()
}

type decompressing struct {
	*s2.Reader
	from *compressor
}

// Read reads on. At the end the reader is given back, and must not be used.
func (r *decompressing) Read(p []byte) (int, error) {
	if r.Reader == nil {
		return 0, io.EOF
	}
	n, err := r.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		r.from.readers.Put(r.Reader)
		r.Reader = nil
	}
	return n, err
}

// Large has large responses of a method compressed when the client can read
// them.
func Large(handle grpc.MethodHandler) grpc.MethodHandler {
	return func(impl any, ctx context.Context, decode func(any) error, chained grpc.UnaryServerInterceptor) (any, error) {
		resp, err := handle(impl, ctx, decode, chained)
		if err == nil {
			IfLarge(ctx, resp)
		}
		return resp, err
	}
}

// IfLarge has what is sent compressed, of which the response is the first.
func IfLarge(ctx context.Context, response any) {
	if m, ok := response.(proto.Message); ok && proto.Size(m) >= threshold {
		// Its only error is that the client cannot, or that a part was sent
		// before.
		_ = grpc.SetSendCompressor(ctx, name)
	}
}
