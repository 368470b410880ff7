//go:build unix

package localpg

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
)

// maxLines is the number of output lines that are stored to explain a failure.
const maxLines = 20

// maxLine bounds a line; longer ones are split.
const maxLine = 8 << 10

// output turns the server's output into log records.
type output struct {
	log *slog.Logger

	mu   sync.Mutex
	rest []byte
	last []string
}

// Write accepts the next piece of output, which may end anywhere in a line.
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

// level maps the server's severities to log levels. An ERROR is logged at debug level: the client
// that caused it got it too, and can judge it better.
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
