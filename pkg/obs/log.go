package obs

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// LogConfig sets the format and level of log lines.
type LogConfig struct {
	// Level is the lowest level that is written: debug, info, warn or error.
	Level string `name:"log-level" enum:"debug,info,warn,error" default:"info" help:"Lowest level of the log lines that are written (${enum})."`
	// Format is json, or text for people.
	Format string `name:"log-format" enum:"json,text" default:"json" help:"Format of the log lines (${enum})."`
}

// NewLogger returns a logger that writes to w. Every line contains the request and tenant of its
// context.
func NewLogger(w io.Writer, cfg LogConfig) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		return nil, fmt.Errorf("log level: %w", err)
	}
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: withUnits}
	switch cfg.Format {
	case "json":
		return slog.New(NewHandler(slog.NewJSONHandler(w, opts))), nil
	case "text":
		return slog.New(NewHandler(slog.NewTextHandler(w, opts))), nil
	default:
		return nil, fmt.Errorf("log format %q is neither json nor text", cfg.Format)
	}
}

// withUnits writes durations as 1.5s or 250ms; JSON would write plain nanoseconds.
func withUnits(_ []string, attr slog.Attr) slog.Attr {
	if attr.Value.Kind() == slog.KindDuration {
		attr.Value = slog.StringValue(attr.Value.Duration().String())
	}
	return attr
}

// NewHandler wraps a handler. It adds the request id, trace id and tenant of the context to every
// line.
func NewHandler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, line slog.Record) error {
	if r := RequestFrom(ctx); r.ID != "" {
		line.AddAttrs(slog.String("request_id", r.ID))
		if id := r.TraceID(); id != "" {
			line.AddAttrs(slog.String("trace_id", id))
		}
	}
	if id, ok := tenant.From(ctx); ok {
		line.AddAttrs(slog.Int64("tenant", id))
	}
	return h.Handler.Handle(ctx, line)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name)}
}
