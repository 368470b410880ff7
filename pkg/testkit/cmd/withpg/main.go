// Command withpg runs a command with a disposable PostgreSQL server, so that all test processes of
// a run share it:
//
//	go run ./testkit/cmd/withpg go test ./...
//
// The command finds the server's URL in ROTALOOM_TEST_DATABASE_URL. If the variable is already set,
// withpg uses the server that it names.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: withpg COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, text := outcome(run(ctx, os.Args[1], os.Args[2:]))
	if text != "" {
		fmt.Fprintln(os.Stderr, "withpg:", text)
	}
	os.Exit(code)
}

// A commandError means that the command itself failed. It has printed the reason. Another
// exec.ExitError is a program of PostgreSQL that failed.
type commandError struct{ *exec.ExitError }

// outcome returns the exit code for an error of run, and the text to print; "" for none.
func outcome(err error) (code int, text string) {
	var command commandError
	switch {
	case err == nil:
		return 0, ""
	case errors.As(err, &command):
		return max(command.ExitCode(), 1), ""
	}
	return 1, err.Error()
}

func run(ctx context.Context, name string, args []string) (err error) {
	// The terminal sends Ctrl-C to the command too; SIGTERM is passed on.
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if os.Getenv(pgtest.URLVariable) != "" {
		return runCommand(cmd)
	}
	dir, err := os.MkdirTemp("", "rotaloom-withpg-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, err := localpg.Start(ctx, localpg.Config{Dir: dir, Disposable: true, MaxConnections: 400})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop(context.Background())) }()
	cmd.Env = append(os.Environ(), pgtest.URLVariable+"="+server.AdminURL("postgres"))
	return runCommand(cmd)
}

func runCommand(cmd *exec.Cmd) error {
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return commandError{exit}
	}
	return err
}
