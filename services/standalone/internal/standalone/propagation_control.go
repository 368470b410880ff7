package standalone

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/boot"
)

// control sends an action on a propagation to the server, and prints the propagation in the
// response.
func (o *onePropagation) control(ctx context.Context, output *boot.Output, out io.Writer, action string, body map[string]any) error {
	client, err := o.Connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	var raw json.RawMessage
	if err := client.Call(ctx, http.MethodPost, fmt.Sprintf("%s/%d/%s", propagationsPath, o.ID, action), body, &raw); err != nil {
		return err
	}
	var p struct {
		propagation
		LaterDecisions []struct {
			Message string `json:"message"`
		} `json:"laterDecisions"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return fmt.Errorf("propagations: %w", err)
	}
	return output.Print(out, raw, func(table io.Writer) {
		fmt.Fprintf(table, "propagation %d is %s\n", p.ID, p.State)
		for _, later := range p.LaterDecisions {
			fmt.Fprintf(table, "later decision: %s\n", later.Message)
		}
	})
}

type undoPropagation struct {
	boot.Output
	onePropagation
	Mode   string `default:"strict" enum:"strict,remaining" help:"What to do if later decisions build on the change: strict lists them and undoes nothing, remaining undoes the rest."`
	Reason string `help:"Reason for the undo, up to 500 characters. Its propagation shows it."`
}

// Do undoes the change of the propagation, and prints the propagation of the undo.
func (u *undoPropagation) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	return u.control(ctx, &u.Output, out, "undo", map[string]any{"mode": strings.ToUpper(u.Mode), "reason": u.Reason})
}

type pausePropagation struct {
	boot.Output
	onePropagation
	Reason string `help:"Reason for the pause, up to 500 characters. The propagation shows it."`
}

// Do pauses the propagation.
func (p *pausePropagation) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	return p.control(ctx, &p.Output, out, "pause", map[string]any{"reason": p.Reason})
}

type resumePropagation struct {
	boot.Output
	onePropagation
}

// Do resumes the propagation.
func (r *resumePropagation) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	return r.control(ctx, &r.Output, out, "resume", map[string]any{})
}
