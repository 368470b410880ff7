package rpc

import (
	"context"

	"google.golang.org/grpc/mem"

	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
)

// waitingParts is the number of parts that may wait for a reader in the same process.
const waitingParts = 4

// invokeParts calls a method in its own goroutine, and passes on parts of the response while the
// method produces the rest.
func (c *LocalConn) invokeParts(ctx context.Context, receive parts.Receiver, m localMethod, request mem.BufferSlice, stream *localStream, o *callOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	waiting := make(chan []byte, waitingParts)
	// One more part is being written, and one is being read.
	used := make(chan []byte, waitingParts+2)
	send := func(fields []byte) (next []byte, err error) {
		select {
		case waiting <- fields:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		select {
		case next = <-used:
		default:
		}
		return next, nil
	}
	var failed error
	go func() {
		defer close(waiting)
		server := parts.WithSender(c.serverContext(ctx, stream), send)
		response, err := m.handle(m.impl, server, c.decoder(request), nil)
		if err == nil {
			var rest []byte
			if rest, err = c.fields(response, o); err == nil {
				_, err = send(rest)
			}
		}
		failed = err
	}()
	var refused error
	for fields := range waiting {
		if refused != nil {
			continue
		}
		if refused = receive(fields); refused != nil {
			cancel()
		}
		select {
		case used <- fields[:0]:
		default:
		}
	}
	if refused != nil {
		return refused
	}
	return failed
}
