//go:build unix

package localpg

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
)

// maxLines is how much of what the server said is kept to explain a failure.
const maxLines = 20

// maxLine bounds a line; longer ones are cut into several.
const maxLine = 8 << 10

// output turns what the server prints into log records.
type output struct {
	log *slog.Logger

	mu   sync.Mutex
	rest []byte
	last []string
}

// Write takes the next piece of output, which may end anywhere in a line.
func (o *output) Write(piece []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest = append(o.rest, piece...)
	for {
		line, rest, found := bytes.Cut(o.rest, []byte("\n"))
		if !found && len(o.rest) < maxLine {
			return len(piece), nil
		}
		o.line(string(line))
		o.rest = rest
	}
}

func (o *output) line(line string) {
	o.last = append(o.last, line)
	if len(o.last) > maxLines {
		o.last = o.last[1:]
	}
	o.log.Log(context.Background(), level(line), "postgres", "said", line)
}

// level maps the server's severities. An ERROR was sent to the client that
// caused it, who knows better what it means.
func level(line string) slog.Level {
	severity, _, _ := strings.Cut(line, ":")
	switch severity {
	case "PANIC":
		return slog.LevelError
	case "WARNING":
		return slog.LevelWarn
	default:
		return slog.LevelDebug
	}
}

func (o *output) recent() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(append(o.last, string(o.rest)), "\n")
}
