package gateway

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
)

// withParts lets the response of a call come in parts where the contract has it:
// its JSON is written while the service still makes the rest.
func (c *serviceCall) withParts(ctx context.Context) context.Context {
	if !c.r.route.policy.Parts {
		return ctx
	}
	if c.r.route.raw != nil {
		return parts.WithReceiver(ctx, c.takeRawPart)
	}
	return parts.WithReceiver(ctx, c.takePart)
}

// takePart writes what a part of the response gives.
func (c *serviceCall) takePart(fields []byte) error {
	if c.joined == nil {
		c.buf = c.bufs.get()
		c.joined = transcode.For(c.r.route.policy.Output).Join(*c.buf, c.w)
		c.w.Header().Set("Content-Type", contentType)
	}
	if c.taken += len(fields); c.taken > c.answerLimit {
		return status.Errorf(codes.ResourceExhausted, "answer of more than %d bytes", c.answerLimit)
	}
	return c.joined.Add(fields)
}

// lastPart returns the end of the JSON of a response that came in parts.
func (c *serviceCall) lastPart() []byte {
	last := c.joined.End()
	*c.buf = last
	return last
}

// checkParts refuses a contract that gives parts to a method whose answers
// cannot be joined.
func (r *route) checkParts() (err error) {
	if r.raw, err = rawOf(r.policy.Output); err != nil || r.raw != nil {
		return err
	}
	if r.policy.Parts && !transcode.For(r.policy.Output).Joins() {
		return fmt.Errorf("answers of type %s cannot come in parts", r.policy.Output.FullName())
	}
	return nil
}
