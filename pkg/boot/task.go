package boot

import (
	"context"
	"io"
	"log/slog"

	"github.com/alecthomas/kong"
)

// Task is a command that does one thing and ends, such as a check by an operator. Any other command
// makes the program serve.
type Task interface {
	// Do runs the task and prints its results to out. ctx ends at the first SIGINT or SIGTERM.
	// After an error, the program prints it and ends with exit code 1, or 3 for a CheckFailed.
	Do(ctx context.Context, log *slog.Logger, out io.Writer) error
}

// chosenTask returns the task that the arguments select, or nil.
func chosenTask(parsed *kong.Context) Task {
	task, _ := chosenCommand[Task](parsed)
	return task
}

// chosenCommand returns the command that the arguments select, if it is a T.
func chosenCommand[T any](parsed *kong.Context) (command T, is bool) {
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
