package boot

import (
	"context"
	"io"
	"log/slog"

	"github.com/alecthomas/kong"
)

// Task is a command of a program that does one thing and ends, such as a check
// that an operator asks for. Any other command makes the program serve.
type Task interface {
	// Do does it, and prints what there is to say to out. ctx ends at the first
	// SIGINT or SIGTERM. An error is printed, and the exit code is 1, or 3 when it is a
	// CheckFailed.
	Do(ctx context.Context, log *slog.Logger, out io.Writer) error
}

// taskOf returns the task that the arguments chose, or nil.
func taskOf(parsed *kong.Context) Task {
	task, _ := chosen[Task](parsed)
	return task
}

// chosen returns the command that the arguments chose, when it is a T.
func chosen[T any](parsed *kong.Context) (command T, is bool) {
	node := parsed.Selected()
	if node == nil {
		return command, false
	}
	command, is = node.Target.Addr().Interface().(T)
	return command, is
}

func (p *program) do(cfg Common, task Task) error {
	log, ctx, end, err := p.begin(cfg)
	if err != nil {
		return err
	}
	defer end()
	return task.Do(ctx, log, p.out)
}
