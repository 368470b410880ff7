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

// Schedules are repetitive: S2 shrinks them to a tenth, in less time than TLS and HTTP/2 would need
// for the difference.
const (
	name = "s2"
	// threshold is the smallest response, in bytes, that is compressed.
	threshold = 64 << 10
)

// gRPC reads its compressors without a lock, so that they may be registered before main starts only.
func init() {
	encoding.RegisterCompressor(&compressor{
		writers: sync.Pool{New: func() any { return s2.NewWriter(nil, s2.WriterConcurrency(1)) }},
		readers: sync.Pool{New: func() any { return s2.NewReader(nil) }},
	})
}

// compressor pools its writers and readers, which have large buffers.
type compressor struct{ writers, readers sync.Pool }

// Name returns the name on the wire.
func (c *compressor) Name() string { return name }

// Compress returns a compressing writer.
func (c *compressor) Compress(w io.Writer) (io.WriteCloser, error) {
	writer := c.writers.Get().(*s2.Writer)
	writer.Reset(w)
	return &compressing{writer, c}, nil
}

// Decompress returns a decompressing reader.
func (c *compressor) Decompress(r io.Reader) (io.Reader, error) {
	reader := c.readers.Get().(*s2.Reader)
	reader.Reset(r)
	return &decompressing{reader, c}, nil
}

type compressing struct {
	*s2.Writer
	from *compressor
}

// Close writes the end of the stream.
func (w *compressing) Close() error {
	defer w.from.writers.Put(w.Writer)
	return w.Writer.Close()
}

type decompressing struct {
	*s2.Reader
	from *compressor
}

// Read continues to read. At the end it returns the reader to the pool, and later calls return
// io.EOF.
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

// Large compresses the large responses of a method if the client can read them.
func Large(handle grpc.MethodHandler) grpc.MethodHandler {
	return func(impl any, ctx context.Context, decode func(any) error, chained grpc.UnaryServerInterceptor) (any, error) {
		resp, err := handle(impl, ctx, decode, chained)
		if err == nil {
			IfLarge(ctx, resp)
		}
		return resp, err
	}
}

// IfLarge compresses the messages of a call if the response, its first message, is large.
func IfLarge(ctx context.Context, response any) {
	if m, ok := response.(proto.Message); ok && proto.Size(m) >= threshold {
		// It fails only if the client does not support it, or if a part was already sent.
		_ = grpc.SetSendCompressor(ctx, name)
	}
}
