// Package parts sends a large response in parts, so that its reader works while it is
// still being made. Parts are messages on the wire, and one after another they merge
// into the response, which is what the wire format means by concatenation. Only a caller
// that says so gets them, by [WithReceiver]; all others get one message. The contract
// names the methods (option parts).
package parts

import (
	"context"
	"errors"
)

type (
	receiverKey struct{}
	senderKey   struct{}
)

// Receiver receives the fields of a part, which it must not keep. An error ends the
// call.
type Receiver func(fields []byte) error

// Sender sends a part and returns an empty buffer for the next one.
type Sender func(fields []byte) (next []byte, err error)

// WithReceiver returns a context for one call of a method whose response may come in
// parts. The whole response goes to receive, in one part or several, in order, before
// the call returns; its reply stays empty.
func WithReceiver(ctx context.Context, receive Receiver) context.Context {
	return context.WithValue(ctx, receiverKey{}, receive)
}

// ReceiverOf returns what WithReceiver put into a context, or nil.
func ReceiverOf(ctx context.Context) Receiver {
	receive, _ := ctx.Value(receiverKey{}).(Receiver)
	return receive
}

// WithSender returns a context in which a method is called whose caller receives parts.
func WithSender(ctx context.Context, send Sender) context.Context {
	return context.WithValue(ctx, senderKey{}, send)
}

// Requested reports whether the caller of the method receives parts.
func Requested(ctx context.Context) bool {
	_, ok := ctx.Value(senderKey{}).(Sender)
	return ok
}

// Send sends a part ahead of the rest of the response, which the method
// returns. The fields belong to the call from then on; it returns an empty
// buffer in which the next part can be made. It fails for callers that receive no
// parts.
func Send(ctx context.Context, fields []byte) (next []byte, err error) {
	send, ok := ctx.Value(senderKey{}).(Sender)
	if !ok {
		return nil, errors.New("parts: the caller receives no parts")
	}
	return send(fields)
}
