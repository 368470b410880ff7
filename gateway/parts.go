package gateway

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/pkg/rpc"
)

// withParts lets the answer of a call come in parts where the contract has it:
// its JSON is written while the service still makes the rest.
func (x *exchange) withParts(ctx context.Context) context.Context {
	if !x.route.policy.Parts {
		return ctx
	}
	return rpc.WithParts(ctx, x.takePart)
}

// takePart writes what a part of the answer gives.
func (x *exchange) takePart(fields []byte) error {
	if x.joined == nil {
		x.buf = x.edge.bufs.get()
		x.joined = transcode.For(x.route.policy.Output).Join(*x.buf, x)
		x.Header().Set("Content-Type", contentType)
	}
	if x.taken += len(fields); x.taken > x.edge.cfg.AnswerLimit {
		return status.Errorf(codes.ResourceExhausted, "answer of more than %d bytes", x.edge.cfg.AnswerLimit)
	}
	return x.joined.Add(fields)
}

// lastPart answers the end of the JSON of an answer that came in parts.
func (x *exchange) lastPart() []byte {
	last := x.joined.End()
	if x.buf != nil {
		*x.buf = last
	}
	return last
}

// checkParts refuses a contract that gives parts to a method whose answers
// cannot be joined.
func (r *route) checkParts() error {
	if r.policy.Parts && !transcode.For(r.policy.Output).Joins() {
		return fmt.Errorf("answers of type %s cannot come in parts", r.policy.Output.FullName())
	}
	return nil
}
