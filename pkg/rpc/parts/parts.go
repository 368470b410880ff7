// Package parts sends a large response in parts, so that its reader can start while the method
// produces the rest. Each part is a message on the wire. Concatenated, they merge into the
// response, as the wire format defines. Callers opt in with [WithReceiver]; all others get one
// message. The contract names the methods (option parts).
package parts

import (
	"context"
	"errors"
)

type (
	receiverKey struct{}
	senderKey   struct{}
)

// Receiver receives the fields of a part, and must not retain them. An error ends the call.
type Receiver func(fields []byte) error

// Sender sends a part and returns an empty buffer for the next one.
type Sender func(fields []byte) (next []byte, err error)

// WithReceiver returns a context for one call of a method that may respond in parts. The whole
// response goes to receive, in one part or several, in order, before the call returns; the call's
// reply stays empty.
func WithReceiver(ctx context.Context, receive Receiver) context.Context {
	return context.WithValue(ctx, receiverKey{}, receive)
}

// ReceiverOf returns the receiver from WithReceiver, or nil.
func ReceiverOf(ctx context.Context) Receiver {
	receive, _ := ctx.Value(receiverKey{}).(Receiver)
	return receive
}

// WithSender returns the context for a method whose caller receives parts.
func WithSender(ctx context.Context, send Sender) context.Context {
	return context.WithValue(ctx, senderKey{}, send)
}

// Requested reports whether the caller of the method receives parts.
func Requested(ctx context.Context) bool {
	_, ok := ctx.Value(senderKey{}).(Sender)
	return ok
}

// Send sends a part ahead of the rest of the response, which the method returns. The call owns the
// fields from then on, and returns an empty buffer for the next part. Send fails if the caller
// receives no parts.
func Send(ctx context.Context, fields []byte) (next []byte, err error) {
	send, ok := ctx.Value(senderKey{}).(Sender)
	if !ok {
		return nil, errors.New("parts: the caller receives no parts")
	}
	return send(fields)
}
